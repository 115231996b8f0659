/**
 * The games of this browser, with the secrets of the seats it holds. They stay in its storage; no
 * secret is ever part of an address that is requested.
 */
import type { Mode, Side } from "../api/client";

export interface KeptGame {
  id: string;
  secret: string | null;
  /** The secret of the other seat, to be sent to a friend. */
  friend?: string;
  you: Side[];
  kind?: string;
  mode?: Mode;
  /** It has ended, or the server has it no longer. */
  over?: boolean;
  touched: number;
}

const KEY = "crownhead.games";
/** So many are kept, besides the games that can still be played: those are all kept. */
const MOST = 100;
const canPlay = (game: KeptGame) => game.secret !== null && !game.over;

function read(): KeptGame[] {
  try {
    const games: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(games)) return [];
    return games.filter((game) => typeof game?.id === "string" && Array.isArray(game.you));
  } catch {
    return [];
  }
}

// What a browser that keeps nothing knows until it is closed.
let here: KeptGame[] = read();
let changes = $state(0);

/** All of them, the latest first. */
export function games(): KeptGame[] {
  void changes;
  return here;
}

export const game = (id: string) => games().find((own) => own.id === id);

function write(change: (games: KeptGame[]) => KeptGame[]) {
  // Another tab may have written since: what is stored counts.
  const stored = read();
  const all = change(stored.length > 0 ? stored : here).toSorted(
    (one, other) => other.touched - one.touched,
  );
  // Own games stay longer than those looked on.
  const others = all
    .filter((own) => !canPlay(own))
    .toSorted((one, other) => Number(!one.secret) - Number(!other.secret));
  const dropped = new Set(others.slice(MOST));
  here = all.filter((own) => !dropped.has(own));
  try {
    localStorage.setItem(KEY, JSON.stringify(here));
  } catch {
    // Known until the tab is closed.
  }
  changes += 1;
}

/** Keeps a game, or what is new about it. */
export function keep(game: Partial<KeptGame> & { id: string }) {
  write((games) => {
    const old = games.find((own) => own.id === game.id);
    const fresh = { secret: null, you: [], ...old, ...game, touched: Date.now() };
    return [fresh, ...games.filter((own) => own.id !== game.id)];
  });
}

/** These games have ended, or are no longer there. */
export function ended(ids: Set<string>) {
  if (!here.some((own) => ids.has(own.id) && !own.over)) return;
  write((games) => games.map((own) => (ids.has(own.id) ? { ...own, over: true } : own)));
}

// What a tab knows of a game besides: the seat on which it sits, and the secret of a link that has been
// opened and not been proved yet. Both outlive a reload.
const seatKey = (id: string) => `crownhead.seat.${id}`;
const linkKey = (id: string) => `crownhead.link.${id}`;
const passing = new Map<string, string>();

function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key) ?? passing.get(key) ?? null;
  } catch {
    return passing.get(key) ?? null;
  }
}

function remember(key: string, secret: string | null) {
  if (secret) passing.set(key, secret);
  else passing.delete(key);
  try {
    if (secret) sessionStorage.setItem(key, secret);
    else sessionStorage.removeItem(key);
  } catch {
    // Known until the tab is closed or loaded anew.
  }
}

/** A link to a seat was opened. Whether its secret is right is for the server to say. */
export const tryLink = (id: string, secret: string) => remember(linkKey(id), secret);

/** The secret with which this tab joins a game. */
export const secretOf = (id: string) =>
  recall(linkKey(id)) ?? recall(seatKey(id)) ?? game(id)?.secret ?? null;

/**
 * The server has let this tab take a seat. Who opens the link of a friend's seat in a browser that
 * already sits on the other one plays both, each in its tab: the list keeps the first.
 */
export function seatTaken(id: string, secret: string, you: Side[]) {
  remember(linkKey(id), null);
  remember(seatKey(id), secret);
  const own = game(id);
  if (!own?.secret || own.secret === secret || own.you.length === 0) keep({ id, secret, you });
}

/** The secret is of no seat: it is forgotten. Returns what the tab may try instead. */
export function seatRefused(id: string, secret: string): string | null {
  for (const key of [linkKey(id), seatKey(id)]) if (recall(key) === secret) remember(key, null);
  if (game(id)?.secret === secret) keep({ id, secret: null, you: [] });
  return secretOf(id);
}

/** The rematch of a game: the same secret has the other colour in it. */
export function inherit(next: string, secret: string, isListed: boolean) {
  remember(seatKey(next), secret);
  if (isListed && !game(next)?.secret) keep({ id: next, secret });
}

export function forget(id: string) {
  write((games) => games.filter((own) => own.id !== id));
}

/** Puts a game back that was taken off the list. */
export function restore(game: KeptGame) {
  write((games) => [game, ...games.filter((own) => own.id !== game.id)]);
}

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  here = read();
  changes += 1;
});
