//! Laws that hold for every position of every game, tried on random games and on random set-ups.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod naive;

use std::collections::HashSet;

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{BulkPerft, Cell, Game, MoveList, Notation, PerftVisitor, Side};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Checked = Result<(), TestCaseError>;

/// The games and options that are tried.
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

/// Plays a random game from `position` and checks every position of it; `picks` choose the moves.
struct RandomGame<'a> {
    game: &'a str,
    position: Option<String>,
    picks: &'a [u16],
}

impl PerftVisitor for RandomGame<'_> {
    type Output = Checked;

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Checked {
        let mut position = match &self.position {
            Some(text) => P::parse_position(text, options).map_err(|error| {
                TestCaseError::fail(format!("{} refuses {text}: {error}", self.game))
            })?,
            None => P::start(options),
        };
        let mut naive = naive::Board::read(self.game, &position.format_position());
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
            past_texts.push(naive.write());
            let after = position.after(mv);
            check_pieces(&position, &after, &path, &captures)?;
            naive = naive.play(&as_naive(&path, &captures));
            position.play(mv);
            prop_assert_eq!(&position, &after);
            prop_assert_eq!(position.format_position(), naive.write());
        }
        Ok(())
    }
}

fn as_naive(path: &[Cell], captures: &[Cell]) -> naive::Move {
    let name = |cell: Option<&Cell>| cell.map(Cell::to_string).unwrap_or_default();
    let mut captures: Vec<_> = captures.iter().map(Cell::to_string).collect();
    captures.sort();
    naive::Move { from: name(path.first()), to: name(path.last()), captures }
}

/// A position's text reads back as the same position, and so does its board drawn as rows.
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

/// Fast and naive generators agree, and every legal move has a text of its own that reads back.
fn check_moves<P: Notation>(
    position: &P,
    naive: &naive::Board,
) -> Result<MoveList<P::Move>, TestCaseError> {
    let mut legal = MoveList::new();
    position.legal_moves(&mut legal);
    let mut texts = HashSet::new();
    let mut seen = Vec::new();
    for &mv in &legal {
        let text = position.format_move(mv);
        prop_assert_eq!(position.parse_move(&text), Ok(mv), "{}", &text);
        prop_assert!(texts.insert(text.clone()), "{} comes twice in {:?}", text, position);

        let (path, captures) = (position.path(mv), position.captures(mv));
        // Every way is understood too, and so are odd separators.
        let ways = position.paths(mv);
        prop_assert_eq!(ways.first(), Some(&path));
        prop_assert_eq!(ways.iter().collect::<HashSet<_>>().len(), ways.len(), "{:?}", &ways);
        for way in ways.iter().filter(|way| !way.is_empty()) {
            for between in ["-", "x", " "] {
                if let Some(whole) = path_text(position, way, between) {
                    prop_assert_eq!(position.parse_move(&whole), Ok(mv), "{}", &whole);
                }
            }
        }
        seen.push(as_naive(&path, &captures));
    }
    seen.sort();
    prop_assert_eq!(seen, naive.moves(), "{:?}", position);
    Ok(legal)
}

/// The path in the game's own names of cells.
fn path_text<P: Notation>(position: &P, path: &[Cell], between: &str) -> Option<String> {
    let checkers = position.format_position().contains(':');
    let name = |cell: &Cell| {
        let square = (cell.index() / 8) * 4 + (cell.index() % 8) / 2 + 1;
        if checkers { square.to_string() } else { cell.to_string() }
    };
    Some(path.iter().map(name).collect::<Vec<_>>().join(between))
}

