// How the board and the result look: focus, selection, contrast, themes, forced colours.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, open, openGame } = await harness.startServerAndBrowser();

/** Colours of a cell, from a screenshot: of its middle half, or of all of it. */
async function pixels(page, name, part = 0.5) {
  const box = await harness.cell(page, name).boundingBox();
  const size = Math.floor(box.width * part);
  const margin = (box.width - size) / 2;
  const clip = { x: box.x + margin, y: box.y + margin, width: size, height: size };
  const image = (await page.screenshot({ clip })).toString("base64");
  return page.evaluate(async (image) => {
    const bytes = Uint8Array.from(atob(image), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return [...context.getImageData(0, 0, bitmap.width, bitmap.height).data];
  }, image);
}

const differing = (a, b) =>
  a.filter((value, i) => Math.abs(value - b[i]) > 8).length / Math.max(1, a.length);

/** Mean of all colour values. */
const brightness = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("the piece on a focused cell stays visible", async () => {
  const page = await openGame({ game: "english" });
  const before = await pixels(page, "32");
  const whole = await pixels(page, "32", 1);
  await page.locator('[role="gridcell"][tabindex="0"]').focus();
  await harness.keyboard(page).select("36");
  await page.keyboard.press("Escape");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowLeft");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.cell), "32");
  assert.ok(differing(before, await pixels(page, "32")) < 0.05);
  assert.ok(differing(whole, await pixels(page, "32", 1)) > 0.08, "the focus is visible");
  await page.context().close();
});

test("a selected cell looks selected while it has the focus", async () => {
  const page = await openGame({ game: "english" });
  await harness.keyboard(page).select("36");
  const style = await harness
    .cell(page, "36")
    .evaluate((cell) => [getComputedStyle(cell).backgroundImage, getComputedStyle(cell).boxShadow]);
  await page.keyboard.press("Escape");
  const plain = await harness
    .cell(page, "36")
    .evaluate((cell) => [getComputedStyle(cell).backgroundImage, getComputedStyle(cell).boxShadow]);
  assert.notEqual(style[0], plain[0]);
  assert.notEqual(style[1], plain[1]);
  await page.context().close();
});

test("forced colours show the pieces of both sides, and differently", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openGame({ game: "english" }, { forcedColors: "active", colorScheme });
    const [black, white, empty] = [
      await pixels(page, "12"),
      await pixels(page, "81"),
      await pixels(page, "41"),
    ];
    assert.ok(differing(black, empty) > 0.3, "a black piece differs from an empty cell");
    assert.ok(differing(white, black) > 0.3, "the sides differ");
    assert.ok(brightness(white) > brightness(black), `White is white (${colorScheme})`);
    const [whiteCell, emptyCell] = [await pixels(page, "81", 1), await pixels(page, "41", 1)];
    assert.ok(differing(whiteCell, emptyCell) > 0.1, "a white piece differs from an empty cell");
    await harness.mouse(page).select("36");
    const target = await pixels(page, "45");
    assert.ok(differing(target, await pixels(page, "41")) > 0.1, "a destination is marked");
    const borders = await page
      .locator(".player")
      .evaluateAll((players) => players.map((player) => getComputedStyle(player).borderLeftColor));
    assert.notEqual(borders[0], borders[1], "the side to move is marked");
    await page.goto("/");
    await page.locator("fieldset label :checked").first().waitFor({ state: "attached" });
    const fills = await page
      .locator("fieldset label")
      .evaluateAll((labels) => labels.slice(0, 2).map((l) => getComputedStyle(l).backgroundColor));
    assert.notEqual(fills[0], fills[1], "the chosen game is marked");
    const discs = await page
      .locator(".mini-board")
      .first()
      .evaluate((board) => {
        const fill = (side) => getComputedStyle(board.querySelector(`circle.side-${side}`)).fill;
        return [fill(0), fill(1)].map((fill) => fill.match(/\d+/g).map(Number));
      });
    assert.ok(brightness(discs[1]) > brightness(discs[0]), "also in a thumbnail");
    await page.context().close();
  }
});

test("the result says who won and looks different for each", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const [ann, bob] = [await open(game.seatPath), await open(game.friendPath)];
  await ann.getByRole("button", { name: "Resign" }).click();
  await ann.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  const drawn = await openGame({ game: "english" });
  await drawn.getByRole("button", { name: "Agree draw" }).click();
  const looks = [];
  for (const [page, text] of [
    [ann, "You lost"],
    [bob, "You won"],
    [drawn, "Draw"],
  ]) {
    await page.locator(".status.over .result").getByText(text).waitFor();
    looks.push(
      await page.locator(".status.over").evaluate((status) => {
        const { backgroundColor, borderLeftStyle } = getComputedStyle(status);
        return [backgroundColor, borderLeftStyle];
      }),
    );
    await page.context().close();
  }
  for (const property of [0, 1]) {
    assert.equal(new Set(looks.map((look) => look[property])).size, 3, JSON.stringify(looks));
  }
});

