// The board: selection, illegal moves, multi-jumps, animation, highlights, coordinates, sound.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser, openGame } = await harness.startServerAndBrowser();

/** Cells with a class. */
const cellsWith = (page, name) =>
  page.evaluate(
    (name) =>
      [...document.querySelectorAll(`.cell.${name}`)].map((cell) => cell.dataset.cell).sort(),
    name,
  );

const piecePlaces = (page) =>
  page.evaluate(() => [...document.querySelectorAll(".slot")].map((slot) => slot.style.transform));

/** Selects cells one after the other with the mouse. */
async function select(page, ...cells) {
  for (const cell of cells) await harness.mouse(page).select(cell);
}

const alert = (page, hasText) => page.getByRole("alert").filter({ hasText });

test("a selected piece shows its destinations and Escape deselects it", async () => {
  const page = await openGame({ game: "english" });
  await harness.keyboard(page).select("36");
  assert.deepEqual(await cellsWith(page, "destination"), ["45", "47"]);
  assert.equal(await harness.cell(page, "36").getAttribute("aria-selected"), "true");
  assert.match(
    await harness.cell(page, "45").getAttribute("aria-label"),
    /^Square 15: empty, legal destination/,
  );
  await page.keyboard.press("Escape");
  assert.deepEqual(await cellsWith(page, "destination"), []);
  await page.context().close();
});

test("a spectator who joins or leaves does not deselect a piece", async () => {
  const game = await server.createGame({ game: "english", mode: "hotseat" });
  const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await page.goto(game.seatPath);
  await page.locator(".cell.movable").first().waitFor();
  await select(page, "36");
  const spectator = await harness.openPage(browser, server.address);
  await spectator.goto(game.watchPath);
  await page.getByText("1 spectator").waitFor();
  assert.deepEqual(await cellsWith(page, "selected"), ["36"]);
  await spectator.context().close();
  await page.getByText("1 spectator").waitFor({ state: "detached" });
  await select(page, "45");
  await harness.waitForMoves(page, 1);
  await page.context().close();
});

const mandatoryCapture = { game: "english", position: "B:W15,32:B1,11" };

test("an illegal move is answered with the reason, as an alert", async () => {
  const { game, position } = mandatoryCapture;
  const reason = await server.illegalReason(game, position, "1-5");
  assert.match(reason, /11x18/);
  const page = await openGame(mandatoryCapture);
  await select(page, "12");
  await page.getByText("You must capture with one of the highlighted pieces.").waitFor();
  await select(page, "21");
  await alert(page, reason).waitFor();
  assert.deepEqual(await harness.shownMoves(page), []);
  await page.context().close();
});

test("a piece without legal moves can be dragged and returns with the reason", async () => {
  const { game, position } = mandatoryCapture;
  const reason = await server.illegalReason(game, position, "1-5");
  const page = await openGame(mandatoryCapture);
  await harness.mouse(page).drag("12", "21");
  await alert(page, reason).waitFor();
  assert.ok((await harness.shownPieces(page)).includes("12 Black man"));
  assert.equal(
    await page.locator(".slot.movable.must-capture").count(),
    1,
    "the piece that must capture is still highlighted",
  );
  await harness.mouse(page).drag("36", "54");
  await harness.waitForMoves(page, 1);
  await page.context().close();
});

test("a dragged piece returns when the position changes under it", async () => {
  const game = await server.createGame({ game: "english", mode: "hotseat" });
  const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  const other = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  for (const tab of [page, other]) {
    await tab.goto(game.seatPath);
    await tab.locator(".cell.movable").first().waitFor();
  }
  const box = await harness.cell(page, "36").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y - 60);
  await select(other, "32", "41");
  await harness.waitForMoves(page, 1);
  await page.mouse.up();
  const places = await piecePlaces(page);
  assert.ok(
    places.every((place) => place.includes("%")),
    "every piece is on its cell",
  );
  assert.deepEqual(await harness.shownPieces(page), await harness.shownPieces(other));
  for (const tab of [page, other]) await tab.context().close();
});

test("typed moves are played, or refused with a reason", async () => {
  const page = await openGame({ game: "capture-halma" });
  const field = page.getByLabel("Type a move");
  await field.fill("11-55");
  await field.press("Enter");
  await alert(page, "11").waitFor();
  await field.fill("11-12");
  await field.press("Enter");
  await harness.waitForMoves(page, 1);
  // A digit typed on the board starts a move.
  await page.locator('[role="gridcell"][tabindex="0"]').focus();
  await page.keyboard.type("28-18");
  await page.keyboard.press("Enter");
  await harness.waitForMoves(page, 2);
  assert.deepEqual(await harness.shownMoves(page), ["11-12", "28-18"]);
  await page.context().close();
});

