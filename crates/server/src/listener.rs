//! Connections: taken in one by one, counted, and given up when they are too slow.

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
use tokio::sync::watch;
use tower::ServiceExt;

use crate::ended;
use crate::limits::{ClientKey, ConnectionCounter, Limits};
use crate::middleware::PeerAddr;

/// What a connection may keep of requests that have not been read.
const BUFFER: usize = 16 * 1024;
/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection that is counted as long as it lives, as a socket too.
struct Counted {
    stream: TcpStream,
    address: ClientKey,
    connections: Arc<ConnectionCounter>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.connections.close(self.address);
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
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

/// Serves connections until the server ends.
pub async fn listen(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    mut ending: watch::Receiver<bool>,
) {
    let connections = Arc::new(ConnectionCounter::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended(&mut ending) => return,
        };
        let Ok((stream, peer)) = accepted else {
            // Too many files are open, or the client has left already.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let address = ClientKey::new(peer.ip());
        if !connections.open(address, &limits) {
            continue;
        }
        let _ = stream.set_nodelay(true);
        let stream = Counted { stream, address, connections: connections.clone() };
        tokio::spawn(serve(stream, peer, routes.clone(), limits.read_timeout, ending.clone()));
    }
}

async fn serve(
    stream: Counted,
    peer: SocketAddr,
    routes: Router,
    patience: Duration,
    mut ending: watch::Receiver<bool>,
) {
    let routes = routes.map_request(move |mut request: hyper::Request<Incoming>| -> Request {
        request.extensions_mut().insert(PeerAddr(peer.ip()));
        request.map(axum::body::Body::new)
    });
    let service = hyper_util::service::TowerToHyperService::new(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = ended(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(Duration::from_secs(2), connection).await;
        }
    }
}
