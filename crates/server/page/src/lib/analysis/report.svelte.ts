/** The report of a whole game: it is searched once, and its judgements go into the tree. */
import type { AnalysisEngine, Running } from "./client";
import type { GameReport, Limits, ReportMove } from "./engine";
import type { AnalysisSession } from "./session.svelte";
import {
  annotate,
  mainLine,
  markOf,
  MARKS,
  node,
  path,
  playAll,
  setMark,
  type Mark,
  type NodeId,
  type Tree,
} from "./tree";

/** A move that the report marks, with its node. */
export interface Mistake {
  id: NodeId;
  move: ReportMove;
}

const BAD_MARKS = new Set(["?!", "?", "??"]);

export class ReportRun {
  report: GameReport | null = $state.raw(null);
  progress: { done: number; total: number } | null = $state.raw(null);
  error = $state("");
  /** The main line that the report is about. */
  private ids: NodeId[] = $state.raw([]);
  private running: Running<GameReport> | null = null;
  private request = 0;

  constructor(private session: AnalysisSession) {}

  /** The report, if the main line is still the one it is about. */
  readonly current = $derived.by((): GameReport | null => {
    const line = this.session.mainLine;
    const isSame = line.length === this.ids.length && line.every((id, i) => id === this.ids[i]);
    return isSame ? this.report : null;
  });
  readonly mistakes = $derived.by((): Mistake[] => {
    const { current, ids } = this;
    return (current?.moves ?? []).flatMap((move, index) => {
      const id = ids[index];
      return move.mark && id !== undefined ? [{ id, move }] : [];
    });
  });
  readonly turningPoint = $derived.by((): Mistake | null => {
    const ply = this.current?.turning_point ?? null;
    const [id, move] = ply === null ? [] : [this.ids[ply - 1], this.current?.moves[ply - 1]];
    return id !== undefined && move ? { id, move } : null;
  });

  /** Judges the main line. */
  async start(engine: () => Promise<AnalysisEngine>, limits: Limits) {
    this.stop();
    const { session } = this;
    const request = ++this.request;
    const ids = session.mainLine;
    const last = ids.at(-1);
    if (last === undefined) return;
    this.error = "";
    this.progress = { done: 0, total: ids.length };
    try {
      const opened = await engine();
      if (request !== this.request) return;
      this.running = opened.report(session.spec(last), limits, (done, total) => {
        if (request === this.request) this.progress = { done, total };
      });
      const report = await this.running.result;
      if (!report || request !== this.request) return;
      session.edit(withReport(session.tree, ids, report));
      this.ids = ids;
      this.report = report;
    } catch (failure) {
      if (request === this.request) this.error = (failure as Error).message;
    } finally {
      if (request === this.request) this.progress = null;
    }
  }

  stop() {
    this.request += 1;
    this.running?.stop();
    this.running = null;
    this.progress = null;
  }

  clear() {
    this.stop();
    this.report = null;
    this.error = "";
  }
}

/** Adds scores, marks and better lines to a tree, as `crownhead analyse --pdn` does to a file. */
export function withReport(tree: Tree, ids: NodeId[], report: GameReport): Tree {
  let edited = tree;
  report.moves.forEach((move, index) => {
    const id = ids[index];
    if (id === undefined || !edited.nodes.has(id)) return;
    const { parent } = node(edited, id);
    if (index === 0) edited = annotate(edited, parent, { eval: move.before });
    edited = annotate(edited, id, { eval: move.after });
    const isBad = BAD_MARKS.has(markOf(node(edited, id)) ?? "");
    if (move.mark && move.mark in MARKS) edited = setMark(edited, id, move.mark as Mark);
    else if (isBad) edited = setMark(edited, id, null);
    if (move.mark && move.better) edited = playAll(edited, parent, move.better.moves).tree;
  });
  return edited;
}

/** The next marked mistake of the main line after a node, or the first one. */
export function nextMistake(tree: Tree, at: NodeId): NodeId | null {
  const line = mainLine(tree);
  const isMistake = (id: NodeId) => BAD_MARKS.has(markOf(node(tree, id)) ?? "");
  const index = line.indexOf(lastOnMainLine(tree, at));
  return line.slice(index + 1).find(isMistake) ?? line.find(isMistake) ?? null;
}

/** The last node of the main line on the way to a node; the root if there is none. */
export function lastOnMainLine(tree: Tree, at: NodeId): NodeId {
  const main = new Set(mainLine(tree));
  return path(tree, at).findLast((id) => main.has(id)) ?? 0;
}
