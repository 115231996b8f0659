"""A bot for Capture Halma: a client of the course's server, which listens on port 8888.

It tries each move and takes the one that captures and goes forward most. The part to improve is
score(): it knows nothing of what the opponent will do next.
"""

import random
import socket
import struct

TEAM = 1
SERVER = ("127.0.0.1", 8888)
DIRECTIONS = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def is_free(board, row, column):
    return 0 <= row < 8 and 0 <= column < 8 and board[row][column] == 0


def hops(board, own, path, captured, seen):
    """Finds all sequences of hops that go on from the end of a path, with what they capture."""
    row, column = path[-1]
    for down, right in DIRECTIONS:
        middle = (row + down, column + right)
        to = (row + 2 * down, column + 2 * right)
        if not is_free(board, *to) or board[middle[0]][middle[1]] == 0:
            continue
        piece = board[middle[0]][middle[1]]
        taken = captured if piece == own else captured | {middle}
        if (to, taken) in seen or len(path) == 100:
            continue
        seen.add((to, taken))
        yield path + [to], len(taken)
        if piece != own:
            board[middle[0]][middle[1]] = 0
        yield from hops(board, own, path + [to], taken, seen)
        board[middle[0]][middle[1]] = piece


def moves(board, own):
    """All moves: the path from start to end, and how many pieces it captures."""
    for row in range(8):
        for column in range(8):
            if board[row][column] != own:
                continue
            for down, right in DIRECTIONS:
                if is_free(board, row + down, column + right):
                    yield [(row, column), (row + down, column + right)], 0
            board[row][column] = 0  # it is lifted
            start = (row, column)
            for path, captured in hops(board, own, [start], frozenset(), {(start, frozenset())}):
                yield path, captured
            board[row][column] = own


def home(column, is_black):
    """How near a column is to our target: the two columns on the other side."""
    return min(column, 6) if is_black else min(7 - column, 6)


def score(path, captured, is_black):
    """How much we like a move: the higher the better."""
    way = home(path[-1][1], is_black) - home(path[0][1], is_black)
    return 10 * captured + 4 * way


def choose(board, is_black):
    own = 1 if is_black else 2
    rated = [(score(path, captured, is_black), path) for path, captured in list(moves(board, own))]
    if not rated:
        return []
    best = max(points for points, _ in rated)
    return random.choice([path for points, path in rated if points == best])


def receive(server, count):
    """Exactly so many 32-bit integers."""
    data = b""
    while len(data) < 4 * count:
        part = server.recv(4 * count - len(data))
        if not part:
            raise EOFError("the server closed the connection")
        data += part
    return struct.unpack(f"{count}i", data)


def main():
    with socket.create_connection(SERVER) as server:
        server.sendall(struct.pack("i", TEAM))
        while True:
            go_on, package = receive(server, 2)
            if go_on == 0:
                break
            cells = receive(server, 64)
            (is_black,) = receive(server, 1)
            board = [list(cells[8 * row : 8 * row + 8]) for row in range(8)]
            path = choose(board, is_black == 1)
            answer = struct.pack("ii", len(path), package)
            for row, column in path:
                answer += struct.pack("ii", row, column)
            server.sendall(answer)


main()
