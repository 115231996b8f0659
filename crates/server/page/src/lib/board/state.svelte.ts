/** State of a board that the user plays on: the position, the selection and the focused cell. */
import type { Cell, GameInfo, LegalMove, SideLetter } from "../api/types";
import { cellName } from "../game/announce";
import { settings } from "../stores/settings.svelte";
import { ALL_CELLS, cellIndex, isInPlay, pieceSide, sideIndex } from "./cells";
import type { BoardEdit } from "./edit";
import { Pieces, type Piece } from "./pieces.svelte";
import { canStop, capturedSoFar, destinations, isAmbiguous, movable, select } from "./selection";
import type { Shape } from "./shapes";

/** A move entered before the turn: its start and its end. */
export type Premove = readonly [from: Cell, to: Cell];

/** Properties of the board component. */
export interface BoardProps {
  game: GameInfo;
  board: string;
  /** The move that led to the position. */
  lastMove: { path: Cell[]; captures: Cell[] } | null;
  legal: LegalMove[];
  side: SideLetter;
  mustCapture: boolean;
  /** Whether the user may move. */
  active: boolean;
  /** Whether any two cells may be selected, to try an illegal move. */
  allowIllegal?: boolean;
  flipped: boolean;
  label: string;
  /** The side for which the user may enter a move before its turn. */
  premoveSide?: SideLetter | undefined;
  /** The move entered before the turn. */
  premove?: Premove | null;
  /** Cells of a suggested move. */
  hint?: Cell[] | undefined;
  /** Arrows and circles. */
  shapes?: Shape[];
  onmove: (move: LegalMove, path: Cell[]) => void;
  /** The user selected cells that are not a legal move. */
  onillegal: (path: Cell[]) => void;
  onmessage: (text: string) => void;
  /** The user entered a move before the turn, or cancelled it. */
  onpremove?: (premove: Premove | null) => void;
  /** The user drew a circle (one cell) or an arrow (two) with the right mouse button. */
  ondraw?: (path: Cell[]) => void;
  /** The board is that of the position editor. */
  edit?: BoardEdit | undefined;
  /** The user started to type a move. */
  ontype?: (text: string) => void;
}

const NO_CELLS: ReadonlySet<Cell> = new Set();
const NOT_IN_PLAY = "That square is not in play.";

export class BoardState {
  /** The selected piece and the steps selected so far. */
  selected: Cell[] = $state.raw([]);
  /** The cell that had the focus last. */
  cursor: Cell = $state("");
  isDragging = $state(false);
  readonly pieces: Pieces;
  /** Steps of the move that the user has dragged the piece along. */
  private stepsDragged = 0;

  constructor(private props: BoardProps) {
    this.pieces = new Pieces(this.place, (letter) => pieceSide(props.game, letter));
  }

  /** Cells in the order they are shown. */
  cells = $derived.by(() => (this.props.flipped ? ALL_CELLS.toReversed() : ALL_CELLS));
  private legal = $derived.by(() => {
    const { active, allowIllegal, legal } = this.props;
    return active && !allowIllegal ? legal : [];
  });
  movable = $derived.by(() => movable(this.legal));
  destinations = $derived.by(() => destinations(this.legal, this.selected));
  canStop = $derived.by(() => canStop(this.legal, this.selected));
  captured = $derived.by((): ReadonlySet<Cell> =>
    this.selected.length > 1 ? new Set(capturedSoFar(this.legal, this.selected)) : NO_CELLS,
  );
  /** Whether a piece that can move is selected. */
  isSelecting = $derived.by(() => this.destinations.size > 0 || this.selected.length > 1);
  /** The cell that Tab leads to. */
  focusCell = $derived.by(() => {
    const first = this.props.active && this.props.legal.find((move) => move.path[0])?.path[0];
    return this.cursor || first || this.cells[0] || "11";
  });

  /** Whether the user may select pieces. */
  get isActive(): boolean {
    return this.props.active || this.isPremoving || !!this.props.edit;
  }

  /** Whether the user may enter a move before the turn. */
  get isPremoving(): boolean {
    return !this.props.active && this.props.premoveSide !== undefined;
  }

  get lastSelected(): Cell | undefined {
    return this.selected.at(-1);
  }

  get selectedPiece(): Piece | undefined {
    return this.pieces.at(this.selected[0]);
  }

  isMine(cell: Cell): boolean {
    const { active, edit, game, board, premoveSide } = this.props;
    if (edit) return edit.isHand && board[cellIndex(cell)] !== ".";
    const side = active ? this.props.side : premoveSide;
    if (side === undefined) return false;
    return pieceSide(game, board[cellIndex(cell)] ?? ".") === sideIndex(game, side);
  }

  /** Position of a cell as a CSS transform. */
  place = (cell: Cell): string => {
    const index = this.props.flipped ? 63 - cellIndex(cell) : cellIndex(cell);
    return `translate(${(index & 7) * 100}%, ${(index >> 3) * 100}%)`;
  };

  /** Position of a piece: where it stands, or the last cell selected for it. */
  placeOf(piece: Piece): string {
    const isSelected = this.selected[0] === piece.cell && !piece.isLeaving;
    return this.place(isSelected ? (this.lastSelected ?? piece.cell) : piece.cell);
  }

