/**
 * JSON of the HTTP API and the WebSocket, as docs/api.md describes it.
 *
 * types.test.ts checks these types against the golden files that the server's tests produce.
 */

/** Letter of a side, one of `GameInfo.sides`. */
export type SideLetter = string;
/** Row and column of a cell, `11` to `88`; row 1 is at the top. */
export type Cell = string;

export interface LegalMove {
  text: string;
  from: Cell | null;
  to: Cell | null;
  /** Every cell the piece lands on, start and end included; empty for a pass. */
  path: Cell[];
  captures: Cell[];
  /** Other paths of the same length. */
  other_paths?: Cell[][];
}

export interface PlayedMove {
  text: string;
  side: SideLetter;
  path: Cell[];
  captures: Cell[];
}

/** A played move with the board after it. */
export interface HistoryEntry extends PlayedMove {
  board: string;
}

export interface Outcome {
  winner: SideLetter | null;
  reason: string;
  score: [number, number] | null;
  text: string;
}

/** A position and its legal moves. */
export interface Position {
  position: string;
  board: string;
  side: SideLetter;
  ply: number;
  legal: LegalMove[];
  must_capture: boolean;
  /** Moves until a limit ends the game, if it has one. */
  plies_left: number | null;
  outcome: Outcome | null;
}

/** Body of `POST /api/position`. */
export interface PositionRequest {
  game: string;
  position?: string;
  moves: string[];
}

/** Response of `POST /api/position`. */
export interface PositionView extends Position {
  last: PlayedMove | null;
}

export interface SideInfo {
  letter: SideLetter;
  name: string;
  /** Colour of the pieces, `#rrggbb`; null for dark (first side) or light (second side). */
  colour: string | null;
  /** Whether a player of this side sees row 8 at the top. */
  flipped: boolean;
}

/** Index of a side: 0 moves first. */
export type SideIndex = 0 | 1;

/** What a letter on the board stands for. */
export interface PieceInfo {
  letter: string;
  side: SideIndex;
  name: string;
  king: boolean;
}

export interface GameOption {
  key: string;
  values: string;
  default: string;
  meaning: string;
}

export interface GameInfo {
  id: string;
  name: string;
  sides: [SideInfo, SideInfo];
  options: GameOption[];
  start: string;
  board: string;
  /** Cells that pieces can stand on. */
  cells: Cell[];
  pieces: PieceInfo[];
  /** Number of each cell, null where no piece can stand; null if squares have no numbers. */
  squares: (number | null)[] | null;
  /** Cells that each side wants to reach. */
  targets: [Cell[], Cell[]] | null;
  forced_capture: boolean;
  /** Whether the pieces on target cells are the score. */
  counts_points: boolean;
}

/** A computer player. */
export interface CatalogPlayer {
  spec: string;
  name: string;
  description: string;
  uses_time: boolean;
}

/** Response of `GET /api/games`. Times are in milliseconds. */
export interface Catalog {
  protocol: number;
  games: GameInfo[];
  players: CatalogPlayer[];
  /** Choices of a new game, as in `crownhead play`. */
  defaults: { game: string; player: string; side: SideLetter };
  thinking: { min: number; default: number; max: number };
  clock: { max: number; max_increment: number };
  names: { max: number };
  /** Whether the server shows a fleet. */
  fleet: boolean;
}

export type Goal =
  | { kind: "any" }
  | { kind: "moves"; moves: string[] }
  | { kind: "illegal"; move: string; reason: string };

export interface Exercise {
  title: string;
  position: string;
  task: string;
  goal: Goal;
  hint: string;
  praise: string;
}

/** Response of `GET /api/rules/ID`. */
export interface GameRules {
  id: string;
  name: string;
  about: string[];
  exercises: Exercise[];
}

/** `computers`: two computers, and everybody watches. */
export type Mode = "computer" | "hotseat" | "friend" | "computers";

/** Body of `POST /api/games`. */
export interface NewGameRequest {
  game: string;
  mode: Mode;
  side?: SideLetter;
  player?: string;
  /** The players of the mode `computers`. */
  players?: readonly [string, string];
  thinking?: number;
  /** The start position, if it is not that of the game. */
  position?: string;
  clock: { time: number; increment: number } | null;
  name: string | null;
}

/** Response of `POST /api/games`. */
export interface CreatedGame {
  id: string;
  /** Null in a game between two computers. */
  secret: string | null;
  you: SideLetter[];
  friend?: string;
}

