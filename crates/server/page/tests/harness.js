/**
 * Test harness: a real server, a real browser, a proxy between them that can fail, and input by
 * mouse, touch and keyboard.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import firefox from "puppeteer-core";

/** A golden file of the server's tests. */
export const golden = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/golden/${name}.json`, import.meta.url), "utf8"));

export const root = fileURLToPath(new URL("../../../../", import.meta.url));
export const program = process.env.CROWNHEAD ?? join(root, "target/debug/crownhead");
const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const firefoxPath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** `crownhead serve` with a temporary data directory. */
export class Server {
  /** `cache`: a directory with tables. By default there are none. `args`: more options. */
  static async start({ cache, args = [] } = {}) {
    if (!existsSync(program)) throw new Error(`${program} is missing: run cargo build`);
    const server = new Server();
    server.data = mkdtempSync(join(tmpdir(), "crownhead-page-"));
    server.args = args;
    server.cache = cache ?? join(server.data, "cache");
    await server.#run(0);
    return server;
  }

  async #run(port) {
    const args = ["serve", "--port", String(port), "--data", this.data, ...this.args];
    const env = { ...process.env, CROWNHEAD_CACHE: this.cache };
    this.process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
    let errors = "";
    this.process.stderr.on("data", (text) => (errors += text));
    const lines = createInterface({ input: this.process.stdout });
    const exit = once(this.process, "exit").then(([code]) => {
      throw new Error(`the server exited with ${code}: ${errors}`);
    });
    exit.catch(() => {});
    const [address] = await Promise.race([once(lines, "line"), exit]);
    this.address = address.replace(/\/$/, "");
    this.port = Number(new URL(address).port);
  }

  /** Kills the process, as a power failure would. */
  async kill() {
    const exit = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await exit;
  }

  /** Starts it again with the same games and address. */
  restart() {
    return this.#run(this.port);
  }

  async stop() {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  async request(path, body) {
    const response = await fetch(this.address + path, {
      method: body ? "POST" : "GET",
      headers: body ? { "content-type": "application/json" } : {},
      body: body && JSON.stringify(body),
    });
    return response.json();
  }

  /** The position after some moves. */
  position(game, moves) {
    return this.request("/api/position", { game, moves });
  }

  /** Why a move is illegal, as the page shows it. */
  async illegalReason(game, position, move) {
    const { error } = await this.request("/api/position", { game, position, moves: [move] });
    return error.reason.charAt(0).toUpperCase() + error.reason.slice(1);
  }

  /** Creates a game. Returns it with the paths to play and to watch it. */
  async createGame(request) {
    const game = await this.request("/api/games", request);
    if (!game.id) throw new Error(JSON.stringify(game));
    return {
      ...game,
      seatPath: `/game/${game.id}#${game.secret}`,
      friendPath: `/game/${game.id}#${game.friend}`,
      watchPath: `/game/${game.id}`,
    };
  }
}

/** A proxy in front of the server whose connections can be cut or stalled. */
export class Proxy {
  static async to(server) {
    const proxy = new Proxy();
    proxy.connections = new Set();
    proxy.isCut = false;
    proxy.listener = net.createServer((client) => {
      if (proxy.isCut) return client.destroy();
      const upstream = net.connect(server.port, "127.0.0.1");
      const connection = [client, upstream];
      proxy.connections.add(connection);
      const end = () => {
        client.destroy();
        upstream.destroy();
        proxy.connections.delete(connection);
      };
      for (const socket of connection) socket.on("error", end).on("close", end);
      client.on("data", (data) => upstream.write(data));
      upstream.on("data", (data) => client.write(data));
    });
    await new Promise((resolve) => proxy.listener.listen(0, "127.0.0.1", resolve));
    proxy.address = `http://127.0.0.1:${proxy.listener.address().port}`;
    return proxy;
  }

  /** Drops all connections and refuses new ones. */
  cut() {
    this.isCut = true;
    for (const [client] of this.connections) client.destroy();
  }

  restore() {
    this.isCut = false;
  }

  /** Stops forwarding without closing anything. */
  stall() {
    for (const connection of this.connections) for (const socket of connection) socket.pause();
  }

  resume() {
    for (const connection of this.connections) for (const socket of connection) socket.resume();
  }

