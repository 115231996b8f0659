/** The position editor: pieces on a board, checked by the engine while they are moved. */
import { toSentence } from "../api/client";
import type { Cell, GameInfo, SideLetter } from "../api/types";
import { cellIndex, isInPlay, pieceInfo } from "../board/cells";
import type { AnalysisEngine, SetupResult } from "./client";

/** What a press on the board does: drag a piece, remove one, or put one there. */
export type Tool = "hand" | "erase" | (string & {});

const EMPTY = ".".repeat(64);

export class Editor {
  board = $state("");
  side: SideLetter = $state("");
  plies = $state(0);
  tool: Tool = $state("hand");
  /** The position as text, as it was typed or as the engine writes it. */
  text = $state("");
  /** What is wrong with the pieces or the text, and the cells it is about. */
  error = $state("");
  cells: Cell[] = $state.raw([]);
  /** Whether the position is legal and its text known. */
  isValid = $state(false);
  private request = 0;

  constructor(
    private engine: () => Promise<AnalysisEngine>,
    /** The game with its options. */
    readonly game: string,
    readonly info: GameInfo,
  ) {
    this.side = info.sides[0].letter;
  }

  /** Starts with a position. */
  async open(text: string) {
    this.text = text;
    await this.readText();
  }

  /** Shows the position that is typed. */
  async readText() {
    const request = ++this.request;
    const text = this.text.trim();
    try {
      const engine = await this.engine();
      const position = text ? { position: text } : {};
      const view = await engine.position({ game: this.game, ...position, moves: [] });
      if (request !== this.request) return;
      this.board = view.board;
      this.side = view.side;
      this.plies = view.ply;
      if (!text) this.text = view.position;
      this.judge({ position: view.position, error: null, cells: [] });
    } catch (failure) {
      if (request !== this.request) return;
      this.isValid = false;
      this.error = toSentence((failure as Error).message);
      this.cells = [];
    }
  }

  /** Asks the engine for the text of the board. */
  private async check() {
    const request = ++this.request;
    const { game, board, side, plies } = this;
    try {
      const engine = await this.engine();
      const result = await engine.setUp({ game, board, side, plies });
      if (request !== this.request) return;
      if (result.position) this.text = result.position;
      this.judge(result);
    } catch (failure) {
      if (request !== this.request) return;
      this.judge({ position: "", error: (failure as Error).message, cells: [] });
    }
  }

  private judge({ error, cells }: SetupResult) {
    this.isValid = error === null;
    this.error = error === null ? "" : toSentence(error);
    this.cells = cells;
  }

  private set(cell: Cell, letter: string) {
    if (!isInPlay(this.info, cell) && letter !== ".") return;
    const letters = [...this.board];
    letters[cellIndex(cell)] = letter;
    this.change(letters.join(""));
  }

  private change(board: string) {
    this.board = board;
    void this.check();
  }

  /** The piece of the other side like this one. */
  private other(letter: string): string {
    const { pieces } = this.info;
    const info = pieceInfo(this.info, letter);
    const found = pieces.find((p) => p.side !== info?.side && p.king === info?.king);
    return found?.letter ?? letter;
  }

  /** A press on a cell. `isOther`: the right mouse button, which puts pieces of the other side. */
  place(cell: Cell, isOther: boolean, isFirst: boolean) {
    const letter = this.board[cellIndex(cell)] ?? ".";
    const isPiece = this.tool !== "hand" && this.tool !== "erase";
    if (!isPiece) {
      if (isOther && letter !== ".") this.set(cell, this.other(letter));
      else if (!isOther && this.tool === "erase" && letter !== ".") this.set(cell, ".");
      return;
    }
    const chosen = isOther ? this.other(this.tool) : this.tool;
    // A second press removes the piece.
    if (letter !== chosen) this.set(cell, chosen);
    else if (isFirst) this.set(cell, ".");
  }

  move(from: Cell, to: Cell | null) {
    const letters = [...this.board];
    const piece = letters[cellIndex(from)] ?? ".";
    if (to && !isInPlay(this.info, to)) return;
    letters[cellIndex(from)] = ".";
    if (to) letters[cellIndex(to)] = piece;
    this.change(letters.join(""));
  }

  setSide(side: SideLetter) {
    this.side = side;
    void this.check();
  }

  setPlies(plies: number) {
    this.plies = Number.isInteger(plies) && plies >= 0 ? Math.min(plies, 10_000) : 0;
    void this.check();
  }

  clear() {
    this.change(EMPTY);
  }

  /** Number of pieces of a kind. */
  count(letter: string): number {
    return [...this.board].filter((found) => found === letter).length;
  }
}
