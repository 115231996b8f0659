//! Positions to search: from random games, and random set-ups with few or many pieces.

#![allow(dead_code)] // each test file uses a part

use crownhead_rules::{MoveList, Notation, Position};
use fastrand::Rng;

/// Games and options under test.
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

/// Plays up to `plies` random moves and appends the keys of the earlier positions to `keys`. The
/// game is not over in the returned position.
pub(crate) fn play_random<P: Position>(
    start: P,
    plies: usize,
    rng: &mut Rng,
    keys: &mut Vec<u64>,
) -> P {
    let mut position = start;
    for _ in 0..plies {
        let moves = legal(&position);
        let next = position.after(moves[rng.usize(..moves.len())]);
        keys.push(position.key());
        if next.outcome(keys).is_some() {
            keys.pop();
            break;
        }
        position = next;
    }
    position
}

/// A position of a random game, with the keys of the earlier positions.
pub(crate) fn from_game<P: Position>(options: &P::Options, rng: &mut Rng) -> (P, Vec<u64>) {
    let mut keys = Vec::new();
    let plies = rng.usize(0..70);
    let position = play_random(P::start(options), plies, rng, &mut keys);
    (position, keys)
}

/// A random set-up with at most `max_pieces` per side. In games with a turn limit it has
/// `plies_left` plies left.
pub(crate) fn setup<P: Notation>(
    options: &P::Options,
    max_pieces: usize,
    plies_left: u32,
    rng: &mut Rng,
) -> P {
    loop {
        let text = match P::ID {
            "chinese-checkers" => hop_text(['#', 'O'], max_pieces, 200 - plies_left, rng),
            "capture-halma" => hop_text(['b', 'w'], max_pieces, 400 - plies_left, rng),
            _ => {
                let has_option = P::format_options(options).contains("kings");
                checkers_text((P::ID == "english") != has_option, max_pieces, rng)
            }
        };
        let position =
            P::parse_position(&text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
        if position.outcome(&[]).is_none() {
            return position;
        }
    }
}

fn checkers_text(has_kings: bool, max_pieces: usize, rng: &mut Rng) -> String {
    let mut squares: Vec<u32> = (1..=32).collect();
    rng.shuffle(&mut squares);
    let mut list = |king_row: std::ops::RangeInclusive<u32>| {
        let king_rate = [0.0, 0.5, 1.0][rng.usize(..3)];
        let squares: Vec<_> = squares.drain(..rng.usize(1..=max_pieces)).collect();
        let name = |square: u32| {
            let is_king = has_kings && (king_row.contains(&square) || rng.f32() < king_rate);
            format!("{}{square}", if is_king { "K" } else { "" })
        };
        squares.into_iter().map(name).collect::<Vec<_>>().join(",")
    };
    let (white, black) = (list(1..=4), list(29..=32));
    format!("{}:W{white}:B{black}", if rng.bool() { 'B' } else { 'W' })
}

fn hop_text(letters: [char; 2], max_pieces: usize, plies: u32, rng: &mut Rng) -> String {
    let mut board = ['.'; 64];
    // Near the targets: otherwise neither side would ever win.
    let distance = rng.usize(2..=8);
    for (side, letter) in letters.into_iter().enumerate() {
        let mut cells: Vec<usize> = (0..64)
            .filter(|cell| match (letters[0], side) {
                ('#', 0) => 14 - cell / 8 - cell % 8 <= distance,
                ('#', _) => cell / 8 + cell % 8 <= distance,
                (_, 0) => 8 - cell % 8 <= distance,
                (_, _) => cell % 8 < distance,
            })
            .filter(|&cell| board[cell] == '.')
            .collect();
        rng.shuffle(&mut cells);
        let count = rng.usize(1..=max_pieces).min(cells.len());
        for cell in cells.drain(..count) {
            board[cell] = letter;
        }
    }
    let rows: Vec<String> = board.chunks(8).map(String::from_iter).collect();
    format!("{} {} {plies}", rows.join("/"), letters[plies as usize % 2])
}
