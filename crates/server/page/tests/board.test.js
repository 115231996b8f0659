// The board: choosing, refusing, multi-jumps, animation, marks, flip, coordinates, sound, typed moves.
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

async function open(wish, options = lab.still) {
  const page = await lab.visitor(browser, server.address, options);
  const game = await server.game({ mode: "hotseat", ...wish });
  await page.goto(game.seat);
  await page.locator("[role=grid]").waitFor();
  return page;
}
const marked = (page, name) =>
  page.evaluate(
    (name) => [...document.querySelectorAll(`.cell.${name}`)].map((own) => own.dataset.cell).sort(),
    name,
  );

test("a chosen piece shows where it can go, and Escape lets it go", async () => {
  const page = await open({ game: "english" });
  const hand = lab.keyboard(page);
  await hand.choose("36");
  assert.deepEqual(await marked(page, "target"), ["45", "47"]);
  assert.equal(await lab.cell(page, "36").getAttribute("aria-selected"), "true");
  assert.match(await lab.cell(page, "45").getAttribute("aria-label"), /^Square 15: empty, can be reached/);
  await page.keyboard.press("Escape");
  assert.deepEqual(await marked(page, "target"), []);
  await page.context().close();
});

test("a refused try is answered with the sentence of the rules, and announced", async () => {
  const page = await open({ game: "english", position: "B:W15,32:B1,11" });
  const hand = lab.mouse(page);
  await hand.choose("12");
  await page.getByText("A capture is compulsory: the marked pieces can take.").waitFor();
  await hand.choose("21");
  const alert = page.getByRole("alert").filter({ hasText: "Illegal: 11x18 is mandatory." });
  await alert.waitFor();
  assert.deepEqual(await lab.movesShown(page), []);
  await page.context().close();
});

test("a piece that may not move can be dragged, to hear why, and is back where it was", async () => {
  const page = await open({ game: "english", position: "B:W15,32:B1,11" });
  await lab.mouse(page).drag("12", "21");
  await page.getByRole("alert").filter({ hasText: "Illegal: 11x18 is mandatory." }).waitFor();
  assert.ok((await lab.piecesShown(page)).includes("12 Black man"));
  assert.equal(await page.locator(".piece.ready.must").count(), 1, "the piece that must is still marked");
  await lab.mouse(page).drag("36", "54");
  await lab.untilMoves(page, 1);
  await page.context().close();
});

test("a piece in hand is put back when the position changes under it", async () => {
  const game = await server.game({ game: "english", mode: "hotseat" });
  const page = await lab.visitor(browser, server.address, lab.still);
  const other = await lab.visitor(browser, server.address, lab.still);
  for (const own of [page, other]) {
    await own.goto(game.seat);
    await own.locator(".cell.movable").first().waitFor();
  }
  const box = await lab.cell(page, "36").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y - 60);
  await lab.mouse(other).choose("32");
  await lab.mouse(other).choose("41");
  await lab.untilMoves(page, 1);
  await page.mouse.up();
  const places = await page.evaluate(() =>
    [...document.querySelectorAll(".piece")].map((own) => own.style.transform),
  );
  assert.ok(places.every((own) => own.includes("%")), "every piece is on its cell");
  assert.deepEqual(await lab.piecesShown(page), await lab.piecesShown(other));
  for (const own of [page, other]) await own.context().close();
});

test("typed moves are made, and refused with a reason", async () => {
  const page = await open({ game: "capture-halma" });
  const field = page.getByLabel("Type a move");
  await field.fill("11-55");
  await field.press("Enter");
  await page.getByRole("alert").filter({ hasText: "11" }).waitFor();
  await field.fill("11-12");
  await field.press("Enter");
  await lab.untilMoves(page, 1);
  // A digit typed on the board begins a move.
  await page.locator('[role="gridcell"][tabindex="0"]').focus();
  await page.keyboard.type("28-18");
  await page.keyboard.press("Enter");
  await lab.untilMoves(page, 2);
  assert.deepEqual(await lab.movesShown(page), ["11-12", "28-18"]);
  await page.context().close();
});

test("two ways to one end are told apart step by step", async () => {
  const position = "B:W6,14,15,22,23,29,32:B1,4";
  const page = await open({ game: "english", position });
  const hand = lab.mouse(page);
  await hand.choose("12");
  await hand.choose("74"); // 26, by either way
  await page.getByText("Several ways lead there: choose the next step.").waitFor();
  await hand.choose("34"); // both ways begin with 10
  assert.deepEqual(await marked(page, "target"), ["52", "56"]);
  await hand.choose("56"); // one way is left: it is gone to its end
  await lab.untilMoves(page, 1);
  assert.deepEqual(await lab.movesShown(page), ["1x10x19x26"]);
  await page.context().close();
});

