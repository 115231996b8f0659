/**
 * The moves of an analysis: a main line with variations, comments, marks and scores.
 *
 * A tree is never changed; every function returns a new one. Moves are texts: this code knows no
 * rules, and the caller plays legal moves only.
 */
import type { Eval, TreeMove } from "./engine";

export type NodeId = number;
/** The node before the first move. */
export const ROOT: NodeId = 0;
export const MAX_NODES = 5000;
/** Maximum number of moves that the server replays. */
export const MAX_PLIES = 500;
export const MAX_COMMENT = 1000;
const MAX_MOVE_TEXT = 400;

/** Marks of moves, with their numeric annotation glyphs in PDN. */
export const MARKS = { "!": 1, "?!": 6, "?": 2, "??": 4 } as const;
export type Mark = keyof typeof MARKS;
const MARK_NAGS = new Map<number, string>([
  [1, "!"],
  [2, "?"],
  [3, "!!"],
  [4, "??"],
  [5, "!?"],
  [6, "?!"],
]);

export interface TreeNode {
  readonly parent: NodeId;
  /** The move that leads here; empty for the root. */
  readonly text: string;
  /** The first one continues the line; the others are variations. */
  readonly children: readonly NodeId[];
  readonly comment?: string;
  readonly nags?: readonly number[];
  readonly eval?: Eval;
}

export interface Tree {
  readonly nodes: ReadonlyMap<NodeId, TreeNode>;
  readonly nextId: NodeId;
}

/** A tree and one of its nodes. */
export interface Place {
  tree: Tree;
  at: NodeId;
}

type Note = Pick<TreeNode, "comment" | "nags" | "eval">;

export const emptyTree = (): Tree => ({
  nodes: new Map([[ROOT, { parent: ROOT, text: "", children: [] }]]),
  nextId: 1,
});

export function node(tree: Tree, id: NodeId): TreeNode {
  const found = tree.nodes.get(id);
  if (!found) throw new Error(`the tree has no node ${id}`);
  return found;
}

function change(tree: Tree, edit: (nodes: Map<NodeId, TreeNode>) => void, nextId = tree.nextId) {
  const nodes = new Map(tree.nodes);
  edit(nodes);
  return { nodes, nextId };
}

/** Plays a move: goes to it if it is there, else adds it. Null if the tree is full. */
export function play(tree: Tree, at: NodeId, text: string): Place | null {
  const parent = node(tree, at);
  const known = parent.children.find((id) => node(tree, id).text === text);
  if (known !== undefined) return { tree, at: known };
  if (tree.nodes.size >= MAX_NODES || depth(tree, at) >= MAX_PLIES) return null;
  const id = tree.nextId;
  const edit = (nodes: Map<NodeId, TreeNode>) => {
    nodes.set(at, { ...parent, children: [...parent.children, id] });
    nodes.set(id, { parent: at, text, children: [] });
  };
  return { tree: change(tree, edit, id + 1), at: id };
}

/** Plays several moves, as far as the tree has room. */
export function playAll(tree: Tree, at: NodeId, moves: readonly string[]): Place {
  let place: Place = { tree, at };
  for (const text of moves) place = play(place.tree, place.at, text) ?? place;
  return place;
}

/** Nodes from the first move to a node. */
export function path(tree: Tree, id: NodeId): NodeId[] {
  const ids: NodeId[] = [];
  for (let at = id; at !== ROOT; at = node(tree, at).parent) ids.push(at);
  return ids.reverse();
}

export const depth = (tree: Tree, id: NodeId) => path(tree, id).length;

/** The moves that lead to a node. */
export const movesTo = (tree: Tree, id: NodeId) => path(tree, id).map((at) => node(tree, at).text);

/** The nodes after a node, along the first continuations. */
export function continuation(tree: Tree, id: NodeId): NodeId[] {
  const ids: NodeId[] = [];
  for (let [next] = node(tree, id).children; next !== undefined;) {
    ids.push(next);
    [next] = node(tree, next).children;
  }
  return ids;
}

export const mainLine = (tree: Tree) => continuation(tree, ROOT);

/** Whether a node belongs to the main line. */
export const isMain = (tree: Tree, id: NodeId) =>
  path(tree, id).every((at) => node(tree, node(tree, at).parent).children[0] === at);

/** Moves the variation that a node belongs to before the line it branches from. */
export function promote(tree: Tree, id: NodeId): Tree {
  const isVariation = (at: NodeId) => node(tree, node(tree, at).parent).children[0] !== at;
  const first = path(tree, id).findLast(isVariation);
  if (first === undefined) return tree;
  const { parent } = node(tree, first);
  const before = node(tree, parent);
  const children = [first, ...before.children.filter((child) => child !== first)];
  return change(tree, (nodes) => nodes.set(parent, { ...before, children }));
}

