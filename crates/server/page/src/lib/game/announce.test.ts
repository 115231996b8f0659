import { expect, test } from "vitest";
import { goldenGame } from "../api/golden";
import { announceMove, cellName, describeCell, offerText, outcomeText } from "./announce";

const english = goldenGame("english");
const chinese = goldenGame("chinese-checkers");
const plain = {
  isSelected: false,
  canStop: false,
  isDestination: false,
  isMovable: false,
  mustCapture: false,
  isPremove: false,
};

test("moves are announced with player, squares and captures", () => {
  const move = { text: "11x18", side: "b", path: ["36", "54"], captures: ["45"] };
  expect(announceMove(english, move, false, "numbers")).toBe("Black: 11 to 18, capturing 1 piece.");
  expect(announceMove(english, move, true, "cells")).toBe("You: 36 to 54, capturing 1 piece.");
  const two = { ...move, captures: ["45", "65"] };
  expect(announceMove(english, two, false, "numbers")).toMatch(/capturing 2 pieces\.$/);
});

test("passes are announced", () => {
  const pass = { text: "pass", side: "O", path: [], captures: [] };
  expect(announceMove(chinese, pass, false, "cells")).toBe("Red passes.");
  expect(announceMove(chinese, pass, true, "cells")).toBe("You pass.");
});

test("moves can be announced before the game info is loaded", () => {
  const move = { text: "11-15", side: "b", path: ["36", "45"], captures: [] };
  expect(announceMove(undefined, move, false, "numbers")).toBe("b: 36 to 45.");
});

test("cells are named by number, or by row and column", () => {
  expect(cellName(english, "45", "numbers")).toBe("Square 15");
  expect(cellName(english, "45", "cells")).toBe("Row 4, column 5");
  expect(cellName(english, "11", "numbers")).toBe("Row 1, column 1");
  expect(cellName(chinese, "45", "numbers")).toBe("Row 4, column 5");
});

test("cells are described with their piece", () => {
  const describe = (cell: string, status = plain) =>
    describeCell(english, english.board.replace(".b", ".B"), cell, status, "numbers");
  expect(describe("11")).toBe("Row 1, column 1: not in play");
  expect(describe("12")).toBe("Square 1: Black king");
  expect(describe("45")).toBe("Square 15: empty");
  expect(describe("45", { ...plain, isDestination: true })).toBe(
    "Square 15: empty, legal destination",
  );
  expect(describe("36", { ...plain, isMovable: true })).toBe("Square 11: Black man, can move");
  expect(describe("36", { ...plain, isMovable: true, mustCapture: true })).toMatch(/must capture$/);
  expect(describe("36", { ...plain, isSelected: true })).toMatch(/selected$/);
  expect(describe("36", { ...plain, isSelected: true, canStop: true })).toMatch(
    /select again to stop here$/,
  );
});

test("target cells name the side that wants to reach them", () => {
  expect(describeCell(chinese, chinese.board, "88", plain, "cells")).toBe(
    "Row 8, column 8: Red piece, target of Blue",
  );
});

test("offers and outcomes are sentences", () => {
  expect(offerText("draw")).toBe("Your opponent offers a draw.");
  const outcome = { winner: "b", reason: "no-move", score: null, text: "black wins" };
  expect(outcomeText(outcome)).toBe("Black wins.");
});
