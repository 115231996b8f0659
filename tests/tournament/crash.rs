//! SIGKILL at random moments: no finished game is lost, replayed or counted twice, and the end is as if
//! nothing had happened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::harness::{TestTournament, events};

/// Kills runs of a tournament at random moments within so many microseconds, until it is finished or was
/// killed so many times, and lets it end; how often it was killed. After each time every game that was
/// told is there as it was told, and none was told twice.
fn kill_until_finished(
    tournament: &TestTournament,
    lots: &mut fastrand::Rng,
    within: u64,
    most: u32,
) -> u32 {
    let mut kills = 0;
    let mut told: BTreeMap<u64, Value> = BTreeMap::new();
    loop {
        // A run that was killed before it wrote anything must be begun again.
        let journal = tournament.path().join("class.journal");
        let verb = if journal.exists() { "resume" } else { "run" };
        let output = tournament.path().join("events");
        let mut command = tournament.command(verb, &["--json"]);
        command.stdout(fs::File::create(&output).unwrap()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // The moment is what is tested here; nothing waits for it to be long enough.
        std::thread::sleep(Duration::from_micros(lots.u64(..within)));
        let ended = match kills < most {
            true => child.try_wait().unwrap(),
            false => Some(child.wait().unwrap()),
        };
        if ended.is_none() {
            kills += 1;
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for event in events(&fs::read_to_string(&output).unwrap()) {
            if event["event"] == "finished" {
                let number = event["game"].as_u64().unwrap();
                let before = told.insert(number, event["result"].clone());
                assert!(before.is_none(), "game {number} was told twice");
            }
        }
        if journal.exists() {
            let games = tournament.games();
            for (number, result) in &told {
                assert_eq!(games[number]["result"], *result, "game {number} was lost");
            }
        }
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(0), "it ended by itself, after all games");
            break;
        }
    }
    kills
}

#[test]
fn fifty_kills_at_random_moments_leave_no_trace() {
    let mut lots = fastrand::Rng::with_seed(7);
    let mut kills = 0;
    let mut tournaments = 0;
    while kills < 50 {
        let schedule = ["round-robin", "swiss", "round-robin", "knockout"][tournaments % 4];
        let more = format!(
            "schedule = {schedule:?}\ngames = 4\nseed = {tournaments}\nconcurrency = 2\nopenings = \"random:3\""
        );
        let quiet = TestTournament::of_eight(&more);
        assert_eq!(quiet.tournament("run", &[]).code, Some(0));
        let disturbed = TestTournament::of_eight(&more);
        kills += kill_until_finished(&disturbed, &mut lots, 120_000, 50 - kills);
        assert_eq!(disturbed.standings(), quiet.standings(), "{schedule}");
        assert_eq!(disturbed.pdn(), quiet.pdn(), "every game, move by move");
        assert_eq!(disturbed.state(), "finished");
        tournaments += 1;
    }
}

/// Four programs: the built-in players behind the bot protocol.
fn of_programs(more: &str) -> TestTournament {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let players: Vec<String> = ["random", "level:1", "level:2", "minimax:1"]
        .iter()
        .zip(1..)
        .map(|(player, n)| {
            format!("{{ name = \"bot{n}\", player = \"cmd:{engine} engine {player}\" }}")
        })
        .collect();
    TestTournament::new(&format!(
        "game = \"english\"\nplayers = [{}]\nmovetime = \"10s\"\nconcurrency = 2\n{more}",
        players.join(", ")
    ))
}

#[test]
fn kills_with_real_bots_leave_every_game_exactly_once() {
    let tournament = of_programs("games = 6\n");
    let mut lots = fastrand::Rng::with_seed(11);
    kill_until_finished(&tournament, &mut lots, 400_000, 15);
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
    assert_eq!(points, 72, "two points for every game");
}

#[test]
fn bots_killed_from_outside_forfeit_by_name_and_every_game_is_counted_once() {
    let tournament = of_programs("games = 4\npolicy = \"forfeit\"\n");
    let mut command = tournament.command("run", &[]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id();
    let mut killed = BTreeSet::new();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        // Children may belong to any of its threads.
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let of_bot = children.split_whitespace().next().filter(|_| killed.len() < 6);
            if let Some(bot) = of_bot.filter(|bot| killed.insert(bot.to_string())) {
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
    // One that is killed between two games is started again and has lost nothing.
    assert_eq!(code, Some(if forfeits.clone().count() > 0 { 4 } else { 0 }));
    // One that is killed while it is being started was not started.
    let known = BTreeSet::from(["crash", "end-of-output", "start"]);
    assert!(reasons.is_subset(&known), "{reasons:?}");
    let rows = tournament.standings();
    let rows = rows.as_array().unwrap().iter();
    let counted: u64 = rows
        .flat_map(|row| row["forfeits"].as_object().unwrap().values())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(counted, forfeits.count() as u64);
}
