//! Players that are programs of their own, in any language.
//!
//! [`program`] says how one is started. Whatever such a program does, it costs bounded time and
//! bounded memory, and what it did wrong is told to its author.

mod program;

pub use program::{Program, ProgramError};
