/* Speaks the bot protocol for an engine with the CheckerBoard interface, which is a shared library.
 *
 * usage: host ENGINE.so [COMMAND...]
 *
 * Every COMMAND goes to enginecommand before the first game. A turn is answered with the 64 letters
 * of the board after the engine's move. */
#include <dlfcn.h>

#include "lines.h"

enum { WHITE = 1, BLACK = 2, MAN = 4, KING = 8 };

struct coor {
    int x, y;
};

/* The engine may fill it in; what counts is the board. */
struct CBmove {
    int jumps, newpiece, oldpiece;
    struct coor from, to, path[12], del[12];
    int delpiece[12];
};

typedef int getmove_function(int board[8][8], int color, double maxtime, char str[1024],
                             int *playnow, int info, int moreinfo, struct CBmove *move);
typedef int enginecommand_function(char command[256], char reply[1024]);

/* Engines are C or C++; these are the names of the same functions in both. */
static const char *const getmove_names[] = {"getmove", "_Z7getmovePA8_iidPcPiiiP6CBmove", 0};
static const char *const enginecommand_names[] = {"enginecommand", "_Z13enginecommandPcS_", 0};

/* Engines may write a little more than they are allowed to. */
static char text[4096], reply[4096];
static enginecommand_function *enginecommand;

static void *find_symbol(void *library, const char *const *names) {
    void *symbol = 0;
    for (; *names && !symbol; names++)
        symbol = dlsym(library, *names);
    return symbol;
}

/* Replaces what would break a line of the protocol. */
static char *one_line(char *line) {
    char *at;
    for (at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"')
            *at = ' ';
    return line;
}

static const char *command(const char *words) {
    reply[0] = 0;
    if (!enginecommand || strlen(words) >= 256)
        return reply;
    strcpy(text, words);
    enginecommand(text, reply);
    reply[1000] = 0;
    return one_line(reply);
}

/* Column and row of a square, from 0 to 31, in the letters of the protocol and in the engine's
 * board. */
static int letter_index(int square) {
    int row = square / 4;
    return row * 8 + 2 * (square % 4) + (row % 2 == 0);
}

static int *cell(int board[8][8], int square) {
    int y = square / 4;
    return &board[2 * (3 - square % 4) + y % 2][y];
}

static int piece(char letter) {
    switch (letter) {
    case 'b': return BLACK | MAN;
    case 'B': return BLACK | KING;
    case 'w': return WHITE | MAN;
    case 'W': return WHITE | KING;
    default: return 0;
    }
}

static char letter(int piece) {
    switch (piece) {
    case BLACK | MAN: return 'b';
    case BLACK | KING: return 'B';
    case WHITE | MAN: return 'w';
    case WHITE | KING: return 'W';
    default: return '.';
    }
}

static void answer_turn(getmove_function *getmove, const char *line) {
    const char *side = value(line, " side="), *letters = value(line, " board=");
    const char *maxtime = value(line, " maxtime="), *info = value(line, " info=");
    const char *history = value(line, " gamehist=\"");
    int board[8][8] = {{0}}, playnow = 0, square, result;
    static struct CBmove moves[4];
    char answer[1200], after[65] = {0};
    if (!side || !letters || strlen(letters) < 64 || !maxtime || !info)
        return;
    if (history) {
        char words[256] = "set gamehist ";
        size_t length = strcspn(history, "\"");
        if (length < sizeof words - 14) {
            strncat(words, history, length);
            command(words);
        }
    }
    for (square = 0; square < 32; square++)
        *cell(board, square) = piece(letters[letter_index(square)]);
    text[0] = 0;
    memset(moves, 0, sizeof moves);
    result = getmove(board, *side == 'b' ? BLACK : WHITE, atof(maxtime), text, &playnow, atoi(info),
                     0, moves);
    text[1000] = 0;
    memset(after, '.', 64);
    for (square = 0; square < 32; square++)
        after[letter_index(square)] = letter(*cell(board, square));
    fflush(stdout);
    snprintf(answer, sizeof answer, "# result %d: %s\nmove %s\n", result, one_line(text), after);
    send_text(answer);
}

int main(int argc, char **argv) {
    getmove_function *getmove;
    void *library;
    char *line, name[1100];
    int i;
    if (argc < 2 || !take_descriptors())
        return 1;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "cannot load the engine: %s\n", dlerror());
        return 1;
    }
    getmove = (getmove_function *)find_symbol(library, getmove_names);
    enginecommand = (enginecommand_function *)find_symbol(library, enginecommand_names);
    if (!getmove) {
        fprintf(stderr, "%s is not a CheckerBoard engine: it does not export getmove\n", argv[1]);
        return 1;
    }
    while ((line = next_line())) {
        if (!strncmp(line, "crownhead", 9)) {
            for (i = 2; i < argc; i++)
                command(argv[i]);
            snprintf(name, sizeof name, "bot name=\"%s\"\nready\n", command("name"));
            send_text(*reply ? name : "ready\n");
        } else if (!strncmp(line, "newgame", 7)) {
            send_text("ready\n");
        } else if (!strncmp(line, "turn", 4)) {
            answer_turn(getmove, line);
        } else if (!strncmp(line, "quit", 4)) {
            break;
        }
    }
    _exit(0); /* without the engine's destructors, which may hang */
}
