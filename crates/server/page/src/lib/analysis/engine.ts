/** Requests to an engine, in the page or on the server, and their responses. */
import type { Cell, PositionView, SideLetter } from "../api/types";

/** Evaluation from the view of the side that moves first in the game. */
export interface Eval {
  /** Hundredths; null for a forced win. */
  points: number | null;
  winner: SideLetter | null;
  /** Plies to the end. */
  plies: number | null;
  /** Expected score of the side that moves first. */
  expected: number;
  text: string;
}

/** A move of a line, with the board after it. */
export interface Step {
  text: string;
  path: Cell[];
  captures: Cell[];
  board: string;
}

export interface EngineLine {
  eval: Eval;
  moves: Step[];
}

/** A move with the moves after it, the main one first. */
export interface TreeMove {
  move: string;
  comment?: string;
  nags?: number[];
  eval?: Eval;
  children: TreeMove[];
}

/** A position: that of a text, or the start of the game, after some moves. */
export interface Spec {
  game: string;
  position?: string;
  moves: string[];
}

export interface Limits {
  seconds?: number;
  depth?: number;
  nodes?: number;
}

export interface Info {
  type: "info";
  depth: number;
  seldepth: number;
  nodes: number;
  seconds: number;
  hashfull: number;
  table_hits: number;
  lines: EngineLine[];
  /** Whether the search has ended. */
  done: boolean;
}

/** A move of a report: `crownhead analyse --json`. */
export interface ReportMove {
  ply: number;
  number: number;
  side: SideLetter;
  move: string;
  before: Eval;
  after: Eval;
  loss: number;
  verdict: string;
  mark: string | null;
  better: { eval: Eval; moves: string[] } | null;
}

export interface ReportSide {
  letter: SideLetter;
  name: string;
  moves: number;
  counted_moves: number;
  accuracy: number | null;
  mean_loss: number | null;
  inaccuracies: number;
  mistakes: number;
  blunders: number;
}

/** A game as `crownhead analyse --json` prints it. */
export interface GameReport {
  eval: Eval;
  sides: [ReportSide, ReportSide];
  turning_point: number | null;
  moves: ReportMove[];
}

/** `win`, `draw` or `loss` for the side to move before the move; null if no table knows it. */
export interface ExactValue {
  result: "win" | "draw" | "loss" | null;
  plies: number | null;
  proved: boolean | null;
}

export type { PositionView };
