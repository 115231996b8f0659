//! What the games of a match begin with: every opening is played twice, with colours exchanged, and
//! should be neither decided nor always the same.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

use crownhead_rules::{GAMES, Game, MoveList};
use crownhead_search::{
    DynEngine, EngineConfig, GameVisitor, HasEngine, Knowledge, Score, SearchLimits, SearchRequest,
    Searchable, StopFlag, visit,
};

use crate::clock::truncate;
use crate::session::line_texts;
use crate::{Session, new_session};

/// A position to begin with: a start and moves from there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opening {
    /// The text of the position; none is the usual start.
    pub start: Option<String>,
    /// The moves from there.
    pub moves: Vec<String>,
}

impl Opening {
    /// The game at the end of the opening.
    pub fn session(&self, game: &Game) -> Result<Box<dyn Session>, String> {
        let start = self.start.as_deref();
        let mut session = new_session(game, start).map_err(|error| error.to_string())?;
        for (text, number) in self.moves.iter().zip(1..) {
            let refused = |why| format!("move {number}, {}: {why}", truncate(text));
            session.play(text).map_err(|error| refused(error.to_string()))?;
        }
        match session.outcome_text() {
            None => Ok(session),
            Some(ending) => Err(format!("the game is already over: {ending}")),
        }
    }
}

/// Where openings come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Openings {
    /// So many random plies from the start, chosen so that neither side is much better.
    Random(u32),
    /// These, in an order drawn by lot.
    Listed(Vec<Opening>),
}

/// Why openings were refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpeningsError {
    /// Their name or their text.
    #[error("{0}")]
    Text(String),
    /// What a file has in it; with its name and the place.
    #[error("{0}")]
    File(String),
    /// The file that they should be in.
    #[error("{0}")]
    Unreadable(String),
}

/// The 174 openings of three moves that English checkers is played with.
const BALLOTS: &str = include_str!("../data/three_move_ballots.tsv");
/// More random moves are no opening any more.
const MOST_PLIES: u32 = 40;

impl Openings {
    /// Reads a list: a position or the moves from the start on each line, up to a tab if there is
    /// one. Lines that begin with `#` and a blank are comments (in Chinese checkers a position may
    /// begin with `#`).
    pub fn parse(text: &str, game: &Game) -> Result<Openings, OpeningsError> {
        let mut openings = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('\t').next().unwrap_or_default().trim();
            if line.is_empty() || line == "#" || line.starts_with("# ") {
                continue;
            }
            let opening = if line.contains([':', '/']) {
                Opening { start: Some(line.to_string()), moves: Vec::new() }
            } else {
                let moves = line.split_whitespace().map(String::from).collect();
                Opening { start: None, moves }
            };
            let checked = opening.session(game);
            checked.map_err(|why| OpeningsError::Text(format!("line {number}: {why}")))?;
            openings.push(opening);
        }
        match openings.is_empty() {
            true => Err(OpeningsError::Text("there is no opening: each line is one".into())),
            false => Ok(Openings::Listed(openings)),
        }
    }

    /// The three-move ballots: all, or only those played at the board.
    pub fn ballots(game: &Game, crossboard: bool) -> Result<Openings, OpeningsError> {
        if !game.info().has_ballots {
            let games = GAMES.iter().filter(|game| game.has_ballots);
            let ids = games.map(|game| game.id).collect::<Vec<_>>().join(" and ");
            let message = format!("ballots are openings of {ids}, not of {game}");
            return Err(OpeningsError::Text(message));
        }
        let chosen = BALLOTS.lines().filter(|line| !crossboard || line.contains("\tcrossboard"));
        Openings::parse(&chosen.collect::<Vec<_>>().join("\n"), game)
    }

    /// Parses `start`, `random:PLIES`, `ballots`, `ballots:crossboard`, or the name of a file, which
    /// `read_file` reads.
    pub fn parse_spec(
        text: &str,
        game: &Game,
        read_file: impl FnOnce(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Openings, OpeningsError> {
        match text {
            "start" => Ok(Openings::Random(0)),
            "ballots" => Openings::ballots(game, false),
            "ballots:crossboard" => Openings::ballots(game, true),
            text if text.starts_with("random:") => text.parse(),
            name => {
                let bytes = read_file(name).map_err(|error| {
                    OpeningsError::Unreadable(format!(
                        "cannot read the openings {name:?} (openings are start, random:PLIES, \
                         ballots, ballots:crossboard or a file): {error}"
                    ))
                })?;
                let openings = Openings::parse(&String::from_utf8_lossy(&bytes), game);
                openings.map_err(|error| OpeningsError::File(format!("{name}, {error}")))
            }
        }
    }

    /// The openings of a match with this seed.
    pub fn picker(&self, game: &Game, knowledge: &Knowledge, seed: u64) -> OpeningPicker<'_> {
        match self {
            Openings::Random(plies) => {
                let lots = visit(game, MakeLots { plies: *plies, knowledge, seed });
                OpeningPicker(Source::Random(Mutex::new(LastPick { lots, last: None })))
            }
            Openings::Listed(openings) => {
                let mut order: Vec<_> = openings.iter().collect();
                fastrand::Rng::with_seed(derive_seed(&[seed])).shuffle(&mut order);
                OpeningPicker(Source::Listed(order))
            }
        }
    }
}

