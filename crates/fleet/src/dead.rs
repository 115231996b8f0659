//! The dead-letter list: jobs that five workers failed to finish.

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::connection::{Connection, server_error};
use crate::messages::JobMessage;
use crate::streams::{DEAD, JOBS, get};
use crate::{FleetError, ServerOptions};

/// A job that no worker finished.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeadJob {
    /// Number of the job on the list.
    pub number: u64,
    /// The run it belongs to.
    pub run: String,
    /// Numbers of its games.
    pub games: Vec<i64>,
    /// Names of the players; empty if the job is not a pair of games.
    pub players: Vec<String>,
    /// Time at which it was queued.
    pub queued: String,
    /// Sequence number in the queue.
    #[serde(skip)]
    sequence: u64,
    #[serde(skip)]
    subject: String,
}

#[cfg(test)]
impl DeadJob {
    /// A job for tests.
    pub(crate) fn sample(number: u64, run: &str) -> DeadJob {
        DeadJob {
            number,
            run: run.into(),
            games: vec![7, 8],
            players: vec!["ada".into(), "bob".into()],
            queued: "2026-07-01 18:30:12.0 +00:00:00".into(),
            sequence: 1,
            subject: String::new(),
        }
    }
}

/// The server's report of a job that was delivered too often.
#[derive(Deserialize)]
struct Advisory {
    stream_seq: u64,
}

/// Returns the jobs on the list, and deletes entries whose job is gone.
pub(crate) async fn list(jetstream: &Context) -> Result<Vec<DeadJob>, FleetError> {
    let (dead, jobs) = (get(jetstream, DEAD).await?, get(jetstream, JOBS).await?);
    let state = &dead.cached_info().state;
    let mut list: Vec<DeadJob> = Vec::new();
    if state.messages == 0 {
        return Ok(list);
    }
    for number in state.first_sequence..=state.last_sequence {
        let Ok(message) = dead.get_raw_message(number).await else { continue };
        let advisory: Option<Advisory> = serde_json::from_slice(&message.payload).ok();
        let job = match advisory {
            Some(advisory) => dead_job(&jobs, number, advisory.stream_seq).await?,
            None => None,
        };
        match job {
            Some(job) if list.iter().all(|other| other.sequence != job.sequence) => list.push(job),
            _ => _ = dead.delete_message(number).await,
        }
    }
    Ok(list)
}

async fn dead_job(
    jobs: &Stream,
    number: u64,
    sequence: u64,
) -> Result<Option<DeadJob>, FleetError> {
    let message = match jobs.get_raw_message(sequence).await {
        Ok(message) => message,
        Err(error) if is_not_found(&error.to_string()) => return Ok(None),
        Err(error) => return Err(server_error(error)),
    };
    let subject = message.subject.to_string();
    let Ok(job) = serde_json::from_slice::<JobMessage>(&message.payload) else { return Ok(None) };
    let names =
        job.work.games().first().map(|game| game.players.each_ref().map(|it| it.name.clone()));
    Ok(Some(DeadJob {
        number,
        run: job.run,
        games: job.work.numbers(),
        players: names.map(Vec::from).unwrap_or_default(),
        queued: message.time.to_string(),
        sequence,
        subject,
    }))
}

fn is_not_found(error: &str) -> bool {
    error.contains("no message found") || error.contains("not found")
}

impl DeadJob {
    /// Names the games: `games 1 and 2`.
    pub fn games_text(&self) -> String {
        games_text(&self.games)
    }
}

/// Names consecutive games: `game 5`, `games 1 and 2`, `games 64 to 127`.
pub(crate) fn games_text(numbers: &[i64]) -> String {
    match numbers {
        [] => "no games".into(),
        [only] => format!("game {only}"),
        [first, second] => format!("games {first} and {second}"),
        [first, .., last] => format!("games {first} to {last}"),
    }
}

/// A connection to the dead-letter list.
pub struct DeadJobs {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
}

impl DeadJobs {
    /// Connects to the server.
    pub fn open(options: &ServerOptions) -> Result<DeadJobs, FleetError> {
        let runtime = crate::connection::runtime(1)?;
        let open = Connection::open(options, "crownhead dead jobs", std::sync::Arc::new(|_| {}));
        let connection = runtime.block_on(open)?;
        Ok(DeadJobs { runtime, connection })
    }

    /// Returns the jobs on the list.
    pub fn list(&self) -> Result<Vec<DeadJob>, FleetError> {
        self.runtime.block_on(list(&self.connection.jetstream))
    }

    /// Queues a job again.
    pub fn retry(&self, job: &DeadJob) -> Result<(), FleetError> {
        let Connection { jetstream, .. } = &self.connection;
        self.runtime.block_on(async {
            let (dead, jobs) = (get(jetstream, DEAD).await?, get(jetstream, JOBS).await?);
            let message = jobs.get_raw_message(job.sequence).await.map_err(server_error)?;
            let subject = job.subject.clone();
            let ack = jetstream.publish(subject, message.payload).await.map_err(server_error)?;
            ack.await.map_err(server_error)?;
            jobs.delete_message(job.sequence).await.map_err(server_error)?;
            dead.delete_message(job.number).await.map_err(server_error)?;
            Ok(())
        })
    }
}
