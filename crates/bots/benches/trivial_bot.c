/* A bot that answers at once, to measure what the referee costs. Blue plays the first of the legal
 * moves and red the last: so both stay at home in Chinese checkers, and no game ends early.
 * With an argument it sleeps so many microseconds before each answer. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 16];

static void say(const char *text, size_t length) {
    if (write(1, text, length) < 0)
        exit(1);
}

static void answer(char *turn, useconds_t pause) {
    char move[64] = "move ";
    char *moves = strstr(turn, " moves=");
    size_t length;
    if (!moves)
        return;
    moves += 7;
    if (strstr(turn, " side=O ")) {
        char *comma;
        while ((comma = strpbrk(moves, ", ")) && *comma == ',')
            moves = comma + 1;
    }
    length = strcspn(moves, ", \n");
    if (length > sizeof move - 7)
        exit(1);
    memcpy(move + 5, moves, length);
    move[5 + length] = '\n';
    if (pause)
        usleep(pause);
    say(move, length + 6);
}

int main(int argc, char **argv) {
    useconds_t pause = argc > 1 ? (useconds_t)atoi(argv[1]) : 0;
    size_t used = 0;
    for (;;) {
        ssize_t count = read(0, line + used, sizeof line - 1 - used);
        char *end;
        if (count <= 0)
            return 0;
        used += (size_t)count;
        line[used] = 0;
        while ((end = memchr(line, '\n', used))) {
            size_t length = (size_t)(end - line) + 1;
            *end = 0;
            if (!strncmp(line, "turn ", 5))
                answer(line, pause);
            else if (!strncmp(line, "crownhead", 9) || !strncmp(line, "newgame", 7))
                say("ready\n", 6);
            else if (!strncmp(line, "quit", 4))
                return 0;
            used -= length;
            memmove(line, line + length, used + 1);
        }
    }
}
