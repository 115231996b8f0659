//! Training data and analyses made by workers.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::PullConsumer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crownhead_search::train::data::{Block, Record};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::cli::{Finished, command, finish};
use crate::harness::{TestFleet, block_on};

/// Ten blocks, the last one with fewer games.
const GENERATE: [&str; 7] =
    ["train", "generate", "english", "data.bin", "--games=600", "--nodes=60", "--seed=7"];

/// A run without a fleet.
fn local(fleet: &TestFleet, arguments: &[&str]) -> Finished {
    let folder = fleet.path("local");
    fs::create_dir_all(&folder).unwrap();
    finish(command(arguments).current_dir(folder))
}

/// Returns the file of training data that one machine makes.
fn local_data(fleet: &TestFleet) -> Vec<u8> {
    let generated = local(fleet, &[&GENERATE[..], &["--threads=2"]].concat());
    assert_eq!(generated.code, Some(0), "{generated:?}");
    fs::read(fleet.path("local/data.bin")).unwrap()
}

/// Writes a file of games: of two kinds, one with a start position, one that is over.
fn write_games(fleet: &TestFleet) {
    let mut games = String::from(
        "[Event \"A\"]\n[Game \"contest\"]\n[SetUp \"1\"]\n[FEN \"B:W31,32:B1,2\"]\n\n\
         1. 1-5 32-28 2. 5-9 28-24 3. 9-14 24-20 *\n\n",
    );
    for (game, seed) in [("english", "1"), ("english", "2"), ("capture-halma", "3")] {
        let players = ["match", "minimax:1", "random", "--openings=random:2", "-n=2"];
        let options = ["--game", game, "--seed", seed, "--pdn=match.pdn"];
        let played = local(fleet, &[&players[..], &options].concat());
        assert_eq!(played.code, Some(0), "{played:?}");
        games.push_str(&fs::read_to_string(fleet.path("local/match.pdn")).unwrap());
    }
    fs::write(fleet.path("games.pdn"), &games).unwrap();
    fs::write(fleet.path("local/games.pdn"), &games).unwrap();
}

const ANALYSE: [&str; 5] = ["analyse", "games.pdn", "--nodes=300", "--hash=1", "--lines=2"];

/// Starts a coordinator; its output goes to a pipe, its messages to a log.
fn coordinator(fleet: &TestFleet, arguments: &[&str], log: &str) -> std::process::Child {
    let log = fs::File::create(fleet.path(log)).unwrap();
    let mut command: Command = fleet.command(&[arguments, &["--fleet"]].concat());
    command.stdout(Stdio::piped()).stderr(log).spawn().unwrap()
}

