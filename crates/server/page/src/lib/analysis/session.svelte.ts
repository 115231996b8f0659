/** An analysis: the tree of moves, the position shown, and what is stored of it. */
import { toSentence } from "../api/client";
import type { Cell, GameInfo, LegalMove, PositionView, SideIndex } from "../api/types";
import { applyMove, sideIndex } from "../board/cells";
import { toggleShape, type Shape } from "../board/shapes";
import { readStored, writeStored } from "../stores/stored";
import { EngineError, type AnalysisEngine, type ExactPosition, type ImportedGame } from "./client";
import type { Spec, Step, TreeMove } from "./engine";
import { analysisPath, findGame, type AnalysisLink } from "./link";
import {
  annotate,
  continuation,
  emptyTree,
  fromNested,
  mainLine,
  MAX_NODES,
  movesTo,
  node,
  path,
  play,
  playAll,
  rename,
  ROOT,
  sibling,
  toNested,
  type NodeId,
  type Tree,
} from "./tree";

/** What the board shows. */
export interface Shown {
  board: string;
  lastMove: { path: Cell[]; captures: Cell[] } | null;
}

/** An analysis in the storage of the browser. */
interface StoredAnalysis {
  game: string;
  position: string;
  tags: [string, string][];
  result: string;
  /** Comment before the first move. */
  comment: string;
  moves: TreeMove[];
  /** The moves to the position shown. */
  at: string[];
}

const KEY = "crownhead.analysis";
const EMPTY: StoredAnalysis = {
  game: "",
  position: "",
  tags: [],
  result: "*",
  comment: "",
  moves: [],
  at: [],
};

export const storedAnalysis = () => readStored(KEY, EMPTY);

export class AnalysisSession {
  /** The game with its options, as in `english:rules=wcdf`. */
  game = $state("");
  /** Text of the first position; empty for the start of the game. */
  start = $state("");
  tags: [string, string][] = $state.raw([]);
  result = $state("*");
  tree: Tree = $state.raw(emptyTree());
  at: NodeId = $state(ROOT);
  /** The position of `at`; that of another node until it has arrived. */
  view: PositionView | null = $state.raw(null);
  viewAt: NodeId = $state(ROOT);
  /** The side that moves first in the first position. */
  firstSide: SideIndex = $state(0);
  message = $state.raw({ text: "", isError: false });
  /** Cells that the message is about. */
  marked: Cell[] = $state.raw([]);
  /** Arrows and circles of the user. */
  drawn: Shape[] = $state.raw([]);
  /** Number of analyses opened. When it changes, what belongs to the previous one ends. */
  opened = $state(0);
  /** The exact values of a position, and its node. */
  private known: { at: NodeId; exact: ExactPosition | null } | null = $state.raw(null);
  /** The tree before the last deletion. */
  private deleted: { tree: Tree; at: NodeId } | null = $state.raw(null);
  private views = new Map<NodeId, PositionView>();
  /** Counts loaded analyses and requests, to drop answers that come too late. */
  private generation = 0;
  /** A move that is shown before its position has arrived. */
  private early: Shown | null = $state.raw(null);

  constructor(
    readonly engine: () => Promise<AnalysisEngine>,
    readonly games: GameInfo[],
  ) {}

  readonly info = $derived.by(() => findGame(this.games, this.game));
  readonly mainLine = $derived.by(() => mainLine(this.tree));
  readonly isCurrent = $derived.by(() => this.view !== null && this.viewAt === this.at);
  readonly shown = $derived.by((): Shown => {
    if (this.early) return this.early;
    return { board: this.view?.board ?? this.info?.board ?? "", lastMove: this.view?.last ?? null };
  });
  readonly exact = $derived.by(() => (this.known?.at === this.at ? this.known.exact : null));
  readonly canUndo = $derived.by(() => this.deleted !== null);

  spec(id: NodeId = this.at): Spec {
    const position = this.start ? { position: this.start } : {};
    return { game: this.game, ...position, moves: movesTo(this.tree, id) };
  }

  /** The analysis as a record, with variations, comments and scores. */
  get record(): ImportedGame {
    const { game, start, tags, result, tree, comment } = this;
    return {
      game,
      position: start || null,
      ...(comment ? { comment } : {}),
      tags,
      moves: toNested(tree),
      result,
    };
  }

  /** Comment before the first move. */
  get comment(): string {
    return node(this.tree, ROOT).comment ?? "";
  }

  get link(): AnalysisLink {
    const { game, start, tree, at } = this;
    return { game, ...(start ? { position: start } : {}), moves: movesTo(tree, at) };
  }

