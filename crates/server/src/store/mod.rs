//! Games on disk: one SQLite file with the games and all that happened in them.
//!
//! One thread writes. It takes all writes that wait, makes one transaction of them and answers them
//! when the disk has it, so that many games share the one wait that a commit costs. What has been
//! answered survives the loss of the process and of power (`synchronous=FULL`). A second thread copies
//! the log of SQLite into its file, so that no move waits for that.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::{mpsc, oneshot};

use crate::ids::{GameId, SecretHash};

/// So many writes may wait; more wait for their turn to wait.
const QUEUE_CAPACITY: usize = 8192;
/// So many writes go into one transaction.
const MAX_BATCH: usize = 512;
/// How often the log is copied into the file. A page that many moves change is copied once each time, so
/// seldom is better; and each time the disk is busy for a while.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);
/// Pages in the log from which on the writer itself sees to it that it begins anew.
const WAL_RESTART_PAGES: i64 = 8192;
/// Schema version of the database, in its `user_version`.
const SCHEMA_VERSION: i64 = 2;

/// Why something could not be kept or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite says so.
    #[error("the games cannot be kept in {file}: {what}")]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Another process has them.
    #[error("the games in {0} are being served by another crownhead: choose another --data")]
    InUse(PathBuf),
    /// The database has another schema version.
    #[error(
        "{file} has schema version {found}; this crownhead supports only version {SCHEMA_VERSION}: \
         choose another --data"
    )]
    Schema {
        /// The database.
        file: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A write failed.
    #[error("it could not be kept on disk: {0}")]
    Write(String),
    /// The writer has ended.
    #[error("the server is ending")]
    Ended,
}

/// A new game to be kept.
pub struct NewGame {
    /// Its id.
    pub id: GameId,
    /// Its setup as a text.
    pub setup: String,
    /// What is kept of the secrets of both sides.
    pub secrets: [Option<SecretHash>; 2],
}

/// Something to be kept.
pub enum Write {
    /// A new game.
    Create(NewGame),
    /// The next event of a game that the same job has made.
    AppendToNew {
        /// The id of the game.
        id: GameId,
        /// The event as a text.
        event: String,
    },
    /// Something that happened in a game.
    Append {
        /// The key of the game.
        key: i64,
        /// How many events there were before.
        number: usize,
        /// The event as a text.
        event: String,
    },
    /// Games that are kept no longer, by their keys.
    Delete(Vec<i64>),
}

/// A game that was kept.
pub struct StoredGame {
    /// Its key in the file.
    pub key: i64,
    /// Its setup as a text.
    pub setup: String,
    /// What is kept of the secrets of both sides.
    pub secrets: [Option<SecretHash>; 2],
    /// What happened.
    pub events: Vec<String>,
    /// When it last changed, in milliseconds since 1970.
    pub touched: u64,
}

struct WriteRequest {
    writes: Vec<Write>,
    done: oneshot::Sender<Result<(), StoreError>>,
}