  close() {
    this.cut();
    this.listener.close();
  }
}

export function launchBrowser() {
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

/** Firefox, driven by WebDriver BiDi. */
export function launchFirefox() {
  return firefox.launch({ browser: "firefox", executablePath: firefoxPath, headless: true });
}

/**
 * A server and a browser for a test file, stopped after its tests. `open` shows a path of the server
 * in a fresh browser profile; `openGame` creates a game, with two players on one screen unless the
 * request says otherwise, and waits for its board.
 */
export async function startServerAndBrowser(options) {
  const server = await Server.start(options);
  const browser = await launchBrowser();
  after(async () => {
    await browser.close();
    await server.stop();
  });
  const open = async (path, options = {}) => {
    const page = await openPage(browser, server.address, { ...REDUCED_MOTION, ...options });
    await page.goto(path);
    return page;
  };
  const openGame = async (request, options) => {
    const game = await server.createGame({ mode: "hotseat", ...request });
    const page = await open(game.seatPath, options);
    await page.locator("[role=grid]").waitFor();
    return page;
  };
  /** The analysis board, with its engine off unless `engine` says otherwise. */
  const openAnalysis = async (link = "", { engine = false, ...options } = {}) => {
    const page = await openPage(browser, server.address, { ...REDUCED_MOTION, ...options });
    await page.addInitScript((isOn) => {
      const key = "crownhead.engine";
      if (!localStorage.getItem(key)) localStorage.setItem(key, JSON.stringify({ isOn }));
    }, engine);
    await page.goto(`/analyse${link && `#${link}`}`);
    await page.locator("[role=grid]").waitFor();
    return page;
  };
  return { server, browser, open, openGame, openAnalysis };
}

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
export const REDUCED_MOTION = { reducedMotion: "reduce" };

/** A page in a fresh browser profile. `page.errors` collects script errors and CSP violations. */
export async function openPage(browser, address, options = {}) {
  // The service worker has tests of its own.
  const defaults = { ...DESKTOP, serviceWorkers: "block" };
  const context = await browser.newContext({ ...defaults, ...options, baseURL: address });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  page.on("console", (message) => {
    // Some tests stop the server on purpose.
    const isNetwork = /WebSocket connection|Failed to load resource|ERR_CONNECTION/.test(
      message.text(),
    );
    if (message.type() === "error" && !isNetwork) page.errors.push(message.text());
  });
  return page;
}

export const cell = (page, name) => page.locator(`[data-cell="${name}"]`);

/** Texts of the move list. */
export const shownMoves = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".moves li button")].map((button) => button.textContent.trim()),
  );

/** Pieces on the board, as in "36 Black man". */
export const shownPieces = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("[data-cell]")]
      .map((cell) => [cell.dataset.cell, cell.getAttribute("aria-label").replace(/^[^:]*: /, "")])
      .filter(([, text]) => !/empty|not in play/.test(text))
      .map(([name, text]) => `${name} ${text.replace(/,.*/, "")}`)
      .sort(),
  );

/** The move tree of the analysis board: rows of the main line, comments and variations. */
export const shownTree = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".tree > *")].map((row) =>
      row.innerText.replace(/\s+/g, " ").trim(),
    ),
  );

/** Plays moves on the board, given as cells. */
export async function playCells(page, ...moves) {
  const input = mouse(page);
  for (const [from, to] of moves) {
    await cell(page, from).and(page.locator(".movable")).waitFor();
    await input.select(from);
    await input.select(to);
  }
}

/** Waits until the move list has at least this many moves. */
export const waitForMoves = (page, count) =>
  page.waitForFunction(
    (count) => document.querySelectorAll(".moves li button").length >= count,
    count,
  );

/** Waits until the user can move or the game is over. Returns whether it is still in progress. */
export async function waitForTurn(page) {
  await page.waitForFunction(
    () =>
      document.querySelector(".status.over") ||
      document.querySelector(".cell.movable") ||
      [...document.querySelectorAll("button")].some(
        (button) => button.textContent.trim() === "Pass",
      ),
  );
  return (await page.locator(".status.over").count()) === 0;
}

async function centre(page, name) {
  return page.evaluate((name) => {
    const box = document.querySelector(`[data-cell="${name}"]`).getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }, name);
}

// Input devices: each can select a cell, and some can drag a piece.

