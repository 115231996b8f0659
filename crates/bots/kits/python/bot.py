"""A bot for Crownhead. It scores each legal move and plays the best one.

Improve score(): it does not look at the opponent's replies.
"""

import random
import sys


def parse_cells(move, game):
    """Parse the cells of a move, (row, column) from 0: "22-24-44", "1131" or "11x18"."""
    if move == "pass":
        return []
    if game in ("english", "contest"):  # squares 1 to 32, four per row
        squares = [int(number) - 1 for number in move.replace("x", "-").split("-")]
        return [(n // 4, n % 4 * 2 + (n // 4 + 1) % 2) for n in squares]
    digits = move.replace("-", "")
    return [(int(digits[i]) - 1, int(digits[i + 1]) - 1) for i in range(0, len(digits), 2)]


def score(move, turn, game):
    """Score a move; higher is better."""
    path = parse_cells(move, game)
    if not path:
        return 0
    board, side = turn["board"], turn["side"]
    (r1, c1), (r2, c2) = path[0], path[-1]
    forward = 1 if side in "b#" else -1  # the first side moves down and right
    if game == "chinese-checkers":
        # Progress towards the opposite corner; on a tie, move the rearmost piece.
        return 10 * forward * (r2 + c2 - r1 - c1) - forward * (r1 + c1)
    if game == "capture-halma":
        progress = lambda column: min(column, 6) if side == "b" else -max(column, 1)
        captured = 0
        for (ra, ca), (rb, cb) in zip(path, path[1:]):
            over = board[(ra + rb) // 2 * 8 + (ca + cb) // 2]
            if abs(ra - rb) + abs(ca - cb) == 2 and over not in (".", side):
                captured += 1
        return 10 * captured + 4 * (progress(c2) - progress(c1))
    # English and contest checkers: capture as much as possible, avoid being captured.
    piece = board[r1 * 8 + c1]
    points = 0
    if "x" in move:
        points += 10 * sum(abs(ra - rb) // 2 for (ra, _), (rb, _) in zip(path, path[1:]))
    enemies = [i for i in range(64) if board[i] != "." and board[i].lower() != side]
    if piece.isupper():  # kings approach enemies
        steps = lambda r, c, i: max(abs(i // 8 - r), abs(i % 8 - c))
        distance = lambda r, c: min((steps(r, c, i) for i in enemies), default=0)
        points += distance(r1, c1) - distance(r2, c2)
    else:
        points += 5 if r2 in (0, 7) else 1
    for dr in (-1, 1):
        for dc in (-1, 1):
            near, behind = (r2 + dr, c2 + dc), (r2 - dr, c2 - dc)
            if not all(0 <= n <= 7 for n in near + behind):
                continue
            enemy = board[near[0] * 8 + near[1]]
            can_reach = enemy.isupper() or dr == forward  # men only move towards us
            is_free = behind == (r1, c1) or board[behind[0] * 8 + behind[1]] == "."
            if near[0] * 8 + near[1] in enemies and can_reach and is_free:
                points -= 8
    return points


def parse_line(line):
    """Parse a line, word key=value key="two words", into the word and a dictionary."""
    word, _, rest = line.strip().partition(" ")
    values = {}
    while "=" in rest:
        key, _, rest = rest.strip().partition("=")
        if rest.startswith('"'):
            values[key], _, rest = rest[1:].partition('"')
        else:
            values[key], _, rest = rest.partition(" ")
    return word, values


def main():
    game = "english"
    for line in sys.stdin:
        word, values = parse_line(line)
        if word == "crownhead":
            print('bot name="NAME"')
            print("ready", flush=True)
        elif word == "newgame":
            game = values["game"].split(":")[0]  # without the game's options
            random.seed(values.get("seed"))
            print("ready", flush=True)
        elif word == "turn":
            moves = values["moves"].split(",")
            random.shuffle(moves)  # break ties at random
            best = max(moves, key=lambda move: score(move, values, game))
            print("move", best, flush=True)
        elif word == "quit":
            break


main()
