//! [`BotPlayer`]: a [`Player`] that is an external program. Decides when the bot is started and
//! restarted, and which of its mistakes are faults.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameOver, GameSettings, GameStart, Incident, Player,
    PlayerError, Session, StopFlag, TimeControl,
};
use crownhead_rules::escape_invisible;
use crownhead_sandbox::IsolationStatus;

use crate::BotProgram;
use crate::build::build;
use crate::log::Log;
use crate::process::{BotProcess, is_host_shortage};
use crate::protocol::{AskError, ProtocolAdapter};

pub(crate) struct BotPlayer {
    program: BotProgram,
    adapter: Box<dyn ProtocolAdapter>,
    process: Option<BotProcess>,
    /// Log of the game in progress while there is no process to hold it.
    log: Option<Log>,
    /// Whether the running process has completed the handshake.
    handshake_done: bool,
    /// The last fault after which the bot must be restarted or resynchronised.
    fault: Option<Fault>,
    /// Whether a fault lost the game in progress.
    lost_by_fault: bool,
    /// Why the bot cannot play, if that is not its fault.
    unavailable: Option<PlayerError>,
    /// Settings of the game in progress, if announced.
    settings: Option<GameSettings>,
    /// Whether the last process exited on its own when asked to.
    exited_cleanly: bool,
    /// How long this process was stopped or starved during the last turn.
    time_away: Duration,
    /// First error in writing a log.
    log_failure: Arc<OnceLock<String>>,
}

impl BotPlayer {
    /// Builds the bot if necessary and starts it, unless its protocol requires it to start later.
    pub(crate) fn new(program: BotProgram, stop: &StopFlag) -> Result<BotPlayer, PlayerError> {
        build(&program, stop).map_err(PlayerError::StartFailed)?;
        let mut player = BotPlayer {
            adapter: program.protocol.adapter(),
            program,
            process: None,
            log: None,
            handshake_done: false,
            fault: None,
            lost_by_fault: false,
            unavailable: None,
            settings: None,
            exited_cleanly: false,
            time_away: Duration::ZERO,
            log_failure: Arc::default(),
        };
        if player.adapter.can_prestart() {
            player.start().map_err(|error| match error {
                AskError::Fault(fault) => PlayerError::StartFailed(fault.message),
                AskError::Unavailable(message) => PlayerError::Unavailable(message),
                AskError::Stopped => PlayerError::Stopped,
            })?;
        } else if player.program.program_file().is_none() {
            let error = io::ErrorKind::NotFound.into();
            return Err(PlayerError::StartFailed(player.start_failure(&error)));
        }
        Ok(player)
    }

    fn start_failure(&self, error: &io::Error) -> String {
        escape_invisible(&format!(
            "{} cannot be started: {error} (command {:?}, in {}){}",
            self.program,
            self.program.argv().join(" "),
            self.program.folder.display(),
            self.program.install_hint(error)
        ))
    }

    fn start(&mut self) -> Result<(), AskError> {
        self.handshake_done = false;
        match BotProcess::start(&self.program) {
            Ok(process) => {
                self.process = Some(process);
                Ok(())
            }
            Err(error) => {
                let message = self.start_failure(&error);
                match is_host_shortage(&error) {
                    true => Err(AskError::Unavailable(message)),
                    false => Err(Fault::new(FaultKind::StartFailed, message).into()),
                }
            }
        }
    }

    /// Stops the process. Returns whether it exited on its own.
    fn stop_process(&mut self, graceful: bool) -> bool {
        let Some(mut process) = self.process.take() else { return false };
        if graceful {
            self.adapter.quit(&mut process);
        }
        let exited = process.shutdown(graceful);
        self.log = process.log.take();
        exited
    }

    /// Adds a note to the log of the game in progress.
    fn note(&mut self, text: &str) {
        let log = match &mut self.process {
            Some(process) => process.log.as_mut(),
            None => self.log.as_mut(),
        };
        if let Some(log) = log {
            log.note(text);
        }
    }

    /// Asks the bot to exit, if it is running. Returns whether it exited on its own, now or after
    /// its last game.
    pub(crate) fn shutdown(&mut self) -> bool {
        if self.process.is_some() {
            self.exited_cleanly = self.stop_process(true);
        }
        self.exited_cleanly
    }

    /// Returns the last fault of the game in progress.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Returns why the bot cannot play, if that is not its fault.
    pub(crate) fn unavailable(&self) -> Option<String> {
        self.unavailable.as_ref().map(PlayerError::to_string)
    }