test("where one way is left its end is enough", async () => {
  const page = await open({ game: "english", position: "B:W15,23,32:B11" });
  const hand = lab.mouse(page);
  await hand.choose("36");
  await hand.choose("76"); // 27
  await lab.untilMoves(page, 1);
  assert.deepEqual(await lab.movesShown(page), ["11x27"]);
  await page.context().close();
});

test("a sequence that may end or go on ends where its last cell is chosen again", async () => {
  const page = await open({ game: "capture-halma", position: "8/8/8/2bw1w2/8/8/8/7w b 0" });
  const hand = lab.mouse(page);
  await hand.choose("43");
  await hand.choose("45");
  assert.deepEqual(await lab.movesShown(page), []);
  await page.getByText("Choose it again to end here, or go on.").waitFor();
  assert.deepEqual(await marked(page, "end"), ["45"]);
  await hand.choose("45");
  await lab.untilMoves(page, 1);
  assert.deepEqual(await lab.movesShown(page), ["43-45"]);
  await page.context().close();
});

test("a capture can be made by either way round", async () => {
  const position = "B:W14,15,22,23,5:BK10,28";
  for (const [step, path] of [["56", "56"], ["52", "52"]]) {
    const page = await open({ game: "english", position });
    const hand = lab.mouse(page);
    await hand.choose("34"); // 10
    await hand.choose(step); // 19 or 17: the way round is one move, and gone to its end
    await lab.untilMoves(page, 1);
    assert.ok((await marked(page, "passed")).includes(path));
    assert.equal((await lab.piecesShown(page)).length, 3);
    await page.context().close();
  }
});

// 33 can jump over 34, then over 45; and from 35 nowhere else.
const jumps = { game: "chinese-checkers", position: "8/8/2##4/4#3/8/8/7O/8 # 0" };

test("jumps are chosen one by one, and a stop is not taken for the end", async () => {
  const page = await open(jumps);
  const hand = lab.mouse(page);
  await hand.choose("33");
  await hand.choose("35");
  await page.getByText("Choose it again to end here, or go on.").waitFor();
  assert.deepEqual(await lab.movesShown(page), []);
  assert.deepEqual(await marked(page, "end"), ["35"]);
  await hand.choose("55");
  await lab.untilMoves(page, 1);
  assert.deepEqual(await lab.movesShown(page), ["3355"]);
  await page.context().close();
});

test("a way half chosen is let go by pointing elsewhere, and no move is made", async () => {
  const page = await open(jumps);
  const hand = lab.mouse(page);
  // Its start, an empty cell, a place beside the board.
  for (const elsewhere of ["33", "88", null]) {
    await hand.choose("33");
    await hand.choose("35");
    assert.deepEqual(await marked(page, "end"), ["35"]);
    if (elsewhere) await hand.choose(elsewhere);
    else await page.mouse.click(2, 2);
    assert.deepEqual(await marked(page, "chosen"), []);
  }
  await hand.choose("33");
  await hand.choose("35");
  await hand.choose("34");
  assert.deepEqual(await marked(page, "chosen"), ["34"]);
  assert.deepEqual(await lab.movesShown(page), []);
  await page.context().close();
});

test("a stop ends the turn when it is chosen again, by Enter too, or when the piece is dropped there", async () => {
  for (const end of [
    async (page) => {
      for (const cell of ["33", "35", "35"]) await lab.mouse(page).choose(cell);
    },
    async (page) => {
      await lab.keyboard(page).choose("33");
      await lab.keyboard(page).choose("35");
      await page.keyboard.press("Enter");
    },
    (page) => lab.mouse(page).drag("33", "35"),
  ]) {
    const page = await open(jumps);
    await end(page);
    await lab.untilMoves(page, 1);
    assert.deepEqual(await lab.movesShown(page), ["3335"]);
    await page.context().close();
  }
});

test("a way half chosen dims only what it has jumped", async () => {
  const page = await open({ game: "english", position: "B:W6,14,15,22,23,29,32:B1,4" });
  await lab.mouse(page).choose("12");
  await lab.mouse(page).choose("34");
  assert.equal(await page.locator(".piece.dimmed").count(), 1);
  await page.context().close();
});

