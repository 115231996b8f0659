// Every page: nothing that axe-core objects to, in both themes and at both sizes; nothing wider than
// the screen; the exercises of the rules can all be done on the board.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import * as lab from "./harness.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server, browser, kinds;
before(async () => {
  server = await lab.Server.start();
  browser = await lab.launch();
  kinds = (await server.ask("/api/games")).games;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function examine(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document));
  const told = found.violations.map(
    (own) => `${own.id}: ${own.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
  );
  assert.deepEqual(told, [], what);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${what} is ${wide} pixels wider than the screen`);
}

for (const [size, screen] of Object.entries({ desk: lab.desk, phone: lab.phone })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe-core finds nothing on any page: ${size}, ${colorScheme}`, async () => {
      const page = await lab.visitor(browser, server.address, { ...screen, ...lab.still, colorScheme });
      await page.goto("/");
      await page.getByText("Strength").waitFor();
      await examine(page, "the start");
      await page.getByText("A friend, by link").click();
      await page.getByText("Other", { exact: true }).click();
      await page.getByText("Other rules").click();
      await examine(page, "the start, all open");

      for (const kind of kinds) {
        const [first] = kind.sides;
        const game = await server.game({
          game: kind.id,
          mode: "computer",
          player: "random",
          side: first.letter,
          clock: { time: 600_000, increment: 0 },
        });
        await page.goto(game.seat);
        await page.locator(".cell.movable").first().click();
        await page.locator(".cell.target").first().waitFor();
        await examine(page, `${kind.id}, a piece chosen`);
        await page.locator(".cell.target").first().click();
        await lab.untilMoves(page, 2);
        await page.getByText("Board, links, keys").click();
        await examine(page, `${kind.id}, two moves made`);
        if (size === "phone") {
          await page.evaluate(() => scrollTo(0, 0));
          const board = await page.locator("[role=grid]").boundingBox();
          assert.ok(board.x >= 0 && board.x + board.width <= 360);
          assert.ok(board.y + board.height <= 640, "the whole board is on the screen");
        }
        await page.getByRole("button", { name: "Resign" }).click();
        await examine(page, "the question");
        await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
        await page.locator(".status.over").waitFor();
        await examine(page, `${kind.id}, over`);
      }

      const game = await server.game({ game: "english", mode: "friend", side: "b" });
      await page.goto(game.seat);
      await page.locator("[role=grid]").waitFor();
      await examine(page, "waiting for a friend");
      await page.goto("/");
      await page.getByRole("listitem").first().waitFor();
      await examine(page, "the start, with games");
      await page.goto("/rules");
      await page.locator(".games").waitFor();
      await examine(page, "the list of rules");
      for (const kind of kinds) {
        await page.goto(`/rules/${kind.id}`);
        await page.locator("[role=grid]").waitFor();
        await examine(page, `the rules of ${kind.id}`);
      }
      await page.goto("/nowhere");
      await page.getByText("Nothing is here").waitFor();
      await examine(page, "nowhere");
      await page.goto("/game/AAAAAAAAAAAAAAAA");
      await page.getByText("There is no such game").waitFor();
      await examine(page, "no such game");
      assert.deepEqual(page.complaints, []);
      await page.context().close();
    });
  }
}

for (const id of ["english", "contest", "chinese-checkers", "capture-halma"]) {
  test(`every exercise of ${id} can be done on its board`, async () => {
    const rules = await server.ask(`/api/rules/${id}`);
    const kind = kinds.find((own) => own.id === id);
    const page = await lab.visitor(browser, server.address, lab.still);
    await page.goto(`/rules/${id}`);
    const hand = lab.mouse(page);
    const cellOf = (name) => {
      if (!kind.squares) return name;
      const at = kind.squares.indexOf(Number(name));
      return `${Math.floor(at / 8) + 1}${(at % 8) + 1}`;
    };
    for (const [i, own] of rules.exercises.entries()) {
      await page.getByRole("button", { name: `Exercise ${i + 1}: ` }).click();
      await page.getByText(own.task).waitFor();
      await page.locator("[role=grid]").waitFor();
      if (own.goal.kind === "refused") {
        const parts = own.goal.move.match(kind.squares ? /\d+/g : /\d\d/g).map(cellOf);
        await hand.choose(parts[0]);
        await hand.choose(parts.at(-1));
      } else {
        const text = own.goal.kind === "moves" ? own.goal.moves[0] : undefined;
        const view = await server.ask("/api/position", { game: id, position: own.position });
        const after = text && (await server.ask("/api/position", { game: id, position: own.position, moves: [text] }));
        const move = view.legal.find((legal) => !after || legal.text === after.last.text);
        await page.locator(".cell.movable").first().waitFor();
        // Jump by jump, as the task says it.
        const steps = move.path.slice(1);
        await hand.choose(move.from);
        for (const step of steps) {
          if ((await page.locator(".said.done").count()) === 0) await hand.choose(step);
        }
        if (await page.locator(".cell.end").count()) await hand.choose(move.to);
      }
      await page.locator(".said.done").filter({ hasText: own.praise }).waitFor();
    }
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByText("Both sides are yours").waitFor();
    await page.locator(".cell.movable").first().click();
    await page.locator(".cell.target").first().click();
    await page.getByRole("button", { name: "Take back" }).click();
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  });
}

test("the numbers of the squares can be read in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await lab.visitor(browser, server.address, { colorScheme });
    const game = await server.game({ game: "english", mode: "hotseat" });
    await page.goto(game.seat);
    await page.locator(".number").first().waitFor();
    const [text, ground] = await page.evaluate(() => {
      const number = document.querySelector(".number");
      const colours = [getComputedStyle(number).color, getComputedStyle(number.parentElement).backgroundColor];
      return colours.map((colour) => {
        const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
          const value = Number(part) / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      });
    });
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    assert.ok(contrast >= 4.5, `${colorScheme}: ${contrast}`);
    await page.context().close();
  }
});

test("the theme can be changed, and stays", async () => {
  const page = await lab.visitor(browser, server.address, { colorScheme: "light" });
  await page.goto("/");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("button", { name: "Dark theme" }).click();
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await ground(), dark);
  await page.context().close();
});

test("nothing is loaded from elsewhere, and nothing inline is allowed", async () => {
  const page = await lab.visitor(browser, server.address);
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).origin));
  const answer = await page.goto("/");
  await page.getByText("Strength").waitFor();
  assert.deepEqual([...new Set(asked)], [server.address]);
  const policy = answer.headers()["content-security-policy"];
  assert.ok(!policy.includes("unsafe"), policy);
  await page.context().close();
});
