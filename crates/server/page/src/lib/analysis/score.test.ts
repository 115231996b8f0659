import { expect, test } from "vitest";
import { goldenGame } from "../api/golden";
import type { Eval } from "./engine";
import { barScore, shortScore } from "./score";

const english = goldenGame("english");
const points: Eval = { points: 84, winner: null, plies: null, expected: 0.6, text: "+0.84" };
const win = (winner: string, plies: number): Eval => ({
  points: null,
  winner,
  plies,
  expected: winner === "b" ? 1 : 0,
  text: "Black wins in 5",
});

test("a forced win is written as in PDN, from the view of the first side", () => {
  expect(shortScore(points, english)).toBe("+0.84");
  expect(shortScore(win("b", 9), english)).toBe("#5");
  expect(shortScore(win("w", 10), english)).toBe("#-5");
});

test("the evaluation bar has room for few digits", () => {
  expect(["+0.84", "-3.26", "+12.50", "-9.97", "#-5", "½", "1-0"].map(barScore)).toEqual([
    "+0.8",
    "-3.3",
    "+13",
    "-10",
    "#-5",
    "½",
    "1-0",
  ]);
});

test("a score that rounds to zero has no sign", () => {
  expect(["-0.04", "+0.01", "0.00", "-0.08"].map(barScore)).toEqual(["0.0", "0.0", "0.0", "-0.1"]);
});
