//! Golden JSON: one file in `tests/golden` per API response and WebSocket message.
//!
//! The unit tests of the page read the same files, so its types cannot drift from what the server
//! sends. `tests/stored/games.json` pins the stored form of setups and events. Run with
//! `UPDATE_GOLDEN=1` to rewrite the files after an intended change; a change of the stored form
//! needs a new schema version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{Client, TestServer};
use crownhead_server::limits::Limits;
use serde_json::{Map, Value, json};

/// Prose, which may change without changing the interface.
const PROSE: [&str; 8] =
    ["description", "meaning", "values", "about", "title", "task", "hint", "praise"];

/// Random or time-dependent values, with their replacements.
const VARIABLE: [(&str, &str); 4] = [
    ("secret", "secret-of-22-letters00"),
    ("friend", "friend-of-22-letters00"),
    ("next", "rematch-id-00000"),
    ("last_activity", ""),
];

struct Golden {
    dir: PathBuf,
    is_update: bool,
    failures: Vec<String>,
}

impl Golden {
    fn new() -> Golden {
        Golden::in_dir("golden")
    }

    fn in_dir(name: &str) -> Golden {
        Golden {
            dir: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name),
            is_update: std::env::var_os("UPDATE_GOLDEN").is_some(),
            failures: Vec::new(),
        }
    }

    /// Compares a value with its file, or writes the file.
    fn check(&mut self, name: &str, value: &Value) {
        let mut value = value.clone();
        normalise(&mut value, name);
        let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
        let file = self.dir.join(format!("{name}.json"));
        if self.is_update {
            std::fs::write(file, text).unwrap();
        } else if std::fs::read_to_string(&file).unwrap_or_default() != text {
            self.failures.push(format!("{}, which should be:\n{text}", file.display()));
        }
    }

    fn read(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.dir.join(format!("{name}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn finish(self) {
        assert!(self.failures.is_empty(), "differs: {}", self.failures.join("\n"));
    }
}

/// Replaces prose, ids, secrets and times by fixed values.
fn normalise(value: &mut Value, name: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, name)),
        Value::Object(fields) => normalise_fields(fields, name),
        _ => {}
    }
}

fn normalise_fields(fields: &mut Map<String, Value>, name: &str) {
    // The reason of an outcome is a code; other reasons are prose. The text of a move is notation.
    let is_outcome = fields.contains_key("winner");
    let is_text_prose = is_outcome || fields.contains_key("by");
    for (key, value) in fields {
        let is_prose = match key.as_str() {
            "reason" => !is_outcome,
            "text" => is_text_prose,
            _ => PROSE.contains(&key.as_str()),
        };
        if is_prose {
            *value = match value {
                Value::Array(items) => json!(vec!["…"; items.len().min(1)]),
                _ => json!("…"),
            };
        } else if let Some((_, fixed)) = VARIABLE.iter().find(|(variable, _)| variable == key)
            && !value.is_null()
        {
            *value = if value.is_number() { json!(1_700_000_000_000u64) } else { json!(fixed) };
        } else if key == "id" && value.is_string() && !["catalog", "rules"].contains(&name) {
            *value = json!(if name == "next" { "rematch-id-00000" } else { "game-id-00000000" });
        } else {
            normalise(value, name);
        }
    }
}

