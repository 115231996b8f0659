//! Matches, tournaments and sequential tests played by workers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::cli::{command, finish};
use crate::harness::{Running, TestFleet, tables, write_tournament};

const MATCH: [&str; 8] =
    ["match", "level:2:nodes=300", "minimax:2", "--game", "contest", "-n", "12", "--json"];

/// The parts of a match that do not depend on the time it took.
fn facts(object: &Value) -> Vec<Value> {
    ["games", "result", "first", "second", "pairs", "elo", "ends", "plies", "faults"]
        .map(|key| object[key].clone())
        .to_vec()
}

#[test]
fn match_of_two_workers_is_the_match_of_one_machine() {
    let Some(fleet) = TestFleet::start("match_of_two_workers") else { return };
    let local = finish(&mut command(&MATCH)).json();
    let _workers = ["ada", "bob"].map(|name| fleet.worker(name));
    let played = fleet.crownhead(&[&MATCH[..], &["--fleet", "--check-pairs", "50"]].concat());
    assert_eq!(played.code, Some(0), "{played:?}");
    assert_eq!(facts(&played.json()), facts(&local));
    let status = fleet.crownhead(&["fleet", "status", "--json"]).json();
    let names: Vec<_> = status["workers"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 2, "{status}");
    assert_eq!((&status["waiting"], &status["running"]), (&0.into(), &0.into()));
}

#[test]
fn tournament_of_a_fleet_has_the_tables_of_a_local_one_and_its_worker_leaves_on_sigterm() {
    let Some(fleet) = TestFleet::start("tournament_of_a_fleet") else { return };
    let local = fleet.path("local");
    write_tournament(&local, 3);
    let run = ["tournament", "run", "class.toml"];
    assert_eq!(finish(command(&run).current_dir(&local)).code, Some(0));
    write_tournament(&fleet.path(""), 3);
    let mut worker = fleet.worker("ada");
    let played = fleet.crownhead(&[&run[..], &["--fleet"]].concat());
    assert_eq!(played.code, Some(0), "{played:?}");
    assert_eq!(tables(&fleet.path("")), tables(&local));
    worker.signal("-TERM");
    assert_eq!(worker.wait(), Some(0));
    let status = fleet.crownhead(&["fleet", "status", "--json"]).json();
    assert_eq!(status["workers"], Value::Array(Vec::new()));
}

#[test]
fn interrupted_sprt_is_resumed_by_the_fleet() {
    let Some(fleet) = TestFleet::start("interrupted_sprt") else { return };
    let players = ["sprt", "level:3:nodes=200", "random", "--game", "english", "--elo1", "50"];
    let sprt = [&players[..], &["--json", "--fleet"]].concat();
    let mut first = fleet.spawn(&sprt, "coordinator.log");
    let _worker = fleet.worker("ada");
    fleet.wait_for("ada.log", "waits for games");
    first.signal("-INT");
    first.wait();
    let played = fleet.crownhead(&sprt);
    assert_eq!(played.code, Some(0), "{played:?}");
    assert_eq!(played.json()["decision"], "H1");
}

#[test]
fn worker_with_another_bench_signature_is_refused_with_the_reason() {
    let Some(fleet) = TestFleet::start("worker_with_another_bench_signature") else { return };
    let _worker = fleet.worker("ada");
    let short = ["match", "random", "random", "--game", "english", "-n", "2", "--fleet"];
    assert_eq!(fleet.crownhead(&short).code, Some(0));
    crate::harness::block_on(async {
        let (_, jetstream) = fleet.connect().await;
        let other = "0.0.1, bench 1 2 3 4";
        // The stream keeps the first one.
        jetstream.get_stream("CROWNHEAD_FLEET").await.unwrap().purge().await.unwrap();
        jetstream.publish("crownhead.fleet", other.into()).await.unwrap().await.unwrap();
    });
    let refused = fleet.crownhead(&["worker", "--concurrency", "1"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("refused: this worker is crownhead"), "{refused:?}");
    assert!(refused.stderr.contains("the fleet runs crownhead 0.0.1, bench 1 2 3 4"));
    // And so is a coordinator, while workers are there.
    let coordinator = fleet.crownhead(&short);
    assert_eq!(coordinator.code, Some(1));
    assert!(coordinator.stderr.contains("use the same program"), "{coordinator:?}");
}

#[test]
fn options_of_a_fleet_need_the_fleet() {
    let players = ["match", "random", "random", "--game", "english"];
    let without = finish(&mut command(&[&players[..], &["--nats", "nats://x"]].concat()));
    assert_eq!(without.code, Some(2));
    assert!(without.stderr.contains("--nats needs --fleet"), "{without:?}");
    let serve = finish(&mut command(&["serve", "--credentials", "x"]));
    assert_eq!(serve.code, Some(2));
    assert!(serve.stderr.contains("--credentials needs --fleet"), "{serve:?}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("missing"), "").unwrap();
    let unreachable = [&players[..], &["--fleet", "--nats", "nats://127.0.0.1:9"]].concat();
    let unreachable = finish(&mut command(&unreachable));
    assert_eq!(unreachable.code, Some(1));
    assert!(unreachable.stderr.contains("cannot connect to nats://127.0.0.1:9"));
}

#[test]
fn server_shows_the_status_of_the_fleet() {
    let Some(fleet) = TestFleet::start("server_shows_the_status_of_the_fleet") else { return };
    let mut serve = fleet.command(&["serve", "--port", "0", "--data", "served", "--fleet"]);
    let serve = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut serve = Running(serve);
    let mut url = String::new();
    BufReader::new(serve.0.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
    let get = || {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = "GET /api/fleet HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head[9..12].to_string(), serde_json::from_str::<Value>(body).unwrap())
    };
    // No run has been started.
    assert_eq!(get().0, "503");
    let _worker = fleet.worker("ada");
    let short = ["match", "random", "random", "--game", "english", "-n", "2", "--fleet"];
    assert_eq!(fleet.crownhead(&short).code, Some(0));
    let (code, status) = loop {
        let answer = get();
        // An answer may be two seconds old.
        if answer.1["workers"].as_array().is_some_and(|workers| !workers.is_empty()) {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!((code.as_str(), &status["workers"][0]["name"]), ("200", &"ada".into()));
    let printed = fleet.crownhead(&["fleet", "status", "--json"]).json();
    let keys = |status: &Value| status.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&status), keys(&printed));
    assert_eq!(keys(&status["workers"][0]), keys(&printed["workers"][0]));
}
