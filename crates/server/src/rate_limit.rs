//! Token buckets and connection counts per client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use crate::limits::Limits;
use crate::sync::lock;

/// Number of clients in a [`RateLimiter`] above which full buckets are dropped.
const MAX_CLIENTS: usize = 10_000;

/// Rate of a token bucket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// Size of the bucket.
    pub burst: f64,
    /// Tokens added per second.
    pub per_second: f64,
}

/// Client by address: an IPv4 address or an IPv6 /64 network, which is what one client controls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClientKey {
    network: u64,
    is_ipv6: bool,
}

impl ClientKey {
    /// The client with an address.
    pub fn new(ip: IpAddr) -> ClientKey {
        match ip.to_canonical() {
            IpAddr::V4(ip) => ClientKey { network: u32::from(ip).into(), is_ipv6: false },
            IpAddr::V6(ip) => ClientKey { network: (u128::from(ip) >> 64) as u64, is_ipv6: true },
        }
    }

    #[cfg(test)]
    pub(crate) fn from_number(network: u64) -> ClientKey {
        ClientKey { network, is_ipv6: false }
    }
}

/// Token bucket.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    tokens: f64,
    updated: Instant,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate, now: Instant) -> TokenBucket {
        TokenBucket { tokens: rate.burst, updated: now }
    }

    /// Takes a token. Returns whether there was one.
    pub fn take(&mut self, rate: Rate, now: Instant) -> bool {
        self.tokens = self.tokens_at(rate, now);
        self.updated = now;
        let is_allowed = self.tokens >= 1.0;
        if is_allowed {
            self.tokens -= 1.0;
        }
        is_allowed
    }

    fn tokens_at(&self, rate: Rate, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(self.updated).as_secs_f64();
        (self.tokens + elapsed * rate.per_second).min(rate.burst)
    }

    fn is_full(&self, rate: Rate, now: Instant) -> bool {
        self.tokens_at(rate, now) >= rate.burst
    }
}

/// One token bucket per client.
pub struct RateLimiter {
    rate: Rate,
    buckets: Mutex<HashMap<ClientKey, TokenBucket>>,
}

impl RateLimiter {
    /// A limiter with full buckets.
    pub fn new(rate: Rate) -> RateLimiter {
        RateLimiter { rate, buckets: Mutex::default() }
    }

    /// Takes a token from the client's bucket. Returns whether there was one.
    pub fn take(&self, client: ClientKey, now: Instant) -> bool {
        let mut buckets = lock(&self.buckets);
        if buckets.len() >= MAX_CLIENTS && !buckets.contains_key(&client) {
            buckets.retain(|_, bucket| !bucket.is_full(self.rate, now));
            // Bounds the memory that an attacker with many addresses can occupy.
            if buckets.len() >= 2 * MAX_CLIENTS {
                return false;
            }
        }
        let bucket = buckets.entry(client).or_insert_with(|| TokenBucket::new(self.rate, now));
        bucket.take(self.rate, now)
    }
}

/// Number of open connections, in total and per client.
#[derive(Default)]
pub struct ConnectionCounter(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    total: usize,
    per_client: HashMap<ClientKey, usize>,
}

impl ConnectionCounter {
    /// Counts a new connection, to be released by [`close`](ConnectionCounter::close). Returns
    /// false if the limits do not allow it.
    pub fn open(&self, client: ClientKey, limits: &Limits) -> bool {
        let mut counts = lock(&self.0);
        let count = counts.per_client.get(&client).copied().unwrap_or(0);
        let is_allowed = counts.total < limits.connections && count < limits.connections_per_client;
        if is_allowed {
            counts.total += 1;
            counts.per_client.insert(client, count + 1);
        }
        is_allowed
    }

    /// Counts a connection as closed.
    pub fn close(&self, client: ClientKey) {
        let mut counts = lock(&self.0);
        let Some(count) = counts.per_client.get_mut(&client) else { return };
        *count -= 1;
        if *count == 0 {
            counts.per_client.remove(&client);
        }
        counts.total -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn bucket_empties_and_refills_per_client() {
        let rate = Rate { burst: 2.0, per_second: 1.0 };
        let start = Instant::now();
        let limiter = RateLimiter::new(rate);
        let (a, b) = (ClientKey::from_number(1), ClientKey::from_number(2));
        assert!(limiter.take(a, start) && limiter.take(a, start) && !limiter.take(a, start));
        assert!(limiter.take(b, start), "clients have separate buckets");
        let later = start + Duration::from_secs(1);
        assert!(limiter.take(a, later) && !limiter.take(a, later));
    }

    #[test]
    fn connections_are_limited_per_client_and_in_total() {
        let limits = Limits { connections: 3, connections_per_client: 2, ..Limits::open() };
        let counter = ConnectionCounter::default();
        let (a, b) = (ClientKey::from_number(1), ClientKey::from_number(2));
        assert!(counter.open(a, &limits) && counter.open(a, &limits));
        assert!(!counter.open(a, &limits), "two per client");
        assert!(counter.open(b, &limits));
        assert!(!counter.open(b, &limits), "three in total");
        counter.close(a);
        assert!(counter.open(b, &limits));
    }

    #[test]
    fn ipv6_network_is_one_client() {
        let client = |text: &str| ClientKey::new(text.parse().expect("an address"));
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:2"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
    }
}
