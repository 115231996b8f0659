//! Any legal move, each as likely.

use crownhead_search::StopFlag;

use crate::{Choice, Clock, Player, PlayerError, Session};

pub struct Random {
    lots: fastrand::Rng,
}

impl Random {
    pub fn new() -> Random {
        Random { lots: fastrand::Rng::with_seed(0) }
    }
}

impl Player for Random {
    fn new_game(&mut self, seed: u64) {
        self.lots = fastrand::Rng::with_seed(seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        _: &Clock,
        _: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let moves = game.legal_moves();
        let chosen = self.lots.choice(moves).ok_or(PlayerError::GameOver)?;
        Ok(Choice::from_text(chosen.text))
    }
}
