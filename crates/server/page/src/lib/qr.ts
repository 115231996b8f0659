/** QR codes: byte mode, error correction level L, versions 1 to 9 (ISO/IEC 18004). */

/** For each version: data codewords, error correction codewords per block, blocks. */
const VERSIONS: [number, number, number][] = [
  [19, 7, 1],
  [34, 10, 1],
  [55, 15, 1],
  [80, 20, 1],
  [108, 26, 1],
  [136, 18, 2],
  [156, 20, 2],
  [194, 24, 2],
  [232, 30, 2],
];

/** Products in the field of 256 elements that the code uses. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

function errorCorrection(data: number[], degree: number): number[] {
  let generator = [1];
  for (let i = 0, root = 1; i < degree; i++, root = multiply(root, 2)) {
    const next = [...generator, 0];
    generator.forEach((value, j) => (next[j + 1] = (next[j + 1] ?? 0) ^ multiply(value, root)));
    generator = next;
  }
  const rest = [...data, ...Array<number>(degree).fill(0)];
  data.forEach((_, i) => {
    const factor = rest[i] ?? 0;
    generator.forEach((value, j) => (rest[i + j] = (rest[i + j] ?? 0) ^ multiply(value, factor)));
  });
  return rest.slice(data.length);
}

/** Header, bytes and padding, followed by the error correction, as bits. */
function codewordBits(bytes: Uint8Array, version: number): number[] {
  const [capacity, degree, blockCount] = VERSIONS[version - 1] ?? [0, 0, 1];
  const bits: number[] = [];
  const push = (value: number, length: number) => {
    for (let i = length - 1; i >= 0; i--) bits.push((value >> i) & 1);
  };
  push(4, 4);
  push(bytes.length, 8);
  bytes.forEach((byte) => push(byte, 8));
  push(0, Math.min(4, capacity * 8 - bits.length));
  push(0, -bits.length & 7);
  for (let pad = 0xec; bits.length < capacity * 8; pad ^= 0xfd) push(pad, 8);
  const data = Array.from({ length: capacity }, (_, i) =>
    bits.slice(i * 8, i * 8 + 8).reduce((value, bit) => value * 2 + bit, 0),
  );
  const size = capacity / blockCount;
  const blocks = Array.from({ length: blockCount }, (_, i) => data.slice(i * size, (i + 1) * size));
  const corrections = blocks.map((block) => errorCorrection(block, degree));
  bits.length = 0;
  for (const parts of [blocks, corrections]) {
    for (let i = 0; i < (parts[0]?.length ?? 0); i++)
      parts.forEach((part) => push(part[i] ?? 0, 8));
  }
  return bits;
}

/** A value followed by its remainder: format (15 bits) and version (18 bits). */
function withRemainder(value: number, generator: number, length: number): number {
  let rest = value << length;
  for (let bit = 31; bit >= length; bit--) {
    if ((rest >> bit) & 1) rest ^= generator << (bit - length);
  }
  return (value << length) | rest;
}

/** The dark modules of a QR code, row by row; null if the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text);
  const version = VERSIONS.findIndex(([capacity]) => bytes.length + 2 <= capacity) + 1;
  if (version === 0) return null;
  const size = 17 + 4 * version;
  const dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const reserved = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const set = (row: number, column: number, isDark: boolean) => {
    if (row < 0 || column < 0 || row >= size || column >= size) return;
    dark[row]![column] = isDark;
    reserved[row]![column] = true;
  };
  const square = (row: number, column: number, radius: number, isLight: (d: number) => boolean) => {
    for (let r = -radius; r <= radius; r++) {
      for (let c = -radius; c <= radius; c++) {
        set(row + r, column + c, !isLight(Math.max(Math.abs(r), Math.abs(c))));
      }
    }
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const corners = [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const;
  for (const [row, column] of corners) square(row, column, 4, (d) => d === 2 || d === 4);
  const last = size - 7;
  const centres = version < 2 ? [] : version < 7 ? [6, last] : [6, (last + 6) / 2, last];
  for (const row of centres) {
    for (const column of centres) {
      const isFinder =
        [row, column].includes(6) && [6, last].includes(row) && [6, last].includes(column);
      if (!isFinder) {
        square(row, column, 2, (d) => d === 1);
      }
    }
  }
  // Level L and mask 0.
  const format = withRemainder(8, 0x537, 10) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const isDark = ((format >> i) & 1) === 1;
    set(i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, 8, isDark);
    set(8, i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, isDark);
  }
  set(size - 8, 8, true);
  if (version >= 7) {
    const information = withRemainder(version, 0x1f25, 12);
    for (let i = 0; i < 18; i++) {
      const isDark = ((information >> i) & 1) === 1;
      set(Math.floor(i / 3), size - 11 + (i % 3), isDark);
      set(size - 11 + (i % 3), Math.floor(i / 3), isDark);
    }
  }
  const bits = codewordBits(bytes, version);
  let next = 0;
  let isUpward = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let i = 0; i < size; i++) {
      const row = isUpward ? size - 1 - i : i;
      for (const column of [right, right - 1]) {
        if (reserved[row]![column]) continue;
        dark[row]![column] = (bits[next++] === 1) !== ((row + column) % 2 === 0);
      }
    }
    isUpward = !isUpward;
  }
  return dark;
}
