/**
 * The worker in which the engine runs: one request at a time, in the order of their arrival.
 *
 * A search holds the thread until it ends. If the page is isolated from other origins, it shares a
 * number with the worker: searches with ids up to that number stop. Otherwise the page ends the
 * worker to stop a search.
 */
import { instantiate, type Instance } from "./wasm";

/** From the page. The first message has the module. */
export type ToWorker =
  | { module: WebAssembly.Module; stopped: SharedArrayBuffer | null }
  | { id: number; request: unknown; file?: Blob };

/** To the page: a message of the engine, or its failure. */
export interface FromWorker {
  id: number;
  /** JSON of a message; null if the engine has failed and this worker must be replaced. */
  message: string | null;
  failure?: string;
}

/** Exists in workers only, so the types of the DOM do not have it. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

let instance: Promise<Instance> | undefined;
let stopped: Int32Array | null = null;
/** The request being answered. */
let id = 0;
let file: { blob: Blob; offset: number } | null = null;
let lastText = "";
const reader = new FileReaderSync();

function read(buffer: Uint8Array): number {
  if (!file) return 0;
  const part = file.blob.slice(file.offset, file.offset + buffer.length);
  const bytes = new Uint8Array(reader.readAsArrayBuffer(part));
  buffer.set(bytes);
  file.offset += bytes.length;
  return bytes.length;
}

function emit(message: string) {
  // A text that is not JSON is the message of a panic; the failure follows.
  lastText = message;
  if (message.startsWith("{")) self.postMessage({ id, message } satisfies FromWorker);
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) {
    stopped = data.stopped && new Int32Array(data.stopped);
    instance = instantiate(data.module, {
      stops: () => stopped !== null && Atomics.load(stopped, 0) >= id,
      emit,
      read,
    });
    return;
  }
  try {
    const engine = await instance;
    id = data.id;
    file = data.file ? { blob: data.file, offset: 0 } : null;
    lastText = "";
    engine?.handle(data.request);
  } catch (error) {
    const failure = lastText && !lastText.startsWith("{") ? lastText : String(error);
    self.postMessage({ id: data.id, message: null, failure } satisfies FromWorker);
  }
};