async fn get(server: &TestServer, path: &str) -> Value {
    let (status, body) = server.get([127, 0, 0, 1].into(), path).await.unwrap();
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

async fn post(server: &TestServer, path: &str, body: Value) -> (u16, Value) {
    let (status, answer) = server.post(path, &body.to_string()).await;
    (status, serde_json::from_str(&answer).unwrap())
}

#[tokio::test]
async fn http_responses_match_golden_files() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;
    let mut golden = Golden::new();
    golden.check("catalog", &get(&server, "/api/games").await);
    let mut rules = get(&server, "/api/rules/chinese-checkers").await;
    // One exercise of each kind is enough.
    let mut kinds = BTreeMap::new();
    for exercise in rules["exercises"].as_array().unwrap() {
        let kind = exercise["goal"]["kind"].as_str().unwrap().to_owned();
        kinds.entry(kind).or_insert_with(|| exercise.clone());
    }
    rules["exercises"] = kinds.into_values().collect();
    golden.check("rules", &rules);

    let position = golden.read("position-request");
    let (status, body) = post(&server, "/api/position", position).await;
    assert_eq!(status, 200, "{body}");
    golden.check("position", &body);
    let outcome = json!({"game": "english", "position": "B:W18:B15", "moves": ["15x22"]});
    golden.check("position-over", &post(&server, "/api/position", outcome).await.1);
    let several = json!({
        "game": "chinese-checkers",
        "position": "8/8/2##4/2#1#3/3#4/8/7O/8 # 0"
    });
    let (status, paths) = post(&server, "/api/position", several).await;
    assert_eq!(status, 200, "{paths}");
    let legal = paths["legal"].as_array().unwrap();
    let with_paths = legal.iter().find(|mv| mv.get("other_paths").is_some()).unwrap();
    golden.check("legal-move-with-other-paths", with_paths);
    let illegal = json!({"game": "english", "moves": ["11-15", "1-2"]});
    let (status, error) = post(&server, "/api/position", illegal).await;
    assert_eq!(status, 422);
    golden.check("error", &error);

    let new_game = golden.read("new-game-request");
    let (status, created) = post(&server, "/api/games", new_game).await;
    assert_eq!(status, 201, "{created}");
    golden.check("created", &created);
    let (status, body) = post(&server, "/api/summaries", json!({"games": [created["id"]]})).await;
    assert_eq!(status, 200, "{body}");
    golden.check("summaries", &body);
    server.stop().await;
    golden.finish();
}

/// Waits for a message of a type and checks it against its golden file.
async fn check_next(golden: &mut Golden, client: &mut Client, kind: &str) {
    let message = client.receive(kind).await;
    golden.check(kind, &message);
}

#[tokio::test]
async fn server_messages_match_golden_files() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;
    let mut golden = Golden::new();
    let game = server.create(golden.read("new-game-request")).await;
    let mut ann = server.socket(game["id"].as_str().unwrap()).await;
    ann.send(json!({"type": "join", "secret": game["secret"]})).await;
    check_next(&mut golden, &mut ann, "joined").await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    check_next(&mut golden, &mut ann, "seats").await;

    ann.send(json!({"type": "move", "version": 0, "move": "11-22", "id": 6})).await;
    check_next(&mut golden, &mut ann, "refused").await;
    ann.send(json!({"type": "move", "version": 0, "move": "11-15", "id": 7})).await;
    check_next(&mut golden, &mut ann, "moved").await;
    check_next(&mut golden, &mut ann, "done").await;
    ann.send(json!({"type": "offer", "offer": "draw", "version": 1})).await;
    check_next(&mut golden, &mut ann, "offers").await;
    ben.receive("offers").await;
    ben.send(json!({"type": "decline", "offer": "draw", "version": 1})).await;
    check_next(&mut golden, &mut ann, "declined").await;
    ann.send(json!({"type": "ping", "id": 9})).await;
    check_next(&mut golden, &mut ann, "pong").await;
    ben.send(json!({"type": "resign", "version": 1})).await;
    check_next(&mut golden, &mut ann, "state").await;
    for client in [&mut ann, &mut ben] {
        client.send(json!({"type": "offer", "offer": "rematch", "version": 2})).await;
    }
    check_next(&mut golden, &mut ann, "next").await;

    let computer = json!({"game": "english", "mode": "computer", "side": "w"});
    let game = server.create(computer).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    let mut computer = person.receive("computer").await;
    while computer["computer"] != "thinking" {
        computer = person.receive("computer").await;
    }
    golden.check("computer", &computer);

    // The reason of a single legal move does not depend on the evaluation.
    let single = json!({"game": "english", "mode": "hotseat", "position": "B:W15,32:B1,11"});
    let game = server.create(single).await;
    let (mut both, _) = server.join(&game["id"], &game["secret"]).await;
    both.send(json!({"type": "hint", "version": 0, "id": 10})).await;
    check_next(&mut golden, &mut both, "hint").await;
    server.stop().await;
    golden.finish();
}

