// Two players in two browsers by link, a spectator, offers, the rematch, and several tabs.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser } = await harness.startServerAndBrowser();

const openPage = () => harness.openPage(browser, server.address, harness.REDUCED_MOTION);
const clickButton = (page, name) => page.getByRole("button", { name, exact: true }).click();
const waitForText = (page, text) => page.getByText(text).first().waitFor();
const resignButton = (page) => page.getByRole("button", { name: "Resign" });
const confirmResignation = (page) =>
  page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();

async function move(page, from, to) {
  const input = harness.mouse(page);
  await harness.cell(page, from).and(page.locator(".movable")).waitFor();
  await input.select(from);
  await input.select(to);
}

/** A game that Ann created and Bob joined by link; Carol watches. */
async function openFriendGame() {
  const ann = await openPage();
  await ann.goto("/");
  await ann.getByText("English checkers", { exact: true }).click();
  await ann.getByText("A friend, by link").click();
  await ann.getByText("Black", { exact: true }).click();
  await ann.getByLabel("Your name").fill("Ann");
  await clickButton(ann, "Create game and get link");
  const friendLink = await ann.getByLabel("Link for your friend").first().inputValue();
  const watchLink = await ann.getByLabel("Link for spectators").first().inputValue();
  await waitForText(ann, "These links work only on this computer.");
  const bob = await openPage();
  await bob.goto(friendLink);
  const carol = await openPage();
  await carol.goto(watchLink);
  for (const page of [ann, bob, carol]) await page.locator("[role=grid]").waitFor();
  return { ann, bob, carol, friendLink, watchLink };
}

/** Checks that all pages show the same board after some moves. */
async function checkSameBoard(pages, moves) {
  for (const page of pages) await harness.waitForMoves(page, moves);
  const [first, ...others] = await Promise.all(pages.map(harness.shownPieces));
  for (const other of others) assert.deepEqual(other, first);
}

