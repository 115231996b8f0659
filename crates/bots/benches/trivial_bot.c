/* A bot that answers immediately, to measure the referee. Blue plays the first legal move and red
 * the last: in Chinese checkers both stay in their camps, and no game ends early. The optional
 * arguments are a delay before each answer, in microseconds, and `spin`: a thread that never
 * sleeps. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 16];

static void send_text(const char *text, size_t length) {
    if (write(1, text, length) < 0)
        exit(1);
}

static void answer(char *turn, useconds_t delay) {
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
    if (delay)
        usleep(delay);
    send_text(move, length + 6);
}

static void *spin(void *nothing) {
    for (volatile unsigned long count = 0;; count++)
        (void)nothing;
}

int main(int argc, char **argv) {
    useconds_t delay = argc > 1 ? (useconds_t)atoi(argv[1]) : 0;
    size_t used = 0;
    pthread_t thread;
    if (argc > 2 && pthread_create(&thread, NULL, spin, NULL))
        return 1;
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
                answer(line, delay);
            else if (!strncmp(line, "crownhead", 9) || !strncmp(line, "newgame", 7))
                send_text("ready\n", 6);
            else if (!strncmp(line, "quit", 4))
                return 0;
            used -= length;
            memmove(line, line + length, used + 1);
        }
    }
}
