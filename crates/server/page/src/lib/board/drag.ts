/**
 * Pointer input: a press selects a piece, a drag carries it, a release without a drag is a click.
 *
 * While a piece is dragged its element and the cell below it are updated directly, because a
 * Svelte update would visit all 64 cells in every frame.
 */
import type { Cell } from "../api/types";
import type { Piece } from "./pieces.svelte";
import type { BoardState } from "./state.svelte";

/** Pixels after which a press becomes a drag. */
const DRAG_THRESHOLD = 5;

/** The cell at the position of a pointer, null beside the board. `cells` are in the order shown. */
export function cellUnder(
  cells: Cell[],
  { left, top, width, height }: DOMRect,
  event: PointerEvent,
): Cell | null {
  const column = Math.floor(((event.clientX - left) / width) * 8);
  const row = Math.floor(((event.clientY - top) / height) * 8);
  if (row < 0 || row > 7 || column < 0 || column > 7) return null;
  return cells[row * 8 + column] ?? null;
}

interface Press {
  pointerId: number;
  cell: Cell;
  x: number;
  y: number;
  /** Whether the piece was selected before the press. */
  wasSelected: boolean;
  piece: Piece | undefined;
  element: HTMLElement | undefined;
}

export class PointerInput {
  private press: Press | null = null;
  private bounds = new DOMRect();
  private frame = 0;
  private hovered: HTMLElement | null = null;

  constructor(
    private state: BoardState,
    private grid: () => HTMLElement,
  ) {}

  get isPressed(): boolean {
    return this.press !== null;
  }

  onDown = (event: PointerEvent) => {
    const { state } = this;
    if (!state.isActive || this.press || event.button !== 0 || !event.isPrimary) return;
    this.bounds = this.grid().getBoundingClientRect();
    const cell = cellUnder(state.cells, this.bounds, event);
    if (!cell) return;
    const wasSelected = state.lastSelected === cell;
    // A piece that cannot move may be dragged too: the server then explains why.
    if (!wasSelected && state.selected.length < 2 && state.isMine(cell)) state.selected = [cell];
    const piece = state.lastSelected === cell ? state.selectedPiece : undefined;
    this.press = {
      pointerId: event.pointerId,
      cell,
      x: event.clientX,
      y: event.clientY,
      wasSelected,
      piece,
      element: piece && state.pieces.elementOf(piece),
    };
    state.cursor = cell;
    this.grid().setPointerCapture(event.pointerId);
  };

  onMove = (event: PointerEvent) => {
    const { press, state } = this;
    if (press?.pointerId !== event.pointerId || !press.element) return;
    const { element } = press;
    const [x, y] = [event.clientX, event.clientY];
    if (!state.isDragging) {
      if (Math.hypot(x - press.x, y - press.y) < DRAG_THRESHOLD) return;
      state.isDragging = true;
      element.classList.add("dragged");
    }
    const half = this.bounds.width / 16;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.bounds = this.grid().getBoundingClientRect();
      const left = x - this.bounds.left - half;
      const top = y - this.bounds.top - half;
      element.style.transform = `translate(${left}px, ${top}px) scale(1.08)`;
    });
    this.hover(cellUnder(state.cells, this.bounds, event));
  };

  onUp = (event: PointerEvent) => {
    const { press, state } = this;
    if (press?.pointerId !== event.pointerId) return;
    // The layout may have changed since the press.
    this.bounds = this.grid().getBoundingClientRect();
    const target =
      event.type === "pointercancel" ? null : cellUnder(state.cells, this.bounds, event);
    const wasDragged = state.isDragging;
    this.cancel();
    if (wasDragged) {
      if (!target && event.type === "pointerup") state.onDropOutside(press.cell);
      if (!target || target === press.cell) return;
      state.selectCell(target, true);
      state.cursor = target;
    } else if (target === press.cell) state.onClick(press.cell, press.wasSelected);
  };

  /** Ends a press or drag. The piece returns to its cell. */
  cancel() {
    const { press, state } = this;
    cancelAnimationFrame(this.frame);
    this.hover(null);
    state.isDragging = false;
    this.press = null;
    if (!press?.piece || !press.element) return;
    press.element.classList.remove("dragged");
    // The style directive does not know that the element was moved.
    press.element.style.transform = state.placeOf(press.piece);
  }

  private hover(cell: Cell | null) {
    if (cell === (this.hovered?.dataset.cell ?? null)) return;
    this.hovered?.classList.remove("hovered");
    this.hovered = cell ? this.grid().querySelector(`[data-cell="${cell}"]`) : null;
    this.hovered?.classList.add("hovered");
  }
}
