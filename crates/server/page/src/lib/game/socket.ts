/** The WebSocket of a game: joins, pings, and reconnects with back-off. */
import type { ClientMessage, ServerMessage } from "../api/types";

export type Connection = "connecting" | "connected" | "reconnecting" | "closed";

/** What to do after the server closed the socket. */
export type CloseAction = "retry" | "rejoin" | "stop";

export interface SocketEvents {
  /** The first message on a new socket. */
  joinMessage(): ClientMessage;
  /** `isRejoin`: the message is the first `state` on this socket. */
  onMessage(message: ServerMessage, isRejoin: boolean): void;
  onConnection(connection: Connection): void;
  onClose(code: number): CloseAction;
}

export const MIN_BACKOFF = 250;
export const MAX_BACKOFF = 5000;
export const PING_INTERVAL = 10_000;
/** Time for the first `state` and for the answer to a ping. */
export const PONG_TIMEOUT = 6_000;
/** Close code: too many messages or sockets. */
const TOO_MANY = 4008;
const OPEN = 1;

/** Pauses before reconnecting, in milliseconds: doubled each time, with jitter. */
export class Backoff {
  pause = MIN_BACKOFF;

  constructor(private random: () => number = Math.random) {}

  next(): number {
    const pause = this.pause * (0.75 + this.random() / 2);
    this.pause = Math.min(this.pause * 2, MAX_BACKOFF);
    return pause;
  }
}

export class GameSocket {
  connection: Connection = "connecting";
  wasConnected = false;
  private socket: WebSocket | null = null;
  private backoff = new Backoff();
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setInterval> | undefined;
  private lastMessageAt = 0;

  constructor(
    private url: string,
    private events: SocketEvents,
    private open: (url: string) => WebSocket = (url) => new WebSocket(url),
  ) {}

  connect() {
    clearTimeout(this.retryTimer);
    this.dropSocket();
    if (this.connection === "closed") return;
    const socket = this.open(this.url);
    this.socket = socket;
    this.retryTimer = setTimeout(() => this.disconnect(), PONG_TIMEOUT);
    socket.onopen = () => socket.send(JSON.stringify(this.events.joinMessage()));
    socket.onmessage = (event) => {
      if (this.socket === socket) this.onMessage(JSON.parse(event.data) as ServerMessage);
    };
    socket.onclose = (event) => {
      if (this.socket === socket) this.onClose(event.code);
    };
  }

  /** Sends a message. Returns whether there is a connection to send it on. */
  send(message: ClientMessage): boolean {
    if (this.socket?.readyState !== OPEN || this.connection !== "connected") return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Reconnects without waiting for the back-off, or checks that the connection is alive. */
  reconnectNow() {
    if (this.connection === "reconnecting") this.connect();
    else if (this.connection === "connected") this.ping();
  }

  /** Abandons the current socket and reconnects after a pause. */
  disconnect = () => {
    if (this.connection === "closed") return;
    this.clearTimers();
    this.dropSocket();
    const isFirstAttempts = !this.wasConnected && this.backoff.pause <= 2 * MIN_BACKOFF;
    this.setConnection(isFirstAttempts ? "connecting" : "reconnecting");
    this.retryTimer = setTimeout(() => this.connect(), this.backoff.next());
  };

  /** Closes the socket permanently. */
  close() {
    this.clearTimers();
    this.setConnection("closed");
    this.dropSocket();
  }

  private onMessage(message: ServerMessage) {
    this.lastMessageAt = performance.now();
    const isRejoin = message.type === "state" && this.connection !== "connected";
    if (isRejoin) {
      this.clearTimers();
      this.backoff = new Backoff();
      this.wasConnected = true;
      this.setConnection("connected");
      this.pingTimer = setInterval(() => this.ping(), PING_INTERVAL);
    }
    this.events.onMessage(message, isRejoin);
  }

  private onClose(code: number) {
    const action = this.events.onClose(code);
    if (action === "stop") return this.close();
    if (action === "rejoin") return this.connect();
    if (code === TOO_MANY) this.backoff.pause = MAX_BACKOFF;
    this.disconnect();
  }

  private ping() {
    const sentAt = performance.now();
    if (!this.send({ type: "ping" })) return;
    setTimeout(() => {
      if (this.connection === "connected" && this.lastMessageAt < sentAt) this.disconnect();
    }, PONG_TIMEOUT);
  }

  private setConnection(connection: Connection) {
    this.connection = connection;
    this.events.onConnection(connection);
  }

  private clearTimers() {
    clearTimeout(this.retryTimer);
    clearInterval(this.pingTimer);
  }

  private dropSocket() {
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }
}