/// The games on disk.
pub struct Store {
    jobs: Mutex<Option<mpsc::Sender<WriteRequest>>>,
    reader: Mutex<Connection>,
    file: PathBuf,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Held as long as the games are served.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Opens the games in a folder, which is made if it is not there.
    pub fn open(folder: &Path) -> Result<Arc<Store>, StoreError> {
        let file = folder.join("games.sqlite");
        let wrong = |error: &dyn std::fmt::Display| StoreError::File {
            file: file.clone(),
            what: error.to_string(),
        };
        std::fs::create_dir_all(folder).map_err(|error| wrong(&error))?;
        let lock = File::options().create(true).append(true).open(folder.join("lock"));
        let lock = lock.map_err(|error| wrong(&error))?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(StoreError::InUse(folder.into()));
        }
        let mut writer = connect(&file).map_err(|error| wrong(&error))?;
        let found = create_tables(&mut writer).map_err(|error| wrong(&error))?;
        if found != SCHEMA_VERSION {
            return Err(StoreError::Schema { file, found });
        }
        let reader = connect(&file).map_err(|error| wrong(&error))?;
        let copier = connect(&file).map_err(|error| wrong(&error))?;
        let (jobs, waiting) = mpsc::channel(QUEUE_CAPACITY);
        let log_is_long = Arc::new(AtomicBool::new(false));
        let (end, ended) = channel();
        let is_long = log_is_long.clone();
        let writing = std::thread::Builder::new().name("writing".into()).spawn(move || {
            write_all(&mut writer, waiting, &is_long);
            drop(end);
        });
        let copying = std::thread::Builder::new()
            .name("copying".into())
            .spawn(move || checkpoint_loop(&copier, &log_is_long, &ended));
        let threads =
            vec![writing.map_err(|error| wrong(&error))?, copying.map_err(|error| wrong(&error))?];
        Ok(Arc::new(Store {
            jobs: Mutex::new(Some(jobs)),
            reader: Mutex::new(reader),
            file: file.clone(),
            threads: Mutex::new(threads),
            lock: Mutex::new(Some(lock)),
        }))
    }

    /// Keeps something; all of it or nothing. When this returns it is on disk.
    pub async fn write(&self, writes: Vec<Write>) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let jobs = jobs.ok_or(StoreError::Ended)?;
        jobs.send(WriteRequest { writes, done }).await.map_err(|_| StoreError::Ended)?;
        answer.await.map_err(|_| StoreError::Ended)?
    }

    /// Reads a game; none if there is none of this id. It waits for the disk.
    pub fn read(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        read_game(&reader, id).map_err(|error| self.wrong(&error))
    }

    /// The keys and ids of games that have not changed for so long: those that were never played, and those
    /// that were. Beyond `most` games those that were never played are named too, then those that have not
    /// changed for longest. A name given is no play.
    pub fn stale_games(
        &self,
        empty: Duration,
        any: Duration,
        most: usize,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        // It takes a while, and nobody else is to wait for it.
        let reader = connect(&self.file).map_err(|error| self.wrong(&error))?;
        let before = |time: Duration| now().saturating_sub(time.as_millis() as u64) as i64;
        let find = || {
            let mut statement = reader.prepare(
                "WITH ages AS (SELECT key, id, created,
                     (SELECT at FROM events WHERE game = key AND event NOT LIKE '{\"name\":%'
                      ORDER BY number DESC LIMIT 1) AS last FROM games),
                 ranks AS (SELECT *, row_number() OVER (ORDER BY last IS NULL, coalesce(last, created) DESC) AS rank
                     FROM ages)
                 SELECT key, id FROM ranks
                 WHERE (last IS NULL AND created < ?1) OR coalesce(last, created) < ?2 OR rank > ?3",
            )?;
            let rows = statement
                .query_map(params![before(empty), before(any), most as i64], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        find().map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::File { file: self.file.clone(), what: error.to_string() }
    }

    /// Writes what waits and ends.
    pub fn close(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The thread beside the writer does that.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(connection)
}

/// Creates the tables in a new database. Returns the schema version; a database of another version
/// is left unchanged.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<i64> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != 0 {
        return Ok(version);
    }
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS games (
             key INTEGER PRIMARY KEY AUTOINCREMENT,
             id TEXT NOT NULL UNIQUE,
             setup TEXT NOT NULL,
             first BLOB,
             second BLOB,
             created INTEGER NOT NULL
         ) STRICT;
         CREATE TABLE IF NOT EXISTS events (
             game INTEGER NOT NULL,
             number INTEGER NOT NULL,
             at INTEGER NOT NULL,
             event TEXT NOT NULL,
             PRIMARY KEY (game, number)
         ) STRICT, WITHOUT ROWID;",
    )?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(SCHEMA_VERSION)
}

