// Every page: no axe-core violations in both themes and sizes, and nothing wider than the screen.
// Every exercise of the rules can be solved on its board.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, browser } = await harness.startServerAndBrowser();
const { games } = await server.request("/api/games");
assert.ok(games.length >= 4);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function audit(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  const describe = ({ id, nodes }) =>
    `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`;
  assert.deepEqual(violations.map(describe), [], name);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(overflow <= 0, `${name} is ${overflow} pixels wider than the screen`);
}

/** Audits a game of one kind from the first move to resignation. */
async function auditGame(page, game, isPhone) {
  const { seatPath } = await server.createGame({
    game: game.id,
    mode: "computer",
    player: "random",
    side: game.sides[0].letter,
    clock: { time: 600_000, increment: 0 },
  });
  await page.goto(seatPath);
  await page.locator(".cell.movable").first().click();
  await page.locator(".cell.destination").first().waitFor();
  await audit(page, `${game.id}, a piece selected`);
  await page.locator(".cell.destination").first().click();
  await harness.waitForMoves(page, 2);
  await page.getByText("Board, links and shortcuts").click();
  await audit(page, `${game.id}, two moves played`);
  if (isPhone) {
    await page.evaluate(() => scrollTo(0, 0));
    const board = await page.locator("[role=grid]").boundingBox();
    assert.ok(board.x >= 0 && board.x + board.width <= 360);
    assert.ok(board.y + board.height <= 640, "the whole board is on the screen");
  }
  await page.getByRole("button", { name: "Resign" }).click();
  await audit(page, `${game.id}, resign dialog`);
  await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await page.locator(".status.over").waitFor();
  await audit(page, `${game.id}, game over`);
}

/** Audits the analysis board with everything open that it has, and the puzzles. */
async function auditAnalysis(page, isPhone) {
  const tab = (name) => isPhone && page.getByRole("tab", { name }).click();
  await page.goto("/analyse#game=english&moves=9-14,21-17,14x21");
  await page.getByRole("list", { name: "Best lines" }).getByRole("button").first().waitFor();
  await page.keyboard.press("Home");
  await harness.playCells(page, ["36", "45"]);
  await page.getByRole("button", { name: "Comment" }).click();
  await audit(page, "analysis board");
  await tab("Lines");
  await page.getByLabel("Engine settings").click();
  await audit(page, "engine settings");
  await page.keyboard.press("Escape");
  await tab("Report");
  await page.getByLabel("Time per move").selectOption("0.1");
  await page.getByRole("button", { name: "Report on the game" }).click();
  await page.getByRole("button", { name: "Judge again" }).waitFor();
  await page.getByText("Numbers").click();
  await audit(page, "report");
  await page
    .getByRole("button", { name: /Learn from/ })
    .first()
    .click();
  await audit(page, "learning from mistakes");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Import…" }).click();
  await audit(page, "import");
  const buffer = Buffer.from('[Event "A"]\n\n1. 11-15 *\n\n[Event "B"]\n\n1. 9-13 *\n');
  const file = { name: "games.pdn", mimeType: "text/plain", buffer };
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByText("2 games").waitFor();
  await audit(page, "games of a file");
  await page.keyboard.press("Escape");
  // One with kings, one with a counter.
  for (const game of games.filter(({ id }) => ["english", "capture-halma"].includes(id))) {
    await page.goto(`/analyse#game=${game.id}`);
    await page
      .getByRole("heading", { name: `Analysis: ${game.name}` })
      .waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByText("The position is valid.").waitFor();
    await audit(page, `position editor of ${game.id}`);
  }
  await page.getByRole("button", { name: "Play…" }).click();
  await audit(page, "playing from a position");
  await page.goto("/puzzles");
  await page.getByRole("heading", { name: "Puzzles", exact: true }).waitFor();
  await audit(page, "list of puzzles");
  await page.goto("/puzzles/english");
  await page.locator("h1").waitFor();
  await audit(page, "puzzles");
}

/** Audits the page of a fleet: with long names that a worker chose, and without a fleet. */
async function auditFleet(page) {
  await page.goto("/fleet");
  await page.getByText("This server shows no fleet.").waitFor();
  await audit(page, "no fleet");
  const status = harness.golden("fleet");
  Object.assign(status.workers[0], { name: "w".repeat(64), machine: "m".repeat(300) });
  status.runs[0].name = "r".repeat(300);
  await page.route("**/api/fleet", (route) => route.fulfill({ json: status }));
  await page.reload();
  await page.getByRole("heading", { name: "Workers" }).waitFor();
  await page.waitForFunction(() => document.styleSheets.length > 1);
  await audit(page, "fleet");
  await page.unroute("**/api/fleet");
}

