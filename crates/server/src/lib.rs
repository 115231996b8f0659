//! The games in a browser: a server that keeps games, tells the page what is possible, and lets people
//! and computers play.
//!
//! `hosted` is a game without sockets or files; [`store`] keeps what happened on disk; [`room`] joins a
//! game with those who sit round it; [`routes`] and `socket` are the ways in. What goes over the wire is
//! written down in `docs/server.md`. Rules, players and clocks are the business of `crownhead_play`.

pub mod deeds;
pub mod error;
pub mod hosted_game;
pub mod ids;
pub mod limits;
pub mod listener;
pub mod messages;
pub mod middleware;
mod monotonic;
pub mod new_game;
pub mod room;
pub mod rooms;
pub mod routes;
pub mod search_queue;
pub mod store;
pub mod views;
pub mod ws;

mod server;

pub use server::{Server, ServerError};

/// Waits until the server ends.
async fn ended(ending: &mut tokio::sync::watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}
