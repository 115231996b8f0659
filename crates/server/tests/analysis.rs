//! Searches for the analysis pages over a WebSocket, and exact values.

use crate::common::{Client, TestServer};
use crownhead_play::new_session;
use crownhead_server::limits::Limits;
use crownhead_server::rate_limit::Rate;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

async fn start() -> (TestServer, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    // One search at a time, so that a search that goes on would block the next one.
    let limits = Limits { searches: 1, ..Limits::local() };
    (TestServer::start(dir.path(), limits).await, dir)
}

fn search(id: u64, moves: &[&str], limits: Value) -> Value {
    let spec = json!({ "game": "english", "moves": moves });
    let request = json!({ "call": "search", "spec": spec, "lines": 2, "limits": limits });
    json!({ "id": id, "request": request })
}

async fn result(client: &mut Client, id: u64) -> Value {
    loop {
        let message = client.receive("result").await;
        if message["id"] == id {
            return message["value"].clone();
        }
    }
}

#[tokio::test]
async fn search_reports_lines_until_its_result() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    client.send(search(1, &["11-15"], json!({ "depth": 9 }))).await;
    let found = result(&mut client, 1).await;
    assert_eq!((&found["depth"], &found["done"]), (&json!(9), &json!(true)));
    assert_eq!(found["lines"].as_array().unwrap().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn new_search_ends_the_one_before() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    client.send(search(1, &[], json!({}))).await;
    assert_eq!(client.receive("info").await["id"], 1);
    client.send(search(2, &["11-15"], json!({ "depth": 3 }))).await;
    assert_eq!(result(&mut client, 2).await["depth"], 3);
    server.stop().await;
}

#[tokio::test]
async fn search_ends_when_nobody_watches() {
    let (server, _dir) = start().await;
    for leave in [true, false] {
        let mut first = server.analysis_socket().await;
        first.send(search(1, &[], json!({}))).await;
        first.receive("info").await;
        if leave {
            drop(first);
        } else {
            first.send(json!({ "stop": 1 })).await;
        }
        // The only search thread is free again.
        let mut second = server.analysis_socket().await;
        second.send(search(1, &[], json!({ "depth": 3 }))).await;
        assert_eq!(result(&mut second, 1).await["depth"], 3);
    }
    server.stop().await;
}

#[tokio::test]
async fn report_and_hint_of_the_server_are_those_of_the_page() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    let spec = json!({ "game": "english", "position": "B:W13:B5,6", "moves": ["6-9", "13x6"] });
    let request = json!({ "call": "report", "spec": spec, "limits": { "depth": 6 } });
    client.send(json!({ "id": 1, "request": request })).await;
    assert_eq!(result(&mut client, 1).await["moves"][0]["verdict"], "blunder");
    let spec = json!({ "game": "english", "position": "B:W13:B5,6", "moves": [] });
    client.send(json!({ "id": 2, "request": { "call": "hint", "spec": spec } })).await;
    assert_eq!(result(&mut client, 2).await["move"], "5-9");
    server.stop().await;
}

#[tokio::test]
async fn invalid_searches_are_refused() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    client.send(search(5, &["11-22"], json!({}))).await;
    let error = client.receive("error").await;
    assert_eq!((&error["id"], &error["at"]), (&json!(5), &json!(0)));
    client.send(json!({ "id": 6, "request": { "call": "import" } })).await;
    assert_eq!(client.close_code().await, Some(4000));
    server.stop().await;
}

#[tokio::test]
async fn hostile_searches_get_an_error_or_lose_their_connection() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    let long = "x".repeat(20_000);
    let many = vec!["11-15"; 501];
    for spec in [
        json!({ "game": "chess" }),
        json!({ "game": long }),
        json!({ "game": "english:draw-plies=99999999999999999999" }),
        json!({ "game": "english", "position": long }),
        json!({ "game": "english", "position": "B:Wx" }),
        json!({ "game": "capture-halma", "position": "\u{202e}bbbb w 0" }),
        json!({ "game": "chinese-checkers", "position": "###5/##6/#7/8/8/7O/6OO/5OOO # 4000000000" }),
        json!({ "game": "english", "moves": many }),
        json!({ "game": "english", "moves": [long] }),
    ] {
        for call in ["search", "report", "hint"] {
            let mut request = json!({ "call": call, "spec": spec });
            if call != "hint" {
                request["limits"] = json!({ "nodes": 1 });
            }
            if call == "search" {
                request["lines"] = json!(1);
            }
            client.send(json!({ "id": 1, "request": &request })).await;
            let error = client.next_message().await;
            assert_eq!(error["type"], "error", "{request}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.len() < 300, "{call}: {message}");
        }
    }
    for message in [
        json!({ "id": 1, "request": { "call": "search", "spec": { "game": "english" } } }),
        json!({ "id": -1, "request": { "call": "hint", "spec": { "game": "english" } } }),
        json!({ "stop": 1, "id": 1 }),
        json!([]),
    ] {
        let mut client = server.analysis_socket().await;
        client.send(message).await;
        assert_eq!(client.close_code().await, Some(4000));
    }
    client.send(json!({ "stop": 1, "padding": "x".repeat(100_000) })).await;
    assert_eq!(client.close_code().await, Some(1009));
    server.stop().await;
}

