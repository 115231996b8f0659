/** Searches on the server, over a WebSocket: deeper, and with its tables. */
import { EngineError, type Running } from "../analysis/client";
import type { Message } from "./wasm";

const SOCKET_PATH = "/api/analysis/socket";

interface Pending {
  onMessage(message: Message): void;
  fail(reason: string): void;
}

export class ServerSearches {
  #socket: WebSocket | undefined;
  #pending = new Map<number, Pending>();
  #lastId = 0;

  start<T>(request: unknown, onMessage: (message: Message) => void): Running<T> {
    const id = ++this.#lastId;
    let stop = () => {};
    const result = new Promise<T | null>((resolve, reject) => {
      const settle = () => this.#pending.delete(id);
      this.#pending.set(id, {
        onMessage: (message) => {
          if (message.type === "result") {
            settle();
            resolve(message.value as T | null);
          } else if (message.type === "error") {
            settle();
            reject(new EngineError(message.message, message.at ?? undefined, message.cells));
          } else {
            onMessage(message);
          }
        },
        fail: (reason) => {
          settle();
          reject(new EngineError(reason));
        },
      });
      stop = () => {
        if (!settle()) return;
        this.#send({ stop: id });
        resolve(null);
      };
    });
    this.#send({ id, request });
    return { result, stop: () => stop() };
  }

  close() {
    this.#socket?.close();
    this.#socket = undefined;
    for (const { onMessage } of [...this.#pending.values()]) {
      onMessage({ type: "result", value: null });
    }
  }

  #send(message: unknown) {
    const socket = (this.#socket ??= this.#open());
    const text = JSON.stringify(message);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else socket.addEventListener("open", () => socket.send(text), { once: true });
  }

  #open(): WebSocket {
    const url = new URL(SOCKET_PATH, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Message & { id: number };
      this.#pending.get(message.id)?.onMessage(message);
    };
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      this.#socket = undefined;
      const reason = "The connection to the server was lost.";
      for (const { fail } of [...this.#pending.values()]) fail(reason);
    };
    return socket;
  }
}
