/**
 * Games as reports contain them. A cell is one character of CELLS; a move is its path, then `.` and
 * the captured cells, then `=` and pairs of a cell and a letter for what else changed.
 * crates/report/src/replay.rs writes this form.
 */
import type { Cell, GameInfo, SideIndex } from "../lib/api/types";
import { applyMove, cellAt } from "../lib/board/cells";

/** Data of a page. */
export interface PageData {
  /** Games by id. */
  info: Record<string, GameInfo>;
  /** Names of the players; `players` of a game are indices. */
  names: string[];
  games: ViewerGame[];
}

export interface ViewerGame {
  number: number;
  round?: number;
  /** Id of the game in `info`, if there are several. */
  game?: string;
  players: [number, number];
  result: string;
  /** Number of plies after the opening. */
  plies?: number;
  reason?: string;
  /** Whether the game was lost by a fault. */
  forfeit?: boolean;
  /** How the game ended. */
  ending?: string | null;
  /** Event, date and the like. */
  details?: string[];
  /** Number of plies of the opening. */
  opening?: number;
  /** Milliseconds of each move after the opening. */
  times?: string;
  replay: Replay | null;
}

export interface Replay {
  /** Board at the start, if it is not that of the game. */
  board?: string;
  side: SideIndex;
  moves: string;
  paths?: string;
  comments?: Record<string, string>;
  analysis?: Analysis;
}

export interface Analysis {
  evals: string[];
  expected: number[];
  /** A letter per move, see VERDICTS. */
  verdicts: string;
  mistakes: Mistake[];
  lines?: Record<string, Line[]>;
  turning_point: number | null;
  turning_text: string;
  sides: [SideAnalysis, SideAnalysis];
}

export interface Mistake {
  ply: number;
  mark: string;
  text: string;
  better: Line | null;
}

export interface Line {
  eval: string;
  moves: string;
  paths: string;
}

export interface SideAnalysis {
  accuracy: number | null;
  mean_loss: number | null;
  judgements: [number, number, number];
  moves: number;
  counted_moves: number;
}

/** A position of a game and the move that led to it. */
export interface Position {
  board: string;
  move: { text: string; path: Cell[]; captures: Cell[] } | null;
}

const CELLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Texts of the verdicts that need no numbers. */
export const VERDICTS: Record<string, string> = {
  b: "No better move was found.",
  f: "Close to the best move.",
  o: "The only move.",
  e: "The game was already over.",
};

export const words = (text: string) => (text === "" ? [] : text.split(" "));

/** The positions of a line of moves, the first one included. */
export function positions(board: string, line: { moves: string; paths?: string }): Position[] {
  const paths = (line.paths ?? "").split(" ");
  const result: Position[] = [{ board, move: null }];
  for (const [index, text] of words(line.moves).entries()) {
    const [rest = "", changes = ""] = (paths[index] ?? "").split("=");
    const [path = [], captures = []] = rest.split(".").map(cells);
    board = path.length > 0 ? applyMove(board, path, captures) : board;
    const letters = [...board];
    for (let at = 0; at + 1 < changes.length; at += 2) {
      letters[CELLS.indexOf(changes[at] ?? "")] = changes[at + 1] ?? ".";
    }
    board = letters.join("");
    result.push({ board, move: { text, path, captures } });
  }
  return result;
}

const cells = (text: string): Cell[] => [...text].map((c) => cellAt(CELLS.indexOf(c)));

/** Facts about the game that is played. */
export const infoOf = ({ info }: PageData, { game }: ViewerGame): GameInfo | undefined =>
  game === undefined ? Object.values(info)[0] : info[game];

/** Side that plays the move at an index. */
export const sideOf = (replay: Replay, index: number): SideIndex =>
  (replay.side + index) % 2 === 0 ? 0 : 1;

/** Number of the move at an index, as in `12.` and `12…`. */
export function moveNumber(replay: Replay, index: number): string {
  const number = Math.floor((index + replay.side) / 2) + 1;
  return `${number}${sideOf(replay, index) === 0 ? "." : "…"}`;
}

/** A time for people: `0.35 s`, `12.3 s`, `2:05`. */
export function timeText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds >= 60) {
    const rest = Math.floor(seconds % 60);
    return `${Math.floor(seconds / 60)}:${String(rest).padStart(2, "0")}`;
  }
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

/** The game and the ply that an address names: `#game-17.23`, `#17.23`. */
export function target(hash: string): { number: number; ply: number } | null {
  const match = /^#(?:game-)?(\d+)(?:\.(\d+))?$/.exec(hash);
  return match && { number: Number(match[1]), ply: Number(match[2] ?? 0) };
}
