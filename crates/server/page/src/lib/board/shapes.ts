/** Arrows and circles on the board. */
import type { Cell } from "../api/types";
import { cellIndex } from "./cells";

export interface Shape {
  /** One cell for a circle; the cells that an arrow goes through, from its start to its end. */
  path: Cell[];
  /** The best line, another line, drawn by the user, or what an error message is about. */
  tone: "best" | "other" | "own" | "error";
  /** Width of the line, 1 for the best line. */
  weight?: number;
}

export interface Point {
  x: number;
  y: number;
}

/** Centre of a cell, in cells from the upper left corner of the board as it is shown. */
export function centre(cell: Cell, flipped: boolean): Point {
  const index = flipped ? 63 - cellIndex(cell) : cellIndex(cell);
  return { x: (index & 7) + 0.5, y: (index >> 3) + 0.5 };
}

/** Length and half the width of an arrow's head, and the gap between it and the cell's centre. */
const HEAD = 0.42;
const HEAD_HALF = 0.21;
const GAP = 0.12;

/** Line and head of an arrow as paths of an SVG with 8 by 8 units. */
export function arrow(cells: Cell[], flipped: boolean): { line: string; head: string } {
  const points = cells.map((cell) => centre(cell, flipped));
  const end = points.at(-1) ?? { x: 0, y: 0 };
  const before = points.findLast(({ x, y }) => x !== end.x || y !== end.y) ?? end;
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [dx, dy] = [(end.x - before.x) / length, (end.y - before.y) / length];
  const at = (back: number, aside: number) => {
    const x = end.x - dx * back - dy * aside;
    const y = end.y - dy * back + dx * aside;
    return `${x.toFixed(3)} ${y.toFixed(3)}`;
  };
  const neck = at(GAP + HEAD * 0.8, 0);
  const corners = points.slice(0, -1).map(({ x, y }) => `${x} ${y}`);
  return {
    line: `M${[...corners, neck].join("L")}`,
    head: `M${at(GAP, 0)}L${at(GAP + HEAD, HEAD_HALF)}L${at(GAP + HEAD, -HEAD_HALF)}z`,
  };
}

/** Adds a shape that the user draws, or removes it if it is there. */
export function toggleShape(shapes: Shape[], path: Cell[]): Shape[] {
  const isSame = (shape: Shape) => shape.path.join() === path.join();
  const others = shapes.filter((shape) => !isSame(shape));
  return others.length < shapes.length ? others : [...shapes, { path, tone: "own" }];
}
