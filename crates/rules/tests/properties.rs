//! Properties of every position of every game, tested on random games and random positions.

use std::collections::HashSet;

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{Cell, Game, MoveList, Notation, Perft, PerftVisitor, Side};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Checked = Result<(), TestCaseError>;

/// The tested games and options.
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

/// Plays a random game from `position`, with moves chosen by `picks`, and checks every position.
struct RandomGame<'a> {
    game: &'a str,
    position: Option<String>,
    picks: &'a [u16],
}

impl PerftVisitor for RandomGame<'_> {
    type Output = Checked;

    fn visit<P: Notation + Perft>(self, options: &P::Options) -> Checked {
        let mut position = match &self.position {
            Some(text) => P::parse_position(text, options)
                .map_err(|error| TestCaseError::fail(format!("{}: {text}: {error}", self.game)))?,
            None => P::start(options),
        };
        let mut naive = crate::naive::Board::parse(self.game, &position.format_position());
        let (mut past, mut past_texts) = (Vec::new(), Vec::new());
        for &pick in self.picks {
            check_texts(&position, options)?;
            prop_assert_eq!(position.key(), position.recompute_key());
            let legal = check_moves(&position, &naive)?;

            let outcome = position.outcome(&past);
            let winner = outcome.map(|outcome| match outcome.winner {
                Some(Side::First) => "first",
                Some(Side::Second) => "second",
                None => "draw",
            });
            prop_assert_eq!(winner, naive.finished(&past_texts), "{:?}", &position);
            if let Some(outcome) = outcome {
                prop_assert!(!position.describe(outcome).is_empty());
                return Ok(());
            }
            check_counts(&position, &legal)?;

            let mv = legal[usize::from(pick) % legal.len()];
            let (path, captures) = (position.path(mv), position.captures(mv));
            past.push(position.key());
            past_texts.push(naive.format());
            let after = position.after(mv);
            check_pieces(&position, &after, &path, &captures)?;
            naive = naive.play(&as_naive(&path, &captures));
            position.play(mv);
            prop_assert_eq!(&position, &after);
            prop_assert_eq!(position.format_position(), naive.format());
        }
        Ok(())
    }
}

fn as_naive(path: &[Cell], captures: &[Cell]) -> crate::naive::Move {
    let name = |cell: Option<&Cell>| cell.map(Cell::to_string).unwrap_or_default();
    let mut captures: Vec<_> = captures.iter().map(Cell::to_string).collect();
    captures.sort();
    crate::naive::Move { from: name(path.first()), to: name(path.last()), captures }
}

/// A position survives formatting and parsing, also as a board drawn in rows.
fn check_texts<P: Notation>(position: &P, options: &P::Options) -> Checked {
    let text = position.format_position();
    let again = P::parse_position(&text, options)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again, position);
    prop_assert_eq!(again.format_position(), text);
    prop_assert_eq!(again.key(), position.key());

    let rows: Vec<String> = position.board().chunks(8).map(String::from_iter).collect();
    let drawn = format!("{} {}", rows.join("/"), P::letter(position.side()));
    let again = P::parse_position(&drawn, options)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again, position);
    Ok(())
}

/// The fast and the naive generator agree, and every legal move has a unique text that parses back.
fn check_moves<P: Notation>(
    position: &P,
    naive: &crate::naive::Board,
) -> Result<MoveList<P::Move>, TestCaseError> {
    let mut legal = MoveList::new();
    position.legal_moves(&mut legal);
    let mut texts = HashSet::new();
    let mut seen = Vec::new();
    for &mv in &legal {
        let text = position.format_move(mv);
        prop_assert_eq!(position.parse_move(&text), Ok(mv), "{}", &text);
        prop_assert!(texts.insert(text.clone()), "duplicate {} in {:?}", text, position);

        let (path, captures) = (position.path(mv), position.captures(mv));
        // Every path parses too, with any separator.
        let paths = position.paths(mv);
        prop_assert_eq!(paths.first(), Some(&path));
        prop_assert_eq!(paths.iter().collect::<HashSet<_>>().len(), paths.len(), "{:?}", &paths);
        for path in paths.iter().filter(|path| !path.is_empty()) {
            for separator in ["-", "x", " "] {
                let text = path_text::<P>(path, separator);
                prop_assert_eq!(position.parse_move(&text), Ok(mv), "{}", &text);
            }
        }
        seen.push(as_naive(&path, &captures));
    }
    seen.sort();
    prop_assert_eq!(seen, naive.moves(), "{:?}", position);
    Ok(legal)
}

/// Formats a path with the game's names of cells.
fn path_text<P: Notation>(path: &[Cell], separator: &str) -> String {
    let name = |cell: &Cell| {
        let square = (cell.index() / 8) * 4 + (cell.index() % 8) / 2 + 1;
        if P::INFO.numbered_squares { square.to_string() } else { cell.to_string() }
    };
    path.iter().map(name).collect::<Vec<_>>().join(separator)
}

/// All counting methods agree with the list of moves.
fn check_counts<P: Perft>(position: &P, legal: &[P::Move]) -> Checked {
    let children: u64 = legal
        .iter()
        .map(|&mv| {
            let mut moves = MoveList::new();
            let child = position.after(mv);
            child.legal_moves(&mut moves);
            if child.board_ends_game() { 0 } else { moves.len() as u64 }
        })
        .sum();
    prop_assert_eq!(position.bulk_leaves(1), legal.len() as u64, "{:?}", position);
    // Within the bulk depth only the board can end a game.
    if position.max_bulk_depth() >= 2 {
        prop_assert_eq!(
            PerftOptions::default().count(position, 2, &[]),
            children,
            "{:?}",
            position
        );
    }
    Ok(())
}

