//! Built-in players as text: `random`, `minimax:2`, `level:4:movetime=1s`,
//! `best:threads=2,hash=128`, `best:rfp-margin=80`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crownhead_rules::{Game, nearest};
use crownhead_search::params::find_param;
use crownhead_search::{GameVisitor, HasEngine, Knowledge, ParamChanges, visit};

use super::{Best, LevelPlayer, Random, Textbook};
use crate::book::Book;
use crate::sentence::truncate;
use crate::{Player, PlayerError};
use crate::{format_duration, parse_duration};

/// A built-in player and its options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinSpec {
    /// Which player.
    pub kind: PlayerKind,
    /// Its resources.
    pub options: PlayerOptions,
}

/// A kind of built-in player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayerKind {
    /// Plays any legal move.
    Random,
    /// Plain minimax to a fixed depth in plies.
    Minimax(u32),
    /// Plain alpha-beta to a fixed depth in plies.
    AlphaBeta(u32),
    /// Limited strength, 1 to 10.
    Level(u8),
    /// Full strength; the same as level 10.
    Best,
}

/// Resources of a player; `None` means the player's default.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlayerOptions {
    /// Search threads.
    pub threads: Option<u16>,
    /// Transposition table size in megabytes.
    pub hash: Option<u32>,
    /// Maximum time per move.
    pub movetime: Option<Duration>,
    /// Maximum CPU time per move; for one thread.
    pub cputime: Option<Duration>,
    /// Maximum nodes per move.
    pub nodes: Option<u64>,
    /// Whether it uses tables.
    pub tables: Option<bool>,
    /// Whether it uses the opening book of the game.
    pub book: Option<bool>,
    /// Search parameters; for `best` only.
    pub params: ParamChanges,
}

/// An invalid player text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// The text does not start with the name of a built-in player.
    #[error("unknown player {0:?}{hint}; built-in players: {BUILTIN_NAMES}", hint = hint(.0))]
    UnknownPlayer(String),
    /// The player exists, but its level, depth or options are invalid.
    #[error("{0}")]
    Invalid(String),
}

const MAX_DEPTH: u32 = 30;
const MAX_LEVEL: u8 = 10;
const MAX_THREADS: u16 = 256;
const MAX_HASH_MB: u32 = 65_536;

/// The built-in players, for messages.
pub const BUILTIN_NAMES: &str = "random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10, best";

const KIND_NAMES: [&str; 5] = ["random", "minimax", "alphabeta", "level", "best"];

/// Suggests the nearest player for an unknown one: `level:3` for `levl:3` or `level3`.
fn hint(typed: &str) -> String {
    let is_name = |c: char| c.is_alphabetic() || c == '-';
    let end = typed.find(|c| !is_name(c)).unwrap_or(typed.len());
    let (name, rest) = typed.split_at(end);
    let argument = rest.trim_start_matches([':', ' ', '=']);
    let Some(name) = nearest(name, KIND_NAMES) else { return String::new() };
    // `best` takes options only, and `random` takes nothing.
    let takes_argument = match name {
        "random" => false,
        "best" => argument.contains('='),
        _ => !argument.is_empty(),
    };
    if takes_argument {
        format!(" (did you mean {name}:{argument}?)")
    } else {
        format!(" (did you mean {name}?)")
    }
}

impl BuiltinSpec {
    /// A player with default options.
    pub const fn new(kind: PlayerKind) -> BuiltinSpec {
        let (threads, hash, nodes, tables) = (None, None, None, None);
        let (movetime, cputime, book) = (None, None, None);
        let params = ParamChanges::NONE;
        let options =
            PlayerOptions { threads, hash, movetime, cputime, nodes, tables, book, params };
        BuiltinSpec { kind, options }
    }

    /// Returns whether `text` starts with the name of a built-in player.
    pub fn is_builtin_name(text: &str) -> bool {
        let name = text.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        KIND_NAMES.contains(&name.as_str())
    }

    /// Returns whether the player evaluates positions, so that tables make it stronger.
    pub fn uses_evaluation(&self) -> bool {
        self.kind != PlayerKind::Random && self.options.tables != Some(false)
    }