/** Contrast of a mark with its cell as it looks, with the tint of the cell. */
const contrast = (page, cell, property, pseudo) =>
  harness.cell(page, cell).evaluate(
    (element, [property, pseudo]) => {
      const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      const luminance = (...colours) => {
        for (const colour of colours) {
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
        }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
          const value = part / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const colourIn = (text) => text.match(/(rgba?|color|oklab)\([^)]*\)|#\w+/)?.[0];
      const style = getComputedStyle(element);
      const tint = property === "backgroundImage" ? null : colourIn(style.backgroundImage);
      const background = [style.backgroundColor, ...(tint ? [tint] : [])];
      const colour = colourIn(getComputedStyle(element, pseudo || null)[property]);
      const [a, b] = [luminance(...background, colour), luminance(...background)];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    },
    [property, pseudo],
  );

test("marks on the board have a contrast of at least 3:1 in every theme", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const check = async (page, cell, property, pseudo) => {
      for (const board of ["wood", "green", "contrast"]) {
        await page.evaluate((board) => (document.documentElement.dataset.board = board), board);
        const ratio = await contrast(page, cell, property, pseudo);
        assert.ok(ratio >= 3, `${board}, ${colorScheme}, ${cell} ${property}: ${ratio}`);
      }
    };
    const halma = { game: "capture-halma", position: "8/8/2bw4/1b6/8/8/7w/8 b 0" };
    const page = await openGame(halma, { colorScheme });
    await check(page, "17", "backgroundColor", "::before");
    await check(page, "12", "backgroundColor", "::before");
    await page.getByRole("button", { name: "Hint" }).click();
    await page.locator(".hint").first().waitFor();
    const hinted = await page.locator(".hint").first().getAttribute("data-cell");
    await check(page, hinted, "outlineColor");
    await harness.mouse(page).select("33");
    await check(page, "33", "boxShadow");
    await check(page, "35", "backgroundColor", "::after");
    await harness.mouse(page).select("35");
    await page.locator(".captured").waitFor();
    await check(page, "33", "boxShadow");
    await check(page, "34", "backgroundColor", "::after");
    await page.context().close();
    const english = { game: "english", position: "B:W15,32:B1,11" };
    const squares = await openGame(english, { colorScheme });
    await harness.mouse(squares).select("36");
    await check(squares, "36", "boxShadow");
    await check(squares, "54", "boxShadow", "::after");
    await harness.mouse(squares).select("54");
    await squares.locator(".captured").waitFor();
    await check(squares, "36", "boxShadow");
    await check(squares, "45", "backgroundColor", "::after");
    await squares.context().close();
    for (const [game, side, from, to] of [
      ["english", "b", "63", "54"],
      ["chinese-checkers", "#", "86", "85"],
    ]) {
      const { friendPath } = await server.createGame({ game, mode: "friend", side });
      const waiting = await open(friendPath, { colorScheme });
      await waiting.locator("[role=grid]").waitFor();
      await harness.mouse(waiting).select(from);
      await harness.mouse(waiting).select(to);
      await check(waiting, to, "backgroundImage");
      await waiting.context().close();
    }
  }
});

test("a board theme is remembered and tells the sides apart without colour", async () => {
  for (const theme of ["Wood", "Green", "High contrast"]) {
    for (const game of ["english", "chinese-checkers"]) {
      const page = await openGame({ game });
      await page.getByText("Board, links and shortcuts").click();
      await page.getByLabel("Board and pieces").selectOption(theme);
      await page.reload();
      await page.locator(".piece").first().waitFor();
      const isChinese = game === "chinese-checkers";
      const [first, second] = isChinese ? ["11", "88"] : ["12", "81"];
      // The same colours for both sides, on cells of the same colour.
      const colours = "--face: #888; --edge: #333; --shine: #bbb; --rim: #eee; --groove: #555";
      const css = `.slot.slot .piece.piece { ${colours.replaceAll(";", " !important;")} !important }
        .cell.cell { background: #999 !important; box-shadow: none !important }
        .cell::before, .number, .slot::after { display: none !important }`;
      await page.evaluate((css) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(css);
        document.adoptedStyleSheets = [sheet];
      }, css);
      const difference = differing(await pixels(page, first, 0.8), await pixels(page, second, 0.8));
      assert.ok(difference > 0.05, `${theme}, ${game}: ${difference}`);
      await page.context().close();
    }
  }
});
