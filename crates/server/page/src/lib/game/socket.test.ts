import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { golden } from "../api/golden";
import type { ServerMessage } from "../api/types";
import {
  Backoff,
  GameSocket,
  MAX_BACKOFF,
  MIN_BACKOFF,
  PING_INTERVAL,
  PONG_TIMEOUT,
  type CloseAction,
} from "./socket";

/** A socket under the control of the test. */
class FakeSocket {
  readyState = 0;
  sent: { type: string }[] = [];
  onopen = () => {};
  onmessage = (_event: { data: string }) => {};
  onclose = (_event: { code: number }) => {};
  send = (text: string) => this.sent.push(JSON.parse(text));
  close = () => (this.readyState = 3);

  open() {
    this.readyState = 1;
    this.onopen();
  }
  receive(message: ServerMessage) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

const state = golden<ServerMessage>("state");
const pong = golden<ServerMessage>("pong");

function connect(onClose: (code: number) => CloseAction = () => "retry") {
  const sockets: FakeSocket[] = [];
  const rejoins: boolean[] = [];
  const socket = new GameSocket(
    "ws://localhost/",
    {
      joinMessage: () => ({ type: "join", secret: "secret" }),
      onMessage: (_message, isRejoin) => rejoins.push(isRejoin),
      onConnection: () => {},
      onClose,
    },
    () => {
      const fake = new FakeSocket();
      sockets.push(fake);
      return fake as unknown as WebSocket;
    },
  );
  socket.connect();
  const latest = () => {
    const last = sockets.at(-1);
    if (!last) throw new Error("no socket");
    return last;
  };
  const join = () => {
    latest().open();
    latest().receive(state);
  };
  return { socket, sockets, latest, join, rejoins };
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test("back-off doubles up to a maximum, with jitter", () => {
  const backoff = new Backoff(() => 0.5);
  const pauses = Array.from({ length: 7 }, () => backoff.next());
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
  expect(new Backoff(() => 0).next()).toBe(0.75 * MIN_BACKOFF);
  expect(new Backoff(() => 1).next()).toBe(1.25 * MIN_BACKOFF);
});

test("the first message joins, and the first state connects", () => {
  const { socket, latest, rejoins } = connect();
  latest().open();
  expect(latest().sent).toEqual([{ type: "join", secret: "secret" }]);
  expect(socket.connection).toBe("connecting");
  expect(socket.send({ type: "ping" })).toBe(false);
  latest().receive(state);
  expect(socket.connection).toBe("connected");
  expect(socket.send({ type: "ping" })).toBe(true);
  latest().receive(state);
  expect(rejoins).toEqual([true, false]);
});

test("a lost connection is retried until it opens", () => {
  const { socket, sockets, latest, join, rejoins } = connect();
  join();
  latest().onclose({ code: 1006 });
  expect(socket.connection).toBe("reconnecting");
  expect(sockets).toHaveLength(1);
  vi.advanceTimersByTime(1.25 * MIN_BACKOFF);
  expect(sockets).toHaveLength(2);
  latest().onclose({ code: 1006 });
  vi.advanceTimersByTime(0.74 * 2 * MIN_BACKOFF);
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(2 * MIN_BACKOFF);
  expect(sockets).toHaveLength(3);
  join();
  expect(socket.connection).toBe("connected");
  expect(rejoins).toEqual([true, true]);
});

test("a socket whose server stays silent is abandoned", () => {
  const { sockets, latest } = connect();
  latest().open();
  vi.advanceTimersByTime(PONG_TIMEOUT + 2 * MIN_BACKOFF);
  expect(sockets).toHaveLength(2);
});

test("the first attempts are not shown as a lost connection", () => {
  const { socket, latest } = connect();
  for (const expected of ["connecting", "connecting", "reconnecting"]) {
    latest().onclose({ code: 1006 });
    expect(socket.connection).toBe(expected);
    vi.advanceTimersByTime(MAX_BACKOFF);
  }
});

test("an unanswered ping drops the connection, an answered one does not", () => {
  const { socket, latest, join } = connect();
  join();
  vi.advanceTimersByTime(PING_INTERVAL);
  expect(latest().sent.at(-1)).toEqual({ type: "ping" });
  vi.advanceTimersByTime(1);
  latest().receive(pong);
  vi.advanceTimersByTime(PONG_TIMEOUT);
  expect(socket.connection).toBe("connected");
  vi.advanceTimersByTime(PING_INTERVAL + PONG_TIMEOUT);
  expect(socket.connection).toBe("reconnecting");
});

test("after too many messages the longest pause is used", () => {
  const { sockets, latest, join } = connect();
  join();
  latest().onclose({ code: 4008 });
  vi.advanceTimersByTime(0.74 * MAX_BACKOFF);
  expect(sockets).toHaveLength(1);
  vi.advanceTimersByTime(MAX_BACKOFF);
  expect(sockets).toHaveLength(2);
});

test("the owner decides whether to rejoin at once or to stop", () => {
  const rejoining = connect(() => "rejoin");
  rejoining.latest().onclose({ code: 4003 });
  expect(rejoining.sockets).toHaveLength(2);
  const stopped = connect(() => "stop");
  stopped.latest().onclose({ code: 4004 });
  expect(stopped.socket.connection).toBe("closed");
  stopped.socket.reconnectNow();
  vi.advanceTimersByTime(10 * MAX_BACKOFF);
  expect(stopped.sockets).toHaveLength(1);
});

test("reconnectNow does not wait for the back-off", () => {
  const { socket, sockets, latest, join } = connect();
  join();
  latest().onclose({ code: 1006 });
  socket.reconnectNow();
  expect(sockets).toHaveLength(2);
});

test("messages of an abandoned socket are ignored", () => {
  const { socket, sockets, join, rejoins } = connect();
  join();
  socket.disconnect();
  sockets[0]?.receive(state);
  expect(socket.connection).toBe("reconnecting");
  expect(rejoins).toHaveLength(1);
});
