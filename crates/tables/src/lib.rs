#![doc = include_str!("../README.md")]

#[cfg(feature = "fs")]
mod cache;
mod error;
pub mod registry;
mod solo;

#[cfg(feature = "fs")]
pub use cache::cache_dir;
pub use error::{FormatError, TableError};
pub use solo::{Progress, SoloTable};
