// Games and positions from outside: paste, drop, files of any size, hostile content, and export.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as harness from "./harness.js";

const { openAnalysis } = await harness.startServerAndBrowser();

const GAME = `[Event "Match"]
[Black "Ann"]
[White "Bob"]
[Result "1-0"]
[GameType "21"]

1. 11-15 {[%eval 0.25] a start} 23-19? (23-18 8-11 (12-16 18x11)) 2. 8-11 $5 1-0
`;

/** Does what the clipboard or a drop would do. */
const paste = (page, text) =>
  page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.body.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
    );
  }, text);
const drop = (page, name, content) =>
  page.evaluate(
    ([name, content]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], name));
      const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
    },
    [name, content],
  );
const chooseFile = async (page, name, content) => {
  await page.getByRole("button", { name: "Import…" }).click();
  const buffer = Buffer.from(content);
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer });
};
const rows = (page) => page.getByRole("table", { name: "Games of the file" }).getByRole("row");
const counted = (page, text) => page.getByRole("dialog").getByRole("status").getByText(text);

test("a pasted game opens with its variations, comments, marks and scores", async () => {
  const page = await openAnalysis();
  await paste(page, GAME);
  await page.getByText("Ann – Bob").waitFor();
  assert.deepEqual(await harness.shownTree(page), [
    "1. 11-15 +0.25",
    "a start",
    "1. … 23-19?",
    "1…23-182.8-11(2.12-1618x11)",
    "2. 8-11!?",
  ]);
  await page.context().close();
});

test("a comment before the first move is shown and exported; data in comments is only exported", async () => {
  const page = await openAnalysis();
  await paste(
    page,
    '[Black "Ann"]\n\n{Round one} 1. 11-15 {[%clk 0:04:59] solid} 23-19 {[%clk 0:05:00]} *',
  );
  await page.getByText("Ann", { exact: true }).waitFor();
  assert.deepEqual(await harness.shownTree(page), ["Round one", "1. 11-15", "solid", "1. … 23-19"]);
  await page.reload();
  await page.getByText("Round one").waitFor();
  await page.locator("summary", { hasText: "Share" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save PDN" }).click(),
  ]);
  const text = readFileSync(await download.path(), "utf8").replace(/\s+/g, " ");
  assert.match(
    text,
    /\{Round one\} 1\. 11-15 \{\[%clk 0:04:59\] solid\}.*23-19 \{\[%clk 0:05:00\]\}/,
  );
  await page.context().close();
});

