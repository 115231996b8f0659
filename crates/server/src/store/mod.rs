//! Games in SQLite: setups, hashed seat secrets and events.
//!
//! A write returns once it is on disk, so it survives a killed process and a power cut
//! (`synchronous=FULL`).

pub mod codec;
mod writer;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use tokio::sync::oneshot;

pub use self::writer::Write;
use self::writer::{WriteQueue, WriteRequest};
use crate::ids::{GameId, SecretHash};
use crate::sync::lock;

/// Schema version of the database, in its `user_version`.
const SCHEMA_VERSION: i64 = 2;

/// Error of the store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database could not be opened or read.
    #[error("{file}: {message}")]
    File {
        /// The database.
        file: PathBuf,
        /// The error of SQLite or the file system.
        message: String,
    },
    /// Another process uses the directory.
    #[error("{0} is in use by another crownhead server: choose another --data")]
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
    /// The database is damaged.
    #[error(
        "{file} is damaged: {problem}. Restore a backup; or save what can be read with `(sqlite3 \
         '{file}' .dump | grep -v ^ROLLBACK; echo 'COMMIT; PRAGMA user_version = \
         {SCHEMA_VERSION};') | sqlite3 recovered.sqlite`, move {file} and {file}-wal away, and \
         rename recovered.sqlite to {file}"
    )]
    Damaged {
        /// The database.
        file: PathBuf,
        /// What SQLite found.
        problem: String,
    },
    /// A write failed.
    #[error("cannot write to the database: {0}")]
    Write(String),
    /// The store has been closed.
    #[error("the server is shutting down")]
    Closed,
}

/// Game to be inserted.
pub struct NewGame {
    /// The id.
    pub id: GameId,
    /// The setup, encoded.
    pub setup: String,
    /// Hashes of the secrets of both seats.
    pub secrets: [Option<SecretHash>; 2],
}

/// Game as stored.
pub struct StoredGame {
    /// The key in the database.
    pub key: i64,
    /// The setup, encoded.
    pub setup: String,
    /// Hashes of the secrets of both seats.
    pub secrets: [Option<SecretHash>; 2],
    /// The events, encoded.
    pub events: Vec<String>,
    /// Time of the creation, in milliseconds since 1970.
    pub created: u64,
    /// Time of the last event; of the creation if there is none.
    pub last_activity: u64,
}

/// Games on disk.
pub struct Store {
    /// `None` once the store is closed.
    queue: Mutex<Option<WriteQueue>>,
    reader: Mutex<Connection>,
    file: PathBuf,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Lock file of the directory, held while the store is open.
    lock_file: Mutex<Option<File>>,
}

impl Store {
    /// Opens the games in a directory, which is created if necessary.
    pub fn open(dir: &Path) -> Result<Arc<Store>, StoreError> {
        let file = dir.join("games.sqlite");
        let in_file = |error: &dyn std::fmt::Display| file_error(&file, error);
        std::fs::create_dir_all(dir).map_err(|error| in_file(&error))?;
        let lock_file = File::options().create(true).append(true).open(dir.join("lock"));
        let lock_file = lock_file.map_err(|error| in_file(&error))?;
        if matches!(lock_file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(StoreError::InUse(dir.into()));
        }
        let connect = || connect(&file).map_err(|error| in_file(&error));
        let mut writer = connect()?;
        let found = create_tables(&mut writer).map_err(|error| in_file(&error))?;
        if found != SCHEMA_VERSION {
            return Err(StoreError::Schema { file, found });
        }
        if let Some(problem) = find_damage(&writer).map_err(|error| in_file(&error))? {
            return Err(StoreError::Damaged { file, problem });
        }
        let (reader, checkpointer) = (connect()?, connect()?);
        let (queue, threads) =
            writer::spawn(writer, checkpointer).map_err(|error| in_file(&error))?;
        Ok(Arc::new(Store {
            queue: Mutex::new(Some(queue)),
            reader: Mutex::new(reader),
            file,
            threads: Mutex::new(threads),
            lock_file: Mutex::new(Some(lock_file)),
        }))
    }

