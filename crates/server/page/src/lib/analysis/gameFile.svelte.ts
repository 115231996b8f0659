/**
 * The games of a file: read in a worker, searched and sorted in the page.
 *
 * A file may have 200,000 games. Only their summaries are in memory; a game is read again from the
 * file when it is opened. No step holds the page for long.
 */
import type { AnalysisEngine, FileGame, ImportedGame, ImportResult, Running } from "./client";

/** Maximum size of a file. */
export const MAX_FILE = 2_000_000_000;
/** Maximum size of one game of it. */
const MAX_GAME = 4_000_000;

/** Columns by which the list can be sorted. */
export type Column = "number" | "first" | "second" | "event" | "date" | "result" | "plies";

/** A game with the texts that are searched and compared. */
interface Row {
  game: FileGame;
  searched: string;
}

const KEYS: Record<Column, (game: FileGame) => string | number> = {
  number: ({ number }) => number,
  first: ({ players }) => players[0].toLowerCase(),
  second: ({ players }) => players[1].toLowerCase(),
  event: ({ event }) => event.toLowerCase(),
  date: ({ date }) => date,
  result: ({ result }) => result,
  plies: ({ plies }) => plies,
};

const pause = () => new Promise((resolve) => setTimeout(resolve));
/** Games that are sorted or searched at once: a few milliseconds. */
const SLICE = 8192;

/** Sorts without holding the page: slices, then pairs of them. Null if `isStale` says so. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  isStale: () => boolean,
): Promise<T[] | null> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += SLICE) {
    runs.push(items.slice(at, at + SLICE).sort(compare));
    await pause();
    if (isStale()) return null;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
      await pause();
      if (isStale()) return null;
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function merge<T>(a: T[], b: T[], compare: (a: T, b: T) => number): T[] {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    merged.push(compare(b[j] as T, a[i] as T) < 0 ? (b[j++] as T) : (a[i++] as T));
  }
  for (; i < a.length; i++) merged.push(a[i] as T);
  for (; j < b.length; j++) merged.push(b[j] as T);
  return merged;
}

export class GameFile {
  /** The games that are shown, in the order shown. */
  shown: FileGame[] = $state.raw([]);
  /** Number of games read. */
  count = $state(0);
  /** Share of the file that has been read. */
  progress = $state(0);
  result: ImportResult | null = $state.raw(null);
  error = $state("");
  query = $state("");
  column: Column = $state("number");
  isDescending = $state(false);
  private rows: Row[] = [];
  private request = 0;
  private running: Running<ImportResult> | null = null;

  constructor(
    readonly file: File,
    private engine: () => Promise<AnalysisEngine>,
  ) {}

  get name(): string {
    return this.file.name;
  }

  /** Reads the file. */
  async read() {
    try {
      if (this.file.size > MAX_FILE) throw new Error("The file is larger than 2 GB.");
      const engine = await this.engine();
      this.running = engine.importFile(this.file, (games, { bytes, total }) => {
        for (const game of games) {
          const { players, event, date, result } = game;
          const searched = [...players, event, date, result, game.game].join("\n").toLowerCase();
          this.rows.push({ game, searched });
        }
        this.count = this.rows.length;
        this.progress = total > 0 ? bytes / total : 1;
        // The first games are shown at once, the others at the end or when the user searches.
        if (this.shown.length < 1000) void this.update();
      });
      this.result = await this.running.result;
      this.progress = 1;
      void this.update();
    } catch (failure) {
      this.error = (failure as Error).message;
    }
  }

  search(query: string) {
    this.query = query;
    void this.update();
  }

  /** Sorts by a column; by the same one again in the other direction. */
  sort(column: Column) {
    this.isDescending = this.column === column && !this.isDescending;
    this.column = column;
    void this.update();
  }

  /** Filters and sorts again. */
  private async update() {
    const request = ++this.request;
    const isStale = () => request !== this.request;
    const words = this.query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word);
    const { rows, column, isDescending } = this;
    const end = rows.length;
    const found: FileGame[] = [];
    for (let at = 0; at < end; at += SLICE) {
      for (const { game, searched } of rows.slice(at, Math.min(end, at + SLICE))) {
        if (words.every((word) => searched.includes(word))) found.push(game);
      }
      if (end > SLICE) await pause();
      if (isStale()) return;
    }
    if (column === "number") {
      this.shown = isDescending ? found.reverse() : found;
      return;
    }
    const key = KEYS[column];
    const sign = isDescending ? -1 : 1;
    const keyed = found.map((game) => ({ game, key: key(game) }));
    const sorted = await sortInSlices(
      keyed,
      (a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
      isStale,
    );
    if (sorted) this.shown = sorted.map(({ game }) => game);
  }

  /** Reads a game from the file. */
  async open({ offset, length }: FileGame): Promise<ImportedGame> {
    if (length > MAX_GAME) throw new Error("This game is too large.");
    const text = await this.file.slice(offset, offset + length).text();
    return (await this.engine()).readPdn(text);
  }

  close() {
    this.request += 1;
    this.running?.stop();
  }
}
