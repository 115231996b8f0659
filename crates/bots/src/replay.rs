//! `bot replay`: finds a turn in a bot's log and asks the bot again.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crownhead_play::{
    Action, End, Event, FaultPolicy, GameConfig, GameInPlay, GameSettings, GameStart, Player,
    PlayerError, Session, StopFlag, TimeControl, new_session,
};
use crownhead_rules::Game;

use crate::build::build;
use crate::log::HEADER;
use crate::player::BotPlayer;
use crate::process::BotProcess;
use crate::protocol::AskError;
use crate::protocol::line::ProtocolLine;
use crate::protocol::v1::V1Adapter;
use crate::{BotProgram, Protocol};

/// Maximum size of a log.
const MAX_LOG_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of lines in a [`ReplayResult`].
const MAX_REPLAY_LINES: usize = 100;

/// A turn found in a log.
#[derive(Clone, Debug)]
pub struct LoggedTurn {
    /// The game.
    pub game: Game,
    /// The bot as the user wrote it.
    pub bot: String,
    /// The folder that paths in it are relative to.
    pub folder: PathBuf,
    /// Number of plies played before.
    pub ply: usize,
    /// The line that announced the game.
    pub newgame: String,
    /// The line that asked for the move.
    pub turn: String,
    /// The lines that followed, up to the next turn.
    pub following_lines: Vec<LoggedLine>,
}

/// A line of a log.
#[derive(Clone, Debug)]
pub struct LoggedLine {
    /// Time since the turn, in seconds.
    pub seconds: f64,
    /// `>` to the bot, `<` from it, `!` standard error, `*` a note of the referee.
    pub direction: char,
    /// The text.
    pub text: String,
}

/// Result of asking a bot again.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// Lines from the bot.
    pub lines: Vec<String>,
    /// Its standard error.
    pub stderr: Vec<String>,
    /// Time until the answer.
    pub time: Duration,
    /// The move in the referee's notation, if it is legal.
    pub played: Option<String>,
    /// The fault, if there was one.
    pub fault: Option<String>,
}

