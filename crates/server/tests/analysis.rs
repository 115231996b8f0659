//! Searches for the analysis pages over a WebSocket, and exact values.

use crate::common::{Client, TestServer};
use crownhead_server::limits::Limits;
use serde_json::{Value, json};

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
async fn exact_values_are_null_without_tables() {
    let (server, _dir) = start().await;
    let start = json!({ "game": "english", "moves": [] }).to_string();
    assert_eq!(server.post("/api/exact", &start).await, (200, "null".into()));
    let illegal = json!({ "game": "english", "moves": ["11-22"] }).to_string();
    assert_eq!(server.post("/api/exact", &illegal).await.0, 422);
    server.stop().await;
}
