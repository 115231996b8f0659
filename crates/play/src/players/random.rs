//! The random player.

use crownhead_search::StopFlag;

use crate::{Choice, Clock, GameStart, Player, PlayerError, Session};

/// Plays any legal move, each with the same probability.
pub struct Random {
    rng: fastrand::Rng,
}

impl Random {
    /// Creates the player with seed 0.
    pub fn new() -> Random {
        Random { rng: fastrand::Rng::with_seed(0) }
    }
}

impl Default for Random {
    fn default() -> Random {
        Random::new()
    }
}

impl Player for Random {
    fn start_game(&mut self, start: &GameStart<'_>, _: &StopFlag) {
        self.rng = fastrand::Rng::with_seed(start.seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        _: &Clock,
        _: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let moves = game.legal_moves();
        let chosen = self.rng.choice(moves).ok_or(PlayerError::GameOver)?;
        Ok(Choice::from_text(chosen.text))
    }
}
