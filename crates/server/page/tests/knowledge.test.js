// What tables know, and hints: on the analysis board and during play.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import * as harness from "./harness.js";

/** Tables are built once: they stay in the folder of the build. */
const cache = join(harness.root, "target/test/page-tables");
const { openAnalysis, openGame, server } = await harness.startServerAndBrowser({ cache });

before(() => {
  mkdirSync(cache, { recursive: true });
  const env = { ...process.env, CROWNHEAD_CACHE: cache };
  for (const args of [["english", "--pieces", "3"], ["chinese-checkers"]]) {
    execFileSync(harness.program, ["tables", "build", ...args], { env, stdio: "ignore" });
  }
});

const tables = (page) => page.getByRole("region", { name: "Tables" });

test("every legal move has its exact value, the best first, with the rules they hold for", async () => {
  const position = "B:WK32:BK10,K15";
  const exact = await server.request("/api/exact", { game: "english", position, moves: [] });
  const page = await openAnalysis(`game=english&position=${position}`);
  await tables(page).getByText(`Black wins in ${exact.plies} plies`).waitFor();
  await tables(page).getByText("English checkers, rules=assignment").waitFor();
  const shown = await tables(page).getByRole("button").allInnerTexts();
  assert.deepEqual(
    shown.map((text) => text.replace(/\s+/g, " ")),
    exact.moves.map(({ move, plies }) => `${move} wins in ${plies} plies`),
  );
  await tables(page).getByRole("button").first().click();
  await tables(page)
    .getByText(`White loses in ${exact.plies - 1} plies`)
    .waitFor();
  assert.deepEqual(await page.locator(".tree .text").allInnerTexts(), [exact.moves[0].move]);
  await page.context().close();
});

test("a drawn position and its moves are called so", async () => {
  const page = await openAnalysis("game=english&position=B:WK32:BK1");
  await tables(page).getByText("Draw", { exact: true }).waitFor();
  await tables(page).getByText("draw", { exact: true }).first().waitFor();
  await page.context().close();
});

test("in Chinese checkers the turns that each side alone needs are shown", async () => {
  const exact = await server.request("/api/exact", { game: "chinese-checkers", moves: [] });
  const page = await openAnalysis("game=chinese-checkers");
  const text = (await tables(page).innerText()).replace(/\s+/g, " ");
  assert.ok(text.includes(`Blue alone ${exact.solo[0]} turns to go`), text);
  assert.ok(text.includes(`Red alone ${exact.solo[1]} turns to go`), text);
  await page.context().close();
});

test("positions that no table knows have no panel", async () => {
  const page = await openAnalysis("game=english");
  await harness.playCells(page, ["36", "45"]);
  const response = await page.waitForResponse((response) => response.url().endsWith("/api/exact"));
  assert.equal(await response.text(), "null");
  assert.equal(await tables(page).count(), 0);
  await page.context().close();
});

test("a hint comes in three steps: the piece, the move, the reason", async () => {
  const position = "position=B:W15,32:B1,11";
  for (const page of [
    await openAnalysis(`game=english&${position}`),
    await openGame({ game: "english", position: "B:W15,32:B1,11" }),
  ]) {
    const hinted = () =>
      page
        .locator(".cell.hint")
        .evaluateAll((cells) => cells.map((cell) => cell.dataset.cell).sort());
    await page.getByRole("button", { name: "Hint", exact: true }).click();
    await page.getByText("Move the piece on square 11.").waitFor();
    assert.deepEqual(await hinted(), ["36"]);
    await page.getByRole("button", { name: "Which move?" }).click();
    await page.getByText("Try 11x18.").waitFor();
    assert.deepEqual(await hinted(), ["36", "54"]);
    await page.getByRole("button", { name: "Why?" }).click();
    await page.getByText("Try 11x18: it is the only legal move.").waitFor();
    await harness.mouse(page).select("36");
    await harness.mouse(page).select("54");
    await page.locator(".cell.captured").waitFor();
    assert.deepEqual(await hinted(), []);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
});