    /// Writes all of `writes` or nothing. Returns once they are on disk.
    pub async fn write(&self, writes: Vec<Write>) -> Result<(), StoreError> {
        let queue = lock(&self.queue).clone().ok_or(StoreError::Closed)?;
        let (reply, result) = oneshot::channel();
        let request = WriteRequest { writes, reply };
        queue.send(request).await.map_err(|_| StoreError::Closed)?;
        result.await.map_err(|_| StoreError::Closed)?
    }

    /// Reads a game; `None` if there is none with this id. Blocks on the disk.
    pub fn read(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        read_game(&lock(&self.reader), id).map_err(|error| file_error(&self.file, &error))
    }

    /// Finds games to delete: unplayed for `unplayed_ttl`, without an event for `idle_ttl`, or in
    /// excess of `max_games`, unplayed ones first, then those idle for longest. Renaming a seat
    /// does not count as an event. Returns keys and ids.
    pub fn stale_games(
        &self,
        unplayed_ttl: Duration,
        idle_ttl: Duration,
        max_games: usize,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let before = |ttl: Duration| unix_millis().saturating_sub(ttl.as_millis() as u64) as i64;
        let limits = params![before(unplayed_ttl), before(idle_ttl), max_games as i64];
        let find = || {
            // The query is slow, so it has its own connection and blocks no other reads.
            let connection = connect(&self.file)?;
            let mut statement = connection.prepare(
                "WITH ages AS (SELECT key, id, created,
                     (SELECT at FROM events WHERE game = key AND event NOT LIKE '{\"name\":%'
                      ORDER BY number DESC LIMIT 1) AS last FROM games),
                 ranks AS (SELECT *, row_number() OVER
                     (ORDER BY last IS NULL, coalesce(last, created) DESC) AS rank FROM ages)
                 SELECT key, id FROM ranks
                 WHERE (last IS NULL AND created < ?1) OR coalesce(last, created) < ?2
                     OR rank > ?3",
            )?;
            let rows = statement.query_map(limits, |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        find().map_err(|error| file_error(&self.file, &error))
    }

    /// Completes pending writes and closes the store. Blocks until that is done.
    pub fn close(&self) {
        lock(&self.queue).take();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            let _ = thread.join();
        }
        lock(&self.lock_file).take();
    }
}

fn file_error(file: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::File { file: file.into(), message: error.to_string() }
}

/// The time in milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The checkpointer does that.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(connection)
}

