#![doc = include_str!("../README.md")]

mod cache;
mod error;
mod solo;

pub use cache::{cache_dir, solo_path};
pub use error::TableError;
pub use solo::{Progress, SoloTable};
