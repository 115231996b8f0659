/**
 * A game on the server, followed over its socket.
 *
 * It joins again whenever the connection is lost, shows a move before the server has confirmed it, and
 * takes it back if the server refuses. A move that was on its way when the connection broke is sent
 * once more if the fresh state says that it did not arrive. Which moves are legal is the server's to say.
 */
import type { Legal, Made, Mode, Outcome, Seat, Side, View } from "../api/client";
import { sentence, summaries } from "../api/client";
import { moved } from "../board/cells";

export type What = "draw" | "take-back" | "rematch";

export interface Past extends Made {
  board: string;
}

export interface State extends View {
  id: string;
  game: string;
  kind: string;
  mode: Mode;
  version: number;
  start: string;
  start_board: string;
  history: Past[];
  clocks: Clocks | null;
  seats: Seat[];
  watchers: number;
  offers: { draw: Side | null; take_back: Side | null; rematch: Side | null };
  computer: "waiting" | "thinking" | null;
  next: string | null;
}

export interface Clocks {
  time: number;
  increment: number;
  left: [number, number];
  running: Side | null;
}

/** What the page wants to hear about while it follows a game. */
export interface Ears {
  moved(made: Made, mine: boolean): void;
  refused(reason: string, wasShown: boolean): void;
  declined(text: string): void;
  offered(what: What, by: Side): void;
  ended(outcome: Outcome): void;
  next(id: string): void;
  joined(you: Side[], secret: string | null): void;
  /** The secret is of no seat. Returns another one to try, or null to look on. */
  wrongSecret(secret: string): string | null;
  /** Moves were made while the connection was lost, or taken back; the last one that stands is told. */
  changed(how: "further" | "back", last: Made | undefined): void;
}

interface Pending {
  id: number;
  version: number;
  text: string;
  /** Its way, if the board shows it already. */
  made: Past | null;
}

/** First and longest pause before joining again. */
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 5000;
/** How often the server is asked for a sign of life, and how long it may take. */
const ASK_EVERY = 10_000;
const PATIENCE = 6_000;

const lostFor: Record<number, string> = {
  4004: "There is no such game on this server, or no longer.",
  4011: "The server could not keep this game on its disk.",
};

export class LiveGame {
  /** What the server said last. */
  state: State | null = $state.raw(null);
  /** The sides this tab may play. */
  you: Side[] = $state.raw([]);
  /** How the connection is. */
  link: "joining" | "here" | "lost" | "gone" = $state("joining");
  /** Why it is gone for good. */
  why = $state("");
  /** A move that the board shows and the server has not confirmed. */
  pending: Pending | null = $state.raw(null);
  /** When the clocks of the state were right. */
  heardAt = $state.raw(0);
  /** Messages on their way. */
  private waiting = new Map<number, Pending>();
  private socket: WebSocket | null = null;
  private pause = SHORTEST_PAUSE;
  private timer: number | undefined;
  private pulse: number | undefined;
  private lastHeard = 0;
  private ids = 0;
  private closed = false;
  /** The secret of its seat; null for who looks on. */
  secret: string | null;
  private everHere = false;

  constructor(
    readonly id: string,
    secret: string | null,
    private name: string | null,
    private ears: Ears,
  ) {
    this.secret = secret;
    addEventListener("online", this.hurry);
    addEventListener("offline", this.lose);
    document.addEventListener("visibilitychange", this.hurry);
    this.join();
  }

  /** Leaves the game alone. */
  close() {
    this.closed = true;
    removeEventListener("online", this.hurry);
    removeEventListener("offline", this.lose);
    document.removeEventListener("visibilitychange", this.hurry);
    clearTimeout(this.timer);
    clearInterval(this.pulse);
    this.socket?.close();
    this.socket = null;
  }

  /** The board as it is shown: with the move that is on its way. */
  get board(): string {
    return this.pending?.made?.board ?? this.state?.board ?? "";
  }

