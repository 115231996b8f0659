//! A real server on a port of its own, and clients that talk to it.
#![allow(dead_code, unreachable_pub)] // not every test needs everything

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use crownhead_server::Server;
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

pub struct Running {
    pub address: SocketAddr,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub async fn begin(data: &Path, limits: Limits) -> Running {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let server = Server::bind(host, 0, data, Some(limits)).await.unwrap();
        let address = server.address();
        let (end, ended) = oneshot::channel();
        let task = tokio::spawn(server.serve(async { drop(ended.await) }));
        Running { address, end, task }
    }

    pub async fn end(self) {
        let _ = self.end.send(());
        self.task.await.unwrap();
    }

    /// Makes a game.
    pub async fn create(&self, wish: Value) -> Value {
        let (status, body) = self.post("/api/games", &wish.to_string()).await;
        assert_eq!(status, 201, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    pub async fn post(&self, path: &str, body: &str) -> (u16, String) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        answer(stream, &(head + body)).await
    }

    pub async fn get(&self, from: Ipv4Addr, path: &str) -> std::io::Result<(u16, String)> {
        let stream = self.connect_from(from).await?;
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        try_answer(stream, &head).await
    }

    /// A connection from an address of this machine: all of 127.0.0.0/8 are.
    pub async fn connect_from(&self, from: Ipv4Addr) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from.into(), 0))?;
        socket.connect(self.address).await
    }

    pub async fn socket(&self, id: &str) -> Client {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let url = format!("ws://localhost/api/games/{id}/socket");
        Client(client_async(url.into_client_request().unwrap(), stream).await.unwrap().0)
    }

    /// A socket that has joined, and its first state.
    pub async fn join(&self, id: &Value, secret: &Value) -> (Client, Value) {
        let mut client = self.socket(id.as_str().unwrap()).await;
        client.say(json!({"type": "join", "secret": secret})).await;
        let state = client.hear("state").await;
        (client, state)
    }
}

pub async fn answer(stream: TcpStream, request: &str) -> (u16, String) {
    try_answer(stream, request).await.unwrap()
}

pub async fn try_answer(mut stream: TcpStream, request: &str) -> std::io::Result<(u16, String)> {
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((status, body.into()))
}

pub struct Client(pub WebSocketStream<TcpStream>);

impl Client {
    pub async fn say(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next message of a type; others are skipped.
    pub async fn hear(&mut self, kind: &str) -> Value {
        loop {
            let message = self.any().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// The next message.
    pub async fn any(&mut self) -> Value {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("expected a message, got {other:?}"),
            }
        }
    }

    /// The code with which the server closes.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    pub async fn play(&mut self, version: u64, text: &str) {
        self.say(json!({"type": "move", "version": version, "move": text})).await;
    }
}
