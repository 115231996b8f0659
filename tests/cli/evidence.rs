//! `rate`, `sprt` and `standings --ratings`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::harness::{command, crownhead, crownhead_in, finish};

const PDN: &str = "[Event \"a\"]\n[GameType \"21\"]\n[White \"Ada\"]\n[Black \"Bob\"]\n\
                   [Result \"1-0\"]\n\n1-0\n\n";

/// Games between three players, as PDN: every pair with results of all kinds and both colours.
fn pdn_games() -> String {
    let mut text = String::new();
    for (first, second, result, count) in [
        ("Ada", "Bob", "1-0", 5),
        ("Bob", "Ada", "0-1", 4),
        ("Ada", "Bob", "0-1", 2),
        ("Bob", "Ada", "1/2-1/2", 3),
        ("Bob", "Eve", "1-0", 4),
        ("Eve", "Bob", "1/2-1/2", 4),
        ("Eve", "Bob", "1-0", 2),
        ("Ada", "Eve", "1-0", 3),
        ("Eve", "Ada", "1-0", 1),
    ] {
        // Black moves first in English checkers.
        let game = PDN.replace("Ada", second).replace("[Black \"Bob\"]", "[Black \"-\"]");
        let game = game.replace("[Black \"-\"]", &format!("[Black \"{first}\"]"));
        text.push_str(&game.replace("1-0", result).repeat(count));
    }
    text
}

