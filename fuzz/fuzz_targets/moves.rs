//! Parsing moves never panics, an accepted move is legal, and an error is one sentence.
//!
//! Input: a byte that selects the game, a line with a position (the start position if it is
//! invalid), a line with a move.

#![no_main]

use crownhead_fuzz::{check_move, game_and_text};
use crownhead_rules::{GameVisitor, MoveList, Notation};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match game_and_text(data).and_then(|(game, text)| Some((game, text.split_once('\n')?))) {
        Some((game, (position, mv))) => game.visit(Parse { position, mv }),
        None => Corpus::Reject,
    }
});

struct Parse<'a> {
    position: &'a str,
    mv: &'a str,
}

impl GameVisitor for Parse<'_> {
    type Output = Corpus;

    fn visit<P: Notation>(self, options: &P::Options) -> Corpus {
        let position = P::parse_position(self.position, options).unwrap_or_else(|_| P::start(options));
        match position.parse_move(self.mv) {
            Ok(mv) => {
                let mut legal = MoveList::new();
                position.legal_moves(&mut legal);
                assert!(legal.contains(&mv), "{mv:?} is not legal in {position:?}");
                check_move(&position, mv);
            }
            Err(error) => {
                assert!(error.reason.len() > 10, "{error}");
                assert!(!error.reason.contains('\n'), "{error}");
            }
        }
        Corpus::Keep
    }
}
