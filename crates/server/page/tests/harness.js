/**
 * What the tests are made with: the real server, a real browser, a wire between them that can be cut,
 * and hands that play by mouse, touch and keyboard.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const top = fileURLToPath(new URL("../../../../", import.meta.url));
const program = process.env.CROWNHEAD ?? join(top, "target/debug/crownhead");
const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** `crownhead serve`, with games in a folder of its own. */
export class Server {
  static async start() {
    if (!existsSync(program)) throw new Error(`${program} is missing: cargo build`);
    const server = new Server();
    server.data = mkdtempSync(join(tmpdir(), "crownhead-page-"));
    await server.#run(0);
    return server;
  }

  async #run(port) {
    const options = { stdio: ["ignore", "pipe", "pipe"] };
    const given = ["serve", "--port", String(port), "--data", this.data];
    this.process = spawn(program, given, options);
    this.said = "";
    this.process.stderr.on("data", (text) => (this.said += text));
    const lines = createInterface({ input: this.process.stdout });
    const ended = once(this.process, "exit").then(([code]) => {
      throw new Error(`the server ended with ${code}: ${this.said}`);
    });
    ended.catch(() => {});
    const [address] = await Promise.race([once(lines, "line"), ended]);
    this.address = address.replace(/\/$/, "");
    this.port = Number(new URL(address).port);
  }

  /** Ends it as a power failure would. */
  async kill() {
    const gone = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await gone;
  }

  /** Starts it again, with the same games at the same address. */
  restart() {
    return this.#run(this.port);
  }

  async stop() {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  async ask(path, body) {
    const answer = await fetch(this.address + path, {
      method: body ? "POST" : "GET",
      headers: body ? { "content-type": "application/json" } : {},
      body: body && JSON.stringify(body),
    });
    return answer.json();
  }

  /** The position after some moves, by the rules. */
  position(game, moves) {
    return this.ask("/api/position", { game, moves });
  }

  /** A new game, and the address that takes its seat. */
  async game(wish) {
    const made = await this.ask("/api/games", wish);
    if (!made.id) throw new Error(JSON.stringify(made));
    return { ...made, seat: `/game/${made.id}#${made.secret}`, watch: `/game/${made.id}` };
  }
}

/** A wire to the server that can be cut, and held. */
export class Wire {
  static async to(server) {
    const wire = new Wire();
    wire.pairs = new Set();
    wire.isCut = false;
    wire.listener = net.createServer((near) => {
      if (wire.isCut) return near.destroy();
      const far = net.connect(server.port, "127.0.0.1");
      const pair = [near, far];
      wire.pairs.add(pair);
      const end = () => {
        near.destroy();
        far.destroy();
        wire.pairs.delete(pair);
      };
      for (const socket of pair) socket.on("error", end).on("close", end);
      near.on("data", (data) => far.write(data));
      far.on("data", (data) => near.write(data));
    });
    await new Promise((done) => wire.listener.listen(0, "127.0.0.1", done));
    wire.address = `http://127.0.0.1:${wire.listener.address().port}`;
    return wire;
  }

  cut() {
    this.isCut = true;
    for (const pair of this.pairs) pair[0].destroy();
  }

  mend() {
    this.isCut = false;
  }

  /** Nothing passes, but nobody is told. */
  hold() {
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  release() {
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  close() {
    this.cut();
    this.listener.close();
  }
}

export function launch() {
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export const desk = { viewport: { width: 1280, height: 800 } };
export const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
export const still = { reducedMotion: "reduce" };

/** A page of somebody new. What the browser complains about (a policy broken, say) is kept. */
export async function visitor(browser, address, options = {}) {
  const context = await browser.newContext({ ...desk, ...options, baseURL: address });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("console", (message) => {
    // A server that is away is what some tests are about.
    const isNetwork = /WebSocket connection|Failed to load resource|ERR_CONNECTION/.test(message.text());
    if (message.type() === "error" && !isNetwork) page.complaints.push(message.text());
  });
  return page;
}

// What a person sees.
export const cell = (page, name) => page.locator(`[data-cell="${name}"]`);
export const movesShown = (page) =>
  page.evaluate(() => [...document.querySelectorAll(".moves li button")].map((own) => own.textContent.trim()));
export const piecesShown = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("[data-cell]")]
      .map((own) => `${own.dataset.cell} ${own.getAttribute("aria-label").replace(/^[^:]*: /, "")}`)
      .filter((text) => !/empty|not played on/.test(text))
      .map((text) => text.replace(/,.*/, ""))
      .sort(),
  );

/** Waits until so many moves are on the list. */
export const untilMoves = (page, count) =>
  page.waitForFunction(
    (count) => document.querySelectorAll(".moves li button").length >= count,
    count,
  );

/** Waits until it is somebody's turn here, or the game is over; true while it goes on. */
export async function untilTurn(page) {
  await page.waitForFunction(
    () =>
      document.querySelector(".status.over") ||
      document.querySelector(".cell.movable") ||
      [...document.querySelectorAll("button")].some((own) => own.textContent.trim() === "Pass"),
  );
  return (await page.locator(".status.over").count()) === 0;
}

async function middle(page, name) {
  return page.evaluate((name) => {
    const element = document.querySelector(`[data-cell="${name}"]`);
    const box = element.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }, name);
}

/** Hands: each chooses cells in turn, its own way. */
export function mouse(page) {
  return {
    async choose(name) {
      const { x, y } = await middle(page, name);
      await page.mouse.click(x, y);
    },
    async drag(from, to) {
      const [a, b] = [await middle(page, from), await middle(page, to)];
      await page.mouse.move(a.x, a.y);
      await page.mouse.down();
      await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2);
      await page.mouse.move(b.x, b.y);
      await page.mouse.up();
    },
  };
}

