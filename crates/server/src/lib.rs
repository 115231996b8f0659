//! Games in the browser: an HTTP and WebSocket server, and the web page embedded in it.
//!
//! [`routes`] and [`ws`] receive requests and messages, [`room`] executes the actions of the
//! clients that follow a game, [`hosted_game`] is the game itself, and [`store`] keeps its events
//! on disk. Rules, players and clocks come from `crownhead_play`. `docs/api.md` describes the
//! interface.

mod analysis;
pub mod error;
pub mod fleet;
pub mod hosted_game;
pub mod ids;
pub mod limits;
pub mod listener;
pub mod messages;
pub mod middleware;
mod monotonic;
pub mod new_game;
pub mod rate_limit;
mod request_log;
pub mod room;
pub mod rooms;
pub mod routes;
pub mod search_queue;
mod server;
pub mod store;
mod sync;
pub mod views;
pub mod ws;

pub use server::{Server, ServerError};
pub use sync::Shutdown;