impl LoggedTurn {
    /// Finds the turn at a ply in a log; `None` is the last turn.
    pub fn find(path: &Path, ply: Option<usize>) -> Result<LoggedTurn, String> {
        if path.is_dir() {
            return Err(format!("{}: a folder; name one of the logs in it", path.display()));
        }
        let mut bytes = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(MAX_LOG_BYTES).read_to_end(&mut bytes))
            .map_err(|error| error.to_string());
        read.and_then(|_| LoggedTurn::parse(&String::from_utf8_lossy(&bytes), ply))
            .map_err(|message| format!("{}: {message}", path.display()))
    }

    fn parse(text: &str, ply: Option<usize>) -> Result<LoggedTurn, String> {
        if text.lines().next() != Some(HEADER) {
            return Err(format!("line 1: not a bot log, which starts with {HEADER:?}"));
        }
        let plies: Vec<usize> = text.lines().filter_map(parse_entry).filter_map(turn_ply).collect();
        let (Some(first), Some(last)) = (plies.first(), plies.last()) else {
            return Err("the bot was never asked for a move".into());
        };
        let ply = ply.unwrap_or(*last);
        let header = |key: &str| {
            let lines = text.lines().take_while(|line| !line.is_empty());
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            values.next().map(str::trim).ok_or_else(|| format!("the header has no {key}"))
        };
        let mut turn = LoggedTurn {
            game: header("game")?.parse().map_err(|error| format!("{error}"))?,
            bot: header("bot")?.into(),
            folder: header("folder")?.into(),
            ply,
            newgame: String::new(),
            turn: String::new(),
            following_lines: Vec::new(),
        };
        let mut turn_seconds = None;
        for (seconds, direction, text) in text.lines().filter_map(parse_entry) {
            let keyword = keyword(direction, text);
            if keyword == "newgame" && turn_seconds.is_none() {
                turn.newgame = text.to_string();
            }
            if keyword == "turn" {
                if turn_seconds.is_some() {
                    break;
                }
                if turn_ply((seconds, direction, text)) == Some(ply) {
                    if text.ends_with('…') {
                        return Err(format!("ply {ply}: the turn line in the log is truncated"));
                    }
                    turn_seconds = Some(seconds);
                    turn.turn = text.to_string();
                }
            } else if let Some(start) = turn_seconds {
                let (seconds, text) = (seconds - start, text.to_string());
                turn.following_lines.push(LoggedLine { seconds, direction, text });
            }
        }
        match turn_seconds {
            Some(_) => Ok(turn),
            None if first == last => Err(format!("the bot was only asked at ply {first}")),
            None => Err(format!(
                "the bot was not asked at ply {ply}, only at every second ply from {first} to \
                 {last}"
            )),
        }
    }

    /// Returns a session at the position of the turn.
    pub fn session(&self) -> Result<Box<dyn Session>, String> {
        let line = ProtocolLine::new(&self.turn);
        let position = line.value("position").ok_or("the turn line has no position")?;
        new_session(&self.game, Some(position)).map_err(|error| error.to_string())
    }

    /// Returns the legal moves, separated by commas.
    pub fn moves(&self) -> &str {
        ProtocolLine::new(&self.turn).value("moves").unwrap_or_default()
    }

    /// Returns the bot that was asked.
    pub fn program(&self) -> Result<BotProgram, String> {
        let from_folder =
            || BotProgram::from_folder(&self.folder.join(&self.bot).to_string_lossy());
        let program = BotProgram::from_text(&self.bot, &self.folder).unwrap_or_else(from_folder);
        program.map_err(|error| error.to_string())
    }

    /// Starts a bot and asks it for the same move. `timeout` limits the wait for the answer.
    pub fn ask(
        &self,
        program: &BotProgram,
        startup_timeout: Duration,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<ReplayResult, String> {
        match program.protocol {
            Protocol::V1 => self.send_lines(program, startup_timeout, timeout, stop),
            _ => self.request_move(program, startup_timeout, timeout, stop),
        }
    }

    /// Sends the lines of the log to a bot that speaks the bot protocol.
    fn send_lines(
        &self,
        program: &BotProgram,
        startup_timeout: Duration,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<ReplayResult, String> {
        build(program, stop)?;
        let mut process = BotProcess::start(program)
            .map_err(|error| format!("{program} cannot be started: {error}"))?;
        let mut adapter = V1Adapter::default();
        let newgame = format!("{}\n", self.newgame);
        let ready = adapter.replay_start(&mut process, &newgame, startup_timeout, stop);
        let (start, turn) = (Instant::now(), format!("{}\n", self.turn));
        let deadline = Some(start + timeout);
        let mut lines = Vec::new();
        let on_line = |line: &[u8]| {
            if lines.len() < MAX_REPLAY_LINES {
                lines.push(String::from_utf8_lossy(line).into_owned());
            }
        };
        let answer = ready.and_then(|()| {
            adapter.wait_move(&mut process, &turn, self.ply, deadline, stop, on_line)
        });
        let time = start.elapsed();
        let (played, fault) = match answer {
            Ok(choice) => self.judge(choice.text)?,
            Err(AskError::Fault(fault)) => (None, Some(fault.to_string())),
            Err(AskError::Unavailable(message)) => (None, Some(message)),
            Err(AskError::Stopped) => (None, Some("interrupted".to_string())),
        };
        process.shutdown(false);
        let stderr = process.stderr_lines(usize::MAX);
        Ok(ReplayResult { lines, stderr, time, played, fault })
    }

    /// Asks a bot that speaks another protocol.
    fn request_move(
        &self,
        program: &BotProgram,
        startup_timeout: Duration,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<ReplayResult, String> {
        program.supports(&self.game)?;
        let session = self.session()?;
        let mut bot = BotPlayer::new(program.clone(), stop).map_err(|error| error.to_string())?;
        let time_control = TimeControl::PerMove(timeout);
        let settings =
            GameSettings { time_control, startup_timeout, ..GameSettings::default_for(&self.game) };
        let seed = ProtocolLine::new(&self.newgame).value("seed");
        let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or_default();
        let start = GameStart::new(&self.game, session.side(), &settings, seed);
        bot.start_game(&start, stop);
        let asked = Instant::now();
        let chosen = bot.choose(session.as_ref(), &time_control.clock(), stop, &mut |_| {});
        let time = asked.elapsed();
        let (lines, (played, fault)) = match chosen {
            Ok(choice) => (vec![format!("move {}", choice.text)], self.judge(choice.text)?),
            Err(PlayerError::Fault(fault)) => (Vec::new(), (None, Some(fault.to_string()))),
            Err(error) => return Err(error.to_string()),
        };
        Ok(ReplayResult { lines, stderr: bot.stderr_lines(), time, played, fault })
    }

    /// Returns the move in the referee's notation, or the fault.
    fn judge(&self, text: String) -> Result<(Option<String>, Option<String>), String> {
        let settings = GameSettings::default_for(&self.game);
        let game =
            GameInPlay::new(self.session()?, GameConfig::refereed(&settings), Duration::ZERO);
        let answer = Action::Answer { answer: Ok(text), policy: FaultPolicy::Forfeit, seed: 0 };
        Ok(match game.decide(game.session().side(), &answer, Duration::ZERO) {
            Ok(Event::Move { text, .. }) => (Some(text), None),
            Ok(Event::End(End::Forfeited(incident))) => {
                let fault = &incident.fault;
                (None, Some(format!("{}: {fault}", fault.kind.code())))
            }
            Ok(_) => (None, None),
            Err(refusal) => (None, Some(refusal.to_string())),
        })
    }
}

/// Returns the keyword of a line that the bot was sent. For other protocols the referee logs
/// newgame and turn lines as notes.
fn keyword(direction: char, text: &str) -> &str {
    if ['>', '*'].contains(&direction) { ProtocolLine::new(text).keyword } else { "" }
}

/// Returns the ply of a turn line.
fn turn_ply((_, direction, text): (f64, char, &str)) -> Option<usize> {
    let line = ProtocolLine::new(text);
    line.value("ply").filter(|_| keyword(direction, text) == "turn")?.parse().ok()
}

/// Parses the time, direction and text of a line.
fn parse_entry(line: &str) -> Option<(f64, char, &str)> {
    let (seconds, rest) = line.trim_start().split_once(' ')?;
    let mut rest = rest.chars();
    let direction = rest.next().filter(|direction| "><!*".contains(*direction))?;
    let text = rest.as_str();
    Some((seconds.parse().ok()?, direction, text.strip_prefix(' ').unwrap_or(text)))
}
