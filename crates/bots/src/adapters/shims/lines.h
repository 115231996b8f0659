/* Code shared by the programs that are compiled for adapters: lines of the bot protocol, on
 * descriptors of their own. The standard output of the author's code goes to standard error, and its
 * standard input is empty. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int input, output;

/* Moves the protocol to other descriptors. Returns 0 if there are none. */
static int take_descriptors(void) {
    int nothing = open("/dev/null", O_RDONLY);
    input = fcntl(0, F_DUPFD_CLOEXEC, 14);
    output = fcntl(1, F_DUPFD_CLOEXEC, 14);
    if (input < 0 || output < 0 || nothing < 0)
        return 0;
    dup2(nothing, 0);
    dup2(2, 1);
    close(nothing);
    setvbuf(stdout, 0, _IOLBF, 0); /* so that output before a crash is not lost */
    return 1;
}

static char buffer[1 << 18]; /* a turn may list thousands of moves */
static size_t start, end;    /* the unread part of the buffer */

/* Returns the next line from the referee, or 0 at the end of the input. */
static char *next_line(void) {
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

static void send_text(const char *text) {
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
