/** The engines of the analysis pages: one in the page, one on the server. */
import { fetchExact } from "../api/client";
import {
  type AnalysisEngine,
  type ExactPosition,
  type FileGame,
  type Hint,
  type ImportedGame,
  type ImportResult,
  type Running,
  type SearchOptions,
  type Setup,
  type SetupResult,
} from "../analysis/client";
import type { GameReport, Info, Limits, PositionView, Spec } from "../analysis/engine";
import { flatten, unflatten, type FlatGame } from "./flat";
import { latest } from "./latest";
import { ServerSearches } from "./server";
import type { Message } from "./wasm";
import { EngineWorker } from "./workers";

/** Where searches run: a worker or the server. */
export interface Searches {
  start<T>(request: unknown, onMessage: (message: Message) => void): Running<T>;
  close(): void;
}

/** Milliseconds between two results of a search that are shown. */
const INFO_INTERVAL = 100;

class Engine implements AnalysisEngine {
  /** Short requests do not wait for a search. */
  #short = new EngineWorker();
  #import: EngineWorker | undefined;
  #running: Running<unknown> | undefined;

  constructor(private readonly searches: Searches) {}

  position(spec: Spec) {
    return this.#short.ask<PositionView>({ call: "position", spec });
  }

  async explain(spec: Spec, move: string) {
    const found = await this.#short.ask<{ reason: string; cells: string[] } | null>({
      call: "explain",
      spec,
      move,
    });
    return found ?? { reason: "", cells: [] };
  }

  setUp(setup: Setup) {
    return this.#short.ask<SetupResult>({ call: "set-up", ...setup });
  }

  async readPdn(text: string) {
    return unflatten(await this.#short.ask<FlatGame>({ call: "read-pdn", text }));
  }

  writePdn(game: ImportedGame) {
    return this.#short.ask<string>({ call: "write-pdn", game: flatten(game) });
  }

  search(spec: Spec, { lines, limits }: SearchOptions, onInfo: (info: Info) => void) {
    const infos = latest(onInfo, INFO_INTERVAL);
    const onMessage = (message: Message) => {
      if (message.type === "info") infos.push(message as unknown as Info);
    };
    const running = this.#start<Info>({ call: "search", spec, lines, limits }, onMessage);
    const result = running.result.then(
      (info) => {
        infos.end(info ?? undefined);
        return info;
      },
      (error: unknown) => {
        infos.end();
        throw error;
      },
    );
    const stop = () => {
      infos.end();
      running.stop();
    };
    return { result, stop };
  }

  report(spec: Spec, limits: Limits, onProgress: (done: number, total: number) => void) {
    return this.#start<GameReport>({ call: "report", spec, limits }, (message) => {
      if (message.type === "progress") onProgress(Number(message.done), Number(message.total));
    });
  }

  hint(spec: Spec) {
    return this.#start<Hint>({ call: "hint", spec });
  }

  /** One at a time: a new search ends the last one. */
  #start<T>(request: unknown, onMessage: (message: Message) => void = () => {}): Running<T> {
    this.#running?.stop();
    const running = this.searches.start<T>(request, onMessage);
    this.#running = running;
    return running;
  }

  /** The tables are on the server. */
  async exact(spec: Spec): Promise<ExactPosition | null> {
    try {
      return await fetchExact(spec);
    } catch {
      return null;
    }
  }

  importFile(
    file: Blob,
    onGames: (games: FileGame[], progress: { bytes: number; total: number }) => void,
  ): Running<ImportResult> {
    this.#import?.close();
    const worker = new EngineWorker();
    this.#import = worker;
    const onMessage = (message: Message) => {
      if (message.type !== "games") return;
      const { games, bytes } = message as unknown as { games: FileGame[]; bytes: number };
      onGames(games, { bytes, total: file.size });
    };
    const { result } = worker.start<ImportResult>({ call: "import" }, onMessage, file);
    // Nothing interrupts an import but the end of its worker.
    const stop = () => worker.close();
    return { result: result.finally(stop), stop };
  }

  close() {
    this.#running?.stop();
    this.searches.close();
    this.#short.close();
    this.#import?.close();
  }
}

/** The engine in this browser. */
export const pageEngine = (): AnalysisEngine => new Engine(new EngineWorker());

/** The engine on the server, with its tables. Only searches run there. */
export const serverEngine = (): AnalysisEngine => new Engine(new ServerSearches());
