import { expect, test } from "vitest";
import { nextPuzzle, onFailed, onSolved, solvedText, type Puzzle, type Score } from "./puzzles";

const puzzle = (position: string, grade = 1): Puzzle => ({
  position,
  goal: "win",
  solution: ["1-5"],
  plies: 3,
  grade,
});
const none: Score = { streak: 0, best: 0, solved: [] };

test("a streak counts puzzles without a mistake and ends with one", () => {
  let score = onSolved(none, puzzle("a"), true);
  score = onSolved(score, puzzle("b"), true);
  expect(score).toEqual({ streak: 2, best: 2, solved: ["a", "b"] });
  score = onFailed(score);
  expect(score).toEqual({ streak: 0, best: 2, solved: ["a", "b"] });
  expect(onSolved(score, puzzle("c"), false).streak).toBe(0);
  expect(onSolved(score, puzzle("a"), true).solved).toEqual(["a", "b"]);
});

test("solved puzzles come again only when all are solved", () => {
  const puzzles = [puzzle("a"), puzzle("b", 2), puzzle("c", 2)];
  const next = (score: Score, grade = 0, last: Puzzle | null = null) =>
    nextPuzzle(puzzles, score, grade, last)?.position;
  expect(next(none)).toBe("a");
  expect(next({ ...none, solved: ["a"] })).toBe("b");
  expect(next(none, 2)).toBe("b");
  expect(next(none, 0, puzzles[0])).toBe("b");
  expect(next({ ...none, solved: ["b", "c"] }, 0, puzzles[2])).toBe("a");
  expect(next({ ...none, solved: ["a", "b", "c"] }, 0, puzzles[2])).toBe("a");
  expect(next(none, 4)).toBeUndefined();
});

test("the text of a solved puzzle names the goal", () => {
  expect(solvedText(puzzle("a"))).toBe("Solved: the only move that wins, in 3 plies.");
  expect(solvedText({ ...puzzle("a"), goal: "draw", plies: null })).toContain("loses");
});
