// Measures the page in a real browser: its size, how soon it can be used, and how smoothly a piece is
// dragged with the processor slowed four times. Figures, not a test: `node bench.js [rounds]`.
import { readFileSync, readdirSync } from "node:fs";
import { loadavg } from "node:os";
import { gzipSync } from "node:zlib";
import * as lab from "./tests/harness.js";

const rounds = Number(process.argv[2] ?? 11);
const dist = new URL("dist/", import.meta.url);

let total = 0;
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const size = gzipSync(readFileSync(`${entry.parentPath}/${entry.name}`), { level: 9 }).length;
  total += size;
  console.log(`${entry.name.padEnd(28)} ${(size / 1000).toFixed(1).padStart(6)} kB compressed`);
}
console.log(`${"in all".padEnd(28)} ${(total / 1000).toFixed(1).padStart(6)} kB`);

const server = await lab.Server.start();
const browser = await lab.launch();
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Milliseconds from the beginning of the navigation until something is there, in a fresh browser profile. */
async function until(path, selector) {
  const page = await lab.visitor(browser, server.address);
  await page.addInitScript((selector) => {
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look);
      window.usable = performance.now();
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(path);
  await page.waitForFunction(() => window.usable);
  const time = await page.evaluate(() => window.usable);
  await page.context().close();
  return time;
}

async function usable(name, path, selector) {
  const times = [];
  for (let i = 0; i < rounds; i++) times.push(await until(await path(), selector));
  const [least, most] = [Math.min(...times), Math.max(...times)].map(Math.round);
  console.log(`${name}: usable after ${Math.round(middle(times))} ms (median of ${rounds}, ${least} to ${most})`);
}
await usable("start page", async () => "/", "form .button.main");
await usable(
  "game page",
  async () => (await server.game({ game: "english", mode: "hotseat" })).seat,
  ".cell.movable",
);

for (const slowed of [1, 4]) {
  const page = await lab.visitor(browser, server.address);
  await page.goto((await server.game({ game: "english", mode: "hotseat" })).seat);
  await page.locator(".cell.movable").first().waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowed });
  const from = await lab.cell(page, "36").boundingBox();
  const [x, y] = [from.x + from.width / 2, from.y + from.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 10, y + 10);
  await page.evaluate(() => {
    window.frames = [];
    const note = (time) => {
      window.frames.push(time);
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  const end = performance.now() + 4000;
  for (let i = 0; performance.now() < end; i++) {
    await page.mouse.move(x + Math.sin(i / 12) * 180, y - 150 + Math.cos(i / 12) * 150);
  }
  const frames = await page.evaluate(() => window.frames);
  await page.mouse.up();
  const gaps = frames.slice(1).map((time, i) => time - frames[i]);
  const rate = (1000 * gaps.length) / (frames.at(-1) - frames[0]);
  const late = gaps.filter((gap) => gap > 25).length;
  console.log(
    `dragging, processor slowed ${slowed} times: ${rate.toFixed(1)} frames a second, ` +
      `median ${middle(gaps).toFixed(1)} ms, ${late} of ${gaps.length} later than 25 ms`,
  );
  await page.context().close();
}
console.log(`load while measuring: ${loadavg().map((own) => own.toFixed(1)).join(" ")}`);
await browser.close();
await server.stop();
