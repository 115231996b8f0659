//! The journal: all that happened in a tournament, in one SQLite file that no crash can spoil.
//!
//! A game is scheduled, started and finished; what is finished is there after a power cut (a write-ahead
//! log that is synchronised at each commit). While a tournament runs, the [`writer`] has the file; anybody
//! may read it meanwhile. The [`lock`] that a [`Journal`] to go on with has keeps a second run away. The tables are described in
//! `docs/tournaments.md`.

mod error;
mod lock;
mod read;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

pub use error::JournalError;
pub use read::{Game, Moves, Player, Snapshot, Stored};
pub use writer::{
    Brief, Fault, FinishedGame, GameInProgress, GameText, JournalHandle, Writer, WriterEvent,
};

use lock::Lock;

use crate::schedule::{PlayerIndex, Round, ScheduledGame};
use crate::{Entrant, Tournament};

/// The journal of a tournament.
pub struct Journal {
    connection: Connection,
    path: PathBuf,
    /// Of one to go on with. It is given up after the connection: fields are dropped in their order.
    lock: Option<Lock>,
    is_running: bool,
}

/// What has become of a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Games are missing.
    Open,
    /// All games are finished.
    Finished,
    /// Nobody wants it to go on.
    Cancelled,
}

impl State {
    /// Its word in the journal.
    pub const fn code(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Finished => "finished",
            State::Cancelled => "cancelled",
        }
    }

    fn read(text: &str) -> State {
        let states = [State::Finished, State::Cancelled];
        states.into_iter().find(|state| state.code() == text).unwrap_or(State::Open)
    }
}

