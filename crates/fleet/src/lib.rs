//! Games played and analysed by many machines. NATS JetStream is the queue: a [`Coordinator`]
//! publishes jobs, [`mod@worker`]s do them, and the results go where those of a local run go. A job
//! is a pair of games, a block of self-play games for training, or a recorded game to analyse.
//!
//! Delivery is at least once. A game counts once because the coordinator takes the first result of
//! each job, and because the journal of a tournament has one row for each game. A result must show
//! the lease of its job, which only a worker that received the job knows.

mod analysis;
mod bots;
mod build_id;
mod bundle;
mod connection;
mod coordinator;
mod credentials;
mod dead;
mod drive;
mod in_order;
mod messages;
mod outstanding;
mod players;
mod result_check;
mod run_key;
mod status;
mod streams;
mod training;
pub mod up;
mod work;
pub mod worker;

pub use build_id::BuildId;
pub use connection::{FleetError, ServerOptions};
pub use coordinator::{Coordinator, FleetExecutor, FleetRun};
pub use dead::{DeadJob, DeadJobs};
pub use messages::{RunReport, WorkerReport};
use run_key::RunKey;
pub use status::FleetStatus;
pub use training::SelfPlayBlocks;
