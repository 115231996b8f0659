/** Exact values in words. */
import type { ExactValue } from "./engine";

type Value = Pick<ExactValue, "result" | "plies" | "proved">;

const VERBS = { win: "wins", draw: "draw", loss: "loses" };

/** As in `wins in 23 plies` or `draw`. A win that a draw counter may prevent says so. */
export function exactText({ result, plies, proved }: Value): string {
  if (!result) return "unknown";
  const within = plies === null ? "" : ` in ${plies} ${plies === 1 ? "ply" : "plies"}`;
  const limit = proved === false ? ", unless a draw counter ends the game first" : "";
  return `${VERBS[result]}${within}${limit}`;
}
