//! The status of a fleet, for those who may see it.
//!
//! This crate knows no NATS: the program passes a function that asks for the status. It may take
//! long, so it runs in a thread of its own, once at a time however many pages are open, and only
//! while somebody looks.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

/// Returns the status of a fleet, as `crownhead fleet status --json` prints it, or the reason why
/// there is none. It blocks.
pub type FetchStatus = Box<dyn FnMut() -> Result<Value, String> + Send>;

/// Age up to which a status is sent again.
const MAX_AGE: Duration = Duration::from_secs(2);
/// How long a request waits for a status.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Last status with its time; the status is `None` if the fleet is unavailable.
type Answer = Option<(Instant, Option<Arc<str>>)>;

/// Asks a fleet for its status.
pub struct FleetMonitor {
    /// Wakes the thread.
    wanted: SyncSender<()>,
    answers: watch::Receiver<Answer>,
}

impl FleetMonitor {
    /// Starts the thread. It ends with this value, after the request that it is waiting for.
    pub fn start(mut fetch: FetchStatus) -> io::Result<FleetMonitor> {
        let (wanted, requests) = sync_channel(1);
        let (sender, answers) = watch::channel(None);
        let mut last_failure = None;
        let ask = move || {
            while requests.recv().is_ok() {
                if fresh(&sender.borrow()).is_some() {
                    continue;
                }
                let status = fetch();
                // Clients do not get the reason: it may name addresses and files.
                let failure = status.as_ref().err().cloned();
                if let Some(failure) = failure.as_ref().filter(|_| failure != last_failure) {
                    tracing::warn!("the fleet is unavailable: {failure}");
                }
                last_failure = failure;
                let status = status.ok().map(|status| Arc::from(status.to_string()));
                sender.send_replace(Some((Instant::now(), status)));
            }
        };
        std::thread::Builder::new().name("fleet".into()).spawn(ask)?;
        Ok(FleetMonitor { wanted, answers })
    }

    /// Returns the status as JSON; `None` if it is unavailable.
    pub async fn status(&self) -> Option<Arc<str>> {
        let mut answers = self.answers.clone();
        if let Some(status) = fresh(&answers.borrow_and_update()) {
            return status;
        }
        // If the channel is full, the thread is about to ask.
        let _ = self.wanted.try_send(());
        timeout(MAX_WAIT, answers.changed()).await.ok()?.ok()?;
        let answer = answers.borrow();
        answer.as_ref().and_then(|(_, status)| status.clone())
    }
}

/// Returns an answer that is not too old.
fn fresh(answer: &Answer) -> Option<Option<Arc<str>>> {
    let (at, status) = answer.as_ref()?;
    (at.elapsed() < MAX_AGE).then(|| status.clone())
}
