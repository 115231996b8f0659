/** What can be opened for analysis: a game of the server, and text that is pasted or dropped. */
import type { AnalysisEngine, ImportedGame } from "./client";
import type { AnalysisSession } from "./session.svelte";

/** Maximum length of a pasted text. Longer ones are files. */
export const MAX_TEXT = 1_000_000;

/** Opens a game of the server. */
export async function openServerGame(session: AnalysisSession, id: string) {
  const response = await fetch(`/api/games/${encodeURIComponent(id)}/pdn`).catch(() => null);
  if (!response) throw new Error("Cannot reach the server. Is it running?");
  if (!response.ok) throw new Error("This game is not on the server.");
  const game = await (await session.engine()).readPdn(await response.text());
  await session.openGame(game);
  session.toEnd();
}

/** What a text is: a game, or a position of the game that is shown or of another one. */
export type Pasted =
  { kind: "game"; game: ImportedGame } | { kind: "position"; game: string; position: string };

/** Reads a pasted text. Rejects with the reason why it is neither. */
export async function readPasted(
  engine: AnalysisEngine,
  text: string,
  games: string[],
): Promise<Pasted> {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TEXT) throw new Error("The text is too long. Open it as a file.");
  const isLine = !trimmed.includes("\n") && trimmed.length < 400;
  let problem: unknown = null;
  for (const game of isLine ? games : []) {
    try {
      await engine.position({ game, position: trimmed, moves: [] });
      return { kind: "position", game, position: trimmed };
    } catch (error) {
      problem ??= error;
    }
  }
  try {
    const game = await engine.readPdn(trimmed);
    if (game.moves.length > 0 || game.position || trimmed.includes("[")) {
      return { kind: "game", game };
    }
  } catch (error) {
    // A text that looks like a position was meant as one.
    if (!problem || !/^[BW]:|\//.test(trimmed)) problem = error;
  }
  throw problem instanceof Error ? problem : new Error("This is neither a game nor a position.");
}
