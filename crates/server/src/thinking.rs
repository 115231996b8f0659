//! Computers that think for strangers: so many at once, and whoever waits waits fairly.
//!
//! Searches wait in a queue for each address, and the addresses take turns: who plays a hundred games
//! delays himself, not others. A search is bounded in time and memory, and ends when nobody wants it
//! any more. Players are made afresh for each move, so a game that waits costs no memory for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crownhead_play::{
    Choice, Clock, Knowledge, PlayerError, PlayerKind, PlayerSpec, Session, Stop, knowledge_for,
};
use crownhead_rules::Game;

use crate::limits::Address;

/// Megabytes of hash table for a search.
const HASH: u32 = 16;
/// A plain search goes as deep as a line of moves is long.
const STACK: usize = 16 << 20;

/// A search that is wanted.
pub struct Search {
    /// For whom.
    pub address: Address,
    /// The game; the side to move is the one to think for.
    pub session: Box<dyn Session>,
    /// Who thinks.
    pub player: PlayerSpec,
    /// Its time.
    pub clock: Clock,
    /// What it draws by lot follows from it.
    pub seed: u64,
    /// Called when it begins.
    pub begun: Box<dyn FnOnce() + Send>,
    /// Called with what came of it; not if it was stopped.
    pub done: Box<dyn FnOnce(Result<Choice, PlayerError>) + Send>,
}

/// Searches that wait and the threads that make them.
pub struct Thinking {
    queue: Mutex<Queue>,
    more: Condvar,
    knowledge: Mutex<HashMap<String, Knowledge>>,
}

#[derive(Default)]
struct Queue {
    /// The addresses with searches that wait, the next to be served first.
    turns: VecDeque<Address>,
    waiting: HashMap<Address, VecDeque<(u64, Stop, Search)>>,
    last: u64,
    ended: bool,
}

/// A place in the queue. Whoever drops it does not want the search any more.
pub struct Ticket {
    number: u64,
    address: Address,
    stop: Stop,
    thinking: Arc<Thinking>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.stop.stop();
        let mut queue = self.thinking.queue();
        if let Some(waiting) = queue.waiting.get_mut(&self.address) {
            waiting.retain(|(number, ..)| *number != self.number);
            if waiting.is_empty() {
                queue.waiting.remove(&self.address);
                queue.turns.retain(|address| *address != self.address);
            }
        }
    }
}

impl Queue {
    fn push(&mut self, stop: Stop, search: Search) -> u64 {
        self.last += 1;
        let waiting = self.waiting.entry(search.address).or_default();
        if waiting.is_empty() {
            self.turns.push_back(search.address);
        }
        waiting.push_back((self.last, stop, search));
        self.last
    }

    /// The next search: of the address whose turn it is, which then goes to the end.
    fn pop(&mut self) -> Option<(Stop, Search)> {
        let address = self.turns.pop_front()?;
        let waiting = self.waiting.get_mut(&address)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&address);
        } else {
            self.turns.push_back(address);
        }
        next.map(|(_, stop, search)| (stop, search))
    }
}

impl Thinking {
    /// With so many threads, so many searches at once.
    pub fn new(threads: usize) -> std::io::Result<Arc<Thinking>> {
        let thinking = Arc::new(Thinking {
            queue: Mutex::default(),
            more: Condvar::new(),
            knowledge: Mutex::default(),
        });
        for _ in 0..threads {
            let own = thinking.clone();
            let builder = std::thread::Builder::new().name("thinking".into()).stack_size(STACK);
            builder.spawn(move || own.work())?;
        }
        Ok(thinking)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a search into the queue.
    pub fn ask(self: &Arc<Self>, search: Search) -> Ticket {
        let (stop, address) = (Stop::new(), search.address);
        let number = self.queue().push(stop.clone(), search);
        self.more.notify_one();
        Ticket { number, address, stop, thinking: self.clone() }
    }

    /// No search is begun any more.
    pub fn end(&self) {
        self.queue().ended = true;
        self.more.notify_all();
    }

    fn work(&self) {
        loop {
            let (stop, search) = {
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
            let Search { session, player, clock, seed, begun, done, .. } = search;
            begun();
            // A fault in a search is not to take its thread from all others.
            let searched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                self.search(session.as_ref(), &player, clock, seed, &stop)
            }));
            if !stop.is_stopped() {
                done(searched.unwrap_or(Err(PlayerError::Stopped)));
            }
        }
    }

    fn search(
        &self,
        session: &dyn Session,
        spec: &PlayerSpec,
        clock: Clock,
        seed: u64,
        stop: &Stop,
    ) -> Result<Choice, PlayerError> {
        let mut spec = spec.clone();
        if spec.is_unlimited() || matches!(spec.kind, PlayerKind::Best | PlayerKind::Level(10)) {
            spec.options.hash = Some(HASH);
        }
        let mut player = spec.player(session.game(), &self.knowledge(session.game()))?;
        player.new_game(seed);
        player.choose(session, &clock, stop, &mut |_| {})
    }

    /// What is known of a game, looked up once.
    fn knowledge(&self, game: &Game) -> Knowledge {
        let mut all = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(game.info().id.into()).or_insert_with(|| knowledge_for(game).0).clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn search(address: u64, name: &'static str, say: &Sender<&'static str>) -> Search {
        let say = say.clone();
        Search {
            address: Address::from_number(address),
            session: crownhead_play::session(&Game::ChineseCheckers, None).unwrap(),
            player: "random".parse().unwrap(),
            clock: Clock::Free,
            seed: 1,
            begun: Box::new(|| {}),
            done: Box::new(move |choice| {
                choice.unwrap();
                say.send(name).unwrap();
            }),
        }
    }

    /// A queue without threads, filled before one begins to serve it.
    fn filled(
        searches: impl FnOnce(&Arc<Thinking>, &Sender<&'static str>) -> Vec<Ticket>,
    ) -> (Receiver<&'static str>, Arc<Thinking>, Vec<Ticket>) {
        let thinking = Thinking::new(0).unwrap();
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
        let thinking = Thinking::new(1).unwrap();
        let (say, heard) = channel();
        let (begun, has_begun) = channel();
        let endless = Search {
            player: "best:movetime=86400s".parse().unwrap(),
            begun: Box::new(move || begun.send(()).unwrap()),
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
