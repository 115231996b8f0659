//! `crownhead match`.

use std::fs;

use crownhead_records::{MoveData, Reader};
use crownhead_rules::Side;
use serde_json::{Value, json};

use crate::harness::{Finished, command, crownhead, crownhead_in, finish};

/// Plays a match between two fast players whose games depend on the seed.
fn play(args: &[&str]) -> Finished {
    crownhead(&[&["match", "level:2", "random", "--game", "english"], args].concat())
}

/// Returns the JSON of a match without the keys that depend on time.
fn timeless_json(finished: &Finished) -> Value {
    let mut object = finished.json();
    for key in ["slowest_ms", "cpu_seconds", "seconds"] {
        assert!(object.as_object_mut().unwrap().remove(key).is_some(), "{object}");
    }
    object
}

#[test]
fn report_shows_the_result_with_error_bars() {
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
        "LOS       ",
        "ends      ",
        "length    ",
        "timeouts  level:2 0, random 0",
        "slowest   level:2 ",
    ];
    assert_eq!(lines.len(), 2 + starts.len(), "{lines:?}");
    for (line, start) in lines[2..].iter().zip(starts) {
        assert!(line.starts_with(start), "{line:?} does not start with {start:?}");
    }
    assert!(lines[5].ends_with("(95 %, from 5 pairs)"), "{}", lines[5]);
}

#[test]
fn json_counts_add_up() {
    let object = play(&["-n", "12", "--json"]).json();
    let games = |wdl: &Value| -> u64 {
        ["wins", "draws", "losses"].iter().map(|key| wdl[key].as_u64().unwrap()).sum()
    };
    assert_eq!(object["players"], json!(["level:2", "random"]));
    assert_eq!((object["games"].as_u64(), games(&object["result"])), (Some(12), 12));
    assert_eq!((games(&object["first"]), games(&object["second"])), (6, 6), "both colours");
    let ends: u64 = object["ends"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(ends, 12);
    assert!(object["error"].as_f64().is_some_and(|error| error >= 0.0), "{object}");
    assert!(object["los"].as_f64().is_some_and(|los| (0.0..=1.0).contains(&los)), "{object}");
    assert_eq!(object["incidents_omitted"], 0);
    let pairs: Vec<u64> = serde_json::from_value(object["pairs"].clone()).unwrap();
    assert_eq!(pairs.iter().sum::<u64>(), 6);
    let half_points: u64 = pairs.iter().zip(0..).map(|(count, points)| count * points).sum();
    assert_eq!(object["score"].as_f64(), Some(half_points as f64 / 24.0));
    assert_eq!(object["score"], object["result"]["score"]);
    assert_eq!(object["timeouts"], json!([0, 0]));
}

#[test]
fn result_depends_on_the_seed_but_not_on_concurrency() {
    for game in ["english", "contest", "capture-halma"] {
        let play = |args: &[&str]| {
            let players = ["match", "level:3", "best:hash=1", "--game", game];
            let options = ["-n", "4", "--nodes", "300", "--json"];
            timeless_json(&crownhead(&[&players, &options, args].concat()))
        };
        let sequential = play(&["--seed", "9"]);
        assert_eq!(sequential["players"][1], "best:hash=1,nodes=300");
        assert_eq!(sequential, play(&["--seed", "9", "--concurrency", "4"]), "{game}");
        assert_ne!(sequential, play(&["--seed", "10"]), "{game}");
    }
}

#[test]
fn games_are_written_as_legal_pdn() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["match", "random", "level:1", "--game", "contest", "-n", "6"];
    let more = ["--pdn", "games.pdn", "--concurrency", "3"];
    crownhead_in(folder.path(), &[&args[..], &more].concat()).printed();
    let games = fs::read_to_string(folder.path().join("games.pdn")).unwrap();
    assert_eq!(games.matches("[Black \"random\"]").count(), 3);
    assert_eq!(games.matches("[White \"random\"]").count(), 3);
    let rounds: Vec<_> = games.lines().filter(|line| line.starts_with("[Round")).collect();
    let expected = ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"].map(|n| format!("[Round \"{n}\"]"));
    assert_eq!(rounds, expected, "sorted, not in the order in which they ended");
    let check = crownhead_in(folder.path(), &["pdn", "check", "games.pdn", "--json"]);
    assert_eq!(check.json()["files"][0]["games"], 6, "{check:?}");
}

#[test]
fn pdn_of_a_match_has_date_clock_times_scores_and_depths() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["match", "level:3", "random", "--game", "english", "-n", "2", "--pdn", "games.pdn"];
    for (time, tag) in [
        (&["--time", "60+1"][..], Some("60s+1s")),
        (&["--movetime", "60s"], Some("60s per move")),
        (&[], None),
    ] {
        crownhead_in(folder.path(), &[&args[..], time].concat()).printed();
        let games = Reader::new(fs::File::open(folder.path().join("games.pdn")).unwrap());
        for game in games.map(Result::unwrap) {
            let date = game.tag("Date").unwrap();
            assert!(date.starts_with("20") && date.len() == "2026.11.18".len(), "{date}");
            assert_eq!(game.tag("TimeControl"), tag);
            let (opening, played) = game.line.plies.split_at(6);
            assert!(opening.iter().all(|ply| ply.comment.is_none()), "nobody thought about it");
            let random = usize::from(game.player(Side::Second) == Some("random"));
            let mut evals = 0;
            for (index, ply) in played.iter().enumerate() {
                let MoveData { clock, elapsed, eval } = ply.data();
                assert_eq!(clock.is_some(), tag == Some("60s+1s"));
                assert_eq!(elapsed.is_some(), tag == Some("60s per move"));
                assert!(eval.is_none_or(|eval| eval.depth.is_some() && index % 2 != random));
                evals += u32::from(eval.is_some());
            }
            assert!(evals > 0);
        }
    }
}