/** Removes a node and everything after it. Returns the node before it. */
export function remove(tree: Tree, id: NodeId): Place {
  if (id === ROOT) return { tree, at: ROOT };
  const { parent } = node(tree, id);
  const removed = [id];
  for (const at of removed) removed.push(...node(tree, at).children);
  const edited = change(tree, (nodes) => {
    for (const at of removed) nodes.delete(at);
    const before = node(tree, parent);
    nodes.set(parent, { ...before, children: before.children.filter((child) => child !== id) });
  });
  return { tree: edited, at: parent };
}

/** Changes comment, marks or score of a node. */
export function annotate(tree: Tree, id: NodeId, note: Partial<Note>): Tree {
  const edited = { ...node(tree, id), ...note };
  const isEmpty = edited.comment !== undefined && edited.comment.trim() === "";
  const comment = isEmpty ? undefined : edited.comment?.slice(0, MAX_COMMENT);
  return change(tree, (nodes) => nodes.set(id, withoutEmpty({ ...edited, comment })));
}

/** The mark of a move, `?!` for example. */
export const markOf = ({ nags }: Pick<TreeNode, "nags">) =>
  nags?.map((nag) => MARK_NAGS.get(nag)).find((mark) => mark !== undefined);

/** Sets the mark of a move, or removes it. Other annotations stay. */
export function setMark(tree: Tree, id: NodeId, mark: Mark | null): Tree {
  const others = (node(tree, id).nags ?? []).filter((nag) => !MARK_NAGS.has(nag));
  return annotate(tree, id, { nags: mark ? [MARKS[mark], ...others] : others });
}

/** The next or previous move of the same position, if there are several. */
export function sibling(tree: Tree, id: NodeId, step: 1 | -1): NodeId | null {
  if (id === ROOT) return null;
  const { children } = node(tree, node(tree, id).parent);
  const next = children[(children.indexOf(id) + step + children.length) % children.length];
  return next === undefined || next === id ? null : next;
}

/** Gives a move the text in which the program writes it. */
export function rename(tree: Tree, id: NodeId, text: string): Tree {
  const renamed = node(tree, id);
  if (id === ROOT || renamed.text === text) return tree;
  return change(tree, (nodes) => nodes.set(id, { ...renamed, text }));
}

/** The tree in the form of the requests: each move has the moves after it. */
export function toNested(tree: Tree): TreeMove[] {
  const nested = new Map<NodeId, TreeMove>();
  const roots: TreeMove[] = [];
  const open = [...node(tree, ROOT).children].reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const { text, parent, comment, nags, eval: score, children } = node(tree, id);
    const optional = withoutEmpty({ comment, nags, eval: score });
    const move = { move: text, ...optional, children: [] } as TreeMove;
    (nested.get(parent)?.children ?? roots).push(move);
    nested.set(id, move);
    open.push(...[...children].reverse());
  }
  return roots;
}

/** A tree from that form. Fields of other types and moves without room are dropped. */
export function fromNested(roots: unknown): Tree {
  let tree = emptyTree();
  const nodes = tree.nodes as Map<NodeId, TreeNode>;
  // A queue, because a hostile tree may be deep.
  const open: { at: NodeId; ply: number; moves: unknown }[] = [{ at: ROOT, ply: 0, moves: roots }];
  for (const { at, ply, moves } of open) {
    if (!Array.isArray(moves) || ply >= MAX_PLIES) continue;
    for (const move of moves as Partial<TreeMove>[]) {
      if (nodes.size >= MAX_NODES) return tree;
      const text = move?.move;
      if (typeof text !== "string" || text === "" || text.length > MAX_MOVE_TEXT) continue;
      const id = tree.nextId;
      tree = { nodes, nextId: id + 1 };
      const before = node(tree, at);
      nodes.set(at, { ...before, children: [...before.children, id] });
      nodes.set(id, withoutEmpty({ parent: at, text, children: [], ...readNote(move) }));
      open.push({ at: id, ply: ply + 1, moves: move.children });
    }
  }
  return tree;
}

function readNote({ comment, nags, eval: score }: Partial<TreeMove>): Partial<Note> {
  const isEval =
    typeof score?.text === "string" && score.text.length < 80 && Number.isFinite(score.expected);
  return {
    comment: typeof comment === "string" ? comment.slice(0, MAX_COMMENT) : undefined,
    nags: Array.isArray(nags) ? nags.filter(Number.isInteger).slice(0, 20) : undefined,
    eval: isEval ? score : undefined,
  } as Partial<Note>;
}

function withoutEmpty<T extends object>(value: T): T {
  const isKept = ([key, field]: [string, unknown]) =>
    field !== undefined && !(key === "nags" && (field as unknown[]).length === 0);
  return Object.fromEntries(Object.entries(value).filter(isKept)) as T;
}
