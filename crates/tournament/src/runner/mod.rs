//! Plays the games of a tournament that are missing, and nothing else.
//!
//! Games that are known are played in waves: all of a fixed schedule, or one round after the other where
//! the next depends on the results. The [`queue`] hands games to those who wait for one, [`worker`] plays
//! one, the [`pool`] keeps players alive between their games. Results count when the journal has them.
//! What has been so far is in [`schedule`](crate::schedule); a run that was interrupted begins from it as any other does.

mod pool;
mod queue;
mod worker;

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crownhead_play::{Knowledge, PlayerError, Stop};

use crate::events::{Event, GameRef};
use crate::journal::{Game, Journal, JournalError, Snapshot, State, Writer, WriterEvent};
use crate::schedule::{NextRound, ScheduleState};
use crate::{Entrant, IsolationRecord, Tournament};
use pool::PlayerPool;
use queue::GameQueue;
use worker::GameWorker;

/// What a user may wish while a tournament runs.
#[derive(Clone, Default)]
pub struct RunControl {
    /// No more games shall be begun.
    pub finish_running: Stop,
    /// Running games shall be broken off, too; they do not count.
    pub abort: Stop,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// All games are finished.
    Finished,
    /// Somebody interrupted it; the rest can be played later.
    Interrupted,
    /// Somebody cancelled the tournament.
    Cancelled,
}

impl RunOutcome {
    /// A word.
    pub const fn code(self) -> &'static str {
        match self {
            RunOutcome::Finished => "finished",
            RunOutcome::Interrupted => "interrupted",
            RunOutcome::Cancelled => "cancelled",
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
    /// There are fewer walls than the tournament requires.
    #[error("{0}")]
    Isolation(String),
    /// A thread came to grief.
    #[error("the writer of the journal ended unexpectedly")]
    WriterPanicked,
}

/// How often it is looked at what the user wishes.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Plays all games of a tournament that its journal does not have. `heard` is told what happens.
pub fn run(
    tournament: &Tournament,
    mut journal: Journal,
    knowledge: &Knowledge,
    signals: &RunControl,
    heard: &mut dyn FnMut(&Event),
) -> Result<RunOutcome, RunError> {
    let walls = IsolationRecord::detect(tournament).map_err(RunError::Isolation)?;
    let walls_number = walls.as_ref().map(|walls| journal.record_isolation(walls)).transpose()?;
    journal.reset_unfinished()?;
    let snapshot = journal.snapshot()?;
    let names = snapshot.names();
    let entrants = entrants(tournament, &snapshot);
    let pool = PlayerPool::new(tournament, knowledge, &entrants);
    let mut history = ScheduleState::new(&snapshot);
    let finished = snapshot.finished().count() as u64;
    let mut pending: Vec<Game> =
        snapshot.games.iter().filter(|game| game.end.is_none()).cloned().collect();
    drop(snapshot);
    // What is known is scheduled at once, so that everybody knows how much there is to do.
    let mut rounds = Vec::new();
    if tournament.schedule.is_fixed() {
        pending.extend(schedule(tournament, &mut journal, &mut history, &mut |e| {
            rounds.push(e.clone())
        })?);
    }
    heard(&Event::RunStarted {
        name: tournament.name.clone(),
        game: tournament.game.to_string(),
        schedule: tournament.schedule.code(),
        seed: tournament.seed,
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
            pending = schedule(tournament, &mut journal, &mut history, heard)?;
        }
        if pending.is_empty() {
            journal.set_state(State::Finished)?;
            return Ok(RunOutcome::Finished);
        }
        let stage = RunContext {
            tournament,
            knowledge,
            signals,
            pool: &pool,
            entrants: &entrants,
            walls: walls_number,
        };
        let (returned, left, ending) =
            stage.play_batch(journal, pending, &names, &mut history, heard)?;
        (journal, pending) = (returned, left);
        if let Some(ending) = ending {
            return Ok(ending);
        }
        // A wave may be too short for the writer to look.
        if journal.state()? == State::Cancelled {
            return Ok(RunOutcome::Cancelled);
        }
    }
}

/// The entrants by the index of their player.
fn entrants<'a>(tournament: &'a Tournament, snapshot: &Snapshot) -> Vec<Option<&'a Entrant>> {
    let by_name: HashMap<&str, &Entrant> =
        tournament.entrants.iter().map(|entrant| (entrant.name.as_str(), entrant)).collect();
    snapshot.players.iter().map(|player| by_name.get(player.name.as_str()).copied()).collect()
}

