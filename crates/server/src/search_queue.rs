//! Fair queue of searches.
//!
//! Each client has an account of the thinking time that was used for it. The client with the lowest
//! account is served next; among equals the one with the shortest search. So a client with a
//! hundred games delays itself and not others, and a quick search does not wait behind deep ones. A
//! new client starts at the account of the client served last: idle time earns no credit. While
//! other clients wait, a running search is cut short. An analysis gives way to every search that
//! waits, and among the searches of a client it comes last.
//!
//! Searches are limited in time and memory and stop when their ticket is dropped. Players are
//! created per search, so that waiting games hold no memory for them.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crownhead_play::knowledge::from_tables;
use crownhead_play::{
    BuiltinSpec, Choice, Clock, GameSettings, GameStart, Knowledge, PlayerError, PlayerKind,
    Session, StopFlag,
};
use crownhead_rules::Game;
use crownhead_tables::registry;

use crate::rate_limit::ClientKey;
use crate::sync::lock;

/// Size of the hash table of a search, in megabytes.
const HASH_MB: u32 = 16;
/// Maximum duration of a search while other clients wait.
const PREEMPT_AFTER: Duration = Duration::from_secs(2);
/// Number of accounts above which those below the level, which have no effect, are dropped.
const MAX_ACCOUNTS: usize = 1000;
/// Stack size of a search thread: `minimax` recurses as deep as a line of moves is long.
const STACK_BYTES: usize = 16 << 20;

/// Search to be queued.
pub struct SearchJob {
    /// The client whose account is charged.
    pub client: ClientKey,
    /// The game, whose tables the search gets.
    pub game: Game,
    /// Expected maximum duration.
    pub max_time: Duration,
    /// Whether the search is an analysis. The moves of computer players come first.
    pub is_analysis: bool,
    /// Called when the search starts.
    pub on_start: Box<dyn FnOnce() + Send>,
    /// The search.
    pub run: Search,
}

/// A search: gets the tables of its game and a flag that stops it, and returns what to do with its
/// result, unless the ticket was dropped meanwhile.
pub type Search = Box<dyn FnOnce(&Knowledge, &StopFlag) -> OnDone + Send>;

/// Hands over the result of a search.
pub type OnDone = Box<dyn FnOnce() + Send>;

/// The search of a player for a move.
pub struct PlayerSearch {
    /// The game; the search is for the side to move.
    pub session: Box<dyn Session>,
    /// The player.
    pub player: BuiltinSpec,
    /// The player's clock.
    pub clock: Clock,
    /// Random seed of the player.
    pub seed: u64,
    /// Called with the result.
    pub on_done: Box<dyn FnOnce(Result<Choice, PlayerError>) + Send>,
}

impl PlayerSearch {
    /// The search for the queue.
    pub fn boxed(self) -> Search {
        Box::new(move |knowledge, stop| {
            // A panic in a search must not end the thread, and the game waits for the result.
            let choice = catch_unwind(AssertUnwindSafe(|| self.choose(knowledge, stop)));
            let choice = choice.unwrap_or(Err(PlayerError::Stopped));
            Box::new(move || (self.on_done)(choice))
        })
    }

    fn choose(&self, knowledge: &Knowledge, stop: &StopFlag) -> Result<Choice, PlayerError> {
        let (session, mut spec) = (self.session.as_ref(), self.player);
        if spec.has_no_limit() || matches!(spec.kind, PlayerKind::Best | PlayerKind::Level(10)) {
            spec.options.hash = Some(HASH_MB);
        }
        let mut player = spec.player(session.game(), knowledge)?;
        let settings = GameSettings::default_for(session.game());
        let start = GameStart::new(session.game(), session.side(), &settings, self.seed);
        player.start_game(&start, stop);
        player.choose(session, &self.clock, stop, &mut |_| {})
    }
}

/// Queue of searches and the threads that run them.
pub struct SearchQueue {
    queue: Mutex<Queue>,
    /// Wakes a search thread: a job was pushed, or the queue was closed.
    job_available: Condvar,
    /// Wakes the preemption thread: a job was pushed or started, or the queue was closed.
    changed: Condvar,
    knowledge: Mutex<HashMap<String, Knowledge>>,
}

struct QueuedJob {
    number: u64,
    /// Set when the ticket is dropped.
    cancelled: StopFlag,
    job: SearchJob,
}

