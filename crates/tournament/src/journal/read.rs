//! What a journal has in it.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row};

use super::{Journal, JournalError, State};
use crate::schedule::{PlayerIndex, ScheduleState};
use crate::standings::{Counted, Standings, StandingsInput};
use crate::{FileDigests, IsolationRecord, Schedule, Settings};

/// A player of the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Player {
    /// The name in the table.
    pub name: String,
    /// As the tournament file named it.
    pub text: String,
    /// The files it was made of.
    pub files: FileDigests,
    /// Its place in the tournament file, from 0; none if it does not take part any more.
    pub place: Option<usize>,
}

/// A game of the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// From 1.
    pub number: i64,
    /// The round, from 1.
    pub round: u32,
    /// The players, the one who moves first first.
    pub players: [PlayerIndex; 2],
    /// The number of the opening.
    pub opening: u32,
    /// How many games of these two with these colours were scheduled before.
    pub repeat: u32,
    /// When it was started, in milliseconds since 1970.
    pub started: Option<i64>,
    /// How it ended, if it has.
    pub end: Option<Stored>,
}

/// The end of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Who won: 0 or 1.
    pub winner: Option<usize>,
    /// A word for the reason.
    pub reason: String,
    /// Who lost by a fault: 0 or 1.
    pub forfeit: Option<usize>,
    /// The points of the game itself.
    pub score: Option<[i64; 2]>,
    /// Faults of both.
    pub faults: [u32; 2],
    /// Moves after the opening.
    pub plies: u32,
    /// The number of the walls around programs, from 1; none if no program played.
    pub walls: Option<i64>,
}

/// The moves of a game, finished or not.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Moves {
    /// The position it began from, if not the usual one.
    pub start: Option<String>,
    /// Moves that were not the players'.
    pub opening: Vec<String>,
    /// Moves of the players.
    pub moves: Vec<String>,
    /// Milliseconds that each of them took.
    pub milliseconds: Vec<u64>,
    /// A sentence on how it ended.
    pub ending: Option<String>,
    /// What went wrong: side (0 or 1), ply, word, sentence.
    pub faults: Vec<(usize, u32, String, String)>,
}

/// A tournament as it stands in the journal, without moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// What it is called.
    pub name: String,
    /// What has become of it.
    pub state: State,
    /// What its table depends on.
    pub settings: Settings,
    /// What its games depend on.
    pub result_settings: HashMap<String, String>,
    /// The players by index.
    pub players: Vec<Player>,
    /// Titles of the rounds, from round 1.
    pub rounds: Vec<String>,
    /// Round and player.
    pub byes: Vec<(u32, PlayerIndex)>,
    /// The walls that programs have had, by number from 1; the last are those of the last run.
    pub isolation: Vec<IsolationRecord>,
    /// All games, by number.
    pub games: Vec<Game>,
}

impl Snapshot {
    /// Games that are finished.
    pub fn finished(&self) -> impl Iterator<Item = (&Game, &Stored)> {
        self.games.iter().filter_map(|game| Some((game, game.end.as_ref()?)))
    }

    /// The finished games as a table counts them.
    pub fn scored_games(&self) -> Vec<Counted> {
        let counted = |(game, end): (&Game, &Stored)| Counted {
            players: game.players,
            winner: end.winner,
            score: end.score,
            forfeit: end.forfeit.map(|side| (side, end.reason.clone())),
            faults: end.faults,
        };
        self.finished().map(counted).collect()
    }

    /// The names of all players, by index.
    pub fn names(&self) -> Vec<String> {
        self.players.iter().map(|player| player.name.clone()).collect()
    }

    /// Those who take part, in the order of the tournament file.
    pub fn active_players(&self) -> Vec<PlayerIndex> {
        let mut present: Vec<_> = (0..self.players.len())
            .filter(|&player| self.players[player].place.is_some())
            .collect();
        present.sort_by_key(|&player| self.players[player].place);
        present
    }

    /// Those of the table: who takes part, and who has games that count.
    pub fn ranked_players(&self) -> Vec<PlayerIndex> {
        let mut is_listed: Vec<bool> = self.players.iter().map(|p| p.place.is_some()).collect();
        for (game, _) in self.finished() {
            for player in game.players {
                is_listed[player] = true;
            }
        }
        (0..is_listed.len()).filter(|&player| is_listed[player]).collect()
    }

