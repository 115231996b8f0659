/** The interface of the engines: in the page (WebAssembly) and on the server. */
import type { Cell, SideLetter } from "../api/types";
import type { ExactValue, GameReport, Info, Limits, PositionView, Spec, TreeMove } from "./engine";

/** A request that the engine refuses. The message is a sentence for people. */
export class EngineError extends Error {
  /** Index of the move that cannot be played, if a move is the reason. */
  readonly at?: number;
  /** Cells that the message is about, to be marked on the board. */
  readonly cells: Cell[];

  constructor(message: string, at?: number, cells: Cell[] = []) {
    super(message);
    this.at = at;
    this.cells = cells;
  }
}

/** Work that continues until it is done or stopped. */
export interface Running<T> {
  /** Rejects with an `EngineError` if the request is refused; null if it was stopped. */
  result: Promise<T | null>;
  stop(): void;
}

export interface SearchOptions {
  /** Number of best lines, 1 to 5. */
  lines: number;
  limits: Limits;
}

/** The value of a position and of each legal move, where tables know them. */
export interface ExactPosition extends ExactValue {
  /** The rule set for which the values hold. */
  rules: string;
  moves: (ExactValue & { move: string })[];
  /** Turns that each side alone still needs, in Chinese checkers. */
  solo: [number, number] | null;
}

/** A hint in three steps: which piece, which move, and why. */
export interface Hint {
  piece: Cell;
  move: string;
  reason: string;
  reasons?: { kind: string; text: string; cells: Cell[] }[];
}

/** A game of a file. */
export interface ImportedGame {
  game: string;
  /** Null for the start position of the game. */
  position: string | null;
  /** Comment before the first move. */
  comment?: string;
  tags: [string, string][];
  moves: TreeMove[];
  result: string;
}

/** A position put together in the editor. `board` is 64 letters, row 1 first, `.` empty. */
export interface Setup {
  game: string;
  board: string;
  side: SideLetter;
  /** Turns played, in Chinese checkers and Capture Halma. */
  plies?: number;
}

export interface SetupResult {
  /** Text of the position; empty if it is invalid. */
  position: string;
  /** What is wrong, in words; null if the position is valid. */
  error: string | null;
  /** Cells that the error is about. */
  cells: Cell[];
}

/** A row of the list of games of a file. */
export interface FileGame {
  /** Number of the game in the file, from 1. */
  number: number;
  /** Id with options. */
  game: string;
  /** Names of the side that moves first and of the other one. */
  players: [string, string];
  event: string;
  date: string;
  result: string;
  plies: number;
  /** Bytes of the file. */
  offset: number;
  length: number;
}

/** A game of a file that could not be read. */
export interface FileError {
  number: number;
  line: number;
  column: number;
  message: string;
}

export interface ImportResult {
  games: number;
  /** The first 100. */
  errors: FileError[];
  failed: number;
}

export type EnginePlace = "page" | "server";

export interface AnalysisEngine {
  /** Position, legal moves and outcome after the moves of `spec`. */
  position(spec: Spec): Promise<PositionView>;
  /** Searches; `onInfo` gets each result that is better than the last one. */
  search(spec: Spec, options: SearchOptions, onInfo: (info: Info) => void): Running<Info>;
  /** Judges every move of a game. */
  report(
    spec: Spec,
    limits: Limits,
    onProgress: (done: number, total: number) => void,
  ): Running<GameReport>;
  /** Null if no table knows the position. */
  exact(spec: Spec): Promise<ExactPosition | null>;
  hint(spec: Spec): Running<Hint>;
  /** The first game of a PDN text. */
  readPdn(text: string): Promise<ImportedGame>;
  /** A game with variations, comments and scores as PDN. */
  writePdn(game: ImportedGame): Promise<string>;
  /** Why a move cannot be played, and the cells that the reason is about. */
  explain(spec: Spec, move: string): Promise<{ reason: string; cells: Cell[] }>;
  /** Text of a position put together by hand, or what is wrong with it. */
  setUp(setup: Setup): Promise<SetupResult>;
  /** Lists the games of a file. `onGames` gets them in batches. */
  importFile(
    file: Blob,
    onGames: (games: FileGame[], progress: { bytes: number; total: number }) => void,
  ): Running<ImportResult>;
  /** Ends workers and connections. */
  close(): void;
}
