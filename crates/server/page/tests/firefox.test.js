// Playing and analysing in Firefox, driven by WebDriver.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as harness from "./harness.js";

const server = await harness.Server.start();
const browser = await harness.launchFirefox();
after(async () => {
  await browser.close();
  await server.stop();
});

async function open(path) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(server.address + path);
  await page.locator("[role=grid]").wait();
  return page;
}

const cell = (name) => `[data-cell="${name}"]`;
async function play(page, from, to) {
  await page.locator(`${cell(from)}.movable`).click();
  await page.locator(`${cell(to)}.destination`).click();
}
const textOf = (page, selector) => page.$eval(selector, (element) => element.innerText);
const waitFor = (page, condition, ...args) => page.waitForFunction(condition, {}, ...args);

test("a game against the computer in Firefox: by click, by drag, to its end", async () => {
  const request = { game: "english", mode: "computer", player: "random", side: "b" };
  const game = await server.createGame(request);
  const page = await open(game.seatPath);
  await play(page, "36", "45");
  const moves = (count) =>
    waitFor(page, (count) => document.querySelectorAll(".moves li button").length >= count, count);
  await moves(2);
  const movable = await page.waitForSelector(".cell.movable");
  await movable.click();
  const destination = await page.waitForSelector(".cell.destination");
  const [a, b] = [await movable.boundingBox(), await destination.boundingBox()];
  await page.keyboard.press("Escape");
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 5 });
  await page.mouse.up();
  await moves(3);
  await page.locator("::-p-aria(Resign)").click();
  await page.locator("dialog[open] ::-p-aria(Resign)").click();
  await waitFor(page, () => document.querySelector(".status.over")?.innerText.includes("You lost"));
  assert.deepEqual(page.errors, []);
  await page.browserContext().close();
});

test("analysing in Firefox: engine, variations, report, position editor", async () => {
  const page = await open("/analyse#game=english&moves=9-14,21-17,14x21");
  await waitFor(page, () => document.querySelector(".engine ol button"));
  await waitFor(page, () => /depth \d+.*n\/s/s.test(document.querySelector(".engine").innerText));
  assert.ok(await page.evaluate(() => crossOriginIsolated));
  await page.keyboard.press("Home");
  await play(page, "36", "45");
  await waitFor(page, () => document.querySelector(".tree .variation"));
  await page.keyboard.press(" ");
  await page.locator("::-p-aria(Report on the game)").click();
  await waitFor(page, () => document.querySelector(".mistakes li"));
  assert.match(await textOf(page, ".report"), /Accuracy\s+\d/);
  await page.locator("::-p-aria(Edit)").click();
  await waitFor(page, () => document.querySelector(".editor .state")?.innerText.includes("valid"));
  assert.deepEqual(page.errors, []);
  await page.browserContext().close();
});