#[derive(Default)]
struct Queue {
    waiting: HashMap<ClientKey, VecDeque<QueuedJob>>,
    running: Vec<RunningJob>,
    /// Thinking time used for each client. A running search counts as its maximum duration.
    accounts: HashMap<ClientKey, Duration>,
    /// Account of the client served last; no account is below it.
    level: Duration,
    last_number: u64,
    is_closed: bool,
}

struct RunningJob {
    number: u64,
    client: ClientKey,
    is_analysis: bool,
    started: Instant,
    /// Ends the search with the best move found so far.
    stop: StopFlag,
}

/// Claim to a queued search. Dropping it cancels the search.
pub struct Ticket {
    number: u64,
    client: ClientKey,
    cancelled: StopFlag,
    search_queue: Arc<SearchQueue>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.cancelled.set();
        let mut queue = self.search_queue.lock_queue();
        if let Some(waiting) = queue.waiting.get_mut(&self.client) {
            waiting.retain(|queued| queued.number != self.number);
            if waiting.is_empty() {
                queue.waiting.remove(&self.client);
            }
        }
        if let Some(running) = queue.running.iter().find(|running| running.number == self.number) {
            running.stop.set();
        }
    }
}

impl Queue {
    fn push(&mut self, cancelled: StopFlag, job: SearchJob) -> u64 {
        self.last_number += 1;
        let (number, level) = (self.last_number, self.level);
        if self.accounts.len() >= MAX_ACCOUNTS {
            self.accounts.retain(|_, account| *account > level);
        }
        let account = self.accounts.entry(job.client).or_default();
        *account = level.max(*account);
        let waiting = self.waiting.entry(job.client).or_default();
        waiting.push_back(QueuedJob { number, cancelled, job });
        number
    }

    fn account(&self, client: ClientKey) -> Duration {
        self.accounts.get(&client).copied().unwrap_or_default().max(self.level)
    }

    /// Removes the next job and marks it as running. Also returns the flag that stops it.
    fn pop(&mut self) -> Option<(QueuedJob, StopFlag)> {
        let priority = |(&client, waiting): (&ClientKey, &VecDeque<QueuedJob>)| {
            let next = &waiting.get(next_of(waiting)?)?;
            Some(((self.account(client), next.job.max_time, next.number), client))
        };
        let next = self.waiting.iter().filter_map(priority).min_by_key(|(priority, _)| *priority);
        let ((account, ..), client) = next?;
        let waiting = self.waiting.get_mut(&client)?;
        let queued = waiting.remove(next_of(waiting)?)?;
        if waiting.is_empty() {
            self.waiting.remove(&client);
        }
        self.level = account;
        self.accounts.insert(client, account + queued.job.max_time);
        let (number, stop) = (queued.number, StopFlag::new());
        let (is_analysis, started) = (queued.job.is_analysis, Instant::now());
        self.running.push(RunningJob { number, client, is_analysis, started, stop: stop.clone() });
        Some((queued, stop))
    }

    /// Stops searches that have run for [`PREEMPT_AFTER`] while others wait that they give way to.
    /// Returns the time until the next one is due.
    fn stop_overdue(&self, now: Instant) -> Option<Duration> {
        let others_wait = |running: &&RunningJob| {
            self.waiting.keys().any(|client| running.is_analysis || *client != running.client)
        };
        let due_times = self.running.iter().filter(others_wait).filter_map(|running| {
            let left = (running.started + PREEMPT_AFTER).saturating_duration_since(now);
            if left.is_zero() {
                running.stop.set();
            }
            (!left.is_zero()).then_some(left)
        });
        due_times.min()
    }

    /// Corrects an account, which was charged the maximum duration of a search, to the actual one.
    fn charge(&mut self, client: ClientKey, max_time: Duration, actual: Duration) {
        if let Some(account) = self.accounts.get_mut(&client) {
            *account = account.saturating_sub(max_time) + actual;
        }
    }
}

/// The index of the next search of a client: the first one that is not an analysis.
fn next_of(waiting: &VecDeque<QueuedJob>) -> Option<usize> {
    let first = waiting.iter().position(|queued| !queued.job.is_analysis);
    first.or((!waiting.is_empty()).then_some(0))
}