export function mouse(page) {
  return {
    async select(name) {
      const { x, y } = await centre(page, name);
      await page.mouse.click(x, y);
    },
    async drag(from, to) {
      const [a, b] = [await centre(page, from), await centre(page, to)];
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
    async select(name) {
      const { x, y } = await centre(page, name);
      await page.touchscreen.tap(x, y);
    },
    async drag(from, to) {
      const [a, b] = [await centre(page, from), await centre(page, to)];
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
  const press = async (key, count) => {
    for (let i = 0; i < count; i++) await page.keyboard.press(key);
  };
  return {
    async select(name) {
      if (!(await focused())) await page.locator('[role="gridcell"][tabindex="0"]').focus();
      const from = await focused();
      const isFlipped = await page.evaluate(
        () => document.querySelector("[data-cell]").dataset.cell === "88",
      );
      const sign = isFlipped ? -1 : 1;
      const rows = (Number(name[0]) - Number(from[0])) * sign;
      const columns = (Number(name[1]) - Number(from[1])) * sign;
      await press(rows > 0 ? "ArrowDown" : "ArrowUp", Math.abs(rows));
      await press(columns > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(columns));
      await page.keyboard.press("Enter");
    },
  };
}

/**
 * Plays a move as a person would: by its end cell, or step by step if it captures. If `legal` is
 * given the piece is dragged, unless dropping it on its first step would play another move.
 */
export async function makeMove(page, input, move, legal = null) {
  const before = (await shownMoves(page)).length;
  const isPlayed = async () => (await shownMoves(page)).length > before;
  if (move.path.length === 0) {
    await page.getByRole("button", { name: "Pass", exact: true }).click();
    return;
  }
  const [first, ...rest] = move.captures.length > 0 ? move.path.slice(1) : [move.to];
  const endsAtFirst = (other) => other.from === move.from && other.to === first;
  const canDrag = legal && (first === move.to || !legal.some(endsAtFirst));
  if (canDrag && input.drag) await input.drag(move.from, first);
  else {
    await input.select(move.from);
    await input.select(first);
  }
  for (const step of rest) {
    if (await isPlayed()) return;
    await input.select(step);
  }
  // Where the move could continue, selecting its end again stops it.
  if (!(await isPlayed())) await input.select(move.to);
  if (!(await isPlayed())) throw new Error(`${move.text} was not played`);
}

/** A move that makes progress: towards the targets if the game has any, else a fixed choice. */
export function pickMove(game, view, count) {
  const fallback = view.legal[(count * 7 + 3) % view.legal.length];
  if (!game.targets) return fallback;
  const isFirst = view.side === game.sides[0].letter;
  const targets = game.targets[isFirst ? 0 : 1];
  const isFree = ([row, column]) => view.board[(row - 1) * 8 + (column - 1)] !== view.side;
  const free = targets.filter(isFree);
  const distance = (a, b) => Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]));
  const distanceToTarget = (name) => {
    if (targets.includes(name)) return 0;
    return Math.min(...(free.length ? free : targets).map((target) => distance(name, target)));
  };
  // In Chinese checkers pieces must also make room in the opposite corner.
  const corner = isFirst ? 8 : 1;
  const distanceToCorner = (name) =>
    game.id === "chinese-checkers" ? Math.abs(name[0] - corner) + Math.abs(name[1] - corner) : 0;
  const gain = ({ path, from, to }) =>
    path.length === 0
      ? 0
      : (distanceToTarget(from) - distanceToTarget(to)) * 10 +
        (distanceToCorner(from) - distanceToCorner(to));
  const best = Math.max(...view.legal.map(gain));
  const choices = view.legal.filter((move) => gain(move) === best);
  return best > 0 ? choices[count % choices.length] : fallback;
}

/** Plays a game to its end, for every side that the page may move. */
export async function playToEnd(server, page, game, input, { drags = false, max = 450 } = {}) {
  for (let count = 0; count < max; count++) {
    if (!(await waitForTurn(page))) return;
    const view = await server.position(game.id, await shownMoves(page));
    const isDragged = drags && count % 2 === 1;
    await makeMove(page, input, pickMove(game, view, count), isDragged ? view.legal : null);
  }
  throw new Error(`the game did not end within ${max} moves`);
}