#[tokio::test]
async fn limits_of_a_search_are_those_of_the_server_whatever_is_asked() {
    let (server, _dir) = start().await;
    let mut client = server.analysis_socket().await;
    for limits in [json!({ "seconds": -1 }), json!({ "seconds": 1e300, "depth": 4 })] {
        let mut request = search(1, &["11-15"], limits);
        request["request"]["lines"] = json!(4_000_000_000_u32);
        client.send(request).await;
        let found = result(&mut client, 1).await;
        assert!(found["lines"].as_array().unwrap().len() <= 5);
    }
    server.stop().await;
}

#[tokio::test]
async fn searches_of_one_client_do_not_keep_others_waiting() {
    let (server, _dir) = start().await;
    let mut greedy = Vec::new();
    for _ in 0..20 {
        let mut client = server.analysis_socket().await;
        client.send(search(1, &[], json!({}))).await;
        greedy.push(client);
    }
    greedy[0].receive("info").await;
    let game = server
        .create(json!({ "game": "english", "mode": "computer", "side": "b",
        "player": "level:1" }))
        .await;
    let (mut player, _) = server.join(&game["id"], &game["secret"]).await;
    player.play(0, "11-15").await;
    // The answer of the computer, from the same address.
    while player.receive("moved").await["version"] != 2 {}
    server.stop().await;
}

#[tokio::test]
async fn flood_of_searches_is_refused_and_then_disconnected() {
    let dir = tempfile::tempdir().unwrap();
    let messages = Rate { burst: 3.0, per_second: 0.0 };
    let server = TestServer::start(dir.path(), Limits { messages, ..Limits::local() }).await;
    let mut client = server.analysis_socket().await;
    for id in 0..4 {
        client.send(search(id, &[], json!({ "depth": 1 }))).await;
    }
    let error = client.receive("error").await;
    assert_eq!(
        (&error["id"], &error["message"]),
        (&json!(3), &json!("too many searches; slow down"))
    );
    for id in 4..200 {
        let message = Message::text(search(id, &[], json!({ "depth": 1 })).to_string());
        if client.0.send(message).await.is_err() {
            break;
        }
    }
    assert_eq!(client.close_code().await, Some(4008));
    server.stop().await;
}

#[tokio::test]
async fn every_game_has_a_hundred_puzzles_and_nothing_else_is_served() {
    let (server, _dir) = start().await;
    let local = std::net::Ipv4Addr::LOCALHOST;
    for game in crownhead_rules::GAMES.iter() {
        let (status, body) = server.get(local, &format!("/api/puzzles/{}", game.id)).await.unwrap();
        let file: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &file["game"]), (200, &json!(game.id)));
        let puzzles = file["puzzles"].as_array().unwrap();
        assert!(puzzles.len() >= 100, "{}: {} puzzles", game.id, puzzles.len());
        for puzzle in puzzles {
            let position = puzzle["position"].as_str().unwrap();
            let mut session = new_session(&game.id.parse().unwrap(), Some(position)).unwrap();
            for text in puzzle["solution"].as_array().unwrap() {
                session
                    .play(text.as_str().unwrap())
                    .unwrap_or_else(|error| panic!("{puzzle}: {error}"));
            }
        }
    }
    for path in ["chess", "english.json", "..%2f..%2fCargo", "%2e%2e%2fpage%2fpackage", "%00", ""] {
        let (status, _) = server.get(local, &format!("/api/puzzles/{path}")).await.unwrap();
        assert_eq!(status, 404, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn exact_values_are_null_without_tables() {
    let (server, _dir) = start().await;
    let start = json!({ "game": "english", "moves": [] }).to_string();
    assert_eq!(server.post("/api/exact", &start).await, (200, "null".into()));
    let illegal = json!({ "game": "english", "moves": ["11-22"] }).to_string();
    assert_eq!(server.post("/api/exact", &illegal).await.0, 422);
    server.stop().await;
}
