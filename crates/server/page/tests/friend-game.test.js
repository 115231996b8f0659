// Two people in two browsers by link, a third looking on; offers, the rematch, several tabs.
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

const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
const says = (page, text) => page.getByText(text).first().waitFor();

async function move(page, from, to) {
  const hand = lab.mouse(page);
  await lab.cell(page, from).and(page.locator(".movable")).waitFor();
  await hand.choose(from);
  await hand.choose(to);
}

async function invited(still = lab.still) {
  const ann = await lab.visitor(browser, server.address, still);
  await ann.goto("/");
  await ann.getByText("English checkers", { exact: true }).click();
  await ann.getByText("A friend, by link").click();
  await ann.getByText("Black", { exact: true }).click();
  await ann.getByLabel("Your name").fill("Ann");
  await press(ann, "Start, and get the link");
  const link = await ann.getByLabel("For your friend, to play").first().inputValue();
  const watch = await ann.getByLabel("To watch").first().inputValue();
  await says(ann, "These links work on this machine only.");
  const bob = await lab.visitor(browser, server.address, still);
  await bob.goto(link);
  const carol = await lab.visitor(browser, server.address, still);
  await carol.goto(watch);
  for (const page of [ann, bob, carol]) await page.locator("[role=grid]").waitFor();
  return { ann, bob, carol, link, watch };
}

async function sameEverywhere(pages, count) {
  for (const page of pages) await lab.untilMoves(page, count);
  const [first, ...others] = await Promise.all(pages.map(lab.piecesShown));
  for (const other of others) assert.deepEqual(other, first);
}

test("two browsers play each other by link, a third watches", async () => {
  const { ann, bob, carol, link, watch } = await invited();
  const secret = link.split("#")[1];
  assert.ok(secret.length >= 20);
  assert.ok(!watch.includes("#"), "the link to watch has no secret");
  for (const page of [ann, bob, carol]) assert.equal(new URL(page.url()).hash, "");
  assert.ok(!(await carol.content()).includes(secret));

  await move(ann, "36", "45"); // 11-15
  await move(bob, "63", "54"); // 22-18
  await sameEverywhere([ann, bob, carol], 2);
  // The capture is compulsory, and marked.
  await says(ann, "A capture is compulsory.");
  assert.equal(await ann.locator(".piece.ready.must").count(), 1);
  await move(ann, "45", "63"); // 15x22
  await move(bob, "72", "54"); // 25x18
  await sameEverywhere([ann, bob, carol], 4);
  assert.deepEqual(await lab.movesShown(carol), ["11-15", "22-18", "15x22", "25x18"]);

  // Who looks on can look, and nothing else.
  await says(carol, "You are watching.");
  assert.equal(await carol.getByText("1 watching").count(), 0, "oneself is not another");
  assert.equal(await carol.locator(".movable, .mine").count(), 0);
  await lab.mouse(carol).choose("36");
  assert.equal(await carol.locator(".chosen").count(), 0);
  assert.equal(await carol.getByRole("button", { name: "Resign" }).count(), 0);
  await says(ann, "1 watching");

  // Bob sees Ann's name, and Bob cannot move for her.
  await says(bob, "Ann");
  assert.equal(await bob.locator(".mine").count(), 0);

  // Take-back by agreement.
  await press(bob, "Take back");
  await says(ann, "Your opponent asks to take a move back.");
  await says(carol, "White asks to take a move back.");
  await press(ann, "Decline");
  await bob.getByText("You asked to take back.").waitFor({ state: "detached" });
  await press(bob, "Take back");
  await press(ann, "Accept");
  await bob.waitForFunction(() => document.querySelectorAll(".moves li button").length === 3);
  await move(bob, "74", "52"); // 26x17
  await sameEverywhere([ann, bob, carol], 4);

  // A draw, declined and then agreed.
  await press(ann, "Offer a draw");
  await says(ann, "You offered a draw.");
  await says(bob, "Your opponent offers a draw.");
  await press(bob, "Decline");
  await ann.getByText("You offered a draw.").waitFor({ state: "detached" });
  await press(bob, "Offer a draw");
  await press(ann, "Accept");
  for (const page of [ann, bob, carol]) await page.locator(".status.over").waitFor();

  // The rematch has the colours swapped.
  const old = ann.url();
  await press(ann, "Rematch");
  await says(bob, "Your opponent would like a rematch.");
  await press(bob, "Accept");
  for (const page of [ann, bob]) {
    await page.waitForURL((address) => address.href !== old);
    await page.locator("[role=grid]").waitFor();
  }
  assert.equal(ann.url(), bob.url());
  await move(bob, "36", "45");
  await sameEverywhere([ann, bob], 1);
  await move(ann, "63", "54");
  await sameEverywhere([ann, bob], 2);
  await carol.getByRole("link", { name: "Watch the rematch" }).click();
  await lab.untilMoves(carol, 2);

  // Resigning asks first.
  await press(bob, "Resign");
  await bob.getByRole("dialog").getByRole("button", { name: "Play on" }).click();
  assert.equal(await bob.locator(".status.over").count(), 0);
  await press(bob, "Resign");
  await bob.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  for (const page of [ann, bob, carol]) await page.locator(".status.over").waitFor();
  for (const page of [ann, bob, carol]) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
});

