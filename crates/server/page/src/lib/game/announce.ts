/** Texts for screen readers and status lines. */
import { toSentence } from "../api/client";
import type { Cell, GameInfo, GameState, OfferKind, Outcome, PlayedMove } from "../api/types";
import { cellIndex, isInPlay, pieceInfo, sideName } from "../board/cells";
import { usesRowColumn, type Coordinates } from "./notation";

/** A move, as in "You: 11 to 15, capturing 1 piece." */
export function announceMove(
  game: GameInfo | undefined,
  move: PlayedMove,
  isMine: boolean,
  coordinates: Coordinates,
): string {
  const side = game ? sideName(game, move.side) : move.side;
  const player = isMine ? "You" : side;
  if (move.path.length === 0) return `${player} ${isMine ? "pass" : "passes"}.`;
  const name = (cell: Cell | undefined) => {
    if (!game || !cell || usesRowColumn(game, coordinates)) return cell;
    return game.squares?.[cellIndex(cell)] ?? cell;
  };
  const count = move.captures.length;
  const captures = count === 0 ? "" : `, capturing ${count} ${count === 1 ? "piece" : "pieces"}`;
  return `${player}: ${name(move.path[0])} to ${name(move.path.at(-1))}${captures}.`;
}

export const outcomeText = (outcome: Outcome) => toSentence(outcome.text);

/** Options of the rules that differ from the default, and the time control. */
export function rulesText({ game, clocks }: GameState): string {
  const [, options = ""] = game.split(":");
  const clock = clocks
    ? `${clocks.time / 60_000} min + ${clocks.increment / 1000} s per move`
    : "No clock";
  return [...options.split(","), clock].filter((part) => part).join(" · ");
}

/** When the game ends without progress; empty if it does not. */
export function movesLeftText(game: GameInfo, { outcome, plies_left }: GameState): string {
  if (outcome || plies_left === null) return "";
  const end = game.counts_points ? "the end" : "a draw";
  return `${plies_left} ${plies_left === 1 ? "move" : "moves"} until ${end}`;
}

/** Text of an offer, after the name of the side that makes it. */
export const OFFER_VERBS: Record<OfferKind, string> = {
  draw: "offers a draw",
  "take-back": "proposes a takeback",
  rematch: "offers a rematch",
};

/** An offer, for the player who may accept it. */
export const offerText = (offer: OfferKind) => `Your opponent ${OFFER_VERBS[offer]}.`;

/** The name of a cell, as in "Square 15" or "Row 4, column 5". */
export function cellName(game: GameInfo, cell: Cell, coordinates: Coordinates): string {
  const number = game.squares?.[cellIndex(cell)];
  if (number && !usesRowColumn(game, coordinates)) return `Square ${number}`;
  return `Row ${cell[0]}, column ${cell[1]}`;
}

/** What can be done with a cell. */
export interface CellStatus {
  isSelected: boolean;
  canStop: boolean;
  isDestination: boolean;
  isMovable: boolean;
  mustCapture: boolean;
  isPremove: boolean;
}

/** A cell with its piece and what can be done with it. */
export function describeCell(
  game: GameInfo,
  board: string,
  cell: Cell,
  status: CellStatus,
  coordinates: Coordinates,
): string {
  const name = cellName(game, cell, coordinates);
  if (!isInPlay(game, cell)) return `${name}: not in play`;
  const piece = pieceInfo(game, board[cellIndex(cell)] ?? ".");
  const parts = [piece ? `${game.sides[piece.side].name} ${piece.name}` : "empty"];
  if (status.isSelected) {
    parts.push(status.canStop ? "selected, select again to stop here" : "selected");
  } else if (status.isDestination) parts.push("legal destination");
  else if (status.isMovable) parts.push(status.mustCapture ? "must capture" : "can move");
  if (status.isPremove) parts.push("premove");
  game.targets?.forEach((cells, i) => {
    if (cells.includes(cell)) parts.push(`target of ${game.sides[i === 0 ? 0 : 1].name}`);
  });
  return `${name}: ${parts.join(", ")}`;
}
