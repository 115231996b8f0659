/** Short forms of scores. */
import type { GameInfo, SideLetter } from "../api/types";
import type { Eval } from "./engine";

/** As in PDN: `+0.84`; `#5` if the first side wins in 5 moves, `#-5` if the other one does. */
export function shortScore({ text, winner, plies }: Eval, game: GameInfo): string {
  if (winner === null) return text;
  const moves = Math.ceil((plies ?? 0) / 2);
  return `#${winner === game.sides[0].letter ? "" : "-"}${moves}`;
}

/** Expected score of the side that moves first in a finished game. */
export const finalScore = (winner: SideLetter | null, game: GameInfo | undefined) =>
  winner === null ? 0.5 : Number(winner === game?.sides[0].letter);

/** Four characters for the evaluation bar: `+0.8`, `+12`, `#4`. */
export function barScore(short: string): string {
  const points = Number(short);
  if (Number.isNaN(points)) return short;
  const text = Math.abs(points).toFixed(Math.abs(points) < 9.95 ? 1 : 0);
  return Number(text) === 0 ? text : `${points < 0 ? "-" : "+"}${text}`;
}
