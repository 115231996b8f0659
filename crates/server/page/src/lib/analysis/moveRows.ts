/** The tree of moves as it is written: rows of the main line, with variations between them. */
import type { SideIndex } from "../api/types";
import { mainLine, node, ROOT, type NodeId, type Tree } from "./tree";

/** A part of a variation. */
export type Token =
  | { kind: "move"; id: NodeId; number: string }
  | { kind: "comment"; id: NodeId; text: string }
  | { kind: "open" | "close"; id: NodeId };

export interface MoveRow {
  number: number;
  /** The moves of both sides; undefined where a side has no move in this row. */
  moves: [NodeId | undefined, NodeId | undefined];
  /** Comment of the last move of the row, and the variations that replace it. */
  comment: string | undefined;
  variations: Token[][];
}

/** Number of the move at a ply, counted from 0, if `firstSide` moves at ply 0. */
export const moveNumber = (ply: number, firstSide: SideIndex) =>
  Math.floor((ply + firstSide) / 2) + 1;

const sideAt = (ply: number, firstSide: SideIndex): SideIndex =>
  ((ply + firstSide) % 2) as SideIndex;

/** The number before a move, as in `12.` or `12…`. */
export const numberText = (ply: number, firstSide: SideIndex) =>
  `${moveNumber(ply, firstSide)}${sideAt(ply, firstSide) === 0 ? "." : "…"}`;

/** The text of a comment without data such as `[%clk 0:04:59]`. */
export const commentText = (comment: string | undefined): string | undefined =>
  comment?.replace(/\[%[^\]]*\]/g, "").trim() || undefined;

export function moveRows(tree: Tree, firstSide: SideIndex): MoveRow[] {
  const rows: MoveRow[] = [];
  let open: MoveRow | null = null;
  mainLine(tree).forEach((id, ply) => {
    const { parent } = node(tree, id);
    const comment = commentText(node(tree, id).comment);
    const side = sideAt(ply, firstSide);
    const variations = node(tree, parent)
      .children.slice(1)
      .map((child) => variation(tree, child, ply, firstSide));
    const isInterrupted = comment !== undefined || variations.length > 0;
    if (side === 1 && open) {
      open.moves[1] = id;
      Object.assign(open, { comment, variations });
      open = null;
      return;
    }
    const moves: MoveRow["moves"] = side === 0 ? [id, undefined] : [undefined, id];
    const row = { number: moveNumber(ply, firstSide), moves, comment, variations };
    rows.push(row);
    open = side === 0 && !isInterrupted ? row : null;
  });
  return rows;
}

/** A variation with the ones inside it, in the order in which it is written. */
function variation(tree: Tree, first: NodeId, ply: number, firstSide: SideIndex): Token[] {
  const tokens: Token[] = [];
  // A stack instead of recursion, because a file may nest variations to any depth.
  const open: (Token | { kind: "line"; id: NodeId; ply: number; isStart: boolean })[] = [
    { kind: "line", id: first, ply, isStart: true },
  ];
  for (let item = open.pop(); item; item = open.pop()) {
    if (item.kind !== "line") {
      tokens.push(item);
      continue;
    }
    const { id, ply, isStart } = item;
    const { parent, children } = node(tree, id);
    const comment = commentText(node(tree, id).comment);
    const isNumbered = isStart || sideAt(ply, firstSide) === 0;
    tokens.push({ kind: "move", id, number: isNumbered ? numberText(ply, firstSide) : "" });
    if (comment) tokens.push({ kind: "comment", id, text: comment });
    const siblings = node(tree, parent).children;
    const others = id !== first && siblings[0] === id ? siblings.slice(1) : [];
    const [next] = children;
    // After a comment or a variation the move is numbered.
    const isBroken = comment !== undefined || others.length > 0;
    if (next !== undefined) open.push({ kind: "line", id: next, ply: ply + 1, isStart: isBroken });
    for (const other of others.toReversed()) {
      open.push({ kind: "close", id: other });
      open.push({ kind: "line", id: other, ply, isStart: true });
      open.push({ kind: "open", id: other });
    }
  }
  return tokens;
}

/** The number of a node's move, as in `12.`; empty for the root. */
export function numberOf(tree: Tree, id: NodeId, firstSide: SideIndex): string {
  let ply = -1;
  for (let at = id; at !== ROOT; at = node(tree, at).parent) ply += 1;
  return ply < 0 ? "" : numberText(ply, firstSide);
}
