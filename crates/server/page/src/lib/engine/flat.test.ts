import { expect, test } from "vitest";
import type { ImportedGame } from "../analysis/client";
import type { TreeMove } from "../analysis/engine";
import { flatten, unflatten } from "./flat";

const game = (moves: TreeMove[]): ImportedGame => ({
  game: "english",
  position: null,
  comment: "start",
  tags: [["Event", "E"]],
  moves,
  result: "1-0",
});

test("a game survives its flat form", () => {
  const leaf = { move: "23-19", comment: "!?", nags: [5], children: [] };
  const variation = { move: "22-18", children: [{ move: "15x22", children: [] }] };
  const original = game([
    { move: "11-15", children: [leaf, variation] },
    { move: "12-16", children: [] },
  ]);
  const flat = flatten(original);
  expect(flat.moves.every(({ parent }, index) => parent === null || parent < index)).toBe(true);
  expect(unflatten(flat)).toEqual(original);
});

test("a game may nest deeper than any stack", () => {
  let moves: TreeMove[] = [];
  for (let ply = 0; ply < 50_000; ply++) moves = [{ move: "1-2", children: moves }];
  const flat = flatten(game(moves));
  expect(flat.moves).toHaveLength(50_000);
  expect(flatten(unflatten(flat)).moves).toHaveLength(50_000);
});
