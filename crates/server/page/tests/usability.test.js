// What a newcomer trips over: focus, contrast, moving buttons, links, reviewing, remembered choices.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser } = await harness.startServerAndBrowser();

async function open(path, options = {}) {
  const page = await harness.openPage(browser, server.address, {
    ...harness.REDUCED_MOTION,
    ...options,
  });
  await page.goto(path);
  return page;
}

async function openGame(request, options) {
  const game = await server.createGame({ mode: "hotseat", ...request });
  const page = await open(game.seatPath, options);
  await page.locator("[role=grid]").waitFor();
  return page;
}

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

test("after a click on the board the arrow keys, Home and End step through the game", async () => {
  const page = await openGame({ game: "english" });
  await harness.mouse(page).select("36");
  await harness.mouse(page).select("45");
  await page.locator(".cell.movable").first().waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByText("Starting position.").waitFor();
  await page.keyboard.press("End");
  await page.getByText("White to move.").waitFor();
  await page.keyboard.press("Home");
  await page.getByText("Starting position.").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.getByText("White to move.").waitFor();
  const firstCell = () => page.locator("[data-cell]").first().getAttribute("data-cell");
  const before = await firstCell();
  await page.keyboard.press("f");
  assert.notEqual(await firstCell(), before, "F flips the board");
  await page.context().close();
});

/** Places of all buttons and fields below the board's status. */
const controls = (page) =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll(".sidebar :is(button, input)")]
        .filter((control) => !control.closest(".offer, .moves li"))
        .map((control) => [
          control.ariaLabel ?? control.placeholder ?? control.textContent.trim(),
          Math.round(control.getBoundingClientRect().y),
        ]),
    ),
  );

test("an offer moves no button and can be answered only after a moment", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b", name: "Ann" });
  const ann = await open(game.seatPath);
  const bob = await open(game.friendPath);
  for (const name of ["\u202eBob", "Bob"]) {
    await bob.getByLabel("Your name").first().fill(name);
    await bob.getByRole("button", { name: "Set name" }).first().click();
    if (name !== "Bob") await bob.getByText("Name contains control characters.").waitFor();
  }
  await ann.getByText("Bob").first().waitFor();
  assert.equal(await bob.locator(".message").textContent(), "", "the refused name is forgotten");
  await harness.mouse(ann).select("36");
  await harness.mouse(ann).select("45");
  await harness.waitForMoves(bob, 1);
  const before = await controls(bob);
  await bob.evaluate(() => {
    const observer = new MutationObserver(() => {
      const accept = [...document.querySelectorAll("button")].find(
        (button) => button.textContent.trim() === "Accept",
      );
      if (!accept) return;
      window.startedDisabled ??= accept.disabled;
      if (!accept.disabled) window.enabledAfter ??= performance.now() - window.shownAt;
      window.shownAt ??= performance.now();
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await ann.getByRole("button", { name: "Offer draw" }).click();
  await bob.getByText("Your opponent offers a draw.").first().waitFor();
  assert.deepEqual(await controls(bob), before);
  await bob.locator(".offer button:enabled").first().waitFor();
  assert.equal(await bob.evaluate(() => window.startedDisabled), true);
  assert.ok((await bob.evaluate(() => window.enabledAfter)) > 400);
  await harness.mouse(bob).select("63");
  await harness.mouse(bob).select("36");
  await bob.getByRole("alert").filter({ hasText: /\w/ }).first().waitFor();
  assert.deepEqual(await controls(bob), before, "nor does an error message");
  await bob.getByRole("button", { name: "Decline" }).click();
  await ann.getByRole("button", { name: "Take back" }).click();
  await bob.getByText("Your opponent proposes a takeback.").first().waitFor();
  assert.deepEqual(await controls(bob), before, "nor does a take-back request");
  for (const page of [ann, bob]) await page.context().close();
});

/** Vertical places of the board, the players and everything that can be clicked. */
const places = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("[role=grid], .player, .sidebar :is(input, button, summary)")]
      .filter((element) => !element.closest(".offer, .moves li"))
      .map((element) => {
        const { y, height } = element.getBoundingClientRect();
        const name = element.matches("[role=grid], .player")
          ? element.classList[0]
          : element.id || element.ariaLabel || element.textContent.trim();
        return `${name} ${Math.round(y + scrollY)} ${Math.round(height)}`;
      }),
  );

test("nothing moves while the computer thinks, while spectators join or at the end", async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  for (const options of [harness.DESKTOP, phone, harness.PHONE]) {
    for (const game of ["capture-halma", "english:rules=wcdf"]) {
      const created = await server.createGame({
        game,
        mode: "computer",
        player: "level:10",
        thinking: 500,
        side: "b",
        name: "Ann-Kathrin of the Lake",
        clock: { time: 900_000, increment: 10_000 },
      });
      const page = await open(created.seatPath, options);
      await page.locator(".cell.movable").first().waitFor();
      const before = await places(page);
      await page.locator(".cell.movable").first().click();
      await page.locator(".cell.destination").first().click();
      await page.locator(".thinking").waitFor();
      assert.deepEqual(await places(page), before, `${game}: thinking`);
      await harness.waitForMoves(page, 2);
      assert.deepEqual(await places(page), before, `${game}: moved`);
      const watchers = [];
      for (let i = 1; i <= 2; i++) watchers.push(await open(created.watchPath, options));
      await page.getByText("2 spectators").waitFor();
      assert.deepEqual(await places(page), before, `${game}: spectators`);
      const [watcher] = watchers;
      await watcher.getByText("1 other spectator").waitFor();
      const watched = await places(watcher);
      await page.getByRole("button", { name: "Resign" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
      // The buttons are others now.
      const fixed = (list) => list.filter((place) => /^(grid|player|typed-move) /.test(place));
      await page.locator(".status.over").waitFor();
      assert.deepEqual(fixed(await places(page)), fixed(before), `${game}: the end`);
      await watcher.locator(".status.over").waitFor();
      assert.deepEqual(await places(watcher), watched, `${game}: the end, watching`);
      for (const tab of [page, ...watchers]) await tab.context().close();
    }
  }
});

test("the resign dialog focuses the safe button and returns the focus", async () => {
  const page = await openGame({ game: "english" });
  await page.getByRole("button", { name: "Resign" }).focus();
  await page.keyboard.press("Enter");
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  assert.equal(await focused(), "Keep playing");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "Resign");
  assert.equal(await page.locator(".status.over").count(), 0);
  await page.context().close();
});

test("links are copied without a secure context and have a QR code", async () => {
  const page = await openGame({ game: "english" });
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.getByText("Board, links and shortcuts").click();
  await page.evaluate(() => {
    document.addEventListener("copy", () => (window.copied = getSelection().toString()));
  });
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByText("Copied", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => window.copied), page.url());
  await page.getByRole("button", { name: "QR code" }).first().click();
  await page.getByRole("img", { name: "QR code of the link" }).waitFor();
  await page.context().close();
});

