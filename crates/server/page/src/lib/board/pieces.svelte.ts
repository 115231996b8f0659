/**
 * The pieces on a board. Each keeps its identity from one position to the next, so that it can be
 * animated. The pieces are always those of the current position; animations run on top.
 */
import type { Cell } from "../api/types";
import { fadeOut, moveTiming, prefersReducedMotion, slide, type Place } from "./anim";
import { ALL_CELLS, applyMove, cellIndex } from "./cells";

export interface Piece {
  readonly id: number;
  letter: string;
  cell: Cell;
  /** Captured, and fading out. */
  isLeaving: boolean;
  /** Sliding above the other pieces. */
  isMoving: boolean;
}

interface MoveOnBoard {
  path: Cell[];
  captures: Cell[];
}

/** More changes than this are another position, which is not animated. */
const MAX_ANIMATED_CHANGES = 4;

export class Pieces {
  all: Piece[] = $state([]);
  private elements = new Map<number, HTMLElement>();
  private lastId = 0;
  /** The last move shown, to animate its take-back. */
  private lastMove: MoveOnBoard | null = null;
  /** Letters of moving pieces when they arrive: promotion. */
  private letterOnArrival = new Map<number, string>();

  constructor(
    private place: Place,
    /** Side of a letter on the board. */
    private sideOf: (letter: string) => number,
  ) {}

  /** Attachment that registers the element of a piece. */
  element = (id: number) => (element: HTMLElement) => {
    this.elements.set(id, element);
    return () => void this.elements.delete(id);
  };

  at(cell: Cell | undefined): Piece | undefined {
    return this.all.find((piece) => piece.cell === cell && !piece.isLeaving);
  }

  elementOf(piece: Piece): HTMLElement | undefined {
    return this.elements.get(piece.id);
  }

  /**
   * Shows a position. If `move` led to it, its piece is animated from where it is: the user may
   * have dragged it `stepsDragged` steps along the path already.
   */
  setPosition(board: string, move: MoveOnBoard | null, stepsDragged: number) {
    const current = this.board();
    const undone = this.lastMove;
    this.lastMove = move;
    if (current === board) return;
    if (move && this.isSamePlacement(applyMove(current, move.path, move.captures), board)) {
      this.animateMove(move, stepsDragged);
    } else if (
      undone &&
      this.isSamePlacement(applyMove(board, undone.path, undone.captures), current)
    ) {
      this.animateMove({ path: undone.path.toReversed(), captures: [] }, 0);
    }
    this.reconcile(board);
  }

  /** Slides a piece along a path to the cell where it is now. */
  slide(piece: Piece, path: Cell[], duration?: number) {
    const element = this.elements.get(piece.id);
    if (!element || path.length < 2 || prefersReducedMotion()) return;
    piece.isMoving = true;
    const onArrival = () => {
      piece.isMoving = false;
      piece.letter = this.letterOnArrival.get(piece.id) ?? piece.letter;
      this.letterOnArrival.delete(piece.id);
    };
    slide(element, path, this.place, duration).finished.then(onArrival, onArrival);
  }

  private board(): string {
    const letters = Array.from({ length: 64 }, () => ".");
    for (const piece of this.all) {
      if (!piece.isLeaving) letters[cellIndex(piece.cell)] = piece.letter;
    }
    return letters.join("");
  }

  /** Whether the pieces of both boards are in the same places, promoted or not. */
  private isSamePlacement(a: string, b: string): boolean {
    return [...a].every((letter, i) => this.sideOf(letter) === this.sideOf(b[i] ?? "."));
  }

  private animateMove(move: MoveOnBoard, stepsDragged: number) {
    const piece = this.at(move.path[0]);
    const to = move.path.at(-1);
    if (!piece || !to) return;
    const path = move.path.slice(stepsDragged);
    const { duration, fadeDelays } = moveTiming(path, move.captures);
    for (const [cell, delay] of fadeDelays) {
      const captured = this.at(cell);
      if (captured) this.fadeOut(captured, delay);
    }
    piece.cell = to;
    this.slide(piece, path, duration);
  }

  private fadeOut(piece: Piece, delay: number) {
    piece.isLeaving = true;
    const remove = () => {
      this.all = this.all.filter(({ id }) => id !== piece.id);
    };
    const element = this.elements.get(piece.id);
    if (!element || prefersReducedMotion()) return remove();
    fadeOut(element, this.place(piece.cell), delay).finished.then(remove, remove);
  }

  private add(letter: string, cell: Cell) {
    this.all.push({ id: ++this.lastId, letter, cell, isLeaving: false, isMoving: false });
  }

  /** Updates the pieces to match a board; those that already match are kept. */
  private reconcile(board: string) {
    const isSameSide = (piece: Piece, letter: string) =>
      this.sideOf(piece.letter) === this.sideOf(letter);
    const surplus: Piece[] = [];
    const occupied = new Set<Cell>();
    for (const piece of this.all) {
      if (piece.isLeaving) continue;
      const letter = board[cellIndex(piece.cell)] ?? ".";
      if (!isSameSide(piece, letter)) {
        surplus.push(piece);
        continue;
      }
      occupied.add(piece.cell);
      if (piece.letter === letter) continue;
      if (piece.isMoving) this.letterOnArrival.set(piece.id, letter);
      else piece.letter = letter;
    }
    const missing = ALL_CELLS.filter((cell, i) => board[i] !== "." && !occupied.has(cell));
    const isAnimated = missing.length + surplus.length <= MAX_ANIMATED_CHANGES;
    for (const cell of missing) {
      const letter = board[cellIndex(cell)] ?? ".";
      const match = isAnimated ? surplus.findIndex((piece) => isSameSide(piece, letter)) : -1;
      const [piece] = match < 0 ? [] : surplus.splice(match, 1);
      if (piece) {
        const from = piece.cell;
        piece.cell = cell;
        piece.letter = letter;
        this.slide(piece, [from, cell]);
      } else this.add(letter, cell);
    }
    if (isAnimated) for (const piece of surplus) this.fadeOut(piece, 0);
    else this.all = this.all.filter((piece) => !surplus.includes(piece));
  }
}
