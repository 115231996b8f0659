// A bot for contest checkers: the two functions of the original assignment.
//
// board[row][col] is 0 (empty), 1 (black), 2 (red), 3 (black king) or 4 (red king). Rows and
// columns count from 0, and black starts on rows 0 to 2. A function sets the start and the final
// square.
//
// It scores each move and plays the best one. Improve score(): it does not look at the opponent's
// replies.
#include <cstdlib>

namespace {

struct Move {
    int row1, col1, row2, col2, captured;
};

struct Search {
    int board[8][8];
    int colour; // 1 or 2
    Move best;
    int best_score, equal;

    bool is_on(int row, int col) const { return row >= 0 && row < 8 && col >= 0 && col < 8; }
    bool is_own(int piece) const { return piece != 0 && (piece - 1) % 2 == colour - 1; }
    bool is_enemy(int piece) const { return piece != 0 && !is_own(piece); }
    int forward() const { return colour == 1 ? 1 : -1; }

    // Scores a move; higher is better.
    int score(const Move &move) const {
        int points = 10 * move.captured;
        if (move.row2 == 0 || move.row2 == 7)
            points += 2;
        // An enemy in front captures us if the square behind us is empty.
        for (int side = -1; side <= 1; side += 2) {
            int row = move.row2 + forward(), col = move.col2 + side;
            int row2 = move.row2 - forward(), col2 = move.col2 - side;
            if (!is_on(row, col) || !is_on(row2, col2) || !is_enemy(board[row][col]))
                continue;
            if (board[row2][col2] == 0 || (row2 == move.row1 && col2 == move.col1))
                points -= 8;
        }
        return points;
    }

    void consider(const Move &move) {
        int points = score(move);
        if (equal == 0 || points > best_score) {
            best = move;
            best_score = points;
            equal = 1;
        } else if (points == best_score && std::rand() % ++equal == 0) {
            best = move; // break ties at random
        }
    }

    // Follows all captures of a piece to their ends. Returns whether there is one.
    bool jump(int row1, int col1, int row, int col, int piece, int captured) {
        bool found = false;
        for (int down = -1; down <= 1; down += 2)
            for (int side = -1; side <= 1; side += 2) {
                if (piece <= 2 && down != forward())
                    continue;
                int over_row = row + down, over_col = col + side;
                int row2 = over_row + down, col2 = over_col + side;
                if (!is_on(row2, col2) || board[row2][col2] != 0)
                    continue;
                int taken = board[over_row][over_col];
                if (!is_enemy(taken))
                    continue;
                found = true;
                board[over_row][over_col] = 0;
                if (!jump(row1, col1, row2, col2, piece, captured + 1))
                    consider(Move{row1, col1, row2, col2, captured + 1});
                board[over_row][over_col] = taken;
            }
        return found;
    }

    void run() {
        equal = 0;
        for (int pass = 0; pass < 2 && equal == 0; pass++) // captures first: they are mandatory
            for (int row = 0; row < 8; row++)
                for (int col = 0; col < 8; col++) {
                    int piece = board[row][col];
                    if (!is_own(piece))
                        continue;
                    if (pass == 0) {
                        board[row][col] = 0; // it does not block itself
                        jump(row, col, row, col, piece, 0);
                        board[row][col] = piece;
                        continue;
                    }
                    for (int down = -1; down <= 1; down += 2)
                        for (int side = -1; side <= 1; side += 2)
                            if ((piece > 2 || down == forward()) && is_on(row + down, col + side) &&
                                board[row + down][col + side] == 0)
                                consider(Move{row, col, row + down, col + side, 0});
                }
    }
};

void choose(int board[][8], int &row1, int &col1, int &row2, int &col2, int colour) {
    Search search;
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++)
            search.board[row][col] = board[row][col];
    search.colour = colour;
    search.run();
    if (search.equal == 0)
        return; // no legal move: the game is over
    row1 = search.best.row1;
    col1 = search.best.col1;
    row2 = search.best.row2;
    col2 = search.best.col2;
}

} // namespace

void move_black(int board[][8], int &row1, int &col1, int &row2, int &col2, int black) {
    choose(board, row1, col1, row2, col2, black);
}

void move_red(int board[][8], int &row1, int &col1, int &row2, int &col2, int red) {
    choose(board, row1, col1, row2, col2, red);
}
