/**
 * The games of this browser, with the secrets of the seats it holds. They stay in its storage; no
 * secret is ever part of an address that is requested.
 */
import type { Mode, Side } from "./api";

export interface KeptGame {
  id: string;
  secret: string | null;
  /** The secret of the other seat, to be sent to a friend. */
  friend?: string;
  you: Side[];
  kind?: string;
  mode?: Mode;
  touched: number;
}

const KEY = "crownhead.games";
/** As many as the server tells about at once. */
const MOST = 100;

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
  here = change(stored.length > 0 ? stored : here)
    .toSorted((one, other) => other.touched - one.touched)
    .slice(0, MOST);
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

const seatKey = (id: string) => `crownhead.seat.${id}`;

/**
 * Takes a seat by its link. Who opens the link of a friend's seat in a browser that already sits on
 * the other one plays both, each in its tab: the tab remembers its own.
 */
export function takeSeat(id: string, secret: string) {
  try {
    sessionStorage.setItem(seatKey(id), secret);
  } catch {
    // Then the browser's seat is the tab's.
  }
  const own = game(id);
  if (!own?.secret) keep({ id, secret });
}

/** The secret with which this tab joins a game. */
export function secretOf(id: string): string | null {
  try {
    const secret = sessionStorage.getItem(seatKey(id));
    if (secret) return secret;
  } catch {
    // As above.
  }
  return game(id)?.secret ?? null;
}

export function forget(id: string) {
  write((games) => games.filter((own) => own.id !== id));
}

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  here = read();
  changes += 1;
});
