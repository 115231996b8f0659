// Measures the page in a real browser: its size, the time until it is usable, the speed of the engine
// against the program itself, the longest task while it searches, and the frame rate of a drag at
// normal and at quarter CPU speed; then a report of 3,540 games: the time to write it, its
// size, and the time until it is usable. Usage: node bench.js [ROUNDS]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import * as harness from "./tests/harness.js";

const rounds = Number(process.argv[2] ?? 11);
const dist = new URL("dist/", import.meta.url);

let total = 0;
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const size = gzipSync(readFileSync(`${entry.parentPath}/${entry.name}`), { level: 9 }).length;
  // Browsers load icons only to install the app; few visitors look at a fleet.
  if (!/\.png$|^fleet-/i.test(entry.name)) total += size;
  console.log(`${entry.name.padEnd(28)} ${(size / 1000).toFixed(1).padStart(6)} kB gzipped`);
}
console.log(
  `${"total without icons and fleet".padEnd(28)} ${(total / 1000).toFixed(1).padStart(6)} kB`,
);

const server = await harness.Server.start();
const browser = await harness.launchBrowser();
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const newGame = () => server.createGame({ game: "english", mode: "hotseat" });

/** Milliseconds from navigation until an element exists, in a fresh browser profile. */
async function timeUntil(path, selector) {
  const page = await harness.openPage(browser, server.address);
  await page.addInitScript((selector) => {
    const check = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(check);
      window.usableAt = performance.now();
    };
    requestAnimationFrame(check);
  }, selector);
  await page.goto(path);
  await page.waitForFunction(() => window.usableAt);
  const time = await page.evaluate(() => window.usableAt);
  await page.context().close();
  return time;
}

async function measureLoad(name, getPath, selector) {
  const times = [];
  for (let i = 0; i < rounds; i++) times.push(await timeUntil(await getPath(), selector));
  const [min, max] = [Math.min(...times), Math.max(...times)].map(Math.round);
  const middle = Math.round(median(times));
  console.log(`${name}: usable after ${middle} ms (median of ${rounds}, ${min} to ${max})`);
}
await measureLoad("home page", async () => "/", "form .button.main");
await measureLoad("game page", async () => (await newGame()).seatPath, ".cell.movable");

await measureLoad("analysis board", async () => "/analyse", ".engine ol button");

/** Million nodes per second of `crownhead bench`, in the page and by the program. */
async function measureEngine() {
  const worker = readdirSync(new URL("assets/", dist)).find((name) => name.startsWith("worker-"));
  const page = await harness.openPage(browser, server.address);
  await page.goto("/rules");
  const inPage = (game) =>
    page.evaluate(
      async ([worker, game]) => {
        const module = await WebAssembly.compileStreaming(fetch("/crownhead.wasm"));
        const engine = new Worker(`/assets/${worker}`, { type: "module" });
        engine.postMessage({ module, stopped: null });
        engine.postMessage({ id: 1, request: { call: "bench", game } });
        const data = await new Promise((resolve) => {
          engine.onmessage = ({ data }) => resolve(data);
        });
        engine.terminate();
        const { value } = JSON.parse(data.message);
        return value.nodes / value.seconds / 1e6;
      },
      [worker, game],
    );
  const native = JSON.parse(
    execFileSync(harness.program, ["bench", "--json"], { encoding: "utf8" }),
  );
  for (const { game, nodes, seconds } of native.games) {
    const speed = await inPage(game);
    const share = Math.round((100 * speed) / (nodes / seconds / 1e6));
    console.log(
      `engine, ${game}: ${speed.toFixed(1)} million nodes/s, ` +
        `the program ${(nodes / seconds / 1e6).toFixed(1)} (${share} %)`,
    );
  }
  await page.context().close();
}
await measureEngine();

/** The longest task of the main thread while the engine searches for five seconds. */
async function measureLongTask() {
  const page = await harness.openPage(browser, server.address);
  await page.goto("/analyse");
  await page.locator(".engine ol button").first().waitFor();
  const longest = await page.evaluate(async () => {
    let longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ type: "longtask" });
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return longest;
  });
  const text = longest > 0 ? `${Math.round(longest)} ms` : "below 50 ms";
  console.log(`longest task while the engine searches: ${text}`);
  await page.context().close();
}
await measureLongTask();

for (const slowdown of [1, 4]) {
  const page = await harness.openPage(browser, server.address);
  await page.goto((await newGame()).seatPath);
  await page.locator(".cell.movable").first().waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const from = await harness.cell(page, "36").boundingBox();
  const [x, y] = [from.x + from.width / 2, from.y + from.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 10, y + 10);
  await page.evaluate(() => {
    window.frameTimes = [];
    const record = (time) => {
      window.frameTimes.push(time);
      requestAnimationFrame(record);
    };
    requestAnimationFrame(record);
  });
  const end = performance.now() + 4000;
  for (let i = 0; performance.now() < end; i++) {
    await page.mouse.move(x + Math.sin(i / 12) * 180, y - 150 + Math.cos(i / 12) * 150);
  }
  const frames = await page.evaluate(() => window.frameTimes);
  await page.mouse.up();
  const gaps = frames.slice(1).map((time, i) => time - frames[i]);
  const rate = (1000 * gaps.length) / (frames.at(-1) - frames[0]);
  const slow = gaps.filter((gap) => gap > 25).length;
  console.log(
    `drag at 1/${slowdown} CPU speed: ${rate.toFixed(1)} frames per second, ` +
      `median ${median(gaps).toFixed(1)} ms, ${slow} of ${gaps.length} above 25 ms`,
  );
  await page.context().close();
}
const folder = mkdtempSync(join(tmpdir(), "crownhead-bench-"));
const crownhead = (...args) =>
  execFileSync(harness.program, args, { cwd: folder, stdio: "ignore" });
const players = Array.from({ length: 60 }, (_, i) => {
  const player = i % 2 === 0 ? "random" : "minimax:1";
  return `{ name = "Student ${i + 1}", player = "${player}" }`;
});
const settings = `game = "english"\nopenings = "random:4"\nconcurrency = 2\n`;
writeFileSync(join(folder, "class.toml"), `${settings}players = [${players.join(", ")}]\n`);
crownhead("tournament", "run", "class.toml");
const start = performance.now();
crownhead("tournament", "report", "class.toml", "--html", "out");
const seconds = (performance.now() - start) / 1000;
const sizes = readdirSync(join(folder, "out")).map(
  (name) => statSync(join(folder, "out", name)).size,
);
const megabytes = sizes.reduce((sum, size) => sum + size) / 1e6;
console.log(`report of 3540 games: ${seconds.toFixed(1)} s, ${megabytes.toFixed(1)} MB`);
const report = pathToFileURL(join(folder, "out/index.html")).href;
await measureLoad("report", async () => report, "#game-table tbody tr");
rmSync(folder, { recursive: true });

const load = loadavg().map((value) => value.toFixed(1));
console.log(`load average: ${load.join(" ")}`);
await browser.close();
await server.stop();