/// Every way of counting agrees with the list of moves.
fn check_counts<P: BulkPerft>(position: &P, legal: &[P::Move]) -> Checked {
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
    // Two plies ahead nothing but the board ends a game that is within its horizon.
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

/// A turn moves one piece and removes the captured ones; nothing else changes.
fn check_pieces<P: Notation>(before: &P, after: &P, path: &[Cell], captures: &[Cell]) -> Checked {
    let mut expected = before.board();
    let own = P::letter(before.side());
    for cell in captures {
        let taken = std::mem::replace(&mut expected[cell.index() as usize], '.');
        prop_assert_eq!(
            taken.to_ascii_lowercase(),
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

/// A set-up that no game need lead to: up to the full number of pieces anywhere, kings as the mood
/// takes.
fn setup(game: &str, seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let side = random.bool();
    if game.starts_with("english") || game.starts_with("contest") {
        let kings = game.contains("kings=true")
            || !game.contains("kings=false") && game.starts_with("english");
        let mut squares: Vec<u32> = (1..=32).collect();
        random.shuffle(&mut squares);
        let mut list = |king_row: std::ops::RangeInclusive<u32>| {
            let count = random.usize(0..=12);
            let king_rate = random.f32();
            let squares: Vec<_> = squares.drain(..count).collect();
            let name = |square: u32| {
                let king = kings && (king_row.contains(&square) || random.f32() < king_rate);
                format!("{}{square}", if king { "K" } else { "" })
            };
            squares.into_iter().map(name).collect::<Vec<_>>().join(",")
        };
        let (white, black) = (list(1..=4), list(29..=32));
        return format!("{}:W{white}:B{black}", if side { 'B' } else { 'W' });
    }
    let (letters, most, plies) =
        if game == "chinese-checkers" { (['#', 'O'], 6, 200) } else { (['b', 'w'], 9, 400) };
    // Often on few rows, so that chains are long.
    let (top, rows) = (random.usize(0..4), random.usize(3..=8));
    let mut cells: Vec<usize> =
        (0..64).filter(|cell| (top..top + rows).contains(&(cell / 8))).collect();
    random.shuffle(&mut cells);
    let mut board = ['.'; 64];
    for letter in letters {
        let count = random.usize(0..=most).min(cells.len());
        for cell in cells.drain(..count) {
            board[cell] = letter;
        }
    }
    let rows: Vec<String> = board.chunks(8).map(String::from_iter).collect();
    format!("{} {} {}", rows.join("/"), letters[usize::from(!side)], random.u32(0..=plies))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_in_random_games(picks in prop::collection::vec(any::<u16>(), 1..120)) {
        for game in GAMES {
            game.parse::<Game>().unwrap().visit_perft(RandomGame { game, position: None, picks: &picks })?;
        }
    }

    #[test]
    fn laws_hold_from_random_setups(seed: u64, picks in prop::collection::vec(any::<u16>(), 1..24)) {
        for game in GAMES {
            let position = Some(setup(game, seed));
            game.parse::<Game>().unwrap().visit_perft(RandomGame { game, position, picks: &picks })?;
        }
    }

    /// Whatever is read as a position, a move or a game: an answer, never a panic.
    #[test]
    fn any_text_gets_an_answer(text in "[ -~]{0,40}|[-0-9xBWKbw:,./#O ]{0,60}|\\PC{0,20}") {
        struct Read<'a>(&'a str);
        impl PerftVisitor for Read<'_> {
            type Output = ();
            fn visit<P: Notation + BulkPerft>(self, options: &P::Options) {
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
        Game::all().iter().for_each(|game| game.visit_perft(Read(&text)));
    }

    /// Moves of cells and squares that exist, right or wrong.
    #[test]
    fn any_move_of_cells_gets_an_answer(seed: u64, path in prop::collection::vec(1u32..=32, 2..6)) {
        struct Read<'a>(Option<String>, &'a [u32]);
        impl PerftVisitor for Read<'_> {
            type Output = Checked;
            fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Checked {
                let position = P::parse_position(&self.0.unwrap(), options).unwrap();
                let checkers = position.format_position().contains(':');
                let name = |n: &u32| match checkers {
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
            game.parse::<Game>().unwrap().visit_perft(Read(Some(setup(game, seed)), &path))?;
        }
    }
}
