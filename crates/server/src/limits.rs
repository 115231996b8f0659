//! What strangers may use: connections, messages, searches; and who is who by address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bounds of all kinds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address.
    pub connections_each: usize,
    /// New games from one address: so many at once, and so many a second.
    pub games: Rate,
    /// Requests from one address.
    pub requests: Rate,
    /// Messages of one socket.
    pub messages: Rate,
    /// The longest thinking time that can be asked for.
    pub max_think_time: Duration,
    /// Searches at once.
    pub searches: usize,
    /// How long a request's head, its body, and the first message of a socket may take to come.
    pub read_timeout: Duration,
    /// How often a socket is pinged; three times as long it may be silent.
    pub ping: Duration,
    /// Games on disk.
    pub max_stored_games: usize,
}

/// How often something may be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// At once.
    pub burst: f64,
    /// For each second that has passed.
    pub per_second: f64,
}

/// One core is left to those who play.
fn searches() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1))
}

impl Limits {
    /// For a server that only this machine reaches: its user is trusted with it.
    pub fn local() -> Limits {
        Limits {
            connections: 20_000,
            connections_each: 20_000,
            games: Rate { burst: 20_000.0, per_second: 1000.0 },
            requests: Rate { burst: 50_000.0, per_second: 5000.0 },
            messages: Rate { burst: 1000.0, per_second: 1000.0 },
            ..Limits::open()
        }
    }

    /// For a server that others reach by a proxy, which has all connections.
    pub fn proxied() -> Limits {
        let open = Limits::open();
        Limits { connections_each: open.connections, ..open }
    }

    /// For a server that others reach.
    pub fn open() -> Limits {
        Limits {
            connections: 10_000,
            connections_each: 64,
            games: Rate { burst: 30.0, per_second: 0.5 },
            requests: Rate { burst: 200.0, per_second: 20.0 },
            messages: Rate { burst: 40.0, per_second: 10.0 },
            max_think_time: Duration::from_secs(10),
            searches: searches(),
            read_timeout: Duration::from_secs(10),
            ping: Duration::from_secs(20),
            max_stored_games: 200_000,
        }
    }
}

/// From where somebody comes. One who has an IPv6 address has the 2^64 beside it too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClientKey(u64, bool);

impl ClientKey {
    /// The address of a peer.
    pub fn new(ip: IpAddr) -> ClientKey {
        match ip.to_canonical() {
            IpAddr::V4(ip) => ClientKey(u32::from(ip).into(), false),
            IpAddr::V6(ip) => ClientKey((u128::from(ip) >> 64) as u64, true),
        }
    }

    #[cfg(test)]
    pub(crate) fn from_number(number: u64) -> ClientKey {
        ClientKey(number, false)
    }
}

/// What is left of a rate.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    left: f64,
    since: Instant,
}

impl TokenBucket {
    /// All of it.
    pub fn new(rate: Rate, now: Instant) -> TokenBucket {
        TokenBucket { left: rate.burst, since: now }
    }

    /// Takes one; false if there is none.
    pub fn take(&mut self, rate: Rate, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.left = (self.left + passed * rate.per_second).min(rate.burst);
        self.since = now;
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        }
        may
    }

    fn is_full(&self, rate: Rate, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.left + passed * rate.per_second >= rate.burst
    }
}

/// The allowances of all addresses for one thing.
pub struct RateLimiter {
    rate: Rate,
    each: Mutex<HashMap<ClientKey, TokenBucket>>,
}

/// So many addresses are remembered before those that have all of theirs left are forgotten.
const MAX_CLIENTS: usize = 10_000;

impl RateLimiter {
    /// Nobody has taken anything.
    pub fn new(rate: Rate) -> RateLimiter {
        RateLimiter { rate, each: Mutex::default() }
    }

    /// Takes one for an address; false if it has none left.
    pub fn take(&self, address: ClientKey, now: Instant) -> bool {
        let mut each = lock(&self.each);
        if each.len() >= MAX_CLIENTS && !each.contains_key(&address) {
            each.retain(|_, allowance| !allowance.is_full(self.rate, now));
            // Whoever has so many addresses is answered like one of them.
            if each.len() >= 2 * MAX_CLIENTS {
                return false;
            }
        }
        each.entry(address).or_insert_with(|| TokenBucket::new(self.rate, now)).take(self.rate, now)
    }
}

/// How many connections there are, and how many each address has.
#[derive(Default)]
pub struct ConnectionCounter(Mutex<(usize, HashMap<ClientKey, usize>)>);

impl ConnectionCounter {
    /// One more, if there may be; `close` takes it away.
    pub fn open(&self, address: ClientKey, limits: &Limits) -> bool {
        let (all, each) = &mut *lock(&self.0);
        let own = each.get(&address).copied().unwrap_or(0);
        let may = *all < limits.connections && own < limits.connections_each;
        if may {
            *all += 1;
            each.insert(address, own + 1);
        }
        may
    }

    /// One less.
    pub fn close(&self, address: ClientKey) {
        let (all, each) = &mut *lock(&self.0);
        if let Some(own) = each.get_mut(&address) {
            *all -= 1;
            *own -= 1;
            if *own == 0 {
                each.remove(&address);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_runs_out_and_comes_back_with_time() {
        let rate = Rate { burst: 2.0, per_second: 1.0 };
        let start = Instant::now();
        let all = RateLimiter::new(rate);
        let (one, other) = (ClientKey::from_number(1), ClientKey::from_number(2));
        assert!(all.take(one, start) && all.take(one, start) && !all.take(one, start));
        assert!(all.take(other, start), "one address does not use up another's");
        let later = start + Duration::from_secs(1);
        assert!(all.take(one, later) && !all.take(one, later));
    }

    #[test]
    fn connections_are_bounded_for_each_and_for_all() {
        let limits = Limits { connections: 3, connections_each: 2, ..Limits::open() };
        let connections = ConnectionCounter::default();
        let (one, other) = (ClientKey::from_number(1), ClientKey::from_number(2));
        assert!(connections.open(one, &limits) && connections.open(one, &limits));
        assert!(!connections.open(one, &limits), "two for each");
        assert!(connections.open(other, &limits));
        assert!(!connections.open(other, &limits), "three for all");
        connections.close(one);
        assert!(connections.open(other, &limits));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let address = |text: &str| ClientKey::new(text.parse().expect("an address"));
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:2"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
    }
}