fn read_game(connection: &Connection, id: &GameId) -> rusqlite::Result<Option<StoredGame>> {
    let mut statement = connection
        .prepare_cached("SELECT key, setup, first, second, created FROM games WHERE id = ?1")?;
    let hash = |row: &rusqlite::Row<'_>, index| -> rusqlite::Result<Option<SecretHash>> {
        let bytes: Option<Vec<u8>> = row.get(index)?;
        Ok(bytes.and_then(|bytes| SecretHash::from_bytes(&bytes)))
    };
    let game = statement
        .query_row([id.as_str()], |row| {
            let touched: i64 = row.get(4)?;
            Ok(StoredGame {
                key: row.get(0)?,
                setup: row.get(1)?,
                secrets: [hash(row, 2)?, hash(row, 3)?],
                events: Vec::new(),
                touched: touched as u64,
            })
        })
        .optional()?;
    let Some(mut game) = game else { return Ok(None) };
    let mut statement = connection
        .prepare_cached("SELECT event, at FROM events WHERE game = ?1 ORDER BY number")?;
    let mut rows = statement.query([game.key])?;
    while let Some(row) = rows.next()? {
        game.events.push(row.get(0)?);
        game.touched = row.get::<_, i64>(1)? as u64;
    }
    Ok(Some(game))
}

/// Writes jobs until there will be no more.
fn write_all(
    connection: &mut Connection,
    mut jobs: mpsc::Receiver<WriteRequest>,
    log_is_long: &AtomicBool,
) {
    let mut batch = Vec::new();
    while jobs.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        let mut done = Vec::with_capacity(batch.len());
        match write_batch(connection, &mut batch, &mut done) {
            Ok(()) => {
                for (answer, result) in done {
                    let _ = answer.send(result);
                }
            }
            Err(error) => {
                let error = StoreError::Write(error.to_string());
                for (answer, _) in done {
                    let _ = answer.send(Err(error.clone()));
                }
                for job in batch.drain(..) {
                    let _ = job.done.send(Err(error.clone()));
                }
            }
        }
        // Nearly all of it has just been copied: this copies the rest, and the log begins anew.
        if log_is_long.swap(false, Ordering::Relaxed) {
            let _ = checkpoint(connection);
        }
    }
    let _ = checkpoint(connection);
}

type Answer = (oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>);

/// One transaction. What fails alone is undone alone.
fn write_batch(
    connection: &mut Connection,
    batch: &mut Vec<WriteRequest>,
    done: &mut Vec<Answer>,
) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction()?;
    for job in batch.drain(..) {
        let written = if job.writes.len() == 1 {
            job.writes.iter().try_for_each(|write| write_one(&transaction, write))
        } else {
            let savepoint = transaction.savepoint();
            savepoint.and_then(|savepoint| {
                job.writes.iter().try_for_each(|write| write_one(&savepoint, write))?;
                savepoint.commit()
            })
        };
        done.push((job.done, written.map_err(|error| StoreError::Write(error.to_string()))));
    }
    transaction.commit()
}

