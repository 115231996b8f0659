//! A [`Player`] that is an outside program: when it is started, when it is started again, and what
//! of its doings is told as a fault.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crownhead_play::Stop;

use crownhead_play::{Fault, FaultKind};

use crate::BotProgram;
use crate::log::Log;
use crate::process::{self, BotProcess};
use crate::protocol::{AskError, ProtocolAdapter};
use crownhead_play::{
    Choice, Clock, GameOver, GameSettings, GameStart, Incident, Player, PlayerError, Session,
    TimeControl,
};
use crownhead_sandbox::IsolationStatus;

pub(crate) struct BotPlayer {
    program: BotProgram,
    adapter: Box<dyn ProtocolAdapter>,
    process: Option<BotProcess>,
    /// The log of the game while no process runs that would have it.
    log: Option<Log>,
    handshake_done: bool,
    /// What it did that ended it, or leaves it in doubt whether it is in step for the next game.
    fault: Option<Fault>,
    /// Why it cannot play, for which it is not to blame.
    unavailable: Option<PlayerError>,
    /// The times of the game, if somebody told them.
    settings: Option<GameSettings>,
    seed: u64,
    /// Whether it has been told of the game.
    game_announced: bool,
    /// Whether it ended by itself when it was last asked to.
    exited_cleanly: bool,
    /// Why a log is not whole.
    log_failure: Arc<OnceLock<String>>,
}

impl BotPlayer {
    /// Builds the program if it must be built, and starts it, unless that must wait for its place at
    /// a board.
    pub(crate) fn new(program: BotProgram, stop: &Stop) -> Result<BotPlayer, PlayerError> {
        process::build(&program, stop).map_err(PlayerError::StartFailed)?;
        let mut outside = BotPlayer {
            adapter: program.protocol.adapter(),
            program,
            process: None,
            log: None,
            handshake_done: false,
            fault: None,
            unavailable: None,
            settings: None,
            seed: 0,
            game_announced: false,
            exited_cleanly: false,
            log_failure: Arc::default(),
        };
        if outside.adapter.can_prestart() {
            outside.start().map_err(|unsaid| match unsaid {
                AskError::Fault(fault) => PlayerError::StartFailed(fault.message),
                AskError::Unavailable(why) => PlayerError::Unavailable(why),
                AskError::Stopped => PlayerError::Stopped,
            })?;
        } else if !outside.program.exists() {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(PlayerError::StartFailed(outside.start_failure(&error)));
        }
        Ok(outside)
    }

    fn start_failure(&self, error: &std::io::Error) -> String {
        format!(
            "{} cannot be started: {error} (command {:?}, in {}){}",
            self.program,
            self.program.argv().join(" "),
            self.program.folder.display(),
            self.program.install_hint(error)
        )
    }

    fn start(&mut self) -> Result<(), AskError> {
        self.handshake_done = false;
        let started = BotProcess::start(&self.program, &self.program.argv());
        let bot = started.map_err(|error| {
            let what = self.start_failure(&error);
            match is_host_shortage(&error) {
                true => AskError::Unavailable(what),
                false => Fault::new(FaultKind::StartFailed, what).into(),
            }
        })?;
        self.process = Some(bot);
        Ok(())
    }

    /// Ends the program; whether it did so by itself.
    fn stop_process(&mut self, politely: bool) -> bool {
        let Some(mut bot) = self.process.take() else { return false };
        if politely {
            self.adapter.quit(&mut bot);
        }
        let by_itself = bot.shutdown(politely);
        self.log = bot.log.take();
        by_itself
    }

    fn note(&mut self, text: &str) {
        let log = self.process.as_mut().map_or(self.log.as_mut(), |bot| bot.log.as_mut());
        if let Some(log) = log {
            log.note(text);
        }
    }

    /// Asks the program to end if it still runs; whether it did so by itself, now or after its last
    /// game.
    pub(crate) fn shutdown(&mut self) -> bool {
        if self.process.is_some() {
            self.exited_cleanly = self.stop_process(true);
        }
        self.exited_cleanly
    }

    /// What it did wrong in this game.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Why it cannot play, for which it is not to blame.
    pub(crate) fn unable(&self) -> Option<String> {
        self.unavailable.as_ref().map(PlayerError::to_string)
    }

    /// The last line of its standard error that says something.
    pub(crate) fn stderr_tail(&self) -> Option<String> {
        let words = self.process.as_ref()?.last_words()?;
        Some(String::from_utf8_lossy(words).into_owned())
    }

