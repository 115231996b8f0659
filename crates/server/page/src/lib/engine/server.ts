/** Searches on the server, over a WebSocket: deeper, and with its tables. */
import type { Running } from "../analysis/client";
import { Pending } from "./pending";
import type { Message } from "./wasm";

const SOCKET_PATH = "/api/analysis/socket";

export class ServerSearches {
  #socket: WebSocket | undefined;
  #pending = new Pending();

  start<T>(request: unknown, onMessage: (message: Message) => void): Running<T> {
    const { id, running } = this.#pending.add<T>(onMessage, (id) => this.#send({ stop: id }));
    this.#send({ id, request });
    return running;
  }

  close() {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#pending.endAll();
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
      this.#pending.receive(message.id, message);
    };
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      this.#socket = undefined;
      this.#pending.failAll("The connection to the server was lost.");
    };
    return socket;
  }
}
