/** Piece animations: sliding along a path and fading out. */
import type { Cell } from "../api/types";
import { distance, isBetween } from "./cells";

/** Milliseconds per step, plus milliseconds per cell of its length. */
const STEP_TIME = 190;
const CELL_TIME = 35;
const FADE_TIME = 200;
const MAX_MOVE_TIME = 1600;

/** The position of a cell as a CSS transform. */
export type Place = (cell: Cell) => string;

export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Start time of each step of a path, and the end of the last one. */
function stepTimes(path: Cell[]): number[] {
  const times = [0];
  path.slice(1).forEach((cell, i) => {
    times.push((times[i] ?? 0) + STEP_TIME + CELL_TIME * distance(path[i] ?? cell, cell));
  });
  return times;
}

/** Duration of a move, and when each captured piece starts to fade: as the piece jumps it. */
export function moveTiming(
  path: Cell[],
  captures: Cell[],
): { duration: number; fadeDelays: Map<Cell, number> } {
  const times = stepTimes(path);
  const total = times.at(-1) ?? 0;
  const scale = Math.min(1, MAX_MOVE_TIME / Math.max(1, total));
  const fadeDelays = new Map(
    captures.map((captured) => {
      const step = path.findIndex(
        (cell, i) => i > 0 && isBetween(captured, path[i - 1] ?? cell, cell),
      );
      const delay = step > 0 ? ((times[step - 1] ?? 0) + (times[step] ?? 0)) / 2 : 0;
      return [captured, delay * scale];
    }),
  );
  return { duration: total * scale, fadeDelays };
}

/** Slides an element along a path. */
export function slide(element: HTMLElement, path: Cell[], place: Place, duration?: number) {
  const times = stepTimes(path);
  const total = times.at(-1) ?? 0;
  const frames = path.map((cell, i) => ({
    transform: place(cell),
    offset: Math.min(1, (times[i] ?? 0) / total),
    easing: "cubic-bezier(0.4, 0.1, 0.3, 1)",
  }));
  return element.animate(frames, { duration: duration ?? total });
}

/** Fades an element out in place. */
export function fadeOut(element: HTMLElement, transform: string, delay: number) {
  return element.animate(
    [
      { opacity: 1, transform: `${transform} scale(1)` },
      { opacity: 0, transform: `${transform} scale(0.55)` },
    ],
    { duration: FADE_TIME, delay, fill: "both", easing: "ease-in" },
  );
}
