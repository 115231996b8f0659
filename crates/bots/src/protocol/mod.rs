//! How one talks with a bot. The protocol of version 1 is one way ([`Lines`](super::protocol::Lines));
//! programs that were written for something else get others ([`adapters`](super::adapters)).

use std::time::{Duration, Instant};

use crownhead_play::Stop;

pub mod engine;
pub(crate) mod line;
pub(crate) mod v1;

use crate::process::BotProcess;
use crownhead_play::{Clock, Fault, GameOver, GameStart, Session};
use crownhead_sandbox::Isolation;

/// A way of talking. All of it ends at its deadline, whatever the bot does.
pub(crate) trait ProtocolAdapter: Send {
    /// Makes ready what the program must find when it starts behind such walls.
    fn prepare(&mut self, _: Isolation, _: &Stop) -> Result<(), AskError> {
        Ok(())
    }

    /// Whether the program may be started long before it is greeted.
    fn can_prestart(&self) -> bool {
        true
    }

    /// Greets a program that has just been started and waits until it is ready, or no longer.
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError>;

    /// Tells of a new game and waits until the bot is ready, or no longer.
    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        seating: &GameStart<'_>,
        stop: &Stop,
    ) -> Result<(), AskError>;

    /// Tells a bot of a new game that was late in the last one, or said what is no answer; whether
    /// it is in step again. If not, it is started anew.
    fn resync(&mut self, _: &mut BotProcess, _: &GameStart<'_>, _: &Stop) -> bool {
        false
    }

    /// Asks for a move: its text, whatever that may be worth.
    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> Result<String, AskError>;

    /// Tells how the game ended; where there is no way to tell the bot, its log.
    fn game_over(&mut self, bot: &mut BotProcess, verdict: &GameOver<'_>) {
        if let Some(log) = &mut bot.log {
            log.note(&format!("{}: {}", verdict.result, verdict.reason));
        }
    }

    /// Whether the bot did not say that it was ready, though it should have.
    fn missed_ready(&self) -> bool {
        false
    }

    /// What the bot calls itself.
    fn name(&self) -> Option<&str>;

    /// Says good-bye.
    fn quit(&mut self, bot: &mut BotProcess);
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AskError {
    /// The bot did something wrong.
    Fault(Fault),
    /// Something is not as it must be, and the bot is not to blame.
    Unavailable(String),
    /// Nobody wants to know any more.
    Stopped,
}

impl From<Fault> for AskError {
    fn from(fault: Fault) -> AskError {
        AskError::Fault(fault)
    }
}