test("where the board shows rows and columns, moves are listed and typed so", async () => {
  const page = await open({ game: "english" });
  await page.getByText("Board, links, keys").click();
  await page.getByLabel("On the board").selectOption("Rows and columns");
  const field = page.getByLabel("Type a move");
  assert.match(await field.getAttribute("placeholder"), /like [1-8]{2}-[1-8]{2}$/);
  for (const [i, text] of ["36-45", "6354", "45x63"].entries()) {
    await page.locator(".cell.movable").first().waitFor();
    await field.fill(text);
    await field.press("Enter");
    await lab.untilMoves(page, i + 1);
  }
  assert.deepEqual(await lab.movesShown(page), ["36-45", "63-54", "45x63"]);
  await page.context().close();
});

test("a key held down does not flood the server, and a try without a connection says so", async () => {
  const page = await open({ game: "english" });
  let sent = 0;
  page.on("websocket", (socket) => socket.on("framesent", (frame) => (sent += /move/.test(frame.payload))));
  await page.reload();
  await page.locator(".cell.movable").first().waitFor();
  await lab.keyboard(page).choose("36");
  await page.keyboard.press("ArrowLeft");
  for (let i = 0; i < 20; i++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await page.getByRole("alert").filter({ hasText: /\w/ }).first().waitFor();
  assert.ok(sent <= 1, `${sent} tries`);
  await page.context().setOffline(true);
  await page.getByText("Connection lost.").waitFor();
  await page.getByLabel("Type a move").fill("11 15");
  await page.getByLabel("Type a move").press("Enter");
  await page.getByRole("alert").filter({ hasText: "There is no connection to the server just now." }).waitFor();
  await page.context().close();
});

test("a phone on its side has the board and what is said beside it", async () => {
  const page = await open({ game: "english" }, { ...lab.still, viewport: { width: 640, height: 360 } });
  await lab.mouse(page).choose("36");
  await lab.mouse(page).choose("54");
  await page.getByRole("alert").filter({ hasText: "11" }).waitFor();
  for (const part of ["[role=grid]", ".status", ".said"]) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 361, `${part} ends at ${box.y + box.height}`);
  }
  await page.context().close();
});

test("a piece goes along its path, and what it takes leaves as it is taken", async () => {
  const page = await open({ game: "english", position: "B:W15,23,32:B11" }, {});
  await page.evaluate(() => {
    // Slow motion, to look at it.
    window.seen = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
      window.seen.push({ steps: frames.length, delay: options.delay ?? 0, duration: options.duration });
      return animate.call(this, frames, options);
    };
  });
  const hand = lab.mouse(page);
  await hand.choose("36");
  await hand.choose("76");
  await page.waitForFunction(() => document.querySelectorAll(".piece").length === 2);
  const seen = await page.evaluate(() => window.seen);
  const mover = seen.find((own) => own.steps === 3);
  assert.ok(mover, "three cells are touched");
  const delays = seen.filter((own) => own.delay > 0).map((own) => own.delay);
  assert.equal(delays.length, 2, "two men leave");
  assert.ok(delays[0] < mover.duration / 2 && delays[1] > mover.duration / 2, "each when it is passed");
  await page.context().close();
});

test("who wants no motion gets none", async () => {
  const page = await open({ game: "english" });
  await page.evaluate(() => {
    window.count = 0;
    Element.prototype.animate = () => window.count++;
  });
  await lab.mouse(page).choose("36");
  await lab.mouse(page).choose("45");
  await lab.untilMoves(page, 1);
  assert.equal(await page.evaluate(() => window.count), 0);
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.context().close();
});

test("a man is crowned on the last row", async () => {
  const page = await open({ game: "english", position: "B:W12:B27" });
  await lab.mouse(page).choose("76");
  await lab.mouse(page).choose("85");
  await page.locator(".piece svg").waitFor();
  assert.ok((await lab.piecesShown(page)).includes("85 Black king"));
  await page.context().close();
});

test("the last move is marked, and earlier positions can be looked at", async () => {
  const page = await open({ game: "english" });
  const hand = lab.mouse(page);
  await hand.choose("36");
  await hand.choose("45");
  await page.locator(".cell.movable").first().waitFor();
  assert.deepEqual(await marked(page, "passed"), ["36", "45"]);
  const now = await lab.piecesShown(page);
  await page.getByRole("button", { name: "One move back" }).click();
  await page.getByText("The position at the start.").waitFor();
  assert.ok((await lab.piecesShown(page)).includes("36 Black man"));
  assert.equal(await page.locator(".movable").count(), 0, "the past is not played on");
  await page.getByRole("button", { name: "Position now" }).click();
  assert.deepEqual(await lab.piecesShown(page), now);
  await page.context().close();
});

