/** Puzzles: what the server sends, the player's streak, and which puzzle comes next. */
import { readStored, writeStored } from "../stores/stored";

export interface Puzzle {
  position: string;
  goal: "win" | "draw";
  /** Moves of the player and replies in turn; each move of the player is the only one. */
  solution: string[];
  /** Plies to the end of the game, for a win. */
  plies: number | null;
  /** 1, easy, to 5. */
  grade: number;
}

export interface PuzzleFile {
  game: string;
  puzzles: Puzzle[];
}

export const MAX_GRADE = 5;

/** How a player did in a game. */
export interface Score {
  /** Puzzles solved in a row without a mistake. */
  streak: number;
  best: number;
  /** Positions of the puzzles solved. */
  solved: string[];
}

const NONE: Score = { streak: 0, best: 0, solved: [] };
const key = (game: string) => `crownhead.puzzles.${game}`;

export function readScore(game: string): Score {
  const stored = readStored(key(game), NONE);
  const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
  const solved = Array.isArray(stored.solved)
    ? stored.solved.filter((position) => typeof position === "string")
    : [];
  return {
    streak: isCount(stored.streak) ? stored.streak : 0,
    best: isCount(stored.best) ? stored.best : 0,
    solved,
  };
}

export const writeScore = (game: string, score: Score) => writeStored(key(game), score);

/** The score after a puzzle was solved. */
export function onSolved(score: Score, puzzle: Puzzle, clean: boolean): Score {
  const streak = clean ? score.streak + 1 : score.streak;
  const solved = score.solved.includes(puzzle.position)
    ? score.solved
    : [...score.solved, puzzle.position];
  return { streak, best: Math.max(score.best, streak), solved };
}

/** The score after a mistake, or after the solution was shown. */
export const onFailed = (score: Score): Score => ({ ...score, streak: 0 });

/**
 * The next puzzle of a grade (0: any): the first one that is not solved, in the order of the file,
 * which is from easy to hard. When all are solved they start again.
 */
export function nextPuzzle(
  puzzles: Puzzle[],
  score: Score,
  grade: number,
  last: Puzzle | null,
): Puzzle | null {
  const all = puzzles.filter((puzzle) => grade === 0 || puzzle.grade === grade);
  const after = last ? all.indexOf(last) + 1 : 0;
  const inOrder = [...all.slice(after), ...all.slice(0, after)];
  return inOrder.find(({ position }) => !score.solved.includes(position)) ?? inOrder[0] ?? null;
}

/** What to do, in a sentence. */
export const taskText = ({ goal }: Puzzle, side: string) =>
  goal === "win"
    ? `${side} to move. One move wins: find it.`
    : `${side} to move. One move saves the game: find it.`;

/** What has been achieved. */
export const solvedText = ({ goal, plies }: Puzzle) =>
  goal === "win"
    ? `Solved: the only move that wins${plies ? `, in ${plies} ${plies === 1 ? "ply" : "plies"}` : ""}.`
    : "Solved: every other move loses.";