  /** Side that moves at a ply, counted from 0. A turn is never skipped without a move. */
  sideAt(ply: number): SideIndex {
    return ((this.firstSide + ply) % 2) as SideIndex;
  }

  showMessage(text: string, isError = false, cells: Cell[] = []) {
    this.message = { text: text ? toSentence(text) : "", isError };
    this.marked = cells;
  }

  /** Starts from a position, or opens a link. Rejects if the game or position is invalid. */
  async open({ game, position, moves }: AnalysisLink) {
    const generation = ++this.generation;
    const engine = await this.engine();
    const root = await engine.position({ game, ...(position ? { position } : {}), moves: [] });
    let legal = moves;
    let problem = "";
    try {
      if (moves.length > 0)
        await engine.position({ game, ...(position ? { position } : {}), moves });
    } catch (error) {
      // The moves before the one that cannot be played are kept.
      legal = moves.slice(0, (error as EngineError).at ?? 0);
      problem = (error as Error).message;
    }
    if (generation !== this.generation) return;
    const place = playAll(emptyTree(), ROOT, legal);
    this.reset(game, position ?? "", root, place.tree);
    this.go(place.at);
    if (problem) this.showMessage(problem, true);
  }

  /** Opens a game of a file, at its start. */
  async openGame(game: ImportedGame) {
    const generation = ++this.generation;
    const engine = await this.engine();
    const position = game.position ?? "";
    const spec = { game: game.game, ...(position ? { position } : {}) };
    const root = await engine.position({ ...spec, moves: [] });
    if (generation !== this.generation) return;
    const tree = annotate(fromNested(game.moves), ROOT, { comment: game.comment ?? "" });
    this.reset(game.game, position, root, tree);
    this.tags = game.tags;
    this.result = game.result;
    if (tree.nodes.size >= MAX_NODES) {
      this.showMessage(`Only ${MAX_NODES - 1} moves of the game have room in the analysis.`, true);
    }
  }

  /** Opens the analysis that was stored last. Returns whether there was one. */
  async restore(): Promise<boolean> {
    const { game, position, tags, result, comment, moves, at } = storedAnalysis();
    if (!findGame(this.games, game)) return false;
    try {
      const areTexts = (tag: unknown) =>
        Array.isArray(tag) && tag.length === 2 && tag.every((text) => typeof text === "string");
      const known = tags.filter(areTexts).slice(0, 100);
      const start = position || null;
      await this.openGame({ game, position: start, comment, tags: known, moves, result });
    } catch {
      return false;
    }
    this.go(this.reach(Array.isArray(at) ? at : []).id);
    return true;
  }

  /** Goes to the position of a link, if the tree has its moves. Returns whether it has them. */
  follow({ game, position, moves }: AnalysisLink): boolean {
    const { id, count } = this.reach(moves);
    if (game !== this.game || (position ?? "") !== this.start || count < moves.length) return false;
    this.go(id);
    return true;
  }

  /** Follows moves as far as the tree has them. Returns the node reached and their number. */
  private reach(moves: string[]): { id: NodeId; count: number } {
    let id: NodeId = ROOT;
    for (const [count, text] of moves.entries()) {
      const next = node(this.tree, id).children.find((child) => this.text(child) === text);
      if (next === undefined) return { id, count };
      id = next;
    }
    return { id, count: moves.length };
  }

  private reset(game: string, start: string, root: PositionView, tree: Tree) {
    this.opened += 1;
    this.game = game;
    this.start = start;
    this.tags = [];
    this.result = "*";
    this.tree = tree;
    this.at = ROOT;
    this.views = new Map([[ROOT, root]]);
    this.view = root;
    this.viewAt = ROOT;
    this.early = null;
    this.drawn = [];
    this.known = null;
    this.deleted = null;
    const info = this.info;
    this.firstSide = info ? sideIndex(info, root.side) : 0;
    this.showMessage("");
    this.store();
  }

  /** Stores the analysis, for a reload. */
  store() {
    const { game, start, tags, result, comment, tree, at } = this;
    const moves = toNested(tree);
    const stored = { game, position: start, tags, result, comment, moves };
    writeStored(KEY, { ...stored, at: movesTo(tree, at) });
  }

  text(id: NodeId): string {
    return node(this.tree, id).text;
  }

  /** Goes to a node. */
  go(id: NodeId) {
    if (!this.tree.nodes.has(id)) return;
    if (id !== this.at) this.drawn = [];
    this.at = id;
    this.early = null;
    this.showMessage("");
    void this.load(id);
  }

