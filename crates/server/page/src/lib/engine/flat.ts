/** Games as the engine reads and writes them: a list in which every move names the one before it. */
import type { ImportedGame } from "../analysis/client";
import type { TreeMove } from "../analysis/engine";

export interface FlatMove extends Omit<TreeMove, "children"> {
  /** Index of the move before it; null for the first one. */
  parent: number | null;
}

export interface FlatGame extends Omit<ImportedGame, "moves"> {
  moves: FlatMove[];
}

/** Neither direction recurses: variations in a file may be nested to any depth. */
export function flatten(game: ImportedGame): FlatGame {
  const moves: FlatMove[] = [];
  const open = [{ children: game.moves, parent: null as number | null }];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const { children, ...move } of next.children) {
      open.push({ children, parent: moves.length });
      moves.push({ ...move, parent: next.parent });
    }
  }
  return { ...game, moves };
}

/** The main line is the first child of each move. */
export function unflatten(game: FlatGame): ImportedGame {
  const roots: TreeMove[] = [];
  const made: TreeMove[] = [];
  for (const { parent, move, comment, nags, eval: score } of game.moves) {
    const node: TreeMove = { move, children: [] };
    if (comment) node.comment = comment;
    if (nags?.length) node.nags = nags;
    if (score) node.eval = score;
    made.push(node);
    (parent === null ? roots : made[parent]?.children)?.push(node);
  }
  const { comment, ...rest } = game;
  return { ...rest, ...(comment ? { comment } : {}), moves: roots };
}
