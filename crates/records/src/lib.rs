#![doc = include_str!("../README.md")]

mod date;
mod encoding;
mod error;
mod game_file;
mod input;
mod lexer;
mod limits;
mod move_data;
mod movetext;
mod reader;
mod record;
mod tag;
mod writer;

pub use date::format_date;
pub use error::{RecordError, RecordErrorKind, WriteError};
pub use game_file::GameFile;
pub use move_data::{EvalScore, MoveData, MoveEval, ParseEvalError};
pub use reader::Reader;
pub use record::{GameRecord, GameResult, Line, ParseResultError, Ply, player_tag};
pub use writer::{format_game, write_game};
