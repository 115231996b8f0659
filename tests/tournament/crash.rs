//! SIGKILL at random moments: no finished game is lost, replayed or counted twice, and the result
//! is the same as without crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::harness::{TestTournament, events};

/// Kills runs of a tournament at random moments within `max_delay` microseconds, at most
/// `max_kills` times, then lets it finish; returns the number of kills. After each run every
/// reported game must be in the journal as reported, and none must be reported twice.
fn kill_until_finished(
    tournament: &TestTournament,
    rng: &mut fastrand::Rng,
    max_delay: u64,
    max_kills: u32,
) -> u32 {
    let mut kills = 0;
    let mut reported: BTreeMap<u64, Value> = BTreeMap::new();
    loop {
        // A run that was killed before it created the journal must be started again.
        let journal = tournament.path().join("class.journal");
        let verb = if journal.exists() { "resume" } else { "run" };
        let output = tournament.path().join("events");
        let mut command = tournament.command(verb, &["--json"]);
        command.stdout(fs::File::create(&output).unwrap()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // The delay is what is being tested; no assertion depends on its length.
        std::thread::sleep(Duration::from_micros(rng.u64(..max_delay)));
        let status = match kills < max_kills {
            true => child.try_wait().unwrap(),
            false => Some(child.wait().unwrap()),
        };
        if status.is_none() {
            kills += 1;
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for event in events(&fs::read_to_string(&output).unwrap()) {
            if event["event"] == "finished" {
                let number = event["game"].as_u64().unwrap();
                let before = reported.insert(number, event["result"].clone());
                assert!(before.is_none(), "game {number} was reported twice");
            }
        }
        if journal.exists() {
            let games = tournament.games();
            for (number, result) in &reported {
                assert_eq!(games[number]["result"], *result, "game {number} was lost");
            }
        }
        if let Some(status) = status {
            assert_eq!(status.code(), Some(0));
            break;
        }
    }
    kills
}

#[test]
fn fifty_kills_at_random_moments_change_nothing() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut kills = 0;
    let mut tournaments = 0;
    while kills < 50 {
        let schedule = ["round-robin", "swiss", "round-robin", "knockout"][tournaments % 4];
        let lines = format!(
            "schedule = {schedule:?}\ngames = 4\nseed = {tournaments}\nconcurrency = 2\n\
             openings = \"random:3\""
        );
        let undisturbed = TestTournament::of_eight(&lines);
        assert_eq!(undisturbed.crownhead("run", &[]).code, Some(0));
        let killed = TestTournament::of_eight(&lines);
        kills += kill_until_finished(&killed, &mut rng, 120_000, 50 - kills);
        assert_eq!(killed.standings(), undisturbed.standings(), "{schedule}");
        assert_eq!(killed.pdn(), undisturbed.pdn(), "{schedule}");
        assert_eq!(killed.state(), "finished");
        tournaments += 1;
    }
}

/// Creates a tournament of four bots: built-in players behind the bot protocol.
fn of_bots(lines: &str) -> TestTournament {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let players: Vec<String> = ["random", "level:1", "level:2", "minimax:1"]
        .iter()
        .zip(1..)
        .map(|(player, n)| {
            format!("{{ name = \"bot{n}\", player = \"cmd:{engine} engine {player}\" }}")
        })
        .collect();
    TestTournament::new(&format!(
        "game = \"english\"\nplayers = [{}]\nmovetime = \"10s\"\nconcurrency = 2\n{lines}",
        players.join(", ")
    ))
}

/// Environment variable with the number of kills in the test with bots.
const KILLS: &str = "CROWNHEAD_TEST_KILLS";

#[test]
fn kills_with_bots_leave_every_game_exactly_once() {
    let undisturbed = of_bots("games = 6\n");
    assert_eq!(undisturbed.crownhead("run", &[]).code, Some(0));
    let kills = std::env::var(KILLS).ok().map_or(15, |kills| kills.parse().unwrap());
    let mut rng = fastrand::Rng::with_seed(11);
    let mut killed = 0;
    // A tournament may finish before it was killed that often.
    while killed < kills {
        let tournament = of_bots("games = 6\n");
        killed += kill_until_finished(&tournament, &mut rng, 400_000, kills - killed);
        assert_eq!(tournament.standings(), undisturbed.standings());
        check_tournament_of_bots(&tournament);
    }
}

/// Checks that every game of a finished tournament was played once, and that no process is left.
fn check_tournament_of_bots(tournament: &TestTournament) {
    let folder = tournament.path().to_str().unwrap();
    let of_tournament = |pid: &str| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut processes = processes.filter_map(|entry| entry.file_name().into_string().ok());
    assert_eq!(processes.find(|pid| of_tournament(pid)), None, "a process is left");
    let games = tournament.games();
    assert_eq!(games.len(), 36);
    let mut pairs: BTreeMap<(String, String), u32> = BTreeMap::new();
    for game in games.values() {
        assert_eq!(game["state"], "finished");
        let name = |key: &str| game[key].as_str().unwrap().to_string();
        *pairs.entry((name("first"), name("second"))).or_default() += 1;
    }
    assert_eq!(pairs.len(), 12);
    assert!(pairs.values().all(|count| *count == 3), "{pairs:?}");
    let rows = tournament.standings();
    let points: u64 =
        rows.as_array().unwrap().iter().map(|row| row["points"].as_u64().unwrap()).sum();
    assert_eq!(points, 72, "two points per game");
}

#[test]
fn killed_bots_forfeit_and_every_game_counts_once() {
    let tournament = of_bots("games = 4\npolicy = \"forfeit\"\n");
    let mut command = tournament.command("run", &[]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id();
    let mut killed = BTreeSet::new();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        // Each thread has a list of its own children.
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let bot = children.split_whitespace().next().filter(|_| killed.len() < 6);
            if let Some(bot) = bot.filter(|bot| killed.insert(bot.to_string())) {
                let _ = Command::new("kill").args(["-KILL", bot]).status();
            }
        }
        std::thread::yield_now();
    };
    assert!(!killed.is_empty());
    let games = tournament.games();
    assert_eq!(games.len(), 24);
    assert!(games.values().all(|game| game["state"] == "finished"));
    let forfeits = games.values().filter(|game| !game["forfeit"].is_null());
    let reasons: BTreeSet<&str> = forfeits.clone().map(|g| g["reason"].as_str().unwrap()).collect();
    // A bot killed between two games is restarted and loses nothing.
    assert_eq!(code, Some(if forfeits.clone().count() > 0 { 4 } else { 0 }));
    // A bot killed while it starts has failed to start.
    let expected = BTreeSet::from(["crash", "end-of-output", "start"]);
    assert!(reasons.is_subset(&expected), "{reasons:?}");
    let rows = tournament.standings();
    let rows = rows.as_array().unwrap().iter();
    let counted: u64 = rows
        .flat_map(|row| row["forfeits"].as_object().unwrap().values())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(counted, forfeits.count() as u64);
}
