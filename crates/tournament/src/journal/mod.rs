//! The journal: everything that happened in a tournament, in one SQLite file.
//!
//! A game is scheduled, started and finished. Finished games survive a power cut: the journal uses
//! a write-ahead log that is synchronised at each commit. While a tournament runs, the [`writer`]
//! thread owns the journal; other processes may read it. A [`lock`] prevents a second run.
//! `docs/tournaments.md` describes the tables.

mod error;
mod live;
mod lock;
mod read;
mod schema;
mod update;
mod writer;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

pub use error::JournalError;
pub use read::{FaultRow, Game, GameDetails, Player, Snapshot};
pub use update::JournalUpdate;
pub use writer::{GameInProgress, JournalHandle, Writer, WriterEvent};

use lock::Lock;
use update::{add_player, set, write_tournament};

use crate::Tournament;
use crate::schedule::{PlayerIndex, Round, ScheduledGame};

/// The journal of a tournament.
pub struct Journal {
    connection: Connection,
    path: PathBuf,
    /// Held by a journal opened for writing. Fields are dropped in order: the connection must be
    /// closed first.
    lock: Option<Lock>,
    is_running: bool,
}

/// State of a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Games are missing.
    Open,
    /// All games are finished.
    Finished,
    /// Cancelled by the organiser.
    Cancelled,
}

