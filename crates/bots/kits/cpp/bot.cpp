// A bot for Crownhead. It looks at each legal move by itself and plays the one it likes best.
//
// The part to improve is score(): it knows nothing of what the opponent will do next.
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
    int row, column; // counted from 0
    bool on_board() const { return row >= 0 && row < 8 && column >= 0 && column < 8; }
    bool operator==(const Cell &other) const { return row == other.row && column == other.column; }
};

struct Turn {
    std::string game;
    std::string board; // 64 letters, row by row; '.' is empty
    char side;         // our letter

    char at(Cell cell) const { return board[cell.row * 8 + cell.column]; }
    bool is_enemy(Cell cell) const {
        return at(cell) != '.' && std::tolower(at(cell)) != std::tolower(side);
    }
};

// The cells of a move: "22-24-44" or "1131" or "11x18". A pass has none.
std::vector<Cell> cells(const std::string &move, const Turn &turn) {
    std::vector<Cell> path;
    const bool squares = turn.game == "english" || turn.game == "contest";
    for (size_t i = 0; i < move.size();) {
        if (!std::isdigit(static_cast<unsigned char>(move[i]))) {
            i++;
        } else if (squares) { // 1 to 32, four in a row
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

// Steps of a king to the nearest enemy.
int way(Cell from, const Turn &turn) {
    int best = 8;
    for (int i = 0; i < 64; i++)
        if (turn.is_enemy({i / 8, i % 8}))
            best = std::min(best, std::max(std::abs(i / 8 - from.row), std::abs(i % 8 - from.column)));
    return best;
}

// How much we like a move: the higher the better.
int score(const std::string &move, const Turn &turn) {
    const auto path = cells(move, turn);
    if (path.size() < 2)
        return 0;
    const Cell from = path.front(), to = path.back();
    const bool first = turn.side == 'b' || turn.side == '#';
    const int forward = first ? 1 : -1; // the first player goes down and to the right
    int points = 0;
    if (turn.game == "chinese-checkers") // of equal ways, the one of the piece furthest behind
        return 10 * forward * (to.row + to.column - from.row - from.column) -
               forward * (from.row + from.column);
    if (turn.game == "capture-halma") {
        auto home = [&](int column) { return first ? std::min(column, 6) : -std::max(column, 1); };
        for (size_t i = 1; i < path.size(); i++) {
            const Cell a = path[i - 1], b = path[i];
            const int length = std::abs(a.row - b.row) + std::abs(a.column - b.column);
            if (length == 2 && turn.is_enemy({(a.row + b.row) / 2, (a.column + b.column) / 2}))
                points += 10;
        }
        return points + 4 * (home(to.column) - home(from.column));
    }
    // English and contest checkers: take as much as possible, do not step where we can be taken.
    if (move.find('x') != std::string::npos)
        for (size_t i = 1; i < path.size(); i++)
            points += 10 * (std::abs(path[i].row - path[i - 1].row) / 2);
    if (std::isupper(turn.at(from))) // a king hunts
        points += way(from, turn) - way(to, turn);
    else
        points += to.row == 0 || to.row == 7 ? 5 : 1;
    for (int dr : {-1, 1})
        for (int dc : {-1, 1}) {
            const Cell near{to.row + dr, to.column + dc}, behind{to.row - dr, to.column - dc};
            if (!near.on_board() || !behind.on_board() || !turn.is_enemy(near))
                continue;
            const bool can_reach = std::isupper(turn.at(near)) || dr == forward; // men come towards us
            if (can_reach && (behind == from || turn.at(behind) == '.'))
                points -= 8;
        }
    return points;
}

// The values of a line of the referee: word key=value key="two words".
std::map<std::string, std::string> read(const std::string &line) {
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
    std::mt19937_64 lots;
    Turn turn{"english", "", 'b'};
    for (std::string line; std::getline(std::cin, line);) {
        const std::string word = line.substr(0, line.find(' '));
        auto values = read(line);
        if (word == "crownhead") {
            std::cout << "bot name=\"NAME\"\nready" << std::endl;
        } else if (word == "newgame") {
            turn.game = values["game"].substr(0, values["game"].find(':'));
            lots.seed(std::strtoull(values["seed"].c_str(), nullptr, 10));
            std::cout << "ready" << std::endl;
        } else if (word == "turn") {
            turn.board = values["board"];
            turn.side = values["side"][0];
            std::vector<std::string> moves;
            std::istringstream list(values["moves"]);
            for (std::string move; std::getline(list, move, ',');)
                moves.push_back(move);
            std::shuffle(moves.begin(), moves.end(), lots); // so that equal moves take turns
            auto less = [&](const std::string &a, const std::string &b) {
                return score(a, turn) < score(b, turn);
            };
            std::cout << "move " << *std::max_element(moves.begin(), moves.end(), less) << std::endl;
        } else if (word == "quit") {
            break;
        }
    }
}
