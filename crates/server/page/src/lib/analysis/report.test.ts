import { expect, test } from "vitest";
import type { Eval, GameReport, ReportMove } from "./engine";
import { lastOnMainLine, nextMistake, withReport } from "./report.svelte";
import { annotate, emptyTree, mainLine, markOf, node, playAll, ROOT, setMark } from "./tree";

const score = (points: number): Eval => ({
  points,
  winner: null,
  plies: null,
  expected: 0.5,
  text: `${points}`,
});
const judged = (ply: number, move: string, mark: string | null, better?: string[]): ReportMove => ({
  ply,
  number: 1,
  side: "b",
  move,
  before: score(10),
  after: score(ply),
  loss: mark ? 0.2 : 0,
  verdict: mark ? "mistake" : "best",
  mark,
  better: better ? { eval: score(10), moves: better } : null,
});
const report = (moves: ReportMove[]): GameReport =>
  ({ eval: score(0), sides: [], turning_point: null, moves }) as unknown as GameReport;

test("a report gives the moves scores, marks and better lines as variations", () => {
  const { tree } = playAll(emptyTree(), ROOT, ["a", "b"]);
  const ids = mainLine(tree);
  const [first = 0, second = 0] = ids;
  const marked = setMark(setMark(tree, first, "??"), second, "!");
  const result = withReport(
    marked,
    ids,
    report([judged(1, "a", null), judged(2, "b", "?", ["c", "d"])]),
  );
  expect(node(result, ROOT).eval?.points).toBe(10);
  expect(ids.map((id) => node(result, id).eval?.points)).toEqual([1, 2]);
  expect(ids.map((id) => markOf(node(result, id)))).toEqual([undefined, "?"]);
  expect(mainLine(result)).toEqual(ids);
  const better = node(result, first).children.map((id) => node(result, id).text);
  expect(better).toEqual(["b", "c"]);
});

test("a report for moves that were deleted meanwhile leaves the rest alone", () => {
  const { tree } = playAll(emptyTree(), ROOT, ["a"]);
  expect(withReport(tree, [7, 8], report([judged(1, "a", "?"), judged(2, "b", "?")]))).toBe(tree);
});

test("next mistake goes along the main line and starts again at its first one", () => {
  const place = playAll(emptyTree(), ROOT, ["a", "b", "c", "d"]);
  const [a = 0, b = 0, , d = 0] = mainLine(place.tree);
  let tree = setMark(setMark(place.tree, b, "?!"), d, "??");
  const variation = playAll(tree, b, ["x", "y"]);
  tree = annotate(variation.tree, variation.at, { nags: [2] });
  expect([ROOT, a, b, d].map((id) => nextMistake(tree, id))).toEqual([b, b, d, b]);
  expect(nextMistake(tree, variation.at)).toBe(d);
  expect(lastOnMainLine(tree, variation.at)).toBe(b);
  expect(nextMistake(place.tree, ROOT)).toBeNull();
});
