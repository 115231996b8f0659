//! Computers that think for strangers: so many at once, and whoever waits waits fairly.
//!
//! Each address has an account of the time that was thought for it, and the address with the least is
//! served next; of several, the one with the shortest search. So who plays a hundred games delays himself,
//! not others, and who wants a quick answer need not wait for those who want deep ones. Whoever comes
//! anew begins where the others are: there is no saving up. While others wait a search is cut short.
//! A search is bounded in time and memory, and ends when nobody wants it any more. Players are made afresh
//! for each move, so a game that waits costs no memory for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crownhead_play::knowledge::from_tables;
use crownhead_play::{
    BuiltinSpec, Choice, Clock, GameSettings, GameStart, Knowledge, PlayerError, PlayerKind,
    Session, StopFlag,
};
use crownhead_rules::Game;
use crownhead_tables::registry;

use crate::limits::ClientKey;

/// Megabytes of hash table for a search.
const HASH_MB: u32 = 16;
/// While others wait, a search takes so long at most.
const PREEMPT_AFTER: Duration = Duration::from_secs(2);
/// So many accounts are remembered before those that make no difference are forgotten.
const MAX_CLIENTS: usize = 1000;
/// A plain search goes as deep as a line of moves is long.
const STACK_BYTES: usize = 16 << 20;

/// A search that is wanted.
pub struct SearchJob {
    /// For whom.
    pub address: ClientKey,
    /// The game; the side to move is the one to think for.
    pub session: Box<dyn Session>,
    /// Who thinks.
    pub player: BuiltinSpec,
    /// Its time.
    pub clock: Clock,
    /// How long it takes at most, as far as is known.
    pub max_time: Duration,
    /// What it draws by lot follows from it.
    pub seed: u64,
    /// Called when it begins.
    pub on_start: Box<dyn FnOnce() + Send>,
    /// Called with what came of it; not if it was stopped.
    pub on_done: Box<dyn FnOnce(Result<Choice, PlayerError>) + Send>,
}

/// Searches that wait and the threads that make them.
pub struct SearchQueue {
    queue: Mutex<Queue>,
    more: Condvar,
    /// Somebody waits, or a search has begun.
    changed: Condvar,
    knowledge: Mutex<HashMap<String, Knowledge>>,
}

#[derive(Default)]
struct Queue {
    waiting: HashMap<ClientKey, VecDeque<(u64, StopFlag, SearchJob)>>,
    running: Vec<Running>,
    /// The time that was thought for each address, a search that runs counted as its longest.
    used: HashMap<ClientKey, Duration>,
    /// The account of the address that was served last: nobody who comes anew has less.
    level: Duration,
    last: u64,
    ended: bool,
}

/// A search that runs.
struct Running {
    number: u64,
    address: ClientKey,
    began: Instant,
    /// Ends it, with what it has found so far.
    enough: StopFlag,
}

/// A place in the queue. Whoever drops it does not want the search any more.
pub struct Ticket {
    number: u64,
    address: ClientKey,
    stop: StopFlag,
    thinking: Arc<SearchQueue>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.stop.set();
        let mut queue = self.thinking.queue();
        if let Some(waiting) = queue.waiting.get_mut(&self.address) {
            waiting.retain(|(number, ..)| *number != self.number);
            if waiting.is_empty() {
                queue.waiting.remove(&self.address);
            }
        }
        if let Some(running) = queue.running.iter().find(|other| other.number == self.number) {
            running.enough.set();
        }
    }
}

impl Queue {
    fn push(&mut self, stop: StopFlag, search: SearchJob) -> u64 {
        self.last += 1;
        let level = self.level;
        if self.used.len() >= MAX_CLIENTS {
            self.used.retain(|_, used| *used > level);
        }
        let used = self.used.entry(search.address).or_default();
        *used = level.max(*used);
        self.waiting.entry(search.address).or_default().push_back((self.last, stop, search));
        self.last
    }

    fn used(&self, address: ClientKey) -> Duration {
        self.used.get(&address).copied().unwrap_or_default().max(self.level)
    }

    /// The next search, with what ends it early.
    fn pop(&mut self) -> Option<(u64, StopFlag, StopFlag, SearchJob)> {
        let first = |(address, waiting): (&ClientKey, &VecDeque<(u64, StopFlag, SearchJob)>)| {
            let (number, _, search) = waiting.front()?;
            Some((self.used(*address), search.max_time, *number, *address))
        };
        let (used, _, _, address) =
            self.waiting.iter().filter_map(first).min_by_key(|own| (own.0, own.1, own.2))?;
        let waiting = self.waiting.get_mut(&address)?;
        let (number, stop, search) = waiting.pop_front()?;
        if waiting.is_empty() {
            self.waiting.remove(&address);
        }
        self.level = used;
        self.used.insert(address, used + search.max_time);
        let (began, enough) = (Instant::now(), StopFlag::new());
        self.running.push(Running { number, address, began, enough: enough.clone() });
        Some((number, stop, enough, search))
    }

