//! A bot for Crownhead. It scores each legal move and plays the best one.
//!
//! Improve `score`: it does not look at the opponent's replies.

use std::collections::HashMap;
use std::io::{BufRead, Write};

/// Row and column, from 0.
type Cell = (i32, i32);

struct Turn {
    game: String,
    /// 64 letters, row by row; '.' is empty.
    board: Vec<char>,
    /// Letter of our side.
    side: char,
}

impl Turn {
    /// Returns the letter on a cell; `None` off the board.
    fn at(&self, (row, column): Cell) -> Option<char> {
        let is_on = (0..8).contains(&row) && (0..8).contains(&column);
        is_on.then(|| self.board[(row * 8 + column) as usize])
    }

    fn is_enemy(&self, cell: Cell) -> bool {
        self.at(cell).is_some_and(|c| c != '.' && !c.eq_ignore_ascii_case(&self.side))
    }

    /// Parses the cells of a move: `22-24-44`, `1131` or `11x18`. A pass has none.
    fn parse_cells(&self, text: &str) -> Vec<Cell> {
        let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        if self.game == "english" || self.game == "contest" {
            // Squares 1 to 32, four per row.
            let squares = numbers.filter_map(|part| part.parse::<i32>().ok()).map(|n| n - 1);
            return squares.map(|n| (n / 4, n % 4 * 2 + (n / 4 + 1) % 2)).collect();
        }
        let digits: Vec<i32> = numbers.flat_map(str::bytes).map(|b| i32::from(b) - 49).collect();
        digits.chunks(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// King's steps to the nearest enemy.
    fn enemy_distance(&self, (row, column): Cell) -> i32 {
        let enemies = (0..64).map(|i| (i / 8, i % 8)).filter(|&cell| self.is_enemy(cell));
        enemies.map(|(r, c)| (r - row).abs().max((c - column).abs())).min().unwrap_or(0)
    }

    /// Scores a move; higher is better.
    fn score(&self, text: &str) -> i32 {
        let path = self.parse_cells(text);
        let (Some(&from), Some(&to)) = (path.first(), path.last()) else { return 0 };
        let steps = || path.windows(2).map(|pair| (pair[0], pair[1]));
        let is_first = self.side == 'b' || self.side == '#';
        let forward = if is_first { 1 } else { -1 }; // the first side moves down and right
        match self.game.as_str() {
            // Progress towards the opposite corner; on a tie, move the rearmost piece.
            "chinese-checkers" => {
                let progress = to.0 + to.1 - from.0 - from.1;
                return forward * (10 * progress - (from.0 + from.1));
            }
            "capture-halma" => {
                let progress = |column: i32| if is_first { column.min(6) } else { -column.max(1) };
                let is_capture = |(a, b): &(Cell, Cell)| {
                    let is_hop = (a.0 - b.0).abs() + (a.1 - b.1).abs() == 2;
                    is_hop && self.is_enemy(((a.0 + b.0) / 2, (a.1 + b.1) / 2))
                };
                let captured = steps().filter(is_capture).count() as i32;
                return 10 * captured + 4 * (progress(to.1) - progress(from.1));
            }
            _ => {}
        }
        // English and contest checkers: capture as much as possible, avoid being captured.
        let mut points = 0;
        if text.contains('x') {
            points += 10 * steps().map(|(a, b)| (a.0 - b.0).abs() / 2).sum::<i32>();
        }
        if self.at(from).is_some_and(|c| c.is_ascii_uppercase()) {
            points += self.enemy_distance(from) - self.enemy_distance(to); // kings attack
        } else {
            points += if to.0 == 0 || to.0 == 7 { 5 } else { 1 };
        }
        for (dr, dc) in [(-1, -1), (-1, 1), (1, -1), (1, 1)] {
            let (near, behind) = ((to.0 + dr, to.1 + dc), (to.0 - dr, to.1 - dc));
            let is_king = self.at(near).is_some_and(|c| c.is_ascii_uppercase());
            let can_reach = is_king || dr == forward; // men only move towards us
            let is_free = behind == from || self.at(behind) == Some('.');
            if self.is_enemy(near) && can_reach && is_free {
                points -= 8;
            }
        }
        points
    }
}

/// Parses the values of a line: `word key=value key="two words"`.
fn parse_line(line: &str) -> HashMap<String, String> {
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
    let mut random: u64 = 1;
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let values = parse_line(&line);
        let value = |key: &str| values.get(key).cloned().unwrap_or_default();
        let answer = match line.split(' ').next().unwrap_or_default() {
            "crownhead" => "bot name=\"NAME\"\nready".to_string(),
            "newgame" => {
                turn.game = value("game").split(':').next().unwrap_or_default().to_string();
                random = value("seed").parse().unwrap_or(1) | 1;
                "ready".to_string()
            }
            "turn" => {
                turn.board = value("board").chars().collect();
                turn.side = value("side").chars().next().unwrap_or('b');
                let moves = value("moves");
                // Ties are broken at random (xorshift).
                let best = moves.split(',').max_by_key(|text| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    (turn.score(text), random)
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