    /// The table as it stands.
    pub fn standings(&self) -> Standings {
        let games = self.scored_games();
        let director = ScheduleState::new(self).scheduler;
        let progress = director.progress();
        // A round that is not over yet has given nobody a bye.
        let is_over =
            |round: u32| self.games.iter().all(|game| game.round != round || game.end.is_some());
        let is_swiss = matches!(self.settings.schedule, Schedule::Swiss { .. });
        let counts = |&&(round, _): &&(u32, PlayerIndex)| is_swiss && is_over(round);
        let byes = self.byes.iter().filter(counts);
        let byes: Vec<_> = byes.map(|(_, player)| (*player, self.settings.games)).collect();
        Standings::compute(&StandingsInput {
            players: &self.ranked_players(),
            games: &games,
            byes: &byes,
            points: self.settings.points,
            tie_breaks: &self.settings.tie_breaks,
            progress: progress.as_deref(),
            seed_decisions: director.seed_decisions(),
        })
    }

    /// How many games there will be, if that is known.
    pub fn planned(&self) -> Option<u64> {
        ScheduleState::new(self).planned()
    }
}

fn player(row: &Row<'_>, at: usize) -> rusqlite::Result<PlayerIndex> {
    let number: i64 = row.get(at)?;
    usize::try_from(number - 1).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, number))
}

/// A side of the tables: 1 or 2; others are nobody.
fn side(number: Option<i64>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number - 1).ok()).filter(|side| *side < 2)
}

const GAMES: &str = "SELECT number, round, first, second, opening, meeting, started, finished, \
                     winner, reason, forfeit, first_score, second_score, first_faults, \
                     second_faults, plies, walls FROM games";

fn game(row: &Row<'_>) -> rusqlite::Result<Game> {
    let end = match row.get::<_, Option<i64>>(7)? {
        None => None,
        Some(at) => Some(Stored {
            at,
            winner: side(row.get(8)?),
            reason: row.get(9)?,
            forfeit: side(row.get(10)?),
            score: match (row.get(11)?, row.get(12)?) {
                (Some(first), Some(second)) => Some([first, second]),
                _ => None,
            },
            faults: [row.get(13)?, row.get(14)?],
            plies: row.get(15)?,
            walls: row.get(16)?,
        }),
    };
    Ok(Game {
        number: row.get(0)?,
        round: row.get(1)?,
        players: [player(row, 2)?, player(row, 3)?],
        opening: row.get(4)?,
        repeat: row.get(5)?,
        started: row.get(6)?,
        end,
    })
}

fn read_walls(connection: &Connection) -> rusqlite::Result<Vec<IsolationRecord>> {
    let sql = "SELECT asked, active, missing, limits FROM walls ORDER BY number";
    let mut query = connection.prepare(sql)?;
    let walls = query.query_map([], |row| {
        let [active, missing]: [String; 2] = [row.get(1)?, row.get(2)?];
        Ok(IsolationRecord {
            requested: row.get(0)?,
            active: active.split_whitespace().map(String::from).collect(),
            missing: missing.lines().map(String::from).collect(),
            limits: row.get(3)?,
        })
    })?;
    walls.collect()
}

impl Journal {
    /// Writes down which walls programs have from now on: their number.
    pub fn record_isolation(&self, walls: &IsolationRecord) -> Result<i64, JournalError> {
        let write = || {
            let known = read_walls(&self.connection)?;
            if known.last() == Some(walls) {
                return Ok(known.len() as i64);
            }
            let IsolationRecord { requested: asked, active, missing, limits } = walls;
            let sql = "INSERT INTO walls (asked, active, missing, limits) VALUES (?1, ?2, ?3, ?4)";
            let texts = [asked, &active.join(" "), &missing.join("\n"), limits];
            self.connection.execute(sql, texts)?;
            Ok(self.connection.last_insert_rowid())
        };
        write().map_err(|error| self.failed(error))
    }

    /// Reads everything but moves.
    pub fn snapshot(&self) -> Result<Snapshot, JournalError> {
        let read = self.read_all().map_err(|error| self.failed(error))?;
        read.map_err(|player| JournalError::Other {
            path: self.path.clone(),
            why: format!("its contents are damaged: there is no player {}", player + 1),
        })
    }

