import { expect, test } from "vitest";
import { moveNumber, positions, target, timeText, type Replay } from "./replay";

const EMPTY = ".".repeat(64);
const put = (...pieces: [number, string][]) => {
  const board = [...EMPTY];
  for (const [index, letter] of pieces) board[index] = letter;
  return board.join("");
};

test("moves follow paths, capture and promote", () => {
  // A man on row 3 captures one on row 2 and is crowned on row 1; then a pass.
  const start = put([17, "w"], [10, "b"], [40, "b"]);
  const line = { moves: "9x2 pass", paths: "RD.K=DW " };
  const [before, after, passed] = positions(start, line);
  expect(before).toEqual({ board: start, move: null });
  expect(after?.board).toBe(put([3, "W"], [40, "b"]));
  expect(after?.move).toEqual({ text: "9x2", path: ["32", "14"], captures: ["23"] });
  expect(passed).toEqual({ board: after?.board, move: { text: "pass", path: [], captures: [] } });
});

test("a game without moves has one position", () => {
  expect(positions(EMPTY, { moves: "", paths: "" })).toHaveLength(1);
});

test("moves are numbered from the side that starts", () => {
  const replay = { side: 1 } as Replay;
  expect([0, 1, 2].map((index) => moveNumber(replay, index))).toEqual(["1…", "2.", "2…"]);
});

test("times and addresses", () => {
  expect([40, 12_345, 125_000].map(timeText)).toEqual(["0.04 s", "12.3 s", "2:05"]);
  expect(target("#game-17.23")).toEqual({ number: 17, ply: 23 });
  expect(target("#17")).toEqual({ number: 17, ply: 0 });
  expect(target("#player-1")).toBeNull();
});
