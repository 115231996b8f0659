//! The journal: all that happened in a contest, in one SQLite file that no crash can spoil.
//!
//! A game is scheduled, started and finished; what is finished is there after a power cut (a write-ahead
//! log that is synchronised at each commit). While a contest runs, the [`writer`] has the file; anybody
//! may read it meanwhile. [`lock`] keeps a second run away. The tables are described in
//! `docs/contests.md`.

mod error;
mod lock;
mod read;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

pub use error::JournalError;
pub use lock::Lock;
pub use read::{Game, Moves, Player, Snapshot, Stored};
pub use writer::{Brief, Fault, Live, Notice, Pen, Record, Text, Writer};

use crate::schedule::{Dealt, PlayerIndex, Round};
use crate::{Contest, Files};

/// The journal of a contest.
pub struct Journal {
    connection: Connection,
    path: PathBuf,
}

/// What has become of a contest.
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
const PATIENCE: Duration = Duration::from_secs(10);

impl Journal {
    /// The place of the journal of a contest file: beside it, with the ending `journal`.
    pub fn path_for(file: &Path) -> PathBuf {
        file.with_extension("journal")
    }

    /// Begins a journal with the facts and players of a contest. The file must not be there.
    pub fn create(path: &Path, contest: &Contest, text: &str) -> Result<Journal, JournalError> {
        // Whole or not at all: under another name until everything is in it.
        let draft = path.with_extension("journal-new");
        let failed = |error| JournalError::of(path, error);
        for old in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{old}", draft.display()));
        }
        let connection = Connection::open(&draft).map_err(failed)?;
        let mut journal = Journal { connection, path: path.to_path_buf() };
        let written = journal.write_head(contest, text);
        let Journal { connection, .. } = journal;
        let closed = connection.close().map_err(|(_, error)| failed(error));
        if let Err(error) = written.map_err(failed).and(closed) {
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        let io = |error| JournalError::io(path, &error);
        std::fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(io)?;
        // Nobody makes one in between: whoever does has the lock.
        if path.exists() {
            return Err(JournalError::Exists(path.to_path_buf()));
        }
        std::fs::rename(&draft, path).map_err(io)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Journal::open(path)
    }

    fn write_head(&mut self, contest: &Contest, text: &str) -> rusqlite::Result<()> {
        let all = self.connection.transaction()?;
        all.execute_batch(schema::TABLES)?;
        all.pragma_update(None, "application_id", schema::APPLICATION)?;
        all.pragma_update(None, "user_version", schema::VERSION)?;
        all.commit()?;
        let all = self.connection.transaction()?;
        for (key, value) in contest.facts() {
            set(&all, &format!("fact:{key}"), &value)?;
        }
        set(&all, "name", &contest.name)?;
        set(&all, "settings", &contest.settings().text())?;
        set(&all, "file", text)?;
        set(&all, "state", State::Open.code())?;
        set(&all, "created", &now().to_string())?;
        set(&all, "program", concat!("crownhead ", env!("CARGO_PKG_VERSION")))?;
        for entrant in &contest.entrants {
            let files = entrant.player.as_ref().map(Files::of).unwrap_or_default();
            add_player(&all, &entrant.name, &entrant.described(), &files)?;
        }
        all.commit()
    }