  /** All moves shown, the one on its way included. */
  get history(): Past[] {
    const past = this.state?.history ?? [];
    return this.pending?.made ? [...past, this.pending.made] : past;
  }

  /** Whether this tab may move now. */
  get isMyTurn(): boolean {
    const { state } = this;
    return !!state && !state.outcome && !this.pending && this.you.includes(state.side);
  }

  /** Makes a legal move: it is shown at once. */
  play(move: Legal, path: string[] = move.path) {
    const { state } = this;
    if (!state || !this.isMyTurn) return;
    const board = moved(state.board, path, move.captures);
    const made = { text: move.text, side: state.side, path, captures: move.captures, board };
    this.ears.moved(made, true);
    this.submit(move.text, made);
  }

  /** Tries a move that may be illegal: what the server says is told. */
  attempt(text: string) {
    if (!this.state || this.pending) return;
    if (this.link === "here") this.submit(text, null);
    else this.ears.refused("There is no connection to the server just now.", false);
  }

  private submit(text: string, made: Past | null) {
    const { state } = this;
    if (!state) return;
    const pending = { id: ++this.ids, version: state.version, text, made };
    this.waiting.set(pending.id, pending);
    if (made) this.pending = pending;
    this.say({ type: "move", version: state.version, move: text, id: pending.id });
  }

  resign = () => this.act({ type: "resign" });
  offer = (what: What) => this.act({ type: "offer", offer: what });
  accept = (what: What) => this.act({ type: "accept", offer: what });
  decline = (what: What) => this.act({ type: "decline", offer: what });

  private act(action: object) {
    if (!this.state) return;
    if (!this.say({ ...action, version: this.state.version, id: ++this.ids })) {
      this.ears.refused("There is no connection to the server just now.", false);
    }
  }

  private say(message: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN || this.link !== "here") return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Tries to join at once. */
  hurry = () => {
    if (this.link === "lost" && !document.hidden) this.join();
    else if (this.link === "here") this.ask();
  };

  private join() {
    clearTimeout(this.timer);
    this.drop();
    if (this.closed) return;
    const address = new URL(`/api/games/${encodeURIComponent(this.id)}/socket`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    // A server that takes the connection and says nothing is no server.
    this.timer = setTimeout(() => this.socket === socket && this.lose(), PATIENCE);
    socket.onopen = () => {
      const name = this.name ? { name: this.name } : {};
      const secret = this.secret ? { secret: this.secret } : {};
      socket.send(JSON.stringify({ type: "join", ...secret, ...name }));
    };
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      this.lastHeard = performance.now();
      this.hear(JSON.parse(event.data));
    };
    socket.onclose = (event) => this.socket === socket && this.left(event.code);
  }

  private drop() {
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }

  private left(code: number) {
    if (code === 4003 && this.secret) {
      this.secret = this.ears.wrongSecret(this.secret);
      const now = this.secret ? "you have your own seat" : "you are watching";
      this.ears.refused(`The link does not fit a seat of this game: ${now}.`, false);
      this.join();
      return;
    }
    const why = lostFor[code];
    if (why) return this.end(why);
    if (code === 4008) this.pause = LONGEST_PAUSE;
    this.lose();
    if (!this.everHere) void this.look();
  }

  private end(why: string) {
    this.link = "gone";
    this.why = why;
    this.drop();
    clearTimeout(this.timer);
    clearInterval(this.pulse);
  }

  /** A browser does not tell why a socket was not opened: perhaps there never was such a game. */
  private async look() {
    try {
      const found = await summaries([this.id]);
      if (found.length === 0 && !this.everHere && !this.closed) this.end(lostFor[4004] ?? "");
    } catch {
      // The server does not answer at all: joining goes on being tried.
    }
  }

