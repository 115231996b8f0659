//! A second move generator for the four games, slow and simple, as a reference for the real one.
//!
//! It was written from the text of the rules alone and shares no code or technique with the crate
//! under test: the board is eight rows of eight letters, a cell is a row and a column, every search
//! follows the sentences of the rules in order, and nothing is cached. Two generators that have
//! only the rules in common are unlikely to have the same bug.
//!
//! This file holds what the games share: notation, playing a turn, the end of a game and perft. The
//! moves are in `checkers` (English and contest checkers), `chinese` (Chinese checkers) and `halma`
//! (Capture Halma).
//!
//! Invalid input panics, since it only comes from tests.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test uses a part of this module, and a panic fails the test"
)]

mod checkers;
mod chinese;
mod halma;

/// Row and column, both from 0. Texts count from 1.
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

/// A complete turn. A pass has empty cells and no captures.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The start, `rc`.
    pub from: String,
    /// The end, `rc`.
    pub to: String,
    /// The cells of the captured pieces, `rc`, ascending.
    pub captures: Vec<String>,
}

impl Move {
    fn new(from: Cell, to: Cell, captures: impl IntoIterator<Item = Cell>) -> Move {
        let mut captures: Vec<String> = captures.into_iter().map(cell_text).collect();
        captures.sort();
        Move { from: cell_text(from), to: cell_text(to), captures }
    }

    /// Returns the pass of a player who cannot move in Chinese checkers or Capture Halma.
    pub fn pass() -> Move {
        Move { from: String::new(), to: String::new(), captures: Vec::new() }
    }

    /// Returns whether this is a pass.
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

/// A game in progress: the board, the side to move and the draw counters.
#[derive(Clone, Debug)]
pub struct Board {
    game: Game,
    /// Whether a man that reaches the last row becomes a king.
    kings: bool,
    /// English checkers only: the WCDF draw rules.
    wcdf: bool,
    /// English and contest checkers: the limit of the draw rules, in plies.
    draw_plies: u32,
    cells: Cells,
    /// The letter of the side to move: `b`, `w`, `#` or `O`.
    side: char,
    /// Plies played, part of the positions of Chinese checkers and Capture Halma.
    plies: u32,
    /// Plies since the last capture, or since the position was parsed.
    since_capture: u32,
    /// Plies since the last move of a man: men only move forward.
    since_advance: u32,
    /// Plies since the last crowning.
    since_crowning: u32,
}

impl Board {
    /// Parses a game such as `contest:kings=true,draw-plies=20` and a position.
    pub fn parse(game: &str, position: &str) -> Board {
        let (name, options) = game.split_once(':').unwrap_or((game, ""));
        let game = match name {
            "english" => Game::English,
            "contest" => Game::Contest,
            "chinese-checkers" => Game::ChineseCheckers,
            "capture-halma" => Game::CaptureHalma,
            _ => panic!("unknown game: {name}"),
        };
        let mut board = Board {
            game,
            kings: game == Game::English,
            wcdf: false,
            draw_plies: 0, // set below
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
                _ => panic!("unknown option: {option}"),
            }
        }
        board.draw_plies = draw_plies.unwrap_or(match game {
            Game::English if board.wcdf => 80, // 40 moves by each side
            Game::English => 50,
            _ => 10,
        });
        if board.is_checkers() {
            checkers::parse(&mut board, position);
        } else {
            parse_rows(&mut board, position);
        }
        board
    }

    /// Formats the position. In English and contest checkers it has no counters.
    pub fn format(&self) -> String {
        if self.is_checkers() { checkers::format(self) } else { format_rows(self) }
    }

