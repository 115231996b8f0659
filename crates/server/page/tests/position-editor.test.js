// The position editor: palette, drag, validation, text, and what can be done with the position.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser, openAnalysis } = await harness.startServerAndBrowser();
const { games } = await server.request("/api/games");

async function openEditor(game = "english", options) {
  const page = await openAnalysis(`game=${game}`, options);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText("The position is valid.").waitFor();
  return page;
}

const tool = (page, name) => page.getByRole("button", { name });
const text = (page) => page.getByLabel("Position as text");
const status = (page) => page.locator(".editor .state");
const select = (page, name, button) => harness.cell(page, name).click({ button, force: true });
const waitForText = (page, pattern) =>
  page.waitForFunction(
    (source) => new RegExp(source).test(document.querySelector(".text input").value),
    pattern.source,
  );

for (const game of games) {
  test(`${game.id}: a board is set up piece by piece, and its text is that of the program`, async () => {
    const page = await openEditor(game.id);
    const start = await text(page).inputValue();
    assert.equal(start, game.start);
    // The first piece of each side, moved away and back.
    const home = game.cells.find((cell) => game.board[index(cell)] !== ".");
    const free = game.cells.find((cell) => game.board[index(cell)] === ".");
    await harness.mouse(page).drag(home, free);
    await page.waitForFunction(
      (start) => document.querySelector(".text input").value !== start,
      start,
    );
    assert.ok((await harness.shownPieces(page)).some((piece) => piece.startsWith(`${free} `)));
    await harness.mouse(page).drag(free, home);
    await page.waitForFunction(
      (start) => document.querySelector(".text input").value === start,
      start,
    );
    await page.getByText("The position is valid.").waitFor();
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
}

const index = (cell) => (Number(cell[0]) - 1) * 8 + Number(cell[1]) - 1;

test("the palette puts pieces on the board, the right button those of the other side", async () => {
  const page = await openEditor();
  await tool(page, "Empty board").click();
  await tool(page, /^Black king/).click();
  await select(page, "45");
  await select(page, "54", "right");
  await waitForText(page, /^B:WK18:BK15$/);
  await page.getByText("The position is valid.").waitFor();
  await page.getByRole("radio", { name: "White" }).first().check({ force: true });
  await waitForText(page, /^W:WK18:BK15$/);
  await tool(page, "Remove").click();
  await select(page, "45");
  // A man on the king row is not a legal position, and its cell is marked.
  await tool(page, /^White man/).click();
  await select(page, "12");
  await status(page).and(page.locator(".error")).filter({ hasText: /\b1\b/ }).waitFor();
  await page.locator(".surface svg circle.error").waitFor();
  assert.ok(await page.getByRole("button", { name: "Analyse" }).isDisabled());
  // Pressed again, it is removed.
  await select(page, "12");
  await status(page).and(page.locator(":not(.error)")).waitFor();
  // A drag from the palette.
  const from = await tool(page, /^Black man/).boundingBox();
  const to = await harness.cell(page, "36").boundingBox();
  await page.mouse.move(from.x + 20, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 4 });
  await page.mouse.up();
  await waitForText(page, /^W:WK18:B11$/);
  // A piece dropped beside the board is removed.
  await tool(page, /^Move$/).click();
  const piece = await harness.cell(page, "36").boundingBox();
  await page.mouse.move(piece.x + piece.width / 2, piece.y + piece.height / 2);
  await page.mouse.down();
  await page.mouse.move(piece.x, 4, { steps: 4 });
  await page.mouse.move(4, 4, { steps: 4 });
  await page.mouse.up();
  await harness.cell(page, "36").and(page.locator("[aria-label*=empty]")).waitFor();
  await page.context().close();
});

test("the keyboard puts pieces on the board too", async () => {
  const page = await openEditor();
  await tool(page, "Empty board").click();
  await tool(page, /^White king/).press("Enter");
  await page.locator('[role="gridcell"][tabindex="0"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await harness.cell(page, "12").and(page.locator("[aria-label*='White king']")).waitFor();
  await page.context().close();
});

test("a position is read from text, and what is wrong with it is said while it is typed", async () => {
  const page = await openEditor();
  await text(page).fill("W:WK32:B1,12");
  await harness.cell(page, "12").and(page.locator("[aria-label*='Black man']")).waitFor();
  await page.getByText("The position is valid.").waitFor();
  await text(page).fill("W:WK32:B1,99");
  await status(page)
    .filter({ hasText: /99|square/ })
    .waitFor();
  assert.ok(await page.getByRole("button", { name: "Analyse" }).isDisabled());
  await text(page).fill("<img src=x onerror=alert(1)>");
  await status(page).and(page.locator(".error")).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await page.context().close();
});

test("the counter of turns belongs to the position", async () => {
  const page = await openEditor("capture-halma");
  await page.getByLabel("Turns played by both sides").fill("12");
  await page.getByLabel("Turns played by both sides").blur();
  await waitForText(page, / 12$/);
  await page.context().close();
});

test("a position can be analysed, played, linked to, and saved as a picture", async () => {
  const page = await openEditor("english", { permissions: ["clipboard-read", "clipboard-write"] });
  const position = "W:WK32:BK1,K12";
  await text(page).fill(position);
  await page.getByText("The position is valid.").waitFor();
  const share = () => page.getByText("Share", { exact: true }).click();
  await share();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("Link copied.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  for (const [name, check] of [
    ["SVG", (file) => assert.match(file.toString("utf8"), /^<svg [^]*<circle/)],
    ["PNG", (file) => assert.equal(file.subarray(1, 4).toString(), "PNG")],
  ]) {
    if ((await page.getByRole("button", { name: `Save as ${name}` }).count()) === 0) await share();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: `Save as ${name}` }).click(),
    ]);
    check(readFileSync(await download.path()));
  }
  await page.getByRole("button", { name: "Analyse", exact: true }).click();
  await page.getByText("White to move.").waitFor();
  await page.waitForURL(/position=W:WK32:BK1,K12/);
  const other = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
  await other.goto(link);
  await other.getByText("White to move.").waitFor();
  assert.deepEqual(await harness.shownPieces(other), await harness.shownPieces(page));
  await other.context().close();

  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText("The position is valid.").waitFor();
  await page.getByRole("button", { name: "Play…" }).click();
  await page.getByText("Two players, one screen").click();
  await page.getByRole("button", { name: "Start game" }).click();
  await page.waitForURL(/\/game\//);
  await page.getByText("White to move.").waitFor();
  assert.equal((await harness.shownPieces(page)).length, 3);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});