    /// Whether it has been greeted and lived through it.
    pub(crate) fn is_greeted(&self) -> bool {
        self.handshake_done
    }

    /// Whether it did not say that it was ready.
    pub(crate) fn missed_ready(&self) -> bool {
        self.adapter.missed_ready()
    }

    /// What it calls itself.
    pub(crate) fn bot_name(&self) -> Option<&str> {
        self.adapter.name()
    }

    /// Greets the program and tells it of the game, starting it again if need be.
    fn begin_game(&mut self, seating: &GameStart<'_>, stop: &Stop) -> Result<(), AskError> {
        let head = self.log_header(seating);
        let mut log = seating.log.map(|path| Log::create(path, &head, self.log_failure.clone()));
        if self.fault.take().is_some()
            && let Some(bot) = &mut self.process
        {
            bot.log = log.take();
            if self.handshake_done && self.adapter.resync(bot, seating, stop) {
                return Ok(());
            }
            self.stop_process(false);
            log = self.log.take();
        }
        self.log = log;
        if self.process.is_none() {
            self.adapter.prepare(self.program.isolation, stop)?;
            if let Err(unsaid) = self.start() {
                // What was made ready is not kept from others.
                self.adapter = self.program.protocol.adapter();
                return Err(unsaid);
            }
        }
        let Some(bot) = &mut self.process else { return Ok(()) };
        bot.log = self.log.take();
        if !self.handshake_done {
            self.adapter.handshake(bot, seating.settings.startup_timeout, stop)?;
            self.handshake_done = true;
        }
        self.adapter.new_game(bot, seating, stop)
    }

    /// The head of a log: what is needed to be in the same place again.
    fn log_header(&self, seating: &GameStart<'_>) -> [(&'static str, String); 9] {
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
            ("limits", self.program.effective_limits().to_string()),
        ]
    }

    /// Remembers a fault that ends the program, or leaves in doubt whether it is in step.
    fn record_fault(&mut self, fault: &Fault) {
        if fault.kind != FaultKind::IllegalMove {
            self.fault = Some(fault.clone());
        }
        if fault.kind.ends_process() {
            self.stop_process(false);
        }
    }
}

impl Player for BotPlayer {
    fn new_game(&mut self, seed: u64) {
        (self.seed, self.game_announced) = (seed, false);
    }

    fn sit_down(&mut self, seating: &GameStart<'_>, stop: &Stop) {
        self.game_announced = true;
        self.settings = Some(*seating.settings);
        match self.begin_game(seating, stop) {
            Err(AskError::Fault(fault)) => self.record_fault(&fault),
            Err(AskError::Unavailable(why)) => {
                self.unavailable = Some(PlayerError::Unavailable(why))
            }
            Err(AskError::Stopped) | Ok(()) => {}
        }
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &Stop,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        if !self.game_announced {
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
        if let Some(error) = &self.unavailable {
            return Err(error.clone());
        }
        let Some(bot) = self.process.as_mut().filter(|_| self.handshake_done) else {
            if stop.is_stopped() {
                return Err(PlayerError::Stopped);
            }
            let fault = self.fault.clone();
            let gone = || Fault::new(FaultKind::Crash, "the bot is not running");
            return Err(PlayerError::Fault(fault.unwrap_or_else(gone)));
        };
        let grace = self.settings.unwrap_or_else(|| GameSettings::default_for(game.game())).grace;
        let limit = match *clock {
            Clock::Unlimited => None,
            Clock::PerMove(time) | Clock::PerGame { left: time, .. } => Some(time),
        };
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit + grace));
        match self.adapter.request_move(bot, game, clock, deadline, stop) {
            Ok(text) => Ok(Choice::from_text(text)),
            Err(AskError::Stopped) => Err(PlayerError::Stopped),
            Err(AskError::Unavailable(why)) => Err(PlayerError::Unavailable(why)),
            Err(AskError::Fault(fault)) => {
                self.record_fault(&fault);
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
        self.note(&format!("{code}: {fault}; by the policy {policy}, {cost}"));
    }

    fn on_game_over(&mut self, verdict: &GameOver<'_>) {
        let Some(bot) = &mut self.process else {
            // Nobody is there to hear it, but the log should not break off.
            self.note(&format!("{}: {}", verdict.result, verdict.reason));
            self.log = None;
            return;
        };
        self.adapter.game_over(bot, verdict);
        bot.log = None;
        if self.program.restart {
            self.shutdown();
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
        self.stop_process(true);
    }
}

/// Whether a program could not be started for a lack of ours: files, processes or memory.
fn is_host_shortage(error: &std::io::Error) -> bool {
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
