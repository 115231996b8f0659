/** The hint for the position shown, one step at a time. */
import { toSentence } from "../api/client";
import type { Cell } from "../api/types";
import { hintCells, hintLabel, hintText, nextStep, type HintStep } from "../game/hint";
import { settings } from "../stores/settings.svelte";
import type { AnalysisEngine, Hint, Running } from "./client";
import type { AnalysisSession } from "./session.svelte";
import type { NodeId } from "./tree";

export class HintRun {
  /** Whether the engine looks for a hint. */
  isBusy = $state(false);
  private found: { at: NodeId; hint: Hint; path: Cell[] } | null = $state.raw(null);
  private step: HintStep = $state(1);
  private running: Running<Hint> | null = null;
  private request = 0;

  constructor(
    private session: AnalysisSession,
    private engine: () => Promise<AnalysisEngine>,
  ) {}

  private readonly current = $derived.by(() => {
    const { found, session } = this;
    return found?.at === session.at && session.isCurrent ? found : null;
  });
  readonly label = $derived.by(() => hintLabel(this.current ? this.step : null));
  /** Cells of the suggested piece and move. */
  readonly cells = $derived.by((): Cell[] | undefined => {
    const { current } = this;
    return current ? hintCells(this.suggestion(current), this.step) : undefined;
  });
  /** What the reasons are about. */
  readonly reasonCells = $derived.by((): Cell[] => {
    const reasons = this.step === 3 ? (this.current?.hint.reasons ?? []) : [];
    return reasons.flatMap(({ cells }) => cells);
  });

  private suggestion({ hint, path }: { hint: Hint; path: Cell[] }) {
    return { text: hint.move, path, reason: hint.reason };
  }

  /** Asks for a hint, or for more of the one shown. */
  async ask() {
    if (this.current && this.step < 3) return this.show(nextStep(this.step));
    const { session } = this;
    if (this.isBusy || !session.isCurrent || session.view?.outcome) return;
    const { at } = session;
    const request = ++this.request;
    this.isBusy = true;
    session.showMessage("Looking for a hint…");
    try {
      this.running = (await this.engine()).hint(session.spec());
      const hint = await this.running.result;
      if (request !== this.request || session.at !== at) return;
      const path = session.view?.legal.find(({ text }) => text === hint?.move)?.path;
      if (!hint || !path) return session.showMessage("There is no hint.");
      this.found = { at, hint, path };
      this.show(1);
    } catch (failure) {
      if (request === this.request) session.showMessage((failure as Error).message, true);
    } finally {
      if (request === this.request) this.isBusy = false;
    }
  }

  private show(step: HintStep) {
    this.step = step;
    const { current, session } = this;
    if (!current || !session.info) return;
    const text = hintText(session.info, this.suggestion(current), step, settings.coordinates);
    session.showMessage(toSentence(text));
  }

  stop() {
    this.request += 1;
    this.running?.stop();
    this.running = null;
    this.isBusy = false;
  }
}