test("several pasted games become a list", async () => {
  const page = await openAnalysis();
  await paste(page, `${GAME}\n${GAME.replace("Ann", "Cy")}`);
  await counted(page, "2 games").waitFor();
  await rows(page).getByRole("button", { name: /Cy/ }).click();
  await page.getByText("Cy – Bob").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("a position or moves alone can be pasted, dropped or typed", async () => {
  const page = await openAnalysis();
  await paste(page, "W:WK32:B1,12");
  await page.getByText("White to move.").waitFor();
  assert.equal((await harness.shownPieces(page)).length, 3);
  // A position of another game is recognised.
  await drop(page, "position.txt", "8/8/2bw4/1b6/8/8/7w/8 b 0\n");
  await page
    .getByRole("heading", { name: "Analysis: Capture Halma" })
    .waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("PDN, moves, or a position").fill("11-15 23-19 8-11");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.locator(".tree .row").first().waitFor();
  await page.getByRole("button", { name: "Import…" }).click();
  await page.getByLabel("PDN, moves, or a position").fill("This is not a game.");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("dialog").getByRole("alert").filter({ hasText: /\w/ }).waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("the tree is exported with variations, comments and scores, and reads back the same", async () => {
  const page = await openAnalysis();
  await paste(page, GAME);
  await page.getByText("Ann – Bob").waitFor();
  const before = await harness.shownTree(page);
  await page.getByText("Share", { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save PDN" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "analysis.pdn");
  const pdn = readFileSync(await download.path(), "utf8");
  for (const part of ['[Black "Ann"]', "[%eval 0.25]", "a start", "23-18", "1-0"]) {
    assert.ok(pdn.includes(part), `${part} in ${pdn}`);
  }
  await page.getByRole("button", { name: "New" }).click();
  await page.getByText("Play a move on the board").waitFor();
  await paste(page, pdn);
  await page.getByText("Ann – Bob").waitFor();
  assert.deepEqual(await harness.shownTree(page), before);
  await page.context().close();
});

/** A file with games of these players. */
const fileOf = (count, black = (i) => `Player ${i}`) =>
  Array.from(
    { length: count },
    (_, i) =>
      `[Event "Event ${i % 7}"]\n[Date "${1900 + (i % 100)}.01.02"]\n[Black "${black(i)}"]\n` +
      `[White "Rival ${(i * 7919) % count}"]\n[Result "*"]\n[GameType "21"]\n\n` +
      `${i % 2 ? "1. 9-13 22-18" : "1. 11-15"} *\n\n`,
  ).join("");

test("100,000 games become a list that is searched and sorted, and each can be opened", async () => {
  const page = await openAnalysis();
  await chooseFile(page, "games.pdn", fileOf(100_000));
  await counted(page, "100,000 games").waitFor();
  assert.ok((await rows(page).count()) < 60, "only the rows in sight are in the document");
  const first = rows(page).nth(1);
  await page.getByRole("searchbox").fill("rival 777 1907");
  await page.waitForFunction(() =>
    /^\d+ of 100,000 games$/.test(document.querySelector("dialog[open] [role=status]").textContent),
  );
  const found = await rows(page).nth(1).innerText();
  assert.match(found, /1907/);
  assert.match(found, /Rival 777/);
  await page.getByRole("searchbox").fill("");
  await counted(page, "100,000 games").waitFor();
  await page.getByRole("columnheader", { name: "White" }).getByRole("button").click();
  await first.getByText("Rival 0", { exact: true }).waitFor();
  await page.getByRole("columnheader", { name: "White" }).getByRole("button").click();
  await first.getByText("Rival 99999", { exact: true }).waitFor();
  const descending = page.getByRole("columnheader", { name: "White" });
  assert.equal(await descending.getAttribute("aria-sort"), "descending");
  await page.getByRole("table", { name: "Games of the file" }).focus();
  await page.keyboard.press("End");
  await rows(page).last().getByText("Rival 0", { exact: true }).waitFor();
  await page.getByRole("columnheader", { name: "No." }).getByRole("button").click();
  await page.getByRole("searchbox").fill("player 4321");
  await page.getByRole("button", { name: /^Open game 4322:/ }).click();
  await page.getByText("Player 4321 – Rival").waitFor();
  assert.deepEqual(await page.locator(".tree .text").allInnerTexts(), ["9-13", "22-18"]);
  await page.getByRole("button", { name: "Games…" }).click();
  await page.getByRole("searchbox").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("names with markup are text everywhere", async () => {
  const page = await openAnalysis();
  await page.evaluate(() => (window.attacked = false));
  const attack = "<img src=x onerror='window.attacked=true'><script>window.attacked=true</script>";
  await chooseFile(
    page,
    `${attack}.pdn`,
    fileOf(3, () => attack),
  );
  await counted(page, "3 games").waitFor();
  assert.match(await rows(page).nth(1).innerText(), /<img src=x/);
  await rows(page).nth(1).getByRole("button").click();
  await page.getByText("<script>", { exact: false }).first().waitFor();
  assert.equal(await page.locator("main img, main script, dialog img").count(), 0);
  assert.equal(await page.evaluate(() => window.attacked), false);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("games that cannot be read are listed with their place, the others stay", async () => {
  const page = await openAnalysis();
  const broken = '[Event "E"]\n[GameType "21"]\n\n1. 11-15 {never closed\n';
  await drop(page, "mixed.pdn", `${fileOf(3)}[GameType "99"]\n\n1. 1-2 *\n\n${fileOf(2)}${broken}`);
  await page.getByText("could not be read").first().waitFor();
  await page.getByText("Games that could not be read").click();
  await page
    .getByText(/Game \d+, line \d+, column \d+: /)
    .first()
    .waitFor();
  assert.ok((await rows(page).count()) >= 5);
  await page.context().close();
});

test("a hostile file is refused in words: noise, endless lines, deep variations, one huge game", async () => {
  const page = await openAnalysis();
  const moves = "1. 11-15 23-19 ".repeat(400_000);
  for (const [name, content] of [
    ["noise.pdn", Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 256))],
    ["line.pdn", `[Event "${"x".repeat(5_000_000)}"]\n`],
    ["deep.pdn", `[Event "a"]\n\n1. 11-15 ${"(".repeat(100_000)}\n[Event "b"]\n\n*`],
    ["huge.pdn", `[Event "a"]\n[GameType "21"]\n\n${moves} *\n`],
  ]) {
    await chooseFile(page, name, content);
    await page.waitForFunction(() => {
      const dialog = document.querySelector("dialog[open]");
      const text = (role) => dialog?.querySelector(`[role=${role}]`)?.textContent ?? "";
      return text("alert") || /\d games?(;|$)/.test(text("status")) || !dialog;
    });
    const open = page.getByRole("dialog");
    const row = open.getByRole("button", { name: /^Open game 1:/ });
    // A game that is too large is refused when it is opened.
    if (await row.count()) {
      await row.click();
      await open.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await harness.playCells(page, ["36", "45"]);
  await page.locator(".tree .row").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});