test("two browsers play each other by link while a third watches", async () => {
  const { ann, bob, carol, friendLink, watchLink } = await openFriendGame();
  const pages = [ann, bob, carol];
  const secret = friendLink.split("#")[1];
  assert.ok(secret.length >= 20);
  assert.ok(!watchLink.includes("#"), "the spectator link has no secret");
  for (const page of pages) assert.equal(new URL(page.url()).hash, "");
  assert.ok(!(await carol.content()).includes(secret));

  await move(ann, "36", "45"); // 11-15
  await move(bob, "63", "54"); // 22-18
  await checkSameBoard(pages, 2);
  // Mandatory captures are highlighted.
  await waitForText(ann, "Capture is mandatory.");
  assert.equal(await ann.locator(".slot.movable.must-capture").count(), 1);
  await move(ann, "45", "63"); // 15x22
  await move(bob, "72", "54"); // 25x18
  await checkSameBoard(pages, 4);
  assert.deepEqual(await harness.shownMoves(carol), ["11-15", "22-18", "15x22", "25x18"]);

  // A spectator can only watch.
  await waitForText(carol, "You are watching.");
  assert.equal(
    await carol.getByText(/\d+\s+(other )?spectator/).count(),
    0,
    "the user is not counted",
  );
  assert.equal(await carol.locator(".movable, .mine").count(), 0);
  await harness.mouse(carol).select("36");
  assert.equal(await carol.locator(".selected").count(), 0);
  assert.equal(await resignButton(carol).count(), 0);
  await waitForText(ann, /1\s+spectator/);

  // Bob sees Ann's name and cannot move her pieces.
  await waitForText(bob, "Ann");
  assert.equal(await harness.cell(bob, "36").and(bob.locator(".mine")).count(), 0);

  // Take-back: declined, then accepted.
  await clickButton(bob, "Take back");
  await waitForText(ann, "Your opponent proposes a takeback.");
  await waitForText(carol, "White proposes a takeback.");
  await clickButton(ann, "Decline");
  await bob.getByText("You proposed a takeback.").waitFor({ state: "detached" });
  await clickButton(bob, "Take back");
  await clickButton(ann, "Accept");
  await bob.waitForFunction(() => document.querySelectorAll(".moves li button").length === 3);
  await move(bob, "74", "52"); // 26x17
  await checkSameBoard(pages, 4);

  // Draw: declined, then accepted.
  await clickButton(ann, "Offer draw");
  await waitForText(ann, "You offered a draw.");
  await waitForText(bob, "Your opponent offers a draw.");
  await clickButton(bob, "Decline");
  await ann.getByText("You offered a draw.").waitFor({ state: "detached" });
  await clickButton(bob, "Offer draw");
  await clickButton(ann, "Accept");
  for (const page of pages) await page.locator(".status.over").waitFor();

  // The rematch swaps the sides.
  const firstUrl = ann.url();
  await clickButton(ann, "Rematch");
  await waitForText(bob, "Your opponent offers a rematch.");
  await clickButton(bob, "Accept");
  for (const page of [ann, bob]) {
    await page.waitForURL((url) => url.href !== firstUrl);
    await page.locator("[role=grid]").waitFor();
  }
  assert.equal(ann.url(), bob.url());
  await move(bob, "36", "45");
  await checkSameBoard([ann, bob], 1);
  await move(ann, "63", "54");
  await checkSameBoard([ann, bob], 2);
  await carol.getByRole("link", { name: "Watch rematch" }).click();
  await harness.waitForMoves(carol, 2);

  // Resignation needs a confirmation.
  await clickButton(bob, "Resign");
  await bob.getByRole("dialog").getByRole("button", { name: "Keep playing" }).click();
  assert.equal(await bob.locator(".status.over").count(), 0);
  await clickButton(bob, "Resign");
  await confirmResignation(bob);
  for (const page of pages) await page.locator(".status.over").waitFor();
  for (const page of pages) {
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
});

test("a link with a wrong secret leads to watching", async () => {
  const { ann, bob, carol, watchLink } = await openFriendGame();
  const dave = await openPage();
  await dave.goto(`${watchLink}#AAAAAAAAAAAAAAAAAAAAAA`);
  await waitForText(dave, "You are watching.");
  await waitForText(dave, "not valid for a seat");
  for (const page of [ann, bob, carol, dave]) await page.context().close();
});

test("a truncated link neither takes a seat nor keeps one", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const truncated = game.friendPath.slice(0, -1);
  const page = await openPage();
  await page.goto(truncated);
  await waitForText(page, "not valid for a seat");
  await page.reload();
  await waitForText(page, "You are watching.");
  assert.equal(await page.getByText("not valid for a seat").count(), 0, "reported once");
  await page.goto(game.friendPath);
  await waitForText(page, "You");
  await resignButton(page).waitFor();
  // The seat belongs to the browser, not only to the tab.
  const later = await page.context().newPage();
  await page.close();
  await later.goto(game.watchPath);
  await resignButton(later).waitFor();
  // A seat is kept whatever link is opened.
  await later.goto(truncated);
  await waitForText(later, "not valid for a seat in this game. You keep your own seat.");
  await resignButton(later).waitFor();
  await later.context().close();
});

test("a rematch accepted while a player is away has a seat for that player", async () => {
  const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
  const ann = await openPage();
  const bob = await openPage();
  await ann.goto(game.seatPath);
  await bob.goto(game.friendPath);
  await clickButton(ann, "Resign");
  await confirmResignation(ann);
  await clickButton(ann, "Rematch");
  await waitForText(bob, "Your opponent offers a rematch.");
  const later = await ann.context().newPage();
  await ann.close();
  await clickButton(bob, "Accept");
  await bob.waitForURL((url) => !url.href.includes(game.id));
  await later.goto("/");
  await later.getByRole("listitem").first().getByRole("link").first().click();
  await later.getByRole("link", { name: "Go to rematch" }).click();
  await later.waitForURL((url) => !url.href.includes(game.id));
  await resignButton(later).waitFor();
  await move(bob, "36", "45");
  await move(later, "63", "54");
  await harness.waitForMoves(bob, 2);
  for (const page of [later, bob]) await page.context().close();
});

