/** Cells of the board: `rc`, `11` to `88`, row 1 at the top; and the 64 letters of a board. */

export const index = (cell: string) => (Number(cell[0]) - 1) * 8 + Number(cell[1]) - 1;
export const cell = (index: number) => `${(index >> 3) + 1}${(index & 7) + 1}`;
export const all = Array.from({ length: 64 }, (_, i) => cell(i));

/** The cell `rows` below and `columns` to the right, or null off the board. */
export function beside(from: string, rows: number, columns: number): string | null {
  const row = Number(from[0]) + rows;
  const column = Number(from[1]) + columns;
  return row < 1 || row > 8 || column < 1 || column > 8 ? null : `${row}${column}`;
}

/** Where the arrow keys lead: rows down and columns to the right. */
export const arrows: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Whether a cell lies on the straight line between two others. */
export function isBetween(cell: string, one: string, other: string): boolean {
  const [r, c, r1, c1, r2, c2] = [cell, one, other].flatMap((own) => [
    Number(own[0]),
    Number(own[1]),
  ]) as [number, number, number, number, number, number];
  const onLine = (r - r1) * (c2 - c1) === (c - c1) * (r2 - r1);
  const inside = (r - r1) * (r - r2) + (c - c1) * (c - c2) < 0;
  return onLine && inside;
}

/** Which of the two sides a letter of a board belongs to: 0, 1, or -1 for an empty cell. */
export function owner(letter: string, first: string): number {
  if (letter === ".") return -1;
  return letter.toLowerCase() === first.toLowerCase() ? 0 : 1;
}

/** In the checkers games kings are capitals; `O` of Chinese checkers is a piece like any other. */
export const isKing = (letter: string) => letter === "B" || letter === "W";

/** The board after a move, as far as the move itself says: a crowning is for the server to tell. */
export function moved(board: string, path: string[], captures: string[]): string {
  const first = path[0];
  const last = path.at(-1);
  if (!first || !last) return board;
  const letters = [...board];
  const piece = letters[index(first)] ?? ".";
  letters[index(first)] = ".";
  for (const taken of captures) letters[index(taken)] = ".";
  letters[index(last)] = piece;
  return letters.join("");
}
