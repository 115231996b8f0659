//! Choosing a move: one alpha-beta search for every game, one evaluator per family of games.
//!
//! A search turns a [`SearchRequest`] into a [`SearchReport`]. It knows no protocol, no game clock
//! and no files. [`HasEngine::new_engine`] creates an engine for a game; [`textbook`] holds plain
//! minimax and alpha-beta.
//!
//! ```
//! use crownhead_rules::{English, Position};
//! use crownhead_search::{
//!     EngineConfig, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag,
//! };
//!
//! let position = English::start(&Default::default());
//! let mut engine = English::new_engine(EngineConfig::default(), &Knowledge::default())?;
//! let limits = SearchLimits { depth: Some(7), ..SearchLimits::default() };
//! let request = SearchRequest::new(&position, limits);
//! let report = engine.search(request, &StopFlag::new(), &mut |_| {});
//! assert_eq!(report.depth, 7);
//! assert!(report.best_move().is_some());
//! # Ok::<(), crownhead_search::HashAllocError>(())
//! ```

pub mod bench;
mod counter_keys;
mod dyn_engine;
mod engine;
pub mod eval;
mod game;
mod helpers;
mod history;
mod instant;
mod knowledge;
mod limits;
mod movepick;
pub mod network;
pub mod parallel;
pub mod params;
mod qsearch;
mod score;
mod search;
mod stopwatch;
mod terminal;
pub mod textbook;
mod thread_data;
pub mod time;
pub mod train;
mod tt;

pub use dyn_engine::{DynEngine, HasEngine};
pub use engine::{Engine, EngineConfig, HashAllocError, PvLine, SearchReport, SearchRequest};
pub use eval::Evaluator;
pub use game::{GameVisitor, Quiescence, Searchable, visit};
pub use instant::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use instant::{set_clock, set_stop};
pub use knowledge::Knowledge;
pub use limits::{SearchLimits, StopFlag};
pub use params::{ParamChanges, SearchParams};
pub use score::{DRAW, MAX_PLY, Score, WIN, plies_to_end};
pub use stopwatch::Stopwatch;
pub use train::Learnable;