test("a wrong secret leaves one to look on", async () => {
  const { ann, bob, carol, watch } = await invited();
  const dave = await lab.visitor(browser, server.address, lab.still);
  await dave.goto(`${watch}#AAAAAAAAAAAAAAAAAAAAAA`);
  await says(dave, "You are watching.");
  await says(dave, "does not fit a seat");
  for (const page of [ann, bob, carol, dave]) await page.context().close();
});

test("a link cut short neither takes a seat away nor stays", async () => {
  const game = await server.game({ game: "english", mode: "friend", side: "b" });
  const right = `/game/${game.id}#${game.friend}`;
  const page = await lab.visitor(browser, server.address, lab.still);
  await page.goto(right.slice(0, -1));
  await says(page, "does not fit a seat");
  await page.reload();
  await says(page, "You are watching.");
  assert.equal(await page.getByText("does not fit a seat").count(), 0, "said once");
  await page.goto(right);
  await says(page, "You");
  await page.getByRole("button", { name: "Resign" }).waitFor();
  // The seat is the browser's, not only this tab's.
  const later = await page.context().newPage();
  await page.close();
  await later.goto(game.watch);
  await later.getByRole("button", { name: "Resign" }).waitFor();
  // Who has a seat keeps it, whatever link is opened.
  await later.goto(right.slice(0, -1));
  await says(later, "does not fit a seat of this game: you have your own seat.");
  await later.getByRole("button", { name: "Resign" }).waitFor();
  await later.context().close();
});

test("a rematch accepted while one is away has one's seat", async () => {
  const game = await server.game({ game: "english", mode: "friend", side: "b" });
  const ann = await lab.visitor(browser, server.address, lab.still);
  const bob = await lab.visitor(browser, server.address, lab.still);
  await ann.goto(game.seat);
  await bob.goto(`/game/${game.id}#${game.friend}`);
  await press(ann, "Resign");
  await ann.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await press(ann, "Rematch");
  await says(bob, "Your opponent would like a rematch.");
  const later = await ann.context().newPage();
  await ann.close();
  await press(bob, "Accept");
  await bob.waitForURL((address) => !address.href.includes(game.id));
  await later.goto("/");
  await later.getByRole("listitem").first().getByRole("link").click();
  await later.getByRole("link", { name: "To the rematch" }).click();
  await later.waitForURL((address) => !address.href.includes(game.id));
  await later.getByRole("button", { name: "Resign" }).waitFor();
  await move(bob, "36", "45");
  await move(later, "63", "54");
  await lab.untilMoves(bob, 2);
  for (const page of [later, bob]) await page.context().close();
});

