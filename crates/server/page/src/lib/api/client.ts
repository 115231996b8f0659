/**
 * What the server says and how it is asked: the types of docs/server.md, and a function for each
 * request. The socket of a game is in live.svelte.ts.
 */

export type Side = string;

export interface Legal {
  text: string;
  from: string | null;
  to: string | null;
  path: string[];
  captures: string[];
  /** Other paths of the same move. */
  other_paths?: string[][];
}

export interface Made {
  text: string;
  side: Side;
  path: string[];
  captures: string[];
}

export interface Outcome {
  winner: Side | null;
  reason: string;
  score: [number, number] | null;
  text: string;
}

/** A position and what is possible in it. */
export interface View {
  position: string;
  board: string;
  side: Side;
  ply: number;
  legal: Legal[];
  must_capture: boolean;
  outcome: Outcome | null;
}

export interface PositionView extends View {
  last: Made | null;
}

export interface Kind {
  id: string;
  name: string;
  sides: [{ letter: Side; name: string }, { letter: Side; name: string }];
  options: { key: string; values: string; default: string; meaning: string }[];
  start: string;
  board: string;
  squares: (number | null)[] | null;
  targets: [string[], string[]] | null;
}

export interface Opponent {
  spec: string;
  name: string;
  description: string;
  uses_time: boolean;
}

export interface Catalogue {
  games: Kind[];
  players: Opponent[];
  thinking: { min: number; default: number; max: number };
  clock: { max: number; max_increment: number };
  names: { max: number };
}

export type Goal =
  | { kind: "any" }
  | { kind: "moves"; moves: string[] }
  | { kind: "refused"; move: string; reason: string };

export interface Exercise {
  title: string;
  position: string;
  task: string;
  goal: Goal;
  hint: string;
  praise: string;
}

export interface Rules {
  id: string;
  name: string;
  about: string[];
  exercises: Exercise[];
}

export type Mode = "computer" | "hotseat" | "friend";

export interface Wish {
  game: string;
  mode: Mode;
  side?: Side;
  player?: string;
  thinking?: number;
  clock: { time: number; increment: number } | null;
  name: string | null;
}

export interface Created {
  id: string;
  secret: string;
  you: Side[];
  friend?: string;
}

export interface Seat {
  side: Side;
  kind: "person" | "computer";
  name: string | null;
  player?: string;
  online: boolean;
}

export interface Summary {
  id: string;
  game: string;
  kind: string;
  name: string;
  mode: Mode;
  ply: number;
  side: Side;
  board: string;
  seats: Seat[];
  outcome: Outcome | null;
  next: string | null;
  last_activity: number;
}

/** A request that was refused, with a sentence for people. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    reason: string,
  ) {
    super(reason);
  }
}

async function ask<T>(path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(
      path,
      body === undefined
        ? {}
        : {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          },
    );
  } catch {
    throw new Refusal("unreachable", "The server does not answer. Is it still running?");
  }
  let content: { error?: { code: string; reason: string } };
  try {
    content = await answer.json();
  } catch {
    throw new Refusal("failure", `The server's answer (${answer.status}) cannot be read.`);
  }
  if (!answer.ok) {
    throw new Refusal(
      content.error?.code ?? "failure",
      sentence(content.error?.reason ?? `The server refuses (${answer.status}).`),
    );
  }
  return content as T;
}

let known: Promise<Catalogue> | undefined;

/** What can be played. It does not change while the server runs, so it is asked for once. */
export function catalogue(): Promise<Catalogue> {
  known ??= ask<Catalogue>("/api/games").catch((error) => {
    known = undefined;
    throw error;
  });
  return known;
}

export const rules = (id: string) => ask<Rules>(`/api/rules/${encodeURIComponent(id)}`);
export const create = (wish: Wish) => ask<Created>("/api/games", wish);
export const position = (game: string, position: string | undefined, moves: string[]) =>
  ask<PositionView>("/api/position", { game, ...(position ? { position } : {}), moves });
export const summaries = async (games: string[]) =>
  (await ask<{ games: Summary[] }>("/api/summaries", { games })).games;

/** A reason as a sentence: with a capital and a full stop. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?:…]$/.test(text) ? text : `${text}.`;
}