    /// Names of the options this player takes.
    fn option_names(&self) -> &'static [&'static str] {
        match self.kind {
            PlayerKind::Random => &[],
            PlayerKind::Minimax(_) | PlayerKind::AlphaBeta(_) => &["movetime"],
            PlayerKind::Level(MAX_LEVEL) | PlayerKind::Best => {
                &["threads", "hash", "movetime", "cputime", "nodes", "tables", "book"]
            }
            PlayerKind::Level(_) => &["threads", "hash", "movetime", "cputime", "nodes", "tables"],
        }
    }

    /// Returns whether nothing but a clock would stop its search.
    pub fn has_no_limit(&self) -> bool {
        matches!(self.kind, PlayerKind::Best | PlayerKind::Level(MAX_LEVEL))
            && self.options.movetime.is_none()
            && self.options.cputime.is_none()
            && self.options.nodes.is_none()
    }

    /// Lowers the time per move to `time`, if the player uses time at all.
    pub fn cap_move_time(&mut self, time: Duration) {
        if self.option_names().contains(&"movetime") {
            self.options.movetime =
                Some(self.options.movetime.map_or(time, |current| current.min(time)));
        }
    }

    /// Returns whether its search can be limited by nodes.
    pub fn supports_node_limit(&self) -> bool {
        self.option_names().contains(&"nodes")
    }

    /// Creates the player for one game and allocates all memory it needs.
    pub fn player(
        &self,
        game: &Game,
        knowledge: &Knowledge,
    ) -> Result<Box<dyn Player>, PlayerError> {
        struct Create<'a>(&'a BuiltinSpec, &'a Game, &'a Knowledge);
        impl GameVisitor for Create<'_> {
            type Output = Result<Box<dyn Player>, PlayerError>;
            fn visit<P: HasEngine>(self, rules: &P::Options) -> Self::Output {
                let Create(spec, game, knowledge) = self;
                let options = spec.options;
                Ok(match spec.kind {
                    PlayerKind::Random => Box::new(Random::new()),
                    PlayerKind::Minimax(depth) => {
                        Box::new(Textbook::<P>::minimax(depth, options, knowledge))
                    }
                    PlayerKind::AlphaBeta(depth) => {
                        Box::new(Textbook::<P>::alpha_beta(depth, options, knowledge))
                    }
                    PlayerKind::Level(MAX_LEVEL) | PlayerKind::Best => {
                        let book = Book::shipped(game).filter(|_| options.book != Some(false));
                        Box::new(Best::<P>::new(options, knowledge, book)?)
                    }
                    PlayerKind::Level(level) => {
                        Box::new(LevelPlayer::<P>::new(level, rules, options, knowledge)?)
                    }
                })
            }
        }
        match self.options.tables {
            Some(false) => visit(game, Create(self, game, &Knowledge::default())),
            _ => visit(game, Create(self, game, knowledge)),
        }
    }

    fn parse_option(&mut self, text: &str) -> Result<(), SpecError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(invalid(format!(
                "player options are written key=value, not {:?}",
                truncate(text)
            )));
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        if self.kind == PlayerKind::Best
            && let Ok(param) = find_param(&key)
        {
            return self.parse_param(param, &key, value);
        }
        if !self.option_names().contains(&key.as_str()) {
            let mut names = match self.option_names() {
                [] => "none".to_string(),
                names => names.join(", "),
            };
            if self.kind == PlayerKind::Best {
                names.push_str(", and search parameters such as rfp-margin");
            }
            let player = BuiltinSpec::new(self.kind);
            return Err(invalid(format!(
                "unknown option {:?} for {player}; available options: {names}",
                truncate(&key)
            )));
        }
        let options = &mut self.options;
        let is_repeated = match key.as_str() {
            "threads" => {
                let threads = parse_count(&key, value, MAX_THREADS.into())? as u16;
                options.threads.replace(threads).is_some()
            }
            "hash" => {
                let megabytes = parse_count(&key, value, MAX_HASH_MB.into())? as u32;
                options.hash.replace(megabytes).is_some()
            }
            "tables" => options.tables.replace(parse_switch(&key, value)?).is_some(),
            "book" => options.book.replace(parse_switch(&key, value)?).is_some(),
            "nodes" => options.nodes.replace(parse_count(&key, value, u64::MAX)?).is_some(),
            "cputime" => options.cputime.replace(parse_time(value)?).is_some(),
            _ => options.movetime.replace(parse_time(value)?).is_some(),
        };
        check_repeated(is_repeated, &key)
    }

    fn parse_param(&mut self, param: usize, key: &str, value: &str) -> Result<(), SpecError> {
        let not_a_number =
            || invalid(format!("option {key} takes a whole number, not {:?}", truncate(value)));
        let value = value.parse().map_err(|_| not_a_number())?;
        let old = self.options.params.set(param, value);
        let old = old.map_err(|error| invalid(format!("option {error}")))?;
        check_repeated(old.is_some(), key)
    }
}

