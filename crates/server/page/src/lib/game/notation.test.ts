import { expect, test } from "vitest";
import { goldenGame } from "../api/golden";
import { displayMove, parseTypedMove, pathText, usesRowColumn } from "./notation";

const english = goldenGame("english");
const chinese = goldenGame("chinese-checkers");

const step = { text: "11-15", path: ["36", "45"], captures: [] };
const capture = { text: "11x27", path: ["36", "54", "76"], captures: ["45", "65"] };
const fullPath = { ...capture, text: "11x18x27" };

test("games without square numbers always use rows and columns", () => {
  expect(usesRowColumn(english, "numbers")).toBe(false);
  expect(usesRowColumn(english, "cells")).toBe(true);
  expect(usesRowColumn(english, "none")).toBe(false);
  expect(usesRowColumn(chinese, "numbers")).toBe(true);
});

test("moves are shown as listed unless rows and columns are wanted", () => {
  expect(displayMove(english, step, "numbers")).toBe("11-15");
  expect(displayMove(english, step, "none")).toBe("11-15");
  expect(displayMove(english, step, "cells")).toBe("36-45");
  expect(displayMove(english, capture, "cells")).toBe("36x76");
  expect(displayMove(english, fullPath, "cells")).toBe("36x54x76");
});

test("moves of games without square numbers and passes are shown as listed", () => {
  const jump = { text: "3335", path: ["33", "35"], captures: [] };
  expect(displayMove(chinese, jump, "numbers")).toBe("3335");
  expect(displayMove(english, { text: "pass" }, "cells")).toBe("pass");
});

test("typed rows and columns become square numbers where the board shows them", () => {
  expect(parseTypedMove(english, "36-45", "cells")).toBe("11-15");
  expect(parseTypedMove(english, "3645", "cells")).toBe("11-15");
  expect(parseTypedMove(english, "36x54x76", "cells")).toBe("11-18-27");
  expect(parseTypedMove(english, "11-15", "numbers")).toBe("11-15");
});

test("typed text that is not a path of squares is left to the server", () => {
  expect(parseTypedMove(english, "11-12", "cells")).toBe("11-12");
  expect(parseTypedMove(english, "hello", "cells")).toBe("hello");
  expect(parseTypedMove(chinese, "33 35", "cells")).toBe("33 35");
});

test("paths are written with square numbers where there are any", () => {
  expect(pathText(english, ["36", "54"])).toBe("11-18");
  expect(pathText(chinese, ["33", "35"])).toBe("33-35");
});
