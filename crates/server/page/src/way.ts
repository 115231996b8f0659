/**
 * Choosing a move on the board, step by step, out of the legal moves that the server listed.
 *
 * A way with captures is completed as soon as one move is left. Where it may end or go on, choosing
 * its last cell once more ends it. Where nothing is taken, the end is enough. This is the same on
 * the screen in the terminal; there are no rules of any game in it.
 */
import type { Legal } from "./api";

interface Way {
  move: Legal;
  path: string[];
}

export type Step =
  | { kind: "move"; move: Legal; path: string[] }
  | { kind: "chosen"; chosen: string[] }
  | { kind: "dropped" }
  | { kind: "refused" };

const same = (one: string[], other: string[]) =>
  one.length === other.length && one.every((cell, i) => cell === other[i]);

function ways(legal: Legal[], chosen: string[]): Way[] {
  return legal.flatMap((move) =>
    [move.path, ...(move.ways ?? [])]
      .filter((path) => path.length > 0 && chosen.every((cell, i) => path[i] === cell))
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

/** Whether the way chosen so far is a whole move. */
export const mayEnd = (legal: Legal[], chosen: string[]) =>
  chosen.length > 1 && ways(legal, chosen).some((way) => same(way.path, chosen));

/** What is taken along the way chosen so far, as far as all moves that begin so agree on it. */
export function taken(legal: Legal[], chosen: string[]): string[] {
  const [first, ...rest] = [...moves(ways(legal, chosen))];
  if (!first || chosen.length < 2) return [];
  return first.captures.filter((cell) => rest.every((move) => move.captures.includes(cell)));
}

/** Chooses a cell. */
export function choose(legal: Legal[], chosen: string[], cell: string): Step {
  const isStart = legal.some((move) => move.path[0] === cell);
  if (chosen.length === 0) {
    return isStart ? { kind: "chosen", chosen: [cell] } : { kind: "refused" };
  }
  const found = ways(legal, chosen);
  if (chosen.at(-1) === cell) {
    const whole = found.find((way) => same(way.path, chosen));
    if (whole && chosen.length > 1) return { kind: "move", ...whole };
    if (chosen.length === 1 && !found.some((way) => way.path[1] === cell)) {
      return { kind: "dropped" };
    }
  }
  const ends = endsAt(found, chosen, cell);
  const further = [...chosen, cell];
  const through = ways(legal, further);
  const takesNothing = found.every((way) => way.move.captures.length === 0);
  const [end] = ends;
  if (end && moves(ends).size === 1 && (through.length === 0 || takesNothing)) {
    return { kind: "move", ...end };
  }
  const [one] = through;
  if (!one) {
    // Another piece may be chosen instead, as long as no step has been made.
    if (isStart && chosen.length === 1) return { kind: "chosen", chosen: [cell] };
    return { kind: "refused" };
  }
  if (moves(through).size === 1) return { kind: "move", ...one };
  return { kind: "chosen", chosen: further };
}