/// Returns what is wrong with the file, if anything.
fn find_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let result = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match result {
        Ok(text) if text == "ok" => Ok(None),
        Ok(text) => Ok(Some(text.lines().collect::<Vec<_>>().join("; "))),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error),
    }
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
            let created: i64 = row.get(4)?;
            Ok(StoredGame {
                key: row.get(0)?,
                setup: row.get(1)?,
                secrets: [hash(row, 2)?, hash(row, 3)?],
                events: Vec::new(),
                created: created as u64,
                last_activity: created as u64,
            })
        })
        .optional()?;
    let Some(mut game) = game else { return Ok(None) };
    let mut statement = connection
        .prepare_cached("SELECT event, at FROM events WHERE game = ?1 ORDER BY number")?;
    let mut rows = statement.query([game.key])?;
    while let Some(row) = rows.next()? {
        game.events.push(row.get(0)?);
        game.last_activity = row.get::<_, i64>(1)? as u64;
    }
    Ok(Some(game))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;
    use crate::ids::SeatSecret;

    fn new_game(id: &GameId) -> NewGame {
        let secrets = [Some(SeatSecret::new().unwrap().hash()), None];
        NewGame { id: id.clone(), setup: "setup".into(), secrets }
    }

    #[tokio::test]
    async fn writes_are_read_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let id = GameId::new().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.write(vec![Write::Create(new_game(&id))]).await.unwrap();
        let key = store.read(&id).unwrap().unwrap().key;
        for number in 0..3 {
            let event = format!("event {number}");
            store.write(vec![Write::Append { key, number, event }]).await.unwrap();
        }
        store.close();
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        let stored = store.read(&id).unwrap().unwrap();
        assert_eq!(stored.events, ["event 0", "event 1", "event 2"]);
        assert!(stored.secrets[0].is_some() && stored.secrets[1].is_none());
        assert!(store.read(&GameId::new().unwrap()).unwrap().is_none());
        store.close();
    }

    #[tokio::test]
    async fn duplicate_event_fails_and_rolls_back_its_request() {
        let dir = tempfile::tempdir().unwrap();
        let (id, second_id) = (GameId::new().unwrap(), GameId::new().unwrap());
        let store = Store::open(dir.path()).unwrap();
        store.write(vec![Write::Create(new_game(&id))]).await.unwrap();
        let key = store.read(&id).unwrap().unwrap().key;
        let event = || Write::Append { key, number: 0, event: "once".into() };
        store.write(vec![event()]).await.unwrap();
        assert!(store.write(vec![event()]).await.is_err());
        assert!(store.write(vec![Write::Create(new_game(&second_id)), event()]).await.is_err());
        assert!(store.read(&second_id).unwrap().is_none());
        assert_eq!(store.read(&id).unwrap().unwrap().events, ["once"]);
        store.close();
    }

    #[test]
    fn open_refuses_a_damaged_database_with_a_way_to_recover() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("games.sqlite");
        let mut connection = Connection::open(&file).unwrap();
        create_tables(&mut connection).unwrap();
        let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                    INSERT INTO games (id, setup, created) SELECT 'id' || i, '{}', i FROM n";
        connection.execute(fill, []).unwrap();
        drop(connection);
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 8192].fill(0xa5);
        std::fs::write(&file, bytes).unwrap();
        let error = Store::open(dir.path()).err().unwrap().to_string();
        assert!(error.contains("games.sqlite is damaged: "), "{error}");
        assert!(error.contains(" | sqlite3 recovered.sqlite`"), "{error}");
        assert!(error.contains("games.sqlite-wal away"), "{error}");
    }

    #[test]
    fn open_refuses_other_schema_versions() {
        for found in [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1] {
            let dir = tempfile::tempdir().unwrap();
            let connection = Connection::open(dir.path().join("games.sqlite")).unwrap();
            connection.pragma_update(None, "user_version", found).unwrap();
            drop(connection);
            let Err(error) = Store::open(dir.path()) else { panic!("version {found} opened") };
            let message = error.to_string();
            let versions =
                format!("schema version {found}; this crownhead supports only version 2");
            assert!(message.contains(&versions), "{message}");
        }
    }

    #[tokio::test]
    async fn open_refuses_a_directory_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert!(matches!(Store::open(dir.path()), Err(StoreError::InUse(_))));
        store.close();
    }

    #[tokio::test]
    async fn unplayed_games_are_stale_first_even_if_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (played, renamed) = (GameId::new().unwrap(), GameId::new().unwrap());
        for (id, event) in
            [(&played, r#"{"move":{"text":"11-15"}}"#), (&renamed, r#"{"name":["first","Ann"]}"#)]
        {
            let append = Write::AppendToNew { id: id.clone(), event: event.into() };
            store.write(vec![Write::Create(new_game(id)), append]).await.unwrap();
        }
        let day = Duration::from_secs(86_400);
        let ids =
            |games: Vec<(i64, String)>| games.into_iter().map(|(_, id)| id).collect::<Vec<_>>();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_eq!(ids(store.stale_games(Duration::ZERO, day, 9).unwrap()), [renamed.as_str()]);
        assert_eq!(
            ids(store.stale_games(day, day, 1).unwrap()),
            [renamed.as_str()],
            "although it is newer"
        );
        store.close();
    }

    #[tokio::test]
    async fn old_and_excess_games_are_stale() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let ids: Vec<_> = (0..4).map(|_| GameId::new().unwrap()).collect();
        for id in &ids {
            store.write(vec![Write::Create(new_game(id))]).await.unwrap();
        }
        let day = Duration::from_secs(86_400);
        assert!(store.stale_games(day, day, 4).unwrap().is_empty());
        assert_eq!(store.stale_games(day, day, 3).unwrap().len(), 1);
        let key = store.read(&ids[0]).unwrap().unwrap().key;
        store.write(vec![Write::Append { key, number: 0, event: "move".into() }]).await.unwrap();
        let stale = store.stale_games(Duration::ZERO, day, 4).unwrap();
        assert!(stale.iter().all(|(_, id)| id != ids[0].as_str()), "{stale:?}");
        let keys = stale.iter().map(|(key, _)| *key).collect();
        store.write(vec![Write::Delete(keys)]).await.unwrap();
        assert!(store.read(&ids[0]).unwrap().is_some());
        store.close();
    }
}
