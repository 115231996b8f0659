/**
 * Selecting a move on the board step by step, out of the legal moves that the server listed.
 *
 * The move is complete as soon as a single one is left. At a cell where it may stop or continue,
 * selecting the cell again stops it, and selecting an unrelated cell deselects the piece. Dropping
 * a piece stops the move there at once. This code knows no rules: it only follows listed paths.
 */
import type { Cell, LegalMove } from "../api/types";
import { isBetween } from "./cells";

interface MovePath {
  move: LegalMove;
  path: Cell[];
}

/** Result of selecting a cell. */
export type Selection =
  | { kind: "move"; move: LegalMove; path: Cell[] }
  | { kind: "selected"; selected: Cell[] }
  | { kind: "deselected" }
  | { kind: "illegal" };

const startsWith = (path: Cell[], selected: Cell[]) =>
  selected.every((cell, i) => path[i] === cell);

/** Paths that start with the cells selected so far. */
function matchingPaths(legal: LegalMove[], selected: Cell[]): MovePath[] {
  return legal.flatMap((move) =>
    [move.path, ...(move.other_paths ?? [])]
      .filter((path) => path.length > 0 && startsWith(path, selected))
      .map((path) => ({ move, path })),
  );
}

const movesOf = (paths: MovePath[]) => new Set(paths.map(({ move }) => move));

/** Paths that continue from the selected cells and end at a cell. */
const endingAt = (paths: MovePath[], selected: Cell[], cell: Cell) =>
  paths.filter(({ path }) => path.length > selected.length && path.at(-1) === cell);

/** The path that ends where the selection does. */
const complete = (legal: LegalMove[], selected: Cell[]) =>
  selected.length > 1
    ? matchingPaths(legal, selected).find(({ path }) => path.length === selected.length)
    : undefined;

/** Cells of the pieces that can move. */
export const movable = (legal: LegalMove[]): Set<Cell> =>
  new Set(legal.flatMap((move) => (move.path[0] ? [move.path[0]] : [])));

/** Cells that can be selected next: next steps, and end cells that identify a single move. */
export function destinations(legal: LegalMove[], selected: Cell[]): Set<Cell> {
  const cells = new Set<Cell>();
  if (selected.length === 0) return cells;
  const paths = matchingPaths(legal, selected);
  for (const { path } of paths) {
    const next = path[selected.length];
    const end = path.at(-1);
    if (next) cells.add(next);
    if (end && movesOf(endingAt(paths, selected, end)).size === 1) cells.add(end);
  }
  return cells;
}

/** Whether the cells selected so far are a complete move. */
export const canStop = (legal: LegalMove[], selected: Cell[]) =>
  complete(legal, selected) !== undefined;

/** Pieces captured along the cells selected so far. */
export function capturedSoFar(legal: LegalMove[], selected: Cell[]): Cell[] {
  const captures = new Set(matchingPaths(legal, selected).flatMap(({ move }) => move.captures));
  return [...captures].filter((cell) =>
    selected.some((to, i) => i > 0 && isBetween(cell, selected[i - 1] ?? to, to)),
  );
}

/** Whether several moves of the piece on `from` end at `to`. */
export const isAmbiguous = (legal: LegalMove[], from: Cell, to: Cell) =>
  legal.filter((move) => move.path[0] === from && move.to === to).length > 1;

/** Whether no move of the piece on a cell captures anything. */
const capturesNothing = (legal: LegalMove[], from: Cell) =>
  legal.every((move) => move.path[0] !== from || move.captures.length === 0);

/** Selects a cell. `isDrop`: the piece was dropped there, so the move stops there if it can. */
export function select(
  legal: LegalMove[],
  selected: Cell[],
  cell: Cell,
  isDrop = false,
): Selection {
  const isMovable = movable(legal).has(cell);
  const [from] = selected;
  if (!from) return isMovable ? { kind: "selected", selected: [cell] } : { kind: "illegal" };
  const paths = matchingPaths(legal, selected);
  if (selected.at(-1) === cell) {
    const stop = complete(legal, selected);
    if (stop) return { kind: "move", ...stop };
    if (selected.length === 1 && !paths.some(({ path }) => path[1] === cell)) {
      return { kind: "deselected" };
    }
  }
  const ends = endingAt(paths, selected, cell);
  const [end] = ends;
  const isSingleEnd = end && movesOf(ends).size === 1;
  // Where nothing is captured, only the end matters: a click on it plays the move. In the middle of
  // a move that the user selects step by step, the next click may continue it.
  const isDecided = isSingleEnd && selected.length === 1 && capturesNothing(legal, from);
  if (isSingleEnd && (isDrop || isDecided)) return { kind: "move", ...end };
  // The next step, or else an end further on that identifies a single move.
  const next = [...selected, cell];
  const extended = matchingPaths(legal, next).length > 0 ? next : isSingleEnd ? end.path : null;
  if (extended) {
    const remaining = matchingPaths(legal, extended);
    const [only] = remaining;
    if (only && movesOf(remaining).size === 1) return { kind: "move", ...only };
    return { kind: "selected", selected: extended };
  }
  const other: Selection = { kind: "selected", selected: [cell] };
  if (selected.length === 1) return isMovable ? other : { kind: "illegal" };
  // The user took a detour that is not listed: reach the cell by a listed path, if there is one.
  const restarted = select(legal, [from], cell);
  if (restarted.kind === "selected" && restarted.selected.length > 1) return restarted;
  return isMovable && cell !== from ? other : { kind: "deselected" };
}