const forkedCapture = { game: "english", position: "B:W6,14,15,22,23,29,32:B1,4" };

test("two paths to one cell are distinguished step by step", async () => {
  const page = await openGame(forkedCapture);
  await select(page, "12", "74"); // 26, which both paths reach
  await page.getByText("Several paths lead there. Select the next step.").waitFor();
  await select(page, "34"); // both paths start with 10
  assert.deepEqual(await cellsWith(page, "destination"), ["52", "56"]);
  await select(page, "56"); // one path is left: the move is complete
  await harness.waitForMoves(page, 1);
  assert.deepEqual(await harness.shownMoves(page), ["1x10x19x26"]);
  await page.context().close();
});

test("the end cell is enough if it identifies the move", async () => {
  const page = await openGame({ game: "english", position: "B:W15,23,32:B11" });
  await select(page, "36", "76"); // 27
  await harness.waitForMoves(page, 1);
  assert.deepEqual(await harness.shownMoves(page), ["11x27"]);
  await page.context().close();
});

test("a capture that may continue stops where its last cell is selected again", async () => {
  const page = await openGame({ game: "capture-halma", position: "8/8/8/2bw1w2/8/8/8/7w b 0" });
  await select(page, "43", "45");
  assert.deepEqual(await harness.shownMoves(page), []);
  await page.getByText("Select it again to stop here, or continue the move.").waitFor();
  assert.deepEqual(await cellsWith(page, "stop"), ["45"]);
  await select(page, "45");
  await harness.waitForMoves(page, 1);
  assert.deepEqual(await harness.shownMoves(page), ["43-45"]);
  await page.context().close();
});

test("a circular capture can be played in both directions", async () => {
  for (const step of ["56", "52"]) {
    const page = await openGame({ game: "english", position: "B:W14,15,22,23,5:BK10,28" });
    await select(page, "34", step); // 10, then 19 or 17: one move in either direction
    await harness.waitForMoves(page, 1);
    assert.ok((await cellsWith(page, "on-path")).includes(step));
    assert.equal((await harness.shownPieces(page)).length, 3);
    await page.context().close();
  }
});

// 33 can capture 34 by a hop to 35, and from there 45 by a hop to 55; 42 can move too.
const jumps = { game: "capture-halma", position: "8/8/2bw4/1b2w3/8/8/8/7w b 0" };

test("captures are selected one by one and a stop does not end the move", async () => {
  const page = await openGame(jumps);
  await select(page, "33", "35");
  await page.getByText("Select it again to stop here, or continue the move.").waitFor();
  assert.deepEqual(await harness.shownMoves(page), []);
  assert.deepEqual(await cellsWith(page, "stop"), ["35"]);
  await select(page, "55");
  await harness.waitForMoves(page, 1);
  assert.deepEqual(await harness.shownMoves(page), ["33-35-55"]);
  await page.context().close();
});

test("a move selected halfway is cancelled by selecting something else", async () => {
  const page = await openGame(jumps);
  // Its start, an empty cell, and a place outside the board.
  for (const elsewhere of ["33", "88", null]) {
    await select(page, "33", "35");
    assert.deepEqual(await cellsWith(page, "stop"), ["35"]);
    if (elsewhere) await select(page, elsewhere);
    else await page.mouse.click(2, 2);
    assert.deepEqual(await cellsWith(page, "selected"), []);
  }
  await select(page, "33", "35", "42");
  assert.deepEqual(await cellsWith(page, "selected"), ["42"]);
  assert.deepEqual(await harness.shownMoves(page), []);
  await page.context().close();
});

test("a move stops by selecting its cell again, by Enter, or by dropping the piece", async () => {
  for (const stop of [
    (page) => select(page, "33", "35", "35"),
    async (page) => {
      await harness.keyboard(page).select("33");
      await harness.keyboard(page).select("35");
      await page.keyboard.press("Enter");
    },
    (page) => harness.mouse(page).drag("33", "35"),
    async (page) => {
      await select(page, "33", "35");
      await page.keyboard.press("Enter");
    },
  ]) {
    const page = await openGame(jumps);
    await stop(page);
    await harness.waitForMoves(page, 1);
    assert.deepEqual(await harness.shownMoves(page), ["33-35"]);
    await page.context().close();
  }
});