#[test]
fn openings_come_from_random_moves_a_file_or_the_ballots() {
    let folder = tempfile::tempdir().unwrap();
    let play = |openings: &str| {
        let args = ["match", "random", "random", "--game", "english", "-n", "4", "--pdn", "g.pdn"];
        crownhead_in(folder.path(), &[&args[..], &["--openings", openings]].concat()).printed();
        fs::read_to_string(folder.path().join("g.pdn")).unwrap()
    };
    fs::write(folder.path().join("list"), "# two\nB:W25,27:B1,3\n11-15 23-19\n").unwrap();
    let games = play("list");
    assert_eq!(games.matches("[FEN \"B:W25,27:B1,3\"]").count(), 2, "{games}");
    assert_eq!(games.matches("1. 11-15 23-19").count(), 2, "{games}");
    for openings in ["ballots", "ballots:crossboard", "random:3"] {
        let games = play(openings);
        let lines: Vec<_> = games.lines().filter(|line| line.starts_with("1. ")).collect();
        let opening = |game: usize| lines[game].split(' ').take(4).collect::<Vec<_>>();
        assert_eq!((opening(0), opening(2)), (opening(1), opening(3)), "{openings}: {lines:?}");
    }
}

#[test]
fn invalid_arguments_are_refused_with_an_explanation() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad"), "11-15\n11-15 11-15\n").unwrap();
    fs::write(folder.path().join("empty"), "# nothing\n").unwrap();
    for (args, code, expected) in [
        (&["-n", "3"][..], 2, "played with both colours; try -n 4"),
        (&["-n", "0"], 2, "0 is not in 1.."),
        (&["--movetime", "5"], 2, "a time is written 100ms, 2s or 1.5s"),
        (&["--time", "5m"], 2, "a time control is written 5+3"),
        (&["--time", "5+3", "--nodes", "9"], 2, "cannot be used with"),
        (&["--openings", "random:99"], 2, "with 0 to 40 plies"),
        (&["--openings", "missing"], 1, "cannot read the openings \"missing\""),
        (&["--openings", "missing"], 1, "ballots:11man or a file"),
        (&["--openings", "bad"], 3, "bad, line 2: move 2, 11-15: "),
        (&["--openings", "empty"], 3, "empty, no openings"),
        (&["--concurrency", "0"], 2, "0 is not in 1.."),
        (&["--pdn", "no/such/folder"], 1, "cannot write no/such/folder"),
    ] {
        let start = ["match", "random", "random", "--game", "english", "-n", "2"];
        let start = if args[0] == "-n" { &start[..5] } else { &start[..] };
        let finished = crownhead_in(folder.path(), &[start, args].concat());
        let message = finished.refused(code);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    let chinese = ["match", "random", "random", "--game", "chinese-checkers"];
    let finished = crownhead(&[&chinese[..], &["--openings", "ballots"]].concat());
    assert!(finished.refused(2).contains("ballots are openings of english"));
    let finished = crownhead(&["match", "random", "grandmaster", "--game", "english"]);
    assert!(finished.refused(2).contains("built-in players: random, minimax:DEPTH"));
}

#[test]
fn missing_table_is_reported_once_and_the_match_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let play = |players: [&str; 2]| {
        let options = ["--game", "chinese-checkers", "-n", "2", "--json"];
        let args = [&["match"][..], &players, &options].concat();
        finish(command(&args).env("CROWNHEAD_CACHE", folder.path()))
    };
    let finished = play(["level:1", "level:2"]);
    assert_eq!(finished.json()["games"], 2);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    let command = "`crownhead tables build chinese-checkers`";
    assert!(finished.stderr.contains(command), "{}", finished.stderr);
    let without_tables = play(["random", "random"]);
    assert_eq!(without_tables.stderr, "", "neither player uses it");
    let announcements = &without_tables.announcements;
    assert_eq!(announcements[0], "Playing 2 games: random against random …");
    assert!(announcements[1].starts_with("Played 2 games in "), "{announcements:?}");
    fs::write(folder.path().join("chinese-checkers-solo.table"), "nonsense").unwrap();
    let finished = play(["level:1", "level:2"]);
    assert_eq!(finished.json()["games"], 2);
    assert!(finished.stderr.contains("is not a valid table"), "{}", finished.stderr);
    assert_eq!(finished.stderr.matches(command).count(), 1, "{}", finished.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn match_interrupted_in_its_first_game_does_not_overwrite_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pdn");
    fs::write(&path, "1. 11-15 *\n").unwrap();
    let args = ["match", "best", "best", "--game", "english", "-n", "2"];
    let more = ["--movetime", "3600s", "--pdn", "games.pdn"];
    let mut command = command(&[&args[..], &more].concat());
    command.current_dir(folder.path());
    let finished = crate::harness::interrupt(command);
    assert_eq!(finished.code, Some(130), "{finished:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "1. 11-15 *\n");
}

#[cfg(unix)]
#[test]
fn interrupted_match_reports_the_score_so_far() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let options = ["--game", "chinese-checkers", "-n", "10000000", "--json"];
    let mut command = command(&[&["match", "level:1", "level:1"][..], &options].concat());
    command.env("CROWNHEAD_CACHE", folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The message about the missing table shows that the match has started.
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    finish(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["interrupted"], true);
    assert!(object["games"].as_u64().unwrap() < 10_000_000);
}
