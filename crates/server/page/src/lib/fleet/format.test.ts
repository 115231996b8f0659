import { expect, test } from "vitest";
import { golden } from "../api/golden";
import type { FleetStatus } from "../api/types";
import { counted, rate, speed, timeLeft } from "./format";

const { runs, workers } = golden<FleetStatus>("fleet");

test("time left has two units at most and is unknown before the first game", () => {
  const left = (seconds_left: number | null) => timeLeft({ ...runs[0]!, seconds_left });
  expect(left(42)).toBe("42 s left");
  expect(left(317)).toBe("5 min 17 s left");
  expect(left(3_600_000)).toBe("1,000 h 0 min left");
  expect(left(null)).toBe("time left unknown");
});

test("figures are rounded to what they can mean", () => {
  expect([0, 0.123, 2.44, 1234.5].map(rate)).toEqual(["0", "0.12", "2.4", "1,235"]);
  expect([1, 12_345].map((value) => counted(value, "game"))).toEqual(["1 game", "12,345 games"]);
  expect(speed(workers[0]!)).toBe("2.8");
  expect(speed({ ...workers[0]!, speed: {} })).toBe("–");
});
