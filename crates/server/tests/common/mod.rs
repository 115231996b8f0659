//! A server on a free port, and clients.
#![allow(dead_code, unreachable_pub)] // no test uses all of it

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use crownhead_server::Server;
use crownhead_server::fleet::FetchStatus;
use crownhead_server::limits::Limits;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

pub struct TestServer {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl TestServer {
    pub async fn start(data: &Path, limits: Limits) -> TestServer {
        TestServer::serve(TestServer::bind(data, limits).await)
    }

    /// Starts a server that shows a fleet.
    pub async fn start_with_fleet(data: &Path, fetch: FetchStatus) -> TestServer {
        let server = TestServer::bind(data, Limits::local()).await;
        TestServer::serve(server.with_fleet(fetch).unwrap())
    }

    async fn bind(data: &Path, limits: Limits) -> Server {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Server::bind(host, 0, data, Some(limits)).await.unwrap()
    }

    fn serve(server: Server) -> TestServer {
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.serve(async move { drop(stopped.await) }));
        TestServer { address, stop, task }
    }

    pub async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
    }

    /// Creates a game.
    pub async fn create(&self, request: Value) -> Value {
        let (status, body) = self.post("/api/games", &request.to_string()).await;
        assert_eq!(status, 201, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    pub async fn post(&self, path: &str, body: &str) -> (u16, String) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        exchange(stream, &(head + body)).await
    }

    pub async fn get(&self, from: Ipv4Addr, path: &str) -> std::io::Result<(u16, String)> {
        let stream = self.connect_from(from).await?;
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        try_exchange(stream, &head).await
    }

    /// Connects from an address of this machine, which may be any in 127.0.0.0/8.
    pub async fn connect_from(&self, from: Ipv4Addr) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from.into(), 0))?;
        socket.connect(self.address).await
    }

    pub async fn socket(&self, id: &str) -> Client {
        self.socket_at(&format!("/api/games/{id}/socket")).await
    }

    pub async fn analysis_socket(&self) -> Client {
        self.socket_at("/api/analysis/socket").await
    }

    async fn socket_at(&self, path: &str) -> Client {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let url = format!("ws://localhost{path}");
        Client(client_async(url.into_client_request().unwrap(), stream).await.unwrap().0)
    }

    /// Connects a client that has joined. Also returns its first `state`.
    pub async fn join(&self, id: &Value, secret: &Value) -> (Client, Value) {
        let mut client = self.socket(id.as_str().unwrap()).await;
        client.send(json!({"type": "join", "secret": secret})).await;
        let state = client.receive("state").await;
        (client, state)
    }
}

pub async fn exchange(stream: TcpStream, request: &str) -> (u16, String) {
    try_exchange(stream, request).await.unwrap()
}

pub async fn try_exchange(mut stream: TcpStream, request: &str) -> std::io::Result<(u16, String)> {
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((status, body.into()))
}

pub struct Client(pub WebSocketStream<TcpStream>);

impl Client {
    pub async fn send(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// Waits for a message of a type. Skips others.
    pub async fn receive(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next_message().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Waits for a message.
    pub async fn next_message(&mut self) -> Value {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                unexpected => panic!("expected a message, got {unexpected:?}"),
            }
        }
    }

    /// Waits for the close frame and returns its code; `None` if the connection breaks.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    pub async fn play(&mut self, version: u64, text: &str) {
        self.send(json!({"type": "move", "version": version, "move": text})).await;
    }
}