test("the link to the own seat works on another device, with the link for the friend", async () => {
  const page = await open("/");
  await page.getByText("A friend, by link").click();
  await page.getByRole("button", { name: "Create game and get link" }).click();
  const friendLink = await page.getByLabel("Link for your friend").first().inputValue();
  await page.getByText("Board, links and shortcuts").click();
  const ownLink = await page.getByLabel("Link to your own seat").first().inputValue();
  const phone = await open(ownLink, harness.PHONE);
  await phone.getByRole("button", { name: "Resign" }).waitFor();
  assert.equal(await phone.getByLabel("Link for your friend").first().inputValue(), friendLink);
  for (const tab of [page, phone]) await tab.context().close();
});

test("a new move does not interrupt the view of an earlier position", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const [ann, bob] = [await open(game.seatPath), await open(game.friendPath)];
  await harness.mouse(ann).select("36");
  await harness.mouse(ann).select("45");
  await harness.waitForMoves(bob, 1);
  await ann.keyboard.press("ArrowLeft");
  await ann.getByText("Starting position.").waitFor();
  await harness.mouse(bob).select("63");
  await harness.mouse(bob).select("54");
  await ann.getByText("Starting position. 1 new move.").waitFor();
  for (const page of [ann, bob]) await page.context().close();
});

test("a game where it is the user's turn is listed first, the right way up", async () => {
  const page = await open("/");
  const mine = await server.createGame({ game: "contest", mode: "friend", side: "b" });
  const theirs = await server.createGame({ game: "english", mode: "friend", side: "w" });
  for (const { seatPath } of [mine, theirs]) {
    await page.goto(seatPath);
    await page.locator("[role=grid]").waitFor();
  }
  await page.goto("/");
  const [first] = [page.getByRole("listitem").first()];
  await first.getByText("Contest checkers").waitFor();
  const topPiece = await first.locator("circle").first().getAttribute("class");
  assert.match(topPiece, /side-0/);
  const y = Number(await first.locator("circle.side-0").first().getAttribute("cy"));
  assert.ok(y > 4, "the user's pieces are at the bottom");
  await page.context().close();
});

