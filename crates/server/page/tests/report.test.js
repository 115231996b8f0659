// Reports, player pages and analyses, opened from a folder: hostile names do nothing, games can be
// replayed, nothing is loaded, and axe-core finds no violations.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as harness from "./harness.js";

const HOSTILE = [`<img src=x onerror="document.title='hacked'">`, "</script><svg onload=alert(1)>"];
const folder = mkdtempSync(join(tmpdir(), "crownhead-report-"));
const browser = await harness.launchBrowser();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const crownhead = (...args) =>
  execFileSync(harness.program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
const names = [...HOSTILE, "Ada", "Grace"];
const players = names.map((name, i) => ({ name, player: ["random", "minimax:1"][i % 2] }));
const toToml = ({ name, player }) => `{ name = ${JSON.stringify(name)}, player = "${player}" }`;
writeFileSync(
  join(folder, "class.toml"),
  `name = ${JSON.stringify(HOSTILE[0])}\ngame = "english"\nopenings = "random:4"\n` +
    `players = [${players.map(toToml).join(", ")}]\n`,
);
crownhead("tournament", "run", "class.toml");
writeFileSync(
  join(folder, "cup.toml"),
  `game = "english"\nschedule = "knockout"\nopenings = "random:4"\n` +
    `players = [${[...players, { name: "Alan", player: "random" }].map(toToml).join(", ")}]\n`,
);
crownhead("tournament", "run", "cup.toml");
crownhead("tournament", "report", "cup.toml", "--html", "cup");
const analyse = ["--analyse", "--nodes", "200"];
crownhead("tournament", "report", "class.toml", ...analyse, "--html", "out", "--per-player", "own");
crownhead("analyse", "out/games.pdn", "--games", "1-2", "--nodes", "200", "--html", "games.html");

const address = (file) => pathToFileURL(join(folder, file)).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Opens a file. Dialogs and requests other than for the file itself are errors. */
async function open(file, options = {}) {
  const page = await harness.openPage(browser, undefined, options);
  page.on("dialog", (dialog) => {
    page.errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address(file))
      page.errors.push(`request: ${request.url()}`);
  });
  await page.goto(address(file));
  return page;
}

/** Opens another part of the page. */
async function show(page, hash) {
  await page.evaluate((hash) => (location.hash = hash), hash);
}

async function audit(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  const describe = ({ id, nodes }) =>
    `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`;
  assert.deepEqual(violations.map(describe), [], name);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(overflow <= 0, `${name} is ${overflow} pixels wider than the screen`);
}

async function assertHarmless(page, title) {
  assert.equal(await page.title(), title);
  assert.equal(await page.locator("img, svg[onload]").count(), 0);
  assert.deepEqual(page.errors, []);
}

const ownPage = (name) =>
  `own/${readdirSync(join(folder, "own")).find((file) => file.startsWith(name))}`;

for (const [size, screen] of Object.entries({ desktop: harness.DESKTOP, phone: harness.PHONE })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`report has no violations and no script errors (${size}, ${colorScheme})`, async () => {
      const page = await open("out/index.html", {
        ...screen,
        ...harness.REDUCED_MOTION,
        colorScheme,
      });
      await page.locator("#game-table tbody tr").first().waitFor();
      await audit(page, "report");
      await show(page, "#player-2");
      await page.locator("#player-2 .mini-board").first().waitFor();
      await audit(page, "player");
      await show(page, "#game-1.3");
      await page.locator("[role=grid]").waitFor();
      await audit(page, "game");
      await assertHarmless(page, HOSTILE[0]);
    });
  }
}

