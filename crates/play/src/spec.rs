//! Players by name: `random`, `minimax:2`, `level:4:movetime=1s`, `best:threads=2,hash=128`,
//! `cmd:./my_bot --flag` and other programs, or a folder with a `bot.toml`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crownhead_rules::Game;
use crownhead_search::{GameVisitor, HasEngine, Knowledge, StopFlag, visit};

use crate::bots::{Outside, Program, ProgramError};
use crate::clock::{read_time, shorten, write_time};
use crate::players::{Best, Graded, Random, Textbook};
use crate::{Player, PlayerError};

/// A player's name with its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerSpec {
    /// Who it is.
    pub kind: PlayerKind,
    /// What it may use.
    pub options: PlayerOptions,
}

/// Who plays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlayerKind {
    /// Any legal move.
    Random,
    /// Minimax of so many plies.
    Minimax(u32),
    /// Alpha-beta of so many plies.
    AlphaBeta(u32),
    /// Graded strength, 1 to 10.
    Level(u8),
    /// The strongest there is; level 10 too.
    Best,
    /// A program of its own.
    Outside(Box<Program>),
}

/// What a player may use; without any, its own defaults.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlayerOptions {
    /// Threads that search together.
    pub threads: Option<u16>,
    /// Megabytes of hash table.
    pub hash: Option<u32>,
    /// Time for a move at most.
    pub movetime: Option<Duration>,
    /// Positions looked at for a move at most.
    pub nodes: Option<u64>,
}

/// Why a player's name was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct SpecError {
    what: String,
    /// Whether it is not the name that is wrong but the file of the bot that it names.
    pub is_file: bool,
}

impl SpecError {
    fn new(what: String) -> SpecError {
        SpecError { what, is_file: false }
    }
}

const DEEPEST: u32 = 30;
const LEVELS: u8 = 10;
const MOST_THREADS: u16 = 256;
const MOST_HASH: u32 = 65_536;

const NAMES: &str = "the players are random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 \
                     and best; cmd:COMMAND or a folder with a bot.toml is a program of yours; \
                     there are also tcp-int32:COMMAND, c-function:FILE, cpp-function:FILE and \
                     hub:COMMAND";

impl PlayerSpec {
    /// A player without options.
    pub fn new(kind: PlayerKind) -> PlayerSpec {
        PlayerSpec { kind, options: PlayerOptions::default() }
    }

    /// Whether the player judges positions, so that knowledge makes it stronger.
    pub fn evaluates(&self) -> bool {
        !matches!(self.kind, PlayerKind::Random | PlayerKind::Outside(_))
    }

    /// The outside program, if it is one.
    pub fn program(&self) -> Option<&Program> {
        match &self.kind {
            PlayerKind::Outside(program) => Some(program),
            _ => None,
        }
    }

    /// The outside program, to set how it is run.
    pub fn program_mut(&mut self) -> Option<&mut Program> {
        match &mut self.kind {
            PlayerKind::Outside(program) => Some(program),
            _ => None,
        }
    }

    /// A short name, for file names and reports.
    pub fn short_name(&self) -> String {
        self.program().map_or_else(|| self.to_string(), Program::short_name)
    }

    /// Reads a player as a file names it: folders and commands are meant from the folder of that
    /// file.
    pub fn read_in(text: &str, base: &Path) -> Result<PlayerSpec, SpecError> {
        if let Some(program) = Program::from_text(text, base) {
            let program = program.map_err(refused)?;
            return Ok(PlayerSpec::new(PlayerKind::Outside(Box::new(program))));
        }
        let text = text.trim();
        let joined = base.join(text).display().to_string();
        let is_folder = Program::is_folder(text) || Program::is_folder_in(base, text);
        if is_folder && !is_built_in(text) { joined_folder(&joined) } else { text.parse() }
    }

