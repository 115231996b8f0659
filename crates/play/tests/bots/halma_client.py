"""A client for Capture Halma in the manner of the course's own: blocking sockets, one recv for each
item, and a short read means that the connection is lost. It plays by lot.

The first argument says how it reads: each number by itself, or the board at once. The second says
how it misbehaves.
"""

import os
import random
import socket
import struct
import sys
import time

reads, mode = sys.argv[1], sys.argv[2]
random.seed(len(reads))
server = None


def connect():
    global server
    while server is None:
        if mode == "tries-first":
            socket.create_connection(("127.0.0.1", 8888)).close()
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if client.connect_ex(("localhost", 8888)) == 0:
            server = client
        else:
            client.close()
    if mode == "no-team":
        time.sleep(600)
    server.sendall(struct.Struct("i").pack(7))


def receive(count):
    data = server.recv(4 * count)
    if len(data) != 4 * count:
        print("a short read", file=sys.stderr)
        sys.exit(9)
    return struct.unpack("%di" % count, data)


def get_board():
    code, package = receive(2)
    if code == 0:
        return None, package, None
    if reads == "numbers":
        cells = [receive(1)[0] for _ in range(64)]
    else:
        cells = list(receive(64))
    return [cells[row * 8 : row * 8 + 8] for row in range(8)], package, receive(1)[0] == 1


def steps(board, is_black):
    own = 1 if is_black else 2
    for row in range(8):
        for column in range(8):
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                for length in (1, 2):
                    to = (row + length * down, column + length * right)
                    if board[row][column] != own or not (0 <= to[0] < 8 and 0 <= to[1] < 8):
                        continue
                    is_over = length == 1 or board[row + down][column + right] != 0
                    if board[to[0]][to[1]] == 0 and is_over:
                        yield [(row, column), to]


def send(numbers):
    server.sendall(struct.pack("%di" % len(numbers), *numbers))


if mode == "never-connects":
    time.sleep(600)
if mode == "crash-at-once":
    sys.exit(3)
connect()
if mode == "wanders":
    for address in sys.argv[3:]:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
            if other.connect_ex((address, 8888)) == 0:
                sys.exit("reached " + address)
turns = 0
while True:
    board, package, is_black = get_board()
    if board is None:
        break
    turns += 1
    path = random.choice(list(steps(board, is_black)))
    numbers = [len(path), package] + [number for cell in path for number in cell]
    if mode == "byte-by-byte":
        for byte in struct.pack("%di" % len(numbers), *numbers):
            server.send(bytes([byte]))
        continue
    if mode == "prints":
        print("thinking about", package, flush=True)
    elif mode == "floods-output":
        while True:
            os.write(1, b"x" * 65536)
    elif mode == "late":
        time.sleep(0.4)
    elif mode == "thinks":
        while time.process_time() < 0.5 * turns:
            pass
    elif turns == 3:
        if mode == "other-package":
            numbers[1] += 1
        elif mode == "twice":
            send(numbers)
        elif mode == "too-many":
            numbers[0] = 101
        elif mode == "negative":
            numbers[0] = -1
        elif mode == "text":
            server.sendall(b"move 11-12\n")
            continue
        elif mode == "empty":
            numbers[0] = 0
            numbers = numbers[:2]
        elif mode == "off-board":
            numbers[-1] = 8
        elif mode == "half":
            server.sendall(struct.pack("iih", 2, package, 1))
            time.sleep(600)
        elif mode == "floods":
            while True:
                send([0, 0] * 1000)
        elif mode == "closes":
            server.close()
            time.sleep(600)
        elif mode == "crash":
            raise ZeroDivisionError("on purpose")
    send(numbers)
