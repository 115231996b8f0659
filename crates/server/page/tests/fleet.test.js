// The page of a fleet: figures that change, a fleet that goes away, and servers without one.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as harness from "./harness.js";

const { server, browser, open } = await harness.startServerAndBrowser();
const unreachable = await harness.Server.start({
  args: ["--fleet", "--nats", "nats://127.0.0.1:9"],
});
after(() => unreachable.stop());

/** Opens the page; `respond` answers its requests for the status. */
async function openFleet(respond, options) {
  const page = await open("/", options);
  await page.route("**/api/fleet", respond);
  await page.goto("/fleet");
  return page;
}

const figure = (page, name) =>
  page.locator(".figures div").filter({ hasText: name }).locator("dd").innerText();

test("workers, queue, runs and dead jobs are shown and refreshed", async () => {
  const status = harness.golden("fleet");
  const page = await openFleet((route) => route.fulfill({ json: status }));
  await page.getByText("16 games at once, all with crownhead 0.1.0, bench 1 2 3 4").waitFor();
  assert.equal(await figure(page, "Workers"), "2");
  assert.equal(await figure(page, "Games/s"), "2.4");
  assert.equal(await figure(page, "Jobs waiting"), "20");
  assert.equal(await figure(page, "Jobs running"), "4");
  assert.equal(await figure(page, "Dead jobs"), "1");
  const [first, second] = await page.locator(".runs li").allInnerTexts();
  for (const text of ["240 of 1,000 games", "2.4 games/s", "5 min 17 s left", "1 dead job"]) {
    assert.ok(first.includes(text), `${text} in ${first}`);
  }
  assert.match(second, /time left unknown/);
  const row = page.getByRole("row").filter({ hasText: "worker-2" });
  assert.match(await row.innerText(), /room-12, 1 job.*leaving\s+8\s+2\.8\s+120\s+2\s+1/s);
  await page.getByText("games 7 and 8 ada – bob").waitFor();
  status.waiting = 12_345;
  await page.getByText("12,345").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("a worker cannot put markup on the page", async () => {
  const status = harness.golden("fleet");
  status.workers[0].machine = "<img src=x onerror=alert(1)>";
  const page = await openFleet((route) => route.fulfill({ json: status }));
  await page.getByText("<img src=x onerror=alert(1)>").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await page.context().close();
});

test("the last figures stay while the fleet is away, and are marked", async () => {
  let isAway = false;
  const error = { error: { code: "no-fleet", reason: "no fleet can be reached" } };
  const page = await openFleet((route) =>
    route.fulfill(isAway ? { status: 503, json: error } : { json: harness.golden("fleet") }),
  );
  await page.getByText("worker-2").waitFor();
  isAway = true;
  await page.getByText("No fleet can be reached. These are the figures of").waitFor();
  await page.getByText("worker-2").waitFor();
  isAway = false;
  await page.locator(".lost").waitFor({ state: "detached" });
  await page.context().close();
});

test("a server without a fleet explains how to start one", async () => {
  const page = await open("/");
  await page.getByText("Strength").waitFor();
  assert.equal(await page.getByRole("link", { name: "Fleet" }).count(), 0);
  await page.goto("/fleet");
  await page.getByText("This server shows no fleet.").waitFor();
  await page.getByText("crownhead serve --fleet").waitFor();
  assert.equal((await fetch(`${server.address}/fleet`)).status, 200);
  await page.context().close();
});

test("a server whose fleet cannot be reached works, and explains how to start one", async () => {
  const page = await harness.openPage(browser, unreachable.address);
  await page.goto("/");
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.getByText("No fleet can be reached").waitFor();
  await page.getByText("crownhead fleet up").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});