  /** Shows the current position. The selection belongs to the previous one. */
  onPosition() {
    this.pieces.setPosition(this.props.board, this.props.lastMove, this.stepsDragged);
    if (!this.isSelectedEarly()) this.selected = [];
    this.stepsDragged = 0;
  }

  /** The legal moves have changed, or who may move. */
  onTurn() {
    if (!this.isSelectedEarly()) this.deselect();
  }

  /** Whether the selected piece may have been selected before the turn, and is still there. */
  private isSelectedEarly(): boolean {
    const [from, ...steps] = this.selected;
    const isOwn = this.props.premoveSide !== undefined && !!from && this.isMine(from);
    return isOwn && steps.length === 0;
  }

  deselect() {
    const piece = this.selectedPiece;
    const last = this.lastSelected;
    if (!last) return;
    this.selected = [];
    if (piece && last !== piece.cell) this.pieces.slide(piece, [last, piece.cell]);
  }

  onClick(cell: Cell, wasSelected: boolean) {
    if (wasSelected || this.lastSelected !== cell) this.selectCell(cell);
    else if (this.props.edit) return;
    else if (this.isPremoving) this.props.onpremove?.(null);
    else if (!this.props.allowIllegal && !this.movable.has(cell)) this.explainImmovable();
  }

  selectCell(cell: Cell, isDrop = false) {
    if (this.props.edit) return this.selectEdit(cell);
    if (this.isPremoving) return this.selectPremove(cell);
    if (!this.props.active) return;
    if (this.props.allowIllegal) return this.selectAny(cell);
    const before = this.selected;
    const selection = select(this.legal, before, cell, isDrop);
    switch (selection.kind) {
      case "move":
        this.stepsDragged = isDrop
          ? selection.path.indexOf(cell, before.length)
          : before.length - 1;
        this.props.onmove(selection.move, selection.path);
        break;
      case "selected":
        this.extendSelection(before, selection.selected, cell, isDrop);
        break;
      case "deselected":
        this.deselect();
        this.props.onmessage(before.length > 1 ? "Move cancelled." : "");
        break;
      case "illegal":
        this.onIllegal(cell);
    }
  }

  private extendSelection(before: Cell[], selected: Cell[], cell: Cell, isDrop: boolean) {
    if (before.length > 1 && before[0] !== selected[0]) this.deselect();
    this.selected = selected;
    if (selected.length < 2) return;
    const from = before.at(-1);
    if (this.selectedPiece && from && !isDrop) {
      const isExtended = before.every((step, i) => step === selected[i]);
      const path = isExtended ? selected.slice(before.length - 1) : [from, cell];
      this.pieces.slide(this.selectedPiece, path);
    }
    const name = cellName(this.props.game, cell, settings.coordinates);
    const hint = this.canStop
      ? "Select it again to stop here, or continue the move."
      : "Continue the move.";
    this.props.onmessage(`${name}. ${hint}`);
  }

  private onIllegal(cell: Cell) {
    const { game, legal, onmessage, onillegal } = this.props;
    const [from] = this.selected;
    if (this.isMine(cell) && this.selected.length < 2) {
      this.selected = [cell];
      this.explainImmovable();
    } else if (!from) return;
    else if (!isInPlay(game, cell)) onmessage(NOT_IN_PLAY);
    else if (isAmbiguous(legal, from, cell)) {
      onmessage("Several paths lead there. Select the next step.");
    } else onillegal([...this.selected, cell]);
  }

  private explainImmovable() {
    this.props.onmessage(
      this.props.mustCapture
        ? "You must capture with one of the highlighted pieces."
        : "This piece has no legal move. Select a destination to see why.",
    );
  }

  /** Selects a piece and then the end of its move. Any other choice cancels the premove. */
  private selectPremove(cell: Cell) {
    const [from] = this.selected;
    const isOwn = this.isMine(cell);
    if (from && !isOwn && !isInPlay(this.props.game, cell)) {
      return this.props.onmessage(NOT_IN_PLAY);
    }
    this.selected = isOwn && cell !== from ? [cell] : [];
    this.props.onpremove?.(from && !isOwn ? [from, cell] : null);
  }

  /** In the editor: selects a piece and where it goes, or a cell for the chosen piece. */
  private selectEdit(cell: Cell) {
    const { edit } = this.props;
    const [from] = this.selected;
    if (!edit?.isHand) edit?.onplace(cell, false, true);
    else if (!from) this.selected = this.isMine(cell) ? [cell] : [];
    else {
      this.selected = [];
      if (from !== cell) edit.onmove(from, cell);
    }
  }

  /** A piece was dropped beside the board. */
  onDropOutside(from: Cell) {
    if (!this.props.edit) return;
    this.selected = [];
    this.props.edit.onmove(from, null);
  }

  /** Selects a piece and any other cell. */
  private selectAny(cell: Cell) {
    const [from] = this.selected;
    if (from === cell) this.selected = [];
    else if (this.isMine(cell)) this.selected = [cell];
    else if (!from) return;
    else if (!isInPlay(this.props.game, cell)) this.props.onmessage(NOT_IN_PLAY);
    else this.props.onillegal([from, cell]);
  }
}