#[tokio::test]
async fn server_accepts_golden_client_messages() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;
    let golden = Golden::new();
    let game = server.create(golden.read("new-game-request")).await;
    let messages = golden.read("client-messages");
    let mut messages = messages.as_array().unwrap().iter().cloned();
    let mut ann = server.socket(game["id"].as_str().unwrap()).await;
    let mut join = messages.next().unwrap();
    assert_eq!(join["type"], "join");
    join["secret"] = game["secret"].clone();
    ann.send(join).await;
    ann.receive("state").await;
    for message in messages {
        let id = message["id"].clone();
        ann.send(message.clone()).await;
        // Most are refused as stale. The refusal of an invalid message has no id.
        loop {
            let answer = ann.next_message().await;
            assert_ne!(answer["code"], "bad-request", "{message}: {answer}");
            let kind = answer["type"].as_str().unwrap();
            if ["done", "refused", "pong"].contains(&kind) && answer["id"] == id {
                break;
            }
        }
    }
    server.stop().await;
}

/// Sends a message and waits for one of a type.
async fn exchange(client: &mut Client, message: Value, answer: &str) -> Value {
    client.send(message).await;
    client.receive(answer).await
}

/// Setups and events in the database.
fn stored_games(data: &Path) -> Value {
    let connection = rusqlite::Connection::open(data.join("games.sqlite")).unwrap();
    let mut games = connection.prepare("SELECT key, setup FROM games ORDER BY key").unwrap();
    let mut events =
        connection.prepare("SELECT event FROM events WHERE game = ?1 ORDER BY number").unwrap();
    let parse = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let games = games.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    games
        .map(|game| {
            let (key, setup): (i64, String) = game.unwrap();
            let events = events.query_map([key], |row| row.get(0)).unwrap();
            let events: Vec<_> = events.map(|event| parse(event.unwrap())).collect();
            json!({"setup": parse(setup), "events": events})
        })
        .collect()
}

/// Replaces seeds, rematch ids and remaining times.
fn normalise_stored(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalise_stored),
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "seed" => *value = json!(0),
                    "next" => *value = json!("rematch-id-00000"),
                    "left" => *value = json!([0, 0]),
                    _ => normalise_stored(value),
                }
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn stored_setups_and_events_match_golden_file() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;

    // Two people: moves, a take-back, a name, an agreed draw, a rematch.
    let game = server.create(Golden::new().read("new-game-request")).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    exchange(&mut ben, json!({"type": "name", "name": "Ben", "id": 1}), "done").await;
    ann.play(0, "11-15").await;
    ben.receive("moved").await;
    for client in [&mut ann, &mut ben] {
        client.send(json!({"type": "offer", "offer": "take-back", "version": 1})).await;
        client.receive("offers").await;
    }
    ann.receive("state").await;
    for client in [&mut ann, &mut ben] {
        client.send(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    }
    ann.receive("state").await;
    for client in [&mut ann, &mut ben] {
        client.send(json!({"type": "offer", "offer": "rematch", "version": 3})).await;
    }
    ann.receive("next").await;

    // Two people at one screen: a resignation that is taken back, then a loss on time.
    let clock = json!({"time": 1, "increment": 0});
    let game =
        json!({"game": "english", "mode": "hotseat", "clock": clock, "position": "B:W32:B1"});
    let game = server.create(game).await;
    let (mut both, _) = server.join(&game["id"], &game["secret"]).await;
    exchange(&mut both, json!({"type": "resign", "version": 0}), "state").await;
    let take_back = json!({"type": "offer", "offer": "take-back", "version": 1});
    exchange(&mut both, take_back, "state").await;
    both.play(2, "1-5").await;
    both.receive("moved").await;
    both.play(3, "32-28").await;
    let state = both.receive("state").await;
    assert_eq!(state["outcome"]["reason"], "time", "{state}");

    // A game against the computer.
    let game = json!({"game": "english", "mode": "computer", "side": "b", "player": "level:1"});
    server.create(game).await;
    let game = json!({"game": "english", "mode": "computers", "players": ["level:1", "level:2"]});
    server.create(game).await;
    server.stop().await;

    let mut games = stored_games(dir.path());
    normalise_stored(&mut games);
    let mut golden = Golden::in_dir("stored");
    golden.check("games", &games);
    golden.finish();
}
