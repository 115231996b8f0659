//! The games in a terminal: by lines of text ([`plain`]) or on the whole screen (`screen`).
//!
//! What is played is a [`LocalGame`](live::LocalGame); rules, clocks and players are the business of
//! `crownhead_play`.

pub mod analysing;
pub mod computers;
mod date;
pub mod kept;
pub mod known;
pub mod lines;
pub mod live;
pub mod plain;
pub mod plain_lessons;
pub mod recorded;
pub mod screen;
pub mod thinking;
pub mod words;
