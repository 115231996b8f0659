//! Where games are played: an [`Executor`] takes jobs from a [`JobSource`] and reports the results
//! to it. Matches and tournaments are job sources.

use std::path::Path;

use crownhead_play::{Knowledge, PlayerError, StopFlag};
use crownhead_rules::Game;

use super::pool::PlayerPool;
use super::worker::GameWorker;
use crate::Entrant;
use crate::job::{GameJob, JobResult, MoveReport};

/// Plays games.
pub trait Executor: Sync {
    /// Maximum number of games in parallel.
    fn slots(&self) -> usize;

    /// Plays the jobs of `source` until there are no more. Once `stop` is set, running games end
    /// without a result.
    fn run(&self, source: &dyn JobSource, stop: &StopFlag);
}

/// Hands out jobs and receives their results. Several threads call it at once; `slot` identifies
/// one of the games in progress and is below [`Executor::slots`].
pub trait JobSource: Sync {
    /// Maximum number of jobs still to come.
    fn max_jobs(&self) -> usize;

    /// Returns the next job, waiting for it if necessary; `None` if there are no more.
    fn next_job(&self) -> Option<GameJob>;

    /// Returns the next job, and with it the other game of its pair if that is missing, too: the
    /// games of a pair belong on one machine. Empty if there are no more jobs.
    fn next_pair(&self) -> Vec<GameJob>;

    /// The players of a job are ready: those that need it have been built.
    fn on_players_ready(&self, _job: &GameJob) {}

    /// A game has started, at `started` milliseconds since 1970.
    fn on_start(&self, _slot: usize, _job: &GameJob, _started: i64) {}

    /// Whether a game is played again if a bot was late while this process was stopped or starved.
    fn replays_disputed_games(&self) -> bool {
        false
    }

    /// A move was played.
    fn on_move(&self, _slot: usize, _text: &str, _report: MoveReport) {}

    /// A job is done. Its players are available again.
    fn on_result(&self, slot: usize, job: &GameJob, result: JobResult);
}

/// Plays games on threads of this process and keeps the players alive between games.
pub struct ThreadExecutor<'a> {
    threads: usize,
    worker: GameWorker<'a>,
}

impl<'a> ThreadExecutor<'a> {
    /// Creates an executor for these players; jobs refer to them by index. The bots' logs go to
    /// the folder `log`.
    pub fn new(
        players: Vec<Option<&'a Entrant>>,
        knowledge: &'a Knowledge,
        threads: usize,
        log: Option<&'a Path>,
    ) -> ThreadExecutor<'a> {
        let threads = threads.max(1);
        let pool = PlayerPool::new(players, knowledge, threads);
        ThreadExecutor { threads, worker: GameWorker { pool, log } }
    }

    /// Creates all players for every thread in advance, so that a lack of memory is an error
    /// before the first game.
    pub fn create_players(&self, game: &Game) -> Result<(), PlayerError> {
        (0..self.threads).try_for_each(|_| self.worker.pool.add_all(game))
    }
}

impl Executor for ThreadExecutor<'_> {
    fn slots(&self) -> usize {
        self.threads
    }

    fn run(&self, source: &dyn JobSource, stop: &StopFlag) {
        let work = |slot: usize| {
            while let Some(job) = source.next_job() {
                let result = self.worker.play(&job, slot, source, stop);
                source.on_result(slot, &job, result);
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            for slot in 1..self.threads.min(source.max_jobs()) {
                scope.spawn(move || work(slot));
            }
            work(0);
        });
    }
}