impl SearchQueue {
    /// Starts a queue with a number of search threads.
    pub fn new(threads: usize) -> std::io::Result<Arc<SearchQueue>> {
        let search_queue = Arc::new(SearchQueue {
            queue: Mutex::default(),
            job_available: Condvar::new(),
            changed: Condvar::new(),
            knowledge: Mutex::default(),
        });
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        for _ in 0..threads {
            let search_queue = search_queue.clone();
            thread("search").stack_size(STACK_BYTES).spawn(move || search_queue.search_loop())?;
        }
        let preempting = search_queue.clone();
        thread("search-preempt").spawn(move || preempting.preempt_loop())?;
        Ok(search_queue)
    }

    fn lock_queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Queues a search.
    pub fn push(self: &Arc<Self>, job: SearchJob) -> Ticket {
        let (cancelled, client) = (StopFlag::new(), job.client);
        let number = self.lock_queue().push(cancelled.clone(), job);
        self.job_available.notify_one();
        self.changed.notify_one();
        Ticket { number, client, cancelled, search_queue: self.clone() }
    }

    /// Starts no more searches. Threads exit after their current one.
    pub fn close(&self) {
        self.lock_queue().is_closed = true;
        self.job_available.notify_all();
        self.changed.notify_all();
    }

    /// Cuts searches short while other clients wait.
    fn preempt_loop(&self) {
        let mut queue = self.lock_queue();
        while !queue.is_closed {
            queue = match queue.stop_overdue(Instant::now()) {
                Some(left) => {
                    let woken = self.changed.wait_timeout(queue, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn search_loop(&self) {
        while let Some((queued, stop)) = self.next_job() {
            self.changed.notify_one();
            let QueuedJob { number, cancelled, job } = queued;
            (job.on_start)();
            let started = Instant::now();
            let knowledge = self.knowledge(&job.game);
            // A panic in a search must not end the thread.
            let on_done = catch_unwind(AssertUnwindSafe(|| (job.run)(&knowledge, &stop)));
            let mut queue = self.lock_queue();
            queue.running.retain(|running| running.number != number);
            queue.charge(job.client, job.max_time, started.elapsed());
            drop(queue);
            if let Ok(on_done) = on_done
                && !cancelled.is_set()
            {
                on_done();
            }
        }
    }

    /// Waits for a job; `None` when the queue is closed.
    fn next_job(&self) -> Option<(QueuedJob, StopFlag)> {
        let mut queue = self.lock_queue();
        while !queue.is_closed {
            if let Some(next) = queue.pop() {
                return Some(next);
            }
            queue = self.job_available.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// The tables of a game, loaded once.
    pub fn knowledge(&self, game: &Game) -> Knowledge {
        let id = game.info().id;
        let mut loaded = lock(&self.knowledge);
        loaded.entry(id.into()).or_insert_with(|| from_tables(&registry::load(id).0)).clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A job that sends its name when it is done.
    fn job(client: u64, name: &'static str, done: &Sender<&'static str>) -> SearchJob {
        SearchJob {
            client: ClientKey::from_number(client),
            game: Game::ChineseCheckers(()),
            max_time: Duration::from_secs(1),
            is_analysis: false,
            on_start: Box::new(|| {}),
            run: search("random", name, done),
        }
    }

    /// The search of a player that sends a name when it is done.
    fn search(player: &str, name: &'static str, done: &Sender<&'static str>) -> Search {
        let done = done.clone();
        let search = PlayerSearch {
            session: crownhead_play::new_session(&Game::ChineseCheckers(()), None).unwrap(),
            player: player.parse().unwrap(),
            clock: Clock::Unlimited,
            seed: 1,
            on_done: Box::new(move |choice| {
                choice.unwrap();
                done.send(name).unwrap();
            }),
        };
        search.boxed()
    }

    /// A queue with one thread that starts when the queue has been filled.
    fn start_filled(
        fill: impl FnOnce(&Arc<SearchQueue>, &Sender<&'static str>) -> Vec<Ticket>,
    ) -> (Receiver<&'static str>, Arc<SearchQueue>, Vec<Ticket>) {
        let queue = SearchQueue::new(0).unwrap();
        let (done, finished) = channel();
        let tickets = fill(&queue, &done);
        let searching = queue.clone();
        std::thread::spawn(move || searching.search_loop());
        (finished, queue, tickets)
    }

    #[test]
    fn clients_take_turns_however_many_searches_one_of_them_queues() {
        let (finished, queue, tickets) = start_filled(|queue, done| {
            let jobs = [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (3, "e")];
            jobs.map(|(client, name)| queue.push(job(client, name, done))).into()
        });
        let order: Vec<_> = finished.iter().take(5).collect();
        assert_eq!(order, ["a", "d", "e", "b", "c"]);
        queue.close();
        drop(tickets);
    }

    #[test]
    fn quick_search_runs_before_deep_ones() {
        let (finished, queue, tickets) = start_filled(|queue, done| {
            let deep = |client, name| SearchJob {
                max_time: Duration::from_secs(10),
                ..job(client, name, done)
            };
            let jobs = [deep(1, "a"), deep(2, "b"), job(3, "quick", done)];
            jobs.map(|job| queue.push(job)).into()
        });
        let order: Vec<_> = finished.iter().take(3).collect();
        assert_eq!(order, ["quick", "a", "b"]);
        queue.close();
        drop(tickets);
    }

    #[test]
    fn deep_search_is_cut_short_while_another_client_waits() {
        let queue = SearchQueue::new(1).unwrap();
        let (done, finished) = channel();
        let (start, started) = channel();
        let deep = SearchJob {
            run: search("best:movetime=3600s,book=off", "deep", &done),
            max_time: Duration::from_secs(3600),
            on_start: Box::new(move || start.send(()).unwrap()),
            ..job(1, "deep", &done)
        };
        let _deep = queue.push(deep);
        started.recv().unwrap();
        let _quick = queue.push(job(2, "quick", &done));
        // The deep search returns the best move it has found.
        assert_eq!(finished.iter().take(2).collect::<Vec<_>>(), ["deep", "quick"]);
        queue.close();
    }

    #[test]
    fn analysis_gives_way_to_a_computer_move_of_the_same_client() {
        let queue = SearchQueue::new(1).unwrap();
        let (done, finished) = channel();
        let (start, started) = channel();
        let analysis = SearchJob {
            run: search("best:movetime=3600s,book=off", "analysis", &done),
            max_time: Duration::from_secs(3600),
            is_analysis: true,
            on_start: Box::new(move || start.send(()).unwrap()),
            ..job(1, "analysis", &done)
        };
        let _analysis = queue.push(analysis);
        started.recv().unwrap();
        let _next = queue.push(SearchJob { is_analysis: true, ..job(1, "next", &done) });
        let _move = queue.push(job(1, "move", &done));
        assert_eq!(finished.iter().take(3).collect::<Vec<_>>(), ["analysis", "move", "next"]);
        queue.close();
    }

    #[test]
    fn accounts_count_the_time_actually_used() {
        let (done, _finished) = channel();
        let mut queue = Queue::default();
        let next = |queue: &mut Queue| queue.pop().map(|(queued, _)| queued.job.client).unwrap();
        let (a, b) = (ClientKey::from_number(1), ClientKey::from_number(2));
        for _ in 0..9 {
            queue.push(StopFlag::new(), job(1, "", &done));
            queue.push(StopFlag::new(), job(2, "", &done));
        }
        assert_eq!(next(&mut queue), a);
        queue.charge(a, Duration::from_secs(1), Duration::from_secs(3));
        // Client b catches up: three searches of one second each.
        for _ in 0..3 {
            assert_eq!(next(&mut queue), b);
        }
        // A new client starts at the level of the others.
        queue.push(StopFlag::new(), job(3, "", &done));
        assert!(queue.account(ClientKey::from_number(3)) >= Duration::from_secs(2));
    }

    #[test]
    fn queued_search_is_removed_when_its_ticket_is_dropped() {
        let (finished, queue, tickets) = start_filled(|queue, done| {
            let dropped = queue.push(job(1, "dropped", done));
            let wanted = queue.push(job(2, "wanted", done));
            drop(dropped);
            vec![wanted]
        });
        assert_eq!(finished.recv().unwrap(), "wanted");
        queue.close();
        drop(tickets);
    }

    #[test]
    fn running_search_stops_when_its_ticket_is_dropped() {
        let queue = SearchQueue::new(1).unwrap();
        let (done, finished) = channel();
        let (start, started) = channel();
        let endless = SearchJob {
            run: search("best:movetime=86400s,book=off", "endless", &done),
            on_start: Box::new(move || start.send(()).unwrap()),
            ..job(1, "endless", &done)
        };
        let ticket = queue.push(endless);
        started.recv().unwrap();
        let next = queue.push(job(2, "next", &done));
        drop(ticket);
        assert_eq!(finished.recv().unwrap(), "next");
        queue.close();
        drop(next);
    }
}
