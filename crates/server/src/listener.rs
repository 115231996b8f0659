//! Connections: accepted within the limits, counted, and dropped when they are too slow.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use crate::Shutdown;
use crate::limits::Limits;
use crate::middleware::PeerAddr;
use crate::rate_limit::{ClientKey, ConnectionCounter};
use crate::sync::shutdown_requested;

/// Read buffer of a connection, and so the maximum size of a request's head.
const BUFFER_BYTES: usize = 16 * 1024;
/// Pause after a failure to accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// Maximum time for the requests in progress at shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// TCP stream that is counted until it is dropped, also after an upgrade to a WebSocket.
struct CountedStream {
    stream: TcpStream,
    client: ClientKey,
    connections: Arc<ConnectionCounter>,
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        self.connections.close(self.client);
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Accepts and serves connections until the server shuts down.
pub async fn listen(listener: TcpListener, routes: Router, limits: Limits, mut shutdown: Shutdown) {
    let connections = Arc::new(ConnectionCounter::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = shutdown_requested(&mut shutdown) => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too many files are open, or the client has gone already.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        let client = ClientKey::new(peer.ip());
        if !connections.open(client, &limits) {
            tracing::debug!(peer = %peer.ip(), "connection limit reached");
            continue;
        }
        let _ = stream.set_nodelay(true);
        let stream = CountedStream { stream, client, connections: connections.clone() };
        let read_timeout = limits.read_timeout;
        tokio::spawn(serve(stream, peer, routes.clone(), read_timeout, shutdown.clone()));
    }
}

async fn serve(
    stream: CountedStream,
    peer: SocketAddr,
    routes: Router,
    read_timeout: Duration,
    mut shutdown: Shutdown,
) {
    let routes = routes.map_request(move |mut request: hyper::Request<Incoming>| -> Request {
        request.extensions_mut().insert(PeerAddr(peer.ip()));
        request.map(axum::body::Body::new)
    });
    let service = hyper_util::service::TowerToHyperService::new(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_timeout)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = shutdown_requested(&mut shutdown) => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, connection).await;
        }
    }
}
