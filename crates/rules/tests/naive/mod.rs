//! A second move generator for the four games, slow and plain, to check the real one against.
//!
//! It is written from the law text alone and shares no code and no idea with the crate it checks:
//! the board is eight rows of eight letters, a cell is a row and a column, every search follows
//! the sentences of the law in their order, and nothing is remembered to save time. Two
//! generators that have only the law in common are unlikely to be wrong in the same way.
//!
//! This file holds what the games share: texts, playing a turn, the end of a game and counting.
//! The turns themselves are in `checkers` (English and contest checkers), `chinese` (Chinese
//! checkers) and `halma` (Capture Halma).
//!
//! Bad texts make it panic: it only ever reads texts that a test holds.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "every test program uses a part of this module, and a panic is a failed test"
)]

mod checkers;
mod chinese;
mod halma;

/// Row and column, both from 0. Texts count both from 1.
type Cell = (usize, usize);

/// Eight rows of eight letters, row 1 first; [`EMPTY`] is an empty cell.
///
/// English and contest checkers: men `b` and `w`, kings `B` and `W`. Chinese checkers: `#` and
/// `O`. Capture Halma: `b` and `w`.
type Cells = [[char; 8]; 8];

const EMPTY: char = '.';

/// Down, up, right, left.
const ORTHOGONALS: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONALS: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

/// A whole turn. A pass has empty texts and no captures.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The cell the piece leaves, `rc`.
    pub from: String,
    /// The cell it ends on, `rc`.
    pub to: String,
    /// The cells whose pieces are removed, `rc`, ascending.
    pub captures: Vec<String>,
}

impl Move {
    fn new(from: Cell, to: Cell, captures: impl IntoIterator<Item = Cell>) -> Move {
        let mut captures: Vec<String> = captures.into_iter().map(cell_text).collect();
        captures.sort();
        Move { from: cell_text(from), to: cell_text(to), captures }
    }

    /// The turn of a player who cannot move in Chinese checkers and Capture Halma.
    pub fn pass() -> Move {
        Move { from: String::new(), to: String::new(), captures: Vec::new() }
    }

    /// Whether this is the pass.
    pub fn is_pass(&self) -> bool {
        self.from.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Game {
    English,
    Contest,
    ChineseCheckers,
    CaptureHalma,
}

/// A game in progress: what is on the board, whose turn it is, and what the draw rules count.
#[derive(Clone, Debug)]
pub struct Board {
    game: Game,
    /// Whether a man that reaches the last row becomes a king.
    kings: bool,
    /// English checkers only: the World Checkers/Draughts Federation's draw rules.
    wcdf: bool,
    /// English and contest checkers: the limit of the draw rules, in plies.
    draw_plies: u32,
    cells: Cells,
    /// The letter of the player whose turn it is: `b`, `w`, `#` or `O`.
    side: char,
    /// Plies played, as the texts of Chinese checkers and Capture Halma count them.
    plies: u32,
    /// Plies since a piece was last removed, or since the position was read.
    since_capture: u32,
    /// Plies since a man last moved, by a step or by a capture: men only move forward.
    since_advance: u32,
    /// Plies since a man last became a king.
    since_crowning: u32,
}

impl Board {
    /// Reads a game text such as `contest:kings=true,draw-plies=20` and a position text.
    pub fn read(game: &str, position: &str) -> Board {
        let (name, options) = game.split_once(':').unwrap_or((game, ""));
        let game = match name {
            "english" => Game::English,
            "contest" => Game::Contest,
            "chinese-checkers" => Game::ChineseCheckers,
            "capture-halma" => Game::CaptureHalma,
            _ => panic!("no such game: {name}"),
        };
        let mut board = Board {
            game,
            kings: game == Game::English,
            wcdf: false,
            draw_plies: 0, // set below, when all options are known
            cells: [[EMPTY; 8]; 8],
            side: 'b',
            plies: 0,
            since_capture: 0,
            since_advance: 0,
            since_crowning: 0,
        };
        let mut draw_plies = None;
        for option in options.split(',').filter(|option| !option.is_empty()) {
            match (game, option.split_once('=').expect("key=value")) {
                (Game::English | Game::Contest, ("kings", value)) => {
                    board.kings = value.parse().unwrap()
                }
                (Game::English, ("rules", "wcdf")) => board.wcdf = true,
                (Game::English | Game::Contest, ("draw-plies", value)) => {
                    draw_plies = Some(value.parse().unwrap());
                }
                _ => panic!("no such option here: {option}"),
            }
        }
        board.draw_plies = draw_plies.unwrap_or(match game {
            Game::English if board.wcdf => 80, // 40 moves by each side
            Game::English => 50,
            _ => 10,
        });
        if board.is_checkers() {
            checkers::read(&mut board, position);
        } else {
            read_rows(&mut board, position);
        }
        board
    }

    /// The position text. It holds no counters in English and contest checkers.
    pub fn write(&self) -> String {
        if self.is_checkers() { checkers::write(self) } else { write_rows(self) }
    }

    /// The distinct turns, sorted by start, end and captures, whether or not the game has ended.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = match self.game {
            Game::English | Game::Contest => checkers::paths(self),
            Game::ChineseCheckers => chinese::moves(self),
            Game::CaptureHalma => halma::moves(self),
        };
        // Who cannot move has lost in checkers, and passes in the other two games.
        if moves.is_empty() && !self.is_checkers() {
            moves.push(Move::pass());
        }
        moves.sort();
        moves.dedup();
        moves
    }