    /// The options that this player has.
    fn keys(&self) -> &'static [&'static str] {
        match self.kind {
            PlayerKind::Random | PlayerKind::Outside(_) => &[],
            PlayerKind::Minimax(_) | PlayerKind::AlphaBeta(_) => &["movetime"],
            PlayerKind::Level(_) | PlayerKind::Best => &["threads", "hash", "movetime", "nodes"],
        }
    }

    /// Whether nothing but a clock would end its search.
    pub fn is_unlimited(&self) -> bool {
        matches!(self.kind, PlayerKind::Best | PlayerKind::Level(LEVELS))
            && self.options.movetime.is_none()
            && self.options.nodes.is_none()
    }

    /// Sees to it that it thinks no longer than this about a move, if it thinks at all.
    pub fn limit_time(&mut self, time: Duration) {
        if self.keys().contains(&"movetime") {
            self.options.movetime = Some(self.options.movetime.map_or(time, |own| own.min(time)));
        }
    }

    /// Whether its search can be limited by nodes.
    pub fn counts_nodes(&self) -> bool {
        self.keys().contains(&"nodes")
    }

    /// Whether it can play a game; if not, why.
    pub fn suits(&self, game: &Game) -> Result<(), String> {
        self.program().map_or(Ok(()), |program| program.suits(game))
    }

    /// Builds the outside program, if it is one and must be built. [`player`](PlayerSpec::player)
    /// would do it too, but not hear `stop`.
    pub fn build(&self, stop: &StopFlag) -> Result<(), PlayerError> {
        self.program()
            .map_or(Ok(()), |program| crate::bots::build(program, stop).map_err(PlayerError::Start))
    }

    /// The player itself, for one game. All memory it needs is taken now.
    pub fn player(
        &self,
        game: &Game,
        knowledge: &Knowledge,
    ) -> Result<Box<dyn Player>, PlayerError> {
        self.suits(game).map_err(PlayerError::Start)?;
        struct Make<'a>(&'a PlayerSpec, &'a Knowledge);
        impl GameVisitor for Make<'_> {
            type Output = Result<Box<dyn Player>, PlayerError>;
            fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
                let Make(spec, knowledge) = self;
                Ok(match spec.kind {
                    PlayerKind::Outside(ref program) => {
                        Box::new(Outside::new(Program::clone(program), &StopFlag::new())?)
                    }
                    PlayerKind::Random => Box::new(Random::new()),
                    PlayerKind::Minimax(depth) => {
                        Box::new(Textbook::<P>::minimax(depth, spec.options, knowledge))
                    }
                    PlayerKind::AlphaBeta(depth) => {
                        Box::new(Textbook::<P>::alpha_beta(depth, spec.options, knowledge))
                    }
                    PlayerKind::Level(LEVELS) | PlayerKind::Best => {
                        Box::new(Best::<P>::new(spec.options, knowledge)?)
                    }
                    PlayerKind::Level(level) => {
                        Box::new(Graded::<P>::new(level, options, spec.options, knowledge)?)
                    }
                })
            }
        }
        visit(game, Make(self, knowledge))
    }
}

fn joined_folder(text: &str) -> Result<PlayerSpec, SpecError> {
    let program = Program::from_folder(text).map_err(refused)?;
    Ok(PlayerSpec::new(PlayerKind::Outside(Box::new(program))))
}

/// Whether a text begins with the name of a built-in player.
fn is_built_in(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["random", "minimax", "alphabeta", "level", "best"].contains(&name.as_str())
}

