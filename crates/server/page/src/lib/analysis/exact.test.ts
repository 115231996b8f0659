import { expect, test } from "vitest";
import { exactText } from "./exact";

test("an exact value is a clause", () => {
  expect(exactText({ result: "win", plies: 23, proved: true })).toBe("wins in 23 plies");
  expect(exactText({ result: "loss", plies: 1, proved: true })).toBe("loses in 1 ply");
  expect(exactText({ result: "draw", plies: null, proved: true })).toBe("draw");
  expect(exactText({ result: "win", plies: null, proved: true })).toBe("wins");
  expect(exactText({ result: null, plies: null, proved: false })).toBe("unknown");
});

test("a value that a draw counter may change says so", () => {
  expect(exactText({ result: "win", plies: 90, proved: false })).toBe(
    "wins in 90 plies, unless a draw counter ends the game first",
  );
});
