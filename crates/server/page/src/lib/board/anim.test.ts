import { expect, test } from "vitest";
import { moveTiming } from "./anim";

test("captured pieces fade as they are jumped", () => {
  const { duration, fadeDelays } = moveTiming(["36", "54", "76"], ["45", "65"]);
  const [first = 0, second = 0] = fadeDelays.values();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(duration / 2);
  expect(second).toBeGreaterThan(duration / 2);
  expect(second).toBeLessThan(duration);
});

test("pieces jumped before the shown part of the path fade at once", () => {
  const { fadeDelays } = moveTiming(["54", "76"], ["45", "65"]);
  expect(fadeDelays.get("45")).toBe(0);
  expect(fadeDelays.get("65")).toBeGreaterThan(0);
});

test("long moves take no longer than 1.6 seconds", () => {
  const path = Array.from({ length: 20 }, (_, i) => (i % 2 ? "88" : "11"));
  expect(moveTiming(path, []).duration).toBeCloseTo(1600);
});

test("a path of one cell takes no time", () => {
  expect(moveTiming(["36"], []).duration).toBe(0);
});
