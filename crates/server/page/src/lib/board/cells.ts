/** Cells (`11` to `88`, row 1 at the top) and boards (64 letters, row 1 first, `.` empty). */
import type { Cell, GameInfo, PieceInfo, SideIndex, SideLetter } from "../api/types";

export const cellIndex = (cell: Cell) => (Number(cell[0]) - 1) * 8 + Number(cell[1]) - 1;
export const cellAt = (index: number): Cell => `${(index >> 3) + 1}${(index & 7) + 1}`;
export const ALL_CELLS = Array.from({ length: 64 }, (_, i) => cellAt(i));
export const isDark = (index: number) => ((index >> 3) + (index & 7)) % 2 === 1;

/** The cell `rows` below and `columns` to the right, or null off the board. */
export function offset(from: Cell, rows: number, columns: number): Cell | null {
  const row = Number(from[0]) + rows;
  const column = Number(from[1]) + columns;
  return row < 1 || row > 8 || column < 1 || column > 8 ? null : `${row}${column}`;
}

/** Number of king steps from one cell to another. */
export function distance(a: Cell, b: Cell): number {
  const rows = Math.abs(Number(a[0]) - Number(b[0]));
  const columns = Math.abs(Number(a[1]) - Number(b[1]));
  return Math.max(rows, columns);
}

/** Whether a cell lies on the straight line between two others. */
export function isBetween(cell: Cell, a: Cell, b: Cell): boolean {
  const [row, column] = [Number(cell[0]), Number(cell[1])];
  const [rowA, columnA] = [Number(a[0]), Number(a[1])];
  const [rowB, columnB] = [Number(b[0]), Number(b[1])];
  const isOnLine = (row - rowA) * (columnB - columnA) === (column - columnA) * (rowB - rowA);
  const isInside = (row - rowA) * (row - rowB) + (column - columnA) * (column - columnB) < 0;
  return isOnLine && isInside;
}

export const pieceInfo = (game: GameInfo, letter: string): PieceInfo | undefined =>
  game.pieces.find((piece) => piece.letter === letter);

/** Side of a piece on the board; -1 for an empty cell. */
export const pieceSide = (game: GameInfo, letter: string): SideIndex | -1 =>
  pieceInfo(game, letter)?.side ?? -1;

/** Index of the side with a letter. */
export const sideIndex = (game: GameInfo, side: SideLetter): SideIndex =>
  game.sides[0].letter === side ? 0 : 1;

export const sideName = (game: GameInfo, side: SideLetter): string =>
  game.sides.find(({ letter }) => letter === side)?.name ?? side;

/** Whether pieces can stand on a cell. */
export const isInPlay = (game: GameInfo, cell: Cell) =>
  !game.squares || game.squares[cellIndex(cell)] !== null;

/** The board after a move. Promotion is left to the server. */
export function applyMove(board: string, path: Cell[], captures: Cell[]): string {
  const from = path[0];
  const to = path.at(-1);
  if (!from || !to) return board;
  const letters = [...board];
  const piece = letters[cellIndex(from)] ?? ".";
  letters[cellIndex(from)] = ".";
  for (const captured of captures) letters[cellIndex(captured)] = ".";
  letters[cellIndex(to)] = piece;
  return letters.join("");
}

/** The side at the bottom of the board: the user's, or that of a diagram with row 1 at the top. */
export function bottomSide(game: GameInfo, you: SideLetter[]): SideLetter {
  const [only, ...others] = you;
  const [first, second] = game.sides;
  return only && others.length === 0 ? only : (first.flipped ? second : first).letter;
}

/** Whether a player of a side sees row 8 at the top. */
export const isFlippedFor = (game: GameInfo, side: SideLetter): boolean =>
  game.sides[sideIndex(game, side)].flipped;
