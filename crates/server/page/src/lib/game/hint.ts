/** Hints in three steps: which piece, which move, why. */
import type { Cell, GameInfo } from "../api/types";
import { toSentence } from "../api/client";
import { cellName } from "./announce";
import { displayMove, type Coordinates } from "./notation";

export type HintStep = 1 | 2 | 3;

/** What is suggested: the move, and why, as in `it saves the man on 15`. */
export interface Suggestion {
  text: string;
  path: Cell[];
  reason: string;
}

/** A hint shows as much as the user has asked for. */
export function hintText(
  game: GameInfo,
  { text, path, reason }: Suggestion,
  step: HintStep,
  coordinates: Coordinates,
): string {
  const [from] = path;
  if (!from) return toSentence(reason);
  if (step === 1) {
    const name = cellName(game, from, coordinates);
    return `Move the piece on ${name.charAt(0).toLowerCase()}${name.slice(1)}.`;
  }
  const move = displayMove(game, { text }, coordinates);
  return step === 2 ? `Try ${move}.` : `Try ${move}: ${toSentence(reason, false)}`;
}

/** The cells that a step marks. */
export const hintCells = ({ path }: Suggestion, step: HintStep): Cell[] =>
  step === 1 ? path.slice(0, 1) : path;

/** The step after one; the last one stays. */
export const nextStep = (step: HintStep): HintStep => (step === 1 ? 2 : 3);

/** The label of the button that asks for a hint, or for more of it. */
export const hintLabel = (step: HintStep | null): string =>
  step === null ? "Hint" : step === 1 ? "Which move?" : step === 2 ? "Why?" : "Hint";
