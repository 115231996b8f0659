//! The one list of games. The enum [`Game`], the descriptors [`GAMES`], parsing and the visitors of
//! this crate and of the search are generated from it.

use std::fmt;
use std::str::FromStr;

use crate::parse::truncate;
use crate::perft::{PathPerft, PerftOptions};
use crate::suggest::{nearest, suggestion};
use crate::{BulkPerft, GameInfo, Notation, OptionsError, Perft, Position};

/// Defines `for_each_game!` from the list below, with the games of the test-only feature or
/// without.
///
/// The feature is tested here, not in the exported macro, where `cfg` would look at the features of
/// the crate that calls it.
macro_rules! games {
    ($($name:ident: $search:ident,)* #[cfg($cfg:meta)] $($extra:ident: $extra_search:ident,)*) => {
        #[cfg(not($cfg))]
        define_for_each_game! { $($name: $search,)* }
        #[cfg($cfg)]
        define_for_each_game! { $($name: $search,)* $($extra: $extra_search,)* }
    };
}

macro_rules! define_for_each_game {
    ($($list:tt)*) => {
        /// Calls the macro `$callback` with the list of games: `Name: search,` for each game, where
        /// `Name` is a type of this crate and a variant of [`Game`](crate::Game).
        #[macro_export]
        macro_rules! for_each_game {
            ($callback:ident) => { $callback! { $($list)* } };
        }
    };
}

// To add a game, add its type here; docs/adding-a-game.md is the walk-through. The second word says
// whether the search crate implements `Searchable` for it (`custom`) or derives a plain one
// (`default`). The first game is the default.
games! {
    English: custom,
    Contest: custom,
    ChineseCheckers: custom,
    CaptureHalma: custom,
    #[cfg(feature = "toy-game")]
    Breakthrough: default,
}

macro_rules! define_game {
    ($($name:ident: $search:ident,)*) => {
        /// A game with its options, as in `contest:kings=true`.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Game {
            $(
                #[doc = concat!("See [`", stringify!($name), "`](crate::", stringify!($name), ").")]
                $name(<crate::$name as Position>::Options),
            )*
        }

        /// The descriptors of all games.
        pub static GAMES: [GameInfo; [$(stringify!($name)),*].len()] =
            [$(<crate::$name as Notation>::INFO),*];

        impl Game {
            /// Returns all games with their default options.
            pub fn all() -> [Game; GAMES.len()] {
                [$(Game::$name(Default::default())),*]
            }

            /// Calls the visitor with the type of the position.
            pub fn visit<V: GameVisitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Game::$name(options) => visitor.visit::<crate::$name>(options),)*
                }
            }

            /// Calls the visitor with the type of the position.
            pub fn visit_perft<V: PerftVisitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Game::$name(options) => visitor.visit::<crate::$name>(options),)*
                }
            }

            /// Parses the options of the game with this id; `None` if there is no such game.
            fn parse_options(id: &str, options: &str) -> Option<Result<Game, OptionsError>> {
                match id {
                    $(
                        crate::$name::ID => {
                            Some(crate::$name::parse_options(options).map(Game::$name))
                        }
                    )*
                    _ => None,
                }
            }
        }
    };
}

for_each_game!(define_game);

macro_rules! implement_perft {
    ($($name:ident: $search:ident,)*) => {$(
        impl Perft for crate::$name {
            #[inline(never)]
            fn perft(&self, options: &PerftOptions<'_>, depth: u32, past: &[u64]) -> u64 {
                options.count_tree(self, depth, past)
            }

            #[inline(never)]
            fn perft_by_paths() -> Option<PathPerft<Self>> {
                <Self as BulkPerft>::path_perft()
            }
        }
    )*};
}

for_each_game!(implement_perft);

/// Code that is generic over the game, for a game chosen at run time.
pub trait GameVisitor {
    /// Result of the visit.
    type Output;
    /// Called with the type of the position.
    fn visit<P: Notation>(self, options: &P::Options) -> Self::Output;
}

/// A [`GameVisitor`] that counts positions.
pub trait PerftVisitor {
    /// Result of the visit.
    type Output;
    /// Called with the type of the position.
    fn visit<P: Notation + Perft>(self, options: &P::Options) -> Self::Output;
}

impl Game {
    /// Returns the descriptor of the game.
    pub fn info(&self) -> &'static GameInfo {
        struct Info;
        impl GameVisitor for Info {
            type Output = &'static GameInfo;
            fn visit<P: Notation>(self, _: &P::Options) -> &'static GameInfo {
                &P::INFO
            }
        }
        self.visit(Info)
    }

    /// Returns the options that differ from the default, as `key=value,…`.
    pub fn options_text(&self) -> String {
        struct OptionsText;
        impl GameVisitor for OptionsText {
            type Output = String;
            fn visit<P: Notation>(self, options: &P::Options) -> String {
                P::format_options(options)
            }
        }
        self.visit(OptionsText)
    }

    /// Returns the start position as text.
    pub fn start_position(&self) -> String {
        struct Start;
        impl GameVisitor for Start {
            type Output = String;
            fn visit<P: Notation>(self, options: &P::Options) -> String {
                P::start(options).format_position()
            }
        }
        self.visit(Start)
    }
}

impl Default for Game {
    fn default() -> Game {
        let [game, ..] = Game::all();
        game
    }
}

impl FromStr for Game {
    type Err = OptionsError;

    /// Parses a game id, in any case, and the options after a colon.
    fn from_str(text: &str) -> Result<Game, OptionsError> {
        let (id, options) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let id = id.trim();
        Game::parse_options(&id.to_ascii_lowercase(), options).unwrap_or_else(|| {
            let ids = GAMES.each_ref().map(|game| game.id);
            let names = GAMES.iter().flat_map(|game| [game.id, game.name]);
            let nearest = nearest(id, names);
            let game =
                GAMES.iter().find(|game| nearest == Some(game.id) || nearest == Some(game.name));
            let hint = game.map_or(String::new(), |game| suggestion(game.id));
            let (ids, typed) = (ids.join(", "), truncate(id, 40));
            let message = format!("unknown game {typed:?}{hint}; available games: {ids}");
            Err(OptionsError(message))
        })
    }
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().id)?;
        match self.options_text().as_str() {
            "" => Ok(()),
            options => write!(f, ":{options}"),
        }
    }
}
