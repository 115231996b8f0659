//! Board, paths and text shared by the two hopping games.

pub(crate) mod board;
pub(crate) mod paths;
pub(crate) mod reply_count;
