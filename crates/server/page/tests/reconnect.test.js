// Reload, lost connection and server restart in mid-game: nothing is lost, and what happens is shown.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as lab from "./harness.js";

let server, browser;
before(async () => {
  server = await lab.Server.start();
  browser = await lab.launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const lost = (page) => page.getByText("Connection lost.");

async function twoPlayers(address) {
  const game = await server.game({ game: "english", mode: "friend", side: "b" });
  const black = await lab.visitor(browser, address ?? server.address, lab.still);
  await black.goto(game.seat);
  const white = await lab.visitor(browser, server.address, lab.still);
  await white.goto(`/game/${game.id}#${game.friend}`);
  for (const page of [black, white]) await page.locator("[role=grid]").waitFor();
  return { game, black, white };
}

async function turn(page, count) {
  await lab.untilTurn(page);
  const view = await server.position("english", await lab.movesShown(page));
  await lab.makeMove(page, lab.mouse(page), view.legal[count % view.legal.length]);
}

test("a reload in mid-game shows the same board, and the game goes on", async () => {
  const { black, white } = await twoPlayers();
  await turn(black, 1);
  await turn(white, 2);
  await lab.untilMoves(black, 2);
  const board = await lab.piecesShown(black);
  await black.reload();
  await lab.untilMoves(black, 2);
  assert.deepEqual(await lab.piecesShown(black), board);
  await turn(black, 3);
  await lab.untilMoves(white, 3);
  for (const page of [black, white]) await page.context().close();
});

test("a move made while the connection is lost arrives when it is back", async () => {
  const wire = await lab.Wire.to(server);
  const { black, white } = await twoPlayers(wire.address);
  await turn(black, 0);
  await lab.untilMoves(white, 1);
  const top = async () => (await black.locator("[role=grid]").boundingBox()).y;
  const before = await top();
  wire.cut();
  await lost(black).waitFor();
  assert.equal(await top(), before, "the board stays where it is");
  await turn(white, 0);
  assert.equal((await lab.movesShown(black)).length, 1);
  wire.mend();
  await lab.untilMoves(black, 2);
  // Who does not see the board hears what has happened meanwhile.
  assert.match(await black.locator("[aria-live=polite]").first().textContent(), /^White: \d+ to \d+/);
  await lost(black).waitFor({ state: "detached" });

  wire.cut();
  await lost(black).waitFor();
  await turn(black, 0); // shown here, and kept
  await black.getByText("Your move is kept.").waitFor();
  assert.equal((await lab.movesShown(white)).length, 2);
  wire.mend();
  await lab.untilMoves(white, 3);
  await lost(black).waitFor({ state: "detached" });
  assert.deepEqual(await lab.movesShown(black), await lab.movesShown(white));
  assert.deepEqual(black.complaints, []);
  for (const page of [black, white]) await page.context().close();
  wire.close();
});

test("the piece moves before the server confirms, and goes back if the server refuses", async () => {
  const wire = await lab.Wire.to(server);
  const game = await server.game({ game: "english", mode: "hotseat" });
  const slow = await lab.visitor(browser, wire.address, lab.still);
  await slow.goto(game.seat);
  const quick = await lab.visitor(browser, server.address, lab.still);
  await quick.goto(game.seat);
  for (const page of [slow, quick]) await page.locator(".cell.movable").first().waitFor();

  wire.hold();
  const hand = lab.mouse(slow);
  await hand.choose("36");
  await hand.choose("45");
  assert.deepEqual(await lab.movesShown(slow), ["11-15"], "shown at once");
  assert.ok((await lab.piecesShown(slow)).includes("45 Black man"));
  const other = lab.mouse(quick);
  await other.choose("32");
  await other.choose("41");
  await quick.locator(".cell.movable").first().waitFor(); // confirmed
  wire.release();
  await slow.getByText("The game has gone on meanwhile").waitFor();
  assert.deepEqual(await lab.movesShown(slow), ["9-13"]);
  assert.deepEqual(await lab.piecesShown(slow), await lab.piecesShown(quick));
  for (const page of [slow, quick]) await page.context().close();
  wire.close();
});

test("a server that is killed and started again goes on with every move", async () => {
  const { black, white } = await twoPlayers();
  const watcher = await lab.visitor(browser, server.address, lab.still);
  await watcher.goto(new URL(black.url()).pathname);
  for (let count = 0; count < 3; count++) {
    await turn(black, count);
    await turn(white, count + 1);
  }
  for (const page of [black, white, watcher]) await lab.untilMoves(page, 6);
  const before = await lab.movesShown(black);
  await server.kill();
  for (const page of [black, white, watcher]) await lost(page).waitFor();
  await server.restart();
  for (const page of [black, white, watcher]) await lost(page).waitFor({ state: "detached" });
  for (const page of [black, white, watcher]) {
    assert.deepEqual(await lab.movesShown(page), before);
  }
  await turn(black, 5);
  await turn(white, 6);
  for (const page of [black, white, watcher]) await lab.untilMoves(page, 8);
  assert.deepEqual(await lab.movesShown(watcher), await lab.movesShown(black));
  for (const page of [black, white, watcher]) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
});

test("a server killed while the computer thinks makes its move after the restart", async () => {
  const game = await server.game({
    game: "english",
    mode: "computer",
    player: "level:10",
    thinking: 5000,
    side: "b",
  });
  const page = await lab.visitor(browser, server.address, lab.still);
  await page.goto(game.seat);
  await turn(page, 2);
  await page.getByText("thinks").waitFor();
  await server.kill();
  await lost(page).waitFor();
  await server.restart();
  await lab.untilMoves(page, 2);
  await page.context().close();
});
