#![doc = include_str!("../README.md")]

pub mod capture_halma;
mod cell;
pub mod checkers;
pub mod chinese_checkers;
mod cpu;
mod game;
mod hopping;
mod move_list;
mod notation;
mod outcome;
mod parse;
pub mod perft;
mod position;
mod zobrist;

pub use capture_halma::CaptureHalma;
pub use cell::{Bits, Cell};
pub use checkers::{Contest, English};
pub use chinese_checkers::ChineseCheckers;
pub use game::{Game, GameInfo, GameVisitor, PerftVisitor};
pub use move_list::MoveList;
pub use notation::{
    MoveError, MoveErrorKind, Notation, OptionInfo, OptionsError, PositionError, SideInfo,
};
pub use outcome::{EndReason, Outcome, Side};
pub use perft::BulkPerft;
pub use position::Position;
