/** Games of this browser, in localStorage, with the secrets of its seats. */
import type { Mode, SideLetter } from "../api/types";

export interface SavedGame {
  id: string;
  /** Secret of the seat; null for a spectator. */
  secret: string | null;
  /** Secret of the other seat, for the invitation. */
  friend?: string;
  you: SideLetter[];
  kind?: string;
  mode?: Mode;
  /** The game has ended, or the server no longer has it. */
  over?: boolean;
  lastActivity: number;
}

const KEY = "crownhead.games";
/** Maximum number of games that cannot be continued. Games in progress are never dropped. */
const MAX_FINISHED = 100;
const isInProgress = (game: SavedGame) => game.secret !== null && !game.over;

function load(): SavedGame[] {
  try {
    const games: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(games)) return [];
    return games.filter((game) => typeof game?.id === "string" && Array.isArray(game.you));
  } catch {
    return [];
  }
}

// Without storage the games are known until the tab is closed.
let games: SavedGame[] = $state.raw(load());

/** All games, the latest first. */
export const savedGames = (): SavedGame[] => games;

export const savedGame = (id: string) => games.find((game) => game.id === id);

function change(edit: (games: SavedGame[]) => SavedGame[]) {
  // Another tab may have changed the stored list.
  const stored = load();
  const edited = edit(stored.length > 0 ? stored : games).toSorted(
    (a, b) => b.lastActivity - a.lastActivity,
  );
  // Watched games are dropped before played ones.
  const finished = edited
    .filter((game) => !isInProgress(game))
    .toSorted((a, b) => Number(!a.secret) - Number(!b.secret));
  const dropped = new Set(finished.slice(MAX_FINISHED));
  games = edited.filter((game) => !dropped.has(game));
  try {
    localStorage.setItem(KEY, JSON.stringify(games));
  } catch {
    // See above.
  }
}

/** Saves a game, or changes some of its fields. */
export function saveGame(game: Partial<SavedGame> & { id: string }) {
  change((games) => {
    const old = games.find(({ id }) => id === game.id);
    const saved = { secret: null, you: [], ...old, ...game, lastActivity: Date.now() };
    return [saved, ...games.filter(({ id }) => id !== game.id)];
  });
}

export function markEnded(ids: Set<string>) {
  if (!games.some((game) => ids.has(game.id) && !game.over)) return;
  change((games) => games.map((game) => (ids.has(game.id) ? { ...game, over: true } : game)));
}

export function removeGame(id: string) {
  change((games) => games.filter((game) => game.id !== id));
}

/** Undoes `removeGame`. */
export function restoreGame(game: SavedGame) {
  change((games) => [game, ...games.filter(({ id }) => id !== game.id)]);
}

addEventListener("storage", (event) => {
  if (event.key === KEY) games = load();
});
