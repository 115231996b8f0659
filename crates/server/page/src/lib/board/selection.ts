/**
 * Choosing a move on the board, step by step, out of the legal moves that the server listed.
 *
 * A way is gone to its end as soon as one move is left. A cell where the way may end or go on is only a
 * step: choosing it once more ends the move there, and choosing a cell that does not go on lets go. Whoever
 * drops a piece there has ended it at once. There are no rules of any game in it: steps are those of the ways
 * that the server lists.
 */
import type { Legal } from "../api/client";
import { isBetween } from "./cells";

interface Way {
  move: Legal;
  path: string[];
}

export type Step =
  | { kind: "move"; move: Legal; path: string[] }
  | { kind: "chosen"; chosen: string[] }
  | { kind: "dropped" }
  | { kind: "refused" };

const begins = (path: string[], chosen: string[]) => chosen.every((cell, i) => path[i] === cell);

/** The ways that begin with the cells chosen so far. */
function ways(legal: Legal[], chosen: string[]): Way[] {
  return legal.flatMap((move) =>
    [move.path, ...(move.other_paths ?? [])]
      .filter((path) => path.length > 0 && begins(path, chosen))
      .map((path) => ({ move, path })),
  );
}

const moves = (found: Way[]) => new Set(found.map((way) => way.move));

/** Pieces that can be chosen. */
export const starts = (legal: Legal[]) =>
  new Set(legal.flatMap((move) => (move.path[0] ? [move.path[0]] : [])));

function endsAt(found: Way[], chosen: string[], cell: string): Way[] {
  return found.filter((way) => way.path.length > chosen.length && way.path.at(-1) === cell);
}

/** The cells that can be chosen next: the next steps, and ends that single a move out. */
export function targets(legal: Legal[], chosen: string[]): Set<string> {
  const cells = new Set<string>();
  if (chosen.length === 0) return cells;
  const found = ways(legal, chosen);
  for (const { path } of found) {
    const next = path[chosen.length];
    const end = path.at(-1);
    if (next) cells.add(next);
    if (end && moves(endsAt(found, chosen, end)).size === 1) cells.add(end);
  }
  return cells;
}

const whole = (legal: Legal[], chosen: string[]) =>
  chosen.length > 1
    ? ways(legal, chosen).find((way) => way.path.length === chosen.length)
    : undefined;

/** Whether the way chosen so far is a whole move. */
export const mayEnd = (legal: Legal[], chosen: string[]) => whole(legal, chosen) !== undefined;

/** What is taken along the way chosen so far. */
export function taken(legal: Legal[], chosen: string[]): string[] {
  const all = new Set(ways(legal, chosen).flatMap((way) => way.move.captures));
  return [...all].filter((cell) =>
    chosen.some((to, i) => i > 0 && isBetween(cell, chosen[i - 1] ?? to, to)),
  );
}

/** Chooses a cell; `drops` if a piece is put there, and not only its way shown. */
export function choose(legal: Legal[], chosen: string[], cell: string, drops = false): Step {
  const isStart = legal.some((move) => move.path[0] === cell);
  const [from] = chosen;
  if (!from) return isStart ? { kind: "chosen", chosen: [cell] } : { kind: "refused" };
  const found = ways(legal, chosen);
  if (chosen.at(-1) === cell) {
    const end = whole(legal, chosen);
    if (end) return { kind: "move", ...end };
    if (chosen.length === 1 && !found.some((way) => way.path[1] === cell)) {
      return { kind: "dropped" };
    }
  }
  // To the next cell, or else to an end further on that only one move has.
  const ends = endsAt(found, chosen, cell);
  const [end] = ends;
  const isOneEnd = end && moves(ends).size === 1;
  if (isOneEnd && drops) return { kind: "move", ...end };
  const next = [...chosen, cell];
  const further = ways(legal, next).length > 0 ? next : isOneEnd ? end.path : null;
  if (further) {
    const through = ways(legal, further);
    const [one] = through;
    if (one && moves(through).size === 1) return { kind: "move", ...one };
    return { kind: "chosen", chosen: further };
  }
  const other: Step = { kind: "chosen", chosen: [cell] };
  if (chosen.length === 1) return isStart ? other : { kind: "refused" };
  // A longer way than those listed: the piece goes there by a listed one, if it could go on from there.
  const anew = choose(legal, [from], cell);
  if (anew.kind === "chosen" && anew.chosen.length > 1) return anew;
  // Whoever points elsewhere has changed his mind.
  return isStart && cell !== from ? other : { kind: "dropped" };
}
