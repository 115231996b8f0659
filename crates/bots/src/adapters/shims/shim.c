/* Speaks the bot protocol for a function. Compiled as C or C++, together with a wrapper that
 * includes the function and defines crownhead_answer. */
#include "lines.h"

#ifdef __cplusplus
extern "C"
#endif
int crownhead_answer(int player, const char *letters, int *answer);

int main(void) {
    char *text;
    if (!take_descriptors())
        return 1;
    while ((text = next_line())) {
        if (!strncmp(text, "crownhead", 9) || !strncmp(text, "newgame", 7)) {
            send_text("ready\n");
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
            send_text(answer);
        } else if (!strncmp(text, "quit", 4)) {
            break;
        }
    }
    return 0;
}
