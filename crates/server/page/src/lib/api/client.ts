/** HTTP requests. The WebSocket of a game is in lib/game/socket.ts. */
import type { ExactPosition } from "../analysis/client";
import type { PuzzleFile } from "../puzzles/puzzles";
import type {
  Catalog,
  CreatedGame,
  ErrorResponse,
  GameRules,
  GameSummaries,
  GameSummary,
  NewGameRequest,
  PositionRequest,
  PositionView,
} from "./types";

/** A failed request. Its message is a sentence to show. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export async function request<T>(path: string, body?: unknown): Promise<T> {
  const options = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let response: Response;
  try {
    response = await fetch(path, body === undefined ? {} : options);
  } catch {
    throw new ApiError("unreachable", "Cannot reach the server. Is it running?");
  }
  let content: T | ErrorResponse;
  try {
    content = await response.json();
  } catch {
    throw new ApiError("failure", `Unexpected response from the server (${response.status}).`);
  }
  if (response.ok) return content as T;
  const { error } = content as Partial<ErrorResponse>;
  throw new ApiError(
    error?.code ?? "failure",
    toSentence(error?.reason ?? `The server rejected the request (${response.status})`),
  );
}

let catalog: Promise<Catalog> | undefined;

/** Games and players. They do not change while the server runs, so they are fetched once. */
export function fetchCatalog(): Promise<Catalog> {
  catalog ??= request<Catalog>("/api/games").catch((error: unknown) => {
    catalog = undefined;
    throw error;
  });
  return catalog;
}

export const fetchRules = (id: string) =>
  request<GameRules>(`/api/rules/${encodeURIComponent(id)}`);

export const fetchPuzzles = (id: string) =>
  request<PuzzleFile>(`/api/puzzles/${encodeURIComponent(id)}`);

export const createGame = (game: NewGameRequest) => request<CreatedGame>("/api/games", game);

export function fetchPosition(
  game: string,
  position: string | undefined,
  moves: string[],
): Promise<PositionView> {
  const body: PositionRequest = { game, ...(position ? { position } : {}), moves };
  return request("/api/position", body);
}

/** What tables know about a position and its moves; null if they do not know it. */
export const fetchExact = (position: PositionRequest) =>
  request<ExactPosition | null>("/api/exact", position);

export async function fetchSummaries(games: string[]): Promise<GameSummary[]> {
  return (await request<GameSummaries>("/api/summaries", { games })).games;
}

/** Adds a full stop and, unless it goes on in a sentence, a capital letter. */
export function toSentence(reason: string, isStart = true): string {
  const text = isStart ? reason.charAt(0).toUpperCase() + reason.slice(1) : reason;
  return /[.!?:…]$/.test(text) ? text : `${text}.`;
}
