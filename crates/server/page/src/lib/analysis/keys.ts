/** Keys of the analysis page. */

export type Action =
  | "back"
  | "forward"
  | "previousVariation"
  | "nextVariation"
  | "start"
  | "end"
  | "nextMistake"
  | "flip"
  | "edit"
  | "bestMove"
  | "hint"
  | "toggleEngine";

const KEYS: Record<string, Action> = {
  ArrowLeft: "back",
  ArrowRight: "forward",
  ArrowUp: "previousVariation",
  ArrowDown: "nextVariation",
  Home: "start",
  End: "end",
  " ": "bestMove",
};

/** Single letters; they can be turned off (WCAG 2.1.4). */
const LETTERS: Record<string, Action> = {
  m: "nextMistake",
  f: "flip",
  e: "edit",
  h: "hint",
  x: "toggleEngine",
};

type KeyInput = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "defaultPrevented" | "target"
>;

/** What a key does; null if nothing, or if it belongs to the element with the focus. */
export function keyAction(event: KeyInput, hasLetters: boolean): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target as Element | null;
  if (target?.closest?.("input, select, textarea, dialog, [role=tablist]")) return null;
  // Space and the arrows of a list act on what has the focus.
  if (event.key === " " && target?.closest?.("button, a, summary")) return null;
  const letter =
    event.key.length === 1 && hasLetters ? LETTERS[event.key.toLowerCase()] : undefined;
  return KEYS[event.key] ?? letter ?? null;
}
