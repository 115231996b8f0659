"""A bot for Capture Halma: a client of the server of the original assignment, on port 8888.

It scores each move and plays the best one. Improve score(): it does not look at the opponent's
replies.
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
    """Find all hop sequences that continue a path, with the number of pieces they capture."""
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
    """Generate all moves: the path from start to end, and the number of captured pieces."""
    for row in range(8):
        for column in range(8):
            if board[row][column] != own:
                continue
            for down, right in DIRECTIONS:
                if is_free(board, row + down, column + right):
                    yield [(row, column), (row + down, column + right)], 0
            board[row][column] = 0  # it does not block itself
            start = (row, column)
            for path, captured in hops(board, own, [start], frozenset(), {(start, frozenset())}):
                yield path, captured
            board[row][column] = own


def progress(column, is_black):
    """Progress of a column towards our target, the last two columns of the opposite side."""
    return min(column, 6) if is_black else min(7 - column, 6)


def score(path, captured, is_black):
    """Score a move; higher is better."""
    gain = progress(path[-1][1], is_black) - progress(path[0][1], is_black)
    return 10 * captured + 4 * gain


def choose(board, is_black):
    own = 1 if is_black else 2
    all_moves = list(moves(board, own))
    scored = [(score(path, captured, is_black), path) for path, captured in all_moves]
    if not scored:
        return []
    best = max(points for points, _ in scored)
    return random.choice([path for points, path in scored if points == best])


def receive(server, count):
    """Receive exactly this many 32-bit integers."""
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
            code, packet = receive(server, 2)
            if code == 0:
                break
            cells = receive(server, 64)
            (is_black,) = receive(server, 1)
            board = [list(cells[8 * row : 8 * row + 8]) for row in range(8)]
            path = choose(board, is_black == 1)
            answer = struct.pack("ii", len(path), packet)
            for row, column in path:
                answer += struct.pack("ii", row, column)
            server.sendall(answer)


main()
