/** Arrows and circles that the user draws with the right mouse button. */
import type { Cell } from "../api/types";

export class ShapeInput {
  /** The shape that is being drawn: a circle, or an arrow from the first cell to the second. */
  path: Cell[] | null = $state.raw(null);
  private pointerId: number | null = null;

  constructor(
    private cellUnder: (event: PointerEvent) => Cell | null,
    private ondraw: (path: Cell[]) => void,
  ) {}

  /** Returns whether the press starts a shape. */
  onDown(event: PointerEvent): boolean {
    const cell = event.button === 2 ? this.cellUnder(event) : null;
    if (!cell) return false;
    this.pointerId = event.pointerId;
    this.path = [cell];
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    return true;
  }

  onMove(event: PointerEvent) {
    const [from] = this.path ?? [];
    if (event.pointerId !== this.pointerId || !from) return;
    const to = this.cellUnder(event);
    const path = to && to !== from ? [from, to] : [from];
    if (path.join() !== this.path?.join()) this.path = path;
  }

  onUp(event: PointerEvent) {
    if (event.pointerId !== this.pointerId || !this.path) return;
    const { path } = this;
    const isOnBoard = this.cellUnder(event) !== null;
    this.path = null;
    this.pointerId = null;
    if (event.type === "pointerup" && isOnBoard) this.ondraw(path);
  }
}
