//! The games in a terminal: in plain text ([`plain`]) or full screen ([`screen`]).
//!
//! A game is a [`LocalGame`](local_game::LocalGame); rules, clocks and players are in
//! `crownhead_play`.

pub mod analysis_thread;
pub mod autosave;
pub mod computers;
pub mod lazy_knowledge;
pub mod local_game;
pub mod plain;
pub mod player_thread;
pub mod print;
pub mod screen;
pub mod settings;
pub mod text;
