/* Speaks the bot protocol for a function. Compiled as C or C++, together with a wrapper that
 * includes the function and defines crownhead_answer.
 *
 * The protocol uses descriptors of its own. The function's standard output goes to standard error,
 * and its standard input is empty. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C"
#endif
int crownhead_answer(int player, const char *letters, int *answer);

static char buffer[1 << 18]; /* a turn may list thousands of moves */
static size_t start, end;    /* the unread part of the buffer */

/* Returns the next line from the referee, or 0 at the end of the input. */
static char *next_line(int input) {
    for (;;) {
        char *newline = (char *)memchr(buffer + start, '\n', end - start);
        if (newline) {
            char *line = buffer + start;
            *newline = 0;
            start = (size_t)(newline - buffer) + 1;
            return line;
        }
        memmove(buffer, buffer + start, end - start);
        end -= start;
        start = 0;
        if (end == sizeof buffer)
            end = 0; /* no line of the protocol is this long */
        ssize_t count = read(input, buffer + end, sizeof buffer - end);
        if (count <= 0)
            return 0;
        end += (size_t)count;
    }
}

static void send_text(int output, const char *text) {
    size_t remaining = strlen(text);
    while (remaining > 0) {
        ssize_t count = write(output, text, remaining);
        if (count <= 0)
            _exit(1);
        text += count;
        remaining -= (size_t)count;
    }
}

/* Returns the value of a key, or 0. The quoted position never contains a key. */
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
    setvbuf(stdout, 0, _IOLBF, 0); /* so that output before a crash is not lost */
    while ((text = next_line(input))) {
        if (!strncmp(text, "crownhead", 9) || !strncmp(text, "newgame", 7)) {
            send_text(output, "ready\n");
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
            send_text(output, answer);
        } else if (!strncmp(text, "quit", 4)) {
            break;
        }
    }
    return 0;
}
