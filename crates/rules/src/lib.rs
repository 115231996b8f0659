#![doc = include_str!("../README.md")]

pub mod capture_halma;
mod cell;
pub mod checkers;
pub mod chinese_checkers;
mod cpu;
mod game;
mod hop_board;
mod move_list;
mod notation;
mod outcome;
pub mod perft;
mod position;
mod probe;
mod replies;
mod text;
mod ways;
mod zobrist;

pub use capture_halma::CaptureHalma;
pub use cell::{Bits, Cell};
pub use checkers::{Contest, English};
pub use chinese_checkers::ChineseCheckers;
pub use game::{Game, GameInfo, Visitor};
pub use move_list::MoveList;
pub use notation::{
    MoveError, MoveErrorKind, Notation, OptionText, OptionsError, PositionError, SideText,
};
pub use outcome::{EndReason, Outcome, Side};
pub use perft::Perft;
pub use position::Position;
pub use probe::{Probe, SoloDistances, TableValue};
