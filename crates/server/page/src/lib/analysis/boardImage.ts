/** A picture of a position, as SVG text and as PNG. */
import type { GameInfo } from "../api/types";
import { isDark, pieceInfo } from "../board/cells";
import { download } from "./download";

const LIGHT = "#ecd5ac";
const DARK = "#93603c";
const EVEN = "#e9d3ac";
const ODD = "#dfc496";
/** Pixels of a cell. */
const SIZE = 80;

/** The board with its pieces. It holds nothing but shapes and square numbers. */
export function boardSvg(game: GameInfo, board: string, flipped: boolean): string {
  const parts: string[] = [];
  const { squares } = game;
  for (let index = 0; index < 64; index++) {
    const at = flipped ? 63 - index : index;
    const [x, y] = [(at & 7) * SIZE, (at >> 3) * SIZE];
    const [light, dark] = squares ? [LIGHT, DARK] : [EVEN, ODD];
    const fill = isDark(index) ? dark : light;
    parts.push(`<rect x="${x}" y="${y}" width="${SIZE}" height="${SIZE}" fill="${fill}"/>`);
    const number = squares?.[index];
    if (number) {
      parts.push(`<text x="${x + 4}" y="${y + 15}" fill="#fff" font-size="13">${number}</text>`);
    }
    const piece = pieceInfo(game, board[index] ?? ".");
    if (!piece) continue;
    const colour = game.sides[piece.side].colour ?? (piece.side === 0 ? "#3a373d" : "#f2e6cf");
    const rim = game.sides[piece.side].colour
      ? "#ffffff"
      : piece.side === 0
        ? "#a9a29b"
        : "#6b573a";
    const [cx, cy] = [x + SIZE / 2, y + SIZE / 2];
    parts.push(
      `<circle cx="${cx}" cy="${cy}" r="31" fill="${colour}" stroke="${rim}" stroke-width="3"/>`,
      `<circle cx="${cx}" cy="${cy}" r="${piece.side === 0 ? 22 : 12}" fill="none" ` +
        `stroke="${rim}" stroke-opacity="0.6" stroke-width="2"/>`,
    );
    if (piece.king) {
      const gold = piece.side === 0 || game.sides[1].colour ? "#f0c75e" : "#9c6a12";
      parts.push(
        `<path transform="translate(${cx - 24} ${cy - 24}) scale(1.5)" fill="${gold}" ` +
          `d="M8 24 6.6 11.4l5.2 4.4L16 8.4l4.2 7.4 5.2-4.4L24 24z"/>`,
      );
    }
  }
  const size = 8 * SIZE;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" ` +
    `width="${size}" height="${size}" font-family="sans-serif">${parts.join("")}</svg>\n`
  );
}

/** Entries of a menu that save the picture. */
export const pictureItems = (svg: () => string) => [
  { label: "Save as SVG", act: () => download("position.svg", svg(), "image/svg+xml") },
  {
    label: "Save as PNG",
    act: async () => download("position.png", await boardPng(svg()), "image/png"),
  },
];

/** The same picture as PNG. */
async function boardPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8 * SIZE;
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The browser cannot make a PNG."))),
      "image/png",
    ),
  );
}
