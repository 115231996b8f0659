//! Plays the games of a contest that are missing, and nothing else.
//!
//! Games that are known are played in waves: all of a fixed schedule, or one round after the other where
//! the next depends on the results. The [`hall`] hands games to those who wait for one, [`board`] plays
//! one, the [`pool`] keeps players alive between their games. Results count when the journal has them.
//! What has been so far is [`history`]; a run that was interrupted begins from it as any other does.

mod board;
mod hall;
mod history;
mod pool;

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crownhead_play::{Knowledge, PlayerError, StopFlag};

pub use history::History;

use crate::events::{Event, GameFacts};
use crate::journal::{Game, Journal, JournalError, Notice, Snapshot, State, Writer};
use crate::schedule::Next;
use crate::{Contest, Entrant, Walls};
use board::Board;
use hall::Hall;
use pool::Pool;

/// What a user may wish while a contest runs.
#[derive(Clone, Default)]
pub struct Signals {
    /// No more games shall be begun.
    pub enough: StopFlag,
    /// Running games shall be broken off, too; they do not count.
    pub abort: StopFlag,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All games are finished.
    Finished,
    /// Somebody interrupted it; the rest can be played later.
    Interrupted,
    /// Somebody cancelled the contest.
    Cancelled,
}

impl Ending {
    /// A word.
    pub const fn code(self) -> &'static str {
        match self {
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::Cancelled => "cancelled",
        }
    }
}

/// Why a run cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The journal.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// A game could not be played, for no fault of a player.
    #[error("a game cannot be played: {0}")]
    Game(PlayerError),
    /// There are fewer walls than the contest requires.
    #[error("{0}")]
    Walls(String),
    /// A thread came to grief.
    #[error("the writer of the journal ended unexpectedly")]
    Writer,
}

/// How often it is looked at what the user wishes.
const GLANCE: Duration = Duration::from_millis(50);

/// Plays all games of a contest that its journal does not have. `heard` is told what happens.
pub fn run(
    contest: &Contest,
    mut journal: Journal,
    knowledge: &Knowledge,
    signals: &Signals,
    heard: &mut dyn FnMut(&Event),
) -> Result<Ending, RunError> {
    let walls = Walls::of(contest).map_err(RunError::Walls)?;
    let walls_number = walls.as_ref().map(|walls| journal.put_up(walls)).transpose()?;
    journal.begin()?;
    let snapshot = journal.snapshot()?;
    let names = snapshot.names();
    let entrants = entrants(contest, &snapshot);
    let pool = Pool::new(contest, knowledge, &entrants);
    let mut history = History::of(&snapshot);
    let finished = snapshot.finished().count() as u64;
    let mut pending: Vec<Game> =
        snapshot.games.iter().filter(|game| game.end.is_none()).cloned().collect();
    drop(snapshot);
    // What is known is scheduled at once, so that everybody knows how much there is to do.
    let mut rounds = Vec::new();
    if contest.schedule.is_fixed() {
        pending.extend(schedule(contest, &mut journal, &mut history, &mut |e| {
            rounds.push(e.clone())
        })?);
    }
    heard(&Event::Contest {
        name: contest.name.clone(),
        game: contest.game.to_string(),
        schedule: contest.schedule.code(),
        seed: contest.seed,
        players: names.clone(),
        planned: history.planned(),
        finished,
        walls,
    });
    for round in &rounds {
        heard(round);
    }
    loop {
        if pending.is_empty() {
            pending = schedule(contest, &mut journal, &mut history, heard)?;
        }
        if pending.is_empty() {
            journal.set_state(State::Finished)?;
            return Ok(Ending::Finished);
        }
        let stage = Stage {
            contest,
            knowledge,
            signals,
            pool: &pool,
            entrants: &entrants,
            walls: walls_number,
        };
        let (returned, left, ending) = stage.wave(journal, pending, &names, &mut history, heard)?;
        (journal, pending) = (returned, left);
        if let Some(ending) = ending {
            return Ok(ending);
        }
        // A wave may be too short for the writer to look.
        if journal.state()? == State::Cancelled {
            return Ok(Ending::Cancelled);
        }
    }
}

/// The entrants by the index of their player.
fn entrants<'a>(contest: &'a Contest, snapshot: &Snapshot) -> Vec<Option<&'a Entrant>> {
    let by_name: HashMap<&str, &Entrant> =
        contest.entrants.iter().map(|entrant| (entrant.name.as_str(), entrant)).collect();
    snapshot.players.iter().map(|player| by_name.get(player.name.as_str()).copied()).collect()
}

