//! Openings: where the games of a match start. Each opening is played twice with sides exchanged,
//! so it should be neither decided nor always the same.

mod eleven_man;
mod random;

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

use crownhead_rules::{GAMES, Game};
use crownhead_search::Knowledge;

pub use self::eleven_man::{ElevenManBallots, ElevenManOptions, generate_eleven_man};
use self::random::{RandomOpenings, random_openings};
use crate::sentence::truncate;
use crate::{Session, derive_seed, new_session};

/// A start position and moves from there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opening {
    /// Start position; `None` is the game's own.
    pub start: Option<String>,
    /// Moves from there.
    pub moves: Vec<String>,
}

impl Opening {
    /// Starts a game and plays the opening.
    pub fn session(&self, game: &Game) -> Result<Box<dyn Session>, String> {
        let start = self.start.as_deref();
        let mut session = new_session(game, start).map_err(|error| error.to_string())?;
        for (text, number) in self.moves.iter().zip(1..) {
            let message = |error| format!("move {number}, {}: {error}", truncate(text));
            session.play(text).map_err(message)?;
        }
        match session.outcome_text() {
            None => Ok(session),
            Some(outcome) => Err(format!("the game is already over: {outcome}")),
        }
    }
}

/// A source of openings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Openings {
    /// This many random plies from the start position, balanced.
    Random(u32),
    /// A list, in random order.
    Listed(Vec<Opening>),
}

/// Why openings are invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpeningsError {
    /// The spec or a list is invalid.
    #[error("{0}")]
    Text(String),
    /// A file is invalid. The message names the file and the line.
    #[error("{0}")]
    File(String),
    /// A file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// The 174 three-move openings of English checkers.
const BALLOTS: &str = include_str!("../../data/three_move_ballots.tsv");
/// Maximum number of random plies.
const MAX_RANDOM_PLIES: u32 = 40;

impl Openings {
    /// Parses a list: on each line a position, the moves from the start, or 11-man ballots as
    /// [`generate_eleven_man`] writes them. Text after a tab is ignored. Lines that start with `# `
    /// are comments; a position of Chinese checkers may start with `#`.
    pub fn parse(text: &str, game: &Game) -> Result<Openings, OpeningsError> {
        let mut openings = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('\t').next().unwrap_or_default().trim();
            if line.is_empty() || line == "#" || line.starts_with("# ") {
                continue;
            }
            let ballots = eleven_man::parse_line(line).filter(|_| game.info().has_ballots);
            let of_line = ballots.unwrap_or_else(|| {
                vec![if line.contains([':', '/']) {
                    Opening { start: Some(line.to_string()), moves: Vec::new() }
                } else {
                    let moves = line.split_whitespace().map(String::from).collect();
                    Opening { start: None, moves }
                }]
            });
            for opening in of_line {
                let checked = opening.session(game);
                checked.map_err(|error| OpeningsError::Text(format!("line {number}: {error}")))?;
                openings.push(opening);
            }
        }
        match openings.is_empty() {
            true => Err(OpeningsError::Text("no openings: write one per line".into())),
            false => Ok(Openings::Listed(openings)),
        }
    }

    /// Returns the 11-man ballots.
    pub fn eleven_man_ballots(game: &Game) -> Result<Openings, OpeningsError> {
        check_has_ballots(game)?;
        Ok(Openings::Listed(eleven_man::eleven_man_ballots()))
    }

    /// Returns the three-move ballots: all, or only those used in crossboard play.
    pub fn ballots(game: &Game, crossboard: bool) -> Result<Openings, OpeningsError> {
        check_has_ballots(game)?;
        let lines = BALLOTS.lines().filter(|line| !crossboard || line.contains("\tcrossboard"));
        Openings::parse(&lines.collect::<Vec<_>>().join("\n"), game)
    }

    /// Parses `start`, `random:PLIES`, `ballots`, `ballots:crossboard`, `ballots:11man`, or the
    /// name of a file, which `read_file` reads.
    pub fn parse_spec(
        text: &str,
        game: &Game,
        read_file: impl FnOnce(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Openings, OpeningsError> {
        match text {
            "start" => Ok(Openings::Random(0)),
            "ballots" => Openings::ballots(game, false),
            "ballots:crossboard" => Openings::ballots(game, true),
            "ballots:11man" => Openings::eleven_man_ballots(game),
            text if text.starts_with("random:") => text.parse(),
            name => {
                let bytes = read_file(name).map_err(|error| {
                    OpeningsError::Unreadable(format!(
                        "cannot read the openings {name:?} (openings are start, random:PLIES, \
                         ballots, ballots:crossboard, ballots:11man or a file): {error}"
                    ))
                })?;
                let openings = Openings::parse(&String::from_utf8_lossy(&bytes), game);
                openings.map_err(|error| OpeningsError::File(format!("{name}, {error}")))
            }
        }
    }

    /// Creates the picker of a match with this seed.
    pub fn picker(&self, game: &Game, knowledge: &Knowledge, seed: u64) -> OpeningPicker<'_> {
        match self {
            Openings::Random(plies) => {
                let openings = random_openings(game, *plies, knowledge, seed);
                OpeningPicker(Source::Random(Mutex::new(LastPick { openings, last: None })))
            }
            Openings::Listed(openings) => {
                let mut order: Vec<_> = openings.iter().collect();
                fastrand::Rng::with_seed(derive_seed(&[seed])).shuffle(&mut order);
                OpeningPicker(Source::Listed(order))
            }
        }
    }
}

