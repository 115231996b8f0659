// Puzzles: one move is right, replies follow, and the streak counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, open } = await harness.startServerAndBrowser();
const { games } = await server.request("/api/games");

/** Two puzzles that do not change when the shipped ones are made anew. */
const PUZZLES = [
  { position: "B:W15,32:B1,11", goal: "win", solution: ["11x18"], plies: 9, grade: 1 },
  {
    position: "B:WK32:BK10,K15",
    goal: "win",
    solution: ["15-19", "32-28", "10-15"],
    plies: null,
    grade: 2,
  },
];

async function openPuzzles(options) {
  const page = await open("/", options);
  await page.route("**/api/puzzles/english", (route) =>
    route.fulfill({ json: { version: 1, game: "english", puzzles: PUZZLES } }),
  );
  await page.goto("/puzzles");
  await page.getByRole("link", { name: "English checkers" }).click();
  await page.locator("[role=grid]").waitFor();
  return page;
}

const streak = (page) => page.locator("[data-streak]").innerText();
const input = harness.mouse;

test("the right move is praised, counts for the streak, and the next puzzle follows", async () => {
  const page = await openPuzzles();
  await page.getByText("Black to move. One move wins: find it.").waitFor();
  await harness.playCells(page, ["36", "54"]);
  await page.getByText("Solved: the only move that wins").waitFor();
  assert.equal(await streak(page), "1");
  await page.reload();
  await page.locator("[role=grid]").waitFor();
  assert.equal(await streak(page), "1", "the streak is remembered");
  assert.match(await page.locator("dl").innerText(), /Grade\s+2 of 5/, "solved ones do not return");
  await page.context().close();
});

test("another move ends the streak and can be tried again", async () => {
  const page = await openPuzzles();
  await harness.playCells(page, ["36", "54"]);
  await page.getByRole("button", { name: "Next puzzle" }).click();
  await page.locator(".cell.movable").first().waitFor();
  await input(page).select("34");
  await input(page).select("43");
  await page.getByText("does not win. Try again.").waitFor();
  assert.equal(await streak(page), "0");
  await page.getByRole("button", { name: "Show solution" }).click();
  await page.getByText("The solution: 15-19 32-28 10-15").waitFor();
  assert.equal(await streak(page), "0");
  await page.context().close();
});

for (const game of games) {
  test(`${game.id}: the shipped puzzles are legal, and their solutions can be played`, async () => {
    const { puzzles } = await server.request(`/api/puzzles/${game.id}`);
    for (const { position, solution } of puzzles.slice(0, 20)) {
      const view = await server.request("/api/position", {
        game: game.id,
        position,
        moves: solution,
      });
      assert.ok(view.last, `${position}: ${JSON.stringify(view.error)}`);
    }
    const page = await open(`/puzzles/${game.id}`);
    if (puzzles.length === 0) {
      await page.getByText("There are no puzzles for this game.").waitFor();
      return page.context().close();
    }
    await page.locator(".cell.movable").first().waitFor();
    await page.getByText(/One move (wins|saves the game): find it\./).waitFor();
    await page.getByText(`0 of ${puzzles.length}`).waitFor();
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
}
