//! The connection to a NATS server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, Event};

use crate::credentials::{COORDINATOR, Credentials, inbox};
use crate::messages::WorkerReport;

/// Why an operation of a fleet failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FleetError {
    /// The server cannot be reached, or it refuses the connection.
    #[error("cannot connect to {url}: {reason}")]
    Connect {
        /// URL of the server.
        url: String,
        /// Why.
        reason: String,
    },
    /// A file cannot be used.
    #[error("{0}")]
    File(String),
    /// This program may not join the fleet.
    #[error("{0}")]
    Refused(String),
    /// The server answered with an error.
    #[error("NATS: {0}")]
    Server(String),
    /// This machine lacks something.
    #[error("{0}")]
    Machine(String),
}

/// Converts an error of the server.
pub(crate) fn server_error(error: impl std::error::Error) -> FleetError {
    let text = error.to_string();
    let hint = match text.to_lowercase() {
        text if text.contains("jetstream not enabled") => " (start nats-server with --jetstream)",
        text if text.contains("no responders") => {
            " (is JetStream enabled? start nats-server with --jetstream)"
        }
        _ => "",
    };
    FleetError::Server(format!("{text}{hint}"))
}

/// How to reach a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// URL: `nats://HOST:4222`, `tls://HOST:4222`, or several, separated by commas. If `None`, the
    /// one in the credentials, or a server on this machine.
    pub url: Option<String>,
    /// File with credentials, written by [`up`](crate::up::start) or in the format of NATS.
    pub credentials: Option<PathBuf>,
    /// File with the certificates of the authority that signed the server's certificate.
    pub tls_ca: Option<PathBuf>,
}

impl ServerOptions {
    /// Reads the credentials, if they are in the format of `crownhead fleet up`.
    pub(crate) fn own_credentials(&self) -> Result<Option<Credentials>, FleetError> {
        let file = self.credentials.as_deref().filter(|file| Credentials::is_own_format(file));
        file.map(Credentials::load).transpose()
    }
}

/// The server if none is given.
const DEFAULT_URL: &str = "nats://127.0.0.1:4222";

/// Prefix of the subjects of JetStream for the workers of a server that `up` started.
pub(crate) const WORKER_API: &str = "crownhead.api";

/// How long one request to the server may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of pings. After two without an answer the connection is lost.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// A connection.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
}

impl Connection {
    /// Connects. `name` is shown in the server's lists of connections.
    pub(crate) async fn open(
        options: &ServerOptions,
        name: &str,
        notify: crate::worker::Notify,
    ) -> Result<Connection, FleetError> {
        let own = options.own_credentials()?;
        let url = options.url.clone().or(own.as_ref().map(|own| own.url.clone()));
        let url = url.unwrap_or_else(|| DEFAULT_URL.into());
        let failed = |reason: String| FleetError::Connect { url: url.clone(), reason };
        let mut connect = ConnectOptions::new();
        let is_worker = own.as_ref().is_some_and(|own| own.name != COORDINATOR);
        if let Some(own) = own {
            connect = connect
                .tls_client_config(own.tls_config()?)
                .require_tls(true)
                .custom_inbox_prefix(inbox(&own.name))
                .user_and_password(own.name, own.password);
        } else if let Some(file) = &options.credentials {
            let read = connect.credentials_file(file).await;
            connect =
                read.map_err(|error| FleetError::File(format!("{}: {error}", file.display())))?;
        }
        if let Some(file) = &options.tls_ca {
            connect = connect.add_root_certificates(file.clone()).require_tls(true);
        }
        let was_connected = AtomicBool::new(false);
        let connect = connect
            .name(name)
            .ping_interval(PING_INTERVAL)
            .request_timeout(Some(REQUEST_TIMEOUT))
            .event_callback(move |event| {
                match event {
                    Event::Disconnected => notify("the connection to NATS is lost; reconnecting"),
                    Event::Connected if was_connected.swap(true, Ordering::Relaxed) => {
                        notify("reconnected to NATS");
                    }
                    Event::ServerError(error) => notify(&format!("NATS: {error}")),
                    _ => {}
                }
                async {}
            });
        let servers: Vec<&str> = url.split(',').map(str::trim).collect();
        let client = connect.connect(servers).await.map_err(|error| failed(error.to_string()))?;
        let mut jetstream = match is_worker {
            true => jetstream::with_prefix(client.clone(), WORKER_API),
            false => jetstream::new(client.clone()),
        };
        jetstream.set_timeout(REQUEST_TIMEOUT);
        Ok(Connection { client, jetstream })
    }

    /// Publishes a message, and waits until the server has stored it.
    pub(crate) async fn store(
        &self,
        subject: String,
        message: &impl serde::Serialize,
    ) -> Result<(), FleetError> {
        let payload = serde_json::to_vec(message).map_err(server_error)?;
        let ack = self.jetstream.publish(subject, payload.into()).await.map_err(server_error)?;
        ack.await.map_err(server_error).map(|_| ())
    }

    /// Returns why a message is too large for the server.
    pub(crate) fn check_size(&self, message: &impl serde::Serialize) -> Result<(), String> {
        let bytes = serde_json::to_vec(message).map_or(0, |payload| payload.len());
        let max = self.client.server_info().max_payload;
        match bytes <= max {
            true => Ok(()),
            false => Err(format!(
                "a message of {bytes} bytes is too large for the NATS server: raise its \
                 max_payload, which is {max}"
            )),
        }
    }

    /// Publishes a report; whether it arrives does not matter.
    pub(crate) async fn report(&self, subject: String, report: &impl serde::Serialize) {
        if let Ok(payload) = serde_json::to_vec(report) {
            let _ = self.client.publish(subject, payload.into()).await;
        }
    }
}

/// Parses a report of a worker, which may lie about anything but its name.
pub(crate) fn parse_worker_report(subject: &str, payload: &[u8]) -> Option<WorkerReport> {
    let name = subject.rsplit('.').next()?;
    let report: WorkerReport = serde_json::from_slice(payload).ok()?;
    Some(WorkerReport { name: name.into(), ..report })
}

/// Creates a runtime for the connection.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, FleetError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build();
    runtime.map_err(|error| FleetError::Machine(format!("cannot start a thread: {error}")))
}
