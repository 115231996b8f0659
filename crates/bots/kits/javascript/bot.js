// A bot for Crownhead. It looks at each legal move by itself and plays the one it likes best.
//
// The part to improve is score(): it knows nothing of what the opponent will do next.
"use strict";

// The cells of a move as [row, column], counted from 0: "22-24-44" or "1131" or "11x18".
function cells(move, game) {
  if (move === "pass") return [];
  if (game === "english" || game === "contest") {
    const squares = move.split(/[-x]/).map((number) => Number(number) - 1); // four in a row
    return squares.map((n) => {
      const row = Math.floor(n / 4);
      return [row, (n % 4) * 2 + ((row + 1) % 2)];
    });
  }
  const pairs = move.replaceAll("-", "").match(/../g);
  return pairs.map((pair) => [Number(pair[0]) - 1, Number(pair[1]) - 1]);
}

// How much we like a move: the higher the better.
function score(move, turn, game) {
  const path = cells(move, game);
  if (path.length === 0) return 0;
  const { board, side } = turn;
  const [r1, c1] = path[0];
  const [r2, c2] = path[path.length - 1];
  const isFirst = side === "b" || side === "#";
  const forward = isFirst ? 1 : -1; // the first player goes down and to the right
  const at = (row, column) => board[row * 8 + column];
  const isOn = (row, column) => row >= 0 && row < 8 && column >= 0 && column < 8;
  const isEnemy = (piece) => piece !== "." && piece.toLowerCase() !== side.toLowerCase();
  const isKing = (piece) => piece !== piece.toLowerCase();
  let points = 0;
  if (game === "chinese-checkers") {
    // The way to the opposite corner; of equal ways, the one of the piece furthest behind.
    return forward * (10 * (r2 + c2 - r1 - c1) - (r1 + c1));
  }
  if (game === "capture-halma") {
    const home = (column) => (isFirst ? Math.min(column, 6) : -Math.max(column, 1));
    for (let i = 1; i < path.length; i++) {
      const [ra, ca] = path[i - 1];
      const [rb, cb] = path[i];
      const isHop = Math.abs(ra - rb) + Math.abs(ca - cb) === 2;
      if (isHop && isEnemy(at((ra + rb) / 2, (ca + cb) / 2))) points += 10;
    }
    return points + 4 * (home(c2) - home(c1));
  }
  // English and contest checkers: take as much as possible, do not step where we can be taken.
  if (move.includes("x")) {
    for (let i = 1; i < path.length; i++) points += 5 * Math.abs(path[i][0] - path[i - 1][0]);
  }
  if (isKing(at(r1, c1))) {
    const way = (row, column) => {
      let best = 8;
      for (let i = 0; i < 64; i++) {
        const steps = Math.max(Math.abs(Math.floor(i / 8) - row), Math.abs((i % 8) - column));
        if (isEnemy(board[i])) best = Math.min(best, steps);
      }
      return best;
    };
    points += way(r1, c1) - way(r2, c2); // a king hunts
  } else {
    points += r2 === 0 || r2 === 7 ? 5 : 1;
  }
  for (const dr of [-1, 1]) {
    for (const dc of [-1, 1]) {
      if (!isOn(r2 + dr, c2 + dc) || !isOn(r2 - dr, c2 - dc)) continue;
      const near = at(r2 + dr, c2 + dc);
      const canReach = isKing(near) || dr === forward; // men only come towards us
      const isFree = at(r2 - dr, c2 - dc) === "." || (r2 - dr === r1 && c2 - dc === c1);
      if (isEnemy(near) && canReach && isFree) points -= 8;
    }
  }
  return points;
}

// The values of a line of the referee: word key=value key="two words".
function read(line) {
  const values = {};
  for (const [, key, quoted, plain] of line.matchAll(/(\S+?)=(?:"([^"]*)"|(\S*))/g)) {
    values[key] = quoted ?? plain;
  }
  return [line.split(" ")[0], values];
}

// Lots that follow from a seed, so that a game can be played again.
let lots = 1;
function lot() {
  lots = (Math.imul(lots, 1664525) + 1013904223) >>> 0;
  return lots;
}

let game = "english";
require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [word, values] = read(line);
    if (word === "crownhead") {
      process.stdout.write('bot name="NAME"\nready\n');
    } else if (word === "newgame") {
      game = values.game.split(":")[0]; // without the game's options
      lots = Number(BigInt(values.seed ?? 1) & 0xffffffffn);
      process.stdout.write("ready\n");
    } else if (word === "turn") {
      const rated = values.moves.split(",").map((move) => [score(move, values, game), lot(), move]);
      rated.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
      process.stdout.write(`move ${rated[0][2]}\n`);
    } else if (word === "quit") {
      process.exit(0);
    }
  });
