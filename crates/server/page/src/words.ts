/** Sentences and texts that several pages need. */
import type { Kind, Made, Outcome, Side } from "./api";
import { sentence } from "./api";
import { index, owner } from "./cells";

/** A way as a text that the server reads, legal or not. */
export function moveText(kind: Kind, cells: string[]): string {
  return cells.map((cell) => kind.squares?.[index(cell)] ?? cell).join("-");
}

/** A move, said aloud. */
export function announceMove(kind: Kind | undefined, made: Made, mine: boolean): string {
  const name = kind?.sides.find((side) => side.letter === made.side)?.name ?? made.side;
  const who = mine ? "You" : name;
  if (made.path.length === 0) return `${who} ${mine ? "pass" : "passes"}.`;
  const squares = made.path.map((cell) => kind?.squares?.[index(cell)] ?? cell);
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
