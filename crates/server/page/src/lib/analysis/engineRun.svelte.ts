/** The engine of an analysis: which one, whether it is on, and what it has found. */
import { readStored, writeStored } from "../stores/stored";
import type { AnalysisEngine, EnginePlace, Running } from "./client";
import type { Info, Spec } from "./engine";

/** Choices that the browser remembers. */
export interface EngineChoices {
  isOn: boolean;
  lines: number;
  place: EnginePlace;
  /** Whether the lines are drawn as arrows. */
  arrows: boolean;
}

const KEY = "crownhead.engine";
const DEFAULTS: EngineChoices = { isOn: true, lines: 3, place: "page", arrows: true };
/** A search ends after this time unless the user asks for more. */
const SECONDS = 30;
const MAX_CACHED = 500;

export type OpenEngine = (place: EnginePlace) => AnalysisEngine;

export class EngineRun {
  choices: EngineChoices = $state(readStored(KEY, DEFAULTS));
  /** The best lines of the position; null before the first result. */
  info: Info | null = $state.raw(null);
  error = $state("");
  isRunning = $state(false);
  /** Whether the search goes on until it is stopped. */
  isInfinite = $state(false);
  private opened: { place: EnginePlace; engine: AnalysisEngine } | null = null;
  private search: Running<Info> | null = null;
  /** Results by position, to show them at once when the user comes back. */
  private found = new Map<string, Info>();
  private request = 0;

  constructor(private open: OpenEngine) {
    const { choices } = this;
    if (!(choices.lines >= 1 && choices.lines <= 5)) choices.lines = DEFAULTS.lines;
    if (choices.place !== "server") choices.place = "page";
  }

  /** The engine of the chosen place, loaded when it is first needed. */
  get = (): Promise<AnalysisEngine> => {
    const { place } = this.choices;
    if (this.opened?.place !== place) {
      this.opened?.engine.close();
      this.opened = { place, engine: this.open(place) };
      this.error = "";
    }
    return Promise.resolve(this.opened.engine);
  };

  change(choices: Partial<EngineChoices>) {
    Object.assign(this.choices, choices);
    writeStored(KEY, this.choices);
  }

  /** Searches a position until the limit, or until it is stopped. */
  async analyse(spec: Spec) {
    this.stop();
    const key = this.key(spec);
    const known = this.found.get(key) ?? null;
    this.info = known;
    this.isInfinite = false;
    if (!known?.done) await this.start(spec, key);
  }

  /** Continues after the limit. */
  async goDeeper(spec: Spec) {
    this.stop();
    this.isInfinite = true;
    await this.start(spec, this.key(spec));
  }

  /** Key of a stored result. It includes the place, because the server has tables. */
  private key(spec: Spec): string {
    const { lines, place } = this.choices;
    return JSON.stringify([spec, lines, place]);
  }

  private async start(spec: Spec, key: string) {
    const request = ++this.request;
    const isStale = () => request !== this.request;
    this.isRunning = true;
    try {
      const engine = await this.get();
      if (isStale()) return;
      const limits = this.isInfinite ? {} : { seconds: SECONDS };
      const show = (info: Info) => {
        // A search that starts again begins with less than is known.
        if (isStale() || (this.info && info.depth < this.info.depth && !info.done)) return;
        this.info = info;
        this.remember(key, info);
      };
      this.search = engine.search(spec, { lines: this.choices.lines, limits }, show);
      const result = await this.search.result;
      if (result) show(result);
      if (!isStale()) this.error = "";
    } catch (failure) {
      if (!isStale()) this.error = (failure as Error).message;
    } finally {
      if (!isStale()) this.isRunning = false;
    }
  }

  private remember(key: string, info: Info) {
    this.found.delete(key);
    this.found.set(key, info);
    const [oldest] = this.found.keys();
    if (this.found.size > MAX_CACHED && oldest) this.found.delete(oldest);
  }

  stop() {
    this.request += 1;
    this.isRunning = false;
    this.search?.stop();
    this.search = null;
  }

  close() {
    this.stop();
    this.opened?.engine.close();
    this.opened = null;
  }
}
