#![doc = include_str!("../README.md")]

#[cfg(feature = "toy-game")]
mod breakthrough;
pub mod capture_halma;
mod cell;
pub mod checkers;
pub mod chinese_checkers;
pub mod cpu;
mod game;
mod game_info;
mod hopping;
mod invisible;
mod move_list;
mod notation;
mod outcome;
mod parse;
pub mod perft;
mod position;
mod probe;
mod suggest;
mod zobrist;

#[cfg(feature = "toy-game")]
pub use breakthrough::Breakthrough;
pub use capture_halma::CaptureHalma;
pub use cell::{Bits, Cell};
pub use checkers::{Contest, English};
pub use chinese_checkers::ChineseCheckers;
pub use game::{GAMES, Game, GameVisitor, PerftVisitor};
pub use game_info::{
    AssignmentTexts, Colour, ExamplePosition, GameInfo, IllegalMoveRule, OptionInfo, PieceInfo,
    SideInfo,
};
pub use invisible::{escape_invisible, is_invisible, replace_invisible};
pub use move_list::MoveList;
pub use notation::{MoveError, MoveErrorKind, Notation, OptionsError, PositionError};
pub use outcome::{EndReason, Outcome, Side};
pub use parse::truncate;
pub use perft::{BulkPerft, Perft};
pub use position::Position;
pub use probe::{Probe, SoloDistances, TableValue};
pub use suggest::{did_you_mean, nearest};
