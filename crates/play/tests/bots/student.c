/* Chinese checkers as a student hands it in: a number in the name, helpers, a header, state between
 * turns, a main for trying things out. It steps by lot. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "student.h"

#define N 8
#define min(a, b) ((a) < (b) ? (a) : (b))
int turns, line; /* global, with names that others may use too */

static int value(int cell) { return min(cell, 99); }

int ai_player_helper(int a) { return a; }

static int ai_player_1155012345(int player, const int *board)
{
    int from, i, moves[256], count = 0;
    turns++;
    /* HERE */
    for (from = 11; from <= 88; from++) {
        if (from % 10 < 1 || from % 10 > N || board[value(from)] != player)
            continue;
        for (i = 0; i < DIRECTIONS; i++) {
            int to = from + ways[i];
            if (to >= 11 && to <= 88 && to % 10 >= 1 && to % 10 <= N && board[to] == 0)
                moves[count++] = from * 100 + to;
        }
    }
    return ai_player_helper(moves[rand() % count]);
}

int main()
{
    int board[89] = {0};
    board[11] = 1;
    printf("%d\n", ai_player_1155012345(1, board));
    return 0;
}
