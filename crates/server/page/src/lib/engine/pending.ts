/** Requests that wait for their last message. */
import { EngineError, type Running } from "../analysis/client";
import type { Message } from "./wasm";

interface Request {
  onMessage: (message: Message) => void;
  finish: (value: unknown) => void;
  fail: (error: Error) => void;
}

export class Pending {
  #requests = new Map<number, Request>();
  #lastId = 0;

  /** Adds a request. `onStop` is called if it is stopped while it waits; its result is then null. */
  add<T>(onMessage: (message: Message) => void, onStop: (id: number) => void) {
    const id = ++this.#lastId;
    const result = new Promise<T | null>((resolve, fail) => {
      const finish = (value: unknown) => resolve(value as T | null);
      this.#requests.set(id, { onMessage, finish, fail });
    });
    const stop = () => {
      if (this.#take(id, (request) => request.finish(null))) onStop(id);
    };
    return { id, running: { result, stop } satisfies Running<T> };
  }

  has = (id: number) => this.#requests.has(id);

  receive(id: number, message: Message) {
    if (message.type === "result") this.#take(id, ({ finish }) => finish(message.value));
    else if (message.type === "error") {
      const error = new EngineError(message.message, message.at ?? undefined, message.cells);
      this.fail(id, error);
    } else this.#requests.get(id)?.onMessage(message);
  }

  fail(id: number, error: Error) {
    this.#take(id, ({ fail }) => fail(error));
  }

  failAll(reason: string) {
    for (const id of [...this.#requests.keys()]) this.fail(id, new EngineError(reason));
  }

  /** Ends all of them without a result. */
  endAll() {
    for (const id of [...this.#requests.keys()]) this.#take(id, ({ finish }) => finish(null));
  }

  #take(id: number, settle: (request: Request) => void): boolean {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    if (request) settle(request);
    return request !== undefined;
  }
}
