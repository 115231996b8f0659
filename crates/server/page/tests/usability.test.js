// What a newcomer trips over: moving buttons, dialogs, links, reviewing, premoves, hints, sounds.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, open, openGame } = await harness.startServerAndBrowser();

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
    [
      ...document.querySelectorAll(
        "[role=grid], .player, .sidebar :is(input, button, summary, a.button)",
      ),
    ]
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
    // Without an opening book, so that the computer thinks.
    for (const game of ["capture-halma", "contest:kings=true"]) {
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

test("a game against a friend has no hints", async () => {
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
