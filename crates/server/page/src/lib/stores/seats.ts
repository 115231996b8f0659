/**
 * Seat secrets of this tab: of the seat it plays, and of a link that the server has not accepted
 * yet. They survive a reload, and never appear in a request's address.
 */
import type { SideLetter } from "../api/types";
import { savedGame, saveGame } from "./myGames.svelte";

const seatKey = (id: string) => `crownhead.seat.${id}`;
const linkKey = (id: string) => `crownhead.link.${id}`;
const friendKey = (id: string) => `crownhead.friend.${id}`;
/** For browsers without storage. */
const memory = new Map<string, string>();

function load(key: string): string | null {
  try {
    return sessionStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function store(key: string, secret: string | null) {
  if (secret) memory.set(key, secret);
  else memory.delete(key);
  try {
    if (secret) sessionStorage.setItem(key, secret);
    else sessionStorage.removeItem(key);
  } catch {
    // Kept in memory only.
  }
}

/**
 * Stores the secret of a seat link that was opened, until the server accepts or rejects it. A link
 * for the user's other device also has the secret of the other seat, to invite the friend there.
 */
export function storeLinkSecret(id: string, secret: string, friend: string | null) {
  store(linkKey(id), secret);
  store(friendKey(id), friend);
}

/** The secret with which this tab joins a game. */
export const secretOf = (id: string) =>
  load(linkKey(id)) ?? load(seatKey(id)) ?? savedGame(id)?.secret ?? null;

/**
 * The server accepted the secret. If this browser already has another seat in the game, the list
 * of games keeps that one, and each tab plays its own seat.
 */
export function onSeatAccepted(id: string, secret: string, you: SideLetter[]) {
  const friend = load(linkKey(id)) === secret ? load(friendKey(id)) : null;
  store(linkKey(id), null);
  store(friendKey(id), null);
  store(seatKey(id), secret);
  const saved = savedGame(id);
  if (!saved?.secret || saved.secret === secret || saved.you.length === 0) {
    saveGame({ id, secret, you, ...(friend ? { friend } : {}) });
  }
}

/** The server rejected the secret. Returns another one to try, or null to watch. */
export function onSeatRejected(id: string, secret: string): string | null {
  for (const key of [linkKey(id), seatKey(id)]) if (load(key) === secret) store(key, null);
  if (savedGame(id)?.secret === secret) saveGame({ id, secret: null, you: [] });
  return secretOf(id);
}

/** Takes the same seat secret into a rematch. `isListed`: the old game is listed with it. */
export function carryToRematch(rematch: string, secret: string, isListed: boolean) {
  store(seatKey(rematch), secret);
  if (isListed && !savedGame(rematch)?.secret) saveGame({ id: rematch, secret });
}
