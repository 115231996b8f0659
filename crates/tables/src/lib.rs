#![doc = include_str!("../README.md")]

mod blocks;
mod cache;
pub mod contest;
pub mod endgame;
mod error;
#[cfg(feature = "fs")]
mod file;
mod image;
mod parallel;
pub mod registry;
mod solo;
mod verify;

use std::ops::ControlFlow;

/// Progress callback: receives the number of known entries and of all entries; `Break` cancels the
/// generation.
pub type Progress<'a> = dyn Fn(u64, u64) -> ControlFlow<()> + Sync + 'a;

pub use contest::ContestTable;
pub use endgame::EndgameTable;
pub use error::{FormatError, TableError};
pub use solo::SoloTable;
pub use verify::{Verification, Verified};
