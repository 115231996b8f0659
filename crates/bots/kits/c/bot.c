/* A bot for Crownhead. It scores each legal move and plays the best one.
 *
 * Improve score(): it does not look at the opponent's replies. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    int row, column; /* from 0 */
};

static char game[32] = "english";
static char board[64]; /* 64 letters, row by row; '.' is empty */
static char side;      /* letter of our side */

static int is_checkers(void) {
    return !strcmp(game, "english") || !strcmp(game, "contest");
}

/* Parses the cells of a move, "22-24-44", "1131" or "11x18", and returns their number: 0 for a
 * pass. */
static int parse_cells(const char *move, struct cell *path, int capacity) {
    int count = 0;
    if (!strcmp(move, "pass"))
        return 0;
    while (*move && count < capacity) {
        if (!isdigit((unsigned char)*move)) {
            move++;
        } else if (is_checkers()) { /* squares 1 to 32, four per row */
            int n = (int)strtol(move, (char **)&move, 10) - 1;
            path[count].row = n / 4;
            path[count++].column = n % 4 * 2 + (n / 4 + 1) % 2;
        } else {
            path[count].row = move[0] - '1';
            path[count++].column = move[1] - '1';
            move += 2;
        }
    }
    return count;
}

static int is_enemy(int row, int column) {
    char piece = board[row * 8 + column];
    return piece != '.' && tolower((unsigned char)piece) != tolower((unsigned char)side);
}

/* King's steps to the nearest enemy. */
static int enemy_distance(int row, int column) {
    int best = 0;
    for (int i = 0; i < 64; i++) {
        int rows = abs(i / 8 - row), columns = abs(i % 8 - column);
        int steps = rows > columns ? rows : columns;
        if (is_enemy(i / 8, i % 8) && (best == 0 || steps < best))
            best = steps;
    }
    return best;
}

/* Progress of a column towards our target in Capture Halma. */
static int progress(int column) {
    if (side == 'b')
        return column < 6 ? column : 6;
    return column > 1 ? -column : -1;
}

/* Scores a move; higher is better. */
static int score(const char *move) {
    struct cell path[128];
    int count = parse_cells(move, path, 128), points = 0;
    int forward = side == 'b' || side == '#' ? 1 : -1; /* the first side moves down and right */
    if (count < 2)
        return 0;
    struct cell from = path[0], to = path[count - 1];
    if (!strcmp(game, "chinese-checkers"))
        /* Progress towards the opposite corner; on a tie, move the rearmost piece. */
        return 10 * forward * (to.row + to.column - from.row - from.column) -
               forward * (from.row + from.column);
    if (!strcmp(game, "capture-halma")) {
        for (int i = 1; i < count; i++) {
            struct cell a = path[i - 1], b = path[i];
            int length = abs(a.row - b.row) + abs(a.column - b.column);
            if (length == 2 && is_enemy((a.row + b.row) / 2, (a.column + b.column) / 2))
                points += 10;
        }
        return points + 4 * (progress(to.column) - progress(from.column));
    }
    /* English and contest checkers: capture as much as possible, avoid being captured. */
    if (strchr(move, 'x'))
        for (int i = 1; i < count; i++)
            points += 10 * (abs(path[i].row - path[i - 1].row) / 2);
    if (isupper((unsigned char)board[from.row * 8 + from.column])) /* kings approach enemies */
        points += enemy_distance(from.row, from.column) - enemy_distance(to.row, to.column);
    else
        points += to.row == 0 || to.row == 7 ? 5 : 1;
    for (int dr = -1; dr <= 1; dr += 2) {
        for (int dc = -1; dc <= 1; dc += 2) {
            int row = to.row + dr, column = to.column + dc;
            int row2 = to.row - dr, column2 = to.column - dc;
            if (row < 0 || row > 7 || column < 0 || column > 7)
                continue;
            if (row2 < 0 || row2 > 7 || column2 < 0 || column2 > 7)
                continue;
            int is_king = isupper((unsigned char)board[row * 8 + column]);
            int is_free = board[row2 * 8 + column2] == '.' ||
                          (row2 == from.row && column2 == from.column);
            /* Men only move towards us. */
            if (is_enemy(row, column) && (is_king || dr == forward) && is_free)
                points -= 8;
        }
    }
    return points;
}

/* Returns the value of a key in "word key=value key=\"two words\"", or NULL. */
static char *value(char *line, const char *key) {
    size_t length = strlen(key);
    int quoted = 0;
    for (char *at = line; *at; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (!quoted && *at == ' ' && !strncmp(at + 1, key, length) && at[1 + length] == '=')
            return at + 2 + length;
    }
    return NULL;
}

static void turn(char *line) {
    char *letters = value(line, "board"), *letter = value(line, "side");
    char *moves = value(line, "moves"), *best = NULL;
    int best_score = 0, equal = 0;
    if (!letters || !letter || !moves)
        return;
    memcpy(board, letters, 64);
    side = *letter;
    moves[strcspn(moves, " \r\n")] = 0;
    for (char *move = strtok(moves, ","); move; move = strtok(NULL, ",")) {
        int points = score(move);
        if (!best || points > best_score) {
            best = move;
            best_score = points;
            equal = 1;
        } else if (points == best_score && rand() % ++equal == 0) {
            best = move; /* break ties at random */
        }
    }
    printf("move %s\n", best ? best : "pass");
}

int main(void) {
    char *line = NULL, *text;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        if (!strncmp(line, "crownhead", 9)) {
            printf("bot name=\"NAME\"\nready\n");
        } else if (!strncmp(line, "newgame", 7)) {
            if ((text = value(line, "game")))
                snprintf(game, sizeof game, "%.*s", (int)strcspn(text, ": \r\n"), text);
            if ((text = value(line, "seed")))
                srand((unsigned)strtoull(text, NULL, 10));
            printf("ready\n");
        } else if (!strncmp(line, "turn", 4)) {
            turn(line);
        } else if (!strncmp(line, "quit", 4)) {
            break;
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
