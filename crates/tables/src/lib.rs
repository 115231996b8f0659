#![doc = include_str!("../README.md")]

mod error;
pub mod registry;
mod solo;

pub use error::{FormatError, TableError};
pub use solo::{Progress, SoloTable};