test("the board can be turned, and written on in both styles", async () => {
  const page = await open({ game: "english" });
  const corner = () => page.evaluate(() => document.querySelector("[data-cell]").dataset.cell);
  assert.equal(await corner(), "88", "seen from Black");
  await page.getByText("Board, links, keys").click();
  await page.getByRole("button", { name: "Turn the board" }).click();
  assert.equal(await corner(), "11");
  assert.equal(await lab.cell(page, "12").textContent(), "1");
  await page.getByLabel("On the board").selectOption("Rows and columns");
  assert.equal((await lab.cell(page, "12").textContent()).trim(), "");
  assert.equal(await page.locator(".rows").textContent(), "12345678");
  assert.equal(await page.locator(".columns").textContent(), "12345678");
  await page.getByLabel("On the board").selectOption("Nothing");
  assert.equal(await page.locator(".rows").count(), 0);
  await page.context().close();
});

test("against the computer a move is taken back at once, and a resignation too", async () => {
  const page = await open({ game: "english", mode: "computer", player: "level:1", side: "b" });
  await lab.mouse(page).choose("36");
  await lab.mouse(page).choose("45");
  await lab.untilMoves(page, 2);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".moves li button").length === 0);
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await page.locator(".status.over").waitFor();
  await page.getByRole("button", { name: "Take back" }).click();
  await page.locator(".status.over").waitFor({ state: "detached" });
  await page.context().close();
});

test("clocks run, and who has used up the time has lost", async () => {
  const page = await open({ game: "english", clock: { time: 2000, increment: 0 } });
  // Nobody's runs before both have moved.
  for (const [from, to] of [["36", "45"], ["63", "54"]]) {
    await lab.cell(page, from).and(page.locator(".movable")).waitFor();
    await lab.mouse(page).choose(from);
    await lab.mouse(page).choose(to);
  }
  await page.locator(".clock.runs").waitFor();
  await page.locator(".status.over").waitFor();
  assert.match(await page.locator(".status.over").textContent(), /time/);
  await page.context().close();
});

test("moves are announced", async () => {
  const page = await open({ game: "english", mode: "computer", player: "level:1", side: "b" });
  const said = page.locator("[aria-live=polite]").first();
  await lab.mouse(page).choose("36");
  await lab.mouse(page).choose("45");
  await page.waitForFunction(() =>
    /^White: \d+ to \d+/.test(document.querySelector("[aria-live=polite]").textContent),
  );
  assert.match(await said.textContent(), /White: \d+ to \d+/);
  await page.context().close();
});

test("sounds are made, and can be turned off for good", async () => {
  const page = await open({ game: "english" });
  await page.evaluate(() => {
    window.tones = 0;
    const start = AudioScheduledSourceNode.prototype.start;
    AudioScheduledSourceNode.prototype.start = function (...given) {
      window.tones++;
      return start.apply(this, given);
    };
  });
  const tones = () => page.evaluate(() => window.tones);
  await lab.mouse(page).choose("36");
  await lab.mouse(page).choose("45");
  await page.locator(".cell.movable").first().waitFor();
  const first = await tones();
  assert.ok(first > 0);
  await page.getByRole("button", { name: "Sound" }).click();
  await lab.mouse(page).choose("63");
  await lab.mouse(page).choose("54");
  await lab.untilMoves(page, 2);
  assert.equal(await tones(), first);
  await page.reload();
  assert.equal(await page.getByRole("button", { name: "Sound" }).getAttribute("aria-pressed"), "false");
  await page.context().close();
});

test("script in a name is a name", async () => {
  const name = "<img src=x onerror=1>";
  const page = await open({ game: "english", mode: "computer", player: "random", side: "b", name });
  await page.getByText(name).first().waitFor();
  assert.equal(await page.locator(".seat img").count(), 0);
  await page.context().close();
});

test("the board does not change for who drags a piece back or off the board", async () => {
  const page = await open({ game: "english" });
  const before = await lab.piecesShown(page);
  const box = await lab.cell(page, "36").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 40);
  await page.mouse.move(2, 300);
  await page.mouse.up();
  assert.deepEqual(await lab.piecesShown(page), before);
  const places = () =>
    page.evaluate(() => [...document.querySelectorAll(".piece")].map((own) => own.style.transform));
  const there = await places();
  assert.ok(there.every((own) => own.includes("%")), "every piece is on its cell");
  assert.equal(new Set(there).size, 24);
  await page.context().close();
});
