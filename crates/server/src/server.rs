//! The server: bind, serve, shut down.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::fleet::{FetchStatus, FleetMonitor};
use crate::limits::Limits;
use crate::listener::listen;
use crate::middleware::PublicUrl;
use crate::rooms::Rooms;
use crate::routes::{AppState, routes};
use crate::search_queue::SearchQueue;
use crate::store::{Store, StoreError};

/// Interval at which old games are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Time for WebSockets to send their close frames.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(300);

/// Reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another program listens on the port.
    #[error("port {port} on {host} is already in use: choose another with --port")]
    PortInUse {
        /// The address.
        host: IpAddr,
        /// The port.
        port: u16,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The games cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread could not be started, or the operating system failed otherwise.
    #[error("cannot start the server: {0}")]
    Io(#[from] io::Error),
}

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    public_url: Option<PublicUrl>,
    fleet: Option<FleetMonitor>,
    rooms: Arc<Rooms>,
    store: Arc<Store>,
    search_queue: Arc<SearchQueue>,
    limits: Limits,
}

impl Server {
    /// Listens on an address and opens the games in `data`. `limits` default to those for local or
    /// open servers, depending on the address.
    pub async fn bind(
        host: IpAddr,
        port: u16,
        data: &Path,
        limits: Option<Limits>,
    ) -> Result<Server, ServerError> {
        let address = SocketAddr::new(host, port);
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortInUse { host, port },
            _ => ServerError::Listen { address, error },
        })?;
        let address = listener.local_addr()?;
        let mut limits = limits.unwrap_or_else(|| match host.is_loopback() {
            true => Limits::local(),
            false => Limits::open(),
        });
        limits.connections = limits.connections.min(raise_file_limit());
        let store = Store::open(data)?;
        let search_queue = SearchQueue::new(limits.searches)?;
        let rooms = Rooms::new(store.clone(), search_queue.clone(), limits.clone());
        let (public_url, fleet) = (None, None);
        Ok(Server { listener, address, public_url, fleet, rooms, store, search_queue, limits })
    }

    /// Sets the URL under which a proxy publishes the server.
    pub fn with_public_url(mut self, public_url: Option<PublicUrl>) -> Server {
        self.public_url = public_url;
        self
    }

    /// Shows the status of a fleet to everybody who can reach the server.
    pub fn with_fleet(mut self, fetch: FetchStatus) -> Result<Server, ServerError> {
        self.fleet = Some(FleetMonitor::start(fetch)?);
        Ok(self)
    }

    /// The address the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` completes, then closes all connections and the store.
    ///
    /// The futures are boxed, so that this crate compiles the server and its callers do not.
    pub fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> BoxFuture {
        self.serve_until(Box::pin(stop))
    }

    fn serve_until(self, stop: BoxFuture) -> BoxFuture {
        Box::pin(self.run(stop))
    }

    async fn run(self, stop: BoxFuture) {
        let (request_shutdown, shutdown) = watch::channel(false);
        let is_local = self.address.ip().is_loopback();
        let (rooms, public_url) = (self.rooms.clone(), self.public_url);
        let app = AppState::new(rooms, is_local, public_url, self.fleet, shutdown.clone());
        let listening = tokio::spawn(listen(self.listener, routes(app), self.limits, shutdown));
        let sweeping = tokio::spawn(sweep_loop(self.rooms.clone()));
        stop.await;
        sweeping.abort();
        self.search_queue.close();
        let _ = request_shutdown.send(true);
        let _ = listening.await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
        let store = self.store.clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
    }
}

async fn sweep_loop(rooms: Arc<Rooms>) {
    loop {
        match rooms.sweep().await {
            Ok(games) => tracing::debug!(games, "old games deleted"),
            Err(error) => tracing::error!(%error, "cannot delete old games"),
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}

/// Raises the limit on open files as far as possible. Returns the number of connections it allows.
#[cfg(unix)]
fn raise_file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Files other than connections.
    const RESERVED_FILES: u64 = 64;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(RESERVED_FILES)).unwrap_or(usize::MAX)
}

/// Sockets are not limited by open files here.
#[cfg(not(unix))]
fn raise_file_limit() -> usize {
    usize::MAX
}
