//! Shared by the fuzz targets: the game of an input, and the checks of positions and moves.

use crownhead_rules::{Cell, Game, Notation};

/// The fuzzed games and options. The first byte of an input selects one.
const GAMES: [&str; 8] = [
    "english",
    "english:rules=wcdf,draw-plies=30",
    "english:kings=false",
    "contest",
    "contest:draw-plies=60",
    "contest:kings=true",
    "chinese-checkers",
    "capture-halma",
];

/// Returns the game selected by the first byte of an input, and the text after it.
pub fn game_and_text(data: &[u8]) -> Option<(Game, &str)> {
    let (selector, text) = data.split_first()?;
    let game = GAMES[usize::from(*selector) % GAMES.len()];
    Some((game.parse().expect("GAMES are valid"), std::str::from_utf8(text).ok()?))
}

/// Checks that a position survives formatting and parsing, also as a board drawn in rows.
pub fn check_position<P: Notation>(position: &P, options: &P::Options) {
    assert_eq!(position.key(), position.recompute_key(), "{position:?}");
    let text = position.format_position();
    let again = P::parse_position(&text, options).expect("a formatted position parses");
    assert_eq!(&again, position);
    assert_eq!(again.format_position(), text);
    assert_eq!(again.key(), position.key(), "{text}");

    let rows: Vec<String> = position.board().chunks(8).map(String::from_iter).collect();
    let drawn = format!("{} {}", rows.join("/"), P::letter(position.side()));
    let again = P::parse_position(&drawn, options).expect("a drawn board parses");
    assert_eq!(&again, position, "{drawn}");

    if let Some(outcome) = position.outcome(&[]) {
        assert!(!position.describe(outcome).is_empty(), "{text}");
    }
}

/// Checks that a move survives formatting and parsing, and that playing it moves one piece, removes
/// the captured ones and changes nothing else.
pub fn check_move<P: Notation>(position: &P, mv: P::Move) {
    let text = position.format_move(mv);
    assert_eq!(position.parse_move(&text), Ok(mv), "{text} in {position:?}");

    let (path, captures) = (position.path(mv), position.captures(mv));
    assert!(captures.is_sorted_by(|a, b| a < b), "{text} in {position:?}");
    let after = position.after(mv);
    assert_eq!(after.key(), after.recompute_key(), "{text} in {position:?}");
    assert_eq!(after.side(), position.side().other());

    let (us, them) = (P::letter(position.side()), P::letter(position.side().other()));
    let mut expected = position.board();
    let mut lift = |cell: &Cell, letter: char| {
        let piece = std::mem::replace(&mut expected[cell.index() as usize], '.');
        assert!(piece.eq_ignore_ascii_case(&letter), "{text} in {position:?}: {cell} has {piece}");
        piece
    };
    captures.iter().for_each(|cell| {
        lift(cell, them);
    });
    if let (Some(from), Some(to)) = (path.first(), path.last()) {
        let piece = lift(from, us);
        let arrived = after.board()[to.index() as usize];
        assert!(arrived == piece || arrived == piece.to_ascii_uppercase(), "{text}: {position:?}");
        let cell = &mut expected[to.index() as usize];
        assert_eq!(*cell, '.', "{text} in {position:?} ends on a piece");
        *cell = arrived;
    } else {
        assert_eq!(text, "pass", "{position:?}");
    }
    assert_eq!(after.board(), expected, "{text} in {position:?}");
}