fn refused(error: ProgramError) -> SpecError {
    SpecError { what: error.to_string(), is_file: matches!(error, ProgramError::File(_)) }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let outside = |program| Ok(PlayerSpec::new(PlayerKind::Outside(Box::new(program))));
        if let Some(program) = Program::from_text(text, Path::new(".")) {
            return outside(program.map_err(refused)?);
        }
        if Program::is_folder(text.trim()) && !is_built_in(text) {
            return outside(Program::from_folder(text).map_err(refused)?);
        }
        let mut parts = text.trim().split(':');
        let typed = parts.next().unwrap_or_default().trim();
        let name = typed.to_ascii_lowercase();
        let mut number = |what: &str, most: u32| {
            let text = parts.next().unwrap_or_default().trim();
            match text.parse::<u32>() {
                Ok(number) if (1..=most).contains(&number) && !text.starts_with('+') => Ok(number),
                _ => Err(SpecError::new(format!(
                    "{name} takes a {what} from 1 to {most}, as in {name}:4, not {:?}",
                    shorten(text)
                ))),
            }
        };
        let kind = match name.as_str() {
            "random" => PlayerKind::Random,
            "best" => PlayerKind::Best,
            "minimax" => PlayerKind::Minimax(number("depth", DEEPEST)?),
            "alphabeta" => PlayerKind::AlphaBeta(number("depth", DEEPEST)?),
            "level" => PlayerKind::Level(number("level", LEVELS.into())? as u8),
            _ => {
                return Err(SpecError::new(format!(
                    "there is no player {:?}: {NAMES}",
                    shorten(typed)
                )));
            }
        };
        let mut spec = PlayerSpec::new(kind);
        if let Some(options) = parts.next() {
            for option in options.split(',') {
                spec.read_option(option)?;
            }
        }
        match parts.next() {
            None => Ok(spec),
            Some(more) => Err(SpecError::new(format!(
                "after the options of {} there is nothing more, not {:?}",
                spec.bare(),
                shorten(more)
            ))),
        }
    }
}

impl PlayerSpec {
    fn read_option(&mut self, text: &str) -> Result<(), SpecError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(SpecError::new(format!(
                "options of a player are written key=value, not {:?}",
                shorten(text)
            )));
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        if !self.keys().contains(&key.as_str()) {
            let keys = match self.keys() {
                [] => "none".to_string(),
                keys => keys.join(", "),
            };
            return Err(SpecError::new(format!(
                "{} has no option {:?}: it has {keys}",
                self.bare(),
                shorten(&key)
            )));
        }
        let options = &mut self.options;
        let twice = match key.as_str() {
            "threads" => {
                options.threads.replace(whole(&key, value, MOST_THREADS.into())? as u16).is_some()
            }
            "hash" => options.hash.replace(whole(&key, value, MOST_HASH.into())? as u32).is_some(),
            "nodes" => options.nodes.replace(whole(&key, value, u64::MAX)?).is_some(),
            _ => {
                let time = read_time(value).map_err(|error| SpecError::new(error.to_string()))?;
                options.movetime.replace(time).is_some()
            }
        };
        match twice {
            true => Err(SpecError::new(format!("the option {key} is given twice"))),
            false => Ok(()),
        }
    }

    /// The name without options.
    fn bare(&self) -> String {
        PlayerSpec::new(self.kind.clone()).to_string()
    }
}

fn whole(key: &str, value: &str, most: u64) -> Result<u64, SpecError> {
    match value.parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) && !value.starts_with('+') => Ok(number),
        _ => Err(SpecError::new(format!(
            "the option {key} takes a whole number from 1 to {most}, not {:?}",
            shorten(value)
        ))),
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PlayerKind::Outside(program) => program.fmt(f)?,
            PlayerKind::Random => f.write_str("random")?,
            PlayerKind::Minimax(depth) => write!(f, "minimax:{depth}")?,
            PlayerKind::AlphaBeta(depth) => write!(f, "alphabeta:{depth}")?,
            PlayerKind::Level(level) => write!(f, "level:{level}")?,
            PlayerKind::Best => f.write_str("best")?,
        }
        let PlayerOptions { threads, hash, movetime, nodes } = self.options;
        let options = [
            threads.map(|threads| format!("threads={threads}")),
            hash.map(|hash| format!("hash={hash}")),
            movetime.map(|time| format!("movetime={}", write_time(time))),
            nodes.map(|nodes| format!("nodes={nodes}")),
        ];
        for (number, option) in options.into_iter().flatten().enumerate() {
            write!(f, "{}{option}", if number == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}
