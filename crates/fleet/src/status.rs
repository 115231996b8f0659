//! The state of a fleet.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::connection::{Connection, parse_worker_report, runtime};
use crate::messages::{RunReport, WorkerReport};
use crate::streams::{JOBS, REPORTS, WORKERS, get};
use crate::{DeadJob, FleetError, ServerOptions, build_id, dead};

/// How long a server may take for its answers.
const MAX_TIME: Duration = Duration::from_secs(60);

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
        let fetch = async {
            let connection =
                Connection::open(options, "crownhead status", Arc::new(|_| {})).await?;
            fetch(&connection).await
        };
        let late = || FleetError::Server(format!("no status within {MAX_TIME:?}"));
        runtime(1)?.block_on(async { timeout(MAX_TIME, fetch).await.map_err(|_| late())? })
    }

    /// Returns the status as `crownhead fleet status --json` prints it.
    pub fn to_json(&self) -> Value {
        let mut object = json!(self);
        for (run, report) in self.runs.iter().enumerate() {
            object["runs"][run]["seconds_left"] = json!(report.seconds_left().map(f64::round));
        }
        object
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The API of the server answers with the same object, and its page reads it.
    #[test]
    fn json_is_the_golden_file_of_the_servers_api() {
        let worker = |name: &str, is_draining| WorkerReport {
            name: name.into(),
            machine: "room-12".into(),
            build: "0.1.0, bench 1 2 3 4".into(),
            cores: 8,
            concurrency: 8,
            speed: [("english".into(), 2.5e6), ("contest".into(), 3e6)].into(),
            running: vec!["0f1e2d3c.5-6".into()],
            games: 120,
            faults: 2,
            returned: 1,
            seconds: 60,
            is_draining,
            has_left: false,
        };
        let run = |id: &str, finished, games_per_second| RunReport {
            id: id.into(),
            name: "Class of 2026".into(),
            games: 1000,
            finished,
            positions: 0,
            queued: 24,
            dead: 1,
            games_per_second,
            seconds: 100,
            has_ended: false,
        };
        let dead = DeadJob::sample(3, "0f1e2d3c");
        let status = FleetStatus {
            build: Some("0.1.0, bench 1 2 3 4".into()),
            workers: vec![worker("worker-1", false), worker("worker-2", true)],
            runs: vec![run("0f1e2d3c", 240, 2.4), run("4b5a6978", 0, 0.0)],
            waiting: 20,
            running: 4,
            dead: vec![dead],
        };
        let text = serde_json::to_string_pretty(&status.to_json()).unwrap() + "\n";
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/golden/fleet.json");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(file, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), text, "{file}");
    }
}