/// A move moves one piece and removes the captured ones; nothing else changes.
fn check_pieces<P: Notation>(before: &P, after: &P, path: &[Cell], captures: &[Cell]) -> Checked {
    let mut expected = before.board();
    let own = P::letter(before.side());
    for cell in captures {
        let captured = std::mem::replace(&mut expected[cell.index() as usize], '.');
        prop_assert_eq!(
            captured.to_ascii_lowercase(),
            P::letter(before.side().other()).to_ascii_lowercase()
        );
    }
    if let (Some(from), Some(to)) = (path.first(), path.last()) {
        let piece = std::mem::replace(&mut expected[from.index() as usize], '.');
        prop_assert_eq!(piece.to_ascii_lowercase(), own.to_ascii_lowercase());
        prop_assert_eq!(expected[to.index() as usize], '.');
        let arrived = after.board()[to.index() as usize];
        prop_assert!(arrived == piece || arrived == piece.to_ascii_uppercase());
        expected[to.index() as usize] = arrived;
    }
    prop_assert_eq!(expected, after.board());
    prop_assert_eq!(after.side(), before.side().other());
    Ok(())
}

/// Returns a random position, not necessarily reachable: up to the full number of pieces anywhere,
/// any of them kings.
fn random_position(game: &str, seed: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let side = rng.bool();
    if game.starts_with("english") || game.starts_with("contest") {
        let kings = game.contains("kings=true")
            || !game.contains("kings=false") && game.starts_with("english");
        let mut squares: Vec<u32> = (1..=32).collect();
        rng.shuffle(&mut squares);
        let mut list = |king_row: std::ops::RangeInclusive<u32>| {
            let count = rng.usize(0..=12);
            let king_rate = rng.f32();
            let squares: Vec<_> = squares.drain(..count).collect();
            let name = |square: u32| {
                let king = kings && (king_row.contains(&square) || rng.f32() < king_rate);
                format!("{}{square}", if king { "K" } else { "" })
            };
            squares.into_iter().map(name).collect::<Vec<_>>().join(",")
        };
        let (white, black) = (list(1..=4), list(29..=32));
        return format!("{}:W{white}:B{black}", if side { 'B' } else { 'W' });
    }
    let (letters, max_pieces, plies) =
        if game == "chinese-checkers" { (['#', 'O'], 6, 200) } else { (['b', 'w'], 9, 400) };
    // Often on few rows, so that series of jumps are long.
    let (top, rows) = (rng.usize(0..4), rng.usize(3..=8));
    let mut cells: Vec<usize> =
        (0..64).filter(|cell| (top..top + rows).contains(&(cell / 8))).collect();
    rng.shuffle(&mut cells);
    let mut board = ['.'; 64];
    for letter in letters {
        let count = rng.usize(0..=max_pieces).min(cells.len());
        for cell in cells.drain(..count) {
            board[cell] = letter;
        }
    }
    let rows: Vec<String> = board.chunks(8).map(String::from_iter).collect();
    format!("{} {} {}", rows.join("/"), letters[usize::from(!side)], rng.u32(0..=plies))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn properties_hold_in_random_games(picks in prop::collection::vec(any::<u16>(), 1..120)) {
        for game in GAMES {
            game.parse::<Game>().unwrap().visit_perft(RandomGame { game, position: None, picks: &picks })?;
        }
    }

    #[test]
    fn properties_hold_from_random_positions(seed: u64, picks in prop::collection::vec(any::<u16>(), 1..24)) {
        for game in GAMES {
            let position = Some(random_position(game, seed));
            game.parse::<Game>().unwrap().visit_perft(RandomGame { game, position, picks: &picks })?;
        }
    }

    #[test]
    fn parsing_arbitrary_text_never_panics(text in "[ -~]{0,40}|[-0-9xBWKbw:,./#O ]{0,60}|\\PC{0,20}") {
        struct Parse<'a>(&'a str);
        impl PerftVisitor for Parse<'_> {
            type Output = ();
            fn visit<P: Notation + Perft>(self, options: &P::Options) {
                if let Ok(position) = P::parse_position(self.0, options) {
                    position.format_position();
                    position.outcome(&[]);
                }
                if let Err(error) = P::start(options).parse_move(self.0) {
                    assert!(!error.reason.is_empty());
                }
                let _ = P::parse_options(self.0);
            }
        }
        let _ = text.parse::<Game>();
        Game::all().iter().for_each(|game| game.visit_perft(Parse(&text)));
    }

    #[test]
    fn parsed_moves_are_legal_and_errors_are_explained(seed: u64, path in prop::collection::vec(1u32..=32, 2..6)) {
        struct Parse<'a>(String, &'a [u32]);
        impl PerftVisitor for Parse<'_> {
            type Output = Checked;
            fn visit<P: Notation + Perft>(self, options: &P::Options) -> Checked {
                let position = P::parse_position(&self.0, options).unwrap();
                let name = |n: &u32| match P::INFO.numbered_squares {
                    true => n.to_string(),
                    false => format!("{}{}", n % 8 + 1, (n / 3) % 8 + 1),
                };
                let text = self.1.iter().map(name).collect::<Vec<_>>().join("-");
                let mut legal = MoveList::new();
                position.legal_moves(&mut legal);
                match position.parse_move(&text) {
                    Ok(mv) => prop_assert!(legal.contains(&mv), "{} is not legal", text),
                    Err(error) => prop_assert!(error.reason.len() > 10, "{}", error),
                }
                Ok(())
            }
        }
        for game in GAMES {
            game.parse::<Game>().unwrap().visit_perft(Parse(random_position(game, seed), &path))?;
        }
    }
}
