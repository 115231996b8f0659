// A whole game of each kind by mouse, by touch and by keyboard, from the first move to the result.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as lab from "./harness.js";

let server, browser, kinds;
before(async () => {
  server = await lab.Server.start();
  browser = await lab.launch();
  kinds = (await server.ask("/api/games")).games;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function finish(page, kind) {
  const moves = await lab.movesShown(page);
  const view = await server.position(kind.id, moves);
  assert.ok(view.outcome, "by the rules the game is over too");
  const shown = await page.locator(".status.over").textContent();
  assert.equal(shown.trim(), view.outcome.text);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

for (const id of ["english", "contest", "chinese-checkers", "capture-halma"]) {
  test(`${id} by mouse, against the computer`, async () => {
    const kind = kinds.find((own) => own.id === id);
    const page = await lab.visitor(browser, server.address, lab.still);
    await page.goto("/");
    await page.getByText(kind.name, { exact: true }).click();
    await page.getByText("The computer").click();
    await page.getByText("Random", { exact: true }).first().click();
    await page.getByText(kind.sides[0].name, { exact: true }).click();
    await page.getByRole("button", { name: "Start the game" }).click();
    await lab.playToTheEnd(server, page, kind, lab.mouse(page), { drags: true });
    await finish(page, kind);
  });

  test(`${id} by touch, two at one screen, on a phone`, async () => {
    const kind = kinds.find((own) => own.id === id);
    const page = await lab.visitor(browser, server.address, { ...lab.phone, ...lab.still });
    const game = await server.game({ game: id, mode: "hotseat" });
    await page.goto(game.seat);
    await page.locator("[role=grid]").waitFor();
    await page.evaluate(() => scrollTo(0, 30));
    assert.equal(await page.evaluate(() => Math.round(scrollY)), 30);
    const hand = await lab.touch(page);
    await lab.playToTheEnd(server, page, kind, hand, { drags: true });
    assert.equal(await page.evaluate(() => Math.round(scrollY)), 30, "dragging did not scroll");
    await finish(page, kind);
  });

  test(`${id} by keyboard, as the second side`, async () => {
    const kind = kinds.find((own) => own.id === id);
    const page = await lab.visitor(browser, server.address, lab.still);
    const game = await server.game({
      game: id,
      mode: "computer",
      player: "random",
      side: kind.sides[1].letter,
    });
    await page.goto(game.seat);
    await lab.playToTheEnd(server, page, kind, lab.keyboard(page));
    await finish(page, kind);
  });
}