/// Takes a job as a worker that does not do it. Returns the job, and the subject for its result.
async fn take_job(fleet: &TestFleet) -> (Value, String, async_nats::jetstream::Message) {
    let (_, jetstream) = fleet.connect().await;
    let consumer: PullConsumer = loop {
        match jetstream.get_consumer_from_stream("workers", "CROWNHEAD_JOBS").await {
            Ok(consumer) => break consumer,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    loop {
        let batch = consumer.batch().max_messages(1).expires(Duration::from_secs(2)).messages();
        let Some(Ok(message)) = batch.await.unwrap().next().await else { continue };
        let job: Value = serde_json::from_slice(&message.payload).unwrap();
        let subject = format!("crownhead.results.{}.mallory", job["run"].as_str().unwrap());
        return (job, subject, message);
    }
}

/// Answers a job with lies, and then leaves it to others.
fn lie(fleet: &TestFleet, lies: impl FnOnce(&Value) -> Vec<Value>) {
    block_on(async {
        let (job, subject, message) = take_job(fleet).await;
        let (_, jetstream) = fleet.connect().await;
        let numbers = match job["self_play"].is_object() {
            true => {
                let number = |key: &str| job["self_play"][key].as_u64().unwrap();
                let first = number("first_game");
                (first..first + number("games")).collect()
            }
            false => vec![job["analysis"]["number"].as_u64().unwrap()],
        };
        for outcome in lies(&job) {
            let result = json!({ "games": numbers, "lease": job["lease"], "outcome": outcome });
            let payload = serde_json::to_vec(&result).unwrap();
            jetstream.publish(subject.clone(), payload.into()).await.unwrap().await.unwrap();
        }
        message.ack_with(AckKind::Nak(None)).await.unwrap();
    });
}

#[test]
fn data_of_two_workers_is_the_data_of_one_machine() {
    let Some(fleet) = TestFleet::start("data_of_two_workers") else { return };
    let expected = local_data(&fleet);
    let _workers = ["ada", "bob"].map(|name| fleet.worker(name));
    let generated = fleet.crownhead(&[&GENERATE[..], &["--fleet", "--check-pairs=30"]].concat());
    assert_eq!(generated.code, Some(0), "{generated:?}");
    assert!(fs::read(fleet.path("data.bin")).unwrap() == expected);
}

#[test]
fn killed_coordinator_and_worker_leave_the_data_of_one_machine() {
    let Some(fleet) = TestFleet::start("killed_coordinator_and_worker") else { return };
    fleet.deliver_again_after_a_second();
    let expected = local_data(&fleet);
    let file = fleet.path("data.bin");
    let generate = [&GENERATE[..], &["--fleet"]].concat();
    let mut worker = fleet.worker("ada");
    let mut first = fleet.spawn(&generate, "first.log");
    // Two blocks, and killed in the middle of the next ones.
    while fs::metadata(&file).map_or(0, |file| file.len()) < expected.len() as u64 / 4 {
        std::thread::sleep(Duration::from_millis(5));
    }
    worker.0.kill().unwrap();
    first.0.kill().unwrap();
    assert_eq!((worker.wait(), first.wait()), (None, None), "{}", fleet.log("first.log"));
    // As if the last block had been written half.
    let written = fs::read(&file).unwrap();
    assert!(expected.starts_with(&written) && written.len() < expected.len());
    fs::write(&file, &expected[..written.len() + 100]).unwrap();
    let _worker = fleet.worker("bob");
    let resumed = fleet.crownhead(&generate);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stderr.contains("data.bin: continuing after "), "{resumed:?}");
    assert!(fs::read(&file).unwrap() == expected);
}

#[test]
fn training_data_that_cannot_come_from_the_games_asked_for_is_rejected() {
    let Some(fleet) = TestFleet::start("training_data_that_cannot_come_from") else { return };
    let expected = local_data(&fleet);
    let coordinator = coordinator(&fleet, &GENERATE, "coordinator.log");
    lie(&fleet, |job| {
        let number = |key: &str| job["self_play"][key].as_u64().unwrap() as u32;
        let (first_game, games) = (number("first_game"), number("games"));
        let record = |boards, game| Record { boards, score: 0, result: None, plies_left: 9, game };
        let block = |first_game, games, records: &[Record]| {
            let mut bytes = Vec::new();
            Block { first_game, games, records: records.to_vec() }.write(&mut bytes).unwrap();
            bytes
        };
        let (good, late) = (record([1, 2, 1], first_game), record([1, 2, 1], first_game + 1));
        let right = block(first_game, games, &[good]);
        let damaged = [&right[..right.len() - 1], &[right[right.len() - 1] ^ 1]].concat();
        let blocks = [
            damaged,
            right[..right.len() - 1].to_vec(),
            [&right[..], b"more"].concat(),
            block(first_game + 64, games, &[good]),
            block(first_game, games - 1, &[good]),
            block(first_game, games, &[record([1, 2, 1], first_game + games)]),
            block(first_game, games, &[late, good]),
            // Two pieces on one square, a piece beside the board, a king without a piece.
            block(first_game, games, &[record([1, 1, 0], first_game)]),
            block(first_game, games, &[record([1, 1 << 63, 0], first_game)]),
            block(first_game, games, &[record([1, 2, 4], first_game)]),
        ];
        let blocks = blocks.map(|block| json!({ "SelfPlay": BASE64.encode(block) }));
        let others = [
            json!({ "SelfPlay": "no base 64" }),
            json!({ "Played": [] }),
            json!({ "Played": [{ "Failed": { "Other": "no" } }] }),
            json!({ "Analysed": { "last": null, "moves": [] } }),
        ];
        blocks.into_iter().chain(others).collect()
    });
    let _worker = fleet.worker("ada");
    let output = coordinator.wait_with_output().unwrap();
    let log = fleet.log("coordinator.log");
    assert!(output.status.success(), "{log}");
    assert!(fs::read(fleet.path("data.bin")).unwrap() == expected, "{log}");
    let count =
        |reason: &str| log.matches(&format!("mallory sent an invalid result: {reason}")).count();
    assert_eq!(count("its block of training data is damaged"), 3, "{log}");
    assert_eq!(count("it is another block"), 2, "{log}");
    assert_eq!(count("it has positions of other games"), 1, "{log}");
    assert_eq!(count("its games are out of order"), 1, "{log}");
    assert_eq!(count("it has impossible positions"), 3, "{log}");
    assert_eq!(count("it is the result of other work"), 3, "{log}");
    assert_eq!(count(""), 14, "{log}");
}

#[test]
fn block_that_ends_five_workers_stops_the_run_until_it_is_retried() {
    let Some(fleet) = TestFleet::start("block_that_ends_five_workers") else { return };
    fleet.deliver_again_after_a_second();
    let expected = local_data(&fleet);
    let generate = [&GENERATE[..], &["--fleet"]].concat();
    let mut first = fleet.spawn(&generate, "coordinator.log");
    let status = loop {
        let status = fleet.crownhead(&["fleet", "status"]).stdout;
        if status.contains("english, data.bin (") {
            break status;
        }
    };
    assert!(status.contains("): 0 of 600 games, "), "{status}");
    block_on(async {
        let (mut victim, mut deaths) = (None, 0);
        while deaths < 5 {
            let (_, _, message) = take_job(&fleet).await;
            let subject = message.subject.to_string();
            deaths += u32::from(*victim.get_or_insert_with(|| subject.clone()) == subject);
            message.ack_with(AckKind::Nak(None)).await.unwrap();
        }
    });
    // The server notices the fifth death when a worker asks for the job again.
    let _worker = fleet.worker("ada");
    assert_eq!(first.wait(), Some(130), "{}", fleet.log("coordinator.log"));
    assert!(fleet.log("coordinator.log").contains("is on the dead-letter list"));
    let dead = fleet.crownhead(&["fleet", "dead"]).stdout;
    assert!(dead.contains(", games 0 to 63, queued "), "{dead}");
    assert_eq!(fleet.crownhead(&["fleet", "dead", "--retry"]).code, Some(0));
    let resumed = fleet.crownhead(&generate);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(fs::read(fleet.path("data.bin")).unwrap() == expected);
}

#[test]
fn worker_with_other_tables_is_refused_and_a_file_has_one_writer() {
    let Some(fleet) = TestFleet::start("worker_with_other_tables") else { return };
    let expected = local_data(&fleet);
    let generate = [&GENERATE[..], &["--fleet"]].concat();
    let mut coordinator = fleet.spawn(&generate, "coordinator.log");
    let other = fleet.path("other");
    let build = ["tables", "build", "english", "--pieces=2"];
    let built = finish(command(&build).env("CROWNHEAD_CACHE", &other));
    assert_eq!(built.code, Some(0), "{built:?}");
    let mut worker = fleet.command(&["worker", "--concurrency=1"]);
    let refused = finish(worker.env("CROWNHEAD_CACHE", &other));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("refused: the tables of english here differ"), "{refused:?}");
    let second = fleet.crownhead(&generate);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another command is writing data.bin"), "{second:?}");
    let _worker = fleet.worker("ada");
    assert_eq!(coordinator.wait(), Some(0), "{}", fleet.log("coordinator.log"));
    assert!(fs::read(fleet.path("data.bin")).unwrap() == expected);
}