fn check_repeated(is_repeated: bool, key: &str) -> Result<(), SpecError> {
    match is_repeated {
        true => Err(invalid(format!("option {key} is given twice"))),
        false => Ok(()),
    }
}

fn invalid(message: String) -> SpecError {
    SpecError::Invalid(message)
}

fn parse_count(key: &str, value: &str, max: u64) -> Result<u64, SpecError> {
    match value.parse::<u64>() {
        Ok(number) if (1..=max).contains(&number) && !value.starts_with('+') => Ok(number),
        _ => Err(invalid(format!(
            "option {key} takes a whole number from 1 to {max}, not {:?}",
            truncate(value)
        ))),
    }
}

fn parse_time(value: &str) -> Result<Duration, SpecError> {
    parse_duration(value).map_err(|error| invalid(error.to_string()))
}

fn parse_switch(key: &str, value: &str) -> Result<bool, SpecError> {
    match value.to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(invalid(format!("option {key} takes on or off, not {:?}", truncate(value)))),
    }
}

impl FromStr for BuiltinSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<BuiltinSpec, SpecError> {
        let mut parts = text.trim().split(':');
        let typed = parts.next().unwrap_or_default().trim();
        let name = typed.to_ascii_lowercase();
        let mut number = |quantity: &str, max: u32| {
            let text = parts.next().unwrap_or_default().trim();
            match text.parse::<u32>() {
                Ok(number) if (1..=max).contains(&number) && !text.starts_with('+') => Ok(number),
                _ => Err(invalid(format!(
                    "{name} takes a {quantity} from 1 to {max}, for example {name}:4, not {:?}",
                    truncate(text)
                ))),
            }
        };
        let kind = match name.as_str() {
            "random" => PlayerKind::Random,
            "best" => PlayerKind::Best,
            "minimax" => PlayerKind::Minimax(number("depth", MAX_DEPTH)?),
            "alphabeta" => PlayerKind::AlphaBeta(number("depth", MAX_DEPTH)?),
            "level" => PlayerKind::Level(number("level", MAX_LEVEL.into())? as u8),
            _ => return Err(SpecError::UnknownPlayer(truncate(text.trim()))),
        };
        let mut spec = BuiltinSpec::new(kind);
        if let Some(options) = parts.next() {
            for option in options.split(',') {
                spec.parse_option(option)?;
            }
            if spec.options.cputime.is_some() && spec.options.threads.is_some_and(|n| n > 1) {
                return Err(invalid("option cputime is for players with one thread".to_string()));
            }
        }
        match parts.next() {
            None => Ok(spec),
            Some(extra) => Err(invalid(format!(
                "unexpected {:?} after the options of {}",
                truncate(extra),
                BuiltinSpec::new(kind)
            ))),
        }
    }
}

impl fmt::Display for BuiltinSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PlayerKind::Random => f.write_str("random")?,
            PlayerKind::Minimax(depth) => write!(f, "minimax:{depth}")?,
            PlayerKind::AlphaBeta(depth) => write!(f, "alphabeta:{depth}")?,
            PlayerKind::Level(level) => write!(f, "level:{level}")?,
            PlayerKind::Best => f.write_str("best")?,
        }
        let PlayerOptions { threads, hash, movetime, cputime, nodes, tables, book, params } =
            self.options;
        let switch = |key: &str, is_on: bool| format!("{key}={}", if is_on { "on" } else { "off" });
        let options = [
            threads.map(|threads| format!("threads={threads}")),
            hash.map(|hash| format!("hash={hash}")),
            movetime.map(|time| format!("movetime={}", format_duration(time))),
            cputime.map(|time| format!("cputime={}", format_duration(time))),
            nodes.map(|nodes| format!("nodes={nodes}")),
            tables.map(|is_on| switch("tables", is_on)),
            book.map(|is_on| switch("book", is_on)),
            (params != ParamChanges::NONE).then(|| params.to_string()),
        ];
        for (index, option) in options.into_iter().flatten().enumerate() {
            write!(f, "{}{option}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}