  private async load(id: NodeId) {
    const known = this.views.get(id);
    if (known) return this.showView(id, known);
    const { generation } = this;
    try {
      const view = await (await this.engine()).position(this.spec(id));
      if (generation !== this.generation || !this.tree.nodes.has(id)) return;
      this.views.set(id, view);
      if (view.last) this.tree = rename(this.tree, id, view.last.text);
      if (this.at === id) this.showView(id, view);
    } catch (error) {
      if (generation !== this.generation || this.at !== id) return;
      // A move of a file that cannot be played: show the last position that can be reached.
      const { at, message } = error as EngineError;
      const reached = at === undefined ? this.viewAt : (path(this.tree, id)[at - 1] ?? ROOT);
      if (reached !== id) this.go(reached);
      this.showMessage(message, true);
    }
  }

  /** Asks the tables about the position shown. */
  async loadExact() {
    const { at, generation, known } = this;
    if (known?.at === at) return;
    const exact = await (await this.engine()).exact(this.spec());
    if (generation === this.generation && at === this.at) this.known = { at, exact };
  }

  /** The board after a legal move. */
  preview(text: string): Step | null {
    const move = this.view?.legal.find((legal) => legal.text === text);
    if (!move || !this.view) return null;
    const { path, captures } = move;
    return { text, path, captures, board: applyMove(this.view.board, path, captures) };
  }

  private showView(id: NodeId, view: PositionView) {
    this.view = view;
    this.viewAt = id;
    this.early = null;
  }

  /** Plays a legal move: follows it if it is in the tree, else adds a variation. */
  play(move: LegalMove, taken: Cell[] = move.path) {
    const place = this.isCurrent ? play(this.tree, this.at, move.text) : null;
    if (!place) return this.showMessage("The analysis has no room for more moves.", true);
    const { board } = this.shown;
    this.tree = place.tree;
    this.go(place.at);
    if (this.viewAt !== place.at) {
      this.early = {
        board: applyMove(board, taken, move.captures),
        lastMove: { path: taken, captures: move.captures },
      };
    }
  }

  /** Plays moves of a line, which are legal. */
  playLine(moves: readonly string[]) {
    if (!this.isCurrent) return;
    const place = playAll(this.tree, this.at, moves);
    this.tree = place.tree;
    this.go(place.at);
  }

  /** Plays a move as it is typed, or says why it is illegal. */
  async attempt(text: string) {
    const { at, generation } = this;
    try {
      const spec = this.spec();
      const engine = await this.engine();
      const view = await engine.position({ ...spec, moves: [...spec.moves, text] });
      if (at !== this.at || generation !== this.generation || !view.last) return;
      const place = play(this.tree, at, view.last.text);
      if (!place) return;
      this.tree = place.tree;
      this.views.set(place.at, view);
      this.go(place.at);
    } catch (error) {
      if (at !== this.at || generation !== this.generation) return;
      this.showMessage((error as Error).message, true);
      const cells = error instanceof EngineError ? error.cells : [];
      this.marked = cells.length > 0 ? cells : await this.cellsOf(text);
    }
  }

  /** Cells of the reason why a move is illegal. */
  private async cellsOf(text: string): Promise<Cell[]> {
    try {
      return (await (await this.engine()).explain(this.spec(), text)).cells;
    } catch {
      return [];
    }
  }

  /** Goes along the line shown. */
  step(by: 1 | -1) {
    const next = by === 1 ? node(this.tree, this.at).children[0] : node(this.tree, this.at).parent;
    if (next !== undefined) this.go(this.at === ROOT && by === -1 ? ROOT : next);
  }

  toStart() {
    this.go(ROOT);
  }

  toEnd() {
    this.go(continuation(this.tree, this.at).at(-1) ?? this.at);
  }

  /** Goes to another move of the same position. */
  toSibling(step: 1 | -1) {
    const next = sibling(this.tree, this.at, step);
    if (next !== null) this.go(next);
  }

  /** Replaces the tree by an edited one, which has the position shown. */
  edit(tree: Tree) {
    this.tree = tree;
    this.store();
  }

  /** Replaces the tree by one without a node and what follows it; `undo` brings it back. */
  cut({ tree, at }: { tree: Tree; at: NodeId }) {
    this.deleted = { tree: this.tree, at: this.at };
    this.tree = tree;
    this.go(tree.nodes.has(this.at) ? this.at : at);
  }

  undo() {
    if (!this.deleted) return;
    const { tree, at } = this.deleted;
    this.deleted = null;
    this.tree = tree;
    this.go(at);
  }

  draw(cells: Cell[]) {
    this.drawn = toggleShape(this.drawn, cells);
  }

  get path(): string {
    return analysisPath(this.link);
  }
}
