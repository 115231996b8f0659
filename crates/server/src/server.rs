//! The server as a whole: what it needs to begin, and how it ends.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::limits::Limits;
use crate::listener::listen;
use crate::middleware::PublicUrl;
use crate::rooms::Rooms;
use crate::routes::{AppState, routes};
use crate::search_queue::SearchQueue;
use crate::store::{Store, StoreError};

/// How often old games are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How long those who play have to hear that the server ends.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(300);

/// Why the server does not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Somebody else listens there.
    #[error("port {port} is taken on {host}: choose another with --port, or end what has it")]
    PortTaken {
        /// The address.
        host: IpAddr,
        /// The port.
        port: u16,
    },
    /// One cannot listen there.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// The games cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system has no threads.
    #[error("the server cannot begin: {0}")]
    Threads(#[from] io::Error),
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    public: Option<PublicUrl>,
    rooms: Arc<Rooms>,
    store: Arc<Store>,
    thinking: Arc<SearchQueue>,
    limits: Limits,
}

impl Server {
    /// Listens at an address and opens the games in a folder. Without `limits` they follow from
    /// whether others can reach the address.
    pub async fn bind(
        host: IpAddr,
        port: u16,
        data: &Path,
        limits: Option<Limits>,
    ) -> Result<Server, ServerError> {
        let wanted = SocketAddr::new(host, port);
        let listener = TcpListener::bind(wanted).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortTaken { host, port },
            _ => ServerError::Listen { address: wanted, error },
        })?;
        let address = listener.local_addr()?;
        let usual = || if host.is_loopback() { Limits::local() } else { Limits::open() };
        let mut limits = limits.unwrap_or_else(usual);
        limits.connections = limits.connections.min(raise_file_limit());
        let store = Store::open(data)?;
        let thinking = SearchQueue::new(limits.searches)?;
        let rooms = Rooms::new(store.clone(), thinking.clone(), limits.clone());
        Ok(Server { listener, address, public: None, rooms, store, thinking, limits })
    }

    /// A proxy has it at another address too.
    pub fn with_public_url(mut self, public: Option<PublicUrl>) -> Server {
        self.public = public;
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `end` comes.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let (say, ending) = watch::channel(false);
        let is_local = self.address.ip().is_loopback();
        let app = AppState::new(self.rooms.clone(), is_local, self.public, ending.clone());
        let listening = tokio::spawn(listen(self.listener, routes(app), self.limits, ending));
        let rooms = self.rooms.clone();
        let sweeping = tokio::spawn(async move {
            loop {
                if let Err(error) = rooms.sweep().await {
                    eprintln!("crownhead: old games could not be removed: {error}");
                }
                tokio::time::sleep(SWEEP_INTERVAL).await;
            }
        });
        end.await;
        sweeping.abort();
        self.thinking.end();
        let _ = say.send(true);
        let _ = listening.await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
        let store = self.store.clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
    }
}

/// Lets the process open as many files as the system allows; how many connections that is enough for.
fn raise_file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OWN: u64 = 64;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(OWN)).unwrap_or(usize::MAX)
}
