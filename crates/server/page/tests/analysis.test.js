// The analysis board: the engine's card, the tree of moves, keys, arrows, and the ways to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, open, openAnalysis } = await harness.startServerAndBrowser();

const OPENING = "game=english&moves=11-15,23-19,8-11";
const lines = (page) => page.getByRole("list", { name: "Best lines" }).getByRole("listitem");
const current = (page) => page.locator(".tree [aria-current=step] .text").textContent();
const depthOf = (text) => Number(text.match(/depth (\d+)/)?.[1] ?? 0);

/** Waits until the engine has a line. */
const waitForLine = (page) => lines(page).first().getByRole("button").first().waitFor();

test("the engine shows its lines, depth and speed; a click plays them into the tree", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  await waitForLine(page);
  await page.getByText(/\d(\.\d)? [kM]n\/s/).waitFor();
  const engine = page.getByRole("region", { name: "Engine" });
  const before = depthOf(await engine.innerText());
  await page.waitForFunction((before) => {
    const text = document.querySelector(".engine").innerText;
    return Number(text.match(/depth (\d+)/)?.[1]) > before;
  }, before);
  assert.equal(await lines(page).count(), 3);
  await page.getByRole("combobox", { name: "Lines" }).selectOption("5");
  await lines(page).nth(4).getByRole("button").first().waitFor();
  await page.getByRole("combobox", { name: "Lines" }).selectOption("1");
  await lines(page).nth(1).waitFor({ state: "detached" });
  const moves = lines(page).first().getByRole("button");
  const texts = (await moves.allInnerTexts())
    .slice(0, 2)
    .map((text) => text.replace(/^\d+\.+/, ""));
  await moves.nth(1).click();
  await page.locator(".tree .row").first().waitFor();
  const played = await page.locator(".tree .row .text").allInnerTexts();
  assert.equal(played.length, 2);
  assert.equal(played[0], texts[0]);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("hovering over a move of a line previews it on the board", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  await waitForLine(page);
  await page.keyboard.press("x");
  await page.keyboard.press("x");
  await waitForLine(page);
  const before = await harness.shownPieces(page);
  await lines(page).first().getByRole("button").first().hover();
  await page.locator(".cell.on-path").first().waitFor();
  assert.notDeepEqual(await harness.shownPieces(page), before);
  await page.mouse.move(2, 2);
  await page.locator(".cell.on-path").first().waitFor({ state: "detached" });
  assert.deepEqual(await harness.shownPieces(page), before);
  await page.context().close();
});

test("the engine can be turned off, and stays off after a reload", async () => {
  const page = await openAnalysis(OPENING, { engine: true });
  await waitForLine(page);
  await page.locator(".surface svg .line").first().waitFor();
  await page.getByRole("switch", { name: "Engine" }).click();
  await page.getByText("Engine off").waitFor();
  assert.equal(await lines(page).count(), 0);
  assert.equal(await page.locator(".surface svg .line").count(), 0, "no arrows");
  await page.reload();
  await page.getByText("Engine off").waitFor();
  await page.context().close();
});

test("another move creates a variation, which can be promoted, deleted and restored", async () => {
  const page = await openAnalysis(OPENING);
  await page.keyboard.press("Home");
  await harness.playCells(page, ["32", "41"]);
  await page.locator(".tree .variation").waitFor();
  assert.deepEqual(await harness.shownTree(page), ["1. 11-15", "1.9-13", "1. … 23-19", "2. 8-11"]);
  await page.getByRole("button", { name: "Promote" }).click();
  assert.deepEqual(await harness.shownTree(page), ["1. 9-13", "1.11-1523-192.8-11"]);
  await page.getByRole("button", { name: "Delete" }).click();
  assert.deepEqual(await harness.shownTree(page), ["1. 11-15 23-19", "2. 8-11"]);
  await page.getByRole("button", { name: "Undo" }).click();
  assert.deepEqual(await harness.shownTree(page), ["1. 9-13", "1.11-1523-192.8-11"]);
  // The same move is followed, not added again.
  await page.keyboard.press("Home");
  await harness.playCells(page, ["32", "41"]);
  assert.equal((await harness.shownTree(page)).length, 2);
  await page.context().close();
});

