//! A moment of a game, found again in a bot's log, and the bot asked once more.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crownhead_play::Stop;
use crownhead_rules::Game;

use crate::log::HEADER;
use crate::player::BotPlayer;
use crate::process::{self, BotProcess};
use crate::protocol::AskError;
use crate::protocol::line::ProtocolLine;
use crate::protocol::v1::V1Adapter;
use crate::{BotProgram, Protocol};
use crownhead_play::referee;
use crownhead_play::{
    Choice, Clock, GameSettings, GameStart, Player, PlayerError, Session, TimeControl, new_session,
};

/// One turn of a game, as its log has it.
#[derive(Clone, Debug)]
pub struct LoggedTurn {
    /// The game.
    pub game: Game,
    /// The bot as it was named.
    pub bot: String,
    /// Where it was named.
    pub folder: PathBuf,
    /// Plies played before.
    pub ply: usize,
    /// The line that told of the game.
    pub newgame: String,
    /// The line that asked for the move.
    pub turn: String,
    /// What followed until the next turn: seconds since the question, sign and text.
    pub following_lines: Vec<(f64, char, String)>,
}

/// What the bot said when it was asked again.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// Its lines.
    pub lines: Vec<String>,
    /// The end of its standard error.
    pub errors: Option<String>,
    /// How long it took.
    pub time: Duration,
    /// The move, if it is legal, as the referee writes it.
    pub played: Option<String>,
    /// What was wrong with the answer, or came instead of one.
    pub fault: Option<String>,
}

/// A longer log is no log.
const LONGEST: u64 = 256 * 1024 * 1024;

