/* A bot for Chinese checkers: one function, as in the original assignment. Its name may end with a
 * student number: ai_player_1155012345.
 *
 * It scores each move and plays the one that makes the most progress. Improve score(): it does not
 * look at the opponent's replies. */
#include <stdlib.h>

static int cells[89];       /* a copy of the board: row r, column c is cells[10 * r + c] */
static int ends[64], count; /* cells that the current piece can reach */

static int is_on_board(int cell) {
    return cell >= 11 && cell <= 88 && cell % 10 >= 1 && cell % 10 <= 8;
}

static void add_end(int cell) {
    for (int i = 0; i < count; i++)
        if (ends[i] == cell)
            return;
    ends[count++] = cell;
}

static const int directions[8] = {-11, -10, -9, -1, 1, 9, 10, 11};

/* Returns the end of a jump, or 0: the only piece in between must be exactly in the middle. */
static int jump(int from, int direction, int distance) {
    int to = from + direction * distance;
    for (int i = 1; i <= distance; i++) {
        int cell = from + direction * i;
        if (!is_on_board(cell) || (cells[cell] != 0) != (2 * i == distance))
            return 0;
    }
    return to;
}

/* Finds all cells that the piece on a cell can reach: by one step, or any number of jumps. */
static void find_ends(int from) {
    int piece = cells[from];
    count = 0;
    cells[from] = 0; /* it does not block itself */
    add_end(from);
    for (int i = 0; i < count; i++) /* the list grows during the loop */
        for (int d = 0; d < 8; d++)
            for (int distance = 2; distance <= 6; distance += 2) {
                int to = jump(ends[i], directions[d], distance);
                if (to)
                    add_end(to);
            }
    for (int d = 0; d < 8; d++)
        if (is_on_board(from + directions[d]) && cells[from + directions[d]] == 0)
            add_end(from + directions[d]);
    cells[from] = piece;
}

/* Scores a move; higher is better. */
static int score(int player, int from, int to) {
    int forward = player == 1 ? 1 : -1; /* blue moves down and right */
    int start = from / 10 + from % 10, end = to / 10 + to % 10;
    /* Progress towards the opposite corner; on a tie, move the rearmost piece. */
    return 10 * forward * (end - start) - forward * start;
}

int ai_player(int player, const int *board) {
    int best = 0, best_score = 0, equal = 0;
    for (int i = 0; i < 89; i++)
        cells[i] = board[i];
    for (int from = 11; from <= 88; from++) {
        if (!is_on_board(from) || cells[from] != player)
            continue;
        find_ends(from);
        for (int i = 1; i < count; i++) { /* ends[0] is the start */
            int points = score(player, from, ends[i]);
            if (best == 0 || points > best_score) {
                best = from * 100 + ends[i];
                best_score = points;
                equal = 1;
            } else if (points == best_score && rand() % ++equal == 0) {
                best = from * 100 + ends[i]; /* break ties at random */
            }
        }
    }
    return best;
}
