//! Limits for local, public and proxied servers.

use std::time::Duration;

use crate::rate_limit::Rate;

/// What clients may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections.
    pub connections: usize,
    /// Open connections per client.
    pub connections_per_client: usize,
    /// WebSockets per seat. Seats and spectators are counted separately, so that nobody can take a
    /// player's place.
    pub sockets_per_seat: usize,
    /// Spectators per game.
    pub spectators_per_game: usize,
    /// New games per client.
    pub new_games: Rate,
    /// Requests per client.
    pub requests: Rate,
    /// Messages per WebSocket.
    pub messages: Rate,
    /// Maximum thinking time per move.
    pub max_think_time: Duration,
    /// Concurrent searches.
    pub searches: usize,
    /// Timeout for a request's head, for its body, for the first message of a WebSocket, and for
    /// sending a message.
    pub read_timeout: Duration,
    /// Interval of WebSocket pings. A client that is silent for three intervals is disconnected.
    pub ping_interval: Duration,
    /// Games on disk.
    pub max_stored_games: usize,
}

impl Limits {
    /// Limits of a server that only this machine can reach. Its user is trusted.
    pub fn local() -> Limits {
        Limits {
            connections: 20_000,
            connections_per_client: 20_000,
            new_games: Rate { burst: 20_000.0, per_second: 1000.0 },
            requests: Rate { burst: 50_000.0, per_second: 5000.0 },
            messages: Rate { burst: 1000.0, per_second: 1000.0 },
            ..Limits::open()
        }
    }

    /// Limits of a server behind a proxy, from which all connections come.
    pub fn proxied() -> Limits {
        let open = Limits::open();
        Limits { connections_per_client: open.connections, ..open }
    }

    /// Limits of a server that other machines can reach.
    pub fn open() -> Limits {
        Limits {
            connections: 10_000,
            // A whole school may share one address.
            connections_per_client: 2000,
            sockets_per_seat: 32,
            spectators_per_game: 500,
            new_games: Rate { burst: 300.0, per_second: 5.0 },
            requests: Rate { burst: 2000.0, per_second: 200.0 },
            messages: Rate { burst: 40.0, per_second: 10.0 },
            max_think_time: Duration::from_secs(10),
            searches: default_searches(),
            read_timeout: Duration::from_secs(10),
            ping_interval: Duration::from_secs(20),
            max_stored_games: 200_000,
        }
    }
}

/// All cores but one, which serves requests.
fn default_searches() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1))
}
