/**
 * Client of one game on the server.
 *
 * Shows a move before the server has confirmed it, and takes it back if the server refuses it. A
 * move that was in flight when the connection broke is sent again if the fresh state does not
 * include it.
 */
import { fetchSummaries, toSentence } from "../api/client";
import type {
  Cell,
  GameAction,
  GameState,
  HintMessage,
  HistoryEntry,
  LegalMove,
  MovedMessage,
  OfferKind,
  Offers,
  Outcome,
  PlayedMove,
  RefusedMessage,
  ServerMessage,
  SideLetter,
} from "../api/types";
import { applyMove } from "../board/cells";
import { GameSocket, type CloseAction, type Connection, type SocketEvents } from "./socket";

export interface GameEvents {
  /** The connection is there, for the first time or again. */
  onConnected(): void;
  /** An offer of the user did not survive a restart of the server. */
  onOfferLost(offer: OfferKind): void;
  onMove(move: PlayedMove, isMine: boolean): void;
  /** `cells`: what the reason is about. */
  onRefused(reason: string, cells?: Cell[]): void;
  onDeclined(text: string): void;
  onOffer(offer: OfferKind, by: SideLetter): void;
  onHint(hint: HintMessage): void;
  onEnd(outcome: Outcome): void;
  onRematch(id: string): void;
  onJoined(you: SideLetter[], secret: string | null): void;
  /** The secret belongs to no seat. Returns another secret to try, or null to watch. */
  onSeatRejected(secret: string): string | null;
  /** Moves were played while disconnected, or taken back. `last` is the last move that stands. */
  onChange(direction: "forward" | "back", last: PlayedMove | undefined): void;
}

interface PendingMove {
  id: number;
  version: number;
  text: string;
  /** The move, if the board shows it already. */
  entry: HistoryEntry | null;
}

const WRONG_SECRET = 4003;
const NO_SUCH_GAME = "This game does not exist or has been deleted.";
/** Close codes after which reconnecting is pointless. */
const FATAL_CODES = new Map([
  [4004, NO_SUCH_GAME],
  [4011, "The server could not load this game."],
]);
export const OFFLINE = "Not connected to the server. Try again when the connection is back.";

const OFFER_KEYS: [OfferKind, keyof Offers][] = [
  ["draw", "draw"],
  ["take-back", "take_back"],
  ["rematch", "rematch"],
];

export class GameClient implements SocketEvents {
  /** The last state from the server. */
  state: GameState | null = $state.raw(null);
  /** Sides that this tab may play. */
  you: SideLetter[] = $state.raw([]);
  connection: Connection = $state("connecting");
  closeReason = $state("");
  /** A move shown on the board that the server has not confirmed. */
  pending: PendingMove | null = $state.raw(null);
  /** The hint that the server is searching for. */
  hintRequest: number | null = $state.raw(null);
  /** When the clocks in `state` were exact. */
  clocksSyncedAt = $state.raw(0);
  private unanswered = new Map<number, PendingMove>();
  private lastId = 0;
  private socket: GameSocket;

