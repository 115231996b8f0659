//! Whoever chooses moves.

use crownhead_search::{Score, Stop};

use crate::{Clock, Session};

/// Somebody who plays one side of a game.
pub trait Player: Send {
    /// Forgets the last game. Whatever is drawn by lot in the next one follows from the seed.
    fn new_game(&mut self, seed: u64);

    /// Chooses a move for the side to move.
    ///
    /// Ends soon after `stop` is raised, with the best move found so far. `heard` is told what the
    /// player thinks while it thinks, if it does.
    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &Stop,
        heard: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError>;
}

/// A chosen move, and why it was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The text of the move.
    pub text: String,
    /// What it is worth to the player, if the player asked itself.
    pub score: Option<Score>,
    /// Plies looked ahead.
    pub depth: u32,
    /// Positions looked at.
    pub nodes: u64,
    /// The texts of the moves expected, the chosen one first.
    pub line: Vec<String>,
}

impl Choice {
    /// A move that needed no thought.
    pub(crate) fn plain(text: String) -> Choice {
        Choice { line: vec![text.clone()], text, score: None, depth: 0, nodes: 0 }
    }
}

/// Why a player did not choose or could not be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// There is nothing to choose.
    #[error("the game is over: there is no move to choose")]
    Over,
    /// The session is of another game than the player.
    #[error("this player was made for another game than {0}")]
    OtherGame(String),
    /// The machine has not enough memory.
    #[error("{0}")]
    NoMemory(String),
    /// A player chose a move that cannot be played.
    #[error("a player chose the move {text}: {why}")]
    Refused {
        /// The move.
        text: String,
        /// Why it cannot be played.
        why: String,
    },
    /// A game could not be begun.
    #[error("an opening cannot be played: {0}")]
    Opening(String),
}
