//! Subjects, streams and consumers.
//!
//! | subject | published by | stream |
//! |---|---|---|
//! | `crownhead.jobs.RUN.JOB` | coordinators | a work queue, until a worker acknowledges |
//! | `crownhead.results.RUN.WORKER` | workers | a work queue, until the coordinator acknowledges |
//! | `crownhead.workers.WORKER` and `crownhead.runs.RUN` | both | the last report of each |
//! | `crownhead.fleet` | coordinators | the program that all workers must run |
//! | advisories of JetStream | the server | jobs that five workers failed to finish |

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, object_store, stream::Stream};

use crate::FleetError;
use crate::connection::server_error;

pub(crate) const JOBS: &str = "CROWNHEAD_JOBS";
pub(crate) const RESULTS: &str = "CROWNHEAD_RESULTS";
pub(crate) const REPORTS: &str = "CROWNHEAD_REPORTS";
pub(crate) const FLEET: &str = "CROWNHEAD_FLEET";
pub(crate) const DEAD: &str = "CROWNHEAD_DEAD";
/// The object store of the bots.
pub(crate) const BOTS: &str = "crownhead-bots";
/// The consumer that all workers share.
pub(crate) const WORKERS: &str = "workers";
/// The subject of the program that all workers must run.
pub(crate) const FLEET_SUBJECT: &str = "crownhead.fleet";

/// Deliveries after which a job goes to the dead-letter list.
const MAX_DELIVERIES: i64 = 5;
/// Time without a heartbeat after which a job is delivered again. Workers send three in that time.
/// An existing consumer keeps its own setting.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// Age at which unclaimed jobs and results are deleted.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Time between two reports.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(3);
/// Age from which a report is ignored.
pub(crate) const MAX_REPORT_AGE: Duration = Duration::from_secs(15);

pub(crate) fn job_subject(run: &str, job: &str) -> String {
    format!("crownhead.jobs.{run}.{job}")
}

pub(crate) fn result_subject(run: &str, worker: &str) -> String {
    format!("crownhead.results.{run}.{worker}")
}

pub(crate) fn worker_subject(worker: &str) -> String {
    format!("crownhead.workers.{worker}")
}

pub(crate) fn run_subject(run: &str) -> String {
    format!("crownhead.runs.{run}")
}

/// Creates the streams and the consumer of the workers, as far as they are missing.
pub(crate) async fn create(jetstream: &Context) -> Result<(), FleetError> {
    let stream = |name: &str, subjects: &[&str], retention| Config {
        name: name.into(),
        subjects: subjects.iter().map(|subject| subject.to_string()).collect(),
        retention,
        max_age: MAX_AGE,
        ..Config::default()
    };
    let advisories = format!("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{JOBS}.*");
    let reports = ["crownhead.workers.*", "crownhead.runs.*"];
    let configs = [
        stream(JOBS, &["crownhead.jobs.*.*"], RetentionPolicy::WorkQueue),
        stream(RESULTS, &["crownhead.results.*.*"], RetentionPolicy::WorkQueue),
        stream(DEAD, &[&advisories], RetentionPolicy::Limits),
        Config {
            max_messages_per_subject: 1,
            max_age: MAX_REPORT_AGE,
            storage: StorageType::Memory,
            ..stream(REPORTS, &reports, RetentionPolicy::Limits)
        },
        Config {
            max_messages_per_subject: 1,
            max_age: Duration::ZERO,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..stream(FLEET, &[FLEET_SUBJECT], RetentionPolicy::Limits)
        },
    ];
    for config in configs {
        jetstream.get_or_create_stream(config).await.map_err(server_error)?;
    }
    if jetstream.get_object_store(BOTS).await.is_err() {
        let config = object_store::Config {
            bucket: BOTS.into(),
            max_age: MAX_AGE,
            ..object_store::Config::default()
        };
        jetstream.create_object_store(config).await.map_err(server_error)?;
    }
    let consumer = pull::Config {
        durable_name: Some(WORKERS.into()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_deliver: MAX_DELIVERIES,
        max_ack_pending: -1,
        max_waiting: 100_000,
        ..pull::Config::default()
    };
    let jobs = get(jetstream, JOBS).await?;
    jobs.get_or_create_consumer(WORKERS, consumer).await.map_err(server_error)?;
    Ok(())
}

pub(crate) async fn get(jetstream: &Context, name: &str) -> Result<Stream, FleetError> {
    jetstream.get_stream(name).await.map_err(server_error)
}

/// Returns the consumer of a run's results.
pub(crate) async fn results(jetstream: &Context, run: &str) -> Result<PullConsumer, FleetError> {
    let config = pull::Config {
        durable_name: Some(run.into()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: -1,
        filter_subject: result_subject(run, "*"),
        // So that nothing is left of a run that is never resumed.
        inactive_threshold: MAX_AGE,
        ..pull::Config::default()
    };
    let stream = get(jetstream, RESULTS).await?;
    stream.get_or_create_consumer(run, config).await.map_err(server_error)
}
