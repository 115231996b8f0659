// The engine: in a worker, loaded when it is needed, offline, and on the server.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as harness from "./harness.js";

const { server, browser, open, openAnalysis } = await harness.startServerAndBrowser();

const dist = new URL("../dist/", import.meta.url);
const compressed = (url) => gzipSync(readFileSync(url), { level: 9 }).length;
const line = (page) =>
  page.getByRole("list", { name: "Best lines" }).getByRole("button").first().waitFor();
const isEngine = (url) => new URL(url).pathname === "/crownhead.wasm";

test("the page is below 100 kB compressed without the engine and the fleet, the engine below 1.5 MB", () => {
  const files = readdirSync(dist, { recursive: true, withFileTypes: true });
  // Who starts a fleet looks at its page; visitors do not.
  const sizes = files
    .filter((file) => file.isFile() && /\.(html|js|css|svg)$/.test(file.name))
    .filter((file) => !/^fleet-/i.test(file.name))
    .map((file) => compressed(`${file.parentPath}/${file.name}`));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(sizes.length > 5 && total < 100_000, `the page has ${total} bytes`);
  const engine = compressed(new URL("../../engine/crownhead.wasm", import.meta.url));
  assert.ok(engine < 1_500_000, `the engine has ${engine} bytes`);
});

test("the engine is loaded for the analysis board only, and once", async () => {
  const page = await open("/");
  const loaded = [];
  page.on("request", (request) => isEngine(request.url()) && loaded.push(request.url()));
  await page.getByText("Strength").waitFor();
  await page.goto((await server.createGame({ game: "english", mode: "hotseat" })).seatPath);
  await page.locator(".cell.movable").first().waitFor();
  for (const name of ["Puzzles", "Rules"]) {
    await page.getByRole("link", { name, exact: true }).first().click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
  }
  assert.deepEqual(loaded, []);
  const response = page.waitForResponse((response) => isEngine(response.url()));
  await page.getByRole("link", { name: "Analyse", exact: true }).click();
  const headers = await (await response).allHeaders();
  assert.equal(headers["content-type"], "application/wasm");
  assert.equal(headers["content-encoding"], "gzip");
  await line(page);
  assert.equal(loaded.length, 1);
  await page.context().close();
});

// bench.js measures the longest task; on a busy machine any task may be long.
test("the search runs in a worker and leaves the page free", async () => {
  const page = await openAnalysis("game=english");
  await page.evaluate(() => {
    window.instances = 0;
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (...args) => {
      window.instances += 1;
      return instantiate(...args);
    };
  });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  /** Time now, and how long scripts of the main thread have run; those of workers do not count. */
  const measure = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    const value = (name) => metrics.find((metric) => metric.name === name).value;
    return { now: value("Timestamp"), scripts: value("ScriptDuration") };
  };
  const before = await measure();
  await page.getByRole("switch", { name: "Engine" }).click();
  await page.waitForFunction(() => {
    const depth = document.querySelector(".engine").innerText.match(/depth (\d+)/)?.[1];
    return Number(depth) >= 17;
  });
  const { now, scripts } = await measure();
  const share = (scripts - before.scripts) / (now - before.now);
  assert.ok(share < 0.5, `scripts took ${Math.round(100 * share)} % of the time`);
  assert.equal(page.workers().length, 2, "one searches, another answers short questions");
  assert.equal(await page.evaluate(() => window.instances), 0);
  await page.context().close();
});

test("a search ends when the position changes, the engine is turned off or the page is left", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  await line(page);
  assert.ok(
    await page.evaluate(() => crossOriginIsolated),
    "a search is stopped without a new worker",
  );
  const workers = page.workers();
  await harness.playCells(page, ["36", "45"]);
  await line(page);
  assert.deepEqual(page.workers(), workers);
  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await page.getByRole("heading", { name: "Rules", exact: true }).waitFor();
  assert.equal(page.workers().length, 0);
  await page.context().close();
});

test("the server's engine is a choice, and its search is cancelled when nobody watches", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  const sent = [];
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => sent.push(JSON.parse(payload))),
  );
  await page.getByLabel("Engine settings").click();
  const socket = page.waitForEvent("websocket");
  await page.getByRole("combobox", { name: "Engine" }).selectOption("server");
  assert.match((await socket).url(), /\/api\/analysis\/socket$/);
  await page.keyboard.press("Escape");
  await line(page);
  await page.getByRole("region", { name: "Engine" }).getByText("server", { exact: true }).waitFor();
  const { id } = sent[0];
  await page.getByRole("switch", { name: "Engine" }).click();
  while (!sent.some(({ stop }) => stop === id)) {
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
  const closed = (await socket).waitForEvent("close");
  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await closed;
  await page.context().close();
});

test("the board says so when the server's engine cannot be reached", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  await line(page);
  await page.routeWebSocket(/analysis\/socket/, (socket) => socket.close());
  await page.getByLabel("Engine settings").click();
  await page.getByRole("combobox", { name: "Engine" }).selectOption("server");
  await page.getByRole("alert").filter({ hasText: "connection" }).waitFor();
  await page.getByRole("combobox", { name: "Engine" }).selectOption("page");
  await line(page);
  await page.context().close();
});

test("an engine that cannot be loaded is reported, and the board stays", async () => {
  const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await page.route("**/crownhead.wasm", (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto("/analyse");
  await page.getByRole("alert").filter({ hasText: "The engine could not be loaded" }).waitFor();
  await page.context().close();
});

test("without the server the page, the engine and the analysis work, installed or not", async () => {
  const own = await harness.Server.start();
  const options = { ...harness.REDUCED_MOTION, serviceWorkers: "allow" };
  const page = await harness.openPage(browser, own.address, options);
  await page.goto("/analyse#game=english");
  await line(page);
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector("link[rel=manifest]");
    return (await fetch(link.href)).json();
  });
  assert.equal(manifest.display, "standalone");
  assert.ok(manifest.icons.some(({ sizes }) => sizes === "512x512"));
  await page.evaluate(() => navigator.serviceWorker.ready);
  // The engine is kept from its first use with the service worker on.
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  await page.reload();
  await line(page);
  await own.stop();
  await page.reload();
  await line(page);
  await harness.playCells(page, ["36", "45"]);
  await page.locator(".tree .row").waitFor();
  await page.context().close();
});