test("games in progress are never dropped from the list", async () => {
  const game = await server.createGame({ game: "english", mode: "hotseat" });
  const page = await openPage();
  await page.goto(game.seatPath);
  await resignButton(page).waitFor();
  await page.evaluate(() => {
    const key = "crownhead.games";
    const games = JSON.parse(localStorage.getItem(key));
    const finished = Array.from({ length: 120 }, (_, i) => ({
      id: `AAAAAAAAAAAAA${String(i).padStart(3, "0")}`,
      secret: i % 2 ? null : "x",
      over: i % 2 === 0,
      you: ["b"],
      lastActivity: Date.now() + 1000 + i,
    }));
    localStorage.setItem(key, JSON.stringify([...finished, ...games]));
  });
  const watched = await server.createGame({ game: "contest", mode: "hotseat" });
  await page.goto(watched.watchPath);
  await waitForText(page, "You are watching.");
  const saved = await page.evaluate(() => JSON.parse(localStorage.getItem("crownhead.games")));
  assert.equal(saved.length, 101);
  assert.equal(saved.find(({ id }) => id === game.id).secret, game.secret);
  assert.equal(
    saved.filter(({ over }) => over).length,
    60,
    "watched games are dropped before played ones",
  );
  await page.context().close();
});

test("an invalid game id is reported", async () => {
  const page = await openPage();
  await page.goto("/game/x");
  await waitForText(page, "This game does not exist");
  await page.context().close();
});

test("several tabs on one seat stay in sync and each can move", async () => {
  const { seatPath, watchPath } = await server.createGame({
    game: "english",
    mode: "computer",
    player: "level:1",
    side: "b",
  });
  const first = await openPage();
  await first.goto(seatPath);
  // The browser knows the seat once the server has accepted the secret.
  await resignButton(first).waitFor();
  const second = await first.context().newPage();
  await second.goto(watchPath);
  await move(first, "36", "45");
  await harness.waitForMoves(second, 2);
  await second.locator(".cell.movable").first().waitFor();
  const view = await server.position("english", await harness.shownMoves(second));
  await harness.makeMove(second, harness.mouse(second), view.legal[0]);
  for (const page of [first, second]) await harness.waitForMoves(page, 4);
  assert.deepEqual(await harness.shownMoves(first), await harness.shownMoves(second));
  await first.context().close();
});

test("both seats can be played in two tabs of one browser", async () => {
  const game = await server.createGame({ game: "chinese-checkers", mode: "friend", side: "#" });
  const first = await openPage();
  await first.goto(game.seatPath);
  const second = await first.context().newPage();
  await second.goto(game.friendPath);
  await move(first, "13", "14");
  await move(second, "86", "85");
  await first.reload();
  await move(first, "14", "15");
  await second.reload();
  await harness.waitForMoves(second, 3);
  await move(second, "85", "84");
  await harness.waitForMoves(first, 4);

  // The rematch swaps the sides of the tabs.
  await clickButton(first, "Offer draw");
  await clickButton(second, "Accept");
  await clickButton(first, "Rematch");
  await clickButton(second, "Accept");
  for (const page of [first, second]) await page.waitForURL((url) => !url.href.includes(game.id));
  await move(second, "13", "14");
  await move(first, "86", "85");
  await harness.waitForMoves(second, 2);
  await first.context().close();
});

test("the list of games shows whose turn it is and links to the game", async () => {
  const page = await openPage();
  const game = await server.createGame({
    game: "contest",
    mode: "computer",
    player: "random",
    side: "b",
  });
  await page.goto(game.seatPath);
  await page.locator(".cell.movable").first().waitFor();
  await page.goto("/");
  const entry = page.getByRole("listitem").filter({ hasText: "Contest checkers" });
  await entry.getByText("Your turn").waitFor();
  await entry.getByRole("link").click();
  await page.locator(".cell.movable").first().waitFor();
  await page.goto("/");
  // Removal can be undone with the seat intact, and does not disturb a tab that plays the game.
  const playing = await page.context().newPage();
  await playing.goto(game.watchPath);
  await playing.locator(".cell.movable").first().waitFor();
  await clickButton(page, "Remove Contest checkers from the list");
  await waitForText(page, "You need its link to continue it.");
  assert.ok((await playing.locator(".cell.movable").count()) > 0);
  await clickButton(page, "Undo");
  await entry.getByText("Your turn").waitFor();
  await clickButton(page, "Remove Contest checkers from the list");
  await waitForText(page, "Games you play in this browser appear here.");
  await page.context().close();
});
