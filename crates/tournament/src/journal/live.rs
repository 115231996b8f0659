//! Queries of a live display, besides its [`Snapshot`](super::Snapshot).

use std::path::Path;

use rusqlite::OpenFlags;

use super::read::side;
use super::{FaultRow, Journal, JournalError};

impl Journal {
    /// Opens a second connection in the process that runs the tournament. Unlike
    /// [`open_read_only`](Journal::open_read_only) it does not test the lock, which would release
    /// the locks that SQLite holds in this process.
    pub fn open_reader(path: &Path) -> Result<Journal, JournalError> {
        let journal = Journal::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Ok(Journal { is_running: true, ..journal })
    }

    /// Reads the latest faults, latest first, each with the number of its game.
    pub fn latest_faults(&self, count: u32) -> Result<Vec<(i64, FaultRow)>, JournalError> {
        let read = || {
            let sql = "SELECT game, side, ply, code, description FROM faults \
                       JOIN games ON games.number = faults.game \
                       ORDER BY games.finished DESC, game DESC, faults.number DESC LIMIT ?1";
            let mut query = self.connection.prepare(sql)?;
            let faults = query.query_map([count], |row| {
                let fault = FaultRow {
                    side: side(row.get(1)?).unwrap_or(0),
                    ply: row.get(2)?,
                    code: row.get(3)?,
                    description: row.get(4)?,
                };
                Ok((row.get(0)?, fault))
            })?;
            faults.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.error(error))
    }
}
