//! `crownhead match`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Finished, command, crownhead, crownhead_in, finish};

/// Two quick players that make different games with every seed.
fn play(more: &[&str]) -> Finished {
    crownhead(&[&["match", "level:2", "random", "--game", "english"], more].concat())
}

/// The JSON of a match without what depends on time.
fn result(finished: &Finished) -> Value {
    let mut object = finished.json();
    for key in ["slowest_ms", "cpu_seconds", "seconds"] {
        assert!(object.as_object_mut().unwrap().remove(key).is_some(), "{object}");
    }
    object
}

#[test]
fn the_result_is_told_with_error_bars() {
    let finished = play(&["-n", "10"]);
    let lines: Vec<_> = finished.printed().lines().collect();
    assert_eq!(lines[0], "level:2 against random, english, no time limit");
    assert_eq!(lines[1], "games     10, openings random:6, seed 1");
    let starts = [
        "result    +",
        "as Black  +",
        "as White  +",
        "score     ",
        "pairs     0: ",
        "Elo       ",
        "stronger  level:2, with a likelihood of ",
        "ends      ",
        "length    ",
        "late      level:2 0, random 0",
        "slowest   level:2 ",
    ];
    assert_eq!(lines.len(), 2 + starts.len(), "{lines:?}");
    for (line, start) in lines[2..].iter().zip(starts) {
        assert!(line.starts_with(start), "{line} should start with {start}");
    }
    assert!(lines[5].ends_with("(95 %, from 5 pairs)"), "{}", lines[5]);
}

#[test]
fn the_numbers_of_a_match_add_up() {
    let object = play(&["-n", "12", "--json"]).json();
    let games = |part: &Value| -> u64 {
        ["wins", "draws", "losses"].iter().map(|key| part[key].as_u64().unwrap()).sum()
    };
    assert_eq!(object["players"], json!(["level:2", "random"]));
    assert_eq!((object["games"].as_u64(), games(&object["result"])), (Some(12), 12));
    assert_eq!((games(&object["first"]), games(&object["second"])), (6, 6), "both colours");
    let ends: u64 = object["ends"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(ends, 12);
    assert!(object["error"].as_f64().is_some_and(|error| error >= 0.0), "{object}");
    let pairs: Vec<u64> = serde_json::from_value(object["pairs"].clone()).unwrap();
    assert_eq!(pairs.iter().sum::<u64>(), 6);
    let half_points: u64 = pairs.iter().zip(0..).map(|(count, points)| count * points).sum();
    assert_eq!(object["score"].as_f64(), Some(half_points as f64 / 24.0));
    assert_eq!(object["score"], object["result"]["score"]);
    assert_eq!(object["late"], json!([0, 0]));
}

#[test]
fn a_seed_decides_everything_and_games_at_once_decide_nothing() {
    for game in ["english", "contest", "capture-halma"] {
        let play = |more: &[&str]| {
            let start = ["match", "level:3", "best:hash=1", "--game", game];
            result(&crownhead(&[&start, &["-n", "4", "--nodes", "300", "--json"], more].concat()))
        };
        let alone = play(&["--seed", "9"]);
        assert_eq!(alone["players"][1], "best:hash=1,nodes=300");
        assert_eq!(alone, play(&["--seed", "9", "--concurrency", "4"]), "{game}");
        assert_ne!(alone, play(&["--seed", "10"]), "{game}");
    }
}

#[test]
fn the_games_can_be_kept_and_are_legal() {
    let folder = tempfile::tempdir().unwrap();
    let start =
        ["match", "random", "level:1", "--game", "contest", "-n", "6", "--pdn", "games.pdn"];
    let finished = crownhead_in(folder.path(), &[&start[..], &["--concurrency", "3"]].concat());
    finished.printed();
    let games = fs::read_to_string(folder.path().join("games.pdn")).unwrap();
    assert_eq!(games.matches("[Black \"random\"]").count(), 3);
    assert_eq!(games.matches("[White \"random\"]").count(), 3);
    let rounds: Vec<_> = games.lines().filter(|line| line.starts_with("[Round")).collect();
    let wanted = ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"].map(|n| format!("[Round \"{n}\"]"));
    assert_eq!(rounds, wanted, "in order, whoever finished first");
    let check = crownhead_in(folder.path(), &["pdn", "check", "games.pdn", "--json"]);
    assert_eq!(check.json()["files"][0]["games"], 6, "{check:?}");
}

