//! The program that a machine runs: version, bench signature and speed.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::jetstream::stream::RawMessageErrorKind;
use crownhead_rules::Game;
use crownhead_search::bench::bench;
use crownhead_tables::registry;

use crate::FleetError;
use crate::connection::{Connection, server_error};
use crate::streams::{FLEET, FLEET_SUBJECT};

/// The program that a machine runs, and how fast it is there.
#[derive(Clone, PartialEq, Debug)]
pub struct BuildId {
    /// Version and bench signature.
    pub text: String,
    /// Nodes per second and thread, by game.
    pub speed: BTreeMap<String, f64>,
}

impl BuildId {
    /// Searches the bench positions on `threads` threads at once, because threads slow each other
    /// down.
    pub fn measure(threads: usize) -> Result<BuildId, FleetError> {
        let no_memory = || FleetError::Machine("not enough memory for the bench".into());
        let mut signature = Vec::new();
        let mut speed = BTreeMap::new();
        for game in Game::all() {
            let results: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..threads.max(1)).map(|_| scope.spawn(|| bench(&game, 1))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()?.ok()).collect()
            });
            let first = results.first().ok_or_else(no_memory)?;
            signature.push(first.nodes.to_string());
            let nodes: u64 = results.iter().map(|result| result.nodes).sum();
            let seconds: f64 = results.iter().map(|result| result.time.as_secs_f64()).sum();
            speed.insert(game.info().id.into(), nodes as f64 / seconds.max(1e-6));
        }
        let version = env!("CARGO_PKG_VERSION");
        Ok(BuildId { text: format!("{version}, bench {}", signature.join(" ")), speed })
    }

    /// Returns how much longer this machine needs than one with `speed`, in games with the id
    /// `game`. Bounded, because the other machine may claim anything.
    pub(crate) fn time_factor(&self, speed: &BTreeMap<String, f64>, game: &str) -> f64 {
        let factor = speed.get(game).zip(self.speed.get(game)).map(|(other, own)| other / own);
        factor.filter(|factor| factor.is_finite()).unwrap_or(1.0).clamp(0.125, 8.0)
    }
}

/// Returns the program that all workers must run, if there has been a coordinator.
pub(crate) async fn required(connection: &Connection) -> Result<Option<String>, FleetError> {
    let stream = connection.jetstream.get_stream_no_info(FLEET).await.map_err(server_error)?;
    match stream.get_last_raw_message_by_subject(FLEET_SUBJECT).await {
        Ok(message) => {
            let text = String::from_utf8_lossy(&message.payload).into_owned();
            Ok(Some(text).filter(|text| is_build(text)))
        }
        Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
        // A server without any stream of a fleet: no coordinator has been here.
        Err(error) if error.to_string().contains("stream not found") => Ok(None),
        Err(error) => Err(server_error(error)),
    }
}

/// Sets the program that all workers must run.
///
/// The stream takes a message only if it has none: a worker can have the server send its answers
/// there, but it cannot delete anything.
pub(crate) async fn require(connection: &Connection, text: &str) -> Result<(), FleetError> {
    let stream = connection.jetstream.get_stream_no_info(FLEET).await.map_err(server_error)?;
    stream.purge().await.map_err(server_error)?;
    let text = text.to_string().into_bytes();
    let ack = connection.jetstream.publish(FLEET_SUBJECT, text.into()).await;
    ack.map_err(server_error)?.await.map_err(server_error).map(|_| ())
}

/// Whether a text has the form of [`BuildId::text`], which answers of the server do not have.
fn is_build(text: &str) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit());
    text.len() < 1000
        && text.split_once(", bench ").is_some_and(|(version, signature)| {
            version.bytes().all(|it| it.is_ascii_alphanumeric() || b".+-".contains(&it))
                && signature.split(' ').all(is_number)
        })
}

/// Describes the tables of games, to compare them with those of another machine.
pub(crate) fn tables<'a>(
    games: impl IntoIterator<Item = &'a Game>,
) -> BTreeMap<String, Vec<String>> {
    let ids: BTreeSet<_> = games.into_iter().map(|game| game.info().id).collect();
    ids.into_iter().map(|id| (id.into(), describe_tables(&registry::load(id).0))).collect()
}

pub(crate) fn describe_tables(tables: &[registry::Table]) -> Vec<String> {
    let describe = |table: &registry::Table| match table.pieces() {
        Some(pieces) => format!("{pieces} pieces, {} bytes", table.bytes()),
        None => format!("{} bytes", table.bytes()),
    };
    tables.iter().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_server_are_no_builds() {
        assert!(is_build("0.1.0-rc.1, bench 12 3 4 5"));
        for text in ["", r#"{"type":"x", bench 1"}"#, "1.0, bench 1 x", "1.0, bench "] {
            assert!(!is_build(text), "{text}");
        }
    }
}