test("a move selected halfway dims only the pieces captured so far", async () => {
  const page = await openGame(forkedCapture);
  await select(page, "12", "34");
  assert.equal(await page.locator(".slot.dimmed").count(), 1);
  await page.context().close();
});

test("moves are listed and typed in the coordinates of the board", async () => {
  const page = await openGame({ game: "english" });
  await page.getByText("Board, links and shortcuts").click();
  await page.getByLabel("Coordinates").selectOption("Rows and columns");
  const field = page.getByLabel("Type a move");
  assert.match(await field.getAttribute("placeholder"), /e\.g\. [1-8]{2}-[1-8]{2}$/);
  for (const [i, text] of ["36-45", "6354", "45x63"].entries()) {
    await page.locator(".cell.movable").first().waitFor();
    await field.fill(text);
    await field.press("Enter");
    await harness.waitForMoves(page, i + 1);
  }
  assert.deepEqual(await harness.shownMoves(page), ["36-45", "63-54", "45x63"]);
  await page.context().close();
});

test("a held key sends one move, and a move without a connection is reported", async () => {
  const page = await openGame({ game: "english" });
  let sent = 0;
  page.on("websocket", (socket) =>
    socket.on("framesent", (frame) => (sent += /move/.test(frame.payload))),
  );
  await page.reload();
  await page.locator(".cell.movable").first().waitFor();
  await harness.keyboard(page).select("36");
  await page.keyboard.press("ArrowLeft");
  for (let i = 0; i < 20; i++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await alert(page, /\w/).first().waitFor();
  assert.ok(sent <= 1, `${sent} moves sent`);
  await page.context().setOffline(true);
  await page.getByText("Connection lost.").waitFor();
  await page.getByLabel("Type a move").fill("11 15");
  await page.getByLabel("Type a move").press("Enter");
  await alert(page, "Not connected to the server.").waitFor();
  await page.context().close();
});

test("a phone in landscape shows the board and the messages beside it", async () => {
  const viewport = { width: 640, height: 360 };
  const page = await openGame({ game: "english" }, { viewport });
  await select(page, "36", "54");
  await alert(page, "11").waitFor();
  for (const part of ["[role=grid]", ".status", ".message"]) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 361, `${part} ends at ${box.y + box.height}`);
  }
  await page.context().close();
});

test("a piece slides along its path and captured pieces fade as they are jumped", async () => {
  const page = await openGame(
    { game: "english", position: "B:W15,23,32:B11" },
    { reducedMotion: "no-preference" },
  );
  await page.evaluate(() => {
    window.animations = [];
    const { animate } = Element.prototype;
    Element.prototype.animate = function (frames, options) {
      const { delay = 0, duration } = options;
      window.animations.push({ steps: frames.length, delay, duration });
      return animate.call(this, frames, options);
    };
  });
  await select(page, "36", "76");
  await page.waitForFunction(() => document.querySelectorAll(".slot").length === 2);
  const animations = await page.evaluate(() => window.animations);
  const slide = animations.find(({ steps }) => steps === 3);
  assert.ok(slide, "the piece visits three cells");
  const delays = animations.map(({ delay }) => delay).filter((delay) => delay > 0);
  assert.equal(delays.length, 2, "two pieces fade");
  assert.ok(
    delays[0] < slide.duration / 2 && delays[1] > slide.duration / 2,
    "each fades when it is jumped",
  );
  await page.context().close();
});

test("nothing is animated if the user prefers reduced motion", async () => {
  const page = await openGame({ game: "english" });
  await page.evaluate(() => {
    window.count = 0;
    Element.prototype.animate = () => window.count++;
  });
  await select(page, "36", "45");
  await harness.waitForMoves(page, 1);
  assert.equal(await page.evaluate(() => window.count), 0);
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.context().close();
});

test("a man is crowned on the last row", async () => {
  const page = await openGame({ game: "english", position: "B:W12:B27" });
  await select(page, "76", "85");
  await page.locator(".slot svg").waitFor();
  assert.ok((await harness.shownPieces(page)).includes("85 Black king"));
  await page.context().close();
});

