// A bot for Crownhead. It scores each legal move and plays the best one.
//
// Improve score(): it does not look at the opponent's replies.
"use strict";

// Parses the cells of a move, [row, column] from 0: "22-24-44", "1131" or "11x18".
function parseCells(move, game) {
  if (move === "pass") return [];
  if (game === "english" || game === "contest") {
    const squares = move.split(/[-x]/).map((number) => Number(number) - 1); // four per row
    return squares.map((n) => {
      const row = Math.floor(n / 4);
      return [row, (n % 4) * 2 + ((row + 1) % 2)];
    });
  }
  const pairs = move.replaceAll("-", "").match(/../g);
  return pairs.map((pair) => [Number(pair[0]) - 1, Number(pair[1]) - 1]);
}

// Scores a move; higher is better.
function score(move, turn, game) {
  const path = parseCells(move, game);
  if (path.length === 0) return 0;
  const { board, side } = turn;
  const [r1, c1] = path[0];
  const [r2, c2] = path[path.length - 1];
  const isFirst = side === "b" || side === "#";
  const forward = isFirst ? 1 : -1; // the first side moves down and right
  const at = (row, column) => board[row * 8 + column];
  const isOn = (row, column) => row >= 0 && row < 8 && column >= 0 && column < 8;
  const isEnemy = (piece) => piece !== "." && piece.toLowerCase() !== side.toLowerCase();
  const isKing = (piece) => piece !== piece.toLowerCase();
  let points = 0;
  if (game === "chinese-checkers") {
    // Progress towards the opposite corner; on a tie, move the rearmost piece.
    return forward * (10 * (r2 + c2 - r1 - c1) - (r1 + c1));
  }
  if (game === "capture-halma") {
    const progress = (column) => (isFirst ? Math.min(column, 6) : -Math.max(column, 1));
    for (let i = 1; i < path.length; i++) {
      const [ra, ca] = path[i - 1];
      const [rb, cb] = path[i];
      const isHop = Math.abs(ra - rb) + Math.abs(ca - cb) === 2;
      if (isHop && isEnemy(at((ra + rb) / 2, (ca + cb) / 2))) points += 10;
    }
    return points + 4 * (progress(c2) - progress(c1));
  }
  // English and contest checkers: capture as much as possible, avoid being captured.
  if (move.includes("x")) {
    for (let i = 1; i < path.length; i++) points += 5 * Math.abs(path[i][0] - path[i - 1][0]);
  }
  if (isKing(at(r1, c1))) {
    const enemyDistance = (row, column) => {
      let best = 8;
      for (let i = 0; i < 64; i++) {
        const steps = Math.max(Math.abs(Math.floor(i / 8) - row), Math.abs((i % 8) - column));
        if (isEnemy(board[i])) best = Math.min(best, steps);
      }
      return best;
    };
    points += enemyDistance(r1, c1) - enemyDistance(r2, c2); // kings approach enemies
  } else {
    points += r2 === 0 || r2 === 7 ? 5 : 1;
  }
  for (const dr of [-1, 1]) {
    for (const dc of [-1, 1]) {
      if (!isOn(r2 + dr, c2 + dc) || !isOn(r2 - dr, c2 - dc)) continue;
      const near = at(r2 + dr, c2 + dc);
      const canReach = isKing(near) || dr === forward; // men only move towards us
      const isFree = at(r2 - dr, c2 - dc) === "." || (r2 - dr === r1 && c2 - dc === c1);
      if (isEnemy(near) && canReach && isFree) points -= 8;
    }
  }
  return points;
}

// Parses a line: word key=value key="two words".
function parseLine(line) {
  const values = {};
  for (const [, key, quoted, plain] of line.matchAll(/(\S+?)=(?:"([^"]*)"|(\S*))/g)) {
    values[key] = quoted ?? plain;
  }
  return [line.split(" ")[0], values];
}

// A random number generator with a seed, so that a game can be repeated.
let randomState = 1;
function random() {
  randomState = (Math.imul(randomState, 1664525) + 1013904223) >>> 0;
  return randomState;
}

let game = "english";
require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [word, values] = parseLine(line);
    if (word === "crownhead") {
      process.stdout.write('bot name="NAME"\nready\n');
    } else if (word === "newgame") {
      game = values.game.split(":")[0]; // without the game's options
      randomState = Number(BigInt(values.seed ?? 1) & 0xffffffffn);
      process.stdout.write("ready\n");
    } else if (word === "turn") {
      const moves = values.moves.split(",");
      const scored = moves.map((move) => [score(move, values, game), random(), move]);
      scored.sort((a, b) => b[0] - a[0] || b[1] - a[1]); // break ties at random
      process.stdout.write(`move ${scored[0][2]}\n`);
    } else if (word === "quit") {
      process.exit(0);
    }
  });
