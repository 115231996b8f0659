//! The threads behind the store: group commit and checkpoints.
//!
//! The writer takes all waiting requests, writes them in one transaction and replies once it is
//! committed, so that many games share the cost of one sync. The checkpointer copies the
//! write-ahead log into the database, so that no move waits for that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};

use super::{NewGame, StoreError, unix_millis};
use crate::ids::{GameId, SecretHash};

/// Maximum number of queued requests; further senders wait.
const QUEUE_CAPACITY: usize = 8192;
/// Maximum number of requests per transaction.
const MAX_BATCH: usize = 512;
/// Interval of checkpoints. A page that many moves change is copied once per checkpoint, so a long
/// interval saves work.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);
/// Size of the write-ahead log, in pages, above which the writer completes a checkpoint itself.
/// Only then does SQLite restart the log instead of extending it.
const WAL_RESTART_PAGES: i64 = 8192;

/// Change of the database.
pub enum Write {
    /// Inserts a game.
    Create(NewGame),
    /// Appends an event to a game that the same request creates.
    AppendToNew {
        /// The id of the game.
        id: GameId,
        /// The event, encoded.
        event: String,
    },
    /// Appends an event to a game.
    Append {
        /// The key of the game.
        key: i64,
        /// The number of events before it.
        number: usize,
        /// The event, encoded.
        event: String,
    },
    /// Deletes games by their keys.
    Delete(Vec<i64>),
}

type Reply = oneshot::Sender<Result<(), StoreError>>;

/// Writes to be committed together, and where to send the result.
pub(super) struct WriteRequest {
    pub(super) writes: Vec<Write>,
    pub(super) reply: Reply,
}

/// Queue of the writer; it stops when the queue is dropped.
pub(super) type WriteQueue = mpsc::Sender<WriteRequest>;

/// Starts both threads, with a connection for each.
pub(super) fn spawn(
    mut writer: Connection,
    checkpointer: Connection,
) -> io::Result<(WriteQueue, Vec<JoinHandle<()>>)> {
    let (queue, requests) = mpsc::channel(QUEUE_CAPACITY);
    let is_wal_long = Arc::new(AtomicBool::new(false));
    let (writer_running, writer_stopped) = channel();
    let writer = {
        let is_wal_long = is_wal_long.clone();
        std::thread::Builder::new().name("store-writer".into()).spawn(move || {
            write_loop(&mut writer, requests, &is_wal_long);
            drop(writer_running);
        })?
    };
    let checkpointer = std::thread::Builder::new()
        .name("checkpoints".into())
        .spawn(move || checkpoint_loop(&checkpointer, &is_wal_long, &writer_stopped))?;
    Ok((queue, vec![writer, checkpointer]))
}

fn write_loop(
    connection: &mut Connection,
    mut requests: mpsc::Receiver<WriteRequest>,
    is_wal_long: &AtomicBool,
) {
    let mut batch = Vec::new();
    while requests.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        let mut results = Vec::with_capacity(batch.len());
        let committed = write_batch(connection, &mut batch, &mut results);
        let error = committed.err().map(|error| StoreError::Write(error.to_string()));
        for (reply, result) in results {
            let _ = reply.send(error.clone().map_or(result, Err));
        }
        // Requests that were not reached before the transaction failed.
        if let Some(error) = error {
            for request in batch.drain(..) {
                let _ = request.reply.send(Err(error.clone()));
            }
        }
        // The checkpointer has just copied nearly all of it, so little is left to copy here.
        if is_wal_long.swap(false, Ordering::Relaxed) {
            let _ = checkpoint(connection);
        }
    }
    let _ = checkpoint(connection);
}

/// Writes a batch in one transaction. A request that fails is rolled back alone.
fn write_batch(
    connection: &mut Connection,
    batch: &mut Vec<WriteRequest>,
    results: &mut Vec<(Reply, Result<(), StoreError>)>,
) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction()?;
    for WriteRequest { writes, reply } in batch.drain(..) {
        let written = match &writes[..] {
            [write] => execute(&transaction, write),
            writes => transaction.savepoint().and_then(|savepoint| {
                writes.iter().try_for_each(|write| execute(&savepoint, write))?;
                savepoint.commit()
            }),
        };
        results.push((reply, written.map_err(|error| StoreError::Write(error.to_string()))));
    }
    transaction.commit()
}

fn execute(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    let now = unix_millis() as i64;
    match write {
        Write::Create(game) => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO games (id, setup, first, second, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let [first, second] =
                game.secrets.each_ref().map(|hash| hash.as_ref().map(SecretHash::as_bytes));
            statement.execute(params![game.id.as_str(), game.setup, first, second, now])?;
        }
        Write::AppendToNew { id, event } => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO events (game, number, at, event)
                 SELECT key, (SELECT count(*) FROM events WHERE game = key), ?2, ?3
                 FROM games WHERE id = ?1",
            )?;
            statement.execute(params![id.as_str(), now, event])?;
        }
        Write::Append { key, number, event } => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO events (game, number, at, event)
                 SELECT key, ?2, ?3, ?4 FROM games WHERE key = ?1",
            )?;
            // The game may have been deleted in the meantime.
            if statement.execute(params![key, *number as i64, now, event])? == 0 {
                return Err(rusqlite::Error::QueryReturnedNoRows);
            }
        }
        Write::Delete(keys) => {
            for key in keys {
                connection.prepare_cached("DELETE FROM events WHERE game = ?1")?.execute([key])?;
                connection.prepare_cached("DELETE FROM games WHERE key = ?1")?.execute([key])?;
            }
        }
    }
    Ok(())
}

/// Copies as much of the write-ahead log as possible into the database. Returns the size of the log
/// in pages.
fn checkpoint(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
}

fn checkpoint_loop(
    connection: &Connection,
    is_wal_long: &AtomicBool,
    writer_stopped: &Receiver<()>,
) {
    while writer_stopped.recv_timeout(CHECKPOINT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if checkpoint(connection).is_ok_and(|pages| pages > WAL_RESTART_PAGES) {
            is_wal_long.store(true, Ordering::Relaxed);
        }
    }
}
