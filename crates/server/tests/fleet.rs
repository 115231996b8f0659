//! The status of a fleet, which is slow, fails, or is not to be shown.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use crownhead_server::limits::Limits;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::common::TestServer;

async fn get(server: &TestServer, path: &str) -> (u16, Value) {
    let (status, body) = server.get(Ipv4Addr::LOCALHOST, path).await.unwrap();
    (status, serde_json::from_str(&body).unwrap())
}

#[tokio::test]
async fn server_without_a_fleet_shows_none() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;
    let (status, body) = get(&server, "/api/fleet").await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not-found")));
    assert_eq!(get(&server, "/api/games").await.1["fleet"], false);
}

#[tokio::test]
async fn status_of_the_fleet_is_that_of_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    // The tests of the crate `fleet` write this file.
    let golden: Value = serde_json::from_str(include_str!("golden/fleet.json")).unwrap();
    let fetched = golden.clone();
    let fetch = Box::new(move || Ok(fetched.clone()));
    let server = TestServer::start_with_fleet(dir.path(), fetch).await;
    assert_eq!(get(&server, "/api/fleet").await, (200, golden));
    assert_eq!(get(&server, "/api/games").await.1["fleet"], true);
}

#[tokio::test]
async fn client_does_not_learn_where_an_unreachable_fleet_is() {
    let dir = tempfile::tempdir().unwrap();
    let fetch = Box::new(|| Err("cannot connect to nats://hidden:4222".into()));
    let server = TestServer::start_with_fleet(dir.path(), fetch).await;
    let (status, body) = get(&server, "/api/fleet").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("no-fleet")));
    assert!(!body.to_string().contains("hidden"), "{body}");
}

#[tokio::test]
async fn fleet_that_does_not_answer_delays_nothing_else_and_is_asked_once() {
    let dir = tempfile::tempdir().unwrap();
    let (answer, answers) = channel::<()>();
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let fetch = Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        answers.recv().map_err(|error| error.to_string())?;
        Ok(json!({ "waiting": 7 }))
    });
    let server = TestServer::start_with_fleet(dir.path(), fetch).await;
    // Visitors who leave again.
    for _ in 0..20 {
        let mut stream = server.connect_from(Ipv4Addr::LOCALHOST).await.unwrap();
        let head = b"GET /api/fleet HTTP/1.1\r\nhost: localhost\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, head).await.unwrap();
    }
    let waiting = join_all((0..50).map(|_| get(&server, "/api/fleet")));
    let others = async {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..50 {
            assert_eq!(get(&server, "/api/games").await.0, 200);
        }
        answer.send(()).unwrap();
    };
    let (statuses, ()) = tokio::join!(waiting, others);
    assert!(statuses.iter().all(|status| *status == (200, json!({ "waiting": 7 }))));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // The server stops although the fleet does not answer.
    server.stop().await;
}