    /// Opens a journal to go on with it.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let journal = Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let prepare = || {
            let connection = &journal.connection;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "foreign_keys", true)
        };
        prepare().map_err(|error| journal.failed(error))?;
        Ok(journal)
    }

    /// Opens a journal to read it, while it is written perhaps.
    pub fn open_to_read(path: &Path) -> Result<Journal, JournalError> {
        // Whoever reads a write-ahead log must be able to share its index: where the folder can be
        // written, the file is opened as if to write.
        Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
    }

    fn connect(path: &Path, access: OpenFlags) -> Result<Journal, JournalError> {
        if !path.exists() {
            return Err(JournalError::Missing(path.to_path_buf()));
        }
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            let number = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            let known: (i64, i64) = (number("application_id")?, number("user_version")?);
            Ok((connection, known))
        };
        let (connection, known) = open().map_err(|error| JournalError::of(path, error))?;
        match known {
            (schema::APPLICATION, schema::VERSION) => {
                Ok(Journal { connection, path: path.to_path_buf() })
            }
            (schema::APPLICATION, version) => {
                Err(JournalError::Version { path: path.to_path_buf(), version })
            }
            _ => Err(JournalError::Foreign(path.to_path_buf())),
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

    /// What has become of the contest.
    pub fn state(&self) -> Result<State, JournalError> {
        Ok(State::read(&self.get("state")?.unwrap_or_default()))
    }

    /// Says what has become of the contest.
    pub fn set_state(&self, state: State) -> Result<(), JournalError> {
        let moment = || {
            set(&self.connection, "state", state.code())?;
            set(&self.connection, "state_since", &now().to_string())
        };
        moment().map_err(|error| self.failed(error))
    }

    /// Writes rounds and their games down, all or nothing. Games get the next numbers.
    pub fn schedule(&mut self, rounds: &[(Round, Vec<Dealt>)]) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.write(|all| schedule(all, rounds)).map_err(|error| JournalError::of(&path, error))
    }

    /// Takes changes of the contest over, all or nothing.
    pub fn change(&mut self, changes: &Change<'_>) -> Result<(), JournalError> {
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

fn schedule(all: &Connection, rounds: &[(Round, Vec<Dealt>)]) -> rusqlite::Result<()> {
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

/// What a contest that goes on is other in.
pub struct Change<'a> {
    /// The contest as it is now.
    pub contest: &'a Contest,
    /// The text of its file.
    pub text: &'a str,
    /// The players of the journal, by index: what they are now; none for those who are gone.
    pub players: &'a [Option<usize>],
    /// The entrants that the journal does not know yet.
    pub new: &'a [usize],
    /// Games that shall not count, and be played again if they are still wanted.
    pub void: &'a [i64],
    /// Rounds that shall not count, with all their games.
    pub drop_rounds_from: Option<u32>,
    /// Games that nobody wants any more.
    pub drop: &'a [i64],
    /// Why.
    pub why: &'a str,
}

impl Change<'_> {
    fn write(&self, all: &Connection) -> rusqlite::Result<()> {
        for (key, value) in self.contest.facts() {
            set(all, &format!("fact:{key}"), &value)?;
        }
        set(all, "name", &self.contest.name)?;
        set(all, "settings", &self.contest.settings().text())?;
        set(all, "file", self.text)?;
        set(all, "state", State::Open.code())?;
        let entrants = &self.contest.entrants;
        for (index, entrant) in self.players.iter().enumerate() {
            let sql = "UPDATE players SET present = ?2 WHERE number = ?1";
            all.execute(sql, params![number(index), entrant.is_some()])?;
            if let Some(entrant) = entrant.and_then(|entrant| entrants.get(entrant)) {
                let files = entrant.player.as_ref().map(Files::of).unwrap_or_default();
                let sql = "UPDATE players SET player = ?2, files = ?3 WHERE number = ?1";
                all.execute(sql, params![number(index), entrant.described(), files.text()])?;
            }
        }
        for entrant in self.new.iter().filter_map(|entrant| entrants.get(*entrant)) {
            let files = entrant.player.as_ref().map(Files::of).unwrap_or_default();
            add_player(all, &entrant.name, &entrant.described(), &files)?;
        }
        for &game in self.void {
            void(all, game, self.why)?;
            all.execute(schema::UNPLAY, [game])?;
        }
        for &game in self.drop {
            void(all, game, self.why)?;
            all.execute("DELETE FROM games WHERE number = ?1", [game])?;
        }
        if let Some(round) = self.drop_rounds_from {
            let mut games = all.prepare("SELECT number FROM games WHERE round >= ?1")?;
            let games = games.query_map([round], |row| row.get::<_, i64>(0))?;
            for game in games.collect::<Result<Vec<_>, _>>()? {
                void(all, game, self.why)?;
                all.execute("DELETE FROM games WHERE number = ?1", [game])?;
            }
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

fn add_player(all: &Connection, name: &str, text: &str, files: &Files) -> rusqlite::Result<()> {
    let sql = "INSERT INTO players (name, player, files) VALUES (?1, ?2, ?3)";
    all.execute(sql, params![name, text, files.text()]).map(|_| ())
}

fn set(all: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO contest (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    all.execute(sql, [key, value]).map(|_| ())
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis().try_into().unwrap_or(i64::MAX)
}
