import { expect, test } from "vitest";
import type { LegalMove } from "../api/types";
import { canStop, capturedSoFar, destinations, isAmbiguous, movable, select } from "./selection";

function move(path: string[], captures: string[] = [], other_paths?: string[][]): LegalMove {
  const [from, to] = [path[0] ?? null, path.at(-1) ?? null];
  return {
    text: path.join("-"),
    from,
    to,
    path,
    captures,
    ...(other_paths ? { other_paths } : {}),
  };
}

const steps = [move(["36", "45"]), move(["36", "47"]), move(["32", "41"])];
/** Two captures from 12 to 74, and one that stops at 34. */
const forks = [
  move(["12", "34", "56", "74"], ["23", "45", "65"]),
  move(["12", "34", "52", "74"], ["23", "43", "63"]),
];
/** A capture that may stop at 35 or continue to 55. */
const jumps = [
  move(["33", "35"], ["34"]),
  move(["33", "35", "55"], ["34", "45"]),
  move(["42", "41"]),
];

test("movable lists the start of every move, but not of a pass", () => {
  expect(movable([...steps, move([])])).toEqual(new Set(["36", "32"]));
});

test("nothing is a destination until a piece is selected", () => {
  expect(destinations(steps, [])).toEqual(new Set());
  expect(destinations(steps, ["36"])).toEqual(new Set(["45", "47"]));
});

test("a piece is selected, exchanged for another and deselected", () => {
  expect(select(steps, [], "36")).toEqual({ kind: "selected", selected: ["36"] });
  expect(select(steps, ["36"], "32")).toEqual({ kind: "selected", selected: ["32"] });
  expect(select(steps, ["36"], "36")).toEqual({ kind: "deselected" });
});

test("cells that no move reaches are illegal", () => {
  expect(select(steps, [], "45")).toEqual({ kind: "illegal" });
  expect(select(steps, ["36"], "63")).toEqual({ kind: "illegal" });
});

test("a single remaining move is complete", () => {
  expect(select(steps, ["36"], "45")).toMatchObject({ kind: "move", path: ["36", "45"] });
});

test("the end of a move is enough if it identifies the move", () => {
  const capture = [move(["36", "54", "76"], ["45", "65"])];
  expect(destinations(capture, ["36"])).toEqual(new Set(["54", "76"]));
  expect(select(capture, ["36"], "76")).toMatchObject({ kind: "move", path: ["36", "54", "76"] });
});

test("an ambiguous end must be selected step by step", () => {
  expect(isAmbiguous(forks, "12", "74")).toBe(true);
  expect(destinations(forks, ["12"])).toEqual(new Set(["34"]));
  expect(select(forks, ["12"], "74")).toEqual({ kind: "illegal" });
  expect(select(forks, ["12"], "34")).toEqual({ kind: "selected", selected: ["12", "34"] });
  expect(destinations(forks, ["12", "34"])).toEqual(new Set(["56", "52"]));
  expect(select(forks, ["12", "34"], "56")).toMatchObject({ kind: "move", move: forks[0] });
});

test("captures are counted only along the selected steps", () => {
  expect(capturedSoFar(forks, ["12", "34"])).toEqual(["23"]);
});

test("a cell where the move may stop must be selected twice", () => {
  expect(select(jumps, ["33"], "35")).toEqual({ kind: "selected", selected: ["33", "35"] });
  expect(canStop(jumps, ["33", "35"])).toBe(true);
  expect(canStop(jumps, ["33"])).toBe(false);
  expect(select(jumps, ["33", "35"], "35")).toMatchObject({ kind: "move", path: ["33", "35"] });
  expect(select(jumps, ["33", "35"], "55")).toMatchObject({ kind: "move", move: jumps[1] });
});

test("a move without captures is played by a click on its end, even if it could continue", () => {
  const hops = [move(["33", "35"]), move(["33", "35", "55"])];
  expect(select(hops, ["33"], "35")).toMatchObject({ kind: "move", path: ["33", "35"] });
  expect(select(hops, ["33"], "55")).toMatchObject({ kind: "move", path: ["33", "35", "55"] });
});

test("a dropped piece stops at once", () => {
  expect(select(jumps, ["33"], "35", true)).toMatchObject({ kind: "move", path: ["33", "35"] });
});

test("an unrelated cell cancels a move selected halfway", () => {
  for (const cell of ["33", "88"]) {
    expect(select(jumps, ["33", "35"], cell)).toEqual({ kind: "deselected" });
  }
  expect(select(jumps, ["33", "35"], "42")).toEqual({ kind: "selected", selected: ["42"] });
});

test("other paths of a move can be followed", () => {
  const around = [move(["34", "56", "74", "52", "34"], [], [["34", "52", "74", "56", "34"]])];
  expect(destinations(around, ["34"])).toEqual(new Set(["56", "52", "34"]));
  expect(select(around, ["34"], "52")).toMatchObject({
    kind: "move",
    path: ["34", "52", "74", "56", "34"],
  });
});

test("a detour that is not listed continues on a listed path", () => {
  const moves = [
    move(["33", "35"], ["34"]),
    move(["33", "35", "55"], ["34", "45"]),
    move(["33", "53"], ["43"]),
    move(["33", "53", "55"], ["43", "54"]),
  ];
  const selected = ["33", "35"];
  expect(select(moves, selected, "53")).toEqual({ kind: "selected", selected: ["33", "53"] });
});
