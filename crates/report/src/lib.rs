//! Reports: what happened in a tournament or a game, as data and as web pages.
//!
//! [`Report`] holds every figure of a tournament report and serialises to JSON. [`html`] turns it
//! into self-contained pages: [`report_page`](html::report_page) for everybody,
//! [`player_page`](html::player_page) for one player, [`analysis_page`](html::analysis_page) for
//! analysed games. Boards are drawn by the viewer in `viewer`, which is built from the sources of
//! the web page in `crates/server/page`.
//!
//! [`standings`], [`games`], [`ratings`] and [`faults`] format what `tournament`, `match` and
//! `rate` print.
//!
//! Reads no files: the caller passes a [`Snapshot`](crownhead_tournament::journal::Snapshot) with
//! the [details](crownhead_tournament::journal::GameDetails) of its games.

pub mod data;
pub mod faults;
pub mod games;
pub mod html;
pub mod ratings;
pub mod replay;
pub mod standings;

pub use data::{Report, ReportInput};
