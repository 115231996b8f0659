//! A [`Player`] that is an outside program: when it is started, when it is started again, and what
//! of its doings is told as a fault.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crownhead_search::Stop;

use super::dialogue::{Dialogue, Unsaid};
use super::log::Log;
use super::process::{self, Process};
use super::protocol::Lines;
use super::{Fault, FaultKind, Program};
use crate::{Choice, Clock, Player, PlayerError, Seating, Session, Terms, TimeControl, Verdict};

pub(crate) struct Outside {
    program: Program,
    dialogue: Box<dyn Dialogue>,
    bot: Option<Process>,
    is_greeted: bool,
    /// What it did that ended it, or will end it after this game.
    fault: Option<Fault>,
    /// The times of the game, if somebody told them.
    terms: Option<Terms>,
    seed: u64,
    /// Whether it has been told of the game.
    is_seated: bool,
    /// Whether it ended by itself when it was last asked to.
    left_well: bool,
    /// Why a log is not whole.
    log_failure: Arc<OnceLock<String>>,
}

impl Outside {
    /// Builds the program if it must be built, and starts it.
    pub(crate) fn new(program: Program, stop: &Stop) -> Result<Outside, PlayerError> {
        process::build(&program, stop).map_err(PlayerError::Start)?;
        let mut outside = Outside {
            program,
            dialogue: Box::new(Lines::default()),
            bot: None,
            is_greeted: false,
            fault: None,
            terms: None,
            seed: 0,
            is_seated: false,
            left_well: false,
            log_failure: Arc::default(),
        };
        outside.start().map_err(|fault| PlayerError::Start(fault.what))?;
        Ok(outside)
    }

    fn start(&mut self) -> Result<(), Fault> {
        self.is_greeted = false;
        let bot = Process::start(&self.program, &self.program.command).map_err(|error| {
            let what = format!(
                "{} cannot be started: {error} (command {:?}, in {}){}",
                self.program,
                self.program.command.join(" "),
                self.program.folder.display(),
                self.program.hint(&error)
            );
            Fault::new(FaultKind::Start, what)
        })?;
        self.bot = Some(bot);
        Ok(())
    }

    /// Ends the program; whether it did so by itself.
    fn end(&mut self, politely: bool) -> bool {
        let Some(mut bot) = self.bot.take() else { return false };
        if politely {
            self.dialogue.quit(&mut bot);
        }
        bot.end(politely)
    }

    /// Asks the program to end if it still runs; whether it did so by itself, now or after its last
    /// game.
    pub(super) fn leave(&mut self) -> bool {
        if self.bot.is_some() {
            self.left_well = self.end(true);
        }
        self.left_well
    }

    /// What it did wrong in this game.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Whether it has been greeted and lived through it.
    pub(super) fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// Whether it did not say that it was ready.
    pub(super) fn is_silent(&self) -> bool {
        self.dialogue.is_silent()
    }

    /// What it calls itself.
    pub(super) fn bot_name(&self) -> Option<&str> {
        self.dialogue.name()
    }

    /// Greets the program and tells it of the game, starting it again if need be.
    fn seat(&mut self, seating: &Seating<'_>, stop: &Stop) -> Result<(), Unsaid> {
        if self.fault.take().is_some() {
            self.end(false);
        }
        if self.bot.is_none() {
            self.start()?;
        }
        let head = self.head(seating);
        let log = seating.log.map(|path| Log::create(path, &head, self.log_failure.clone()));
        let Some(bot) = &mut self.bot else { return Ok(()) };
        bot.log = log;
        if !self.is_greeted {
            self.dialogue.greet(bot, seating.terms.startup, stop)?;
            self.is_greeted = true;
        }
        self.dialogue.new_game(bot, seating, stop)
    }

    /// The head of a log: what is needed to be in the same place again.
    fn head(&self, seating: &Seating<'_>) -> [(&'static str, String); 7] {
        let folder = std::env::current_dir().unwrap_or_default();
        [
            ("game", seating.game.to_string()),
            ("bot", self.program.to_string()),
            ("folder", folder.display().to_string()),
            ("side", seating.letter().to_string()),
            ("opponent", seating.opponent.to_string()),
            ("time", seating.terms.time.to_string()),
            ("policy", seating.terms.policy.to_string()),
        ]
    }

    /// Remembers a fault that ends the program, or makes it unfit for the next game.
    fn remember(&mut self, fault: &Fault) {
        if let Some(log) = self.bot.as_mut().and_then(|bot| bot.log.as_mut()) {
            log.remark(&format!("{}: {fault}", fault.kind.code()));
        }
        if fault.kind != FaultKind::IllegalMove {
            self.fault = Some(fault.clone());
        }
        if fault.kind.is_final() {
            self.end(false);
        }
    }
}

impl Player for Outside {
    fn new_game(&mut self, seed: u64) {
        (self.seed, self.is_seated) = (seed, false);
    }

    fn sit_down(&mut self, seating: &Seating<'_>, stop: &Stop) {
        self.is_seated = true;
        self.terms = Some(*seating.terms);
        if let Err(Unsaid::Fault(fault)) = self.seat(seating, stop) {
            self.remember(&fault);
        }
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &Stop,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        if !self.is_seated {
            if game.outcome().is_some() {
                return Err(PlayerError::Over);
            }
            let terms = Terms { time: time_control(clock), ..Terms::of(game.game()) };
            let seating = Seating {
                game: game.game(),
                side: game.side(),
                terms: &terms,
                seed: self.seed,
                opponent: "unknown",
                log: None,
            };
            self.sit_down(&seating, stop);
        }
        let Some(bot) = &mut self.bot else {
            let fault = self.fault.clone();
            let gone = || Fault::new(FaultKind::Crash, "the bot is not running");
            return Err(PlayerError::Fault(fault.unwrap_or_else(gone)));
        };
        let grace = self.terms.unwrap_or_else(|| Terms::of(game.game())).grace;
        let limit = match *clock {
            Clock::Free => None,
            Clock::PerMove(time) | Clock::Main { left: time, .. } => Some(time),
        };
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit + grace));
        match self.dialogue.ask(bot, game, clock, deadline, stop) {
            Ok(text) => Ok(Choice::plain(text)),
            Err(Unsaid::Stopped) => Err(PlayerError::Stopped),
            Err(Unsaid::Fault(fault)) => {
                self.remember(&fault);
                Err(PlayerError::Fault(fault))
            }
        }
    }

    fn game_over(&mut self, verdict: &Verdict<'_>) {
        let Some(bot) = &mut self.bot else { return };
        self.dialogue.game_over(bot, verdict);
        bot.log = None;
        if self.program.restart {
            self.leave();
        }
    }

    fn is_outside(&self) -> bool {
        true
    }

    fn log_failure(&self) -> Option<&str> {
        self.log_failure.get().map(String::as_str)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.end(self.fault.is_none());
    }
}

/// The time control that a clock seems to belong to.
fn time_control(clock: &Clock) -> TimeControl {
    match *clock {
        Clock::Free => TimeControl::Free,
        Clock::PerMove(time) => TimeControl::PerMove(time),
        Clock::Main { left, increment } => TimeControl::Main { time: left, increment },
    }
}
