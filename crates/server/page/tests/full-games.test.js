// Full games of every kind by mouse, touch and keyboard, from the first move to the result.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser } = await harness.startServerAndBrowser();
const { games } = await server.request("/api/games");

async function checkResult(page, game) {
  const view = await server.position(game.id, await harness.shownMoves(page));
  assert.ok(view.outcome, "the rules agree that the game is over");
  const status = await page.locator(".status.over").textContent();
  assert.ok(status.includes(view.outcome.text), status);
  assert.deepEqual(page.errors, []);
  await page.context().close();
}

assert.ok(games.length >= 4);
for (const game of games) {
  test(`${game.id} can be played by mouse against the computer`, async () => {
    const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
    await page.goto("/");
    await page.getByText(game.name, { exact: true }).click();
    await page.getByText("Computer", { exact: true }).click();
    await page.getByText("Random", { exact: true }).first().click();
    await page.getByText(game.sides[0].name, { exact: true }).click();
    await page.getByRole("button", { name: "Start game" }).click();
    await harness.playToEnd(server, page, game, harness.mouse(page), { drags: true });
    await checkResult(page, game);
  });

  test(`${game.id} can be played by touch by two players on a phone`, async () => {
    const options = { ...harness.PHONE, ...harness.REDUCED_MOTION };
    const page = await harness.openPage(browser, server.address, options);
    const { seatPath } = await server.createGame({ game: game.id, mode: "hotseat" });
    await page.goto(seatPath);
    await page.locator("[role=grid]").waitFor();
    const scrollY = () => page.evaluate(() => Math.round(window.scrollY));
    await page.evaluate(() => scrollTo(0, 30));
    assert.equal(await scrollY(), 30);
    await harness.playToEnd(server, page, game, await harness.touch(page), { drags: true });
    assert.equal(await scrollY(), 30, "dragging does not scroll the page");
    await checkResult(page, game);
  });

  test(`${game.id} can be played by keyboard as the second side`, async () => {
    const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
    const { seatPath } = await server.createGame({
      game: game.id,
      mode: "computer",
      player: "random",
      side: game.sides[1].letter,
    });
    await page.goto(seatPath);
    await harness.playToEnd(server, page, game, harness.keyboard(page));
    await checkResult(page, game);
  });
}