/// Writes the next rounds down, as many as are known, and returns their games.
fn schedule(
    contest: &Contest,
    journal: &mut Journal,
    history: &mut History,
    heard: &mut dyn FnMut(&Event),
) -> Result<Vec<Game>, RunError> {
    let mut rounds = Vec::new();
    while let Next::Round(round) = history.director.next() {
        let dealt = history.deal(&round, contest);
        history.director.issued(&round);
        if !dealt.is_empty() || !contest.schedule.is_fixed() {
            let number = history.begin(&dealt);
            // Rounds of a fixed schedule that were added have numbers of their own.
            let title = match contest.schedule.is_fixed() {
                true => format!("round {number}"),
                false => round.title,
            };
            rounds.push((crate::schedule::Round { number, title, ..round }, dealt));
        }
        if history.director.next() == Next::Wait && rounds.last().is_some_and(|r| r.1.is_empty()) {
            // Nobody has an opponent: the round is over at once.
            history.finish_empty();
        }
    }
    if rounds.is_empty() {
        return Ok(Vec::new());
    }
    let last = history.last_game();
    journal.schedule(&rounds)?;
    for (round, games) in &rounds {
        heard(&Event::Round {
            number: round.number,
            title: round.title.clone(),
            games: games.len() as u64,
            byes: round.byes.clone(),
            planned: history.planned(),
        });
    }
    Ok(journal.games_above(last)?)
}

struct Stage<'a> {
    contest: &'a Contest,
    knowledge: &'a Knowledge,
    signals: &'a Signals,
    pool: &'a Pool<'a>,
    entrants: &'a [Option<&'a Entrant>],
    walls: Option<i64>,
}

impl Stage<'_> {
    /// Plays these games: the journal again, the games that are left, and how the run ends if it does.
    #[allow(clippy::type_complexity)] // three things that go together only here
    fn wave(
        &self,
        journal: Journal,
        games: Vec<Game>,
        names: &[String],
        history: &mut History,
        heard: &mut dyn FnMut(&Event),
    ) -> Result<(Journal, Vec<Game>, Option<Ending>), RunError> {
        let Signals { enough, abort } = self.signals;
        let mut open: HashMap<i64, Game> =
            games.iter().map(|game| (game.number, game.clone())).collect();
        let boards = self.contest.concurrency.clamp(1, games.len().max(1));
        let hall = Hall::new(games, names.len(), self.contest.one_at_a_time);
        if enough.is_set() || abort.is_set() {
            hall.close();
        }
        let broken = Mutex::new(None);
        let (tell, notices) = channel();
        let (writer, pen) = Writer::start(journal, boards, tell);
        let (mut failure, mut is_cancelled) = (None, false);
        let contest = self.contest;
        let openings = contest.openings.picker(&contest.game, self.knowledge, contest.seed);
        std::thread::scope(|scope| {
            for number in 0..boards {
                let (hall, broken, pen) = (&hall, &broken, pen.clone());
                let board = Board {
                    contest: self.contest,
                    openings: &openings,
                    pool: self.pool,
                    entrants: self.entrants,
                    walls: self.walls,
                    stop: abort,
                };
                scope.spawn(move || {
                    while let Some(game) = hall.take() {
                        let played = board.play(&game, number, &pen);
                        hall.release(&game);
                        if let Err(error) = played {
                            *broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                            hall.close();
                            abort.set();
                        }
                    }
                });
            }
            drop(pen);
            loop {
                if enough.is_set() || abort.is_set() {
                    hall.close();
                }
                let notice = match notices.recv_timeout(GLANCE) {
                    Ok(notice) => notice,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                match notice {
                    Notice::Started(number) => {
                        if let Some(game) = open.get(&number) {
                            heard(&Event::Started(GameFacts::of(game, names)));
                        }
                    }
                    Notice::Finished(brief) => {
                        if let Some(game) = open.remove(&brief.number) {
                            history.finished(&game, brief.winner);
                            heard(&Event::Finished(GameFacts::of(&game, names), brief));
                        }
                    }
                    Notice::Cancelled => {
                        is_cancelled = true;
                        hall.close();
                        abort.set();
                    }
                    Notice::Failed(error) => {
                        failure = Some(error);
                        hall.close();
                        abort.set();
                    }
                }
            }
        });
        let journal = writer.end().ok_or(RunError::Writer)?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(RunError::Game(error));
        }
        let mut left: Vec<Game> = open.into_values().collect();
        left.sort_by_key(|game| game.number);
        let ending = match (is_cancelled, left.is_empty()) {
            (true, _) => Some(Ending::Cancelled),
            // What was finished may have been the last: that is found out by looking for more.
            (false, true) => None,
            (false, false) => Some(Ending::Interrupted),
        };
        Ok((journal, left, ending))
    }
}
