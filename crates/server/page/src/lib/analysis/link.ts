/** Links to an analysis: `/analyse#game=english&position=…&moves=11-15,24-19`. */
import type { GameInfo } from "../api/types";
import { MAX_PLIES } from "./tree";

/** What a link asks for. The server checks the position and the moves. */
export interface AnalysisLink {
  game: string;
  position?: string;
  moves: string[];
  /** Id of a game on the server to load instead. */
  from?: string;
}

const MAX_POSITION = 400;
const MAX_LINK = 20_000;

/** Reads the fragment of an address; null if it names no game. */
export function parseLink(hash: string): AnalysisLink | null {
  if (hash.length > MAX_LINK) return null;
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const game = fields.get("game") ?? "";
  const from = fields.get("from") ?? "";
  const position = fields.get("position") ?? "";
  if (/^[\w-]{1,64}$/.test(from)) return { game: "", moves: [], from };
  if (!/^[a-z-]{1,40}(:[\w=,-]{0,200})?$/.test(game) || position.length > MAX_POSITION) return null;
  const moves = (fields.get("moves") ?? "")
    .split(/[,\s]+/)
    .filter((text) => /^[\w:-]{1,400}$/.test(text))
    .slice(0, MAX_PLIES);
  return { game, ...(position ? { position } : {}), moves };
}

/** The game of a text such as `english:rules=wcdf`. */
export const findGame = (games: GameInfo[], text: string): GameInfo | undefined =>
  games.find(({ id }) => id === text.split(":")[0]);

/** The path of the page with an analysis. */
export function analysisPath({ game, position, moves, from }: AnalysisLink): string {
  if (from) return `/analyse#from=${encodeURIComponent(from)}`;
  // Colons and commas stay readable.
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");
  const parts = [`game=${encode(game)}`];
  if (position) parts.push(`position=${encode(position)}`);
  if (moves.length > 0) parts.push(`moves=${encode(moves.join(","))}`);
  return `/analyse#${parts.join("&")}`;
}