/// How long one waits for another who writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Journal {
    /// The place of the journal of a tournament file: beside it, with the ending `journal` instead of
    /// `toml`.
    pub fn path_for(file: &Path) -> PathBuf {
        match file.extension().and_then(|ending| ending.to_str()) {
            None | Some("toml" | "journal") => file.with_extension("journal"),
            // Files that differ in another ending have journals of their own.
            Some(ending) => file.with_extension(format!("{ending}.journal")),
        }
    }

    /// The files beside a journal in which SQLite has what is not in it yet.
    pub fn logs(path: &Path) -> Vec<PathBuf> {
        // SQLite goes by the real name.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let log = |ending| {
            let mut name = real.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        };
        let has_something = |log: &PathBuf| log.metadata().is_ok_and(|known| known.len() > 0);
        ["-wal", "-journal"].map(log).into_iter().filter(has_something).collect()
    }

    /// Begins a journal with the facts and players of a tournament. The file must not be there.
    pub fn create(
        path: &Path,
        tournament: &Tournament,
        text: &str,
    ) -> Result<Journal, JournalError> {
        // Whole or not at all: under another name until everything is in it. Whoever has locked that
        // is the only one to put a journal in its place.
        let draft = path.with_extension("journal-new");
        let lock = Lock::take_new(&draft, path)?;
        let written = Journal::draft(path, &draft, tournament, text);
        if let Err(error) = written {
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?.kept_with(lock)
    }

    fn draft(
        path: &Path,
        draft: &Path,
        tournament: &Tournament,
        text: &str,
    ) -> Result<(), JournalError> {
        let failed = |error| JournalError::of(path, error);
        let io = |error| JournalError::io(path, &error);
        if path.exists() {
            return Err(JournalError::Exists(path.to_path_buf()));
        }
        // SQLite would take what it finds there for the end of the new journal.
        if let Some(log) = Journal::logs(path).into_iter().next() {
            return Err(JournalError::StrayWal { path: path.to_path_buf(), log });
        }
        std::fs::File::create(draft).map_err(io)?;
        let mut connection = Connection::open(draft).map_err(failed)?;
        let written = write_head(&mut connection, tournament, text).map_err(failed);
        written.and(connection.close().map_err(|(_, error)| failed(error)))?;
        std::fs::File::open(draft).and_then(|file| file.sync_all()).map_err(io)?;
        std::fs::rename(draft, path).map_err(io)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)
    }

    /// Opens a journal to go on with it; nobody else can meanwhile.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        if !path.exists() {
            return Err(JournalError::Missing(path.to_path_buf()));
        }
        let lock = Lock::take(path)?;
        Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?.kept_with(lock)
    }

    /// Makes it ready to go on with, for whoever has its lock.
    fn kept_with(mut self, lock: Lock) -> Result<Journal, JournalError> {
        self.lock = Some(lock);
        let prepare = || {
            self.connection.pragma_update(None, "journal_mode", "wal")?;
            self.connection.pragma_update(None, "synchronous", "full")?;
            self.connection.pragma_update(None, "foreign_keys", true)
        };
        prepare().map_err(|error| self.failed(error))?;
        Ok(self)
    }

    /// Opens a journal to read it, while it is written perhaps.
    pub fn open_read_only(path: &Path) -> Result<Journal, JournalError> {
        let is_run_elsewhere = Lock::is_taken(path);
        // Whoever reads a write-ahead log must be able to share its index: where the folder can be
        // written, the file is opened as if to write. Where it cannot, and there is no log, nobody
        // writes: then no index is needed.
        let journal = Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
            .or_else(|error| match Journal::logs(path).is_empty() {
                true => Journal::connect_to(
                    path,
                    &immutable(path),
                    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                ),
                false => Err(error),
            })?;
        Ok(Journal { is_running: is_run_elsewhere, ..journal })
    }

    /// Whether another program was running the tournament when this was opened to read.
    pub fn is_run_elsewhere(&self) -> bool {
        self.is_running
    }

    fn connect(path: &Path, access: OpenFlags) -> Result<Journal, JournalError> {
        Journal::connect_to(path, path, access)
    }

    /// Connects by a name that SQLite understands.
    fn connect_to(path: &Path, name: &Path, access: OpenFlags) -> Result<Journal, JournalError> {
        if !path.exists() {
            return Err(JournalError::Missing(path.to_path_buf()));
        }
        // SQLite finds the write-ahead log by the name of the file.
        #[cfg(unix)]
        if path.metadata().is_ok_and(|known| std::os::unix::fs::MetadataExt::nlink(&known) > 1) {
            return Err(JournalError::HardLinked(path.to_path_buf()));
        }
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(name, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let number = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            let known: (i64, i64) = (number("application_id")?, number("user_version")?);
            Ok((connection, known))
        };
        let (connection, known) = open().map_err(|error| JournalError::of(path, error))?;
        match known {
            (schema::APPLICATION, schema::VERSION) => {
                let path = path.to_path_buf();
                Ok(Journal { connection, path, lock: None, is_running: false })
            }
            (schema::APPLICATION, version) => {
                Err(JournalError::Version { path: path.to_path_buf(), version })
            }
            _ => Err(JournalError::NotAJournal(path.to_path_buf())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: rusqlite::Error) -> JournalError {
        JournalError::of(&self.path, error)
    }

    /// A value that was set.
    pub fn get(&self, key: &str) -> Result<Option<String>, JournalError> {
        let sql = "SELECT value FROM contest WHERE key = ?1";
        let found = self.connection.query_row(sql, [key], |row| row.get(0)).optional();
        found.map_err(|error| self.failed(error))
    }

    /// What has become of the tournament.
    pub fn state(&self) -> Result<State, JournalError> {
        Ok(State::read(&self.get("state")?.unwrap_or_default()))
    }

    /// Says what has become of the tournament.
    pub fn set_state(&self, state: State) -> Result<(), JournalError> {
        let moment = || {
            let all = self.connection.unchecked_transaction()?;
            set(&all, "state", state.code())?;
            set(&all, "state_since", &now().to_string())?;
            all.commit()
        };
        moment().map_err(|error| self.failed(error))
    }

    /// A run begins: what an earlier one had begun and not finished is not being played.
    pub fn reset_unfinished(&mut self) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.write(|all| all.execute_batch(schema::BEGIN))
            .map_err(|error| JournalError::of(&path, error))
    }

    /// Writes rounds and their games down, all or nothing. Games get the next numbers.
    pub fn schedule(&mut self, rounds: &[(Round, Vec<ScheduledGame>)]) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.write(|all| schedule(all, rounds)).map_err(|error| JournalError::of(&path, error))
    }

    /// Takes changes of the tournament over, all or nothing.
    pub fn update(&mut self, changes: &JournalUpdate<'_>) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.write(|all| changes.write(all)).map_err(|error| JournalError::of(&path, error))
    }

    fn write(
        &mut self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let all = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        what(&all)?;
        all.commit()
    }
}

/// The name of a file that nobody changes, as SQLite wants it.
fn immutable(path: &Path) -> PathBuf {
    use std::fmt::Write;
    let mut name = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        let _ = match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                write!(name, "{}", char::from(byte))
            }
            other => write!(name, "%{other:02X}"),
        };
    }
    PathBuf::from(name + "?immutable=1")
}

fn write_head(
    connection: &mut Connection,
    tournament: &Tournament,
    text: &str,
) -> rusqlite::Result<()> {
    // A draft that is not whole is thrown away: it goes to the disk once, at its end, and needs no
    // file beside it.
    connection.pragma_update(None, "journal_mode", "memory")?;
    connection.pragma_update(None, "synchronous", "off")?;
    let all = connection.transaction()?;
    all.execute_batch(schema::TABLES)?;
    all.pragma_update(None, "application_id", schema::APPLICATION)?;
    all.pragma_update(None, "user_version", schema::VERSION)?;
    all.commit()?;
    let all = connection.transaction()?;
    write_contest(&all, tournament, text)?;
    set(&all, "created", &now().to_string())?;
    set(&all, "program", concat!("crownhead ", env!("CARGO_PKG_VERSION")))?;
    for (entrant, place) in tournament.entrants.iter().zip(0..) {
        add_player(&all, place, entrant)?;
    }
    all.commit()
}

