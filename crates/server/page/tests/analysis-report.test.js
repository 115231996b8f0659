// The report of a whole game: progress, mistakes, accuracy, graph, and learning from mistakes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as harness from "./harness.js";

const { openAnalysis } = await harness.startServerAndBrowser();
const folder = mkdtempSync(join(tmpdir(), "crownhead-report-"));
after(() => rmSync(folder, { recursive: true }));

/** White gives a man away with 21-17. */
const MOVES = ["9-14", "21-17", "14x21", "22-18", "12-16", "18-15", "10x19", "24x15", "11x18"];
const LINK = `game=english&moves=${MOVES.join(",")}`;

async function openReport(page) {
  await page.getByLabel("Time per move").selectOption("0.1");
  await page.getByRole("button", { name: "Report on the game" }).click();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("button", { name: "Judge again" }).waitFor();
}

test("a click judges every move: mistakes with better lines, accuracy, graph", async () => {
  const page = await openAnalysis(LINK);
  await openReport(page);
  const report = page.getByRole("region", { name: "Report" });
  assert.match(await report.innerText(), /Accuracy\s+\d+\.\d %\s+\d+\.\d %/);
  assert.match(await report.innerText(), /[Tt]urning point/);
  const mistakes = page.getByRole("list", { name: "Mistakes" }).getByRole("listitem");
  assert.ok((await mistakes.count()) > 0);
  assert.match(await mistakes.first().innerText(), /(\?!|\?|\?\?)[^]*better \d/);
  const marked = await page.locator(".tree .row .mark").count();
  assert.equal(await mistakes.count(), marked, "the tree has the same marks");
  assert.ok((await page.locator(".tree .variation").count()) >= marked, "and the better lines");
  assert.equal(await page.locator(".graph .tick").count(), marked, "and so has the graph");
  // The graph leads to the moves.
  const graph = await page.locator(".graph svg").boundingBox();
  await page.mouse.click(graph.x + 1, graph.y + graph.height / 2);
  await page.getByText("Black to move.").waitFor();
  assert.equal(await page.locator(".tree [aria-current]").count(), 0, "the start");
  await page.mouse.click(graph.x + graph.width - 1, graph.y + graph.height / 2);
  assert.equal(await page.locator(".tree [aria-current] .text").innerText(), "11x18");
  await page.keyboard.press("Home");
  await page.keyboard.press("m");
  assert.equal(await page.locator(".tree [aria-current] .mark").count(), 1, "the next mistake");
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("the report has the judgements and the JSON of `crownhead analyse`", async () => {
  const file = join(folder, "game.pdn");
  writeFileSync(file, `[GameType "21"]\n\n${MOVES.join(" ")} *\n`);
  const args = ["analyse", file, "--nodes", "3000", "--threads", "1", "--json"];
  const [expected] = JSON.parse(
    execFileSync(harness.program, args, {
      encoding: "utf8",
      env: { ...process.env, CROWNHEAD_CACHE: join(folder, "cache") },
    }),
  ).games;
  const page = await openAnalysis(LINK);
  const worker = readdirSync(new URL("../dist/assets/", import.meta.url)).find((name) =>
    name.startsWith("worker-"),
  );
  const found = await page.evaluate(
    async ([worker, moves]) => {
      const module = await WebAssembly.compileStreaming(fetch("/crownhead.wasm"));
      const engine = new Worker(`/assets/${worker}`, { type: "module" });
      const spec = { game: "english", moves };
      engine.postMessage({ module, stopped: null });
      engine.postMessage({ id: 1, request: { call: "report", spec, limits: { nodes: 3000 } } });
      return new Promise((resolve) => {
        engine.onmessage = ({ data }) => {
          const message = JSON.parse(data.message);
          if (message.type === "result") resolve(message.value);
        };
      });
    },
    [worker, MOVES],
  );
  const keys = (value) => Object.keys(value).sort();
  assert.deepEqual(keys(found), keys(expected));
  assert.deepEqual(keys(found.moves[0]), keys(expected.moves[0]));
  assert.deepEqual(keys(found.sides[0]), keys(expected.sides[0]));
  const judged = ({ moves }) => moves.map(({ move, mark, verdict }) => [move, mark, verdict]);
  assert.deepEqual(judged(found), judged(expected));
  await page.context().close();
});

test("a report can be cancelled", async () => {
  const page = await openAnalysis(LINK);
  await page.getByLabel("Time per move").selectOption("2");
  await page.getByRole("button", { name: "Report on the game" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Report on the game" }).waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 0);
  await page.context().close();
});

test("learning from mistakes: a bad answer is refused, the better move is right", async () => {
  const page = await openAnalysis(LINK);
  await openReport(page);
  const item = page.getByRole("list", { name: "Mistakes" }).getByRole("listitem");
  const texts = await item.allInnerTexts();
  const white = texts.find((text) => /^\d+…/.test(text));
  const played = white.match(/^\d+…\s*(\S+)/)[1];
  const better = white.match(/better (\S+)/)[1];
  await page.getByRole("button", { name: /Learn from White’s mistakes/ }).click();
  const card = page.getByRole("region", { name: "Learn from mistakes" });
  await card.getByText(`White played ${played}`).waitFor();
  await page.getByText("The moves are hidden").waitFor();
  const squares = (move) => move.match(/\d+/g).map((square) => cellOf(Number(square)));
  const answer = async (move) => {
    for (const name of squares(move)) await harness.mouse(page).select(name);
  };
  await answer(played);
  await card.getByText("was played in the game").waitFor();
  await card.getByRole("button", { name: "Try again" }).click();
  await answer(better);
  await card.getByText(`${better} is best.`).waitFor();
  await card.getByText("1 solved").waitFor();
  await card.getByRole("button", { name: "Stop" }).click();
  await page.locator(".tree .row").first().waitFor();
  await page.context().close();
});

/** The cell of a square number of English checkers. */
function cellOf(square) {
  const row = Math.ceil(square / 4);
  return `${row}${((square - 1) % 4) * 2 + (row % 2 === 1 ? 2 : 1)}`;
}
