//! A moment of a game, found again in a bot's log, and the bot asked once more.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;
use crownhead_rules::Game;

use crate::log::HEAD;
use crate::player::BotPlayer;
use crate::process::{self, BotProcess};
use crate::protocol::Unsaid;
use crate::protocol::line::Line;
use crate::protocol::v1::Lines;
use crate::{BotProgram, Protocol};
use crownhead_play::{
    Action, End, Event, FaultPolicy, GameConfig, GameInPlay, GameSettings, GameStart, Player,
    PlayerError, Session, TimeControl, new_session,
};

/// One turn of a game, as its log has it.
#[derive(Clone, Debug)]
pub struct Moment {
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
    pub then: Vec<(f64, char, String)>,
}

/// What the bot said when it was asked again.
#[derive(Clone, Debug)]
pub struct Again {
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

impl Moment {
    /// Finds the turn at a ply in a log.
    pub fn read(path: &Path, ply: usize) -> Result<Moment, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let mut bytes = Vec::new();
        let read = io::Read::read_to_end(&mut io::Read::take(file, LONGEST), &mut bytes);
        read.map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        if text.lines().next() != Some(HEAD) {
            return Err(wrong(format!(
                "line 1: this is no log of a bot: those begin with {HEAD:?}"
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
        let mut found: Option<(f64, Moment)> = None;
        let mut plies = Vec::new();
        for (time, sign, said) in text.lines().filter_map(entry) {
            let line = Line::new(said);
            // Programs that do not speak the bot protocol were sent something else, and the referee
            // remarked what it came to.
            let is_asking = ['>', '*'].contains(&sign);
            if is_asking && line.word == "newgame" {
                newgame = said.to_string();
            }
            if is_asking && line.word == "turn" {
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
                    let moment = Moment {
                        game: Game::clone(&game),
                        bot: bot.clone(),
                        folder: folder.clone(),
                        ply,
                        newgame: newgame.clone(),
                        turn: said.to_string(),
                        then: Vec::new(),
                    };
                    found = Some((time, moment));
                }
            } else if let Some((start, moment)) = &mut found {
                moment.then.push((time - *start, sign, said.to_string()));
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
        let line = Line::new(&self.turn);
        let position = line.value("position").ok_or("the turn has no position")?;
        new_session(&self.game, Some(position)).map_err(|error| error.to_string())
    }

    /// The legal moves at that moment.
    pub fn moves(&self) -> &str {
        Line::new(&self.turn).value("moves").unwrap_or_default()
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
        stop: &StopFlag,
    ) -> Result<Again, String> {
        match program.protocol {
            Protocol::Lines => self.send_again(program, startup, patience, stop),
            _ => self.ask_again(program, startup, patience, stop),
        }
    }

    /// Asks a program by its own protocol.
    fn ask_again(
        &self,
        program: &BotProgram,
        startup: Duration,
        patience: Duration,
        stop: &StopFlag,
    ) -> Result<Again, String> {
        program.suits(&self.game)?;
        let session = self.session()?;
        let mut bot = BotPlayer::new(program.clone(), stop).map_err(|error| error.to_string())?;
        let time = TimeControl::PerMove(patience);
        let terms = GameSettings {
            time_control: time,
            startup_timeout: startup,
            ..GameSettings::default_for(&self.game)
        };
        let seed = Line::new(&self.newgame).value("seed").and_then(|seed| seed.parse().ok());
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
        Ok(Again { lines, errors: bot.last_words(), time, played, fault })
    }

    /// Sends the same lines.
    fn send_again(
        &self,
        program: &BotProgram,
        startup: Duration,
        patience: Duration,
        stop: &StopFlag,
    ) -> Result<Again, String> {
        process::build(program, stop)?;
        let started = BotProcess::start(program, &program.command);
        let mut bot = started.map_err(|error| format!("{program} cannot be started: {error}"))?;
        let mut dialogue = Lines::default();
        let ready = dialogue.resume(&mut bot, &format!("{}\n", self.newgame), startup, stop);
        let (start, turn) = (Instant::now(), format!("{}\n", self.turn));
        let mut lines = Vec::new();
        let told = |line: &[u8]| {
            if lines.len() < 100 {
                lines.push(String::from_utf8_lossy(line).into_owned());
            }
        };
        let deadline = Some(start + patience);
        let answer =
            ready.and_then(|()| dialogue.answer(&mut bot, &turn, self.ply, deadline, stop, told));
        let time = start.elapsed();
        let (played, fault) = match answer {
            Ok(text) => self.judge(text)?,
            Err(Unsaid::Fault(fault)) => (None, Some(fault.to_string())),
            Err(Unsaid::Unable(why)) => (None, Some(why)),
            Err(Unsaid::Stopped) => (None, Some("interrupted".to_string())),
        };
        let errors = bot.last_words().map(|words| String::from_utf8_lossy(words).into_owned());
        bot.end(false);
        Ok(Again { lines, errors, time, played, fault })
    }

    /// What the rules say of an answer: the move as the referee writes it, or the fault.
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

/// Time, sign and text of a line of a log.
fn entry(line: &str) -> Option<(f64, char, &str)> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    let mut rest = rest.chars();
    let sign = rest.next().filter(|sign| "><!*".contains(*sign))?;
    let text = rest.as_str();
    Some((time.parse().ok()?, sign, text.strip_prefix(' ').unwrap_or(text)))
}