#[test]
fn analysis_of_two_workers_is_that_of_one_machine() {
    let Some(fleet) = TestFleet::start("analysis_of_two_workers") else { return };
    write_games(&fleet);
    let _workers = ["ada", "bob"].map(|name| fleet.worker(name));
    let files = ["--json", "--pdn=out.pdn", "--html=out.html"];
    for outputs in [&[][..], &files] {
        let arguments = [&ANALYSE[..], outputs].concat();
        let expected = local(&fleet, &arguments);
        assert_eq!(expected.code, Some(0), "{expected:?}");
        let checked = ["--fleet", "--check-pairs=50"];
        let analysed = fleet.crownhead(&[&arguments[..], &checked].concat());
        assert_eq!(analysed.code, Some(0), "{analysed:?}");
        assert!(analysed.stdout == expected.stdout, "{outputs:?}");
    }
    for file in ["out.pdn", "out.html"] {
        let [expected, analysed] = ["local/", ""]
            .map(|folder| fs::read_to_string(fleet.path(&format!("{folder}{file}"))).unwrap());
        assert!(analysed == expected, "{file}");
    }
}

#[test]
fn game_of_a_killed_worker_is_analysed_by_another_one() {
    let Some(fleet) = TestFleet::start("game_of_a_killed_worker") else { return };
    fleet.deliver_again_after_a_second();
    write_games(&fleet);
    let expected = local(&fleet, &ANALYSE);
    // A coordinator that is killed, too: its jobs stay in the queue.
    let mut killed = coordinator(&fleet, &ANALYSE, "killed.log");
    block_on(async { drop(take_job(&fleet).await) });
    killed.kill().unwrap();
    killed.wait().unwrap();
    let coordinator = coordinator(&fleet, &ANALYSE, "coordinator.log");
    let mut worker = fleet.worker("ada");
    fleet.wait_for("ada.log", "waits for games");
    worker.0.kill().unwrap();
    block_on(async { drop(take_job(&fleet).await) });
    let _worker = fleet.worker("bob");
    let output = coordinator.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", fleet.log("coordinator.log"));
    assert!(String::from_utf8(output.stdout).unwrap() == expected.stdout);
}

