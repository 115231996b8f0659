//! Reads a journal: a [`Snapshot`] of the tournament, and the moves of single games.

use std::collections::HashMap;

use crownhead_play::Opening;
use rusqlite::{Connection, OptionalExtension, Row};

use super::{Journal, JournalError, State};
use crate::job::{AbsenceRecord, GameSummary, MoveReport};
use crate::schedule::{PlayerIndex, ScheduleState};
use crate::standings::{Standings, StandingsInput};
use crate::{FileDigests, IsolationRecord, Schedule, Settings};

/// A player in the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Player {
    /// Name in the standings.
    pub name: String,
    /// The player as described by [`Entrant::description`](crate::Entrant::description).
    pub text: String,
    /// Digests of its files.
    pub files: FileDigests,
    /// Position in the tournament file, from 0; `None` if the player has left.
    pub place: Option<usize>,
}

/// A game in the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// Number of the game, from 1.
    pub number: i64,
    /// Round, from 1.
    pub round: u32,
    /// The players; the first one moves first.
    pub players: [PlayerIndex; 2],
    /// Number of the opening.
    pub opening: u32,
    /// Number of earlier games of these players with these colours.
    pub repeat: u32,
    /// Start time, in milliseconds since 1970.
    pub started: Option<i64>,
    /// Number of the isolation its bots had, from 1; `None` without bots.
    pub isolation: Option<i64>,
    /// Result, if the game is finished.
    pub summary: Option<GameSummary>,
}

/// Moves and faults of a game, finished or not.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GameDetails {
    /// The opening.
    pub opening: Opening,
    /// Moves after the opening.
    pub moves: Vec<String>,
    /// Time taken by each move, and what its player reported about its search.
    pub reports: Vec<MoveReport>,
    /// How the game ended, as a sentence.
    pub description: Option<String>,
    /// The first faults.
    pub faults: Vec<FaultRow>,
    /// Turns in which the referee itself was stopped or starved.
    pub absences: Vec<AbsenceRecord>,
}

/// A fault in the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultRow {
    /// Side at fault: 0 or 1.
    pub side: usize,
    /// Plies played before it.
    pub ply: u32,
    /// Code of the fault.
    pub code: String,
    /// What happened, in a sentence or two.
    pub description: String,
}

/// A tournament as stored in the journal, without moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Name of the tournament.
    pub name: String,
    /// State of the tournament.
    pub state: State,
    /// Settings that standings depend on.
    pub settings: Settings,
    /// Settings that game results depend on.
    pub result_settings: HashMap<String, String>,
    /// Players by index.
    pub players: Vec<Player>,
    /// Titles of the rounds, from round 1.
    pub rounds: Vec<String>,
    /// Byes: round and player.
    pub byes: Vec<(u32, PlayerIndex)>,
    /// Isolation by number, from 1; the last one is that of the last run.
    pub isolation: Vec<IsolationRecord>,
    /// All games, by number.
    pub games: Vec<Game>,
}

impl Snapshot {
    /// Returns the finished games.
    pub fn finished(&self) -> impl Iterator<Item = (&Game, &GameSummary)> {
        self.games.iter().filter_map(|game| Some((game, game.summary.as_ref()?)))
    }

    /// Returns the players and results of the finished games.
    pub fn scored_games(&self) -> Vec<([PlayerIndex; 2], &GameSummary)> {
        self.finished().map(|(game, summary)| (game.players, summary)).collect()
    }

    /// Returns all names, by player index.
    pub fn names(&self) -> Vec<String> {
        self.players.iter().map(|player| player.name.clone()).collect()
    }

    /// Returns the players that take part, in the order of the tournament file.
    pub fn active_players(&self) -> Vec<PlayerIndex> {
        let mut active: Vec<_> = (0..self.players.len())
            .filter(|&player| self.players[player].place.is_some())
            .collect();
        active.sort_by_key(|&player| self.players[player].place);
        active
    }

    /// Returns the players in the standings: those that take part or have finished games.
    pub fn ranked_players(&self) -> Vec<PlayerIndex> {
        let mut is_ranked: Vec<bool> = self.players.iter().map(|p| p.place.is_some()).collect();
        for player in self.finished().flat_map(|(game, _)| game.players) {
            is_ranked[player] = true;
        }
        (0..is_ranked.len()).filter(|&player| is_ranked[player]).collect()
    }

    /// Computes the standings.
    pub fn standings(&self) -> Standings {
        let scheduler = ScheduleState::new(self).scheduler;
        // A bye counts once its round is finished.
        let is_finished = |round: u32| {
            self.games.iter().all(|game| game.round != round || game.summary.is_some())
        };
        let is_swiss = matches!(self.settings.schedule, Schedule::Swiss { .. });
        let counts = |&&(round, _): &&(u32, PlayerIndex)| is_swiss && is_finished(round);
        let byes = self.byes.iter().filter(counts);
        let byes: Vec<_> = byes.map(|(_, player)| (*player, self.settings.games)).collect();
        Standings::compute(&StandingsInput {
            players: &self.ranked_players(),
            games: &self.scored_games(),
            byes: &byes,
            points: self.settings.points,
            tie_breaks: &self.settings.tie_breaks,
            progress: scheduler.progress().as_deref(),
            seed_decisions: scheduler.seed_decisions(),
        })
    }

