/* Speaks the bot protocol for a function that cannot. Compiled as C or as C++, together with a file
 * that includes the function and defines crownhead_answer.
 *
 * The dialogue has descriptors of its own, so that whatever the function prints or reads is no part of
 * it: its standard output is the standard error, its standard input is empty. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C"
#endif
int crownhead_answer(int player, const char *letters, int *answer);

static char line[1 << 18]; /* a turn may have thousands of moves */
static size_t filled, begun;

/* The next line from the referee, or 0 at the end. */
static char *next_line(int input) {
    for (;;) {
        char *end = (char *)memchr(line + begun, '\n', filled - begun);
        if (end) {
            char *start = line + begun;
            *end = 0;
            begun = (size_t)(end - line) + 1;
            return start;
        }
        memmove(line, line + begun, filled - begun);
        filled -= begun;
        begun = 0;
        if (filled == sizeof line)
            filled = 0; /* no line of the protocol is so long */
        ssize_t count = read(input, line + filled, sizeof line - filled);
        if (count <= 0)
            return 0;
        filled += (size_t)count;
    }
}

static void say(int output, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t count = write(output, text, left);
        if (count <= 0)
            _exit(1);
        text += count;
        left -= (size_t)count;
    }
}

/* The value of a key that stands after a blank and before any text in quotes that may look like it. */
static const char *value(const char *text, const char *key) {
    const char *found = strstr(text, key);
    return found ? found + strlen(key) : 0;
}

int main(void) {
    int input = fcntl(0, F_DUPFD_CLOEXEC, 14), output = fcntl(1, F_DUPFD_CLOEXEC, 14);
    int nothing = open("/dev/null", O_RDONLY);
    char *text;
    if (input < 0 || output < 0 || nothing < 0)
        return 1;
    dup2(nothing, 0);
    dup2(2, 1);
    close(nothing);
    setvbuf(stdout, 0, _IOLBF, 0); /* what is printed before a crash is seen */
    while ((text = next_line(input))) {
        if (!strncmp(text, "crownhead", 9) || !strncmp(text, "newgame", 7)) {
            say(output, "ready\n");
        } else if (!strncmp(text, "turn", 4)) {
            const char *side = value(text, " side="), *board = value(text, " board=");
            int numbers[4] = {-1, -1, -1, -1}, count, i;
            char answer[80] = "move";
            if (!side || !board || strlen(board) < 64)
                continue;
            count = crownhead_answer(*side == '#' || *side == 'b' ? 1 : 2, board, numbers);
            for (i = 0; i < count; i++)
                snprintf(answer + strlen(answer), 16, " %d", numbers[i]);
            strcat(answer, count ? "\n" : " none\n");
            fflush(stdout);
            say(output, answer);
        } else if (!strncmp(text, "quit", 4)) {
            break;
        }
    }
    return 0;
}
