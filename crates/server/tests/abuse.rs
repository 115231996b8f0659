//! Abusive clients: too large, too slow, too many.

use std::net::Ipv4Addr;
use std::time::Duration;

use crate::common::TestServer;
use crownhead_server::limits::Limits;
use crownhead_server::rate_limit::Rate;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

const LOCAL: Ipv4Addr = Ipv4Addr::LOCALHOST;
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

async fn start(limits: Limits) -> (TestServer, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (TestServer::start(dir.path(), limits).await, dir)
}

async fn hotseat(server: &TestServer) -> Value {
    server.create(json!({"game": "english", "mode": "hotseat"})).await
}

#[tokio::test]
async fn giant_heads_and_bodies_are_refused_before_they_are_read() {
    let (server, _dir) = start(Limits::local()).await;
    // Announces a terabyte and sends nothing.
    let stream = server.connect_from(LOCAL).await.unwrap();
    let head = "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 1099511627776\r\n\r\n";
    assert_eq!(crate::common::exchange(stream, head).await.0, 413);
    let mut stream = server.connect_from(LOCAL).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let _ = stream.write_all(head.as_bytes()).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    assert!(
        text.is_empty() || text.starts_with(b"HTTP/1.1 431"),
        "{}",
        String::from_utf8_lossy(&text)
    );
    server.stop().await;
}

#[tokio::test]
async fn giant_messages_close_the_socket_and_invalid_ones_are_refused() {
    let (server, _dir) = start(Limits::local()).await;
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    let _ = client.0.send(Message::text("x".repeat(100_000))).await;
    let code = client.close_code().await;
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
        assert_eq!(client.receive("refused").await["code"], "bad-request", "{text}");
    }
    // The game has not changed.
    client.play(0, "11-15").await;
    assert_eq!(client.receive("moved").await["version"], 1);
    client.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(client.close_code().await, Some(4000));
    let mut not_joined = server.socket(game["id"].as_str().unwrap()).await;
    not_joined.send(json!({"type": "move", "version": 1, "move": "22-18"})).await;
    assert_eq!(not_joined.close_code().await, Some(4000), "the first message must be join");
    server.stop().await;
}

#[tokio::test]
async fn flood_of_messages_is_refused_and_then_disconnected() {
    let messages = Rate { burst: 5.0, per_second: 0.0 };
    let (server, _dir) = start(Limits { messages, ..Limits::local() }).await;
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    for id in 0..200 {
        let ping = json!({"type": "ping", "id": id}).to_string();
        if client.0.send(Message::text(ping)).await.is_err() {
            break;
        }
    }
    // The refusal carries the id of the message.
    let refused = client.receive("refused").await;
    assert_eq!((&refused["code"], &refused["id"]), (&json!("too-many"), &json!(5)));
    assert_eq!(client.close_code().await, Some(4008));
    server.stop().await;
}

#[tokio::test]
async fn slow_clients_are_disconnected() {
    let read_timeout = Duration::from_millis(200);
    let (server, _dir) = start(Limits { read_timeout, ..Limits::local() }).await;
    // An incomplete head, an idle connection, and one that is idle after its request.
    for (head, is_answered) in [
        ("GET / HTTP/1.1\r\nhost: loc", false),
        ("", false),
        ("GET /api/games HTTP/1.1\r\nhost: localhost\r\n\r\n", true),
    ] {
        let mut stream = server.connect_from(LOCAL).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        assert_eq!(text.starts_with(b"HTTP/1.1 200"), is_answered, "{head}");
    }
    // An incomplete body.
    let stream = server.connect_from(LOCAL).await.unwrap();
    let head = "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    assert_eq!(crate::common::exchange(stream, head).await.0, 408);
    // A WebSocket that does not join.
    let game = hotseat(&server).await;
    let mut client = server.socket(game["id"].as_str().unwrap()).await;
    assert_eq!(client.close_code().await, Some(4000));
    server.stop().await;
}

#[tokio::test]
async fn socket_that_does_not_answer_pings_is_closed() {
    let ping_interval = Duration::from_millis(50);
    let (server, _dir) = start(Limits { ping_interval, ..Limits::local() }).await;
    let game = hotseat(&server).await;
    // Not a `Client`, which would answer pings.
    let stream = server.connect_from(LOCAL).await.unwrap();
    let url = format!("ws://localhost/api/games/{}/socket", game["id"].as_str().unwrap());
    let (mut socket, _) = client_async(url.into_client_request().unwrap(), stream).await.unwrap();
    let join = json!({"type": "join", "secret": game["secret"]}).to_string();
    socket.send(Message::text(join)).await.unwrap();
    let mut bytes = Vec::new();
    // Reads bytes, not messages, until the server closes the connection.
    let _ = socket.get_mut().read_to_end(&mut bytes).await;
    let too_slow = 4010_u16.to_be_bytes();
    assert!(bytes.windows(2).any(|pair| pair == too_slow));
    server.stop().await;
}

#[tokio::test]
async fn idle_connections_of_one_client_do_not_block_others() {
    let limits = Limits { connections: 2000, connections_per_client: 100, ..Limits::local() };
    let (server, _dir) = start(limits).await;
    let mut idle = Vec::new();
    for _ in 0..2500 {
        idle.push(server.connect_from(CLIENT).await.unwrap());
    }
    // Connections in excess of the limit are closed at once.
    let mut refused = idle.pop().unwrap();
    let mut byte = [0];
    assert!(matches!(refused.read(&mut byte).await, Ok(0) | Err(_)));
    assert!(
        server.get(CLIENT, "/").await.is_ok_and(|(status, _)| status == 0)
            || server.get(CLIENT, "/").await.is_err()
    );
    assert_eq!(server.get(LOCAL, "/").await.unwrap().0, 200);
    // When they are closed, the client can connect again.
    drop(idle);
    loop {
        if let Ok((200, _)) = server.get(CLIENT, "/").await {
            break;
        }
        tokio::task::yield_now().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn idle_sockets_do_not_disturb_a_game() {
    let (server, _dir) = start(Limits::local()).await;
    let idle_game = hotseat(&server).await;
    let mut idle = Vec::new();
    for number in 0..2000 {
        let mut client = server.socket(idle_game["id"].as_str().unwrap()).await;
        client.send(json!({"type": "join"})).await;
        if number >= 500 {
            // The maximum number of spectators.
            assert_eq!(client.close_code().await, Some(4008));
            continue;
        }
        idle.push(client);
    }
    let game = hotseat(&server).await;
    let (mut client, _) = server.join(&game["id"], &game["secret"]).await;
    client.play(0, "11-15").await;
    assert_eq!(client.receive("moved").await["version"], 1);
    server.stop().await;
}

#[tokio::test]
async fn socket_of_another_origin_is_refused() {
    let (server, _dir) = start(Limits::local()).await;
    let game = hotseat(&server).await;
    let url = format!("ws://localhost/api/games/{}/socket", game["id"].as_str().unwrap());
    for (origin, allowed) in [("http://localhost", true), ("http://evil.example", false)] {
        let stream = server.connect_from(LOCAL).await.unwrap();
        let mut request = url.as_str().into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        assert_eq!(client_async(request, stream).await.is_ok(), allowed, "{origin}");
    }
    server.stop().await;
}