for (const [size, screen] of Object.entries({ desktop: harness.DESKTOP, phone: harness.PHONE })) {
  test(`bracket of a knockout has no violations and leads to the games (${size})`, async () => {
    const page = await open("cup/index.html", { ...screen, ...harness.REDUCED_MOTION });
    await page.locator("#game-table tbody tr").first().waitFor();
    await audit(page, "knockout");
    const rounds = await page.locator(".bracket h3").allTextContents();
    assert.deepEqual(rounds, ["Quarter-finals", "Semi-finals", "Final"]);
    const count = (round) => page.locator(".bracket .round").nth(round).locator("li").count();
    assert.deepEqual([await count(0), await count(1), await count(2)], [4, 2, 1]);
    const final = page.locator(".bracket .round").last();
    const names = await final.locator(".name").allTextContents();
    await final.getByRole("link", { name: "games" }).click();
    const cells = await page.locator("#game-table tbody tr:first-child td").allTextContents();
    assert.deepEqual(cells.slice(2, 4).sort(), names.sort());
    assert.deepEqual(page.errors, []);
  });
}

test("report and game can be printed", async () => {
  const page = await open("out/index.html");
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#standings").isVisible());
  assert.ok(!(await page.locator("#games").isVisible()));
  await show(page, "#game-1.3");
  assert.ok(await page.locator("[role=grid]").isVisible());
  assert.ok(!(await page.getByRole("button", { name: "Start" }).isVisible()));
});

test("every game can be replayed with the keyboard", async () => {
  const page = await open("out/index.html");
  await page.locator("#game-table tbody tr").nth(4).getByRole("link").first().click();
  const current = () => page.locator(".moves [aria-current]").textContent();
  await page.getByText("Game 5 · round").waitFor();
  await page.keyboard.press("ArrowRight");
  const first = await current();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await current(), first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await current(), first);
  assert.match(page.url(), /#game-5\.1$/);
  await page.keyboard.press("End");
  await page.locator(".ending").waitFor();
  await page.keyboard.press("Home");
  assert.equal(await page.locator(".moves [aria-current]").count(), 0);
  const corner = () => page.locator("[role=gridcell]").first().getAttribute("data-cell");
  assert.equal(await corner(), "11");
  await page.keyboard.press("f");
  assert.equal(await corner(), "88");
  await page.keyboard.press("m");
  await page.getByText("Better:").waitFor();
  // The numbers of the score graph: one row per position.
  const moves = await page.locator(".moves button").count();
  await page.getByText("Numbers").last().click();
  await page.locator(".numbers tbody tr").first().waitFor();
  assert.equal(await page.locator(".numbers tbody tr").count(), moves + 1);
  await page.getByRole("link", { name: "← Back" }).last().click();
  await page.locator("#standings").waitFor();
  assert.deepEqual(page.errors, []);
});

test("cell of the crosstable leads to the games of the pair", async () => {
  const page = await open("out/index.html");
  const report = JSON.parse(crownhead("tournament", "report", "class.toml", "--json"));
  const [a, b] = report.standings.map(({ player }) => player);
  await page.locator(`#crosstable a[href="#pair-${a}-${b}"]`).click();
  await page.getByText("2 games", { exact: true }).waitFor();
  const players = await page.locator("#game-table tbody tr:first-child td").allTextContents();
  assert.deepEqual(players.slice(2, 4).sort(), [report.names[a], report.names[b]].sort());
});

test("page of a player has its games and boards", async () => {
  const page = await open(ownPage("Ada"), harness.REDUCED_MOTION);
  await page.locator(".drops .mini-board").first().waitFor();
  await page.getByText("6 games", { exact: true }).waitFor();
  await audit(page, "own page");
  await page.getByRole("link", { name: "Replay" }).first().click();
  await page.getByText("Better:").waitFor();
  await assertHarmless(page, `Ada – ${HOSTILE[0]}`);
});

test("analysis opens at the ply of the address and changes games", async () => {
  const page = await open("games.html", harness.REDUCED_MOTION);
  await page.locator("[role=grid]").waitFor();
  await show(page, "#2.3");
  await page.locator(".moves [aria-current]").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Game" }).inputValue(), "2");
  await audit(page, "analysis");
  await page.getByRole("combobox", { name: "Game" }).selectOption("1");
  await page.locator(".moves [aria-current]").waitFor({ state: "detached" });
  assert.match(page.url(), /#1\.0$/);
  await assertHarmless(page, await page.title());
});