test("the last move is highlighted and earlier positions can be viewed", async () => {
  const page = await openGame({ game: "english" });
  await select(page, "36", "45");
  await page.locator(".cell.movable").first().waitFor();
  assert.deepEqual(await cellsWith(page, "on-path"), ["36", "45"]);
  const latest = await harness.shownPieces(page);
  await page.getByRole("button", { name: "Previous move" }).click();
  await page.getByText("Starting position.").waitFor();
  assert.ok((await harness.shownPieces(page)).includes("36 Black man"));
  assert.equal(await page.locator(".movable").count(), 0, "earlier positions are read-only");
  await page.getByRole("button", { name: "Current position" }).click();
  assert.deepEqual(await harness.shownPieces(page), latest);
  await page.context().close();
});

test("the board can be flipped and shows every kind of coordinates", async () => {
  const page = await openGame({ game: "english" });
  const corner = () => page.evaluate(() => document.querySelector("[data-cell]").dataset.cell);
  assert.equal(await corner(), "11", "who plays both sides sees row 1 at the top");
  await page.getByText("Board, links and shortcuts").click();
  await page.getByRole("button", { name: "Flip board" }).click();
  assert.equal(await corner(), "88");
  assert.equal(await harness.cell(page, "12").textContent(), "1");
  await page.getByLabel("Coordinates").selectOption("Rows and columns");
  assert.equal((await harness.cell(page, "12").textContent()).trim(), "");
  assert.equal(await page.locator(".rows").textContent(), "87654321");
  assert.equal(await page.locator(".columns").textContent(), "87654321");
  await page.getByLabel("Coordinates").selectOption("None");
  assert.equal(await page.locator(".rows").count(), 0);
  await page.context().close();
});

test("against the computer moves and resignation are taken back at once", async () => {
  const page = await openGame({ game: "english", mode: "computer", player: "level:1", side: "b" });
  await select(page, "36", "45");
  await harness.waitForMoves(page, 2);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".moves li button").length === 0);
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await page.locator(".status.over").waitFor();
  await page.getByRole("button", { name: "Take back" }).click();
  await page.locator(".status.over").waitFor({ state: "detached" });
  await page.context().close();
});

test("clocks run and a player who runs out of time loses", async () => {
  const page = await openGame({ game: "english", clock: { time: 2000, increment: 0 } });
  // No clock runs until both sides have moved.
  for (const [from, to] of [
    ["36", "45"],
    ["63", "54"],
  ]) {
    await harness.cell(page, from).and(page.locator(".movable")).waitFor();
    await select(page, from, to);
  }
  await page.locator(".clock.running").waitFor();
  await page.locator(".status.over").waitFor();
  assert.match(await page.locator(".status.over").textContent(), /time/);
  await page.context().close();
});

test("moves are announced to screen readers", async () => {
  const page = await openGame({ game: "english", mode: "computer", player: "level:1", side: "b" });
  await select(page, "36", "45");
  await page.waitForFunction(() =>
    /^White: \d+ to \d+/.test(document.querySelector("[aria-live=polite]").textContent),
  );
  await page.context().close();
});

test("sounds are played and can be turned off permanently", async () => {
  const page = await openGame({ game: "english" });
  await page.evaluate(() => {
    window.tones = 0;
    const { start } = AudioScheduledSourceNode.prototype;
    AudioScheduledSourceNode.prototype.start = function (...args) {
      window.tones++;
      return start.apply(this, args);
    };
  });
  const tones = () => page.evaluate(() => window.tones);
  const button = page.getByRole("button", { name: "Sound" });
  await select(page, "36", "45");
  await page.locator(".cell.movable").first().waitFor();
  const before = await tones();
  assert.ok(before > 0);
  await button.click();
  await select(page, "63", "54");
  await harness.waitForMoves(page, 2);
  assert.equal(await tones(), before);
  await page.reload();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  await page.context().close();
});

test("markup in a name is shown as text", async () => {
  const name = "<img src=x onerror=1>";
  const request = { game: "english", mode: "computer", player: "random", side: "b", name };
  const page = await openGame(request);
  await page.getByText(name).first().waitFor();
  assert.equal(await page.locator(".player img").count(), 0);
  await page.context().close();
});

test("a piece dragged off the board returns to its cell", async () => {
  const page = await openGame({ game: "english" });
  const before = await harness.shownPieces(page);
  const box = await harness.cell(page, "36").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 40);
  await page.mouse.move(2, 300);
  await page.mouse.up();
  assert.deepEqual(await harness.shownPieces(page), before);
  const places = await piecePlaces(page);
  assert.ok(
    places.every((place) => place.includes("%")),
    "every piece is on its cell",
  );
  assert.equal(new Set(places).size, 24);
  await page.context().close();
});