#[test]
fn rate_orders_players_of_pdn_files_and_anchors_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pdn"), pdn_games()).unwrap();
    let run = crownhead_in(folder.path(), &["rate", "games.pdn", "--anchor", "Bob=1500", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let names: Vec<_> = (0..3).map(|i| json["ratings"][i]["player"].as_str().unwrap()).collect();
    assert_eq!(names, ["Ada", "Bob", "Eve"]);
    assert_eq!(json["ratings"][1]["elo"], 1500.0);
    assert_eq!(json["games"], 28);
    assert!(json["ratings"][0]["los"]["Eve"].as_f64().unwrap() > 0.5);
    let unknown = crownhead_in(folder.path(), &["rate", "games.pdn", "--anchor", "Zoe"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("Ada, Bob"), "{unknown:?}");
}

#[test]
fn rate_reports_files_it_cannot_use() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.pdn"), "").unwrap();
    let empty = crownhead_in(folder.path(), &["rate", "empty.pdn"]);
    assert_eq!(empty.code, Some(1));
    assert!(empty.stderr.contains("no finished games"), "{empty:?}");
    assert_eq!(crownhead_in(folder.path(), &["rate", "missing.pdn"]).code, Some(1));
    assert_eq!(crownhead_in(folder.path(), &["rate", "."]).code, Some(1));
    // A game that cannot be read is reported; the others are rated.
    let invalid =
        pdn_games() + "[White \"Ada\"]\n[Black \"Bob\"]\n[Result \"1-0\"]\n\n1. 11-99 1-0\n";
    fs::write(folder.path().join("invalid.pdn"), invalid).unwrap();
    let run = crownhead_in(folder.path(), &["rate", "invalid.pdn", "--json"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stderr.contains("game 29: ") && run.stdout.contains("\"games\":28"), "{run:?}");
}

#[test]
fn rate_prints_no_control_characters_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let games = pdn_games().replace("Eve", "Eve\u{1b}[2J\u{202e}");
    fs::write(folder.path().join("games.pdn"), games).unwrap();
    let run = crownhead_in(folder.path(), &["rate", "games.pdn", "--los"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("Eve [2J"), "{run:?}");
    assert!(!run.stdout.contains(['\u{1b}', '\u{202e}']), "{run:?}");
}

/// Arguments of a test that level 4 against random decides quickly.
const SPRT: [&str; 12] = [
    "--game",
    "english",
    "--elo0",
    "0",
    "--elo1",
    "100",
    "--openings",
    "random:4",
    "--nodes",
    "200",
    "--concurrency",
    "2",
];

#[test]
fn sprt_accepts_the_stronger_player_and_rejects_the_weaker_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = |players: [&str; 2], more: &[&str]| {
        crownhead_in(folder.path(), &[&["sprt"], &players[..], &SPRT, more].concat())
    };
    let better = run(["alphabeta:3", "random"], &["--json"]);
    assert_eq!(better.code, Some(0), "{better:?}");
    let json: serde_json::Value = serde_json::from_str(&better.stdout).unwrap();
    assert_eq!(json["decision"], "H1");
    let announced = &better.announcements;
    assert_eq!(announced[0], "Playing an SPRT: alphabeta:3 against random …");
    assert!(announced[1].starts_with("Played "), "{announced:?}");
    assert!(json["llr"].as_f64().unwrap() >= json["bounds"][1].as_f64().unwrap());
    // The journal has the result: nothing is played, and the same command repeats it.
    let again = run(["alphabeta:3", "random"], &["--json"]);
    assert_eq!(again.stdout, better.stdout);
    let other = run(["random", "alphabeta:3"], &[]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("another test"), "{other:?}");
    let worse = run(["random", "alphabeta:3"], &["--journal", "worse.journal"]);
    assert_eq!(worse.code, Some(10), "{worse:?}");
    assert!(worse.stdout.contains("decision  H0 accepted"), "{worse:?}");
    // The journal is that of a tournament of two players.
    let ratings = crownhead_in(
        folder.path(),
        &["tournament", "standings", "worse.journal", "--ratings", "--json"],
    );
    let json: serde_json::Value = serde_json::from_str(&ratings.stdout).unwrap();
    assert_eq!(json["ratings"]["ratings"][0]["player"], "alphabeta:3");
    let rated = crownhead_in(folder.path(), &["rate", "worse.journal", "sprt.journal"]);
    assert_eq!(rated.code, Some(0), "{rated:?}");
}

#[test]
fn sprt_without_a_decision_exits_with_11_and_continues_with_more_games() {
    let folder = tempfile::tempdir().unwrap();
    let run = |games: &str| {
        let players = ["sprt", "alphabeta:3", "random"];
        let arguments = [&players[..], &SPRT, &["--max-games", games, "--json"]].concat();
        let run = crownhead_in(folder.path(), &arguments);
        (run.code, serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap())
    };
    let (code, json) = run("4");
    assert_eq!((code, &json["decision"]), (Some(11), &"undecided".into()));
    assert_eq!(json["games"], 4);
    // A lower limit than the games played: nothing more is played.
    let (code, json) = run("2");
    assert_eq!((code, &json["games"]), (Some(11), &4.into()));
    let (code, json) = run("1000");
    assert_eq!((code, &json["decision"]), (Some(0), &"H1".into()));
}

#[test]
fn sprt_killed_in_the_middle_has_the_result_of_an_undisturbed_one() {
    let run = |folder: &Path| {
        let arguments = ["sprt", "alphabeta:2", "alphabeta:2", "--game", "english"];
        let more = ["--elo1", "200", "--openings", "random:4", "--max-games", "60", "--json"];
        let mut command = command(&[&arguments[..], &more].concat());
        command.current_dir(folder);
        command
    };
    let [undisturbed, killed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = finish(&mut run(undisturbed.path()));
    let journal = killed.path().join("sprt.journal");
    for kill in 1..=3 {
        let mut child = run(killed.path()).stdout(Stdio::null()).spawn().unwrap();
        // Games that were finished before stay finished.
        while finished_games(&journal) < 2 * kill && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(finished_games(&journal) >= 2 * kill);
    }
    let resumed = finish(&mut run(killed.path()));
    assert_eq!((resumed.code, resumed.json()), (expected.code, expected.json()));
}

/// Number of finished games in a journal, which may not exist yet.
fn finished_games(journal: &Path) -> u32 {
    let count = |connection: rusqlite::Connection| {
        let sql = "SELECT count(*) FROM games WHERE finished IS NOT NULL";
        connection.query_row(sql, [], |row| row.get(0))
    };
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    rusqlite::Connection::open_with_flags(journal, flags).and_then(count).unwrap_or(0)
}

#[test]
fn adjudicated_games_are_recorded_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let play = |rules: &str| {
        let arguments = ["match", "alphabeta:3", "random", "--game", "english", "-n", "4"];
        let more = ["--pdn", "games.pdn", "--json", "--adjudicate", rules];
        let run = crownhead_in(folder.path(), &[&arguments[..], &more].concat());
        (run.json(), fs::read_to_string(folder.path().join("games.pdn")).unwrap())
    };
    let (json, pdn) = play("max-moves=6");
    assert_eq!(json["ends"]["adjudicated-length"], 4, "{json}");
    assert_eq!(json["adjudication"], "max-moves=6");
    assert!(pdn.contains("[Termination \"adjudicated-length\"]"), "{pdn}");
    assert!(pdn.contains("[Reason \"Adjudicated: draw, because the game reached"), "{pdn}");
    // The searching player reports scores; random reports none and so never resigns.
    let (json, _) = play("resign-score=1,resign-moves=1,draw-score=30000,draw-after=0");
    assert_eq!(json["ends"]["adjudicated-draw"], serde_json::Value::Null, "{json}");
    let invalid =
        crownhead(&["match", "random", "random", "--game", "english", "--adjudicate", "x"]);
    assert!(invalid.refused(2).contains("write it as draw-score=10"));
}

#[test]
fn openings_11man_are_generated_for_english_checkers() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["match", "random", "random", "--game", "english", "-n", "2"];
    let more = ["--openings", "ballots:11man", "--pdn", "games.pdn"];
    assert_eq!(crownhead_in(folder.path(), &[&arguments[..], &more].concat()).code, Some(0));
    let pdn = fs::read_to_string(folder.path().join("games.pdn")).unwrap();
    assert_eq!(pdn.matches("[FEN \"B:W2").count(), 2, "{pdn}");
    let help = crownhead(&["openings", "11man", "--help"]);
    assert!(help.printed().contains("default: 150000"), "as in the header of the shipped list");
}

#[test]
fn sprt_rejects_hypotheses_in_the_wrong_order() {
    let arguments = ["sprt", "random", "random", "--game", "english", "--elo0", "5", "--elo1", "5"];
    let run = crownhead(&arguments);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--elo1 must be greater"), "{run:?}");
}