fn write_one(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Create(game) => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO games (id, setup, first, second, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let [first, second] =
                game.secrets.each_ref().map(|hash| hash.as_ref().map(SecretHash::as_bytes));
            statement.execute(params![
                game.id.as_str(),
                game.setup,
                first,
                second,
                now() as i64
            ])?;
        }
        Write::AppendToNew { id, event } => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO events (game, number, at, event)
                 SELECT key, (SELECT count(*) FROM events WHERE game = key), ?2, ?3 FROM games WHERE id = ?1",
            )?;
            statement.execute(params![id.as_str(), now() as i64, event])?;
        }
        Write::Append { key, number, event } => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO events (game, number, at, event)
                 SELECT key, ?2, ?3, ?4 FROM games WHERE key = ?1",
            )?;
            // A game that has been removed meanwhile keeps nothing, and nobody is told otherwise.
            if statement.execute(params![key, *number as i64, now() as i64, event])? == 0 {
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

/// Copies the log into the file as far as it can be; how many pages the log has.
fn checkpoint(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
}

fn checkpoint_loop(connection: &Connection, log_is_long: &AtomicBool, ended: &Receiver<()>) {
    while ended.recv_timeout(CHECKPOINT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if checkpoint(connection).is_ok_and(|pages| pages > WAL_RESTART_PAGES) {
            log_is_long.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;
    use crate::ids::SeatSecret;

    fn new_game(id: &GameId) -> NewGame {
        let secrets = [Some(SeatSecret::new().unwrap().hash()), None];
        NewGame { id: id.clone(), setup: "setup".into(), secrets }
    }

    #[tokio::test]
    async fn what_was_written_is_read_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let id = GameId::new().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.write(vec![Write::Create(new_game(&id))]).await.unwrap();
        let key = store.read(&id).unwrap().unwrap().key;
        for number in 0..3 {
            let event = format!("event {number}");
            store.write(vec![Write::Append { key, number, event }]).await.unwrap();
        }
        store.close();
        drop(store);
        let store = Store::open(folder.path()).unwrap();
        let stored = store.read(&id).unwrap().unwrap();
        assert_eq!(stored.events, ["event 0", "event 1", "event 2"]);
        assert!(stored.secrets[0].is_some() && stored.secrets[1].is_none());
        assert!(store.read(&GameId::new().unwrap()).unwrap().is_none());
        store.close();
    }

    #[tokio::test]
    async fn the_same_event_is_not_kept_twice_and_half_a_job_is_not_kept_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let (id, next) = (GameId::new().unwrap(), GameId::new().unwrap());
        let store = Store::open(folder.path()).unwrap();
        store.write(vec![Write::Create(new_game(&id))]).await.unwrap();
        let key = store.read(&id).unwrap().unwrap().key;
        let event = || Write::Append { key, number: 0, event: "once".into() };
        store.write(vec![event()]).await.unwrap();
        assert!(store.write(vec![event()]).await.is_err());
        assert!(store.write(vec![Write::Create(new_game(&next)), event()]).await.is_err());
        assert!(store.read(&next).unwrap().is_none());
        assert_eq!(store.read(&id).unwrap().unwrap().events, ["once"]);
        store.close();
    }

    #[test]
    fn open_refuses_other_schema_versions() {
        for found in [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1] {
            let folder = tempfile::tempdir().unwrap();
            let connection = Connection::open(folder.path().join("games.sqlite")).unwrap();
            connection.pragma_update(None, "user_version", found).unwrap();
            drop(connection);
            let Err(error) = Store::open(folder.path()) else { panic!("version {found} opened") };
            let message = error.to_string();
            let versions =
                format!("schema version {found}; this crownhead supports only version 2");
            assert!(message.contains(&versions), "{message}");
        }
    }

    #[tokio::test]
    async fn two_processes_do_not_serve_the_same_games() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(StoreError::InUse(_))));
        store.close();
    }

    #[tokio::test]
    async fn games_that_were_never_played_go_first_whatever_their_players_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let (played, named) = (GameId::new().unwrap(), GameId::new().unwrap());
        for (id, event) in
            [(&played, r#"{"move":{"text":"11-15"}}"#), (&named, r#"{"name":["first","Ann"]}"#)]
        {
            let begin = Write::AppendToNew { id: id.clone(), event: event.into() };
            store.write(vec![Write::Create(new_game(id)), begin]).await.unwrap();
        }
        let day = Duration::from_secs(86_400);
        let ids =
            |found: Vec<(i64, String)>| found.into_iter().map(|(_, id)| id).collect::<Vec<_>>();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_eq!(ids(store.stale_games(Duration::ZERO, day, 9).unwrap()), [named.as_str()]);
        assert_eq!(
            ids(store.stale_games(day, day, 1).unwrap()),
            [named.as_str()],
            "though it is newer"
        );
        store.close();
    }

    #[tokio::test]
    async fn old_games_and_games_beyond_the_bound_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let ids: Vec<_> = (0..4).map(|_| GameId::new().unwrap()).collect();
        for id in &ids {
            store.write(vec![Write::Create(new_game(id))]).await.unwrap();
        }
        let day = Duration::from_secs(86_400);
        assert!(store.stale_games(day, day, 4).unwrap().is_empty());
        assert_eq!(store.stale_games(day, day, 3).unwrap().len(), 1);
        let key = store.read(&ids[0]).unwrap().unwrap().key;
        store.write(vec![Write::Append { key, number: 0, event: "move".into() }]).await.unwrap();
        let all = store.stale_games(Duration::ZERO, day, 4).unwrap();
        assert!(all.iter().all(|(_, id)| id != ids[0].as_str()), "{all:?}");
        let keys = all.iter().map(|(key, _)| *key).collect();
        store.write(vec![Write::Delete(keys)]).await.unwrap();
        assert!(store.read(&ids[0]).unwrap().is_some());
        store.close();
    }
}