fn schedule(all: &Connection, rounds: &[(Round, Vec<ScheduledGame>)]) -> rusqlite::Result<()> {
    let mut add_round = all.prepare("INSERT INTO rounds (number, title) VALUES (?1, ?2)")?;
    let mut add_bye = all.prepare("INSERT INTO byes (round, player) VALUES (?1, ?2)")?;
    let mut add_game = all.prepare(
        "INSERT INTO games (round, first, second, opening, meeting) VALUES (?1, ?2, ?3, ?4,
         (SELECT coalesce(max(meeting) + 1, 0) FROM games WHERE first = ?2 AND second = ?3))",
    )?;
    for (round, games) in rounds {
        add_round.execute(params![round.number, round.title])?;
        for &player in &round.byes {
            add_bye.execute(params![round.number, number(player)])?;
        }
        for game in games {
            let [first, second] = game.players.map(number);
            add_game.execute(params![round.number, first, second, game.opening])?;
        }
    }
    Ok(())
}

/// The number of a player in the tables, from 1.
fn number(player: PlayerIndex) -> i64 {
    player as i64 + 1
}

/// What a tournament that goes on is other in.
pub struct JournalUpdate<'a> {
    /// The tournament as it is now.
    pub tournament: &'a Tournament,
    /// The text of its file.
    pub text: &'a str,
    /// The players of the journal, by index: what they are now; none for those who are gone.
    pub players: &'a [Option<usize>],
    /// The entrants that the journal does not know yet.
    pub new: &'a [usize],
    /// Games that shall not count and be played again, and why.
    pub to_replay: &'a [(i64, String)],
    /// Games that nobody wants any more, and why.
    pub to_drop: &'a [(i64, String)],
    /// Rounds that shall not count; all their games are among those that nobody wants.
    pub drop_rounds_from: Option<u32>,
}

impl JournalUpdate<'_> {
    fn write(&self, all: &Connection) -> rusqlite::Result<()> {
        // What is not a fact any more is none.
        all.execute("DELETE FROM contest WHERE key LIKE 'fact:%'", [])?;
        write_contest(all, self.tournament, self.text)?;
        let entrants = &self.tournament.entrants;
        for (index, entrant) in self.players.iter().enumerate() {
            let place = entrant.map_or(0, |entrant| entrant as i64 + 1);
            let sql = "UPDATE players SET place = ?2 WHERE number = ?1";
            all.execute(sql, params![number(index), place])?;
            if let Some(entrant) = entrant.and_then(|entrant| entrants.get(entrant)) {
                let sql = "UPDATE players SET player = ?2, files = ?3 WHERE number = ?1";
                let files = entrant.files().text();
                all.execute(sql, params![number(index), entrant.description(), files])?;
            }
        }
        for &place in self.new {
            add_player(all, place, &entrants[place])?;
        }
        for (game, why) in self.to_replay {
            void(all, *game, why)?;
            all.execute(schema::UNPLAY, [game])?;
        }
        for (game, why) in self.to_drop {
            void(all, *game, why)?;
            all.execute("DELETE FROM games WHERE number = ?1", [game])?;
        }
        if let Some(round) = self.drop_rounds_from {
            all.execute("DELETE FROM byes WHERE round >= ?1", [round])?;
            all.execute("DELETE FROM rounds WHERE number >= ?1", [round])?;
        }
        Ok(())
    }
}

/// Keeps a finished game among those that do not count, and forgets its moves and faults elsewhere.
fn void(all: &Connection, game: i64, why: &str) -> rusqlite::Result<()> {
    all.execute(schema::VOID, params![game, why, now()])?;
    all.execute("DELETE FROM moves WHERE game = ?1", [game])?;
    all.execute("DELETE FROM faults WHERE game = ?1", [game])?;
    Ok(())
}

/// Writes down who plays under a name, at this place of the tournament file, from 0.
fn add_player(all: &Connection, place: usize, entrant: &Entrant) -> rusqlite::Result<()> {
    let sql = "INSERT INTO players (name, player, files, place) VALUES (?1, ?2, ?3, ?4)";
    let files = entrant.files().text();
    all.execute(sql, params![entrant.name, entrant.description(), files, place as i64 + 1])?;
    Ok(())
}

/// Writes a tournament down, without its players.
fn write_contest(all: &Connection, tournament: &Tournament, text: &str) -> rusqlite::Result<()> {
    for (key, value) in tournament.result_settings() {
        set(all, &format!("fact:{key}"), &value)?;
    }
    set(all, "name", &tournament.name)?;
    set(all, "settings", &tournament.settings().text())?;
    set(all, "file", text)?;
    set(all, "state", State::Open.code())
}

fn set(all: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tournament (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    all.execute(sql, [key, value]).map(|_| ())
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis().try_into().unwrap_or(i64::MAX)
}