    /// The number of turns when two ways to the same capture are two turns.
    pub fn paths(&self) -> u64 {
        self.path_list().len() as u64
    }

    fn path_list(&self) -> Vec<Move> {
        assert!(self.is_checkers(), "paths are counted in English and contest checkers only");
        checkers::paths(self)
    }

    /// The board after a turn that [`Board::moves`] has given.
    pub fn play(&self, turn: &Move) -> Board {
        let mut after = self.clone();
        after.side = opponent(self.side);
        after.plies += 1;
        after.since_capture += 1;
        after.since_advance += 1;
        after.since_crowning += 1;
        if turn.is_pass() {
            return after;
        }

        let (from, to) = (read_cell(&turn.from), read_cell(&turn.to));
        let piece = self.at(from);
        assert!(piece.eq_ignore_ascii_case(&self.side), "not a piece to move: {turn:?}");
        // Lifted, then set down: in this order, because a capture may end where it began.
        after.put(from, EMPTY);
        after.put(to, piece);
        for captured in &turn.captures {
            after.put(read_cell(captured), EMPTY);
            after.since_capture = 0;
        }
        if self.is_checkers() && checkers::is_man(piece) {
            after.since_advance = 0;
            if self.kings && to.0 == checkers::last_row(piece) {
                after.put(to, checkers::crowned(piece));
                after.since_crowning = 0;
            }
        }
        after
    }

    /// `None` while the game goes on, or else who has won: `first`, `second`, or `draw` for
    /// nobody.
    ///
    /// `past` holds the texts of the earlier positions of this game. Only the federation's rules
    /// look at it, for the third occurrence of a position.
    pub fn finished(&self, past: &[String]) -> Option<&'static str> {
        match self.game {
            // "Lost for the side to move when it has no legal move; this is tested before a draw."
            Game::English => {
                if self.moves().is_empty() {
                    Some(winner(opponent(self.side)))
                } else if self.english_draw(past) {
                    Some("draw")
                } else {
                    None
                }
            }
            // "The draw comes before a loss for want of a move."
            Game::Contest => {
                let unchanged = self.since_capture.min(self.since_crowning);
                if unchanged >= self.draw_plies {
                    Some("draw")
                } else if self.moves().is_empty() {
                    Some(winner(opponent(self.side)))
                } else {
                    None
                }
            }
            // "Win, checked for the player who has just moved [...]. Checked before the draw."
            Game::ChineseCheckers => {
                let mover = opponent(self.side);
                if chinese::has_won(&self.cells, mover) {
                    Some(winner(mover))
                } else if self.plies >= 200 {
                    Some("draw")
                } else {
                    None
                }
            }
            Game::CaptureHalma => {
                let home = ['b', 'w'].iter().any(|&player| halma::is_home(&self.cells, player));
                if !home && self.plies < 400 {
                    return None;
                }
                let black = halma::score(&self.cells, 'b');
                let white = halma::score(&self.cells, 'w');
                if black > white {
                    Some(winner('b'))
                } else if white > black {
                    Some(winner('w'))
                } else {
                    Some("draw")
                }
            }
        }
    }

    fn english_draw(&self, past: &[String]) -> bool {
        let no_advance = self.since_advance >= self.draw_plies;
        let no_capture = self.since_capture >= self.draw_plies;
        if self.wcdf {
            let here = self.write();
            let times_before = past.iter().filter(|text| **text == here).count();
            (no_advance && no_capture) || times_before >= 2
        } else {
            no_advance || no_capture
        }
    }

    /// How many ways there are to play `depth` turns. A finished game has no turns.
    pub fn perft(&self, depth: u32) -> u64 {
        self.count(depth, &mut Vec::new(), Board::moves)
    }

    /// As [`Board::perft`], when two ways to the same capture are two turns.
    pub fn perft_paths(&self, depth: u32) -> u64 {
        self.count(depth, &mut Vec::new(), Board::path_list)
    }

    /// `past` holds the texts of the positions between the root of the count and this position.
    fn count(&self, depth: u32, past: &mut Vec<String>, turns: fn(&Board) -> Vec<Move>) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.finished(past).is_some() {
            return 0;
        }
        let turns_here = turns(self);
        if depth == 1 {
            return turns_here.len() as u64;
        }
        past.push(self.write());
        let total =
            turns_here.iter().map(|turn| self.play(turn).count(depth - 1, past, turns)).sum();
        past.pop();
        total
    }

    fn is_checkers(&self) -> bool {
        matches!(self.game, Game::English | Game::Contest)
    }

    fn at(&self, cell: Cell) -> char {
        self.cells[cell.0][cell.1]
    }

    fn put(&mut self, cell: Cell, piece: char) {
        self.cells[cell.0][cell.1] = piece;
    }
}

