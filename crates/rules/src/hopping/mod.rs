//! Code shared by the two hopping games, Chinese checkers and Capture Halma.

pub(crate) mod board;
pub(crate) mod move_text;
pub(crate) mod paths;
pub(crate) mod reply_count;
