/** What the pages ask of an engine, in the page (WebAssembly) or on the server. */
import type { Cell } from "../api/types";
import type {
  ExactValue,
  GameReport,
  Info,
  Limits,
  PositionView,
  Spec,
  TreeMove,
} from "./engine";

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

/** Work that goes on until it is done or stopped. */
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
}

/** A game of a file. */
export interface ImportedGame {
  game: string;
  /** Null for the start position of the game. */
  position: string | null;
  tags: [string, string][];
  moves: TreeMove[];
  result: string;
}

export interface AnalysisEngine {
  readonly place: "page" | "server";
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
}
