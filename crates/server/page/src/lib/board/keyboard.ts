/** Keyboard input on the board: arrow keys move the focus from cell to cell. */
import type { Cell } from "../api/types";
import { offset } from "./cells";

export type KeyAction =
  | { kind: "focus"; cell: Cell }
  | { kind: "select" }
  /** Focus the next or previous cell where something can be done. */
  | { kind: "next"; step: 1 | -1 }
  | { kind: "type"; text: string }
  /** Handled without effect. */
  | { kind: "ignore" };

type KeyInput = Pick<
  KeyboardEvent,
  "key" | "repeat" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey"
>;

/** Rows down and columns to the right. */
const ARROWS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** What a key does while a cell has the focus; null if it is not for the board. */
export function keyAction(input: KeyInput, cell: Cell, flipped: boolean): KeyAction | null {
  const { key } = input;
  if (input.ctrlKey || input.metaKey || input.altKey) return null;
  const arrow = ARROWS[key];
  if (arrow) {
    const sign = flipped ? -1 : 1;
    const next = offset(cell, arrow[0] * sign, arrow[1] * sign);
    return next ? { kind: "focus", cell: next } : { kind: "ignore" };
  }
  if (key === "Home" || key === "End") {
    const isFirstColumn = (key === "Home") !== flipped;
    return { kind: "focus", cell: `${cell[0]}${isFirstColumn ? 1 : 8}` };
  }
  // A key held down selects once.
  if (key === "Enter" || key === " ") return { kind: input.repeat ? "ignore" : "select" };
  if (key.toLowerCase() === "n") return { kind: "next", step: input.shiftKey ? -1 : 1 };
  if (/^[0-9]$/.test(key)) return { kind: "type", text: key };
  return null;
}

/** The first candidate after a cell, in the order of `cells`, wrapping around. */
export function nextCandidate(
  cells: Cell[],
  from: Cell,
  step: 1 | -1,
  candidates: Set<Cell>,
): Cell | null {
  const start = cells.indexOf(from);
  for (let i = 1; i <= cells.length; i++) {
    const cell = cells[(start + step * i + 2 * cells.length) % cells.length];
    if (cell && candidates.has(cell)) return cell;
  }
  return null;
}
