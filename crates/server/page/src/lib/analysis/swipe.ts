/** Stepping through the moves by swiping over the board. */

const MIN_DISTANCE = 45;

/**
 * Calls `onswipe` with 1 for a swipe to the left, the next move, and -1 for one to the right. A
 * press on a piece that can be dragged is not a swipe.
 */
export function swipe(onswipe: (step: 1 | -1) => void) {
  return (element: HTMLElement) => {
    let from: { id: number; x: number; y: number } | null = null;
    const onDown = (event: PointerEvent) => {
      const isPiece = (event.target as Element).closest(".cell.mine");
      const isTouch = event.pointerType === "touch" && event.isPrimary;
      from =
        isTouch && !isPiece ? { id: event.pointerId, x: event.clientX, y: event.clientY } : null;
    };
    const onUp = (event: PointerEvent) => {
      if (!from || event.pointerId !== from.id) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      from = null;
      if (Math.abs(x) >= MIN_DISTANCE && Math.abs(x) > 2 * Math.abs(y)) onswipe(x < 0 ? 1 : -1);
    };
    const onCancel = () => (from = null);
    element.addEventListener("pointerdown", onDown, true);
    element.addEventListener("pointerup", onUp, true);
    element.addEventListener("pointercancel", onCancel);
    return () => {
      element.removeEventListener("pointerdown", onDown, true);
      element.removeEventListener("pointerup", onUp, true);
      element.removeEventListener("pointercancel", onCancel);
    };
  };
}