for (const [size, screen] of Object.entries({ desktop: harness.DESKTOP, phone: harness.PHONE })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe-core finds no violations on any page (${size}, ${colorScheme})`, async () => {
      const options = { ...screen, ...harness.REDUCED_MOTION, colorScheme };
      const page = await harness.openPage(browser, server.address, options);
      await page.goto("/");
      await page.getByText("Strength").waitFor();
      await audit(page, "home page");
      await page.getByText("A friend, by link").click();
      await page.getByText("Custom", { exact: true }).click();
      await page.getByText("Rule options").click();
      await audit(page, "home page, everything expanded");

      for (const game of games) await auditGame(page, game, size === "phone");

      const game = await server.createGame({ game: "english", mode: "friend", side: "b" });
      await page.goto(game.seatPath);
      await page.locator("[role=grid]").waitFor();
      await audit(page, "waiting for a friend");
      await page.goto("/");
      await page.getByRole("listitem").first().waitFor();
      await audit(page, "home page with games");
      await page.goto("/rules");
      await page.getByRole("heading", { name: "Rules", exact: true }).waitFor();
      await audit(page, "list of rules");
      for (const game of games) {
        await page.goto(`/rules/${game.id}`);
        await page.locator("[role=grid]").waitFor();
        await audit(page, `rules of ${game.id}`);
      }
      await auditAnalysis(page, size === "phone");
      await page.goto("/nowhere");
      await page.getByText("Page not found").waitFor();
      await audit(page, "page not found");
      await page.goto("/game/AAAAAAAAAAAAAAAA");
      await page.getByText("This game does not exist").waitFor();
      await audit(page, "game not found");
      assert.deepEqual(page.errors, []);
      await page.context().close();
    });
  }
}

/** Plays the move that an exercise asks for, step by step. */
async function solve(page, game, { goal, position }) {
  const input = harness.mouse(page);
  const squareToCell = (square) => {
    if (!game.squares) return square;
    const index = game.squares.indexOf(Number(square));
    return `${Math.floor(index / 8) + 1}${(index % 8) + 1}`;
  };
  if (goal.kind === "illegal") {
    const path = goal.move.match(game.squares ? /\d+/g : /\d\d/g).map(squareToCell);
    await input.select(path[0]);
    await input.select(path.at(-1));
    return;
  }
  const request = { game: game.id, position };
  const { legal } = await server.request("/api/position", request);
  const expected =
    goal.kind === "moves" &&
    (await server.request("/api/position", { ...request, moves: [goal.moves[0]] }));
  const move = legal.find(({ text }) => !expected || text === expected.last.text);
  await page.locator(".cell.movable").first().waitFor();
  await input.select(move.from);
  // Without captures, a click on a cell where the move may stop plays it.
  for (const step of move.captures.length > 0 ? move.path.slice(1) : [move.to]) {
    if ((await page.locator(".message.done").count()) === 0) await input.select(step);
  }
  if (await page.locator(".cell.stop").count()) await input.select(move.to);
}

for (const [size, screen] of Object.entries({ desktop: harness.DESKTOP, phone: harness.PHONE })) {
  test(`axe-core finds no violations on the page of a fleet (${size})`, async () => {
    for (const look of [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { forcedColors: "active" },
    ]) {
      const page = await harness.openPage(browser, server.address, { ...screen, ...look });
      await auditFleet(page);
      await page.context().close();
    }
  });
}

for (const game of games) {
  test(`every exercise of ${game.id} can be solved on its board`, async () => {
    const rules = await server.request(`/api/rules/${game.id}`);
    const page = await harness.openPage(browser, server.address, harness.REDUCED_MOTION);
    await page.goto(`/rules/${game.id}`);
    for (const [i, exercise] of rules.exercises.entries()) {
      await page.getByRole("button", { name: `Exercise ${i + 1}: ` }).click();
      await page.getByText(exercise.task).waitFor();
      await page.locator("[role=grid]").waitFor();
      await solve(page, game, exercise);
      await page.locator(".message.done").filter({ hasText: exercise.praise }).waitFor();
    }
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByText("Play both sides.").waitFor();
    await page.locator(".cell.movable").first().click();
    await page.locator(".cell.destination").first().click();
    await page.getByRole("button", { name: "Take back" }).click();
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
}

test("square numbers have enough contrast in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await harness.openPage(browser, server.address, { colorScheme });
    const { seatPath } = await server.createGame({ game: "english", mode: "hotseat" });
    await page.goto(seatPath);
    await page.locator(".number").first().waitFor();
    const [text, background] = await page.evaluate(() => {
      const number = document.querySelector(".number");
      const colours = [
        getComputedStyle(number).color,
        getComputedStyle(number.parentElement).backgroundColor,
      ];
      return colours.map((colour) => {
        const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
          const value = Number(part) / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      });
    });
    const contrast = (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
    assert.ok(contrast >= 4.5, `${colorScheme}: ${contrast}`);
    await page.context().close();
  }
});

test("the theme can be changed and is remembered", async () => {
  const page = await harness.openPage(browser, server.address, { colorScheme: "light" });
  await page.goto("/");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "Dark theme" }).click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await background(), dark);
  await page.context().close();
});

test("nothing is loaded from other hosts and nothing inline is allowed", async () => {
  const page = await harness.openPage(browser, server.address);
  const origins = new Set();
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  const response = await page.goto("/");
  await page.getByText("Strength").waitFor();
  assert.deepEqual([...origins], [server.address]);
  const policy = response.headers()["content-security-policy"];
  assert.ok(!policy.replace("'wasm-unsafe-eval'", "").includes("unsafe"), policy);
  await page.context().close();
});
