/** Moves as the board's coordinates show them, and as people type them. */
import type { Cell, GameInfo } from "../api/types";
import { cellAt, cellIndex } from "../board/cells";

/** Coordinates on the board: square numbers, rows and columns, or none. */
export type Coordinates = "numbers" | "cells" | "none";

/** Whether moves are written with rows and columns instead of square numbers. */
export const usesRowColumn = (game: GameInfo, coordinates: Coordinates) =>
  !game.squares || coordinates === "cells";

/** A move in the notation of the coordinates shown. */
export function displayMove(
  game: GameInfo,
  { text }: { text: string },
  coordinates: Coordinates,
): string {
  const { squares } = game;
  if (!squares || !usesRowColumn(game, coordinates)) return text;
  return text.replace(/\d+/g, (number) => {
    const index = squares.indexOf(Number(number));
    return index < 0 ? number : cellAt(index);
  });
}

/** A typed move in the server's notation: rows and columns become square numbers. */
export function parseTypedMove(game: GameInfo, text: string, coordinates: Coordinates): string {
  const { squares } = game;
  const isRowColumn =
    usesRowColumn(game, coordinates) && /^[1-8]{2}([-x: ]*[1-8]{2})+$/i.test(text);
  if (!squares || !isRowColumn) return text;
  const numbers = (text.match(/[1-8]{2}/g) ?? []).map((cell) => squares[cellIndex(cell)]);
  return numbers.every((number) => number) ? numbers.join("-") : text;
}

/** A path in the server's notation, legal or not. */
export const pathText = (game: GameInfo, path: Cell[]) =>
  path.map((cell) => game.squares?.[cellIndex(cell)] ?? cell).join("-");