impl State {
    /// Name in the journal and in JSON.
    pub const fn code(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Finished => "finished",
            State::Cancelled => "cancelled",
        }
    }

    fn parse(text: &str) -> State {
        let states = [State::Finished, State::Cancelled];
        states.into_iter().find(|state| state.code() == text).unwrap_or(State::Open)
    }
}

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Journal {
    /// Returns the path of a tournament's journal: the tournament file's, with the extension
    /// `journal` instead of `toml`.
    pub fn path_for(file: &Path) -> PathBuf {
        match file.extension().and_then(|extension| extension.to_str()) {
            None | Some("toml" | "journal") => file.with_extension("journal"),
            // `a.1` and `a.2` must not share a journal.
            Some(extension) => file.with_extension(format!("{extension}.journal")),
        }
    }

    /// Returns the non-empty files beside a journal that hold data not yet merged into it.
    pub fn logs(path: &Path) -> Vec<PathBuf> {
        // SQLite resolves symbolic links first.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let log = |suffix| {
            let mut name = real.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        let is_used = |log: &PathBuf| log.metadata().is_ok_and(|metadata| metadata.len() > 0);
        ["-wal", "-journal"].map(log).into_iter().filter(is_used).collect()
    }

    /// Creates the journal of a tournament whose file has the contents `text`. Fails if a journal
    /// exists.
    pub fn create(
        path: &Path,
        tournament: &Tournament,
        text: &str,
    ) -> Result<Journal, JournalError> {
        // All or nothing: the journal gets its name once it is complete. The holder of the
        // draft's lock is the only one who may rename it.
        let draft = path.with_extension("journal-new");
        let lock = Lock::acquire_draft(&draft, path)?;
        if let Err(error) = Journal::write_draft(path, &draft, tournament, text) {
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?.with_lock(lock)
    }

    fn write_draft(
        path: &Path,
        draft: &Path,
        tournament: &Tournament,
        text: &str,
    ) -> Result<(), JournalError> {
        let sqlite_error = |error| JournalError::from_sqlite(path, error);
        let io_error = |error| JournalError::from_io(path, &error);
        if path.exists() {
            return Err(JournalError::Exists(path.to_path_buf()));
        }
        // SQLite would apply a stray log to the new journal.
        if let Some(log) = Journal::logs(path).into_iter().next() {
            return Err(JournalError::StrayWal { path: path.to_path_buf(), log });
        }
        std::fs::File::create(draft).map_err(io_error)?;
        let mut connection = Connection::open(draft).map_err(sqlite_error)?;
        let written = initialise(&mut connection, tournament, text).map_err(sqlite_error);
        written.and(connection.close().map_err(|(_, error)| sqlite_error(error)))?;
        std::fs::File::open(draft).and_then(|file| file.sync_all()).map_err(io_error)?;
        std::fs::rename(draft, path).map_err(io_error)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error)
    }

    /// Opens a journal for writing and locks it.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        if !path.exists() {
            return Err(JournalError::Missing(path.to_path_buf()));
        }
        let lock = Lock::acquire(path)?;
        Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?.with_lock(lock)
    }

    /// Takes over the lock and prepares the journal for writing.
    fn with_lock(mut self, lock: Lock) -> Result<Journal, JournalError> {
        self.lock = Some(lock);
        let prepare = || {
            self.connection.pragma_update(None, "journal_mode", "wal")?;
            self.connection.pragma_update(None, "synchronous", "full")?;
            self.connection.pragma_update(None, "foreign_keys", true)?;
            self.connection.execute_batch(schema::ABSENCES)
        };
        prepare().map_err(|error| self.error(error))?;
        Ok(self)
    }

    /// Opens a journal for reading, even while a tournament runs.
    pub fn open_read_only(path: &Path) -> Result<Journal, JournalError> {
        let is_running = Lock::is_held(path);
        // A reader of a write-ahead log needs write access to its shared index. On a read-only
        // file system there is no writer, and without a log no index is needed.
        let journal = Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
            .or_else(|error| match Journal::logs(path).is_empty() {
                true => Journal::connect_as(
                    path,
                    &immutable_uri(path),
                    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                ),
                false => Err(error),
            })?;
        Ok(Journal { is_running, ..journal })
    }

    /// Returns whether another process was running the tournament when this journal was opened
    /// for reading.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    fn connect(path: &Path, access: OpenFlags) -> Result<Journal, JournalError> {
        Journal::connect_as(path, path, access)
    }

    /// Connects to the journal at `path` by the file name or URI `name`.
    fn connect_as(path: &Path, name: &Path, access: OpenFlags) -> Result<Journal, JournalError> {
        if !path.exists() {
            return Err(JournalError::Missing(path.to_path_buf()));
        }
        // SQLite finds the write-ahead log by the name of the journal.
        #[cfg(unix)]
        if path.metadata().is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) > 1) {
            return Err(JournalError::HardLinked(path.to_path_buf()));
        }
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(name, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            let ids: (i64, i64) = (pragma("application_id")?, pragma("user_version")?);
            Ok((connection, ids))
        };
        let (connection, ids) = open().map_err(|error| JournalError::from_sqlite(path, error))?;
        let path = path.to_path_buf();
        match ids {
            (schema::APPLICATION_ID, schema::VERSION) => {
                check_integrity(&connection, &path)?;
                Ok(Journal { connection, path, lock: None, is_running: false })
            }
            (schema::APPLICATION_ID, version) => Err(JournalError::Version { path, version }),
            _ => Err(JournalError::NotAJournal(path)),
        }
    }

    /// Fails if the file was deleted or replaced since it was opened. In that case, what it held is
    /// saved beside it.
    #[cfg(unix)]
    fn check_name(&self) -> Result<(), JournalError> {
        let Some(Lock(opened)) = &self.lock else { return Ok(()) };
        let id = |metadata: std::fs::Metadata| {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        let [opened, named] =
            [opened.metadata(), self.path.metadata()].map(|file| file.map(id).ok());
        if !cfg!(target_os = "linux") || opened == named {
            return Ok(());
        }
        let path = self.path.clone();
        // The deleted file is still readable through the connection.
        let copy = match named {
            None => path.clone(),
            Some(_) => path.with_extension("journal-saved"),
        };
        let saved = self.connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]);
        Err(JournalError::Deleted { path, copy: saved.is_ok().then_some(copy) })
    }

    #[cfg(not(unix))]
    fn check_name(&self) -> Result<(), JournalError> {
        Ok(())
    }

    /// Path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, error: rusqlite::Error) -> JournalError {
        JournalError::from_sqlite(&self.path, error)
    }

    /// Returns the state of the tournament.
    pub fn state(&self) -> Result<State, JournalError> {
        let sql = "SELECT value FROM tournament WHERE key = 'state'";
        let state: Option<String> = self
            .connection
            .query_row(sql, [], |row| row.get(0))
            .optional()
            .map_err(|error| self.error(error))?;
        Ok(State::parse(&state.unwrap_or_default()))
    }

    /// Returns the time at which the journal was created, in milliseconds since 1970.
    pub fn created(&self) -> Result<i64, JournalError> {
        let sql = "SELECT CAST(value AS INTEGER) FROM tournament WHERE key = 'created'";
        let created = self.connection.query_row(sql, [], |row| row.get(0));
        created.map_err(|error| self.error(error))
    }

    /// Sets the state of the tournament.
    pub fn set_state(&self, state: State) -> Result<(), JournalError> {
        let write = || {
            let transaction = self.connection.unchecked_transaction()?;
            set(&transaction, "state", state.code())?;
            set(&transaction, "state_since", &now().to_string())?;
            transaction.commit()
        };
        write().map_err(|error| self.error(error))
    }

    /// Forgets games that an earlier run started and did not finish.
    pub fn reset_unfinished(&mut self) -> Result<(), JournalError> {
        self.write(|transaction| transaction.execute_batch(schema::RESET_UNFINISHED))
    }

    /// Stores rounds and their games in one transaction. Games get the next free numbers.
    pub fn schedule(&mut self, rounds: &[(Round, Vec<ScheduledGame>)]) -> Result<(), JournalError> {
        self.write(|transaction| schedule(transaction, rounds))
    }

    /// Applies changes of the tournament in one transaction.
    pub fn update(&mut self, update: &JournalUpdate<'_>) -> Result<(), JournalError> {
        self.write(|transaction| update.write(transaction))
    }

    fn write(
        &mut self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), JournalError> {
        let Journal { connection, path, .. } = self;
        let commit = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            write(&transaction)?;
            transaction.commit()
        };
        commit().map_err(|error| JournalError::from_sqlite(path, error))
    }
}

