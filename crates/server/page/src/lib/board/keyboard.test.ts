import { expect, test } from "vitest";
import { ALL_CELLS } from "./cells";
import { keyAction, nextCandidate } from "./keyboard";

const press = (key: string, more = {}) => ({
  key,
  repeat: false,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

test("arrow keys move the focus as the board is seen", () => {
  expect(keyAction(press("ArrowUp"), "45", false)).toEqual({ kind: "focus", cell: "35" });
  expect(keyAction(press("ArrowUp"), "45", true)).toEqual({ kind: "focus", cell: "55" });
  expect(keyAction(press("ArrowLeft"), "45", true)).toEqual({ kind: "focus", cell: "46" });
  expect(keyAction(press("ArrowUp"), "15", false)).toEqual({ kind: "ignore" });
});

test("Home and End go to the ends of the row", () => {
  expect(keyAction(press("Home"), "45", false)).toEqual({ kind: "focus", cell: "41" });
  expect(keyAction(press("Home"), "45", true)).toEqual({ kind: "focus", cell: "48" });
  expect(keyAction(press("End"), "45", false)).toEqual({ kind: "focus", cell: "48" });
});

test("Enter and Space select once, however long they are held", () => {
  for (const key of ["Enter", " "]) {
    expect(keyAction(press(key), "45", false)).toEqual({ kind: "select" });
    expect(keyAction(press(key, { repeat: true }), "45", false)).toEqual({ kind: "ignore" });
  }
});

test("digits start typing a move", () => {
  expect(keyAction(press("1"), "45", false)).toEqual({ kind: "type", text: "1" });
});

test("other keys and shortcuts are left alone", () => {
  expect(keyAction(press("Tab"), "45", false)).toBeNull();
  expect(keyAction(press("ArrowUp", { ctrlKey: true }), "45", false)).toBeNull();
});

test("N goes to the next candidate and wraps around", () => {
  expect(keyAction(press("n"), "45", false)).toEqual({ kind: "next", step: 1 });
  expect(keyAction(press("N", { shiftKey: true }), "45", false)).toEqual({
    kind: "next",
    step: -1,
  });
  const candidates = new Set(["12", "36"]);
  expect(nextCandidate(ALL_CELLS, "12", 1, candidates)).toBe("36");
  expect(nextCandidate(ALL_CELLS, "36", 1, candidates)).toBe("12");
  expect(nextCandidate(ALL_CELLS, "12", -1, candidates)).toBe("36");
  expect(nextCandidate(ALL_CELLS, "12", 1, new Set())).toBeNull();
});