test("games that can still be played are never pushed off the list", async () => {
  const game = await server.game({ game: "english", mode: "hotseat" });
  const page = await lab.visitor(browser, server.address, lab.still);
  await page.goto(game.seat);
  await page.getByRole("button", { name: "Resign" }).waitFor();
  await page.evaluate(() => {
    const key = "crownhead.games";
    const own = JSON.parse(localStorage.getItem(key));
    const more = Array.from({ length: 120 }, (_, i) => ({
      id: `AAAAAAAAAAAAA${String(i).padStart(3, "0")}`,
      secret: i % 2 ? null : "x",
      over: i % 2 === 0,
      you: ["b"],
      touched: Date.now() + 1000 + i,
    }));
    localStorage.setItem(key, JSON.stringify([...more, ...own]));
  });
  const other = await server.game({ game: "contest", mode: "hotseat" });
  await page.goto(other.watch);
  await says(page, "You are watching.");
  const kept = await page.evaluate(() => JSON.parse(localStorage.getItem("crownhead.games")));
  assert.equal(kept.length, 101);
  assert.equal(kept.find((own) => own.id === game.id).secret, game.secret);
  assert.equal(kept.filter((own) => own.over).length, 60, "games looked on go before games played");
  await page.context().close();
});

test("an address that no game can have says so", async () => {
  const page = await lab.visitor(browser, server.address, lab.still);
  await page.goto("/game/x");
  await says(page, "There is no such game");
  await page.context().close();
});

test("several tabs on one seat are told everything, and either may move", async () => {
  const game = await server.game({ game: "english", mode: "computer", player: "level:1", side: "b" });
  const one = await lab.visitor(browser, server.address, lab.still);
  await one.goto(game.seat);
  const two = await one.context().newPage();
  await two.goto(game.watch); // the seat is known in this browser
  await move(one, "36", "45");
  await lab.untilMoves(two, 2);
  await two.locator(".cell.movable").first().waitFor();
  const view = await server.position("english", await lab.movesShown(two));
  await lab.makeMove(two, lab.mouse(two), view.legal[0]);
  await lab.untilMoves(one, 4);
  assert.deepEqual(await lab.movesShown(one), await lab.movesShown(two));
  await one.context().close();
});

test("who opens the friend's link in the same browser plays both seats, each in its tab", async () => {
  const game = await server.game({ game: "chinese-checkers", mode: "friend", side: "#" });
  const one = await lab.visitor(browser, server.address, lab.still);
  await one.goto(game.seat);
  const two = await one.context().newPage();
  await two.goto(`/game/${game.id}#${game.friend}`);
  await move(one, "13", "14");
  await move(two, "86", "85");
  await one.reload();
  await move(one, "14", "15");
  await two.reload();
  await lab.untilMoves(two, 3);
  await move(two, "85", "84");
  await lab.untilMoves(one, 4);

  // So it is in the rematch, with the colours swapped.
  await press(one, "Offer a draw");
  await press(two, "Accept");
  await press(one, "Rematch");
  await press(two, "Accept");
  for (const page of [one, two]) await page.waitForURL((address) => !address.href.includes(game.id));
  await move(two, "13", "14");
  await move(one, "86", "85");
  await lab.untilMoves(two, 2);
  await one.context().close();
});

test("one's games are listed in this browser, with whose turn it is, and lead back", async () => {
  const page = await lab.visitor(browser, server.address, lab.still);
  const game = await server.game({ game: "contest", mode: "computer", player: "random", side: "b" });
  await page.goto(game.seat);
  await page.locator(".cell.movable").first().waitFor();
  await page.goto("/");
  const entry = page.getByRole("listitem").filter({ hasText: "Contest checkers" });
  await entry.getByText("Your turn").waitFor();
  await entry.getByRole("link").click();
  await page.locator(".cell.movable").first().waitFor();
  await page.goto("/");
  // Taken off by mistake, it is put back with its seat; a tab that plays it is not disturbed.
  const playing = await page.context().newPage();
  await playing.goto(game.watch);
  await playing.locator(".cell.movable").first().waitFor();
  await page.getByRole("button", { name: "Take Contest checkers off the list" }).click();
  await says(page, "Without its link you cannot play it any more.");
  assert.equal(await playing.locator(".cell.movable").count() > 0, true);
  await press(page, "Undo");
  await entry.getByText("Your turn").waitFor();
  await page.getByRole("button", { name: "Take Contest checkers off the list" }).click();
  await says(page, "Games you play in this browser are listed here");
  await page.context().close();
});
