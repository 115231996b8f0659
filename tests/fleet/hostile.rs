//! Bots that attack their worker, and workers whose referee was starved.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_test_support::skip;

use crate::cli::{Finished, finish};
use crate::harness::{Running, TestFleet};
use crate::server::SecureServer;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures").join(name)
}

/// Number of processes whose command contains a text.
fn processes(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

/// Folder of the worker's copy of a bot with this file.
fn unpacked(worker: u32, file: &str) -> PathBuf {
    let folders = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let of_worker = |path: &PathBuf| path.to_string_lossy().contains(&format!("-{worker}-"));
    let files = folders.map(|entry| entry.path()).filter(of_worker).map(|it| it.join(file));
    files.into_iter().find(|file| file.exists()).unwrap()
}

#[test]
fn bot_that_attacks_its_worker_achieves_nothing() {
    let test = "bot_that_attacks_its_worker_achieves_nothing";
    if let Err(reason) = IsolationStatus::detect(Isolation::Require) {
        return skip(test, reason);
    }
    let Some(server) = SecureServer::start(test) else { return };
    // The coordinator has the bots in one folder; the worker has nothing in common with it but the
    // machine.
    let bot = |name: &str, manifest: &str| {
        let folder = server.path("bots").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("bot.toml"), manifest).unwrap();
        folder
    };
    let python = |name: &str, mode: &str, mark: &str| {
        let folder = bot(name, &format!("command = \"python3 hostile.py {mode} {mark}\""));
        fs::copy(fixture("hostile.py"), folder.join("hostile.py")).unwrap();
        folder
    };
    let victim = python("victim", "first", "victim");
    fs::write(victim.join("opening-book"), "a good idea").unwrap();
    let home = server.path("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("diary"), "dear diary").unwrap();
    let mut command = server.command("worker-1", &["worker", "--concurrency", "1"]);
    command.env("HOME", &home).env("CROWNHEAD_TEST_SECRET", "SECRET");
    let worker = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let worker = Running(worker);
    let play = |players: [&str; 2]| -> Finished {
        let options = ["--game", "english", "-n", "2", "--movetime", "60s", "--limits"];
        let limits = ["memory=100MB", "--json", "--fleet"];
        let arguments = [&["match"][..], &players, &options, &limits].concat();
        finish(&mut server.command("coordinator", &arguments))
    };
    // The worker keeps the files of a bot that it has played.
    let played = play(["bots/victim", "random"]);
    assert_eq!(played.json()["games"], 2, "{played:?}");
    let secrets = [
        server.credentials("worker-1"),
        server.credentials("worker-2"),
        server.credentials("coordinator"),
        home.join("diary"),
        unpacked(worker.0.id(), "opening-book"),
    ];
    let secrets: String = secrets
        .iter()
        .map(|file| format!(" '@{}'", fs::canonicalize(file).unwrap().display()))
        .collect();
    let (worker_id, home) = (worker.0.id(), home.display());
    let prober = bot("prober", &format!("command = \"./prober {worker_id} '{home}'{secrets}\""));
    let compiler = std::process::Command::new("cc")
        .args(["-O2", "-o"])
        .arg(prober.join("prober"))
        .arg(fixture("prober.c"))
        .status();
    assert!(compiler.unwrap().success());
    let played = play(["bots/prober", "random"]);
    assert!(played.stdout.contains("allowed: nothing"), "{played:?}");
    // Limits hold, and nothing outlives the games.
    let mark = format!("fleet-attack-{worker_id}");
    python("greedy", "allocates", &mark);
    python("daemon", "daemon", &mark);
    let played = play(["bots/greedy", "bots/daemon"]);
    assert!(played.stdout.contains("MB of memory"), "{played:?}");
    while processes(&mark) > 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Stops processes and continues them, again and again, until something has happened.
fn starve(workers: &[&Running], mut until: impl FnMut() -> bool) {
    while !until() {
        for (signal, milliseconds) in [("-STOP", 120), ("-CONT", 240)] {
            workers.iter().for_each(|worker| worker.signal(signal));
            std::thread::sleep(Duration::from_millis(milliseconds));
        }
    }
}

#[test]
fn starved_worker_gives_a_pair_back_once() {
    let Some(fleet) = TestFleet::start("starved_worker_gives_a_pair_back_once") else { return };
    let bot = "import sys, time\nturns = 0\nfor line in sys.stdin:\n    \
               word = line.split()[0]\n    \
               if word == 'crownhead': print('bot sleeper', flush=True)\n    \
               elif word == 'newgame': turns = 0; print('ready', flush=True)\n    \
               elif word == 'turn': time.sleep(3600)\n";
    fs::write(fleet.path("sleeper.py"), bot).unwrap();
    let workers = ["ada", "bob"].map(|name| fleet.worker(name));
    let short = ["match", "random", "random", "--game", "english", "-n", "2", "--fleet"];
    assert_eq!(fleet.crownhead(&short).code, Some(0));
    for log in ["ada.log", "bob.log"] {
        fleet.wait_for(log, "waits for games");
    }
    let players = ["match", "cmd:python3 sleeper.py", "random", "--game", "english", "-n", "2"];
    let arguments = [&players[..], &["--movetime", "500ms", "--json", "--fleet"]].concat();
    let mut command = fleet.command(&arguments);
    let mut coordinator = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    starve(&[&workers[0], &workers[1]], || coordinator.0.try_wait().unwrap().is_some());
    let mut output = String::new();
    std::io::Read::read_to_string(coordinator.0.stdout.as_mut().unwrap(), &mut output).unwrap();
    let played: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&played["games"], &played["timeouts"][0]), (&2.into(), &2.into()), "{played}");
    // One of them gave the pair back; the other one played it, although it was starved, too.
    let logs = ["ada.log", "bob.log"].map(|log| fleet.log(log));
    let busy = logs.each_ref().map(|log| log.matches("this machine is too busy").count());
    assert_eq!(busy.iter().sum::<usize>(), 1, "{logs:?}");
    let status = fleet.crownhead(&["fleet", "status", "--json"]).json();
    let gave_back = |worker: &serde_json::Value| worker["returned"] == 1;
    let workers = status["workers"].as_array().unwrap();
    assert_eq!(workers.iter().filter(|worker| gave_back(worker)).count(), 1, "{status}");
}
