"""A bot for Crownhead. It looks at each legal move by itself and plays the one it likes best.

The part to improve is score(): it knows nothing of what the opponent will do next.
"""

import random
import sys


def cells(move, game):
    """The cells of a move as (row, column), counted from 0: "22-24-44" or "1131" or "11x18"."""
    if move == "pass":
        return []
    if game in ("english", "contest"):  # squares 1 to 32, four in a row
        squares = [int(number) - 1 for number in move.replace("x", "-").split("-")]
        return [(n // 4, n % 4 * 2 + (n // 4 + 1) % 2) for n in squares]
    digits = move.replace("-", "")
    return [(int(digits[i]) - 1, int(digits[i + 1]) - 1) for i in range(0, len(digits), 2)]


def score(move, turn, game):
    """How much we like a move: the higher the better."""
    path = cells(move, game)
    if not path:
        return 0
    board, side = turn["board"], turn["side"]
    (r1, c1), (r2, c2) = path[0], path[-1]
    forward = 1 if side in "b#" else -1  # the first player goes down and to the right
    if game == "chinese-checkers":
        # The way to the opposite corner; of equal ways, the one of the piece furthest behind.
        return 10 * forward * (r2 + c2 - r1 - c1) - forward * (r1 + c1)
    if game == "capture-halma":
        home = lambda column: min(column, 6) if side == "b" else -max(column, 1)
        taken = 0
        for (ra, ca), (rb, cb) in zip(path, path[1:]):
            over = board[(ra + rb) // 2 * 8 + (ca + cb) // 2]
            if abs(ra - rb) + abs(ca - cb) == 2 and over not in (".", side):
                taken += 1
        return 10 * taken + 4 * (home(c2) - home(c1))
    # English and contest checkers: take as much as possible, do not step where we can be taken.
    piece = board[r1 * 8 + c1]
    points = 0
    if "x" in move:
        points += 10 * sum(abs(ra - rb) // 2 for (ra, _), (rb, _) in zip(path, path[1:]))
    enemies = [i for i in range(64) if board[i] != "." and board[i].lower() != side]
    if piece.isupper():  # a king hunts
        way = lambda r, c: min((max(abs(i // 8 - r), abs(i % 8 - c)) for i in enemies), default=0)
        points += way(r1, c1) - way(r2, c2)
    else:
        points += 5 if r2 in (0, 7) else 1
    for dr in (-1, 1):
        for dc in (-1, 1):
            near, behind = (r2 + dr, c2 + dc), (r2 - dr, c2 - dc)
            if not all(0 <= n <= 7 for n in near + behind):
                continue
            enemy = board[near[0] * 8 + near[1]]
            can_reach = enemy.isupper() or dr == forward  # men only come towards us
            is_free = behind == (r1, c1) or board[behind[0] * 8 + behind[1]] == "."
            if near[0] * 8 + near[1] in enemies and can_reach and is_free:
                points -= 8
    return points


def read(line):
    """A line of the referee, word key=value key="two words", as its word and a dictionary."""
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
        word, values = read(line)
        if word == "crownhead":
            print('bot name="NAME"')
            print("ready", flush=True)
        elif word == "newgame":
            game = values["game"].split(":")[0]  # without the game's options
            random.seed(values.get("seed"))
            print("ready", flush=True)
        elif word == "turn":
            moves = values["moves"].split(",")
            random.shuffle(moves)  # so that equal moves take turns
            best = max(moves, key=lambda move: score(move, values, game))
            print("move", best, flush=True)
        elif word == "quit":
            break


main()
