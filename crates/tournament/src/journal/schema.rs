//! The tables of a journal. Players, rounds and games are numbered from 1; times are milliseconds
//! since 1970; sides are 1 for whoever moves first and 2 for the other.

/// "CRNH": a journal of Crownhead.
pub(super) const APPLICATION: i64 = 0x4352_4e48;
/// Another version is not understood.
pub(super) const VERSION: i64 = 3;

pub(super) const TABLES: &str = "
CREATE TABLE tournament (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE players (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    player TEXT NOT NULL,               -- as the tournament file names it
    files TEXT NOT NULL,                -- SHA-256 and name of each of its files
    place INTEGER NOT NULL              -- in the tournament file; 0 if it has left the tournament
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
CREATE TABLE walls (
    number INTEGER PRIMARY KEY,
    asked TEXT NOT NULL,                -- the isolation of the tournament file
    active TEXT NOT NULL,               -- words
    missing TEXT NOT NULL,              -- a line for each that the machine did not have
    limits TEXT NOT NULL                -- those of the tournament, as in cores=1,memory=2GB
);
CREATE TABLE games (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    round INTEGER NOT NULL REFERENCES rounds,
    first INTEGER NOT NULL REFERENCES players,
    second INTEGER NOT NULL REFERENCES players,
    opening INTEGER NOT NULL,           -- its number; two games with exchanged colours share it
    meeting INTEGER NOT NULL,           -- the n-th game of these two with these colours, from 0
    started INTEGER,
    finished INTEGER,
    winner INTEGER,                     -- a side, or 0 for a draw
    reason TEXT,                        -- a word
    ending TEXT,                        -- a sentence
    forfeit INTEGER,                    -- the side that lost by a fault
    first_score INTEGER,
    second_score INTEGER,
    first_faults INTEGER,
    second_faults INTEGER,
    first_slowest INTEGER,              -- the longest time for a move, in milliseconds
    second_slowest INTEGER,
    plies INTEGER,
    walls INTEGER REFERENCES walls      -- around programs; null if none played
);
CREATE INDEX meetings ON games (first, second, meeting);
CREATE TABLE moves (
    game INTEGER PRIMARY KEY REFERENCES games,
    start TEXT,                         -- the position, if it is not the usual one
    opening TEXT NOT NULL,              -- moves that were not the players'
    moves TEXT NOT NULL,                -- so far; blanks between them
    milliseconds TEXT NOT NULL          -- what each of them took
);
CREATE TABLE faults (
    game INTEGER NOT NULL REFERENCES games,
    number INTEGER NOT NULL,
    side INTEGER NOT NULL,
    ply INTEGER NOT NULL,
    code TEXT NOT NULL,
    sentence TEXT NOT NULL,
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
    walls INTEGER,
    why TEXT NOT NULL,
    at INTEGER NOT NULL
);
";

pub(super) const VOID: &str = "
INSERT INTO voided
SELECT games.number, round, first, second, started, finished, winner, reason, ending, moves.moves,
       walls, ?2, ?3
FROM games LEFT JOIN moves ON moves.game = games.number
WHERE games.number = ?1 AND finished IS NOT NULL";

pub(super) const UNPLAY: &str = "
UPDATE games SET started = NULL, finished = NULL, winner = NULL, reason = NULL, ending = NULL,
    forfeit = NULL, first_score = NULL, second_score = NULL, first_faults = NULL,
    second_faults = NULL, first_slowest = NULL, second_slowest = NULL, plies = NULL,
    walls = NULL
WHERE number = ?1";

pub(super) const BEGIN: &str = "
DELETE FROM moves WHERE game IN
    (SELECT number FROM games WHERE started IS NOT NULL AND finished IS NULL);
UPDATE games SET started = NULL WHERE started IS NOT NULL AND finished IS NULL;";

pub(super) const START: &str =
    "UPDATE games SET started = ?2 WHERE number = ?1 AND finished IS NULL";

/// A game is finished once: nothing changes one that is.
pub(super) const FINISH: &str = "
UPDATE games SET started = ?2, finished = ?3, winner = ?4, reason = ?5, ending = ?6, forfeit = ?7,
    first_score = ?8, second_score = ?9, first_faults = ?10, second_faults = ?11,
    first_slowest = ?12, second_slowest = ?13, plies = ?14, walls = ?15
WHERE number = ?1 AND finished IS NULL";

pub(super) const MOVES: &str = "
INSERT INTO moves (game, start, opening, moves, milliseconds) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (game) DO UPDATE SET start = excluded.start, opening = excluded.opening,
    moves = excluded.moves, milliseconds = excluded.milliseconds";

pub(super) const FAULT: &str = "
INSERT OR REPLACE INTO faults (game, number, side, ply, code, sentence)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
