/** Scores in short. */
import type { GameInfo } from "../api/types";
import type { Eval } from "./engine";

/** As in PDN: `+0.84`; `#5` if the first side wins in 5 moves, `#-5` if the other one does. */
export function shortScore({ text, winner, plies }: Eval, game: GameInfo): string {
  if (winner === null) return text;
  const moves = Math.ceil((plies ?? 0) / 2);
  return `#${winner === game.sides[0].letter ? "" : "-"}${moves}`;
}

/** Four characters for the evaluation bar: `+0.8`, `+12`, `#4`. */
export const barScore = (short: string): string =>
  short.replace(/^([+-]\d\.\d)\d$/, "$1").replace(/^([+-]\d{2,})\..*$/, "$1");