test("moves have marks and comments, which survive a reload", async () => {
  const page = await openAnalysis(OPENING);
  await page.getByRole("button", { name: "Inaccuracy" }).click();
  await page.getByRole("button", { name: "Comment" }).click();
  await page.getByRole("textbox", { name: "Comment" }).fill("too <b>early</b>");
  await page.getByRole("textbox", { name: "Comment" }).blur();
  const tree = ["1. 11-15 23-19", "2. 8-11?!", "too <b>early</b>"];
  assert.deepEqual(await harness.shownTree(page), tree);
  await page.reload();
  await page.locator(".tree .comment").waitFor();
  assert.deepEqual(await harness.shownTree(page), tree);
  assert.equal(await page.locator(".tree b").count(), 0);
  await page.getByRole("button", { name: "Inaccuracy" }).click();
  assert.ok(!(await harness.shownTree(page))[1].includes("?!"), "the mark is removed");
  await page.context().close();
});

test("keys step, change the variation, flip, edit, and play the best move", async () => {
  const page = await openAnalysis(OPENING, { engine: true });
  const press = (key) => page.keyboard.press(key);
  await press("Home");
  await page.getByText("Black to move.").waitFor();
  await harness.playCells(page, ["32", "41"]);
  assert.equal(await current(page), "9-13");
  await press("ArrowUp");
  assert.equal(await current(page), "11-15");
  await press("ArrowDown");
  assert.equal(await current(page), "9-13");
  await press("ArrowUp");
  await press("End");
  assert.equal(await current(page), "8-11");
  await press("ArrowLeft");
  assert.equal(await current(page), "23-19");
  await press("ArrowRight");
  assert.equal(await current(page), "8-11");
  await waitForLine(page);
  await press(" ");
  await page.locator(".tree .row .text").nth(3).waitFor();
  const first = () => page.locator("[data-cell]").first().getAttribute("data-cell");
  assert.equal(await first(), "11");
  await press("f");
  assert.equal(await first(), "88");
  await press("m");
  await page.getByText("No move of the game is marked as a mistake.").waitFor();
  await press("e");
  await page.getByRole("heading", { name: "Edit the position" }).waitFor();
  await page.context().close();
});

test("single-letter keys can be turned off", async () => {
  const page = await openAnalysis(OPENING);
  await page.getByLabel("Engine settings").click();
  await page.getByLabel("Single-letter keys").uncheck();
  await page.keyboard.press("Escape");
  await page.locator("body").press("f");
  assert.equal(await page.locator("[data-cell]").first().getAttribute("data-cell"), "11");
  await page.locator("body").press("ArrowLeft");
  assert.equal(await current(page), "23-19");
  await page.reload();
  await page.locator("[role=grid]").waitFor();
  await page.locator("body").press("f");
  assert.equal(await page.locator("[data-cell]").first().getAttribute("data-cell"), "11");
  await page.context().close();
});

test("a drag with the right button draws an arrow, a click a circle, and again removes it", async () => {
  const page = await openAnalysis("game=english");
  const shapes = page.locator(".surface svg .own");
  const drag = async (from, to) => {
    const [a, b] = [
      await harness.cell(page, from).boundingBox(),
      await harness.cell(page, to).boundingBox(),
    ];
    await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await page.mouse.down({ button: "right" });
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
    await page.mouse.up({ button: "right" });
  };
  await drag("36", "54");
  await drag("61", "61");
  assert.equal(await shapes.count(), 2);
  assert.equal(await page.locator(".surface svg circle.own").count(), 1);
  await drag("36", "54");
  assert.equal(await shapes.count(), 1);
  assert.equal(await page.locator(".cell.selected").count(), 0);
  await page.context().close();
});

test("on a phone a swipe steps, and tabs show moves, lines and report", async () => {
  const page = await openAnalysis(OPENING, harness.PHONE);
  const devtools = await page.context().newCDPSession(page);
  const swipe = async (from, to) => {
    const box = await page.locator("[role=grid]").boundingBox();
    const y = box.y + box.height / 2;
    const point = (part) => [{ x: box.x + box.width * part, y }];
    const send = (type, touchPoints) =>
      devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
    await send("touchStart", point(from));
    for (const part of [0.25, 0.5, 0.75, 1])
      await send("touchMove", point(from + (to - from) * part));
    await send("touchEnd", []);
  };
  assert.equal(await current(page), "8-11");
  await swipe(0.2, 0.8);
  await page.waitForFunction(
    () => document.querySelector(".tree [aria-current] .text")?.textContent === "23-19",
  );
  await swipe(0.8, 0.2);
  await page.waitForFunction(
    () => document.querySelector(".tree [aria-current] .text")?.textContent === "8-11",
  );
  await page.getByRole("tab", { name: "Report" }).click();
  await page.getByRole("button", { name: "Report on the game" }).waitFor();
  await page.getByRole("tab", { name: "Report" }).press("ArrowLeft");
  await page
    .getByRole("tabpanel", { name: "Lines" })
    .getByRole("combobox", { name: "Lines" })
    .waitFor();
  const board = await page.locator("[role=grid]").boundingBox();
  assert.ok(board.x >= 0 && board.x + board.width <= 360, "the board fits on the screen");
  await page.context().close();
});