  constructor(
    readonly id: string,
    /** Secret of the seat; null for a spectator. */
    public secret: string | null,
    private name: string | null,
    private events: GameEvents,
  ) {
    const url = new URL(`/api/games/${encodeURIComponent(id)}/socket`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new GameSocket(url.href, this);
    addEventListener("online", this.reconnectNow);
    addEventListener("offline", this.socket.disconnect);
    document.addEventListener("visibilitychange", this.reconnectNow);
    this.socket.connect();
  }

  close() {
    removeEventListener("online", this.reconnectNow);
    removeEventListener("offline", this.socket.disconnect);
    document.removeEventListener("visibilitychange", this.reconnectNow);
    this.socket.close();
  }

  /** The board with the pending move. */
  get board(): string {
    return this.pending?.entry?.board ?? this.state?.board ?? "";
  }

  /** All moves, the pending one included. */
  get history(): HistoryEntry[] {
    const history = this.state?.history ?? [];
    return this.pending?.entry ? [...history, this.pending.entry] : history;
  }

  /** Whether this tab may move now. */
  get isMyTurn(): boolean {
    const { state } = this;
    return !!state && !state.outcome && !this.pending && this.you.includes(state.side);
  }

  /** Plays a legal move and shows it at once. */
  play(move: LegalMove, path = move.path) {
    const { state } = this;
    if (!state || !this.isMyTurn) return;
    const { text, captures } = move;
    const board = applyMove(state.board, path, captures);
    const entry = { text, side: state.side, path, captures, board };
    this.events.onMove(entry, true);
    this.submit(text, entry);
  }

  /** Sends a move that may be illegal. The answer is reported through the events. */
  attempt(text: string) {
    if (!this.state || this.pending) return;
    if (this.connection === "connected") this.submit(text, null);
    else this.events.onRefused(OFFLINE);
  }

  /** Renames the user's seat. */
  rename(name: string) {
    this.name = name;
    this.socket.send({ type: "name", name, id: ++this.lastId });
  }

  resign = () => this.act({ type: "resign" });
  offer = (offer: OfferKind) => this.act({ type: "offer", offer });
  accept = (offer: OfferKind) => this.act({ type: "accept", offer });
  decline = (offer: OfferKind) => this.act({ type: "decline", offer });

  /** Asks for a suggestion, which is reported through the events. */
  askHint = () => {
    if (!this.isMyTurn || this.hintRequest !== null) return;
    if (this.act({ type: "hint" })) this.hintRequest = this.lastId;
  };

  reconnectNow = () => {
    if (this.connection !== "reconnecting" || !document.hidden) this.socket.reconnectNow();
  };

  joinMessage() {
    return {
      type: "join" as const,
      ...(this.secret ? { secret: this.secret } : {}),
      ...(this.name ? { name: this.name } : {}),
    };
  }

  onConnection(connection: Connection) {
    this.connection = connection;
    this.hintRequest = null;
    if (connection === "connected") this.events.onConnected();
  }

  onClose(code: number): CloseAction {
    if (code === WRONG_SECRET && this.secret) {
      this.secret = this.events.onSeatRejected(this.secret);
      const seat = this.secret ? "You keep your own seat." : "You can watch the game.";
      this.events.onRefused(`This link is not valid for a seat in this game. ${seat}`);
      return "rejoin";
    }
    const reason = FATAL_CODES.get(code);
    if (reason) {
      this.closeReason = reason;
      return "stop";
    }
    if (!this.socket.wasConnected) void this.checkExists();
    return "retry";
  }

  /** Browsers hide why a socket could not be opened: the game may not exist. */
  private async checkExists() {
    try {
      const games = await fetchSummaries([this.id]);
      if (games.length > 0 || this.socket.wasConnected) return;
      this.closeReason = NO_SUCH_GAME;
      this.socket.close();
    } catch {
      // The server is unreachable; the socket keeps trying.
    }
  }

  onMessage(message: ServerMessage, isRejoin: boolean) {
    switch (message.type) {
      case "joined":
        this.you = message.you;
        this.events.onJoined(message.you, this.secret);
        break;
      case "state":
        this.onState(message, isRejoin);
        break;
      case "moved":
        this.onMoved(message);
        break;
      case "offers":
        this.change({ offers: message.offers });
        break;
      case "seats":
        this.change({ seats: message.seats, watchers: message.watchers });
        break;
      case "computer":
        this.change({ computer: message.computer });
        break;
      case "next":
        this.change({ next: message.id });
        this.events.onRematch(message.id);
        break;
      case "declined":
        this.events.onDeclined(toSentence(message.text));
        break;
      case "done":
        this.unanswered.delete(message.id);
        if (this.pending?.id === message.id) this.pending = null;
        break;
      case "refused":
        this.onRefused(message);
        break;
      case "hint":
        if (message.id !== this.hintRequest) break;
        this.hintRequest = null;
        this.events.onHint(message);
        break;
      case "pong":
        break;
    }
  }

  private onState(state: GameState, isRejoin: boolean) {
    const before = this.state;
    const { pending } = this;
    this.clocksSyncedAt = performance.now();
    this.hintRequest = null;
    this.state = state;
    if (pending && pending.version !== state.version) this.pending = null;
    else if (pending && isRejoin) this.sendMove(pending);
    if (before) this.notifyChange(before, state);
    if (before && isRejoin && before.version === state.version) this.notifyLost(before, state);
    this.notifyOffers(before?.offers, state.offers);
    if (state.outcome && before && !before.outcome) this.events.onEnd(state.outcome);
  }

  private onMoved(message: MovedMessage) {
    const { state, pending } = this;
    if (!state) return;
    const { type: _, move, ...view } = message;
    const isMine = pending?.entry?.text === move.text && pending.version === state.version;
    this.clocksSyncedAt = performance.now();
    this.hintRequest = null;
    this.state = { ...state, ...view, history: [...state.history, move] };
    this.pending = null;
    if (!isMine) this.events.onMove(move, false);
    if (message.outcome) this.events.onEnd(message.outcome);
  }

  private onRefused(message: RefusedMessage) {
    if (message.id !== null) {
      if (message.id === this.hintRequest) this.hintRequest = null;
      const move = this.unanswered.get(message.id);
      this.unanswered.delete(message.id);
      if (move?.entry && this.pending?.id === move.id) this.pending = null;
    }
    const isStale = message.code === "stale";
    this.events.onRefused(
      isStale ? "The game has changed. Try again." : toSentence(message.reason),
      message.cells ?? [],
    );
  }

  private change(part: Partial<GameState>) {
    if (!this.state) return;
    const before = this.state.offers;
    this.state = { ...this.state, ...part };
    this.notifyOffers(before, this.state.offers);
  }

  private notifyChange(before: GameState, state: GameState) {
    const added = state.history.length - before.history.length;
    const isReopened = before.outcome && !state.outcome;
    if (added > 0) this.events.onChange("forward", state.history.at(-1));
    else if (added < 0 || isReopened) this.events.onChange("back", state.history.at(-1));
  }

  private notifyOffers(before: Offers | undefined, now: Offers) {
    for (const [offer, key] of OFFER_KEYS) {
      const by = now[key];
      if (by && by !== before?.[key] && !this.you.includes(by)) this.events.onOffer(offer, by);
    }
  }

  private notifyLost(before: GameState, state: GameState) {
    for (const [offer, key] of OFFER_KEYS) {
      const by = before.offers[key];
      if (by && this.you.includes(by) && !state.offers[key]) this.events.onOfferLost(offer);
    }
  }

  private submit(text: string, entry: HistoryEntry | null) {
    if (!this.state) return;
    const move = { id: ++this.lastId, version: this.state.version, text, entry };
    this.unanswered.set(move.id, move);
    if (entry) this.pending = move;
    this.sendMove(move);
  }

  private sendMove({ version, text, id }: PendingMove) {
    this.socket.send({ type: "move", version, move: text, id });
  }

  /** Sends an action. Returns whether it was sent. */
  private act(action: GameAction): boolean {
    if (!this.state) return false;
    const message = { ...action, version: this.state.version, id: ++this.lastId };
    const isSent = this.socket.send(message);
    if (!isSent) this.events.onRefused(OFFLINE);
    return isSent;
  }
}
