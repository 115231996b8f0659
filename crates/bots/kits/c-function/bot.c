/* A bot for Chinese checkers: one function, as the course project asks for it. The name may carry a
 * student number, ai_player_1155012345.
 *
 * It tries each move and plays the one that brings its pieces nearest to the far corner. The part to
 * improve is score(): it knows nothing of what the opponent will do next. */
#include <stdlib.h>

static int cells[89]; /* a copy of the board: cell rc, row r and column c, is cells[rc] */
static int ends[64], count; /* where the piece that is looked at can go */

static int is_on(int cell) {
    return cell >= 11 && cell <= 88 && cell % 10 >= 1 && cell % 10 <= 8;
}

static void add(int cell) {
    for (int i = 0; i < count; i++)
        if (ends[i] == cell)
            return;
    ends[count++] = cell;
}

static const int directions[8] = {-11, -10, -9, -1, 1, 9, 10, 11};

/* The cell that one jump along a direction leads to, or 0: one piece on the way, just in the middle. */
static int jump(int from, int direction, int distance) {
    int to = from + direction * distance;
    for (int i = 1; i <= distance; i++) {
        int cell = from + direction * i;
        if (!is_on(cell) || (cells[cell] != 0) != (2 * i == distance))
            return 0;
    }
    return to;
}

/* Finds all cells where the piece on a cell can go: one step, or any number of jumps. */
static void find_ends(int from) {
    int piece = cells[from];
    count = 0;
    cells[from] = 0; /* it is lifted */
    add(from);
    for (int i = 0; i < count; i++) /* the list grows while we go along it */
        for (int d = 0; d < 8; d++)
            for (int distance = 2; distance <= 6; distance += 2) {
                int to = jump(ends[i], directions[d], distance);
                if (to)
                    add(to);
            }
    for (int d = 0; d < 8; d++)
        if (is_on(from + directions[d]) && cells[from + directions[d]] == 0)
            add(from + directions[d]);
    cells[from] = piece;
}

/* How much we like a move: the higher the better. */
static int score(int player, int from, int to) {
    int forward = player == 1 ? 1 : -1; /* blue goes down and right */
    int start = from / 10 + from % 10, end = to / 10 + to % 10;
    /* The way to the opposite corner; of equal ways, the piece furthest behind. */
    return 10 * forward * (end - start) - forward * start;
}

int ai_player(int player, const int *board) {
    int best = 0, best_score = 0, equal = 0;
    for (int i = 0; i < 89; i++)
        cells[i] = board[i];
    for (int from = 11; from <= 88; from++) {
        if (!is_on(from) || cells[from] != player)
            continue;
        find_ends(from);
        for (int i = 1; i < count; i++) { /* ends[0] is where it stands */
            int points = score(player, from, ends[i]);
            if (best == 0 || points > best_score) {
                best = from * 100 + ends[i];
                best_score = points;
                equal = 1;
            } else if (points == best_score && rand() % ++equal == 0) {
                best = from * 100 + ends[i]; /* so that equal moves take turns */
            }
        }
    }
    return best;
}
