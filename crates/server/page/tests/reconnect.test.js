// Reload, lost connection and server restart during a game: nothing is lost, and the state is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser } = await harness.startServerAndBrowser();

const connectionBar = (page) => page.getByText("Connection lost.");

/** Two players of a game, the first one through `address` if it is given. */
async function openTwoPlayers(address = server.address) {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const black = await harness.openPage(browser, address, harness.REDUCED_MOTION);
  await black.goto(game.seatPath);
  const white = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await white.goto(game.friendPath);
  for (const page of [black, white]) await page.locator("[role=grid]").waitFor();
  return { black, white };
}

/** Waits for the turn and plays the legal move with an index. */
async function playMove(page, index) {
  await harness.waitForTurn(page);
  const { legal } = await server.position("english", await harness.shownMoves(page));
  await harness.makeMove(page, harness.mouse(page), legal[index % legal.length]);
}

test("a reload during a game shows the same board and the game continues", async () => {
  const { black, white } = await openTwoPlayers();
  await playMove(black, 1);
  await playMove(white, 2);
  await harness.waitForMoves(black, 2);
  const pieces = await harness.shownPieces(black);
  await black.reload();
  await harness.waitForMoves(black, 2);
  assert.deepEqual(await harness.shownPieces(black), pieces);
  await playMove(black, 3);
  await harness.waitForMoves(white, 3);
  for (const page of [black, white]) await page.context().close();
});

test("a move played while disconnected is sent after the reconnect", async () => {
  const proxy = await harness.Proxy.to(server);
  const { black, white } = await openTwoPlayers(proxy.address);
  await playMove(black, 0);
  await harness.waitForMoves(white, 1);
  const boardTop = async () => (await black.locator("[role=grid]").boundingBox()).y;
  const before = await boardTop();
  proxy.cut();
  await connectionBar(black).waitFor();
  assert.equal(await boardTop(), before, "the board does not move");
  await playMove(white, 0);
  assert.equal((await harness.shownMoves(black)).length, 1);
  proxy.restore();
  await harness.waitForMoves(black, 2);
  // Screen readers announce what happened in the meantime.
  assert.match(
    await black.locator("[aria-live=polite]").first().textContent(),
    /^White: \d+ to \d+/,
  );
  await connectionBar(black).waitFor({ state: "detached" });

  proxy.cut();
  await connectionBar(black).waitFor();
  await playMove(black, 0);
  await black.getByText("Your move will be sent.").waitFor();
  assert.equal((await harness.shownMoves(white)).length, 2);
  proxy.restore();
  await harness.waitForMoves(white, 3);
  await connectionBar(black).waitFor({ state: "detached" });
  assert.deepEqual(await harness.shownMoves(black), await harness.shownMoves(white));
  assert.deepEqual(black.errors, []);
  for (const page of [black, white]) await page.context().close();
  proxy.close();
});

test("a move is shown before the server confirms it and taken back if it is refused", async () => {
  const proxy = await harness.Proxy.to(server);
  const game = await server.createGame({ game: "english", mode: "hotseat" });
  const slow = await harness.openPage(browser, proxy.address, harness.REDUCED_MOTION);
  await slow.goto(game.seatPath);
  const fast = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await fast.goto(game.seatPath);
  for (const page of [slow, fast]) await page.locator(".cell.movable").first().waitFor();

  proxy.stall();
  await harness.mouse(slow).select("36");
  await harness.mouse(slow).select("45");
  assert.deepEqual(await harness.shownMoves(slow), ["11-15"], "shown at once");
  assert.ok((await harness.shownPieces(slow)).includes("45 Black man"));
  await harness.mouse(fast).select("32");
  await harness.mouse(fast).select("41");
  await fast.locator(".cell.movable").first().waitFor(); // confirmed
  proxy.resume();
  await slow.getByText("The game has changed. Try again.").waitFor();
  assert.deepEqual(await harness.shownMoves(slow), ["9-13"]);
  assert.deepEqual(await harness.shownPieces(slow), await harness.shownPieces(fast));
  for (const page of [slow, fast]) await page.context().close();
  proxy.close();
});

test("a game continues with all its moves after the server was killed and restarted", async () => {
  const { black, white } = await openTwoPlayers();
  const spectator = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await spectator.goto(new URL(black.url()).pathname);
  const pages = [black, white, spectator];
  for (let count = 0; count < 3; count++) {
    await playMove(black, count);
    await playMove(white, count + 1);
  }
  for (const page of pages) await harness.waitForMoves(page, 6);
  const before = await harness.shownMoves(black);
  await server.kill();
  for (const page of pages) await connectionBar(page).waitFor();
  await server.restart();
  for (const page of pages) await connectionBar(page).waitFor({ state: "detached" });
  for (const page of pages) assert.deepEqual(await harness.shownMoves(page), before);
  await playMove(black, 5);
  await playMove(white, 6);
  for (const page of pages) await harness.waitForMoves(page, 8);
  assert.deepEqual(await harness.shownMoves(spectator), await harness.shownMoves(black));
  for (const page of pages) {
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
});

test("a computer interrupted by a server crash moves after the restart", async () => {
  const { seatPath } = await server.createGame({
    // Without an opening book, so that the computer thinks.
    game: "english:draw-plies=60",
    mode: "computer",
    player: "level:10",
    thinking: 5000,
    side: "b",
  });
  const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await page.goto(seatPath);
  await playMove(page, 2);
  await page.getByText("thinking").waitFor();
  await server.kill();
  await connectionBar(page).waitFor();
  await server.restart();
  await harness.waitForMoves(page, 2);
  await page.context().close();
});
