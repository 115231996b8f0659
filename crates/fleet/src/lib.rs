//! Games played by many machines. NATS JetStream is the queue: a [`Coordinator`] publishes pairs of
//! games, [`mod@worker`]s play them, and the results go to the same journal as in a local run.
//!
//! Delivery is at least once. A game counts once because the coordinator takes the first result of
//! each game, and because the journal has one row for it. A result must show the lease of its job,
//! which only a worker that received the job knows.

mod bots;
mod build_id;
mod bundle;
mod connection;
mod coordinator;
mod credentials;
mod dead;
mod drive;
mod messages;
mod outstanding;
mod players;
mod result_check;
mod run_key;
mod status;
mod streams;
pub mod up;
pub mod worker;

pub use build_id::BuildId;
pub use connection::{FleetError, ServerOptions};
pub use coordinator::{Coordinator, FleetExecutor, FleetRun};
pub use dead::{DeadJob, DeadJobs};
pub use messages::{RunReport, WorkerReport};
pub use run_key::RunKey;
pub use status::FleetStatus;
