//! Tables and statements of the journal. Players, rounds and games are numbered from 1; times are
//! milliseconds since 1970; side 1 moves first, side 2 second.

/// `application_id` of a journal: "CRNH".
pub(super) const APPLICATION_ID: i64 = 0x4352_4e48;
/// `user_version` of a journal. Other versions are refused.
pub(super) const VERSION: i64 = 6;

pub(super) const TABLES: &str = "
CREATE TABLE tournament (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE players (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    player TEXT NOT NULL,               -- as in the tournament file
    files TEXT NOT NULL,                -- SHA-256 and name of each of its files
    place INTEGER NOT NULL              -- in the tournament file; 0 if it has left
);
CREATE TABLE rounds (
    number INTEGER PRIMARY KEY,
    title TEXT NOT NULL
);
CREATE TABLE byes (
    round INTEGER NOT NULL REFERENCES rounds,
    player INTEGER NOT NULL REFERENCES players,
    PRIMARY KEY (round, player)
) WITHOUT ROWID;
CREATE TABLE isolation (
    number INTEGER PRIMARY KEY,
    requested TEXT NOT NULL,            -- the mode of the tournament file
    active TEXT NOT NULL,               -- mechanisms, separated by spaces
    missing TEXT NOT NULL,              -- one line per unavailable mechanism
    limits TEXT NOT NULL                -- such as cores=1,memory=2GB
);
CREATE TABLE games (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    round INTEGER NOT NULL REFERENCES rounds,
    first INTEGER NOT NULL REFERENCES players,
    second INTEGER NOT NULL REFERENCES players,
    opening INTEGER NOT NULL,           -- number; games with reversed colours share it
    repeat INTEGER NOT NULL,            -- earlier games of these players with these colours
    started INTEGER,
    finished INTEGER,
    winner INTEGER,                     -- side, or 0 for a draw
    reason TEXT,                        -- code
    ending TEXT,                        -- sentence
    forfeit INTEGER,                    -- side that lost by a fault
    first_score INTEGER,
    second_score INTEGER,
    first_faults INTEGER,
    second_faults INTEGER,
    first_slowest INTEGER,              -- slowest move, in milliseconds
    second_slowest INTEGER,
    plies INTEGER,
    isolation INTEGER REFERENCES isolation  -- null without bots
);
CREATE INDEX repeats ON games (first, second, repeat);
CREATE TABLE moves (
    game INTEGER PRIMARY KEY REFERENCES games,
    start TEXT,                         -- position; null for the initial one
    opening TEXT NOT NULL,              -- moves of the opening, separated by spaces
    moves TEXT NOT NULL,                -- moves of the players so far
    milliseconds TEXT NOT NULL,         -- time taken by each of them
    clocks TEXT NOT NULL,               -- time left after it, in milliseconds, or -
    scores TEXT NOT NULL,               -- score that its player reported, or -
    depths TEXT NOT NULL                -- search depth that its player reported, or -
);
CREATE TABLE faults (
    game INTEGER NOT NULL REFERENCES games,
    number INTEGER NOT NULL,
    side INTEGER NOT NULL,
    ply INTEGER NOT NULL,
    code TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (game, number)
) WITHOUT ROWID;
CREATE TABLE voided (
    game INTEGER NOT NULL,
    round INTEGER NOT NULL,
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    started INTEGER,
    finished INTEGER,
    winner INTEGER,
    reason TEXT,
    ending TEXT,
    moves TEXT,
    isolation INTEGER,
    voided_because TEXT NOT NULL,
    voided_at INTEGER NOT NULL
);
";

/// Added to journals of the same version that do not have it.
pub(super) const ABSENCES: &str = "
CREATE TABLE IF NOT EXISTS absences (
    game INTEGER NOT NULL REFERENCES games,
    ply INTEGER NOT NULL,
    side INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,      -- not charged: crownhead was stopped or starved
    PRIMARY KEY (game, ply)
) WITHOUT ROWID;
";

/// Stores a game that was replayed at once.
pub(super) const VOID_REPLAYED: &str = "
INSERT INTO voided
SELECT number, round, first, second, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?3
FROM games WHERE number = ?1";

pub(super) const STORE_ABSENCE: &str = "INSERT INTO absences VALUES (?1, ?2, ?3, ?4)";

/// Copies a finished game to `voided`.
pub(super) const VOID_GAME: &str = "
INSERT INTO voided
SELECT games.number, round, first, second, started, finished, winner, reason, ending, moves.moves,
       isolation, ?2, ?3
FROM games LEFT JOIN moves ON moves.game = games.number
WHERE games.number = ?1 AND finished IS NOT NULL";

/// Clears the result of a game.
pub(super) const CLEAR_RESULT: &str = "
UPDATE games SET started = NULL, finished = NULL, winner = NULL, reason = NULL, ending = NULL,
    forfeit = NULL, first_score = NULL, second_score = NULL, first_faults = NULL,
    second_faults = NULL, first_slowest = NULL, second_slowest = NULL, plies = NULL,
    isolation = NULL
WHERE number = ?1";

/// Forgets games that were started and not finished.
pub(super) const RESET_UNFINISHED: &str = "
DELETE FROM moves WHERE game IN
    (SELECT number FROM games WHERE started IS NOT NULL AND finished IS NULL);
UPDATE games SET started = NULL WHERE started IS NOT NULL AND finished IS NULL;";

pub(super) const START_GAME: &str =
    "UPDATE games SET started = ?2 WHERE number = ?1 AND finished IS NULL";

/// Stores a result. A finished game never changes.
pub(super) const FINISH_GAME: &str = "
UPDATE games SET started = ?2, finished = ?3, winner = ?4, reason = ?5, ending = ?6, forfeit = ?7,
    first_score = ?8, second_score = ?9, first_faults = ?10, second_faults = ?11,
    first_slowest = ?12, second_slowest = ?13, plies = ?14, isolation = ?15
WHERE number = ?1 AND finished IS NULL";

pub(super) const STORE_MOVES: &str = "
INSERT INTO moves (game, start, opening, moves, milliseconds, clocks, scores, depths)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (game) DO UPDATE SET start = excluded.start, opening = excluded.opening,
    moves = excluded.moves, milliseconds = excluded.milliseconds, clocks = excluded.clocks,
    scores = excluded.scores, depths = excluded.depths";

pub(super) const STORE_FAULT: &str = "
INSERT OR REPLACE INTO faults (game, number, side, ply, code, description)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
