"""A Hub engine that is another one with other manners: the first argument says which, the rest is the
command of the engine behind it."""

import subprocess
import sys
import threading
import time

mode, command = sys.argv[1], sys.argv[2:]
if mode == "mute":
    time.sleep(600)
engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(line):
    print(line, flush=True)


def answers():
    for line in engine.stdout:
        line = line.rstrip("\n")
        if line.startswith("param name=variant"):
            if mode == "scan":
                line = 'param name=variant value=normal type=enum values="normal killer bt frisian losing"'
            elif mode == "no-variant":
                continue
            else:
                line = 'param name=variant value=normal type=enum values="normal Russian American"'
        if mode == "no-move" and line.startswith("done"):
            line = "done"
        if mode == "illegal" and line.startswith("done"):
            line = "done move=1-32"
        say(line)


threading.Thread(target=answers, daemon=True).start()
variant = None
for line in sys.stdin:
    words = line.split()
    if words[:2] == ["set-param", "name=variant"]:
        variant = words[2]
        line = "set-param name=variant value=english\n"
    if words[0] == "init" and mode == "american" and variant != "value=American":
        say('error message="the variant is %s"' % variant)
        continue
    if words[0] == "go" and mode == "error":
        say('error message="I do not like it"')
        continue
    if words[0] == "go" and mode == "hangs":
        continue
    if words[0] == "go" and mode == "crash":
        sys.exit(5)
    engine.stdin.write(line)
    engine.stdin.flush()
    if words[0] == "quit":
        break
engine.wait()
