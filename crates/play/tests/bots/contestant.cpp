// Contest checkers as a contestant hands it in, within the skeleton of the contest. It takes the first
// capture it finds, or else the first step.
#include <iostream>
using namespace std;
const int black = 1, red = 2;
int value, say;

bool on(int r, int c) { return r >= 0 && r < 8 && c >= 0 && c < 8; }

// The end of the captures that go on from here; false if there are none.
bool capture(int b[8][8], int r, int c, int way, int foe, int &r2, int &c2)
{
    for (int side = -1; side <= 1; side += 2)
        if (on(r + 2 * way, c + 2 * side) && b[r + way][c + side] == foe && b[r + 2 * way][c + 2 * side] == 0) {
            r2 = r + 2 * way, c2 = c + 2 * side;
            capture(b, r2, c2, way, foe, r2, c2);
            return true;
        }
    return false;
}

void choose(int b[8][8], int &row1, int &col1, int &row2, int &col2, int own, int way)
{
    for (int captures = 1; captures >= 0; captures--)
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < 8; c++) {
                if (b[r][c] != own)
                    continue;
                row1 = r, col1 = c;
                if (captures && capture(b, r, c, way, 3 - own, row2, col2))
                    return;
                for (int side = -1; side <= 1 && !captures; side += 2)
                    if (on(r + way, c + side) && b[r + way][c + side] == 0) {
                        row2 = r + way, col2 = c + side;
                        return;
                    }
            }
}

void move_black(int board[][8], int &row1, int &col1, int &row2, int &col2, int black)
{
    cout << "black thinks" << endl;
    choose(board, row1, col1, row2, col2, black, 1);
}

/* void move_red(…) is the opponent's */
void move_red(int board[8][8], int &row1, int &col1, int &row2, int &col2, int red)
{
    /* HERE */
    choose(board, row1, col1, row2, col2, red, -1);
}

int main()
{
    int board[8][8], r1, c1, r2, c2;
    cin >> board[0][0];
    //move_black(board,row1,col1,row2,col2,black);
    move_black(board, r1, c1, r2, c2, black);
}
