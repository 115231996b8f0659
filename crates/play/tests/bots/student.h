#define DIRECTIONS 8
static const int ways[DIRECTIONS] = {-11, -10, -9, -1, 1, 9, 10, 11};
