//! A game in progress: [`GameInPlay`], [`Session`], [`Clock`], built-in [`Player`]s, the
//! [`mod@referee`], openings and lessons.
//!
//! Pure: no processes, files or sockets, and no threads but those of searches. Compiles for
//! `wasm32-unknown-unknown`.

mod adjudication;
mod board_text;
pub mod book;
mod clock;
mod defaults;
mod draw_offer;
mod eval;
pub mod fault;
pub mod game;
mod game_json;
pub mod knowledge;
pub mod lessons;
mod move_words;
mod openings;
mod player;
mod players;

pub mod position_json;
mod position_request;
mod position_text;
pub mod referee;
pub mod replay;
mod seed;
mod sentence;
mod session;
mod time_control;

pub use adjudication::{Adjudication, AdjudicationRule};
pub use board_text::board_text;
pub use clock::{Clock, Clocks, TimeLeft};
pub use crownhead_search::{Knowledge, ParamChanges, StopFlag};
pub use defaults::{DEFAULT_PLAYER, DEFAULT_SIDE, is_flipped_for};
pub use eval::Eval;
pub use fault::{Fault, FaultKind, FaultPolicy, Incident, quoted};
pub use game::{
    Action, End, Event, GameConfig, GameInPlay, GameSettings, OfferKind, Refusal, SideConfig,
};
pub use game_json::describe_game;
pub use move_words::move_words;
pub use openings::{
    ElevenManBallots, ElevenManOptions, Opening, OpeningPicker, Openings, OpeningsError,
    generate_eleven_man,
};
pub use player::{Choice, GameOver, GameStart, Player, PlayerError, move_eval};
pub use players::{
    BUILTIN_NAMES, BuiltinSpec, CATALOG, CatalogPlayer, PlayerKind, PlayerOptions, Random,
    SpecError,
};
pub use position_request::{
    MAX_POSITION_BYTES, PositionRequest, RequestError, cells_of_error, named_cells,
};
pub use position_text::position_text;
pub use referee::{Absence, GameSetup, PlayedGame, PlayedMove};
pub use seed::derive_seed;
pub use sentence::{counted, to_sentence, truncate};
pub use session::{LegalMove, PlayError, Session, TypedSession, line_texts, new_session};
pub use time_control::{ParseTimeError, TimeControl, format_duration, parse_duration};
