//! Parsing positions never panics, and all checks hold for an accepted position and its moves.
//!
//! Input: a byte that selects the game, then the position.

#![no_main]

use std::collections::HashSet;

use crownhead_fuzz::{check_move, check_position, game_and_text};
use crownhead_rules::{BulkPerft, MoveList, Notation, PerftVisitor};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match game_and_text(data) {
        Some((game, text)) => game.visit_perft(Parse(text)),
        None => Corpus::Reject,
    }
});

/// Maximum number of moves played per position.
const MAX_PLAYED: usize = 20;

struct Parse<'a>(&'a str);

impl PerftVisitor for Parse<'_> {
    type Output = Corpus;

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Corpus {
        let position = match P::parse_position(self.0, options) {
            Ok(position) => position,
            Err(error) => {
                assert!(!error.message.is_empty());
                assert!((1..=self.0.chars().count() + 1).contains(&error.column), "{error}");
                return Corpus::Keep;
            }
        };
        check_position(&position, options);

        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        assert_eq!(position.bulk_leaves(1), if position.board_ends_game() { 0 } else { legal.len() as u64 });
        let texts: HashSet<_> = legal.iter().map(|&mv| position.format_move(mv)).collect();
        assert_eq!(texts.len(), legal.len(), "two moves of {position:?} have the same text");
        for &mv in legal.iter().take(MAX_PLAYED) {
            check_move(&position, mv);
            // A ply count beyond the end of a game does not parse.
            if position.outcome(&[]).is_none() {
                check_position(&position.after(mv), options);
            }
        }
        for &mv in legal.iter().skip(MAX_PLAYED) {
            assert_eq!(position.parse_move(&position.format_move(mv)), Ok(mv), "{position:?}");
        }
        Corpus::Keep
    }
}