test("Start is on the screen, and the last choices are remembered", async () => {
  for (const options of [harness.DESKTOP, harness.PHONE]) {
    const page = await open("/", options);
    const start = page.getByRole("button", { name: "Start game" });
    const box = await start.boundingBox();
    assert.ok(box.y + box.height <= options.viewport.height, `ends at ${box.y + box.height}`);
    await page.getByText("White", { exact: true }).click();
    await page.getByText("Custom", { exact: true }).click();
    await page.getByLabel("Minutes").fill("7");
    await start.click();
    await page.locator("[role=grid]").waitFor();
    await page.getByText("7 min + 5 s per move").waitFor();
    await page.goto("/");
    assert.equal(await page.getByLabel("Minutes").inputValue(), "7");
    assert.ok(await page.getByRole("radio", { name: "White" }).isChecked());
    await page.context().close();
  }
});

test("the defaults are English checkers, level 5 and the first side", async () => {
  const page = await open("/");
  for (const name of ["English checkers", "5", "Black"]) {
    assert.ok(await page.getByRole("radio", { name, exact: true }).isChecked(), name);
  }
  await page.context().close();
});

test("an invalid custom clock is reported, not replaced", async () => {
  const page = await open("/");
  await page.getByText("Custom", { exact: true }).click();
  for (const minutes of ["", "0", "100000"]) {
    await page.getByLabel("Minutes").fill(minutes);
    await page.getByRole("button", { name: "Start game" }).click();
    assert.ok(await page.evaluate(() => document.activeElement.validationMessage), minutes);
    assert.equal(new URL(page.url()).pathname, "/");
  }
  await page.context().close();
});

test("why a game cannot start is shown on the screen", async () => {
  for (const options of [harness.DESKTOP, harness.PHONE]) {
    const page = await open("/", options);
    await page.getByLabel("Your name").fill("\u202eAnn");
    await page.getByRole("button", { name: "Start game" }).click();
    const box = await page.getByText("Name contains control characters.").boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= options.viewport.height, `at ${box.y}`);
    await page.context().close();
  }
});

test("two computers can be watched", async () => {
  const page = await open("/");
  await page.getByText("Watch two computers").click();
  await page.getByRole("group", { name: "Strength of Black" }).getByText("2").click();
  await page.getByRole("group", { name: "Strength of White" }).getByText("3").click();
  await page.getByRole("button", { name: "Watch game" }).click();
  await page.getByText("Level 2").waitFor();
  await page.getByText("Level 3").waitFor();
  await harness.waitForMoves(page, 2);
  assert.equal(await page.locator(".movable, .mine").count(), 0);
  await page.goto("/");
  await page.getByText("Watching Level 2 and Level 3").waitFor();
  await page.context().close();
});

test("a premove is played when the turn comes, or dropped", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const [ann, bob] = [await open(game.seatPath), await open(game.friendPath)];
  for (const page of [ann, bob]) await page.locator("[role=grid]").waitFor();
  const premoves = () => bob.locator(".cell.premove").count();
  await harness.mouse(bob).drag("63", "54"); // 22-18
  assert.equal(await premoves(), 2);
  assert.deepEqual(await harness.shownMoves(bob), []);
  await bob.keyboard.press("Escape");
  assert.equal(await premoves(), 0, "Escape cancels");
  await harness.mouse(bob).select("63");
  await harness.mouse(bob).select("54");
  assert.match(await harness.cell(bob, "54").getAttribute("aria-label"), /premove/);
  await harness.mouse(ann).select("36");
  await harness.mouse(ann).select("47"); // 11-16
  for (const page of [ann, bob]) await harness.waitForMoves(page, 2);
  assert.deepEqual(await harness.shownMoves(ann), ["11-16", "22-18"]);

  await harness.mouse(bob).select("54");
  await harness.mouse(bob).select("43"); // 18-14, but 18x11 will be mandatory
  await harness.mouse(ann).select("34");
  await harness.mouse(ann).select("45"); // 10-15
  await bob.getByText("Your premove was dropped: not legal now.").waitFor();
  assert.equal(await premoves(), 0);
  assert.equal((await harness.shownMoves(bob)).length, 3);
  for (const page of [ann, bob]) await page.context().close();
});

test("a piece selected before the turn stays selected", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const [ann, bob] = [await open(game.seatPath), await open(game.friendPath)];
  for (const page of [ann, bob]) await page.locator("[role=grid]").waitFor();
  await harness.mouse(bob).select("63");
  await harness.mouse(ann).select("36");
  await harness.mouse(ann).select("47");
  await harness.cell(bob, "54").and(bob.locator(".destination")).waitFor();
  await harness.mouse(bob).select("54");
  await harness.waitForMoves(ann, 2);
  for (const page of [ann, bob]) await page.context().close();
});

