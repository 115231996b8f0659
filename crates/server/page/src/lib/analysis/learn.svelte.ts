/** Learning from mistakes: the user looks for the better move in positions of the game. */
import type { LegalMove } from "../api/types";
import { applyMove } from "../board/cells";
import { displayMove } from "../game/notation";
import { settings } from "../stores/settings.svelte";
import type { AnalysisEngine, Running } from "./client";
import type { Info } from "./engine";
import type { Mistake } from "./report.svelte";
import { finalScore } from "./score";
import type { AnalysisSession, Shown } from "./session.svelte";
import { node, ROOT } from "./tree";

/** An answer that loses less expected score than an inaccuracy is right too. */
const MAX_LOSS = 0.05;
const SECONDS = 1;

export type LearnState = "find" | "checking" | "right" | "wrong" | "solution";

export class Learn {
  mistakes: Mistake[] = $state.raw([]);
  index = $state(0);
  state: LearnState = $state("find");
  text = $state("");
  /** The board after the user's answer. */
  trial: Shown | null = $state.raw(null);
  solved = $state(0);
  private search: Running<Info> | null = null;
  private request = 0;

  constructor(
    private session: AnalysisSession,
    private engine: () => Promise<AnalysisEngine>,
  ) {}

  readonly current = $derived.by(() => this.mistakes[this.index]);
  readonly isActive = $derived.by(() => this.current !== undefined);
  readonly isSearching = $derived.by(() => this.state === "find" || this.state === "checking");

  start(mistakes: Mistake[]) {
    this.mistakes = mistakes.filter(({ move }) => move.better);
    this.solved = 0;
    this.show(0);
  }

  private show(index: number) {
    this.cancel();
    this.index = index;
    this.state = "find";
    this.trial = null;
    const { current, session } = this;
    if (!current) return;
    this.text = "";
    session.go(node(session.tree, current.id).parent ?? ROOT);
  }

  next() {
    if (this.index + 1 < this.mistakes.length) this.show(this.index + 1);
    else this.end();
  }

  again() {
    this.show(this.index);
  }

  end() {
    this.cancel();
    this.mistakes = [];
    this.trial = null;
  }

  private cancel() {
    this.request += 1;
    this.search?.stop();
    this.search = null;
  }

  /** Plays the better line into the analysis and shows it. */
  solution() {
    const { current, session } = this;
    if (!current?.move.better) return;
    this.cancel();
    this.trial = null;
    session.go(node(session.tree, current.id).parent);
    session.playLine(current.move.better.moves.slice(0, 1));
    this.state = "solution";
    const { moves, eval: score } = current.move.better;
    this.text = `The better move was ${this.write(moves[0] ?? "")} (${score.text}).`;
  }

  /** Judges an answer. */
  async answer(move: LegalMove, taken = move.path) {
    const { current, session } = this;
    if (!current || this.state !== "find") return;
    const board = applyMove(session.shown.board, taken, move.captures);
    this.trial = { board, lastMove: { path: taken, captures: move.captures } };
    const written = this.write(move.text);
    if (move.text === current.move.better?.moves[0]) return this.judge(true, `${written} is best.`);
    if (move.text === current.move.move) {
      return this.judge(false, `${written} was played in the game. Look for something better.`);
    }
    this.state = "checking";
    this.text = `Checking ${written}…`;
    const request = ++this.request;
    try {
      const engine = await this.engine();
      if (request !== this.request) return;
      const spec = session.spec();
      const asked = { ...spec, moves: [...spec.moves, move.text] };
      const view = await engine.position(asked);
      if (request !== this.request) return;
      const isFirst = session.info?.sides[0].letter === current.move.side;
      let expected: number;
      let text: string;
      if (view.outcome) {
        expected = finalScore(view.outcome.winner, session.info);
        text = view.outcome.text;
      } else {
        this.search = engine.search(asked, { lines: 1, limits: { seconds: SECONDS } }, () => {});
        const info = await this.search.result;
        const best = info?.lines[0]?.eval;
        if (request !== this.request || !best) return;
        ({ expected, text } = best);
      }
      const loss = (current.move.before.expected - expected) * (isFirst ? 1 : -1);
      if (loss < MAX_LOSS) this.judge(true, `${written} is also good (${text}).`);
      else this.judge(false, `${written} is not good enough (${text}).`);
    } catch (failure) {
      if (request === this.request) this.judge(false, (failure as Error).message);
    }
  }

  /** A move as the board's coordinates show it. */
  private write(text: string): string {
    const { info } = this.session;
    return info ? displayMove(info, { text }, settings.coordinates) : text;
  }

  private judge(isRight: boolean, text: string) {
    this.state = isRight ? "right" : "wrong";
    this.text = text;
    if (isRight) this.solved += 1;
  }
}
