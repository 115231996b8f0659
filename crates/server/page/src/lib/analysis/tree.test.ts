import { expect, test } from "vitest";
import {
  annotate,
  continuation,
  emptyTree,
  fromNested,
  isMain,
  mainLine,
  markOf,
  MAX_COMMENT,
  MAX_NODES,
  MAX_PLIES,
  movesTo,
  node,
  play,
  playAll,
  promote,
  remove,
  rename,
  ROOT,
  setMark,
  sibling,
  toNested,
  type Tree,
} from "./tree";

const texts = (tree: Tree, ids: number[]) => ids.map((id) => node(tree, id).text);

/** 11-15 23-19 8-11, with the variation 22-18 15x22 and in it 25x18 or 26x17. */
function sample() {
  const main = playAll(emptyTree(), ROOT, ["11-15", "23-19", "8-11"]);
  const [first = 0] = mainLine(main.tree);
  const variation = playAll(main.tree, first, ["22-18", "15x22", "25x18"]);
  const inner = node(variation.tree, variation.at).parent;
  const other = playAll(variation.tree, inner, ["26x17"]);
  return { tree: other.tree, first, end: main.at, variation: variation.at, other: other.at };
}

test("a move that is not the next one becomes a variation", () => {
  const { tree, end, variation, other } = sample();
  expect(texts(tree, mainLine(tree))).toEqual(["11-15", "23-19", "8-11"]);
  expect(movesTo(tree, other)).toEqual(["11-15", "22-18", "15x22", "26x17"]);
  expect([end, variation, other].map((id) => isMain(tree, id))).toEqual([true, false, false]);
  expect(movesTo(tree, ROOT)).toEqual([]);
});

test("playing a move that is there goes to it", () => {
  const { tree, first, end } = sample();
  expect(playAll(tree, first, ["23-19", "8-11"])).toEqual({ tree, at: end });
});

test("promoting moves a variation up by one level", () => {
  const { tree, other } = sample();
  const once = promote(tree, other);
  expect(isMain(once, other)).toBe(false);
  const twice = promote(once, other);
  expect(texts(twice, mainLine(twice))).toEqual(["11-15", "22-18", "15x22", "26x17"]);
  expect(promote(twice, other)).toBe(twice);
  expect(twice.nodes.size).toBe(tree.nodes.size);
});

test("deleting removes the moves after it and goes to the move before", () => {
  const { tree, first, end } = sample();
  const [second = 0] = node(tree, first).children;
  const removed = remove(tree, second);
  expect(removed.at).toBe(first);
  expect(removed.tree.nodes.has(end)).toBe(false);
  expect(texts(removed.tree, mainLine(removed.tree))).toEqual(["11-15", "22-18", "15x22", "25x18"]);
  expect(remove(tree, ROOT)).toEqual({ tree, at: ROOT });
});

test("a tree that was edited leaves the old one as it was", () => {
  const { tree, first } = sample();
  const before = toNested(tree);
  remove(setMark(annotate(tree, first, { comment: "hm" }), first, "??"), first);
  expect(toNested(tree)).toEqual(before);
});

test("marks replace each other and keep other annotations", () => {
  const { tree, first } = sample();
  let marked = annotate(tree, first, { nags: [10, 2] });
  expect(markOf(node(marked, first))).toBe("?");
  marked = setMark(marked, first, "??");
  expect(node(marked, first).nags).toEqual([4, 10]);
  marked = setMark(marked, first, null);
  expect(markOf(node(marked, first))).toBeUndefined();
  expect(node(marked, first).nags).toEqual([10]);
});

test("an empty comment removes it, a long one is cut", () => {
  const { tree, first } = sample();
  const commented = annotate(tree, first, { comment: "x".repeat(MAX_COMMENT + 1) });
  expect(node(commented, first).comment).toHaveLength(MAX_COMMENT);
  expect(node(annotate(commented, first, { comment: "  " }), first)).toEqual(node(tree, first));
});

test("up and down change between the moves of a position", () => {
  const { tree, first } = sample();
  const [a = 0, b = 0] = node(tree, first).children;
  expect([sibling(tree, a, 1), sibling(tree, b, 1), sibling(tree, a, -1)]).toEqual([b, a, b]);
  expect(sibling(tree, first, 1)).toBeNull();
  expect(sibling(tree, ROOT, 1)).toBeNull();
});

test("a tree survives its nested form", () => {
  const { tree, first, other } = sample();
  const score = { points: 12, winner: null, plies: null, expected: 0.53, text: "+0.12" };
  let noted = annotate(tree, other, { comment: "<b>try</b>", nags: [6], eval: score });
  noted = rename(noted, first, "11-16");
  const nested = toNested(noted);
  expect(nested[0]?.move).toBe("11-16");
  expect(toNested(fromNested(JSON.parse(JSON.stringify(nested))))).toEqual(nested);
  expect(continuation(fromNested(nested), ROOT)).toHaveLength(3);
});

test("a stored tree of any form gives a tree within the limits", () => {
  for (const value of [null, 7, "x", {}, [null, 1, {}, { move: 3 }, { move: "" }]]) {
    expect(fromNested(value)).toEqual(emptyTree());
  }
  const wide = Array.from({ length: MAX_NODES + 10 }, (_, i) => ({ move: `${i}`, children: [] }));
  expect(fromNested(wide).nodes.size).toBe(MAX_NODES);
  let deep: object = { move: "1-2" };
  for (let i = 0; i < MAX_PLIES + 10; i++) deep = { move: "1-2", children: [deep] };
  expect(mainLine(fromNested([deep]))).toHaveLength(MAX_PLIES);
  const odd = { move: "1-2", comment: 4, nags: ["x", 4], eval: { text: 5 }, children: "y" };
  const read = fromNested([odd]);
  expect(node(read, 1)).toEqual({ parent: ROOT, text: "1-2", children: [], nags: [4] });
  const full = fromNested(wide);
  expect(play(full, ROOT, "new")).toBeNull();
});