    /// Everything, or the player that is named and not there.
    fn read_all(&self) -> rusqlite::Result<Result<Snapshot, PlayerIndex>> {
        // One moment, even while somebody writes.
        let moment = self.connection.unchecked_transaction()?;
        let mut values = HashMap::new();
        let mut query = moment.prepare("SELECT key, value FROM contest")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            values.insert(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        }
        let mut query =
            moment.prepare("SELECT name, player, files, place FROM players ORDER BY number")?;
        let players = query.query_map([], |row| {
            let files: String = row.get(2)?;
            let (name, text, place): (_, _, u32) = (row.get(0)?, row.get(1)?, row.get(3)?);
            let place = place.checked_sub(1).map(|place| place as usize);
            Ok(Player { name, text, files: FileDigests::read(&files), place })
        })?;
        let players = players.collect::<Result<Vec<_>, _>>()?;
        let mut query = moment.prepare("SELECT title FROM rounds ORDER BY number")?;
        let rounds = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut query = moment.prepare("SELECT round, player FROM byes ORDER BY round, player")?;
        let byes = query.query_map([], |row| Ok((row.get(0)?, player(row, 1)?)))?;
        let byes = byes.collect::<Result<Vec<_>, _>>()?;
        let mut query = moment.prepare(&format!("{GAMES} ORDER BY number"))?;
        let games = query.query_map([], game)?.collect::<Result<Vec<Game>, _>>()?;
        let named = games.iter().flat_map(|game| game.players);
        let mut named = named.chain(byes.iter().map(|&(_, player): &(u32, _)| player));
        if let Some(player) = named.find(|player| *player >= players.len()) {
            return Ok(Err(player));
        }
        let walls = read_walls(&moment)?;
        let state = State::read(values.get("state").map_or("", String::as_str));
        let name = values.get("name").cloned().unwrap_or_default();
        let fact = |(key, value): (&String, &String)| {
            key.strip_prefix("fact:").map(|key| (key.to_string(), value.clone()))
        };
        let facts = values.iter().filter_map(fact).collect();
        let settings = Settings::read(values.get("settings").map_or("", String::as_str));
        Ok(Ok(Snapshot {
            name,
            state,
            settings,
            result_settings: facts,
            players,
            rounds,
            byes,
            isolation: walls,
            games,
        }))
    }

    /// The games with numbers above this one.
    pub fn games_above(&self, number: i64) -> Result<Vec<Game>, JournalError> {
        let read = || {
            let sql = format!("{GAMES} WHERE number > ?1 ORDER BY number");
            let mut query = self.connection.prepare(&sql)?;
            query.query_map([number], game)?.collect::<Result<_, _>>()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The moves of a game and what went wrong in it.
    pub fn moves(&self, game: i64) -> Result<Moves, JournalError> {
        self.read_moves(game).map_err(|error| self.failed(error))
    }

    fn read_moves(&self, game: i64) -> rusqlite::Result<Moves> {
        let words = |text: String| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let sql = "SELECT start, opening, moves, milliseconds FROM moves WHERE game = ?1";
        let found = self.connection.query_row(sql, [game], |row| {
            let milliseconds: String = row.get(3)?;
            Ok(Moves {
                start: row.get(0)?,
                opening: words(row.get(1)?),
                moves: words(row.get(2)?),
                milliseconds: milliseconds.split(' ').flat_map(str::parse).collect(),
                ..Moves::default()
            })
        });
        let mut moves = found.optional()?.unwrap_or_default();
        let sql = "SELECT ending FROM games WHERE number = ?1";
        let ending = self.connection.query_row(sql, [game], |row| row.get(0)).optional()?;
        moves.ending = ending.flatten();
        let sql = "SELECT side, ply, code, sentence FROM faults WHERE game = ?1 ORDER BY number";
        let mut query = self.connection.prepare(sql)?;
        let faults = query.query_map([game], |row| {
            let number: i64 = row.get(0)?;
            Ok((side(Some(number)).unwrap_or(0), row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        moves.faults = faults.collect::<Result<_, _>>()?;
        Ok(moves)
    }
}
