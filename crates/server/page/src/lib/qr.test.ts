import jsQR from "jsqr";
import { expect, test } from "vitest";
import { qrCode } from "./qr";

/** Reads a code as a camera would: four pixels per module and a quiet zone. */
function read(code: boolean[][]): string | undefined {
  const [scale, margin] = [4, 4];
  const width = (code.length + 2 * margin) * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  code.forEach((row, y) =>
    row.forEach((isDark, x) => {
      for (let i = 0; i < scale * scale && isDark; i++) {
        const column = (x + margin) * scale + (i % scale);
        const line = (y + margin) * scale + Math.floor(i / scale);
        pixels.fill(0, (line * width + column) * 4, (line * width + column) * 4 + 3);
      }
    }),
  );
  return jsQR(pixels, width, width)?.data;
}

test("codes of every size can be read", () => {
  for (const length of [
    1, 17, 18, 32, 53, 70, 78, 79, 106, 107, 134, 135, 154, 155, 192, 193, 230,
  ]) {
    const text = `http://192.168.1.20:8064/game/${"aB3-_#x".repeat(40)}`.slice(0, length);
    const code = qrCode(text);
    expect(code && read(code), `${length} characters`).toBe(text);
  }
});

test("a text that is too long has no code", () => expect(qrCode("x".repeat(231))).toBeNull());