/// Fails for games that have no ballots.
fn check_has_ballots(game: &Game) -> Result<(), OpeningsError> {
    if game.info().has_ballots {
        return Ok(());
    }
    let games = GAMES.iter().filter(|game| game.has_ballots);
    let ids = games.map(|game| game.id).collect::<Vec<_>>().join(" and ");
    Err(OpeningsError::Text(format!("ballots are openings of {ids}, not of {game}")))
}

/// Picks the openings of a match. All games share its search, which balances random openings.
pub struct OpeningPicker<'a>(Source<'a>);

enum Source<'a> {
    Random(Mutex<LastPick>),
    /// Repeats from the start when all have been played.
    Listed(Vec<&'a Opening>),
}

struct LastPick {
    openings: Box<dyn RandomOpenings>,
    /// Last opening with its number: both games of a pair ask for it.
    last: Option<(u32, Opening)>,
}

impl OpeningPicker<'_> {
    /// Returns the opening with this number.
    pub fn opening(&self, number: u32) -> Opening {
        match &self.0 {
            Source::Listed(order) => order[number as usize % order.len()].clone(),
            Source::Random(pick) => {
                let LastPick { openings, last } =
                    &mut *pick.lock().unwrap_or_else(PoisonError::into_inner);
                match last {
                    Some((last_number, opening)) if *last_number == number => opening.clone(),
                    _ => last.insert((number, openings.pick(number))).1.clone(),
                }
            }
        }
    }
}

/// Parses `random:PLIES`, which needs neither a file nor a game.
impl FromStr for Openings {
    type Err = OpeningsError;

    fn from_str(text: &str) -> Result<Openings, OpeningsError> {
        let plies = text.strip_prefix("random:").and_then(|plies| plies.parse().ok());
        match plies.filter(|plies| *plies <= MAX_RANDOM_PLIES) {
            Some(plies) => Ok(Openings::Random(plies)),
            None => Err(OpeningsError::Text(format!(
                "random openings are written random:PLIES, with 0 to {MAX_RANDOM_PLIES} plies, \
                 not {:?}",
                truncate(text)
            ))),
        }
    }
}

impl fmt::Display for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Openings::Random(plies) => write!(f, "random:{plies}"),
            Openings::Listed(openings) => write!(f, "{} listed", openings.len()),
        }
    }
}
