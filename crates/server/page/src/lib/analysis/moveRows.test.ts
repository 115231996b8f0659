import { expect, test } from "vitest";
import { moveRows, numberOf, type MoveRow, type Token } from "./moveRows";
import { annotate, emptyTree, mainLine, node, playAll, ROOT, type Tree } from "./tree";

function written(tree: Tree, tokens: Token[]): string {
  const text = (token: Token) => {
    if (token.kind === "move") return token.number + node(tree, token.id).text;
    if (token.kind === "comment") return `{${token.text}}`;
    return token.kind === "open" ? "(" : ")";
  };
  return tokens.map(text).join(" ");
}

const row = (tree: Tree) => (found: MoveRow) =>
  [
    `${found.number}.`,
    ...found.moves.map((id) => (id === undefined ? "…" : node(tree, id).text)),
    ...(found.comment ? [`{${found.comment}}`] : []),
    ...found.variations.map((tokens) => `[${written(tree, tokens)}]`),
  ].join(" ");

test("a game without variations has a row per pair of moves", () => {
  const { tree } = playAll(emptyTree(), ROOT, ["a", "b", "c"]);
  expect(moveRows(tree, 0).map(row(tree))).toEqual(["1. a b", "2. c …"]);
  expect(moveRows(tree, 1).map(row(tree))).toEqual(["1. … a", "2. b c"]);
  expect(moveRows(emptyTree(), 0)).toEqual([]);
});

test("variations and comments stand below the move they belong to", () => {
  let { tree } = playAll(emptyTree(), ROOT, ["a", "b", "c", "d"]);
  const [first = 0, second = 0] = mainLine(tree);
  tree = playAll(tree, ROOT, ["x", "y", "z"]).tree;
  tree = annotate(tree, second, { comment: "good" });
  tree = playAll(tree, first, ["v"]).tree;
  expect(moveRows(tree, 0).map(row(tree))).toEqual([
    "1. a … [1.x y 2.z]",
    "1. … b {good} [1…v]",
    "2. c d",
  ]);
});

test("variations inside variations are in parentheses and the line goes on with a number", () => {
  let { tree } = playAll(emptyTree(), ROOT, ["a", "b"]);
  const line = playAll(tree, ROOT, ["p", "q", "r"]);
  tree = line.tree;
  const q = node(tree, line.at).parent;
  const p = node(tree, q).parent;
  tree = playAll(tree, p, ["s", "t"]).tree;
  tree = playAll(tree, p, ["u"]).tree;
  const [found] = moveRows(tree, 0);
  expect(written(tree, found?.variations[0] ?? [])).toBe("1.p q ( 1…s 2.t ) ( 1…u ) 2.r");
});

test("a move has the number of its turn", () => {
  const { tree, at } = playAll(emptyTree(), ROOT, ["a", "b", "c"]);
  expect([numberOf(tree, at, 0), numberOf(tree, at, 1), numberOf(tree, ROOT, 0)]).toEqual([
    "2.",
    "2…",
    "",
  ]);
});

test("a tree nested as deep as the limits allow is written without overflow", () => {
  let tree = emptyTree();
  let at = ROOT;
  for (let i = 0; i < 400; i++) {
    tree = playAll(tree, at, ["m"]).tree;
    const place = playAll(tree, at, [`v${i}`]);
    ({ tree, at } = place);
  }
  expect(moveRows(tree, 0)).toHaveLength(1);
});
