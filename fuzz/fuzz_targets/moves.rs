//! Move texts. Reading one never panics; what is accepted is a legal move, and a refusal says why.
//!
//! Input: a digit that chooses the game, a line with the position (the start where it is none), a line with the move.

#![no_main]

use crownhead_fuzz::{check_move, game_and_text};
use crownhead_rules::{GameVisitor, MoveList, Notation};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match game_and_text(data).and_then(|(game, text)| Some((game, text.split_once('\n')?))) {
        Some((game, (position, mv))) => game.visit(Read { position, mv }),
        None => Corpus::Reject,
    }
});

struct Read<'a> {
    position: &'a str,
    mv: &'a str,
}

impl GameVisitor for Read<'_> {
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
