// A bot for Crownhead. It scores each legal move and plays the best one.
//
// Improve score(): it does not look at the opponent's replies.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

struct Cell {
    int row, column; // from 0
    bool on_board() const { return row >= 0 && row < 8 && column >= 0 && column < 8; }
    bool operator==(const Cell &other) const { return row == other.row && column == other.column; }
};

struct Turn {
    std::string game;
    std::string board; // 64 letters, row by row; '.' is empty
    char side;         // letter of our side

    char at(Cell cell) const { return board[cell.row * 8 + cell.column]; }
    bool is_enemy(Cell cell) const {
        return at(cell) != '.' && std::tolower(at(cell)) != std::tolower(side);
    }
};

// Parses the cells of a move: "22-24-44", "1131" or "11x18". A pass has none.
std::vector<Cell> parse_cells(const std::string &move, const Turn &turn) {
    std::vector<Cell> path;
    const bool squares = turn.game == "english" || turn.game == "contest";
    for (size_t i = 0; i < move.size();) {
        if (!std::isdigit(static_cast<unsigned char>(move[i]))) {
            i++;
        } else if (squares) { // 1 to 32, four per row
            size_t length = 0;
            const int n = std::stoi(move.substr(i), &length) - 1;
            path.push_back({n / 4, n % 4 * 2 + (n / 4 + 1) % 2});
            i += length;
        } else {
            path.push_back({move[i] - '1', move[i + 1] - '1'});
            i += 2;
        }
    }
    return path;
}

// King's steps to the nearest enemy.
int enemy_distance(Cell from, const Turn &turn) {
    int best = 8;
    for (int i = 0; i < 64; i++) {
        const int rows = std::abs(i / 8 - from.row), columns = std::abs(i % 8 - from.column);
        if (turn.is_enemy({i / 8, i % 8}))
            best = std::min(best, std::max(rows, columns));
    }
    return best;
}

// Scores a move; higher is better.
int score(const std::string &move, const Turn &turn) {
    const auto path = parse_cells(move, turn);
    if (path.size() < 2)
        return 0;
    const Cell from = path.front(), to = path.back();
    const bool first = turn.side == 'b' || turn.side == '#';
    const int forward = first ? 1 : -1; // the first side moves down and right
    int points = 0;
    if (turn.game == "chinese-checkers") // on a tie, move the rearmost piece
        return 10 * forward * (to.row + to.column - from.row - from.column) -
               forward * (from.row + from.column);
    if (turn.game == "capture-halma") {
        auto progress = [&](int column) {
            return first ? std::min(column, 6) : -std::max(column, 1);
        };
        for (size_t i = 1; i < path.size(); i++) {
            const Cell a = path[i - 1], b = path[i];
            const int length = std::abs(a.row - b.row) + std::abs(a.column - b.column);
            if (length == 2 && turn.is_enemy({(a.row + b.row) / 2, (a.column + b.column) / 2}))
                points += 10;
        }
        return points + 4 * (progress(to.column) - progress(from.column));
    }
    // English and contest checkers: capture as much as possible, avoid being captured.
    if (move.find('x') != std::string::npos)
        for (size_t i = 1; i < path.size(); i++)
            points += 10 * (std::abs(path[i].row - path[i - 1].row) / 2);
    if (std::isupper(turn.at(from))) // kings approach enemies
        points += enemy_distance(from, turn) - enemy_distance(to, turn);
    else
        points += to.row == 0 || to.row == 7 ? 5 : 1;
    for (int dr : {-1, 1})
        for (int dc : {-1, 1}) {
            const Cell near{to.row + dr, to.column + dc}, behind{to.row - dr, to.column - dc};
            if (!near.on_board() || !behind.on_board() || !turn.is_enemy(near))
                continue;
            // Men only move towards us.
            const bool can_reach = std::isupper(turn.at(near)) || dr == forward;
            if (can_reach && (behind == from || turn.at(behind) == '.'))
                points -= 8;
        }
    return points;
}

// Parses the values of a line: word key=value key="two words".
std::map<std::string, std::string> parse_line(const std::string &line) {
    std::map<std::string, std::string> values;
    size_t at = line.find(' ');
    while (at != std::string::npos && (at = line.find_first_not_of(' ', at)) != std::string::npos) {
        const size_t equals = line.find('=', at);
        if (equals == std::string::npos)
            break;
        const bool quoted = equals + 1 < line.size() && line[equals + 1] == '"';
        const size_t start = equals + (quoted ? 2 : 1);
        const size_t end = line.find(quoted ? '"' : ' ', start);
        values[line.substr(at, equals - at)] = line.substr(start, end - start);
        at = end == std::string::npos ? end : end + 1;
    }
    return values;
}

int main() {
    std::mt19937_64 rng;
    Turn turn{"english", "", 'b'};
    for (std::string line; std::getline(std::cin, line);) {
        const std::string word = line.substr(0, line.find(' '));
        auto values = parse_line(line);
        if (word == "crownhead") {
            std::cout << "bot name=\"NAME\"\nready" << std::endl;
        } else if (word == "newgame") {
            turn.game = values["game"].substr(0, values["game"].find(':'));
            rng.seed(std::strtoull(values["seed"].c_str(), nullptr, 10));
            std::cout << "ready" << std::endl;
        } else if (word == "turn") {
            turn.board = values["board"];
            turn.side = values["side"][0];
            std::vector<std::string> moves;
            std::istringstream list(values["moves"]);
            for (std::string move; std::getline(list, move, ',');)
                moves.push_back(move);
            std::shuffle(moves.begin(), moves.end(), rng); // break ties at random
            auto less = [&](const std::string &a, const std::string &b) {
                return score(a, turn) < score(b, turn);
            };
            const auto best = std::max_element(moves.begin(), moves.end(), less);
            std::cout << "move " << *best << std::endl;
        } else if (word == "quit") {
            break;
        }
    }
}
