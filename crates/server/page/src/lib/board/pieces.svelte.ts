/**
 * The pieces on a board, each the same piece from one position to the next, so that it can be seen
 * moving. What is shown is right at once; the movement is decoration on top of it, which the browser
 * does by itself and which people who do not want it do not get.
 */
import { cell, index, isBetween, moved } from "./cells";

export interface Piece {
  readonly id: number;
  letter: string;
  cell: string;
  /** It has been taken, and is on its way out. */
  leaving: boolean;
  /** It is above the others. */
  moving: boolean;
}

interface Way {
  path: string[];
  captures: string[];
}

/** A step to the next cell, and what each further cell adds. */
const STEP = 190;
const FURTHER = 35;
const LEAVE = 200;
const LONGEST = 1600;

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

export class Pieces {
  all: Piece[] = $state([]);
  private elements = new Map<number, HTMLElement>();
  private ids = 0;
  /** The last way gone, to be able to go it back. */
  private last: Way | null = null;

  /** Where a cell is, as a transform of a piece. */
  constructor(private place: (cell: string) => string) {}

  /** Gives a piece its element. */
  element = (id: number) => (element: HTMLElement) => {
    this.elements.set(id, element);
    return () => void this.elements.delete(id);
  };

  at(cell: string): Piece | undefined {
    return this.all.find((piece) => piece.cell === cell && !piece.leaving);
  }

  elementOf(piece: Piece): HTMLElement | undefined {
    return this.elements.get(piece.id);
  }

  private get letters(): string {
    const letters = Array.from({ length: 64 }, () => ".");
    for (const piece of this.all) if (!piece.leaving) letters[index(piece.cell)] = piece.letter;
    return letters.join("");
  }

  /**
   * Shows a board. If the way that led to it is known, the piece goes it, from where it is: a hand
   * may have put it along the way already.
   */
  show(board: string, way: Way | null, gone: number) {
    const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
    const now = this.letters;
    const back = this.last;
    this.last = way;
    if (now === board) return;
    if (way?.path.length && same(moved(now, way.path, way.captures), board)) {
      this.go(way, gone);
    } else if (back?.path.length && same(moved(board, back.path, back.captures), now)) {
      this.go({ path: back.path.toReversed(), captures: [] }, 0);
    }
    this.settle(board);
  }

  /** Lets a piece go its way, and what it takes leave as it is taken. */
  private go(way: Way, gone: number) {
    const [from] = way.path;
    const to = way.path.at(-1);
    const piece = from ? this.at(from) : undefined;
    if (!piece || !to) return;
    const path = way.path.slice(gone);
    const times = [0];
    for (let i = 1; i < path.length; i++) {
      times.push((times[i - 1] ?? 0) + legTime(path[i - 1] ?? to, path[i] ?? to));
    }
    const total = times.at(-1) ?? 0;
    const faster = total > LONGEST ? LONGEST / total : 1;
    for (const taken of way.captures) {
      const leg = path.findIndex((cell, i) => i > 0 && isBetween(taken, path[i - 1] ?? to, cell));
      const at = leg > 0 ? ((times[leg - 1] ?? 0) + (times[leg] ?? 0)) / 2 : 0;
      const captured = this.at(taken);
      if (captured) this.leave(captured, at * faster);
    }
    piece.cell = to;
    this.slide(piece, path, total * faster);
  }

  /** Moves a piece along cells to where it is now. */
  slide(piece: Piece, path: string[], duration?: number) {
    const element = this.elements.get(piece.id);
    if (!element || path.length < 2 || isStill.matches) return;
    const legs = path.slice(1).map((cell, i) => legTime(path[i] ?? cell, cell));
    const total = legs.reduce((sum, leg) => sum + leg, 0);
    let passed = 0;
    const frames = path.map((cell, i) => {
      if (i > 0) passed += legs[i - 1] ?? 0;
      return {
        transform: this.place(cell),
        offset: Math.min(1, passed / total),
        easing: "cubic-bezier(0.4, 0.1, 0.3, 1)",
      };
    });
    piece.moving = true;
    const motion = element.animate(frames, { duration: duration ?? total });
    const done = () => {
      piece.moving = false;
      const now = this.wanted.get(piece.id);
      if (now) piece.letter = now;
      this.wanted.delete(piece.id);
    };
    motion.finished.then(done, done);
  }

  /** What a moving piece becomes when it has arrived. */
  private wanted = new Map<number, string>();

  private leave(piece: Piece, delay: number) {
    piece.leaving = true;
    const remove = () => {
      this.all = this.all.filter((own) => own.id !== piece.id);
    };
    const element = this.elements.get(piece.id);
    if (!element || isStill.matches) return remove();
    const place = this.place(piece.cell);
    const motion = element.animate(
      [
        { opacity: 1, transform: `${place} scale(1)` },
        { opacity: 0, transform: `${place} scale(0.55)` },
      ],
      { duration: LEAVE, delay, fill: "both", easing: "ease-in" },
    );
    motion.finished.then(remove, remove);
  }

  private appear(letter: string, at: string) {
    const piece = { id: ++this.ids, letter, cell: at, leaving: false, moving: false };
    this.all.push(piece);
  }

  /** Makes the pieces those of a board, whatever they were. */
  private settle(board: string) {
    const missing: string[] = [];
    const extra: Piece[] = [];
    const isOf = (piece: Piece, letter: string) =>
      piece.letter.toLowerCase() === letter.toLowerCase();
    for (const piece of this.all) {
      if (piece.leaving) continue;
      const letter = board[index(piece.cell)] ?? ".";
      if (!isOf(piece, letter)) extra.push(piece);
      else if (piece.letter !== letter) {
        if (piece.moving) this.wanted.set(piece.id, letter);
        else piece.letter = letter;
      }
    }
    const held = new Set(this.all.filter((own) => !own.leaving).map((own) => own.cell));
    for (const own of extra) held.delete(own.cell);
    for (let i = 0; i < 64; i++) if (board[i] !== "." && !held.has(cell(i))) missing.push(cell(i));
    // Another position altogether is not slid together out of the old one.
    const isNear = missing.length + extra.length <= 4;
    for (const at of missing) {
      const letter = board[index(at)] ?? ".";
      const near = !isNear ? -1 : extra.findIndex((piece) => isOf(piece, letter));
      const [piece] = near < 0 ? [] : extra.splice(near, 1);
      if (piece) {
        const from = piece.cell;
        piece.cell = at;
        piece.letter = letter;
        this.slide(piece, [from, at]);
      } else this.appear(letter, at);
    }
    if (isNear) for (const piece of extra) this.leave(piece, 0);
    else this.all = this.all.filter((own) => !extra.includes(own));
  }
}

function legTime(from: string, to: string): number {
  const rows = Math.abs(Number(from[0]) - Number(to[0]));
  const columns = Math.abs(Number(from[1]) - Number(to[1]));
  return STEP + FURTHER * Math.max(rows, columns);
}

