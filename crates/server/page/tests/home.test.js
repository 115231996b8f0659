// The home page: listed games, remembered choices, defaults, refused input, the manifest.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as harness from "./harness.js";

const { server, open } = await harness.startServerAndBrowser();

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
