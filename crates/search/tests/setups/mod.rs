//! Positions to search: reached by random games, and set up at random with few or many pieces.

#![allow(dead_code)] // each test takes what it needs

use crownhead_rules::{MoveList, Notation, Position};
use fastrand::Rng;

/// The games and options that are tried.
pub(crate) const GAMES: [&str; 6] = [
    "english",
    "english:rules=wcdf",
    "contest",
    "contest:kings=true",
    "chinese-checkers",
    "capture-halma",
];

pub(crate) fn legal<P: Position>(position: &P) -> MoveList<P::Move> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves
}

/// Plays up to so many random moves; the keys of the positions before go to `past`. The game is
/// not over where it stops.
pub(crate) fn wander<P: Position>(
    start: P,
    plies: usize,
    random: &mut Rng,
    past: &mut Vec<u64>,
) -> P {
    let mut position = start;
    for _ in 0..plies {
        let moves = legal(&position);
        let next = position.after(moves[random.usize(..moves.len())]);
        past.push(position.key());
        if next.outcome(past).is_some() {
            past.pop();
            break;
        }
        position = next;
    }
    position
}

/// A position of a random game, with the keys of those before.
pub(crate) fn from_game<P: Position>(options: &P::Options, random: &mut Rng) -> (P, Vec<u64>) {
    let mut past = Vec::new();
    let plies = random.usize(0..70);
    let position = wander(P::start(options), plies, random, &mut past);
    (position, past)
}

/// A set-up that no game need lead to, with at most so many pieces a side and `plies_left` before
/// the limit of the games that count plies.
pub(crate) fn setup<P: Notation>(
    options: &P::Options,
    most: usize,
    plies_left: u32,
    random: &mut Rng,
) -> P {
    loop {
        let text = match P::ID {
            "chinese-checkers" => hop_text(['#', 'O'], most, 200 - plies_left, random),
            "capture-halma" => hop_text(['b', 'w'], most, 400 - plies_left, random),
            _ => checkers_text(P::format_options(options).contains("kings"), P::ID, most, random),
        };
        let position =
            P::parse_position(&text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
        if position.outcome(&[]).is_none() {
            return position;
        }
    }
}

fn checkers_text(odd: bool, id: &str, most: usize, random: &mut Rng) -> String {
    let kings = (id == "english") != odd;
    let mut squares: Vec<u32> = (1..=32).collect();
    random.shuffle(&mut squares);
    let mut list = |king_row: std::ops::RangeInclusive<u32>| {
        let king_rate = [0.0, 0.5, 1.0][random.usize(..3)];
        let squares: Vec<_> = squares.drain(..random.usize(1..=most)).collect();
        let name = |square: u32| {
            let king = kings && (king_row.contains(&square) || random.f32() < king_rate);
            format!("{}{square}", if king { "K" } else { "" })
        };
        squares.into_iter().map(name).collect::<Vec<_>>().join(",")
    };
    let (white, black) = (list(1..=4), list(29..=32));
    format!("{}:W{white}:B{black}", if random.bool() { 'B' } else { 'W' })
}

fn hop_text(letters: [char; 2], most: usize, plies: u32, random: &mut Rng) -> String {
    let mut board = ['.'; 64];
    // Not far from the targets, or nobody would ever win.
    let far = random.usize(2..=8);
    for (side, letter) in letters.into_iter().enumerate() {
        let mut cells: Vec<usize> = (0..64)
            .filter(|cell| match (letters[0], side) {
                ('#', 0) => 14 - cell / 8 - cell % 8 <= far,
                ('#', _) => cell / 8 + cell % 8 <= far,
                (_, 0) => 8 - cell % 8 <= far,
                (_, _) => cell % 8 < far,
            })
            .filter(|&cell| board[cell] == '.')
            .collect();
        random.shuffle(&mut cells);
        let count = random.usize(1..=most).min(cells.len());
        for cell in cells.drain(..count) {
            board[cell] = letter;
        }
    }
    let rows: Vec<String> = board.chunks(8).map(String::from_iter).collect();
    format!("{} {} {plies}", rows.join("/"), letters[plies as usize % 2])
}