export async function touch(page) {
  const devtools = await page.context().newCDPSession(page);
  const send = (type, ...touchPoints) =>
    devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
  return {
    async choose(name) {
      const { x, y } = await middle(page, name);
      await page.touchscreen.tap(x, y);
    },
    async drag(from, to) {
      const [a, b] = [await middle(page, from), await middle(page, to)];
      await send("touchStart", a);
      for (const part of [0.2, 0.5, 0.8, 1]) {
        await send("touchMove", { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });
      }
      await send("touchEnd");
    },
  };
}

export function keyboard(page) {
  const focused = () => page.evaluate(() => document.activeElement?.dataset?.cell ?? null);
  return {
    async choose(name) {
      if (!(await focused())) await page.locator('[role="gridcell"][tabindex="0"]').focus();
      const at = await focused();
      const turn = await page.evaluate(() => document.querySelector("[data-cell]").dataset.cell === "88" ? -1 : 1);
      const rows = (Number(name[0]) - Number(at[0])) * turn;
      const columns = (Number(name[1]) - Number(at[1])) * turn;
      for (let i = 0; i < Math.abs(rows); i++) await page.keyboard.press(rows > 0 ? "ArrowDown" : "ArrowUp");
      for (let i = 0; i < Math.abs(columns); i++) await page.keyboard.press(columns > 0 ? "ArrowRight" : "ArrowLeft");
      await page.keyboard.press("Enter");
    },
  };
}

/**
 * Makes a move by hand, as a person would: the end is enough where it says which move it is. A piece that is
 * dropped where it may end has ended there.
 */
export async function makeMove(page, hand, move, legal = null) {
  const before = (await movesShown(page)).length;
  const isMade = async () => (await movesShown(page)).length > before;
  if (move.path.length === 0) {
    await page.getByRole("button", { name: "Pass", exact: true }).click();
    return;
  }
  const steps = move.captures.length > 0 ? move.path.slice(1) : [move.to];
  const [first, ...rest] = steps;
  const endsThere = (own) => own.from === move.from && own.to === first;
  const canDrag = legal && (first === move.to || !legal.some(endsThere));
  if (canDrag && hand.drag) await hand.drag(move.from, first);
  else {
    await hand.choose(move.from);
    await hand.choose(first);
  }
  for (const step of rest) {
    if (await isMade()) return;
    await hand.choose(step);
  }
  // Where it could go on, its end chosen again ends it.
  if (!(await isMade())) await hand.choose(move.to);
  if (!(await isMade())) throw new Error(`${move.text} was not made`);
}

/** A move that gets on: towards the target in the games that have one, else any, the same each time. */
export function goodMove(kind, view, count) {
  if (!kind.targets) return view.legal[(count * 7 + 3) % view.legal.length];
  const isFirst = view.side === kind.sides[0].letter;
  const goals = kind.targets[isFirst ? 0 : 1];
  const free = goals.filter((goal) => {
    const letter = view.board[(goal[0] - 1) * 8 + (goal[1] - 1)];
    return letter !== view.side;
  });
  const far = (name) =>
    Math.min(...(goals.includes(name) ? [0] : free.length ? free : goals).map((goal) =>
      goal === 0 ? 0 : Math.max(Math.abs(goal[0] - name[0]), Math.abs(goal[1] - name[1])),
    ));
  const depth = (name) => (kind.id === "chinese-checkers" ? Math.abs(name[0] - (isFirst ? 8 : 1)) + Math.abs(name[1] - (isFirst ? 8 : 1)) : 0);
  const gain = (move) =>
    move.path.length === 0 ? 0 : (far(move.from) - far(move.to)) * 10 + (depth(move.from) - depth(move.to));
  const best = Math.max(...view.legal.map(gain));
  const choices = view.legal.filter((move) => gain(move) === best);
  return best > 0 ? choices[count % choices.length] : view.legal[(count * 7 + 3) % view.legal.length];
}

/** Plays a game to its end on the page, for every side that the page may move. */
export async function playToTheEnd(server, page, kind, hand, { drags = false, most = 450 } = {}) {
  for (let count = 0; count < most; count++) {
    if (!(await untilTurn(page))) return count;
    const moves = await movesShown(page);
    const view = await server.position(kind.id, moves);
    await makeMove(page, hand, goodMove(kind, view, count), drags && count % 2 === 1 ? view.legal : null);
  }
  throw new Error(`the game did not end in ${most} moves`);
}
