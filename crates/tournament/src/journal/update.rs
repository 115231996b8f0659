//! Changes to a tournament that is resumed.

use rusqlite::{Connection, params};

use super::{State, now, player_number, schema};
use crate::{Entrant, Tournament};

/// Changes to a tournament that is resumed.
pub struct JournalUpdate<'a> {
    /// The tournament as it is now.
    pub tournament: &'a Tournament,
    /// Contents of its file.
    pub text: &'a str,
    /// Entrant of each player in the journal; `None` if the player has left.
    pub players: &'a [Option<usize>],
    /// Entrants that are not in the journal yet.
    pub new_players: &'a [usize],
    /// Finished games to void and replay, with the reason.
    pub to_replay: &'a [(i64, String)],
    /// Games to remove, with the reason; finished ones are voided.
    pub to_drop: &'a [(i64, String)],
    /// Whether to remove all rounds, so that the tournament starts over. All games must be in
    /// `to_drop`.
    pub drop_rounds: bool,
}

impl JournalUpdate<'_> {
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute("DELETE FROM tournament WHERE key LIKE 'setting:%'", [])?;
        write_tournament(connection, self.tournament, self.text)?;
        let entrants = &self.tournament.entrants;
        for (index, entrant) in self.players.iter().enumerate() {
            let place = entrant.map_or(0, |entrant| entrant as i64 + 1);
            let sql = "UPDATE players SET place = ?2 WHERE number = ?1";
            connection.execute(sql, params![player_number(index), place])?;
            if let Some(entrant) = entrant.and_then(|entrant| entrants.get(entrant)) {
                let sql = "UPDATE players SET player = ?2, files = ?3 WHERE number = ?1";
                let (player, files) = (entrant.description(), entrant.files().to_text());
                connection.execute(sql, params![player_number(index), player, files])?;
            }
        }
        for &place in self.new_players {
            add_player(connection, place, &entrants[place])?;
        }
        for (game, reason) in self.to_replay {
            void_game(connection, *game, reason)?;
            connection.execute(schema::CLEAR_RESULT, [game])?;
        }
        for (game, reason) in self.to_drop {
            void_game(connection, *game, reason)?;
            connection.execute("DELETE FROM games WHERE number = ?1", [game])?;
        }
        if self.drop_rounds {
            connection.execute_batch("DELETE FROM byes; DELETE FROM rounds;")?;
        }
        Ok(())
    }
}

/// Moves a finished game to the voided ones, without its faults and absences.
fn void_game(connection: &Connection, game: i64, reason: &str) -> rusqlite::Result<()> {
    connection.execute(schema::VOID_GAME, params![game, reason, now()])?;
    connection.execute("DELETE FROM moves WHERE game = ?1", [game])?;
    connection.execute("DELETE FROM faults WHERE game = ?1", [game])?;
    connection.execute("DELETE FROM absences WHERE game = ?1", [game])?;
    Ok(())
}

/// Adds a player; `place` is its position in the tournament file, from 0.
pub(super) fn add_player(
    connection: &Connection,
    place: usize,
    entrant: &Entrant,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO players (name, player, files, place) VALUES (?1, ?2, ?3, ?4)";
    let (player, files) = (entrant.description(), entrant.files().to_text());
    connection.execute(sql, params![entrant.name, player, files, place as i64 + 1])?;
    Ok(())
}

/// Stores the tournament without its players.
pub(super) fn write_tournament(
    connection: &Connection,
    tournament: &Tournament,
    text: &str,
) -> rusqlite::Result<()> {
    for (key, value) in tournament.result_settings() {
        set(connection, &format!("setting:{key}"), &value)?;
    }
    let settings = serde_json::to_string(&tournament.settings())
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    set(connection, "name", &tournament.name)?;
    set(connection, "settings", &settings)?;
    set(connection, "file", text)?;
    set(connection, "state", State::Open.code())
}

/// Stores a value of the tournament.
pub(super) fn set(connection: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tournament (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, [key, value]).map(|_| ())
}
