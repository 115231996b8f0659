//! Whoever chooses moves.

use std::path::Path;

use crownhead_rules::{Game, Side};
use crownhead_search::{Score, StopFlag};

use crate::{Clock, End, Fault, GameSettings, Incident, Session};

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
        stop: &StopFlag,
        heard: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError>;

    /// Takes its place at the board, before the clocks run. What goes wrong here is told when the
    /// first move is chosen.
    fn sit_down(&mut self, _: &GameStart<'_>, _: &StopFlag) {}

    /// Hears what a fault of its was, and which move was made instead, if the game goes on.
    fn on_fault(&mut self, _: &Incident, _: Option<&str>) {}

    /// Hears how the game ended.
    fn on_game_over(&mut self, _: &GameOver<'_>) {}

    /// Whether it is a program of its own, which does not think on the thread that asks it.
    fn is_external(&self) -> bool {
        false
    }

    /// Why a log of its games is not whole, if that is so.
    fn log_failure(&self) -> Option<&str> {
        None
    }
}

/// A place at a board.
#[derive(Clone, Copy, Debug)]
pub struct GameStart<'a> {
    /// The game and its options.
    pub game: &'a Game,
    /// The player's side.
    pub side: Side,
    /// Times and what faults cost.
    pub settings: &'a GameSettings,
    /// What the player draws by lot may follow from it.
    pub seed: u64,
    /// Who sits opposite.
    pub opponent: &'a str,
    /// Where the dialogue with an outside program is written to.
    pub log: Option<&'a Path>,
}

impl GameStart<'_> {
    /// The letter of the player's side.
    pub fn letter(&self) -> char {
        self.game.info().sides[self.side.index()].letter
    }
}

/// What a game brought a player.
#[derive(Clone, Copy, Debug)]
pub struct GameOver<'a> {
    /// `win`, `loss` or `draw`.
    pub result: &'static str,
    /// Its own points and the opponent's, in games that count points.
    pub score: Option<(u8, u8)>,
    /// A word for the reason.
    pub code: &'static str,
    /// A sentence.
    pub reason: &'a str,
}

impl<'a> GameOver<'a> {
    /// What a side is told of the end of a game. `reason` is the sentence.
    pub fn new(side: Side, end: &End, reason: &'a str) -> GameOver<'a> {
        let result = match end.winner() {
            None => "draw",
            Some(winner) if winner == side => "win",
            Some(_) => "loss",
        };
        let by_side = |(first, second)| match side {
            Side::First => (first, second),
            Side::Second => (second, first),
        };
        GameOver { result, score: end.score().map(by_side), code: end.code(), reason }
    }
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
    pub pv: Vec<String>,
}

impl Choice {
    /// A move that needed no thought.
    pub fn from_text(text: String) -> Choice {
        Choice { pv: vec![text.clone()], text, score: None, depth: 0, nodes: 0 }
    }
}

/// Why a player did not choose or could not be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// There is nothing to choose.
    #[error("the game is over: there is no move to choose")]
    GameOver,
    /// The session is of another game than the player.
    #[error("this player was made for another game than {0}")]
    WrongGame(String),
    /// The machine has not enough memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// A player chose a move that cannot be played.
    #[error("a player chose the move {text}: {why}")]
    IllegalMove {
        /// The move.
        text: String,
        /// Why it cannot be played.
        why: String,
    },
    /// An outside program did something wrong.
    #[error("{0}")]
    Fault(Fault),
    /// An outside program could not be started.
    #[error("{0}")]
    StartFailed(String),
    /// Something is missing for which no player is to blame.
    #[error("{0}")]
    Unavailable(String),
    /// It was asked to stop and has no move.
    #[error("the bot was stopped before it answered")]
    Stopped,
    /// A game could not be begun.
    #[error("an opening cannot be played: {0}")]
    Opening(String),
}