    /// Ends searches that have had their share while others wait: the time until the next one has.
    fn cut_short(&self, now: Instant) -> Option<Duration> {
        let is_awaited = |own: &&Running| self.waiting.keys().any(|other| *other != own.address);
        let left = self.running.iter().filter(is_awaited).filter_map(|own| {
            let left = (own.began + PREEMPT_AFTER).saturating_duration_since(now);
            if left.is_zero() {
                own.enough.set();
            }
            (!left.is_zero()).then_some(left)
        });
        left.min()
    }

    /// A search has taken so long, and not its longest.
    fn charge(&mut self, address: ClientKey, longest: Duration, took: Duration) {
        if let Some(used) = self.used.get_mut(&address) {
            *used = used.saturating_sub(longest) + took;
        }
    }
}

impl SearchQueue {
    /// With so many threads, so many searches at once.
    pub fn new(threads: usize) -> std::io::Result<Arc<SearchQueue>> {
        let thinking = Arc::new(SearchQueue {
            queue: Mutex::default(),
            more: Condvar::new(),
            changed: Condvar::new(),
            knowledge: Mutex::default(),
        });
        for _ in 0..threads {
            let own = thinking.clone();
            let builder =
                std::thread::Builder::new().name("thinking".into()).stack_size(STACK_BYTES);
            builder.spawn(move || own.work())?;
        }
        let own = thinking.clone();
        std::thread::Builder::new().name("hurry".into()).spawn(move || own.preempt())?;
        Ok(thinking)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a search into the queue.
    pub fn ask(self: &Arc<Self>, search: SearchJob) -> Ticket {
        let (stop, address) = (StopFlag::new(), search.address);
        let number = self.queue().push(stop.clone(), search);
        self.more.notify_one();
        self.changed.notify_one();
        Ticket { number, address, stop, thinking: self.clone() }
    }

    /// No search is begun any more.
    pub fn end(&self) {
        self.queue().ended = true;
        self.more.notify_all();
        self.changed.notify_all();
    }

    /// Cuts searches short while others wait.
    fn preempt(&self) {
        let mut queue = self.queue();
        while !queue.ended {
            queue = match queue.cut_short(Instant::now()) {
                Some(left) => {
                    let waited = self.changed.wait_timeout(queue, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn work(&self) {
        loop {
            let (number, stop, enough, search) = {
                let mut queue = self.queue();
                loop {
                    if queue.ended {
                        return;
                    }
                    match queue.pop() {
                        Some(next) => break next,
                        None => {
                            let more = self.more.wait(queue);
                            queue = more.unwrap_or_else(PoisonError::into_inner);
                        }
                    }
                }
            };
            self.changed.notify_one();
            let SearchJob {
                address,
                session,
                player,
                clock,
                max_time: longest,
                seed,
                on_start: begun,
                on_done: done,
            } = search;
            begun();
            let began = Instant::now();
            // A fault in a search is not to take its thread from all others.
            let searched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                self.search(session.as_ref(), &player, clock, seed, &enough)
            }));
            let mut queue = self.queue();
            queue.running.retain(|other| other.number != number);
            queue.charge(address, longest, began.elapsed());
            drop(queue);
            if !stop.is_set() {
                done(searched.unwrap_or(Err(PlayerError::Stopped)));
            }
        }
    }

    fn search(
        &self,
        session: &dyn Session,
        spec: &BuiltinSpec,
        clock: Clock,
        seed: u64,
        stop: &StopFlag,
    ) -> Result<Choice, PlayerError> {
        let mut spec = *spec;
        if spec.has_no_limit() || matches!(spec.kind, PlayerKind::Best | PlayerKind::Level(10)) {
            spec.options.hash = Some(HASH_MB);
        }
        let mut player = spec.player(session.game(), &self.knowledge(session.game()))?;
        let settings = GameSettings::default_for(session.game());
        let start = GameStart::new(session.game(), session.side(), &settings, seed);
        player.start_game(&start, stop);
        player.choose(session, &clock, stop, &mut |_| {})
    }

    /// Tables of a game, loaded once.
    fn knowledge(&self, game: &Game) -> Knowledge {
        let mut all = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        let id = game.info().id;
        all.entry(id.into()).or_insert_with(|| from_tables(&registry::load(id).0)).clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn search(address: u64, name: &'static str, say: &Sender<&'static str>) -> SearchJob {
        let say = say.clone();
        SearchJob {
            address: ClientKey::from_number(address),
            session: crownhead_play::new_session(&Game::ChineseCheckers(()), None).unwrap(),
            player: "random".parse().unwrap(),
            clock: Clock::Unlimited,
            max_time: Duration::from_secs(1),
            seed: 1,
            on_start: Box::new(|| {}),
            on_done: Box::new(move |choice| {
                choice.unwrap();
                say.send(name).unwrap();
            }),
        }
    }

    /// A queue without threads, filled before one begins to serve it.
    fn filled(
        searches: impl FnOnce(&Arc<SearchQueue>, &Sender<&'static str>) -> Vec<Ticket>,
    ) -> (Receiver<&'static str>, Arc<SearchQueue>, Vec<Ticket>) {
        let thinking = SearchQueue::new(0).unwrap();
        let (say, heard) = channel();
        let tickets = searches(&thinking, &say);
        let own = thinking.clone();
        std::thread::spawn(move || own.work());
        (heard, thinking, tickets)
    }

    #[test]
    fn addresses_take_turns_however_much_one_of_them_wants() {
        let (heard, thinking, tickets) = filled(|thinking, say| {
            let wanted = [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (3, "e")];
            wanted.map(|(address, name)| thinking.ask(search(address, name, say))).into()
        });
        let order: Vec<_> = heard.iter().take(5).collect();
        assert_eq!(order, ["a", "d", "e", "b", "c"]);
        thinking.end();
        drop(tickets);
    }

    #[test]
    fn who_wants_a_quick_answer_waits_for_nobody_who_wants_deep_ones() {
        let (heard, thinking, tickets) = filled(|thinking, say| {
            let deep = |address, name| SearchJob {
                max_time: Duration::from_secs(10),
                ..search(address, name, say)
            };
            let mut tickets = vec![thinking.ask(deep(1, "a")), thinking.ask(deep(2, "b"))];
            tickets.push(thinking.ask(search(3, "quick", say)));
            tickets
        });
        let order: Vec<_> = heard.iter().take(3).collect();
        assert_eq!(order, ["quick", "a", "b"]);
        thinking.end();
        drop(tickets);
    }

    #[test]
    fn who_comes_later_does_not_wait_for_the_end_of_a_deep_search() {
        let thinking = SearchQueue::new(1).unwrap();
        let (say, heard) = channel();
        let (tell, begun) = channel();
        let hour = Duration::from_secs(3600);
        let mut deep = search(1, "deep", &say);
        deep.player = "best:movetime=3600s".parse().unwrap();
        (deep.max_time, deep.on_start) = (hour, Box::new(move || tell.send(()).unwrap()));
        let _one = thinking.ask(deep);
        begun.recv().unwrap();
        let _other = thinking.ask(search(2, "quick", &say));
        // The first has an answer, too: the best it has found.
        assert_eq!(heard.iter().take(2).collect::<Vec<_>>(), ["deep", "quick"]);
        thinking.end();
    }

    #[test]
    fn what_counts_is_the_time_that_was_used() {
        let (say, _heard) = channel();
        let mut queue = Queue::default();
        let next = |queue: &mut Queue| queue.pop().map(|(_, _, _, search)| search.address).unwrap();
        let (one, other) = (ClientKey::from_number(1), ClientKey::from_number(2));
        for _ in 0..9 {
            queue.push(StopFlag::new(), search(1, "", &say));
            queue.push(StopFlag::new(), search(2, "", &say));
        }
        assert_eq!(next(&mut queue), one);
        queue.charge(one, Duration::from_secs(1), Duration::from_secs(3));
        // Three seconds for the other, a second each.
        for _ in 0..3 {
            assert_eq!(next(&mut queue), other);
        }
        // Whoever comes now has saved nothing up.
        queue.push(StopFlag::new(), search(3, "", &say));
        assert!(queue.used(ClientKey::from_number(3)) >= Duration::from_secs(2));
    }

    #[test]
    fn nobody_thinks_for_those_who_have_left() {
        let (heard, thinking, tickets) = filled(|thinking, say| {
            let left = thinking.ask(search(1, "left", say));
            let stayed = thinking.ask(search(2, "stayed", say));
            drop(left);
            vec![stayed]
        });
        assert_eq!(heard.recv().unwrap(), "stayed");
        thinking.end();
        drop(tickets);
    }

    #[test]
    fn a_search_ends_when_its_ticket_is_dropped() {
        let thinking = SearchQueue::new(1).unwrap();
        let (say, heard) = channel();
        let (begun, has_begun) = channel();
        let endless = SearchJob {
            player: "best:movetime=86400s".parse().unwrap(),
            on_start: Box::new(move || begun.send(()).unwrap()),
            ..search(1, "endless", &say)
        };
        let ticket = thinking.ask(endless);
        has_begun.recv().unwrap();
        let next = thinking.ask(search(2, "next", &say));
        drop(ticket);
        assert_eq!(heard.recv().unwrap(), "next");
        thinking.end();
        drop(next);
    }
}