/// Fails if the file is damaged.
fn check_integrity(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let problem = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let problem = match problem {
        Ok(problem) if problem == "ok" => return Ok(()),
        // Of several lines, the first names the table.
        Ok(problem) => problem.lines().collect::<Vec<_>>().join("; "),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            error.to_string()
        }
        Err(error) => return Err(JournalError::from_sqlite(path, error)),
    };
    Err(JournalError::Damaged { path: path.to_path_buf(), problem })
}

/// Returns the URI of a file that does not change while it is open.
fn immutable_uri(path: &Path) -> PathBuf {
    use std::fmt::Write;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        let _ = match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                write!(uri, "{}", char::from(byte))
            }
            byte => write!(uri, "%{byte:02X}"),
        };
    }
    PathBuf::from(uri + "?immutable=1")
}

/// Creates the tables and stores the tournament.
fn initialise(
    connection: &mut Connection,
    tournament: &Tournament,
    text: &str,
) -> rusqlite::Result<()> {
    // An incomplete draft is discarded, so one sync at the end is enough.
    connection.pragma_update(None, "journal_mode", "memory")?;
    connection.pragma_update(None, "synchronous", "off")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(schema::TABLES)?;
    transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", schema::VERSION)?;
    transaction.commit()?;
    let transaction = connection.transaction()?;
    write_tournament(&transaction, tournament, text)?;
    set(&transaction, "created", &now().to_string())?;
    set(&transaction, "program", concat!("crownhead ", env!("CARGO_PKG_VERSION")))?;
    for (place, entrant) in tournament.entrants.iter().enumerate() {
        add_player(&transaction, place, entrant)?;
    }
    transaction.commit()
}

fn schedule(
    connection: &Connection,
    rounds: &[(Round, Vec<ScheduledGame>)],
) -> rusqlite::Result<()> {
    let mut add_round = connection.prepare("INSERT INTO rounds (number, title) VALUES (?1, ?2)")?;
    let mut add_bye = connection.prepare("INSERT INTO byes (round, player) VALUES (?1, ?2)")?;
    let mut add_game = connection.prepare(
        "INSERT INTO games (round, first, second, opening, repeat) VALUES (?1, ?2, ?3, ?4,
         (SELECT coalesce(max(repeat) + 1, 0) FROM games WHERE first = ?2 AND second = ?3))",
    )?;
    for (round, games) in rounds {
        add_round.execute(params![round.number, round.title])?;
        for &player in &round.byes {
            add_bye.execute(params![round.number, player_number(player)])?;
        }
        for game in games {
            let [first, second] = game.players.map(player_number);
            add_game.execute(params![round.number, first, second, game.opening])?;
        }
    }
    Ok(())
}

/// Returns a player's number in the journal, from 1.
fn player_number(player: PlayerIndex) -> i64 {
    player as i64 + 1
}

/// Returns the current time in milliseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis().try_into().unwrap_or(i64::MAX)
}