test("screen readers get the move, the score and each line as text", async () => {
  const page = await openAnalysis("game=english", { engine: true });
  const live = page.locator('[aria-live="polite"]').first();
  await harness.playCells(page, ["36", "45"]);
  await page.waitForFunction(() =>
    document.querySelector('[aria-live="polite"]').textContent.includes("11 to 15"),
  );
  await page.waitForFunction(() =>
    /Score [+-]?\d.*best move/.test(document.querySelector('[aria-live="polite"]').textContent),
  );
  assert.match(await live.textContent(), /^Black: 11 to 15\. Score .*, best move \d/);
  assert.match(await lines(page).first().innerText(), /^[+-]\d\.\d\d/);
  await page.context().close();
});

test("an illegal move names the rule and marks the squares it is about", async () => {
  const position = "B:W15,32:B1,11";
  const reason = await server.illegalReason("english", position, "1-5");
  const page = await openAnalysis(`game=english&position=${position}`);
  await harness.mouse(page).select("12");
  await harness.mouse(page).select("21");
  await page.getByRole("alert").filter({ hasText: reason }).waitFor();
  assert.ok((await page.locator(".surface svg circle.error").count()) > 0);
  await page.keyboard.press("ArrowLeft");
  await page.locator(".surface svg circle.error").first().waitFor({ state: "detached" });
  await page.context().close();
});

test("a finished game, and a game on the list, lead to its analysis", async () => {
  const page = await open((await server.createGame({ game: "english", mode: "hotseat" })).seatPath);
  await harness.playCells(page, ["36", "45"]);
  await harness.waitForMoves(page, 1);
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await page.getByRole("link", { name: "Analyse", exact: true }).last().click();
  await page.locator(".tree .row").waitFor();
  assert.deepEqual(await page.locator(".tree .text").allInnerTexts(), ["11-15"]);
  await page.getByRole("link", { name: "Play" }).click();
  await page.getByRole("link", { name: "Analyse English checkers" }).click();
  await page.locator(".tree .row").waitFor();
  assert.match(page.url(), /\/analyse#/);
  await page.context().close();
});

test("players of a running game with clocks or against a friend are not offered analysis", async () => {
  const clock = { time: 600_000, increment: 0 };
  for (const request of [
    { game: "english", mode: "hotseat", clock },
    { game: "english", mode: "computer", player: "random", side: "b", clock },
    { game: "english", mode: "friend", side: "b" },
  ]) {
    const page = await open((await server.createGame(request)).seatPath);
    await page.getByRole("button", { name: "Resign" }).waitFor();
    assert.equal(
      await page.locator('main a[href^="/analyse"]').count(),
      0,
      JSON.stringify(request),
    );
    await page.context().close();
  }
});

test("a link opens a position with its moves; a broken one says so and leaves a usable board", async () => {
  const page = await openAnalysis("game=english&position=W:W32:B1&moves=32-28,1-6");
  assert.deepEqual(await harness.shownTree(page), ["1. … 32-28", "2. 1-6"]);
  await page.context().close();
  const illegal = await openAnalysis("game=english&moves=11-15,1-32");
  await illegal.getByRole("alert").filter({ hasText: "it is White's turn" }).waitFor();
  assert.deepEqual(await harness.shownTree(illegal), ["1. 11-15"]);
  await illegal.context().close();
  for (const link of ["game=chess", "game=english&position=%00", "from=../../etc/passwd", "%"]) {
    const page = await openAnalysis(link);
    await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
    await harness.playCells(page, ["36", "45"]);
    await page.locator(".tree .row").waitFor();
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
});
