//! A bot for Crownhead. It looks at each legal move by itself and plays the one it likes best.
//!
//! The part to improve is `score`: it knows nothing of what the opponent will do next.

use std::collections::HashMap;
use std::io::{BufRead, Write};

/// Row and column, counted from 0.
type Cell = (i32, i32);

struct Turn {
    game: String,
    /// 64 letters, row by row; '.' is empty.
    board: Vec<char>,
    /// Our letter.
    side: char,
}

impl Turn {
    /// The letter on a cell; none off the board.
    fn at(&self, (row, column): Cell) -> Option<char> {
        let is_on = (0..8).contains(&row) && (0..8).contains(&column);
        is_on.then(|| self.board[(row * 8 + column) as usize])
    }

    fn is_enemy(&self, cell: Cell) -> bool {
        self.at(cell).is_some_and(|c| c != '.' && c.to_ascii_lowercase() != self.side.to_ascii_lowercase())
    }

    /// The cells of a move: `22-24-44` or `1131` or `11x18`. A pass has none.
    fn cells(&self, text: &str) -> Vec<Cell> {
        let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        if self.game == "english" || self.game == "contest" {
            // Squares 1 to 32, four in a row.
            let squares = numbers.filter_map(|part| part.parse::<i32>().ok()).map(|n| n - 1);
            return squares.map(|n| (n / 4, n % 4 * 2 + (n / 4 + 1) % 2)).collect();
        }
        let digits: Vec<i32> = numbers.flat_map(str::bytes).map(|b| i32::from(b) - 49).collect();
        digits.chunks(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Steps of a king to the nearest enemy.
    fn way(&self, (row, column): Cell) -> i32 {
        let enemies = (0..64).map(|i| (i / 8, i % 8)).filter(|&cell| self.is_enemy(cell));
        enemies.map(|(r, c)| (r - row).abs().max((c - column).abs())).min().unwrap_or(0)
    }

    /// How much we like a move: the higher the better.
    fn score(&self, text: &str) -> i32 {
        let path = self.cells(text);
        let (Some(&from), Some(&to)) = (path.first(), path.last()) else { return 0 };
        let steps = || path.windows(2).map(|pair| (pair[0], pair[1]));
        let is_first = self.side == 'b' || self.side == '#';
        let forward = if is_first { 1 } else { -1 }; // the first player goes down and to the right
        match self.game.as_str() {
            // The way to the opposite corner; of equal ways, the piece furthest behind.
            "chinese-checkers" => {
                let way = 10 * (to.0 + to.1 - from.0 - from.1) - (from.0 + from.1);
                return forward * way;
            }
            "capture-halma" => {
                let home = |column: i32| if is_first { column.min(6) } else { -column.max(1) };
                let is_taking = |(a, b): &(Cell, Cell)| {
                    let is_hop = (a.0 - b.0).abs() + (a.1 - b.1).abs() == 2;
                    is_hop && self.is_enemy(((a.0 + b.0) / 2, (a.1 + b.1) / 2))
                };
                let taken = steps().filter(is_taking).count() as i32;
                return 10 * taken + 4 * (home(to.1) - home(from.1));
            }
            _ => {}
        }
        // English and contest checkers: take as much as possible, do not step where we can be taken.
        let mut points = 0;
        if text.contains('x') {
            points += 10 * steps().map(|(a, b)| (a.0 - b.0).abs() / 2).sum::<i32>();
        }
        if self.at(from).is_some_and(|c| c.is_ascii_uppercase()) {
            points += self.way(from) - self.way(to); // a king hunts
        } else {
            points += if to.0 == 0 || to.0 == 7 { 5 } else { 1 };
        }
        for (dr, dc) in [(-1, -1), (-1, 1), (1, -1), (1, 1)] {
            let (near, behind) = ((to.0 + dr, to.1 + dc), (to.0 - dr, to.1 - dc));
            let is_king = self.at(near).is_some_and(|c| c.is_ascii_uppercase());
            let can_reach = is_king || dr == forward; // men only come towards us
            let is_free = behind == from || self.at(behind) == Some('.');
            if self.is_enemy(near) && can_reach && is_free {
                points -= 8;
            }
        }
        points
    }
}

/// The values of a line of the referee: `word key=value key="two words"`.
fn read(line: &str) -> HashMap<String, String> {
    let mut values = HashMap::new();
    let mut rest = line.split_once(' ').map_or("", |(_, rest)| rest).trim();
    while let Some((key, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        values.insert(key.to_string(), value.to_string());
        rest = after.trim_start();
    }
    values
}

fn main() {
    let mut turn = Turn { game: "english".into(), board: Vec::new(), side: 'b' };
    let mut lots: u64 = 1;
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let values = read(&line);
        let value = |key: &str| values.get(key).cloned().unwrap_or_default();
        let answer = match line.split(' ').next().unwrap_or_default() {
            "crownhead" => "bot name=\"NAME\"\nready".to_string(),
            "newgame" => {
                turn.game = value("game").split(':').next().unwrap_or_default().to_string();
                lots = value("seed").parse().unwrap_or(1) | 1;
                "ready".to_string()
            }
            "turn" => {
                turn.board = value("board").chars().collect();
                turn.side = value("side").chars().next().unwrap_or('b');
                let moves = value("moves");
                // So that equal moves take turns, each has a lot besides its points.
                let best = moves.split(',').max_by_key(|text| {
                    lots ^= lots << 13;
                    lots ^= lots >> 7;
                    lots ^= lots << 17;
                    (turn.score(text), lots)
                });
                format!("move {}", best.unwrap_or("pass"))
            }
            "quit" => break,
            _ => continue,
        };
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
}