impl LoggedTurn {
    /// Finds the turn at a ply in a log.
    pub fn read(path: &Path, ply: usize) -> Result<LoggedTurn, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let mut bytes = Vec::new();
        let read = io::Read::read_to_end(&mut io::Read::take(file, LONGEST), &mut bytes);
        read.map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        if text.lines().next() != Some(HEADER) {
            return Err(wrong(format!(
                "line 1: this is no log of a bot: those begin with {HEADER:?}"
            )));
        }
        let head = |key: &str| {
            let lines = text.lines().take_while(|line| !line.is_empty());
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            values.next().map(str::trim).ok_or_else(|| wrong(format!("the head has no {key}")))
        };
        let game = head("game")?.parse().map_err(|error| wrong(format!("{error}")))?;
        let bot = head("bot")?.to_string();
        let folder = PathBuf::from(head("folder")?);
        let mut newgame = String::new();
        let mut found: Option<(f64, LoggedTurn)> = None;
        let mut plies = Vec::new();
        for (time, sign, said) in text.lines().filter_map(entry) {
            let line = ProtocolLine::new(said);
            // Programs that do not speak the bot protocol were sent something else, and the referee
            // remarked what it came to.
            let is_asking = ['>', '*'].contains(&sign);
            if is_asking && line.keyword == "newgame" {
                newgame = said.to_string();
            }
            if is_asking && line.keyword == "turn" {
                let number = line.value("ply").and_then(|ply| ply.parse::<usize>().ok());
                plies.extend(number);
                if found.is_some() {
                    break;
                }
                if number == Some(ply) && said.ends_with('…') {
                    let why = "the turn line is cut short there, so that it cannot be sent again";
                    return Err(wrong(format!("ply {ply}: {why}")));
                }
                if number == Some(ply) {
                    let moment = LoggedTurn {
                        game: Game::clone(&game),
                        bot: bot.clone(),
                        folder: folder.clone(),
                        ply,
                        newgame: newgame.clone(),
                        turn: said.to_string(),
                        following_lines: Vec::new(),
                    };
                    found = Some((time, moment));
                }
            } else if let Some((start, moment)) = &mut found {
                moment.following_lines.push((time - *start, sign, said.to_string()));
            }
        }
        let none = || {
            let range = match (plies.first(), plies.last()) {
                (Some(first), Some(last)) => {
                    format!("it was asked at plies {first} to {last}, each second one")
                }
                _ => "it was never asked for a move".to_string(),
            };
            wrong(format!("the bot was not asked at ply {ply}: {range}"))
        };
        found.map(|(_, moment)| moment).ok_or_else(none)
    }

    /// The game at that moment.
    pub fn session(&self) -> Result<Box<dyn Session>, String> {
        let line = ProtocolLine::new(&self.turn);
        let position = line.value("position").ok_or("the turn has no position")?;
        new_session(&self.game, Some(position)).map_err(|error| error.to_string())
    }

    /// The legal moves at that moment.
    pub fn moves(&self) -> &str {
        ProtocolLine::new(&self.turn).value("moves").unwrap_or_default()
    }

    /// The program that was asked.
    pub fn program(&self) -> Result<BotProgram, String> {
        let folder = || BotProgram::from_folder(&self.folder.join(&self.bot).to_string_lossy());
        let program = BotProgram::from_text(&self.bot, &self.folder).unwrap_or_else(folder);
        program.map_err(|error| error.to_string())
    }

    /// Starts the bot and asks it the same.
    pub fn ask(
        &self,
        program: &BotProgram,
        startup: Duration,
        patience: Duration,
        stop: &Stop,
    ) -> Result<ReplayResult, String> {
        match program.protocol {
            Protocol::V1 => self.send_again(program, startup, patience, stop),
            _ => self.ask_again(program, startup, patience, stop),
        }
    }

    /// Asks a program by its own protocol.
    fn ask_again(
        &self,
        program: &BotProgram,
        startup: Duration,
        patience: Duration,
        stop: &Stop,
    ) -> Result<ReplayResult, String> {
        program.supports(&self.game)?;
        let session = self.session()?;
        let mut bot = BotPlayer::new(program.clone(), stop).map_err(|error| error.to_string())?;
        let time = TimeControl::PerMove(patience);
        let terms = GameSettings {
            time_control: time,
            startup_timeout: startup,
            ..GameSettings::default_for(&self.game)
        };
        let seed =
            ProtocolLine::new(&self.newgame).value("seed").and_then(|seed| seed.parse().ok());
        let seating = GameStart {
            game: &self.game,
            side: session.side(),
            settings: &terms,
            seed: seed.unwrap_or_default(),
            opponent: "unknown",
            log: None,
        };
        bot.new_game(seating.seed);
        bot.sit_down(&seating, stop);
        let start = Instant::now();
        let chosen = bot.choose(session.as_ref(), &time.clock(), stop, &mut |_| {});
        let time = start.elapsed();
        let (lines, (played, fault)) = match chosen {
            Ok(choice) => (vec![format!("move {}", choice.text)], self.judge(choice.text)?),
            Err(PlayerError::Fault(fault)) => (Vec::new(), (None, Some(fault.to_string()))),
            Err(error) => return Err(error.to_string()),
        };
        Ok(ReplayResult { lines, errors: bot.stderr_tail(), time, played, fault })
    }

    /// Sends the same lines.
    fn send_again(
        &self,
        program: &BotProgram,
        startup: Duration,
        patience: Duration,
        stop: &Stop,
    ) -> Result<ReplayResult, String> {
        process::build(program, stop)?;
        let started = BotProcess::start(program, &program.command);
        let mut bot = started.map_err(|error| format!("{program} cannot be started: {error}"))?;
        let mut dialogue = V1Adapter::default();
        let ready = dialogue.resume(&mut bot, &format!("{}\n", self.newgame), startup, stop);
        let (start, turn) = (Instant::now(), format!("{}\n", self.turn));
        let mut lines = Vec::new();
        let told = |line: &[u8]| {
            if lines.len() < 100 {
                lines.push(String::from_utf8_lossy(line).into_owned());
            }
        };
        let deadline = Some(start + patience);
        let answer = ready
            .and_then(|()| dialogue.wait_move(&mut bot, &turn, self.ply, deadline, stop, told));
        let time = start.elapsed();
        let (played, fault) = match answer {
            Ok(text) => self.judge(text)?,
            Err(AskError::Fault(fault)) => (None, Some(fault.to_string())),
            Err(AskError::Unavailable(why)) => (None, Some(why)),
            Err(AskError::Stopped) => (None, Some("interrupted".to_string())),
        };
        let errors = bot.last_words().map(|words| String::from_utf8_lossy(words).into_owned());
        bot.shutdown(false);
        Ok(ReplayResult { lines, errors, time, played, fault })
    }

    /// What the rules say of an answer: the move as the referee writes it, or the fault.
    fn judge(&self, text: String) -> Result<(Option<String>, Option<String>), String> {
        let mut session = self.session()?;
        let (choice, none) = (Choice::from_text(text), Duration::ZERO);
        Ok(match referee::judge(session.as_mut(), choice, Clock::Unlimited, none, none) {
            Ok((played, _)) => (Some(played), None),
            Err(fault) => (None, Some(format!("{}: {fault}", fault.kind.code()))),
        })
    }
}

/// Time, sign and text of a line of a log.
fn entry(line: &str) -> Option<(f64, char, &str)> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    let mut rest = rest.chars();
    let sign = rest.next().filter(|sign| "><!*".contains(*sign))?;
    let text = rest.as_str();
    Some((time.parse().ok()?, sign, text.strip_prefix(' ').unwrap_or(text)))
}