/// The openings of a match. All its games share the memory of the one search that judges them.
pub struct OpeningPicker<'a>(Source<'a>);

enum Source<'a> {
    /// One at a time.
    Random(Mutex<LastPick>),
    /// These, again and again.
    Listed(Vec<&'a Opening>),
}

struct LastPick {
    lots: Box<dyn RandomOpenings>,
    /// The last one with its number: both games of a pair ask for it.
    last: Option<(u32, Opening)>,
}

impl OpeningPicker<'_> {
    /// The opening with this number.
    pub fn opening(&self, number: u32) -> Opening {
        match &self.0 {
            Source::Listed(order) => order[number as usize % order.len()].clone(),
            Source::Random(drawn) => {
                let LastPick { lots, last } =
                    &mut *drawn.lock().unwrap_or_else(PoisonError::into_inner);
                match last {
                    Some((known, opening)) if *known == number => opening.clone(),
                    _ => last.insert((number, lots.draw(number))).1.clone(),
                }
            }
        }
    }
}

/// Whoever draws an opening by lot.
trait RandomOpenings: Send {
    fn draw(&mut self, number: u32) -> Opening;
}

/// `random:PLIES`, the only openings that need neither a file nor a game to be named.
impl FromStr for Openings {
    type Err = OpeningsError;

    fn from_str(text: &str) -> Result<Openings, OpeningsError> {
        let plies = text.strip_prefix("random:").and_then(|plies| plies.parse().ok());
        match plies.filter(|plies| *plies <= MOST_PLIES) {
            Some(plies) => Ok(Openings::Random(plies)),
            None => Err(OpeningsError::Text(format!(
                "random openings are written random:PLIES, with 0 to {MOST_PLIES} plies, not {:?}",
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

/// One number from several, each of which changes it wholly.
pub fn derive_seed(numbers: &[u64]) -> u64 {
    let mut lots = fastrand::Rng::with_seed(0);
    for &number in numbers {
        lots = fastrand::Rng::with_seed(lots.u64(..) ^ number);
    }
    lots.u64(..)
}

struct MakeLots<'a> {
    plies: u32,
    knowledge: &'a Knowledge,
    seed: u64,
}

struct BalancedOpenings<P: HasEngine> {
    start: P,
    plies: u32,
    seed: u64,
    /// Judges what was drawn. Without memory for it any opening must do.
    engine: Option<Box<dyn DynEngine<P>>>,
}

/// An opening is balanced where a search of so many nodes finds a score within [`BALANCE`].
const NODES: u64 = 3000;
const BALANCE: Score = 60;
/// So many openings are tried; then the most balanced of them must do.
const TRIES: u32 = 200;

impl GameVisitor for MakeLots<'_> {
    type Output = Box<dyn RandomOpenings>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Box<dyn RandomOpenings> {
        let MakeLots { plies, knowledge, seed } = self;
        let settings = EngineConfig { hash_mb: 1, ..EngineConfig::default() };
        let engine = P::new_engine(settings, knowledge).ok();
        Box::new(BalancedOpenings { start: P::start(options), plies, seed, engine })
    }
}

impl<P: HasEngine> RandomOpenings for BalancedOpenings<P> {
    fn draw(&mut self, number: u32) -> Opening {
        if self.plies == 0 {
            return Opening::default();
        }
        let mut lots = fastrand::Rng::with_seed(derive_seed(&[self.seed, number.into()]));
        let limits = SearchLimits { nodes: Some(NODES), ..SearchLimits::default() };
        let mut best: Option<(Score, Vec<P::Move>)> = None;
        for _ in 0..TRIES {
            let Some((moves, position, past)) = walk(self.start.clone(), self.plies, &mut lots)
            else {
                continue;
            };
            let score = self.engine.as_mut().map_or(0, |engine| {
                engine.clear();
                let task =
                    SearchRequest { history_keys: &past, ..SearchRequest::new(&position, limits) };
                engine.search(task, &StopFlag::new(), &mut |_| {}).score().abs()
            });
            if best.as_ref().is_none_or(|(least, _)| score < *least) {
                best = Some((score, moves));
            }
            if score <= BALANCE || self.plies == 0 {
                break;
            }
        }
        let moves = best.map(|(_, moves)| moves).unwrap_or_default();
        Opening { start: None, moves: line_texts(&self.start, &moves) }
    }
}

/// Random moves, if the game goes on after them: the moves, the position, the keys before it.
#[allow(clippy::type_complexity)] // three things that go together only here
fn walk<P: Searchable>(
    mut position: P,
    plies: u32,
    lots: &mut fastrand::Rng,
) -> Option<(Vec<P::Move>, P, Vec<u64>)> {
    let (mut moves, mut past) = (Vec::new(), Vec::new());
    let mut list = MoveList::new();
    for _ in 0..plies {
        if position.outcome(&past).is_some() {
            return None;
        }
        position.legal_moves(&mut list);
        let mv = *list.get(lots.usize(..list.len()))?;
        past.push(position.key());
        moves.push(mv);
        position.play(mv);
    }
    position.outcome(&past).is_none().then_some((moves, position, past))
}