#[test]
fn analysis_that_does_not_fit_the_game_is_rejected() {
    let Some(fleet) = TestFleet::start("analysis_that_does_not_fit") else { return };
    write_games(&fleet);
    let expected = local(&fleet, &ANALYSE);
    let coordinator = coordinator(&fleet, &ANALYSE, "coordinator.log");
    lie(&fleet, |job| {
        assert_eq!(job["analysis"]["moves"].as_array().unwrap().len(), 6, "{job}");
        let nothing = json!({ "depth": 1, "better": null, "lines": [] });
        let searched = |change: &dyn Fn(&mut Value)| {
            let mut analysed = json!({ "last": [{ "Points": 5 }, 3], "moves": vec![&nothing; 6] });
            change(&mut analysed);
            json!({ "Analysed": analysed })
        };
        let line = |eval: Value, moves: &[&str]| json!({ "eval": eval, "moves": moves });
        let won = || json!({ "First": 3 });
        vec![
            searched(&|it| it["moves"] = json!([nothing])),
            searched(&|it| it["last"] = Value::Null),
            searched(&|it| it["last"] = json!([{ "Points": i32::MIN }, 3])),
            searched(&|it| it["last"] = json!([{ "Second": u32::MAX }, 3])),
            searched(&|it| it["last"][0] = json!({ "Points": 1e308 })),
            searched(&|it| it["moves"][2]["depth"] = json!(4_000_000_000_u32)),
            searched(&|it| it["moves"][0]["better"] = line(won(), &["1-32"])),
            searched(&|it| it["moves"][0]["better"] = line(won(), &["1-5"])),
            searched(&|it| it["moves"][0]["better"] = line(won(), &[])),
            searched(&|it| it["moves"][0]["better"] = line(json!({ "Second": 3 }), &["1-6"])),
            searched(&|it| it["moves"][0]["lines"] = json!(vec![line(won(), &["1-6"]); 3])),
            searched(&|it| it["moves"][0]["lines"] = json!([line(won(), &["1-6"; 13])])),
        ]
    });
    let _worker = fleet.worker("ada");
    let output = coordinator.wait_with_output().unwrap();
    let log = fleet.log("coordinator.log");
    assert!(output.status.success(), "{log}");
    assert!(String::from_utf8(output.stdout).unwrap() == expected.stdout, "{log}");
    let rejected =
        ["mallory sent an invalid result: ", "an unreadable result under the name mallory"]
            .map(|message| log.matches(message).count());
    assert_eq!(rejected, [11, 1], "{log}");
}

#[test]
fn fleet_analyses_games_of_a_file_and_uses_its_own_threads() {
    let position = finish(&mut command(&["analyse", "--game=english", "--fleet"]));
    assert_eq!(position.code, Some(2));
    assert!(position.stderr.contains("a fleet analyses games: give a file"), "{position:?}");
    for arguments in [&GENERATE[..], &ANALYSE] {
        let threads = [arguments, &["--fleet", "--threads=2"]].concat();
        let finished = finish(&mut command(&threads));
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.contains("'--threads <N>'"), "{finished:?}");
    }
}
