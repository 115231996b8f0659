/** Golden files of the server's tests, for unit tests. */
import { readdirSync, readFileSync } from "node:fs";
import type { Catalog, GameInfo } from "./types";

const folder = new URL("../../../../tests/golden/", import.meta.url);

/** Names of all golden files, without `.json`. */
export const goldenNames = () => readdirSync(folder).map((file) => file.replace(/\.json$/, ""));

export const goldenText = (name: string) => readFileSync(new URL(`${name}.json`, folder), "utf8");

export const golden = <T>(name: string): T => JSON.parse(goldenText(name)) as T;

/** A game as the server describes it. */
export function goldenGame(id: string): GameInfo {
  const game = golden<Catalog>("catalog").games.find((game) => game.id === id);
  if (!game) throw new Error(`no game ${id} in catalog.json`);
  return game;
}
