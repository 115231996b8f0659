//! A [`Player`] that is an outside program: when it is started, when it is started again, and what
//! of its doings is told as a fault.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crownhead_play::StopFlag;

use crownhead_play::{Fault, FaultKind};

use crate::BotProgram;
use crate::log::Log;
use crate::process::{self, BotProcess};
use crate::protocol::{Dialogue, Unsaid};
use crownhead_play::{
    Choice, Clock, GameOver, GameSettings, GameStart, Incident, Player, PlayerError, Session,
    TimeControl,
};
use crownhead_sandbox::IsolationStatus;

pub(crate) struct BotPlayer {
    program: BotProgram,
    dialogue: Box<dyn Dialogue>,
    bot: Option<BotProcess>,
    /// The log of the game while no process runs that would have it.
    log: Option<Log>,
    is_greeted: bool,
    /// What it did that ended it, or leaves it in doubt whether it is in step for the next game.
    fault: Option<Fault>,
    /// Why it cannot play, for which it is not to blame.
    unable: Option<PlayerError>,
    /// The times of the game, if somebody told them.
    terms: Option<GameSettings>,
    seed: u64,
    /// Whether it has been told of the game.
    is_seated: bool,
    /// Whether it ended by itself when it was last asked to.
    left_well: bool,
    /// Why a log is not whole.
    log_failure: Arc<OnceLock<String>>,
}

impl BotPlayer {
    /// Builds the program if it must be built, and starts it, unless that must wait for its place at
    /// a board.
    pub(crate) fn new(program: BotProgram, stop: &StopFlag) -> Result<BotPlayer, PlayerError> {
        process::build(&program, stop).map_err(PlayerError::StartFailed)?;
        let mut outside = BotPlayer {
            dialogue: program.protocol.dialogue(),
            program,
            bot: None,
            log: None,
            is_greeted: false,
            fault: None,
            unable: None,
            terms: None,
            seed: 0,
            is_seated: false,
            left_well: false,
            log_failure: Arc::default(),
        };
        if outside.dialogue.starts_early() {
            outside.start().map_err(|unsaid| match unsaid {
                Unsaid::Fault(fault) => PlayerError::StartFailed(fault.message),
                Unsaid::Unable(why) => PlayerError::Unavailable(why),
                Unsaid::Stopped => PlayerError::Stopped,
            })?;
        } else if !outside.program.is_there() {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(PlayerError::StartFailed(outside.not_started(&error)));
        }
        Ok(outside)
    }

    fn not_started(&self, error: &std::io::Error) -> String {
        format!(
            "{} cannot be started: {error} (command {:?}, in {}){}",
            self.program,
            self.program.words().join(" "),
            self.program.folder.display(),
            self.program.hint(error)
        )
    }

    fn start(&mut self) -> Result<(), Unsaid> {
        self.is_greeted = false;
        let started = BotProcess::start(&self.program, &self.program.words());
        let bot = started.map_err(|error| {
            let what = self.not_started(&error);
            match is_ours(&error) {
                true => Unsaid::Unable(what),
                false => Fault::new(FaultKind::StartFailed, what).into(),
            }
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
        let by_itself = bot.end(politely);
        self.log = bot.log.take();
        by_itself
    }

    fn remark(&mut self, text: &str) {
        let log = self.bot.as_mut().map_or(self.log.as_mut(), |bot| bot.log.as_mut());
        if let Some(log) = log {
            log.remark(text);
        }
    }

    /// Asks the program to end if it still runs; whether it did so by itself, now or after its last
    /// game.
    pub(crate) fn leave(&mut self) -> bool {
        if self.bot.is_some() {
            self.left_well = self.end(true);
        }
        self.left_well
    }

    /// What it did wrong in this game.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Why it cannot play, for which it is not to blame.
    pub(crate) fn unable(&self) -> Option<String> {
        self.unable.as_ref().map(PlayerError::to_string)
    }

    /// The last line of its standard error that says something.
    pub(crate) fn last_words(&self) -> Option<String> {
        let words = self.bot.as_ref()?.last_words()?;
        Some(String::from_utf8_lossy(words).into_owned())
    }

    /// Whether it has been greeted and lived through it.
    pub(crate) fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// Whether it did not say that it was ready.
    pub(crate) fn is_silent(&self) -> bool {
        self.dialogue.is_silent()
    }

    /// What it calls itself.
    pub(crate) fn bot_name(&self) -> Option<&str> {
        self.dialogue.name()
    }

    /// Greets the program and tells it of the game, starting it again if need be.
    fn seat(&mut self, seating: &GameStart<'_>, stop: &StopFlag) -> Result<(), Unsaid> {
        let head = self.head(seating);
        let mut log = seating.log.map(|path| Log::create(path, &head, self.log_failure.clone()));
        if self.fault.take().is_some()
            && let Some(bot) = &mut self.bot
        {
            bot.log = log.take();
            if self.is_greeted && self.dialogue.rejoin(bot, seating, stop) {
                return Ok(());
            }
            self.end(false);
            log = self.log.take();
        }
        self.log = log;
        if self.bot.is_none() {
            self.dialogue.prepare(self.program.isolation, stop)?;
            if let Err(unsaid) = self.start() {
                // What was made ready is not kept from others.
                self.dialogue = self.program.protocol.dialogue();
                return Err(unsaid);
            }
        }
        let Some(bot) = &mut self.bot else { return Ok(()) };
        bot.log = self.log.take();
        if !self.is_greeted {
            self.dialogue.greet(bot, seating.settings.startup_timeout, stop)?;
            self.is_greeted = true;
        }
        self.dialogue.new_game(bot, seating, stop)
    }

    /// The head of a log: what is needed to be in the same place again.
    fn head(&self, seating: &GameStart<'_>) -> [(&'static str, String); 9] {
        let folder = std::env::current_dir().unwrap_or_default();
        [
            ("game", seating.game.to_string()),
            ("bot", self.program.to_string()),
            ("folder", folder.display().to_string()),
            ("side", seating.letter().to_string()),
            ("opponent", seating.opponent.to_string()),
            ("time", seating.settings.time_control.to_string()),
            ("policy", seating.settings.fault_policy.to_string()),
            (
                "isolation",
                IsolationStatus::detect(self.program.isolation)
                    .map_or_else(|why| why, |w| w.to_string()),
            ),
            ("limits", self.program.allowed().to_string()),
        ]
    }

    /// Remembers a fault that ends the program, or leaves in doubt whether it is in step.
    fn remember(&mut self, fault: &Fault) {
        if fault.kind != FaultKind::IllegalMove {
            self.fault = Some(fault.clone());
        }
        if fault.kind.ends_process() {
            self.end(false);
        }
    }
}

impl Player for BotPlayer {
    fn new_game(&mut self, seed: u64) {
        (self.seed, self.is_seated) = (seed, false);
    }

