//! One game between two players that are there already: they forget the last one, sit down, and the
//! referee takes over.
//!
//! Which games are played, and what becomes of them, is known to [`matches`](crate::matches) and to
//! whoever runs contests.

use std::path::PathBuf;
use std::time::Duration;

use crownhead_rules::{Game, Side};
use crownhead_search::Stop;

use crate::referee::{self, PlayedGame};
use crate::{GameSettings, GameStart, Opening, Player, PlayerError};

/// A game that is about to begin. Of two things, the one of whoever moves first comes first.
#[derive(Clone, Debug)]
pub struct GameSetup<'a> {
    /// The game.
    pub game: &'a Game,
    /// Times, and what faults cost.
    pub settings: &'a GameSettings,
    /// What it begins with.
    pub opening: &'a Opening,
    /// What the players are called.
    pub names: [&'a str; 2],
    /// What the players draw by lot follows from these.
    pub seeds: [u64; 2],
    /// What the referee draws by lot follows from this.
    pub referee_seed: u64,
    /// Where the dialogues with outside programs are written to.
    pub logs: [Option<PathBuf>; 2],
}

impl GameSetup<'_> {
    /// Plays it; none if it was stopped. `heard` is told of every move and the time it took.
    pub fn play(
        &self,
        mut players: [&mut dyn Player; 2],
        stop: &Stop,
        heard: &mut dyn FnMut(&str, Duration),
    ) -> Result<Option<PlayedGame>, PlayerError> {
        let mut session = self.opening.session(self.game).map_err(PlayerError::Opening)?;
        for (player, side) in players.iter_mut().zip([Side::First, Side::Second]) {
            let own = side.index();
            player.new_game(self.seeds[own]);
            let seating = GameStart {
                game: self.game,
                side,
                settings: self.settings,
                seed: self.seeds[own],
                opponent: self.names[1 - own],
                log: self.logs[own].as_deref(),
            };
            player.sit_down(&seating, stop);
        }
        referee::play(session.as_mut(), players, self.settings, self.referee_seed, stop, heard)
    }
}
