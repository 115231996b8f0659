/** Figures of a fleet as text. */
import type { FleetRun, FleetWorker } from "../api/types";

/** A count, as in `12,345`. */
export const count = (value: number) => value.toLocaleString("en");

/** A count and its noun, as in `1 game` or `12,345 games`. */
export const counted = (value: number, noun: string) =>
  `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Games per second, with two digits that mean something. */
export function rate(gamesPerSecond: number): string {
  const digits = gamesPerSecond >= 10 ? 0 : gamesPerSecond >= 1 ? 1 : 2;
  return gamesPerSecond.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Time until the end of a run. */
export function timeLeft({ seconds_left: seconds }: FleetRun): string {
  if (seconds === null) return "time left unknown";
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${Math.floor(seconds)} s left`;
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s left`;
  return `${count(Math.floor(minutes / 60))} h ${minutes % 60} min left`;
}

/** Mean of a worker's millions of nodes per second over the games. */
export function speed({ speed }: FleetWorker): string {
  const speeds = Object.values(speed);
  if (speeds.length === 0) return "–";
  const mean = speeds.reduce((sum, value) => sum + value, 0) / speeds.length;
  return (mean / 1e6).toFixed(1);
}

/** Consecutive games, as in `game 7`, `games 7 and 8` or `games 64 to 127`. */
export function games(numbers: number[]): string {
  if (numbers.length < 2) return `game ${numbers[0] ?? "?"}`;
  const between = numbers.length === 2 ? "and" : "to";
  return `games ${numbers[0]} ${between} ${numbers[numbers.length - 1]}`;
}
