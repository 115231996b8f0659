//! Clients that mean no good: too large, too slow, too many.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)] // a test may fail

mod common;

use std::net::Ipv4Addr;
use std::time::Duration;

use common::Running;
use crownhead_server::limits::{Limits, Rate};
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

const HOME: Ipv4Addr = Ipv4Addr::LOCALHOST;
const STRANGER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

async fn begin(limits: Limits) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Running::begin(folder.path(), limits).await, folder)
}

async fn hotseat(server: &Running) -> Value {
    server.create(json!({"game": "english", "mode": "hotseat"})).await
}

#[tokio::test]
async fn giant_bodies_and_heads_are_refused_before_they_are_read() {
    let (server, _folder) = begin(Limits::local()).await;
    // It says that a terabyte comes, and sends none of it.
    let stream = server.connect_from(HOME).await.unwrap();
    let head = "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 1099511627776\r\n\r\n";
    assert_eq!(common::answer(stream, head).await.0, 413);
    let mut stream = server.connect_from(HOME).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let _ = stream.write_all(head.as_bytes()).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    assert!(
        text.is_empty() || text.starts_with(b"HTTP/1.1 431"),
        "{}",
        String::from_utf8_lossy(&text)
    );
    server.end().await;
}

#[tokio::test]
async fn giant_and_senseless_messages_end_a_socket_or_are_refused() {
    let (server, _folder) = begin(Limits::local()).await;
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    let _ = client.0.send(Message::text("x".repeat(100_000))).await;
    let code = client.closed().await;
    assert_eq!(code, Some(1009));
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{\"type\":\"dance\"}",
        "{\"type\":\"move\"}",
        "{\"type\":\"move\",\"version\":-1,\"move\":\"11-15\"}",
        "{\"type\":\"move\",\"version\":0,\"move\":\"11-15\",\"side\":\"w\"}",
        "{\"type\":\"join\"}",
    ] {
        client.0.send(Message::text(text)).await.unwrap();
        assert_eq!(client.hear("refused").await["code"], "bad-request", "{text}");
    }
    // The game is as it was.
    client.play(0, "11-15").await;
    assert_eq!(client.hear("moved").await["version"], 1);
    client.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(client.closed().await, Some(4000));
    let mut silent = server.socket(game["id"].as_str().unwrap()).await;
    silent.say(json!({"type": "move", "version": 1, "move": "22-18"})).await;
    assert_eq!(silent.closed().await, Some(4000), "join comes first");
    server.end().await;
}

#[tokio::test]
async fn a_flood_of_messages_is_refused_and_then_cut_off() {
    let messages = Rate { burst: 5.0, per_second: 0.0 };
    let (server, _folder) = begin(Limits { messages, ..Limits::local() }).await;
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    for id in 0..200 {
        let ping = json!({"type": "ping", "id": id}).to_string();
        if client.0.send(Message::text(ping)).await.is_err() {
            break;
        }
    }
    // With its id, so that its sender knows what was not done.
    let refused = client.hear("refused").await;
    assert_eq!((&refused["code"], &refused["id"]), (&json!("too-many"), &json!(5)));
    assert_eq!(client.closed().await, Some(4008));
    server.end().await;
}

#[tokio::test]
async fn slow_clients_are_given_up() {
    let patience = Duration::from_millis(200);
    let (server, _folder) = begin(Limits { read_timeout: patience, ..Limits::local() }).await;
    // A head that never ends, a connection that says nothing, one that asks once and stays.
    for (head, answer) in [
        ("GET / HTTP/1.1\r\nhost: loc", false),
        ("", false),
        ("GET /api/games HTTP/1.1\r\nhost: localhost\r\n\r\n", true),
    ] {
        let mut stream = server.connect_from(HOME).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        assert_eq!(text.starts_with(b"HTTP/1.1 200"), answer, "{head}");
    }
    // A body that never comes.
    let stream = server.connect_from(HOME).await.unwrap();
    let head = "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    assert_eq!(common::answer(stream, head).await.0, 408);
    // A socket that does not say who it is.
    let game = hotseat(&server).await;
    let mut client = server.socket(game["id"].as_str().unwrap()).await;
    assert_eq!(client.closed().await, Some(4000));
    server.end().await;
}

#[tokio::test]
async fn a_socket_that_answers_no_ping_is_given_up() {
    let ping = Duration::from_millis(50);
    let (server, _folder) = begin(Limits { ping, ..Limits::local() }).await;
    let game = hotseat(&server).await;
    // By hand, so that nothing answers.
    let stream = server.connect_from(HOME).await.unwrap();
    let url = format!("ws://localhost/api/games/{}/socket", game["id"].as_str().unwrap());
    let (mut socket, _) = client_async(url.into_client_request().unwrap(), stream).await.unwrap();
    let join = json!({"type": "join", "secret": game["secret"]}).to_string();
    socket.send(Message::text(join)).await.unwrap();
    let mut all = Vec::new();
    // Until the server closes it: this reads bytes, not messages, and sends nothing.
    let _ = socket.get_mut().read_to_end(&mut all).await;
    let too_slow = 4010_u16.to_be_bytes();
    assert!(all.windows(2).any(|pair| pair == too_slow));
    server.end().await;
}

#[tokio::test]
async fn thousands_of_idle_connections_of_one_address_keep_nobody_out() {
    let limits = Limits { connections: 2000, connections_each: 100, ..Limits::local() };
    let (server, _folder) = begin(limits).await;
    let mut idle = Vec::new();
    for _ in 0..2500 {
        idle.push(server.connect_from(STRANGER).await.unwrap());
    }
    // Those beyond the hundredth are closed at once; the others wait for nothing.
    let mut refused = idle.pop().unwrap();
    let mut byte = [0];
    assert!(matches!(refused.read(&mut byte).await, Ok(0) | Err(_)));
    assert!(
        server.get(STRANGER, "/").await.is_ok_and(|(status, _)| status == 0)
            || server.get(STRANGER, "/").await.is_err()
    );
    assert_eq!(server.get(HOME, "/").await.unwrap().0, 200);
    // When they leave there is room again.
    drop(idle);
    loop {
        if let Ok((200, _)) = server.get(STRANGER, "/").await {
            break;
        }
        tokio::task::yield_now().await;
    }
    server.end().await;
}

#[tokio::test]
async fn thousands_of_idle_sockets_disturb_no_game() {
    let (server, _folder) = begin(Limits::local()).await;
    let idle_game = hotseat(&server).await;
    let mut idle = Vec::new();
    for number in 0..2000 {
        let mut client = server.socket(idle_game["id"].as_str().unwrap()).await;
        client.say(json!({"type": "join"})).await;
        if number >= 500 {
            // A game has room for so many.
            assert_eq!(client.closed().await, Some(4008));
            continue;
        }
        idle.push(client);
    }
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    client.play(0, "11-15").await;
    assert_eq!(client.hear("moved").await["version"], 1);
    server.end().await;
}

#[tokio::test]
async fn a_socket_from_a_page_of_somebody_else_is_refused() {
    let (server, _folder) = begin(Limits::local()).await;
    let game = hotseat(&server).await;
    let url = format!("ws://localhost/api/games/{}/socket", game["id"].as_str().unwrap());
    for (origin, allowed) in [("http://localhost", true), ("http://evil.example", false)] {
        let stream = server.connect_from(HOME).await.unwrap();
        let mut request = url.as_str().into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        assert_eq!(client_async(request, stream).await.is_ok(), allowed, "{origin}");
    }
    server.end().await;
}