    /// Returns the total number of games, if known.
    pub fn planned(&self) -> Option<u64> {
        ScheduleState::new(self).planned()
    }
}

fn player(row: &Row<'_>, column: usize) -> rusqlite::Result<PlayerIndex> {
    let number: i64 = row.get(column)?;
    let out_of_range = |_| rusqlite::Error::IntegralValueOutOfRange(column, number);
    usize::try_from(number.saturating_sub(1)).map_err(out_of_range)
}

/// Converts a side of the journal, 1 or 2, to 0 or 1.
pub(super) fn side(number: Option<i64>) -> Option<usize> {
    number.and_then(|n| usize::try_from(n.saturating_sub(1)).ok()).filter(|side| *side < 2)
}

const SELECT_GAMES: &str = "SELECT number, round, first, second, opening, repeat, started, \
                            finished, winner, reason, forfeit, first_score, second_score, \
                            first_faults, second_faults, plies, isolation FROM games";

fn game(row: &Row<'_>) -> rusqlite::Result<Game> {
    let started: Option<i64> = row.get(6)?;
    let summary = match row.get::<_, Option<i64>>(7)? {
        None => None,
        Some(finished) => Some(GameSummary {
            finished,
            milliseconds: finished.saturating_sub(started.unwrap_or(finished)),
            winner: side(row.get(8)?),
            reason: row.get(9)?,
            forfeit: side(row.get(10)?),
            score: match (row.get(11)?, row.get(12)?) {
                (Some(first), Some(second)) => Some([first, second]),
                _ => None,
            },
            faults: [row.get(13)?, row.get(14)?],
            plies: row.get(15)?,
        }),
    };
    Ok(Game {
        number: row.get(0)?,
        round: row.get(1)?,
        players: [player(row, 2)?, player(row, 3)?],
        opening: row.get(4)?,
        repeat: row.get(5)?,
        started,
        isolation: row.get(16)?,
        summary,
    })
}

/// Parses times, clocks, scores and depths, one of each per move.
fn reports(lists: &[String; 4]) -> Vec<MoveReport> {
    let [times, clocks, scores, depths] = lists.each_ref().map(|list| list.split_whitespace());
    let values = times.zip(clocks).zip(scores.zip(depths));
    let report = |((time, clock), (score, depth)): ((&str, &str), (&str, &str))| MoveReport {
        milliseconds: time.parse().unwrap_or(0),
        clock: clock.parse().ok(),
        score: score.parse().ok(),
        depth: depth.parse().ok(),
    };
    values.map(report).collect()
}

fn read_isolation(connection: &Connection) -> rusqlite::Result<Vec<IsolationRecord>> {
    let sql = "SELECT requested, active, missing, limits FROM isolation ORDER BY number";
    let mut query = connection.prepare(sql)?;
    let records = query.query_map([], |row| {
        let [active, missing]: [String; 2] = [row.get(1)?, row.get(2)?];
        Ok(IsolationRecord {
            requested: row.get(0)?,
            active: active.split_whitespace().map(String::from).collect(),
            missing: missing.lines().map(String::from).collect(),
            limits: row.get(3)?,
        })
    })?;
    records.collect()
}

/// Why a snapshot could not be read.
enum SnapshotError {
    Sqlite(rusqlite::Error),
    Corrupt(String),
}

impl From<rusqlite::Error> for SnapshotError {
    fn from(error: rusqlite::Error) -> SnapshotError {
        SnapshotError::Sqlite(error)
    }
}

impl Journal {
    /// Records the isolation that bots have from now on, and returns its number.
    pub fn record_isolation(&self, isolation: &IsolationRecord) -> Result<i64, JournalError> {
        let write = || {
            let records = read_isolation(&self.connection)?;
            if records.last() == Some(isolation) {
                return Ok(records.len() as i64);
            }
            let IsolationRecord { requested, active, missing, limits } = isolation;
            let sql = "INSERT INTO isolation (requested, active, missing, limits) \
                       VALUES (?1, ?2, ?3, ?4)";
            let values = [requested, &active.join(" "), &missing.join("\n"), limits];
            self.connection.execute(sql, values)?;
            Ok(self.connection.last_insert_rowid())
        };
        write().map_err(|error| self.error(error))
    }

    /// Reads everything except moves.
    pub fn snapshot(&self) -> Result<Snapshot, JournalError> {
        self.read_snapshot().map_err(|error| match error {
            SnapshotError::Sqlite(error) => self.error(error),
            SnapshotError::Corrupt(reason) => JournalError::Other {
                path: self.path.clone(),
                reason: format!("it is corrupt: {reason}"),
            },
        })
    }

