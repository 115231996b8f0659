import { expect, test } from "vitest";
import { goldenGame } from "../api/golden";
import {
  ALL_CELLS,
  applyMove,
  bottomSide,
  cellAt,
  cellIndex,
  distance,
  isBetween,
  isFlippedFor,
  isInPlay,
  offset,
  pieceInfo,
  pieceSide,
  sideIndex,
} from "./cells";

const english = goldenGame("english");
const chinese = goldenGame("chinese-checkers");
const halma = goldenGame("capture-halma");

test("cells are numbered by rows from the top", () => {
  expect(ALL_CELLS).toHaveLength(64);
  expect(cellIndex("11")).toBe(0);
  expect(cellIndex("88")).toBe(63);
  for (const cell of ALL_CELLS) expect(cellAt(cellIndex(cell))).toBe(cell);
});

test("offset stops at the edges", () => {
  expect(offset("45", 1, -1)).toBe("54");
  expect(offset("11", -1, 0)).toBeNull();
  expect(offset("18", 0, 1)).toBeNull();
});

test("distance counts king steps", () => {
  expect(distance("11", "11")).toBe(0);
  expect(distance("36", "54")).toBe(2);
  expect(distance("11", "18")).toBe(7);
});

test("isBetween accepts only cells on the line and strictly inside", () => {
  expect(isBetween("45", "36", "54")).toBe(true);
  expect(isBetween("34", "33", "37")).toBe(true);
  expect(isBetween("36", "36", "54")).toBe(false);
  expect(isBetween("63", "36", "54")).toBe(false);
  expect(isBetween("44", "36", "54")).toBe(false);
});

test("pieces belong to the side that the game info names", () => {
  expect(pieceSide(english, "b")).toBe(0);
  expect(pieceSide(english, "W")).toBe(1);
  expect(pieceSide(english, ".")).toBe(-1);
  expect(pieceInfo(english, "B")).toMatchObject({ name: "king", king: true });
  // A capital letter is not a king in every game.
  expect(pieceInfo(chinese, "O")).toMatchObject({ side: 1, name: "piece", king: false });
  expect(sideIndex(chinese, "O")).toBe(1);
});

test("only numbered squares are in play", () => {
  expect(isInPlay(english, "11")).toBe(false);
  expect(isInPlay(english, "12")).toBe(true);
  expect(isInPlay(chinese, "11")).toBe(true);
});

test("applyMove moves the piece and removes captured ones", () => {
  const board = applyMove(english.board, ["36", "45"], []);
  expect(board[cellIndex("36")]).toBe(".");
  expect(board[cellIndex("45")]).toBe("b");
  const captured = applyMove(board, ["45", "63"], ["54", "61"]);
  expect(captured[cellIndex("63")]).toBe("b");
  expect(captured[cellIndex("61")]).toBe(".");
  expect(applyMove(board, [], [])).toBe(board);
});

test("own pieces start at the bottom; without a side of their own, users see row 1 at the top", () => {
  for (const game of [english, chinese]) {
    const [first, second] = game.sides.map(({ letter }) => letter) as [string, string];
    expect(bottomSide(game, [first])).toBe(first);
    expect(isFlippedFor(game, first)).toBe(true);
    expect(bottomSide(game, [second])).toBe(second);
    expect(isFlippedFor(game, second)).toBe(false);
    expect(bottomSide(game, [first, second])).toBe(second);
    expect(bottomSide(game, [])).toBe(second);
  }
  // The sides of Capture Halma start at the left and at the right.
  for (const side of ["b", "w"]) expect(isFlippedFor(halma, side)).toBe(false);
  expect(bottomSide(halma, [])).toBe("b");
});
