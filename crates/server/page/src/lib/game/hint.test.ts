import { expect, test } from "vitest";
import { goldenGame } from "../api/golden";
import { hintCells, hintText, nextStep, type Suggestion } from "./hint";

const english = goldenGame("english");
const suggestion: Suggestion = { text: "11-15", path: ["36", "45"], reason: "it threatens 19" };

test("a hint names the piece, then the move, then the reason", () => {
  const texts = ([1, 2, 3] as const).map((step) => hintText(english, suggestion, step, "numbers"));
  expect(texts).toEqual([
    "Move the piece on square 11.",
    "Try 11-15.",
    "Try 11-15: it threatens 19.",
  ]);
  expect(hintText(english, suggestion, 1, "cells")).toBe("Move the piece on row 3, column 6.");
});

test("only the second step shows where the piece goes", () => {
  expect(hintCells(suggestion, 1)).toEqual(["36"]);
  expect(hintCells(suggestion, nextStep(1))).toEqual(["36", "45"]);
  expect(nextStep(3)).toBe(3);
});