export interface Seat {
  side: SideLetter;
  kind: "person" | "computer";
  name: string | null;
  player?: string;
  online: boolean;
}

export interface GameSummary {
  id: string;
  game: string;
  kind: string;
  name: string;
  mode: Mode;
  ply: number;
  side: SideLetter;
  board: string;
  seats: Seat[];
  outcome: Outcome | null;
  next: string | null;
  last_activity: number;
}

/** Response of `POST /api/summaries`. */
export interface GameSummaries {
  games: GameSummary[];
}

/** Body of every response with a status from 400. */
export interface ErrorResponse {
  error: {
    code: string;
    reason: string;
    kind?: string;
    at?: number;
    /** The cells that the reason names. */
    cells?: Cell[];
    column?: number;
  };
}

export type OfferKind = "draw" | "take-back" | "rematch";

/** The side that made each offer. */
export interface Offers {
  draw: SideLetter | null;
  take_back: SideLetter | null;
  rematch: SideLetter | null;
}

export interface Clocks {
  time: number;
  increment: number;
  left: [number, number];
  running: SideLetter | null;
}

export type ComputerStatus = "waiting" | "thinking" | null;

/** Everything about a game. */
export interface GameState extends Position {
  id: string;
  game: string;
  kind: string;
  mode: Mode;
  version: number;
  start: string;
  start_board: string;
  history: HistoryEntry[];
  clocks: Clocks | null;
  seats: Seat[];
  watchers: number;
  offers: Offers;
  computer: ComputerStatus;
  next: string | null;
}

export type StateMessage = GameState & { type: "state" };

export interface MovedMessage extends Position {
  type: "moved";
  version: number;
  move: HistoryEntry;
  clocks: Clocks | null;
  offers: Offers;
  computer: ComputerStatus;
}

export interface RefusedMessage {
  type: "refused";
  id: number | null;
  code: string;
  kind?: string;
  reason: string;
  /** The cells that the reason names. */
  cells?: Cell[];
  version: number;
}

/** A suggested move. */
export interface HintMessage {
  type: "hint";
  id: number | null;
  version: number;
  move: string;
  /** Why the move is good. */
  reason: string;
}

export type ServerMessage =
  | StateMessage
  | MovedMessage
  | RefusedMessage
  | { type: "joined"; protocol: number; id: string; you: SideLetter[] }
  | { type: "offers"; offers: Offers }
  | { type: "seats"; seats: Seat[]; watchers: number }
  | { type: "computer"; computer: ComputerStatus }
  | { type: "next"; id: string }
  | { type: "declined"; offer: OfferKind; by: SideLetter; text: string }
  | { type: "done"; id: number; version: number }
  | HintMessage
  | { type: "pong"; id: number | null };

/** An action of a player, without the fields that the client adds. */
export type GameAction =
  { type: "resign" | "hint" } | { type: "offer" | "accept" | "decline"; offer: OfferKind };

export type ClientMessage =
  | { type: "join"; secret?: string; name?: string }
  | { type: "move"; version: number; move: string; id: number }
  | (GameAction & { version: number; id: number })
  | { type: "name"; name: string | null; id: number }
  | { type: "ping"; id?: number };

/** A machine of a fleet. */
export interface FleetWorker {
  name: string;
  machine: string;
  build: string;
  cores: number;
  concurrency: number;
  /** Nodes per second, by game. */
  speed: Record<string, number>;
  running: string[];
  games: number;
  faults: number;
  /** Jobs given back. */
  returned: number;
  seconds: number;
  is_draining: boolean;
  has_left: boolean;
}

/** A match, a test or a tournament that a fleet plays. */
export interface FleetRun {
  id: string;
  name: string;
  games: number;
  finished: number;
  /** Positions stored for training, or moves analysed. */
  positions: number;
  queued: number;
  dead: number;
  games_per_second: number;
  seconds: number;
  has_ended: boolean;
  /** Null before the first game is finished. */
  seconds_left: number | null;
}

/** A job that ended five workers. */
export interface DeadJob {
  number: number;
  run: string;
  games: number[];
  players: string[];
  queued: string;
}

export interface FleetStatus {
  build: string | null;
  workers: FleetWorker[];
  runs: FleetRun[];
  waiting: number;
  running: number;
  dead: DeadJob[];
}
