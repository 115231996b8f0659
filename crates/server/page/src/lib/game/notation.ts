/** Moves as the board's coordinates show them, and as people type them. */
import type { Cell, GameInfo } from "../api/types";
import { cellIndex } from "../board/cells";

/** Coordinates on the board: square numbers, rows and columns, or none. */
export type Coordinates = "numbers" | "cells" | "none";

/** Whether moves are written with rows and columns instead of square numbers. */
export const usesRowColumn = (game: GameInfo, coordinates: Coordinates) =>
  !game.squares || coordinates === "cells";

/** A move in the notation of the coordinates shown. */
export function displayMove(
  game: GameInfo,
  move: { text: string; path: Cell[]; captures: Cell[] },
  coordinates: Coordinates,
): string {
  const isAsListed = !game.squares || !usesRowColumn(game, coordinates);
  if (isAsListed || move.path.length === 0) return move.text;
  const hasFullPath = move.text.split(/[-x]/).length > 2;
  const cells = hasFullPath ? move.path : [move.path[0], move.path.at(-1)];
  return cells.join(move.captures.length > 0 ? "x" : "-");
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