/// Writes the next rounds down, as many as are known, and returns their games.
fn schedule(
    tournament: &Tournament,
    journal: &mut Journal,
    history: &mut ScheduleState,
    heard: &mut dyn FnMut(&Event),
) -> Result<Vec<Game>, RunError> {
    let mut rounds = Vec::new();
    while let NextRound::Round(round) = history.scheduler.next() {
        let dealt = history.schedule_games(&round, tournament);
        history.scheduler.on_scheduled(&round);
        if !dealt.is_empty() || !tournament.schedule.is_fixed() {
            let number = history.on_scheduled(&dealt);
            // Rounds of a fixed schedule that were added have numbers of their own.
            let title = match tournament.schedule.is_fixed() {
                true => format!("round {number}"),
                false => round.title,
            };
            rounds.push((crate::schedule::Round { number, title, ..round }, dealt));
        }
        if history.scheduler.next() == NextRound::Wait
            && rounds.last().is_some_and(|r| r.1.is_empty())
        {
            // Nobody has an opponent: the round is over at once.
            history.finish_empty_round();
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

struct RunContext<'a> {
    tournament: &'a Tournament,
    knowledge: &'a Knowledge,
    signals: &'a RunControl,
    pool: &'a PlayerPool<'a>,
    entrants: &'a [Option<&'a Entrant>],
    walls: Option<i64>,
}

impl RunContext<'_> {
    /// Plays these games: the journal again, the games that are left, and how the run ends if it does.
    #[allow(clippy::type_complexity)] // three things that go together only here
    fn play_batch(
        &self,
        journal: Journal,
        games: Vec<Game>,
        names: &[String],
        history: &mut ScheduleState,
        heard: &mut dyn FnMut(&Event),
    ) -> Result<(Journal, Vec<Game>, Option<RunOutcome>), RunError> {
        let RunControl { finish_running: enough, abort } = self.signals;
        let mut open: HashMap<i64, Game> =
            games.iter().map(|game| (game.number, game.clone())).collect();
        let boards = self.tournament.concurrency.clamp(1, games.len().max(1));
        let hall = GameQueue::new(games, names.len(), self.tournament.exclusive_players);
        if enough.is_stopped() || abort.is_stopped() {
            hall.close();
        }
        let broken = Mutex::new(None);
        let (tell, notices) = channel();
        let (writer, pen) = Writer::start(journal, boards, tell);
        let (mut failure, mut is_cancelled) = (None, false);
        let tournament = self.tournament;
        let openings =
            tournament.openings.picker(&tournament.game, self.knowledge, tournament.seed);
        std::thread::scope(|scope| {
            for number in 0..boards {
                let (hall, broken, pen) = (&hall, &broken, pen.clone());
                let board = GameWorker {
                    tournament: self.tournament,
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
                            abort.stop();
                        }
                    }
                });
            }
            drop(pen);
            loop {
                if enough.is_stopped() || abort.is_stopped() {
                    hall.close();
                }
                let notice = match notices.recv_timeout(POLL_INTERVAL) {
                    Ok(notice) => notice,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                match notice {
                    WriterEvent::Started(number) => {
                        if let Some(game) = open.get(&number) {
                            heard(&Event::GameStarted(GameRef::new(game, names)));
                        }
                    }
                    WriterEvent::Finished(brief) => {
                        if let Some(game) = open.remove(&brief.number) {
                            history.on_game_finished(&game, brief.winner);
                            heard(&Event::GameFinished(GameRef::new(&game, names), brief));
                        }
                    }
                    WriterEvent::Cancelled => {
                        is_cancelled = true;
                        hall.close();
                        abort.stop();
                    }
                    WriterEvent::Failed(error) => {
                        failure = Some(error);
                        hall.close();
                        abort.stop();
                    }
                }
            }
        });
        let journal = writer.end().ok_or(RunError::WriterPanicked)?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(RunError::Game(error));
        }
        let mut left: Vec<Game> = open.into_values().collect();
        left.sort_by_key(|game| game.number);
        let ending = match (is_cancelled, left.is_empty()) {
            (true, _) => Some(RunOutcome::Cancelled),
            // What was finished may have been the last: that is found out by looking for more.
            (false, true) => None,
            (false, false) => Some(RunOutcome::Interrupted),
        };
        Ok((journal, left, ending))
    }
}
