/** Workers with the engine: loads it, sends requests, stops searches, replaces failed workers. */
import { EngineError, type Running } from "../analysis/client";
import { Pending } from "./pending";
import type { Message } from "./wasm";
import type { FromWorker, ToWorker } from "./worker";

/** Path of the engine on the server. */
const MODULE_PATH = "/crownhead.wasm";

let loaded: Promise<WebAssembly.Module> | undefined;

/** The compiled engine: loaded once, when it is first needed. */
function loadModule(): Promise<WebAssembly.Module> {
  loaded ??= WebAssembly.compileStreaming(fetch(MODULE_PATH)).catch((error: unknown) => {
    loaded = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new EngineError(`The engine could not be loaded: ${reason}`);
  });
  return loaded;
}

type Sent = ToWorker & { id: number };

/** A worker with an engine, started by the first request. */
export class EngineWorker {
  #worker: Worker | undefined;
  /** Requests with ids up to this number are stopped. */
  #stopped: Int32Array | null = null;
  #pending = new Pending();
  /** Requests without an answer, to be sent again to a new worker. */
  #sent: Sent[] = [];
  #closed = false;

  /** Sends a request that the engine answers at once. */
  async ask<T>(request: unknown): Promise<T> {
    return (await this.start<T>(request).result) as T;
  }

  /**
   * Sends a request whose answer may take a while. `onMessage` gets the messages before the answer,
   * and none after `stop`.
   */
  start<T>(
    request: unknown,
    onMessage: (message: Message) => void = () => {},
    file?: Blob,
  ): Running<T> {
    const { id, running } = this.#pending.add<T>(onMessage, (id) => this.#stop(id));
    const sent = { id, request, ...(file ? { file } : {}) };
    this.#sent = [...this.#sent.filter(({ id }) => this.#pending.has(id)), sent];
    this.#post(sent);
    return running;
  }

  /** Ends the worker. The results of running requests are null. */
  close() {
    this.#closed = true;
    this.#end();
    this.#pending.endAll();
  }

  #post(message: Sent) {
    const send = (module: WebAssembly.Module) => {
      if (this.#closed || !this.#pending.has(message.id)) return;
      (this.#worker ??= this.#create(module)).postMessage(message);
    };
    loadModule().then(send, (error: Error) => this.#pending.fail(message.id, error));
  }

  #create(module: WebAssembly.Module): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const stopped = crossOriginIsolated ? new SharedArrayBuffer(4) : null;
    this.#stopped = stopped && new Int32Array(stopped);
    worker.postMessage({ module, stopped } satisfies ToWorker);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(worker, data);
    worker.onerror = (event) => this.#fail(worker, event.message || "it could not be started");
    return worker;
  }

  #receive(worker: Worker, { id, message, failure }: FromWorker) {
    if (worker !== this.#worker) return;
    if (message === null) {
      this.#fail(worker, failure ?? "");
      return;
    }
    this.#pending.receive(id, JSON.parse(message) as Message);
  }

  /** The engine has failed: its memory is in an unknown state, so the next request gets a new one. */
  #fail(worker: Worker, reason: string) {
    if (worker !== this.#worker) return;
    this.#end();
    this.#pending.failAll(`The engine failed: ${reason}`);
  }

  #stop(id: number) {
    if (this.#stopped) {
      Atomics.store(this.#stopped, 0, id);
    } else if (this.#worker) {
      // Nothing else interrupts a search. The compiled module is kept, so a new worker is quick.
      this.#end();
      for (const sent of this.#sent) if (this.#pending.has(sent.id)) this.#post(sent);
    }
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#stopped = null;
  }
}
