//! The state of a fleet.

use std::sync::Arc;

use futures_util::TryStreamExt;
use serde::Serialize;

use crate::connection::{Connection, parse_worker_report, runtime};
use crate::messages::{RunReport, WorkerReport};
use crate::streams::{JOBS, REPORTS, WORKERS, get};
use crate::{DeadJob, FleetError, ServerOptions, build_id, dead};

/// State of a fleet.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FleetStatus {
    /// The program that all workers must run.
    pub build: Option<String>,
    /// The workers, by name.
    pub workers: Vec<WorkerReport>,
    /// The runs whose coordinators are alive.
    pub runs: Vec<RunReport>,
    /// Jobs that wait for a worker.
    pub waiting: u64,
    /// Jobs that a worker has.
    pub running: u64,
    /// Jobs that five workers failed to finish.
    pub dead: Vec<DeadJob>,
}

impl FleetStatus {
    /// Fetches the state from the server.
    pub fn fetch(options: &ServerOptions) -> Result<FleetStatus, FleetError> {
        runtime(1)?.block_on(async {
            let connection =
                Connection::open(options, "crownhead status", Arc::new(|_| {})).await?;
            fetch(&connection).await
        })
    }
}

async fn fetch(connection: &Connection) -> Result<FleetStatus, FleetError> {
    let build = build_id::required(connection).await?;
    if build.is_none() {
        return Err(FleetError::Refused(
            "there is no fleet on this server: no run has been started with --fleet".into(),
        ));
    }
    let jobs = get(&connection.jetstream, JOBS).await?;
    let consumer = jobs.consumer_info(WORKERS).await.map_err(crate::connection::server_error)?;
    let reports = get(&connection.jetstream, REPORTS).await?;
    let subjects =
        reports.info_with_subjects(">").await.map_err(crate::connection::server_error)?;
    let subjects: Vec<(String, usize)> =
        subjects.try_collect().await.map_err(crate::connection::server_error)?;
    let (mut workers, mut runs) = (Vec::new(), Vec::new());
    for (subject, _) in subjects {
        // A report may expire in the meantime.
        let Ok(message) = reports.get_last_raw_message_by_subject(&subject).await else { continue };
        if subject.starts_with("crownhead.workers.") {
            let report = parse_worker_report(&subject, &message.payload);
            workers.extend(report.filter(|report| !report.has_left));
        } else if let Ok(report) = serde_json::from_slice::<RunReport>(&message.payload) {
            runs.push(report);
        }
    }
    runs.retain(|run: &RunReport| !run.has_ended);
    workers.sort_by(|a: &WorkerReport, b| a.name.cmp(&b.name));
    runs.sort_by(|a: &RunReport, b| a.id.cmp(&b.id));
    let dead = dead::list(&connection.jetstream).await?;
    Ok(FleetStatus {
        build,
        workers,
        runs,
        waiting: consumer.num_pending,
        running: (consumer.num_ack_pending as u64).saturating_sub(dead.len() as u64),
        dead,
    })
}
