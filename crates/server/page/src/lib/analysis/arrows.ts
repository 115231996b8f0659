/** Arrows for the best lines. */
import type { Shape } from "../board/shapes";
import type { EngineLine } from "./engine";

/** Maximum loss of expected score, against the best line, of a line with an arrow. */
const MAX_LOSS = 0.12;

/** An arrow for the first move of each good line, the best one widest. */
export function bestArrows(lines: EngineLine[]): Shape[] {
  const [best] = lines;
  if (!best) return [];
  const seen = new Set<string>();
  return lines
    .flatMap(({ eval: { expected }, moves: [move] }, index): Shape[] => {
      const loss = Math.abs(best.eval.expected - expected);
      if (!move || move.path.length < 2 || loss > MAX_LOSS || seen.has(move.path.join())) return [];
      seen.add(move.path.join());
      const weight = index === 0 ? 1 : 0.7 - 0.4 * (loss / MAX_LOSS);
      return [{ path: move.path, tone: index === 0 ? "best" : "other", weight }];
    })
    .toReversed();
}