/// The 64 cells, row 1 first.
fn all_cells() -> impl Iterator<Item = Cell> {
    (0..8).flat_map(|row| (0..8).map(move |column| (row, column)))
}

/// The cell `distance` away in a direction, if it is on the board.
fn shift(cell: Cell, direction: (i32, i32), distance: i32) -> Option<Cell> {
    let row = cell.0 as i32 + direction.0 * distance;
    let column = cell.1 as i32 + direction.1 * distance;
    let on_board = (0..8).contains(&row) && (0..8).contains(&column);
    on_board.then_some((row as usize, column as usize))
}

fn cell_text(cell: Cell) -> String {
    format!("{}{}", cell.0 + 1, cell.1 + 1)
}

fn read_cell(text: &str) -> Cell {
    let number: usize = text.parse().unwrap();
    (number / 10 - 1, number % 10 - 1)
}

fn opponent(side: char) -> char {
    match side {
        'b' => 'w',
        'w' => 'b',
        '#' => 'O',
        'O' => '#',
        _ => panic!("no such side: {side}"),
    }
}

fn winner(side: char) -> &'static str {
    match side {
        'b' | '#' => "first",
        'w' | 'O' => "second",
        _ => panic!("no such side: {side}"),
    }
}

/// Reads `b7/1b5w/… b 0`: the rows from row 1, the side, the plies played.
fn read_rows(board: &mut Board, text: &str) {
    let sides = if board.game == Game::ChineseCheckers { ['#', 'O'] } else { ['b', 'w'] };
    let mut words = text.split_whitespace();
    let rows: Vec<&str> = words.next().expect("rows").split('/').collect();
    assert_eq!(rows.len(), 8, "eight rows: {text}");
    for (row, letters) in rows.iter().enumerate() {
        let mut column = 0;
        for letter in letters.chars() {
            if let Some(run) = letter.to_digit(10) {
                column += run as usize;
            } else {
                assert!(sides.contains(&letter), "a piece of this game: {letter}");
                board.put((row, column), letter);
                column += 1;
            }
        }
        assert_eq!(column, 8, "eight cells in row {letters}");
    }
    board.side = words.next().expect("a side").parse().unwrap();
    assert!(sides.contains(&board.side), "a side of this game: {}", board.side);
    board.plies = words.next().expect("the plies played").parse().unwrap();
    assert_eq!(words.next(), None, "nothing after the plies: {text}");
}

fn write_rows(board: &Board) -> String {
    let rows: Vec<String> = board.cells.iter().map(write_row).collect();
    format!("{} {} {}", rows.join("/"), board.side, board.plies)
}

fn write_row(row: &[char; 8]) -> String {
    let mut text = String::new();
    let mut run = 0;
    for &letter in row {
        if letter == EMPTY {
            run += 1;
            continue;
        }
        if run > 0 {
            text.push_str(&run.to_string());
            run = 0;
        }
        text.push(letter);
    }
    if run > 0 {
        text.push_str(&run.to_string());
    }
    text
}