    /// Returns the distinct moves, sorted, whether or not the game has ended.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = match self.game {
            Game::English | Game::Contest => checkers::paths(self),
            Game::ChineseCheckers => chinese::moves(self),
            Game::CaptureHalma => halma::moves(self),
        };
        // A player who cannot move loses in checkers and passes in the other two games.
        if moves.is_empty() && !self.is_checkers() {
            moves.push(Move::pass());
        }
        moves.sort();
        moves.dedup();
        moves
    }

    /// Counts the moves, captures once per path.
    pub fn paths(&self) -> u64 {
        self.path_list().len() as u64
    }

    fn path_list(&self) -> Vec<Move> {
        assert!(self.is_checkers(), "only checkers counts paths");
        checkers::paths(self)
    }

    /// Returns the board after a move of [`Board::moves`].
    pub fn play(&self, mv: &Move) -> Board {
        let mut after = self.clone();
        after.side = opponent(self.side);
        after.plies += 1;
        after.since_capture += 1;
        after.since_advance += 1;
        after.since_crowning += 1;
        if mv.is_pass() {
            return after;
        }

        let (from, to) = (parse_cell(&mv.from), parse_cell(&mv.to));
        let piece = self.at(from);
        assert!(piece.eq_ignore_ascii_case(&self.side), "not a piece of the side to move: {mv:?}");
        // Lift before putting down: a capture may end where it started.
        after.put(from, EMPTY);
        after.put(to, piece);
        for captured in &mv.captures {
            after.put(parse_cell(captured), EMPTY);
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

    /// Returns the result, `first`, `second` or `draw`; `None` if the game has not ended.
    ///
    /// `past` holds the earlier positions of the game, for the repetition rule of the WCDF.
    pub fn finished(&self, past: &[String]) -> Option<&'static str> {
        match self.game {
            // "A side to move that has no legal move loses. This is checked before a draw."
            Game::English => {
                if self.moves().is_empty() {
                    Some(winner(opponent(self.side)))
                } else if self.english_draw(past) {
                    Some("draw")
                } else {
                    None
                }
            }
            // The draw takes precedence over a loss by having no legal move.
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
            // "The player who has just moved wins if [...]. This is checked before the draw."
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
            let position = self.format();
            let times_before = past.iter().filter(|earlier| **earlier == position).count();
            (no_advance && no_capture) || times_before >= 2
        } else {
            no_advance || no_capture
        }
    }

    /// Counts the leaves `depth` plies below. A finished game has no children.
    pub fn perft(&self, depth: u32) -> u64 {
        self.count(depth, &mut Vec::new(), Board::moves)
    }

    /// Like [`Board::perft`], with captures once per path.
    pub fn perft_paths(&self, depth: u32) -> u64 {
        self.count(depth, &mut Vec::new(), Board::path_list)
    }

    /// `past` holds the positions from the root to this one.
    fn count(&self, depth: u32, past: &mut Vec<String>, moves: fn(&Board) -> Vec<Move>) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.finished(past).is_some() {
            return 0;
        }
        let children = moves(self);
        if depth == 1 {
            return children.len() as u64;
        }
        past.push(self.format());
        let total = children.iter().map(|mv| self.play(mv).count(depth - 1, past, moves)).sum();
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

/// Iterates over the 64 cells, row 1 first.
fn all_cells() -> impl Iterator<Item = Cell> {
    (0..8).flat_map(|row| (0..8).map(move |column| (row, column)))
}

/// Returns the cell `distance` away in a direction; `None` if it is off the board.
fn shift(cell: Cell, direction: (i32, i32), distance: i32) -> Option<Cell> {
    let row = cell.0 as i32 + direction.0 * distance;
    let column = cell.1 as i32 + direction.1 * distance;
    let on_board = (0..8).contains(&row) && (0..8).contains(&column);
    on_board.then_some((row as usize, column as usize))
}

fn cell_text(cell: Cell) -> String {
    format!("{}{}", cell.0 + 1, cell.1 + 1)
}

fn parse_cell(text: &str) -> Cell {
    let number: usize = text.parse().unwrap();
    (number / 10 - 1, number % 10 - 1)
}

fn opponent(side: char) -> char {
    match side {
        'b' => 'w',
        'w' => 'b',
        '#' => 'O',
        'O' => '#',
        _ => panic!("unknown side: {side}"),
    }
}

fn winner(side: char) -> &'static str {
    match side {
        'b' | '#' => "first",
        'w' | 'O' => "second",
        _ => panic!("unknown side: {side}"),
    }
}

/// Parses `b7/1b5w/… b 0`: the rows from row 1, the side to move, the ply count.
fn parse_rows(board: &mut Board, text: &str) {
    let sides = if board.game == Game::ChineseCheckers { ['#', 'O'] } else { ['b', 'w'] };
    let mut words = text.split_whitespace();
    let rows: Vec<&str> = words.next().expect("rows").split('/').collect();
    assert_eq!(rows.len(), 8, "expected eight rows: {text}");
    for (row, letters) in rows.iter().enumerate() {
        let mut column = 0;
        for letter in letters.chars() {
            if let Some(run) = letter.to_digit(10) {
                column += run as usize;
            } else {
                assert!(sides.contains(&letter), "unexpected piece: {letter}");
                board.put((row, column), letter);
                column += 1;
            }
        }
        assert_eq!(column, 8, "expected eight cells: {letters}");
    }
    board.side = words.next().expect("a side to move").parse().unwrap();
    assert!(sides.contains(&board.side), "unexpected side: {}", board.side);
    board.plies = words.next().expect("a ply count").parse().unwrap();
    assert_eq!(words.next(), None, "unexpected text after the ply count: {text}");
}

fn format_rows(board: &Board) -> String {
    let rows: Vec<String> = board.cells.iter().map(format_row).collect();
    format!("{} {} {}", rows.join("/"), board.side, board.plies)
}

fn format_row(row: &[char; 8]) -> String {
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
