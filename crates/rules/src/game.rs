//! The list of games, and the one place where a game's name becomes its type.

use std::fmt;
use std::str::FromStr;

use crate::parse::truncate;
use crate::{
    BulkPerft, CaptureHalma, ChineseCheckers, Contest, English, Notation, OptionInfo, OptionsError,
    Position, SideInfo,
};

/// A game with its options, as in `contest:kings=true`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Game {
    /// English checkers.
    English(<English as Position>::Options),
    /// Contest checkers.
    Contest(<Contest as Position>::Options),
    /// Chinese checkers on 8x8.
    ChineseCheckers,
    /// Capture Halma.
    CaptureHalma,
}

/// Code that is generic over the game, for a game chosen at run time.
pub trait GameVisitor {
    /// Result of the visit.
    type Output;
    /// Called with the type of the game.
    fn visit<P: Notation>(self, options: &P::Options) -> Self::Output;
}

/// A [`GameVisitor`] that counts positions.
pub trait PerftVisitor {
    /// Result of the visit.
    type Output;
    /// Called with the type of the game.
    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Self::Output;
}

impl Game {
    /// All games, with their default options.
    pub fn all() -> [Game; 4] {
        [
            Game::English(Default::default()),
            Game::Contest(Default::default()),
            Game::ChineseCheckers,
            Game::CaptureHalma,
        ]
    }

    /// Calls the visitor with the game's type.
    pub fn visit<V: GameVisitor>(&self, visitor: V) -> V::Output {
        match self {
            Game::English(options) => visitor.visit::<English>(options),
            Game::Contest(options) => visitor.visit::<Contest>(options),
            Game::ChineseCheckers => visitor.visit::<ChineseCheckers>(&()),
            Game::CaptureHalma => visitor.visit::<CaptureHalma>(&()),
        }
    }

    /// Calls the visitor with the game's type.
    pub fn visit_perft<V: PerftVisitor>(&self, visitor: V) -> V::Output {
        match self {
            Game::English(options) => visitor.visit::<English>(options),
            Game::Contest(options) => visitor.visit::<Contest>(options),
            Game::ChineseCheckers => visitor.visit::<ChineseCheckers>(&()),
            Game::CaptureHalma => visitor.visit::<CaptureHalma>(&()),
        }
    }

    /// The game's names and options.
    pub fn info(&self) -> GameInfo {
        struct Info;
        impl GameVisitor for Info {
            type Output = GameInfo;
            fn visit<P: Notation>(self, options: &P::Options) -> GameInfo {
                GameInfo {
                    id: P::ID,
                    name: P::NAME,
                    sides: P::SIDES,
                    options: P::OPTIONS,
                    options_text: P::format_options(options),
                    start: P::start(options).format_position(),
                }
            }
        }
        self.visit(Info)
    }
}

/// What there is to say about a game without playing it.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// The name other programs use.
    pub id: &'static str,
    /// The name people use.
    pub name: &'static str,
    /// The sides, the one that moves first first.
    pub sides: [SideInfo; 2],
    /// The options it can be played with.
    pub options: &'static [OptionInfo],
    /// The options chosen that are not the default, as `key=value,…`.
    pub options_text: String,
    /// The text of the start position.
    pub start: String,
}

impl FromStr for Game {
    type Err = OptionsError;

    /// Reads a game's id in small or capital letters, with options after a colon.
    fn from_str(text: &str) -> Result<Game, OptionsError> {
        let (id, options) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        match id.trim().to_ascii_lowercase().as_str() {
            English::ID => English::parse_options(options).map(Game::English),
            Contest::ID => Contest::parse_options(options).map(Game::Contest),
            ChineseCheckers::ID => {
                ChineseCheckers::parse_options(options).map(|()| Game::ChineseCheckers)
            }
            CaptureHalma::ID => CaptureHalma::parse_options(options).map(|()| Game::CaptureHalma),
            _ => {
                let id = truncate(id, 40);
                let ids: Vec<_> = Game::all().iter().map(|game| game.info().id).collect();
                Err(OptionsError(format!(
                    "there is no game {id:?}: the games are {}",
                    ids.join(", ")
                )))
            }
        }
    }
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        match info.options_text.as_str() {
            "" => f.write_str(info.id),
            chosen => write!(f, "{}:{chosen}", info.id),
        }
    }
}
