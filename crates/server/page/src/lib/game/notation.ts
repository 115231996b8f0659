/** Sentences and texts that several pages need. */
import type { Kind, Made, Outcome, Side } from "../api/client";
import { sentence } from "../api/client";
import { index, owner } from "../board/cells";
import type { What } from "./client.svelte";
import { settings } from "../stores/settings.svelte";

/** Whether cells are called by row and column here: as the board shows them. */
export const isByCells = (kind: Kind) => !kind.squares || settings.coordinates === "cells";

/** A move as it is written here: with the numbers of squares, or as the board shows cells. */
export function shownText(kind: Kind, move: { text: string; path: string[]; captures: string[] }): string {
  if (!kind.squares || !isByCells(kind) || move.path.length === 0) return move.text;
  const isWhole = move.text.split(/[-x]/).length > 2;
  const cells = isWhole ? move.path : [move.path[0], move.path.at(-1)];
  return cells.join(move.captures.length > 0 ? "x" : "-");
}

/** A typed move as the server reads it: rows and columns become squares where the board shows them. */
export function typedText(kind: Kind, text: string): string {
  const { squares } = kind;
  if (!squares || !isByCells(kind) || !/^[1-8]{2}([-x: ]*[1-8]{2})+$/i.test(text)) return text;
  const numbers = (text.match(/[1-8]{2}/g) ?? []).map((cell) => squares[index(cell)]);
  return numbers.every((number) => number) ? numbers.join("-") : text;
}

/** A way as a text that the server reads, legal or not. */
export function moveText(kind: Kind, cells: string[]): string {
  return cells.map((cell) => kind.squares?.[index(cell)] ?? cell).join("-");
}

/** A move, said aloud. */
export function announceMove(kind: Kind | undefined, made: Made, mine: boolean): string {
  const side = kind?.sides.find((own) => own.letter === made.side)?.name ?? made.side;
  const who = mine ? "You" : side;
  if (made.path.length === 0) return `${who} ${mine ? "pass" : "passes"}.`;
  const name = (cell: string) => (kind && !isByCells(kind) ? kind.squares?.[index(cell)] : null) ?? cell;
  const squares = made.path.map(name);
  const from = squares[0];
  const to = squares.at(-1);
  const count = made.captures.length;
  const takes = count === 0 ? "" : `, taking ${count} ${count === 1 ? "piece" : "pieces"}`;
  return `${who}: ${from} to ${to}${takes}.`;
}

export const outcomeText = (outcome: Outcome) => sentence(outcome.text);

/** Whether the board is to be turned so that a side's pieces begin at the bottom. */
export function seenFrom(kind: Kind, start: string, side: Side): boolean {
  const [first] = kind.sides;
  const rows = (own: number) => {
    const all = [...start].flatMap((letter, i) =>
      owner(letter, first.letter) === own ? [i >> 3] : [],
    );
    return all.reduce((sum, row) => sum + row, 0) / Math.max(1, all.length);
  };
  const mine = side === first.letter ? 0 : 1;
  // Where both begin beside each other, as in Capture Halma, it stays as it is drawn.
  return rows(1 - mine) - rows(mine) > 1;
}

/** What somebody else offers, said to the one who may accept. */
export const offerText = (what: What) => `Your opponent ${offered[what]}.`;

/** What is offered, after the name of who does. */
export const offered: Record<What, string> = {
  draw: "offers a draw",
  "take-back": "asks to take a move back",
  rematch: "would like a rematch",
};

/** The name of a cell, said aloud. */
export function cellName(kind: Kind, cell: string): string {
  const number = kind.squares?.[index(cell)];
  if (number && !isByCells(kind)) return `Square ${number}`;
  return `Row ${cell[0]}, column ${cell[1]}`;
}
