/** Putting pieces on the board of the position editor, with the pointer. */
import type { Cell } from "../api/types";

/** What the editor wants to know of the board. */
export interface BoardEdit {
  /** Whether pieces are dragged; otherwise a press puts a piece on the cell. */
  isHand: boolean;
  /** Puts the chosen piece on a cell, or that of the other side. `isFirst`: the press, not a drag. */
  onplace: (cell: Cell, isOther: boolean, isFirst: boolean) => void;
  /** Moves a piece, or removes it if it was dropped beside the board. */
  onmove: (from: Cell, to: Cell | null) => void;
}

export class EditInput {
  private press: { pointerId: number; cell: Cell | null; isOther: boolean } | null = null;

  constructor(
    private cellUnder: (event: PointerEvent) => Cell | null,
    private edit: () => BoardEdit | undefined,
  ) {}

  /** Returns whether the press puts pieces on the board. */
  onDown(event: PointerEvent): boolean {
    const edit = this.edit();
    const isOther = event.button === 2;
    if (!edit || this.press || (event.button !== 0 && !isOther)) return false;
    if (edit.isHand && !isOther) return false;
    const cell = this.cellUnder(event);
    if (!cell) return false;
    this.press = { pointerId: event.pointerId, cell, isOther };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    edit.onplace(cell, isOther, true);
    return true;
  }

  /** A drag puts the piece on every cell it crosses. */
  onMove(event: PointerEvent) {
    const { press } = this;
    if (!press || event.pointerId !== press.pointerId) return;
    const cell = this.cellUnder(event);
    if (!cell || cell === press.cell) return;
    press.cell = cell;
    this.edit()?.onplace(cell, press.isOther, false);
  }

  onUp(event: PointerEvent) {
    if (event.pointerId === this.press?.pointerId) this.press = null;
  }
}
