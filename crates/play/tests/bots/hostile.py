"""A bot that plays by lot and misbehaves in the way its first argument names.

Everything it draws by lot follows from the seed of the game. Further arguments mark its process.
"""

import fcntl
import os
import random
import signal
import sys
import threading
import time

mode = sys.argv[1]
if mode == "crash-at-once":
    sys.exit(3)
if mode in ("ignores-sigterm", "floods-at-quit", "joins-a-group", "joins-our-group"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "daemon-at-once":
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        time.sleep(600)
    time.sleep(600)
if mode == "forks":
    # A child that would live on: it holds none of the pipes.
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        time.sleep(600)
        os._exit(0)

chunk = b"x" * 65536
children = 0


def burn():
    while True:
        pass


def write(data):
    os.write(1, data if isinstance(data, bytes) else (data + "\n").encode())


def flood(fd, size=None):
    sent = 0
    while size is None or sent < size:
        sent += os.write(fd, chunk)


def lines():
    """Like sys.stdin, but without reading ahead."""
    buffer = b""
    while True:
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            yield line.decode()
        data = os.read(0, 65536)
        if not data:
            return
        buffer += data


processors = os.sched_getaffinity(0)
moves_made = 0
bad_game = False
previous = "1-1"
for line in lines():
    word = line.split(" ")[0]
    values = dict(part.split("=", 1) for part in line.split(" ") if "=" in part)
    if word == "crownhead":
        if mode == "floods-at-start":
            flood(1)
        if mode != "says-nothing":
            write("ready")
    elif word == "newgame":
        random.seed(values["seed"])
        bad_game = int(values["seed"]) % 2 == 0
        moves_made = 0
        if mode != "says-nothing":
            write("ready")
    elif word == "quit" and mode == "floods-at-quit":
        fcntl.fcntl(1, 1031, 1 << 20)  # F_SETPIPE_SZ: as fast as can be
        flood(1)
    elif word == "quit" and mode not in ("ignores-quit", "never-ends"):
        break
    elif word == "turn":
        moves_made += 1
        move = random.choice(values["moves"].split(","))
        answer = "move " + move
        if mode == "crash-on-fifth-move" and moves_made == 5:
            raise ZeroDivisionError("on purpose")
        if mode == "moody" and bad_game and moves_made == 3:
            os.abort()
        if mode == "joins-a-group":
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                time.sleep(600)
            while os.getpgid(child) != child:
                pass
            os.setpgid(0, child)
        if mode == "joins-our-group":
            os.setpgid(0, os.getpgid(os.getppid()))
        if mode == "child-joins-our-group":
            if os.fork() == 0:
                try:
                    os.setpgid(0, os.getpgid(int(sys.argv[3])))
                except OSError:
                    pass
                os.closerange(0, 3)
                time.sleep(600)
        if mode in ("daemon", "leaves-a-child") and moves_made == 2 and os.fork() == 0:
            # One holds none of the pipes and the other all.
            if mode == "daemon":
                os.setsid()
                os.closerange(0, 3)
            time.sleep(600)
        if mode == "starts-many" and moves_made == 1:
            for number in range(420):
                if os.fork() == 0:
                    os._exit(0)
                # The last ten are there at the same time.
                if number < 410:
                    os.wait()
            for _ in range(10):
                os.wait()
        if mode == "counts-processors" and os.sched_getaffinity(0) != processors:
            raise SystemExit("not all processors")
        if mode == "leaves-a-child" and moves_made == 2:
            os._exit(7)
        if mode == "fork-bomb":
            while True:
                try:
                    os.fork()
                except OSError:
                    pass
        if mode in ("allocates", "allocates-in-many"):
            if mode == "allocates-in-many":
                # Each of them takes little.
                while os.fork() != 0 and (children := children + 1) < 10:
                    pass
            hoard = []
            try:
                while len(hoard) < (4 if mode == "allocates-in-many" else 1 << 20):
                    hoard.append(bytearray(os.urandom(4096) * 2560))
            except MemoryError:
                pass
            time.sleep(600)
        if mode == "fills-the-disk":
            for number in range(1 << 20):
                with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
                    file.write(chunk)
        if mode == "burns" and moves_made == 1:
            threading.Thread(target=burn, daemon=True).start()
        if mode == "kills":
            # Everybody there is, and who should not be: the referee, and processes by number.
            for number in [-1, *map(int, sys.argv[2].split(","))]:
                try:
                    os.kill(number, signal.SIGKILL)
                except OSError:
                    pass
        if mode == "errors-without-end":
            os.close(1)
            flood(2)
        if mode in ("hangs", "ignores-sigterm", "forks", "joins-a-group", "joins-our-group"):
            time.sleep(600)
        if mode == "floods-output":
            flood(1)
        if mode == "floods-lines":
            while True:
                write("nonsense " * 100)
        if mode == "floods-errors":
            flood(2)
        if mode == "much-on-errors":
            flood(2, 1 << 20)
        if mode == "late":
            time.sleep(0.5)
        if mode == "late-once" and moves_made == 2:
            time.sleep(0.5)
        if mode == "earlier-turn":
            answer = f"move {previous} ply={int(values['ply']) - 2}"
        if mode == "later-turn":
            answer += f" ply={int(values['ply']) + 2}"
        if mode == "hidden-second":
            answer += "\n" + ("# thinking" * 6 + "\n") * 300 + answer
        if mode == "no-utf8-after":
            write((answer + "\n").encode() + b"\xff\n")
            continue
        if mode == "long-line-after":
            write((answer + "\n").encode() + b"z" * 70000 + b"\n")
            continue
        if mode == "bare":
            answer = move
        if mode == "capital":
            answer = "Move " + move
        if mode == "colon":
            answer = "move: " + move
        if mode == "twice":
            answer += "\n" + answer
        if mode == "long-line":
            os.write(1, b"move ")
            flood(1, 100 << 20)
        if mode == "no-utf8":
            write(b"move \xff\xfe\n")
            continue
        if mode == "closes-output":
            os.close(1)
            time.sleep(600)
        if mode == "illegal" or (mode == "illegal-then-abort" and moves_made <= 10):
            answer = "move 32-1"
        elif mode == "illegal-then-abort":
            os.abort()
        if mode == "escapes":
            answer = "move \x1b[2J\x07" + "9" * 60000
        if mode == "no-move":
            answer = "move"
        if mode == "chatters":
            write("# thinking\nsome debugging output\nscore=3")
        write(answer)
        previous = move
if mode == "never-ends":
    time.sleep(600)
