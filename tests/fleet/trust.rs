//! Workers that lie.

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::harness::{TestFleet, block_on};

#[test]
fn worker_cannot_answer_for_a_job_of_another_one_or_against_the_rules() {
    let Some(fleet) = TestFleet::start("worker_cannot_answer_for_a_job_of_another_one") else {
        return;
    };
    let arguments = ["match", "random", "minimax:1", "--game", "english", "-n", "6", "--json"];
    let local = fleet.path("local.json");
    std::fs::write(&local, crate::cli::crownhead(&arguments).stdout).unwrap();
    let log = std::fs::File::create(fleet.path("coordinator.log")).unwrap();
    let mut command = fleet.command(&[&arguments[..], &["--fleet"]].concat());
    let coordinator = command.stdout(std::process::Stdio::piped()).stderr(log).spawn().unwrap();
    let run = block_on(async {
        let (_, jetstream) = fleet.connect().await;
        let consumer: PullConsumer = loop {
            match jetstream.get_consumer_from_stream("workers", "CROWNHEAD_JOBS").await {
                Ok(consumer) => break consumer,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let mut jobs = consumer.stream().max_messages_per_batch(3).messages().await.unwrap();
        let mut taken = Vec::new();
        for _ in 0..3 {
            let message = jobs.next().await.unwrap().unwrap();
            taken.push((serde_json::from_slice::<Value>(&message.payload).unwrap(), message));
        }
        let run = taken[0].0["run"].as_str().unwrap().to_string();
        let subject = format!("crownhead.results.{run}.mallory");
        let game = |job: &Value, index: usize, moves: Value| {
            let count = moves.as_array().unwrap().len();
            json!({ "Finished": {
                "summary": {
                    "finished": 1, "milliseconds": 1, "winner": 0, "reason": "no-moves",
                    "forfeit": null, "score": null, "faults": [0, 0], "plies": count,
                },
                "description": "Black wins", "opening": job["games"][index]["opening"],
                "moves": moves, "reports": vec![json!({ "milliseconds": 1 }); count],
                "incidents": [], "timeouts": [0, 0],
                "slowest_move": vec![json!({ "secs": 0, "nanos": 0 }); 2], "log_error": null,
            }})
        };
        let answer = |numbers: Value, lease: &Value, results: Vec<Value>| json!({ "games": numbers, "lease": lease, "outcome": { "Played": results } });
        let numbers = |job: &Value| json!([job["games"][0]["number"], job["games"][1]["number"]]);
        let [first, second, _] = [&taken[0].0, &taken[1].0, &taken[2].0];
        let empty = |job: &Value| vec![game(job, 0, json!([])), game(job, 1, json!([]))];
        let lies = [
            // The second job with the lease of the first one, and with no lease.
            answer(numbers(second), &first["lease"], empty(second)),
            answer(numbers(second), &json!(""), empty(second)),
            // The games of the second job as those of the first one.
            answer(json!([3, 2]), &first["lease"], empty(second)),
            // Illegal moves, too few results, a third side.
            answer(
                numbers(first),
                &first["lease"],
                vec![game(first, 0, json!(["1-32"])), game(first, 1, json!([]))],
            ),
            answer(numbers(first), &first["lease"], vec![]),
            // One worker alone cannot end a run.
            answer(
                numbers(first),
                &first["lease"],
                vec![json!({ "Failed": { "Other": "no" } }); 2],
            ),
            json!("garbage"),
        ];
        for lie in lies {
            let payload = serde_json::to_vec(&lie).unwrap();
            jetstream.publish(subject.clone(), payload.into()).await.unwrap().await.unwrap();
        }
        // Its jobs go to others.
        for (_, message) in taken {
            let nak = async_nats::jetstream::AckKind::Nak(None);
            message.ack_with(nak).await.unwrap();
        }
        run
    });
    let _worker = fleet.worker("ada");
    let output = coordinator.wait_with_output().unwrap();
    let log = fleet.log("coordinator.log");
    assert!(output.status.success(), "run {run}: {log}");
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    let local: Value = serde_json::from_slice(&std::fs::read(local).unwrap()).unwrap();
    for key in ["result", "pairs", "ends", "plies"] {
        assert_eq!(played[key], local[key], "{key}: {log}");
    }
    let ignored = "mallory answered for a job that it did not get: ignored";
    assert_eq!(log.matches(ignored).count(), 3, "{log}");
    assert!(log.contains("mallory sent an invalid result: game 1: move 1: "), "{log}");
    assert!(log.contains("mallory sent an invalid result: 0 results for 2 games"), "{log}");
    assert!(log.contains("mallory gave games back: no"), "{log}");
}

#[test]
fn job_that_five_workers_failed_to_finish_is_dead_until_it_is_retried() {
    let Some(fleet) = TestFleet::start("job_that_five_workers_failed_to_finish") else { return };
    fleet.deliver_again_after_a_second();
    crate::harness::write_tournament(&fleet.path(""), 2);
    let run = ["tournament", "run", "class.toml", "--fleet"];
    let mut coordinator = fleet.spawn(&run, "coordinator.log");
    block_on(async {
        let (_, jetstream) = fleet.connect().await;
        let consumer: PullConsumer =
            jetstream.get_consumer_from_stream("workers", "CROWNHEAD_JOBS").await.unwrap();
        // Five workers that die with the first job that comes along.
        let mut victim = None;
        for _ in 0..5 {
            loop {
                let batch = consumer.batch().max_messages(1).expires(EXPIRES).messages().await;
                let Some(Ok(message)) = batch.unwrap().next().await else { continue };
                let subject = message.subject.to_string();
                let nak = async_nats::jetstream::AckKind::Nak(None);
                if victim.get_or_insert_with(|| subject.clone()) == &subject {
                    message.ack_with(nak).await.unwrap();
                    break;
                }
                message.ack_with(nak).await.unwrap();
            }
        }
    });
    let worker = fleet.worker("ada");
    assert_eq!(coordinator.wait(), Some(130), "{}", fleet.log("coordinator.log"));
    assert!(fleet.log("coordinator.log").contains("is on the dead-letter list"));
    let dead = fleet.crownhead(&["fleet", "dead", "--json"]).json();
    assert!(!dead["dead"].as_array().unwrap().is_empty(), "{dead}");
    assert_eq!(fleet.crownhead(&["fleet", "dead", "--retry"]).code, Some(0));
    let resumed = fleet.crownhead(&["tournament", "resume", "class.toml", "--fleet"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(fleet.crownhead(&["fleet", "dead"]).stdout, "no dead jobs\n");
    drop(worker);
}

const EXPIRES: std::time::Duration = std::time::Duration::from_secs(2);

#[test]
fn worker_that_lies_about_its_games_is_caught_when_pairs_are_checked() {
    let Some(fleet) = TestFleet::start("worker_that_lies_about_its_games") else { return };
    let arguments = ["match", "level:2", "minimax:1", "--game", "english", "-n", "6", "--json"];
    let local = crate::cli::crownhead(&arguments).json();
    let log = std::fs::File::create(fleet.path("coordinator.log")).unwrap();
    let checked = [&arguments[..], &["--fleet", "--check-pairs", "100"]].concat();
    let mut command = fleet.command(&checked);
    let coordinator = command.stdout(std::process::Stdio::piped()).stderr(log).spawn().unwrap();
    block_on(async {
        let (_, jetstream) = fleet.connect().await;
        let consumer: PullConsumer = loop {
            match jetstream.get_consumer_from_stream("workers", "CROWNHEAD_JOBS").await {
                Ok(consumer) => break consumer,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let batch = consumer.batch().max_messages(1).expires(EXPIRES * 10).messages().await;
        let message = batch.unwrap().next().await.unwrap().unwrap();
        let job: Value = serde_json::from_slice(&message.payload).unwrap();
        // Two draws that nobody played: legal, and a lie.
        let games = job["games"].as_array().unwrap().iter();
        let draws = games.clone().map(|game| {
            json!({ "Finished": {
                "summary": {
                    "finished": 1, "milliseconds": 1, "winner": null, "reason": "agreement",
                    "forfeit": null, "score": null, "faults": [0, 0], "plies": 0,
                },
                "description": "Draw", "opening": game["opening"], "moves": [], "reports": [],
                "incidents": [], "timeouts": [0, 0],
                "slowest_move": vec![json!({ "secs": 0, "nanos": 0 }); 2], "log_error": null,
            }})
        });
        let draws: Vec<_> = draws.collect();
        let numbers: Vec<_> = games.map(|game| game["number"].clone()).collect();
        let lie = json!({
            "games": numbers, "lease": job["lease"], "outcome": { "Played": draws },
        });
        let subject = format!("crownhead.results.{}.mallory", job["run"].as_str().unwrap());
        let payload = serde_json::to_vec(&lie).unwrap();
        jetstream.publish(subject.clone(), payload.into()).await.unwrap().await.unwrap();
        message.double_ack().await.unwrap();
        // It takes the check of its own result, too, and confirms it.
        loop {
            let batch = consumer.batch().max_messages(1).expires(EXPIRES * 10).messages().await;
            let message = batch.unwrap().next().await.unwrap().unwrap();
            let job: Value = serde_json::from_slice(&message.payload).unwrap();
            if job["excluded"] != json!("mallory") {
                let later = std::time::Duration::from_millis(500);
                let nak = async_nats::jetstream::AckKind::Nak(Some(later));
                message.ack_with(nak).await.unwrap();
                continue;
            }
            let lie = json!({
                "games": lie["games"], "is_check": true, "lease": job["lease"],
                "outcome": lie["outcome"],
            });
            let payload = serde_json::to_vec(&lie).unwrap();
            jetstream.publish(subject, payload.into()).await.unwrap().await.unwrap();
            message.double_ack().await.unwrap();
            break;
        }
    });
    let _workers = ["ada", "bob"].map(|name| fleet.worker(name));
    let output = coordinator.wait_with_output().unwrap();
    let log = fleet.log("coordinator.log");
    assert!(output.status.success(), "{log}");
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in ["result", "pairs", "ends", "plies"] {
        assert_eq!(played[key], local[key], "{key}: {log}");
    }
    assert!(log.contains("mallory and ") && log.contains("differently"), "{log}");
}