    fn read_snapshot(&self) -> Result<Snapshot, SnapshotError> {
        // One transaction: a consistent view even while another process writes.
        let transaction = self.connection.unchecked_transaction()?;
        let mut values = HashMap::new();
        let mut query = transaction.prepare("SELECT key, value FROM tournament")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            values.insert(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        }
        let mut query = transaction
            .prepare("SELECT name, player, files, place FROM players ORDER BY number")?;
        let players = query.query_map([], |row| {
            let files: String = row.get(2)?;
            let (name, text, place): (_, _, u32) = (row.get(0)?, row.get(1)?, row.get(3)?);
            let place = place.checked_sub(1).map(|place| place as usize);
            Ok(Player { name, text, files: FileDigests::parse(&files), place })
        })?;
        let players = players.collect::<Result<Vec<_>, _>>()?;
        let mut query = transaction.prepare("SELECT title FROM rounds ORDER BY number")?;
        let rounds = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut query =
            transaction.prepare("SELECT round, player FROM byes ORDER BY round, player")?;
        let byes = query.query_map([], |row| Ok((row.get(0)?, player(row, 1)?)))?;
        let byes = byes.collect::<Result<Vec<(u32, PlayerIndex)>, _>>()?;
        let mut query = transaction.prepare(&format!("{SELECT_GAMES} ORDER BY number"))?;
        let games = query.query_map([], game)?.collect::<Result<Vec<Game>, _>>()?;
        let mut referenced = games.iter().flat_map(|game| game.players);
        let mut with_bye = byes.iter().map(|&(_, player)| player);
        let is_unknown = |player: &PlayerIndex| *player >= players.len();
        if let Some(player) = referenced.find(is_unknown).or_else(|| with_bye.find(is_unknown)) {
            return Err(SnapshotError::Corrupt(format!("there is no player {}", player + 1)));
        }
        let value = |key: &str| values.get(key).map_or("", String::as_str);
        let settings = serde_json::from_str(value("settings"))
            .map_err(|error| SnapshotError::Corrupt(format!("invalid settings: {error}")))?;
        let result_setting = |(key, value): (&String, &String)| {
            key.strip_prefix("setting:").map(|key| (key.to_string(), value.clone()))
        };
        Ok(Snapshot {
            name: value("name").to_string(),
            state: State::parse(value("state")),
            settings,
            result_settings: values.iter().filter_map(result_setting).collect(),
            players,
            rounds,
            byes,
            isolation: read_isolation(&transaction)?,
            games,
        })
    }

    /// Reads the games with numbers above `number`.
    pub fn games_after(&self, number: i64) -> Result<Vec<Game>, JournalError> {
        let read = || {
            let sql = format!("{SELECT_GAMES} WHERE number > ?1 ORDER BY number");
            let mut query = self.connection.prepare(&sql)?;
            query.query_map([number], game)?.collect::<Result<_, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// Reads the moves and faults of a game.
    pub fn game_details(&self, game: i64) -> Result<GameDetails, JournalError> {
        self.read_details(game).map_err(|error| self.error(error))
    }

    fn read_details(&self, game: i64) -> rusqlite::Result<GameDetails> {
        let words = |text: String| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let sql = "SELECT start, opening, moves, milliseconds, clocks, scores, depths FROM moves \
                   WHERE game = ?1";
        let details = self.connection.query_row(sql, [game], |row| {
            let lists: [String; 4] = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
            Ok(GameDetails {
                opening: Opening { start: row.get(0)?, moves: words(row.get(1)?) },
                moves: words(row.get(2)?),
                reports: reports(&lists),
                ..GameDetails::default()
            })
        });
        let mut details = details.optional()?.unwrap_or_default();
        let sql = "SELECT ending FROM games WHERE number = ?1";
        let description = self.connection.query_row(sql, [game], |row| row.get(0)).optional()?;
        details.description = description.flatten();
        let sql = "SELECT side, ply, code, description FROM faults WHERE game = ?1 ORDER BY number";
        let mut query = self.connection.prepare(sql)?;
        let faults = query.query_map([game], |row| {
            Ok(FaultRow {
                side: side(row.get(0)?).unwrap_or(0),
                ply: row.get(1)?,
                code: row.get(2)?,
                description: row.get(3)?,
            })
        })?;
        details.faults = faults.collect::<Result<_, _>>()?;
        let sql = "SELECT side, ply, milliseconds FROM absences WHERE game = ?1 ORDER BY ply";
        // An earlier version did not have this table.
        if self.connection.table_exists(None, "absences")? {
            let mut query = self.connection.prepare(sql)?;
            let absences = query.query_map([game], |row| {
                Ok(AbsenceRecord {
                    side: side(row.get(0)?).unwrap_or(0),
                    ply: row.get(1)?,
                    milliseconds: row.get::<_, i64>(2)?.unsigned_abs(),
                    is_late: false,
                })
            })?;
            details.absences = absences.collect::<Result<_, _>>()?;
        }
        Ok(details)
    }
}