  /** The connection is lost: join again after a pause that grows. */
  private lose = () => {
    if (this.closed || this.link === "gone") return;
    clearTimeout(this.timer);
    clearInterval(this.pulse);
    this.drop();
    this.link = this.everHere ? "lost" : this.pause > SHORTEST_PAUSE * 2 ? "lost" : "joining";
    this.timer = setTimeout(() => this.join(), this.pause * (0.75 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  };

  private ask() {
    const asked = performance.now();
    if (!this.say({ type: "ping" })) return;
    setTimeout(() => {
      if (this.link === "here" && this.lastHeard < asked) this.lose();
    }, PATIENCE);
  }

  // Every message is one of those of docs/server.md.
  private hear(message: any) {
    switch (message.type) {
      case "joined":
        this.you = message.you;
        this.ears.joined(message.you, this.secret);
        break;
      case "state":
        this.renew(message as State);
        break;
      case "moved":
        this.advance(message);
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
        this.ears.next(message.id);
        break;
      case "declined":
        this.ears.declined(sentence(message.text));
        break;
      case "done":
        this.waiting.delete(message.id);
        if (this.pending?.id === message.id) this.pending = null;
        break;
      case "refused":
        this.refuse(message);
        break;
    }
  }

  private renew(state: State) {
    const before = this.state;
    clearTimeout(this.timer);
    const rejoined = this.link !== "here";
    this.link = "here";
    this.everHere = true;
    this.pause = SHORTEST_PAUSE;
    this.heardAt = performance.now();
    this.state = state;
    if (rejoined) {
      clearInterval(this.pulse);
      this.pulse = setInterval(() => this.ask(), ASK_EVERY);
    }
    const { pending } = this;
    if (pending && pending.version !== state.version) this.pending = null;
    else if (pending && rejoined) {
      // It was on its way when the connection broke, and did not arrive.
      this.say({ type: "move", version: pending.version, move: pending.text, id: pending.id });
    }
    if (before) this.tellChange(before, state);
    this.tellOffers(before?.offers, state.offers);
    if (state.outcome && before && !before.outcome) this.ears.ended(state.outcome);
  }

  /** Says what is other in a fresh state, for those who do not see the board. */
  private tellChange(before: State, state: State) {
    const more = state.history.length - before.history.length;
    const isReopened = before.outcome && !state.outcome;
    if (more > 0) this.ears.changed("further", state.history.at(-1));
    else if (more < 0 || isReopened) this.ears.changed("back", state.history.at(-1));
  }

  private advance(message: any) {
    const { state, pending } = this;
    if (!state) return;
    const { type: _, move, ...view } = message;
    const mine = pending?.made?.text === move.text && pending?.version === state.version;
    this.heardAt = performance.now();
    this.state = { ...state, ...view, history: [...state.history, move] };
    this.pending = null;
    if (!mine) this.ears.moved(move, false);
    if (message.outcome) this.ears.ended(message.outcome);
  }

  private change(part: Partial<State>) {
    if (!this.state) return;
    const before = this.state.offers;
    this.state = { ...this.state, ...part };
    this.tellOffers(before, this.state.offers);
  }

  private tellOffers(before: State["offers"] | undefined, now: State["offers"]) {
    const kinds: [What, keyof State["offers"]][] = [
      ["draw", "draw"],
      ["take-back", "take_back"],
      ["rematch", "rematch"],
    ];
    for (const [what, key] of kinds) {
      const by = now[key];
      if (by && by !== before?.[key] && !this.you.includes(by)) this.ears.offered(what, by);
    }
  }

  private refuse(message: { id: number | null; code: string; reason: string }) {
    const own = message.id === null ? undefined : this.waiting.get(message.id);
    if (message.id !== null) this.waiting.delete(message.id);
    const wasShown = !!own?.made && this.pending?.id === own.id;
    if (wasShown) this.pending = null;
    const isStale = message.code === "stale";
    const reason = isStale ? "The game has gone on meanwhile: look again." : message.reason;
    this.ears.refused(sentence(reason), wasShown);
  }
}
