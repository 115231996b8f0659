#![doc = include_str!("../README.md")]

mod encoding;
mod error;
mod input;
mod lexer;
mod limits;
mod movetext;
mod reader;
mod record;
mod tag;
mod writer;

pub use error::{RecordError, RecordErrorKind, WriteError};
pub use reader::Reader;
pub use record::{GameRecord, GameResult, Line, ParseResultError, Ply, player_tag};
pub use writer::{format_game, write_game};