#[test]
fn openings_come_from_random_moves_a_file_or_the_ballots() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |openings: &str| {
        let start = ["match", "random", "random", "--game", "english", "-n", "4", "--pdn", "g.pdn"];
        crownhead_in(folder.path(), &[&start[..], &["--openings", openings]].concat()).printed();
        fs::read_to_string(folder.path().join("g.pdn")).unwrap()
    };
    fs::write(folder.path().join("list"), "# two\nB:W25,27:B1,3\n11-15 23-19\n").unwrap();
    let games = kept("list");
    assert_eq!(games.matches("[FEN \"B:W25,27:B1,3\"]").count(), 2, "{games}");
    assert_eq!(games.matches("1. 11-15 23-19").count(), 2, "{games}");
    for openings in ["ballots", "ballots:crossboard", "random:3"] {
        let games = kept(openings);
        let starts: Vec<_> = games.lines().filter(|line| line.starts_with("1. ")).collect();
        let first = |index: usize| starts[index].split(' ').take(4).collect::<Vec<_>>();
        assert_eq!((first(0), first(2)), (first(1), first(3)), "{openings}: {starts:?}");
    }
}

#[test]
fn what_cannot_be_played_is_refused_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad"), "11-15\n11-15 11-15\n").unwrap();
    fs::write(folder.path().join("empty"), "# nothing\n").unwrap();
    for (more, code, complaint) in [
        (&["-n", "3"][..], 2, "the number of games must be even"),
        (&["-n", "0"], 2, "0 is not in 1.."),
        (&["--movetime", "5"], 2, "a time is written 100ms, 2s or 1.5s"),
        (&["--time", "5m"], 2, "a time control is written 5+3"),
        (&["--time", "5+3", "--nodes", "9"], 2, "cannot be used with"),
        (&["--openings", "random:99"], 2, "with 0 to 40 plies"),
        (&["--openings", "missing"], 1, "cannot read the openings \"missing\""),
        (&["--openings", "missing"], 1, "ballots:crossboard or a file"),
        (&["--openings", "bad"], 3, "bad, line 2: move 2, 11-15: "),
        (&["--openings", "empty"], 3, "empty, no openings"),
        (&["--concurrency", "0"], 2, "0 is not in 1.."),
        (&["--pdn", "no/such/folder"], 1, "no/such/folder could not be written"),
    ] {
        let start = ["match", "random", "random", "--game", "english", "-n", "2"];
        let start = if more[0] == "-n" { &start[..5] } else { &start[..] };
        let finished = crownhead_in(folder.path(), &[start, more].concat());
        let told = finished.refused(code);
        assert!(told.contains(complaint), "{more:?}: {told}");
    }
    let chinese = ["match", "random", "random", "--game", "chinese-checkers"];
    let finished = crownhead(&[&chinese[..], &["--openings", "ballots"]].concat());
    assert!(finished.refused(2).contains("ballots are openings of english"));
    let finished = crownhead(&["match", "random", "grandmaster", "--game", "english"]);
    assert!(finished.refused(2).contains("built-in players: random, minimax:DEPTH"));
}

#[test]
fn chinese_checkers_without_its_table_says_so_once_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let play = |players: [&str; 2]| {
        let more = ["--game", "chinese-checkers", "-n", "2", "--json"];
        let arguments = [&["match"][..], &players, &more].concat();
        finish(command(&arguments).env("CROWNHEAD_CACHE", folder.path()))
    };
    let finished = play(["level:1", "level:2"]);
    assert_eq!(finished.json()["games"], 2);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    let command = "`crownhead tables build chinese-checkers`";
    assert!(finished.stderr.contains(command), "{}", finished.stderr);
    assert_eq!(play(["random", "random"]).stderr, "", "nobody here would use it");
    fs::write(folder.path().join("chinese-checkers-solo.table"), "nonsense").unwrap();
    let finished = play(["level:1", "level:2"]);
    assert_eq!(finished.json()["games"], 2);
    assert!(finished.stderr.contains("is not a valid table"), "{}", finished.stderr);
    assert_eq!(finished.stderr.matches(command).count(), 1, "{}", finished.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_match_interrupted_in_its_first_game_leaves_earlier_games_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("games.pdn");
    fs::write(&kept, "1. 11-15 *\n").unwrap();
    let thinking = ["match", "best", "best", "--game", "english", "-n", "2"];
    let more = ["--movetime", "3600s", "--pdn", "games.pdn"];
    let mut command = command(&[&thinking[..], &more].concat());
    command.current_dir(folder.path());
    let finished = crate::harness::interrupt(command);
    assert_eq!(finished.code, Some(130), "{finished:?}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "1. 11-15 *\n");
}

#[cfg(unix)]
#[test]
fn an_interrupted_match_tells_the_score_so_far() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let more = ["--game", "chinese-checkers", "-n", "10000000", "--json"];
    let mut command = command(&[&["match", "level:1", "level:1"][..], &more].concat());
    command.env("CROWNHEAD_CACHE", folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The complaint about the table is the sign that it has begun.
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    finish(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["interrupted"], true);
    assert!(object["games"].as_u64().unwrap() < 10_000_000);
}
