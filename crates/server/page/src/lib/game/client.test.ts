import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { golden } from "../api/golden";
import type { GameState, LegalMove, MovedMessage, ServerMessage } from "../api/types";
import { GameClient, type GameEvents } from "./client.svelte";

/** The socket that the client opened last. */
let socket: FakeSocket;

class FakeSocket {
  readyState = 1;
  sent: Record<string, unknown>[] = [];
  onopen = () => {};
  onmessage = (_event: { data: string }) => {};
  onclose = (_event: { code: number }) => {};
  send = (text: string) => this.sent.push(JSON.parse(text));
  close = () => {};
  constructor(readonly url: string) {
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    socket = this;
  }
  receive(message: unknown) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

const moved = golden<MovedMessage>("moved");
const step: LegalMove = { text: "11-15", from: "36", to: "45", path: ["36", "45"], captures: [] };
/** A game at its start, with one legal move. */
const start: GameState & { type: "state" } = {
  ...golden<GameState & { type: "state" }>("state"),
  version: 0,
  ply: 0,
  side: "b",
  legal: [step],
  outcome: null,
  history: [],
};
start.board = start.start_board;

const events = {
  onConnected: vi.fn(),
  onOfferLost: vi.fn(),
  onMove: vi.fn(),
  onRefused: vi.fn(),
  onDeclined: vi.fn(),
  onOffer: vi.fn(),
  onHint: vi.fn(),
  onEnd: vi.fn(),
  onRematch: vi.fn(),
  onJoined: vi.fn(),
  onSeatRejected: vi.fn((): string | null => null),
  onChange: vi.fn(),
} satisfies GameEvents;

function join(secret: string | null = "secret"): GameClient {
  const client = new GameClient("game-id", secret, "Ann", events);
  socket.onopen();
  socket.receive(golden<ServerMessage>("joined"));
  socket.receive(start);
  return client;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("location", { href: "https://example.org/game/game-id", protocol: "https:" });
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  vi.stubGlobal("document", { addEventListener: () => {}, removeEventListener: () => {} });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.clearAllMocks();
});

test("the client joins with its secret and name", () => {
  const client = join();
  expect(socket.url).toBe("wss://example.org/api/games/game-id/socket");
  expect(socket.sent).toEqual([{ type: "join", secret: "secret", name: "Ann" }]);
  expect(client.you).toEqual(["b"]);
  expect(client.isMyTurn).toBe(true);
  expect(events.onJoined).toHaveBeenCalledWith(["b"], "secret");
});

test("a move is shown at once and confirmed later", () => {
  const client = join();
  client.play(step);
  expect(client.board).toBe(moved.board);
  expect(client.history.map(({ text }) => text)).toEqual(["11-15"]);
  expect(client.isMyTurn).toBe(false);
  const message = { type: "move", version: 0, move: "11-15", id: 1 };
  expect(socket.sent.at(-1)).toEqual(message);
  socket.receive(moved);
  socket.receive({ type: "done", id: 1, version: 1 });
  expect(client.pending).toBeNull();
  expect(client.history).toHaveLength(1);
  expect(events.onMove).toHaveBeenCalledTimes(1);
});

test("a refused move is taken back", () => {
  const client = join();
  client.play(step);
  socket.receive({ type: "refused", id: 1, code: "illegal", reason: "illegal", version: 0 });
  expect(client.board).toBe(start.start_board);
  expect(client.history).toEqual([]);
  expect(events.onRefused).toHaveBeenCalledWith("Illegal.", []);
});

test("a pending move is sent again after a reconnect unless it arrived", () => {
  for (const [state, isSent] of [
    [start, true],
    [{ ...start, version: 1 }, false],
  ] as const) {
    const client = join();
    client.play(step);
    socket.onclose({ code: 1006 });
    expect(client.connection).toBe("reconnecting");
    vi.advanceTimersByTime(1000);
    socket.onopen();
    socket.receive(state);
    expect(socket.sent.some(({ type }) => type === "move")).toBe(isSent);
    expect(client.pending !== null).toBe(isSent);
  }
});

test("moves of the opponent, offers and the end are reported", () => {
  const client = join();
  socket.receive({ ...moved, outcome: golden<GameState>("state").outcome });
  expect(events.onMove).toHaveBeenCalledWith(moved.move, false);
  expect(events.onEnd).toHaveBeenCalledTimes(1);
  expect(client.history).toEqual([moved.move]);
  socket.receive({ type: "offers", offers: { draw: "w", take_back: null, rematch: null } });
  expect(events.onOffer).toHaveBeenCalledWith("draw", "w");
  socket.receive(golden("offers")); // an offer of this player
  expect(events.onOffer).toHaveBeenCalledTimes(1);
  socket.receive(golden("declined"));
  expect(events.onDeclined).toHaveBeenCalledTimes(1);
  socket.receive(golden("next"));
  expect(events.onRematch).toHaveBeenCalledWith("rematch-id-00000");
});

test("a fresh state with fewer moves reports a take-back", () => {
  join();
  socket.receive(moved);
  socket.receive({ ...start, version: 2 });
  expect(events.onChange).toHaveBeenCalledWith("back", undefined);
});

test("actions need a connection", () => {
  const client = join();
  client.offer("take-back");
  expect(socket.sent.at(-1)).toEqual({ type: "offer", offer: "take-back", version: 0, id: 1 });
  socket.onclose({ code: 1006 });
  client.resign();
  expect(events.onRefused).toHaveBeenCalledTimes(1);
});

test("a wrong secret leads to watching", () => {
  const client = join();
  const before = socket;
  socket.onclose({ code: 4003 });
  expect(events.onSeatRejected).toHaveBeenCalledWith("secret");
  expect(socket).not.toBe(before);
  socket.onopen();
  expect(socket.sent).toEqual([{ type: "join", name: "Ann" }]);
  expect(client.connection).not.toBe("closed");
});

test.each([
  [4004, /does not exist/],
  [4011, /could not load/],
])("close code %i closes the client and says why", (code, reason) => {
  const client = join();
  socket.onclose({ code });
  expect(client.connection).toBe("closed");
  expect(client.closeReason).toMatch(reason);
});
