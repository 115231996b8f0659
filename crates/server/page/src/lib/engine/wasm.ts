/** The engine compiled to WebAssembly, as its instance sees it: requests and messages of JSON. */

/** A message of the engine. A request ends with `result` or `error`. */
export type Message =
  | { type: "result"; value: unknown }
  | { type: "error"; message: string; at: number | null; cells: string[] }
  | { type: "info" | "progress" | "games"; [key: string]: unknown };

/** The functions that the engine calls. */
export interface Host {
  /** Whether to stop the running search. */
  stops(): boolean;
  /** Receives a message as text. */
  emit(message: string): void;
  /** Fills a buffer with the next bytes of the imported file and returns their number. */
  read(buffer: Uint8Array): number;
}

interface Exports {
  memory: WebAssembly.Memory;
  request_buffer(length: number): number;
  handle(): void;
}

export interface Instance {
  /** Answers a request. Returns when it is done; throws if the engine fails. */
  handle(request: unknown): void;
}

export async function instantiate(module: WebAssembly.Module, host: Host): Promise<Instance> {
  const decoder = new TextDecoder();
  const engine: { memory?: WebAssembly.Memory } = {};
  // The memory moves when it grows, so each access creates a view of it.
  const bytes = (start: number, length: number) =>
    new Uint8Array(engine.memory?.buffer ?? new ArrayBuffer(0), start >>> 0, length >>> 0);
  const imports = {
    now: () => performance.now(),
    stops: () => Number(host.stops()),
    emit: (start: number, length: number) => host.emit(decoder.decode(bytes(start, length))),
    read: (start: number, length: number) => host.read(bytes(start, length)),
  };
  const instance = await WebAssembly.instantiate(module, { host: imports });
  const exports = instance.exports as unknown as Exports;
  engine.memory = exports.memory;
  const encoder = new TextEncoder();
  return {
    handle(request) {
      const text = encoder.encode(JSON.stringify(request));
      const start = exports.request_buffer(text.length);
      bytes(start, text.length).set(text);
      exports.handle();
    },
  };
}