test("a hint names a legal move and shows it on the board", async () => {
  const page = await openGame({ game: "english", position: "B:W15,32:B1,11" });
  await page.getByRole("button", { name: "Hint" }).click();
  await page.getByText("Try 11x18: it is the only legal move.").waitFor();
  for (const name of ["36", "54"]) {
    assert.ok(await harness.cell(page, name).evaluate((cell) => cell.matches(".hint")), name);
  }
  await harness.mouse(page).select("36");
  await harness.mouse(page).select("54");
  await harness.waitForMoves(page, 1);
  assert.equal(await page.locator(".hint").count(), 0);
  await page.context().close();
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const friend = await open(game.seatPath);
  await friend.getByRole("button", { name: "Resign" }).waitFor();
  assert.equal(await friend.getByRole("button", { name: "Hint" }).count(), 0);
  await friend.context().close();
});

test("the rules in force and the running score are shown", async () => {
  const page = await openGame({ game: "contest:kings=true,draw-plies=20" });
  await page.getByText("draw-plies=20 · kings=true · No clock").waitFor();
  await page.getByText("20 moves until a draw").waitFor();
  await harness.mouse(page).select("36");
  await harness.mouse(page).select("45");
  await page.getByText("19 moves until a draw").waitFor();
  await page.context().close();
  const halma = await openGame({ game: "capture-halma", position: "8/7b/8/8/1b6/8/7w/8 b 398" });
  await halma.getByText("2 moves until the end").waitFor();
  await halma.getByText("2 pieces, 1 point").waitFor();
  await halma.getByText("1 piece, 0 points").waitFor();
  await halma.context().close();
});

test("a message about a lost connection disappears, and a lost offer is reported", async () => {
  const game = await server.createGame({
    game: "english",
    mode: "friend",
    side: "b",
    clock: { time: 600_000, increment: 0 },
  });
  const [ann, bob] = [await open(game.seatPath), await open(game.friendPath)];
  await harness.mouse(ann).select("36");
  await harness.mouse(ann).select("45");
  await harness.waitForMoves(bob, 1);
  await harness.mouse(bob).select("63");
  await harness.mouse(bob).select("54");
  await ann.locator(".clock.running").waitFor();
  await ann.getByRole("button", { name: "Offer draw" }).click();
  await ann.getByText("You offered a draw.").waitFor();
  await server.kill();
  await ann.getByText("Connection lost.").waitFor();
  assert.equal(await ann.locator(".clock.running").count(), 0, "the clock is paused");
  await bob.getByText("Connection lost.").waitFor();
  await bob.getByRole("button", { name: "Take back" }).click();
  await bob.getByText("Not connected to the server.").waitFor();
  await server.restart();
  await ann.getByText("Your draw offer was lost.").waitFor();
  await bob.getByText("Not connected to the server.").waitFor({ state: "detached" });
  for (const page of [ann, bob]) await page.context().close();
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

test("the web app manifest names icons that exist", async () => {
  const page = await open("/");
  const href = await page.locator("link[rel=manifest]").getAttribute("href");
  const response = await page.request.get(href);
  assert.equal(response.headers()["content-type"], "application/manifest+json");
  for (const { src, sizes, type } of (await response.json()).icons) {
    const icon = await page.request.get(src);
    assert.equal(icon.headers()["content-type"], type);
    if (type !== "image/png") continue;
    const width = (await icon.body()).readUInt32BE(16);
    assert.equal(`${width}x${width}`, sizes);
  }
  await page.context().close();
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

test("every kind of move has its own sound", async () => {
  const sounds = new Map();
  for (const [kind, request, cells] of [
    ["step", { game: "english" }, ["36", "45"]],
    ["capture", { game: "english", position: "B:W15,32:B1,11" }, ["36", "54"]],
    ["two captures", { game: "english", position: "B:W15,23,32:B1,11" }, ["36", "54", "76"]],
    ["jumps", { game: "chinese-checkers", position: "8/8/2##1#2/8/8/7O/8/8 # 0" }, ["33", "37"]],
  ]) {
    const page = await openGame(request);
    await page.evaluate(() => {
      window.tones = [];
      const { start } = OscillatorNode.prototype;
      OscillatorNode.prototype.start = function (time) {
        window.tones.push(Math.round(this.frequency.value));
        return start.call(this, time);
      };
    });
    for (const name of cells) await harness.mouse(page).select(name);
    await harness.waitForMoves(page, 1);
    sounds.set(kind, (await page.evaluate(() => window.tones)).join(" "));
    await page.context().close();
  }
  for (const [kind, tones] of sounds) assert.notEqual(tones, "", kind);
  assert.equal(new Set(sounds.values()).size, sounds.size, JSON.stringify([...sounds]));
});
