//! `Player`: anything that chooses moves.

use std::path::Path;
use std::time::Duration;

use crownhead_records::MoveEval;
use crownhead_rules::{Game, Side};
use crownhead_search::{Score, StopFlag};

use crate::{Clock, End, Eval, Fault, GameSettings, Incident, Session};

/// A player of one side of a game.
pub trait Player: Send {
    /// Forgets the last game and prepares for the next, before the clocks run. Errors are reported
    /// by the first [`choose`](Player::choose).
    fn start_game(&mut self, start: &GameStart<'_>, stop: &StopFlag);

    /// Chooses a move for the side to move.
    ///
    /// Returns soon after `stop` is set, with the best move found so far. A player that searches
    /// calls `on_info` after every iteration.
    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        on_info: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError>;

    /// Called after a fault of this player, with the move played instead if the game continues.
    fn on_fault(&mut self, _: &Incident, _: Option<&str>) {}

    /// Called at the end of the game.
    fn on_game_over(&mut self, _: &GameOver<'_>) {}

    /// Whether the player is a separate process, so that it does not use the CPU time of the
    /// calling thread.
    fn is_external(&self) -> bool {
        false
    }

    /// How long this process was stopped or starved during the last [`choose`](Player::choose).
    /// That is not the player's fault and is not charged.
    fn time_away(&self) -> Duration {
        Duration::ZERO
    }

    /// Why the log of its games is incomplete, if it is.
    fn log_failure(&self) -> Option<&str> {
        None
    }
}

/// Announcement of a game to a player.
#[derive(Clone, Copy, Debug)]
pub struct GameStart<'a> {
    /// The game and its options.
    pub game: &'a Game,
    /// The player's side.
    pub side: Side,
    /// Times and the fault policy.
    pub settings: &'a GameSettings,
    /// The player's random seed.
    pub seed: u64,
    /// The opponent's name.
    pub opponent: &'a str,
    /// Log file of a bot.
    pub log: Option<&'a Path>,
}

impl<'a> GameStart<'a> {
    /// A game against an unnamed opponent, without a log.
    pub fn new(game: &'a Game, side: Side, settings: &'a GameSettings, seed: u64) -> GameStart<'a> {
        GameStart { game, side, settings, seed, opponent: "unknown", log: None }
    }

    /// Letter of the player's side.
    pub fn letter(&self) -> char {
        self.game.info().sides[self.side.index()].letter
    }
}

/// The end of a game from the view of one side.
#[derive(Clone, Copy, Debug)]
pub struct GameOver<'a> {
    /// `win`, `loss` or `draw`.
    pub result: &'static str,
    /// Points of this side and of the opponent, in games that count points.
    pub score: Option<(u8, u8)>,
    /// End code.
    pub code: &'static str,
    /// Reason in a sentence.
    pub reason: &'a str,
}

impl<'a> GameOver<'a> {
    /// Returns the end of a game from the view of a side.
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

/// A chosen move and the search behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Text of the move.
    pub text: String,
    /// Score for the player; `None` without a search.
    pub score: Option<Score>,
    /// Search depth in plies; 0 without a search.
    pub depth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// Principal variation, starting with the move.
    pub pv: Vec<String>,
}

impl Choice {
    /// A move chosen without a search.
    pub fn from_text(text: String) -> Choice {
        Choice { pv: vec![text.clone()], text, score: None, depth: 0, nodes: 0 }
    }

    /// Evaluation of the move for game files; `side` chose it.
    pub fn eval(&self, side: Side) -> Option<MoveEval> {
        Some(move_eval(self.score?, (self.depth > 0).then_some(self.depth), side))
    }
}

/// Evaluation of a move for game files, from the score of `side`, which chose it.
pub fn move_eval(score: Score, depth: Option<u32>, side: Side) -> MoveEval {
    MoveEval { score: Eval::new(score, side).one_ply_down().record(), depth }
}

/// Why a player did not choose a move.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// The game is over.
    #[error("the game is over: no legal moves")]
    GameOver,
    /// The session is of another game than the player's.
    #[error("this player does not play {0}")]
    WrongGame(String),
    /// Not enough memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// A built-in player chose an illegal move.
    #[error("a player chose the move {text}: {reason}")]
    IllegalMove {
        /// The move.
        text: String,
        /// Why it is illegal.
        reason: String,
    },
    /// A bot committed a fault.
    #[error("{0}")]
    Fault(Fault),
    /// A bot could not be started.
    #[error("{0}")]
    StartFailed(String),
    /// Something failed through no fault of the player.
    #[error("{0}")]
    Unavailable(String),
    /// The stop flag was set before there was a move.
    #[error("the bot was stopped before it answered")]
    Stopped,
    /// An opening is invalid.
    #[error("invalid opening: {0}")]
    Opening(String),
}