    /// Returns the standard error of the running bot, or the end of that of one that crashed.
    pub(crate) fn stderr_lines(&self) -> Vec<String> {
        match (&self.process, &self.fault) {
            (Some(process), _) => process.stderr_lines(usize::MAX),
            (None, Some(fault)) => fault.stderr.clone(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns whether the handshake succeeded.
    pub(crate) fn handshake_done(&self) -> bool {
        self.handshake_done
    }

    /// Returns whether the bot should have sent `ready` but did not.
    pub(crate) fn missed_ready(&self) -> bool {
        self.adapter.missed_ready()
    }

    /// Returns the name the bot gave itself.
    pub(crate) fn bot_name(&self) -> Option<&str> {
        self.adapter.name()
    }

    /// Announces a game to the bot, after starting or restarting it if necessary.
    fn begin_game(&mut self, start: &GameStart<'_>, stop: &StopFlag) -> Result<(), AskError> {
        let header = self.log_header(start);
        let mut log = start.log.map(|path| Log::create(path, &header, self.log_failure.clone()));
        self.lost_by_fault = false;
        if self.fault.take().is_some()
            && let Some(process) = &mut self.process
        {
            process.log = log.take();
            process.start_game();
            if self.handshake_done && self.adapter.resync(process, start, stop) {
                process.expect_idle();
                return Ok(());
            }
            self.stop_process(false);
            log = self.log.take();
        }
        self.log = log;
        if self.process.is_none() {
            self.adapter.prepare(self.program.isolation, stop)?;
            if let Err(error) = self.start() {
                // Releases what was prepared, such as a port.
                self.adapter = self.program.protocol.adapter();
                return Err(error);
            }
        }
        let Some(process) = &mut self.process else { return Ok(()) };
        process.log = self.log.take();
        process.start_game();
        if !self.handshake_done {
            self.adapter.handshake(process, start.settings.startup_timeout, stop)?;
            self.handshake_done = true;
        }
        self.adapter.new_game(process, start, stop)?;
        // A bot that does not say when it is ready may still be preparing.
        if !self.adapter.missed_ready() {
            process.expect_idle();
        }
        Ok(())
    }

    /// Returns the header of a log: everything needed to reproduce a turn.
    fn log_header(&self, start: &GameStart<'_>) -> [(&'static str, String); 9] {
        let folder = std::env::current_dir().unwrap_or_default();
        let isolation = match IsolationStatus::detect(self.program.isolation) {
            Ok(status) => status.to_string(),
            Err(message) => message,
        };
        [
            ("game", start.game.to_string()),
            ("bot", self.program.to_string()),
            ("folder", folder.display().to_string()),
            ("side", start.letter().to_string()),
            ("opponent", start.opponent.to_string()),
            ("time", start.settings.time_control.to_string()),
            ("policy", start.settings.fault_policy.to_string()),
            ("isolation", isolation),
            ("limits", self.program.effective_limits().to_string()),
        ]
    }

    /// Stores a fault after which the bot may be out of sync, and stops the bot if it cannot
    /// continue.
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
    fn start_game(&mut self, start: &GameStart<'_>, stop: &StopFlag) {
        self.settings = Some(*start.settings);
        match self.begin_game(start, stop) {
            Err(AskError::Fault(fault)) => self.record_fault(&fault),
            Err(AskError::Unavailable(message)) => {
                self.unavailable = Some(PlayerError::Unavailable(message));
            }
            Err(AskError::Stopped) | Ok(()) => {}
        }
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        if self.settings.is_none() {
            if game.outcome().is_some() {
                return Err(PlayerError::GameOver);
            }
            let settings = GameSettings {
                time_control: time_control(clock),
                ..GameSettings::default_for(game.game())
            };
            self.start_game(&GameStart::new(game.game(), game.side(), &settings, 0), stop);
        }
        self.time_away = Duration::ZERO;
        if let Some(error) = &self.unavailable {
            return Err(error.clone());
        }
        let Some(process) = self.process.as_mut().filter(|_| self.handshake_done) else {
            if stop.is_set() {
                return Err(PlayerError::Stopped);
            }
            let not_running = || Fault::new(FaultKind::Crash, "the bot is not running");
            return Err(PlayerError::Fault(self.fault.clone().unwrap_or_else(not_running)));
        };
        let settings = self.settings.unwrap_or_else(|| GameSettings::default_for(game.game()));
        let limit = match *clock {
            Clock::Unlimited => None,
            Clock::PerMove(time) | Clock::PerGame { left: time, .. } => Some(time),
        };
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit + settings.grace));
        process.wake();
        process.start_wait();
        let answer = self.adapter.request_move(process, game, clock, deadline, stop);
        self.time_away = process.time_away();
        match answer {
            Ok(choice) => {
                process.expect_idle();
                Ok(choice)
            }
            Err(AskError::Stopped) => Err(PlayerError::Stopped),
            Err(AskError::Unavailable(message)) => Err(PlayerError::Unavailable(message)),
            Err(AskError::Fault(fault)) => {
                self.record_fault(&fault);
                Err(PlayerError::Fault(fault))
            }
        }
    }

    fn on_fault(&mut self, incident: &Incident, substitute: Option<&str>) {
        let fault = &incident.fault;
        let penalty = match substitute {
            Some(text) if fault.kind.ends_process() => {
                format!("{text} is played instead, and the bot takes no further part in the game")
            }
            Some(text) => format!("{text} is played instead"),
            None => "the game is lost".to_string(),
        };
        self.lost_by_fault = substitute.is_none();
        let (code, policy) = (fault.kind.code(), incident.policy);
        self.note(&format!("{code}: {fault}; policy {policy}: {penalty}"));
    }

    fn on_game_over(&mut self, result: &GameOver<'_>) {
        let Some(process) = &mut self.process else {
            // The bot is gone, but its log is completed. A fault that lost the game is logged
            // already.
            if !self.lost_by_fault {
                self.note(&format!("{}: {}", result.result, result.reason));
            }
            self.log = None;
            return;
        };
        process.wake();
        self.adapter.game_over(process, result);
        process.expect_idle();
        process.log = None;
        if self.program.restart {
            self.shutdown();
        }
    }

    fn is_external(&self) -> bool {
        true
    }

    fn time_away(&self) -> Duration {
        self.time_away
    }

    fn log_failure(&self) -> Option<&str> {
        self.log_failure.get().map(String::as_str)
    }
}

impl Drop for BotPlayer {
    fn drop(&mut self) {
        // A bot that misbehaved has already been stopped.
        self.stop_process(true);
    }
}

/// Guesses the time control from a clock at the start of a game.
fn time_control(clock: &Clock) -> TimeControl {
    match *clock {
        Clock::Unlimited => TimeControl::Unlimited,
        Clock::PerMove(time) => TimeControl::PerMove(time),
        Clock::PerGame { left, increment } => TimeControl::PerGame { time: left, increment },
    }
}