    fn sit_down(&mut self, seating: &GameStart<'_>, stop: &StopFlag) {
        self.is_seated = true;
        self.terms = Some(*seating.settings);
        match self.seat(seating, stop) {
            Err(Unsaid::Fault(fault)) => self.remember(&fault),
            Err(Unsaid::Unable(why)) => self.unable = Some(PlayerError::Unavailable(why)),
            Err(Unsaid::Stopped) | Ok(()) => {}
        }
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        if !self.is_seated {
            if game.outcome().is_some() {
                return Err(PlayerError::GameOver);
            }
            let terms = GameSettings {
                time_control: time_control(clock),
                ..GameSettings::default_for(game.game())
            };
            let seating = GameStart {
                game: game.game(),
                side: game.side(),
                settings: &terms,
                seed: self.seed,
                opponent: "unknown",
                log: None,
            };
            self.sit_down(&seating, stop);
        }
        if let Some(error) = &self.unable {
            return Err(error.clone());
        }
        let Some(bot) = self.bot.as_mut().filter(|_| self.is_greeted) else {
            if stop.is_set() {
                return Err(PlayerError::Stopped);
            }
            let fault = self.fault.clone();
            let gone = || Fault::new(FaultKind::Crash, "the bot is not running");
            return Err(PlayerError::Fault(fault.unwrap_or_else(gone)));
        };
        let grace = self.terms.unwrap_or_else(|| GameSettings::default_for(game.game())).grace;
        let limit = match *clock {
            Clock::Unlimited => None,
            Clock::PerMove(time) | Clock::PerGame { left: time, .. } => Some(time),
        };
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit + grace));
        match self.dialogue.ask(bot, game, clock, deadline, stop) {
            Ok(text) => Ok(Choice::from_text(text)),
            Err(Unsaid::Stopped) => Err(PlayerError::Stopped),
            Err(Unsaid::Unable(why)) => Err(PlayerError::Unavailable(why)),
            Err(Unsaid::Fault(fault)) => {
                self.remember(&fault);
                Err(PlayerError::Fault(fault))
            }
        }
    }

    fn on_fault(&mut self, incident: &Incident, made: Option<&str>) {
        let fault = &incident.fault;
        let cost = match made {
            Some(made) if fault.kind.ends_process() => {
                format!("{made} is made instead, and its later turns are made without it")
            }
            Some(made) => format!("{made} is made instead"),
            None => "the game is lost".to_string(),
        };
        let (code, policy) = (fault.kind.code(), incident.policy);
        self.remark(&format!("{code}: {fault}; by the policy {policy}, {cost}"));
    }

    fn on_game_over(&mut self, verdict: &GameOver<'_>) {
        let Some(bot) = &mut self.bot else {
            // Nobody is there to hear it, but the log should not break off.
            self.remark(&format!("{}: {}", verdict.result, verdict.reason));
            self.log = None;
            return;
        };
        self.dialogue.game_over(bot, verdict);
        bot.log = None;
        if self.program.restart {
            self.leave();
        }
    }

    fn is_external(&self) -> bool {
        true
    }

    fn log_failure(&self) -> Option<&str> {
        self.log_failure.get().map(String::as_str)
    }
}

impl Drop for BotPlayer {
    fn drop(&mut self) {
        // Whatever broke has been ended already.
        self.end(true);
    }
}

/// Whether a program could not be started for a lack of ours: files, processes or memory.
fn is_ours(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let number = Errno::from_io_error(error);
    [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].map(Some).contains(&number)
}

/// The time control that a clock seems to belong to.
fn time_control(clock: &Clock) -> TimeControl {
    match *clock {
        Clock::Unlimited => TimeControl::Unlimited,
        Clock::PerMove(time) => TimeControl::PerMove(time),
        Clock::PerGame { left, increment } => TimeControl::PerGame { time: left, increment },
    }
}
