//! The commands, one by one.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::harness::{TestTournament, events};
use crate::run::crownhead_in;

#[test]
fn new_writes_a_contest_that_runs_and_never_over_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let new = crownhead_in(folder.path(), &["tournament", "new", "class.toml"]);
    assert!(new.printed().contains("crownhead tournament run class.toml"));
    let again = crownhead_in(folder.path(), &["tournament", "new", "class.toml"]);
    assert!(again.refused(1).contains("class.toml is there already"));
    let run = crownhead_in(folder.path(), &["tournament", "run", "class.toml"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stdout.starts_with("class: capture-halma, round-robin, 12 games\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_bad_contest_file_is_refused_with_places_and_suggestions() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\"]\nshedule = \"swiss\"\n");
    let told = tournament.tournament("run", &[]);
    let told = told.refused(3);
    assert!(
        told.contains("class.toml, line 3, column 1: there is no key \"shedule\"; did you mean")
    );
    assert!(told.contains("class.toml, line 2, column 11: a contest needs two players"), "{told}");
    assert!(!tournament.path().join("class.journal").exists());
}

#[test]
fn the_table_is_the_same_on_every_run_at_any_concurrency() {
    let mut tables = BTreeSet::new();
    for concurrency in [1, 3, 4] {
        for schedule in ["round-robin", "swiss"] {
            let more = format!(
                "concurrency = {concurrency}\nseed = 5\nschedule = {schedule:?}\nopenings = \"random:4\""
            );
            let tournament = TestTournament::of_eight(&more);
            let run = tournament.tournament("run", &[]);
            assert_eq!(run.code, Some(0), "{run:?}");
            tables.insert((schedule, run.stdout, tournament.pdn()));
        }
    }
    assert_eq!(tables.len(), 2, "one of each schedule");
}

#[test]
fn events_tell_the_whole_contest() {
    let tournament = TestTournament::of_eight("schedule = \"knockout\"\nconcurrency = 2");
    let run = tournament.tournament("run", &["--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let events = events(&run.stdout);
    assert!(events.iter().all(|event| event["version"] == 1));
    assert_eq!(events[0]["event"], "contest");
    assert_eq!(events[0]["players"].as_array().unwrap().len(), 8);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let games: u64 = of("round").iter().map(|round| round["games"].as_u64().unwrap()).sum();
    assert_eq!((of("started").len() as u64, of("finished").len() as u64), (games, games));
    assert_eq!(of("round")[0]["title"], "quarter-finals");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["how"]), (&json!("ended"), &json!("finished")));
    let champion = &last["standings"][0]["player"];
    let of_final = of("finished").into_iter().rfind(|game| !game["winner"].is_null()).unwrap();
    assert_eq!(&of_final["winner"], champion);
    assert_eq!(tournament.standings(), last["standings"]);
}

#[test]
fn every_schedule_is_played_to_its_end() {
    for (schedule, games, more) in [
        ("gauntlet", 14, "challengers = [\"random\"]"),
        ("swiss", 12, "rounds = 3"),
        ("ladder", 14 + 14, "rounds = 4"),
    ] {
        let more = format!("schedule = {schedule:?}\n{more}\nconcurrency = 2");
        let tournament = TestTournament::of_eight(&more);
        let run = tournament.tournament("run", &[]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(tournament.finished().len(), games, "{schedule}");
        let status = tournament.tournament("status", &["--json"]).json();
        assert_eq!(status["planned"], games, "{schedule}");
        assert_eq!((&status["state"], &status["seconds_left"]), (&json!("finished"), &json!(null)));
    }
}

#[test]
fn an_odd_number_of_players_has_byes_that_count() {
    let text = "game = \"english\"\nschedule = \"swiss\"\nrounds = 3\n\
                players = [\"level:1\", \"level:2\", \"random\"]";
    let tournament = TestTournament::new(text);
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let rows = tournament.standings();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| row["byes"] == 1 && row["games"] == 2), "{rows:?}");
    assert!(run.stdout.contains("byes: random: 1"), "{}", run.stdout);
}

#[test]
fn a_tied_knockout_exchanges_colours_and_says_that_the_seed_decided() {
    let tournament = TestTournament::new(
        "game = \"english:draw-plies=2\"\nplayers = [\"level:1\", \"level:2\"]\n\
         schedule = \"knockout\"\ngames = 1\ncolours = \"balanced\"\nreplays = 3\n",
    );
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let firsts: Vec<_> =
        tournament.games().into_values().map(|game| game["first"].clone()).collect();
    assert_eq!(firsts, ["level:1", "level:2", "level:1", "level:2"]);
    let lines = run.stderr.lines().filter_map(|line| line.split("  ").next()?.split_once('/'));
    assert_eq!(lines.collect::<Vec<_>>(), [("1", "1"), ("2", "2"), ("3", "3"), ("4", "4")]);
    let remark = "final: level:1 and level:2 stayed even; level:1 went on as the better seed";
    assert!(run.stdout.contains(remark), "{}", run.stdout);
    let rows = tournament.standings();
    assert_eq!(rows[1]["out_by_seed"], json!({ "round": "final", "winner": "level:1" }));
    assert_eq!(rows[0]["out_by_seed"], json!(null));
}

#[test]
fn a_contest_file_that_is_no_text_is_bad_input() {
    let tournament = TestTournament::new("");
    let text = b"game = \"english\"\nname = \"caf\xe9\"\n";
    fs::write(tournament.path().join("class.toml"), text).unwrap();
    let told = tournament.tournament("run", &[]);
    assert!(
        told.refused(3).contains("class.toml, line 2, column 12: the byte 0xe9 is no UTF-8"),
        "{told:?}"
    );
}

#[test]
fn tables_keep_their_columns_whatever_script_names_are_in() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [{ name = \"猫猫\", player = \"random\" }, \"level:1\"]\n",
    );
    let run = tournament.tournament("run", &[]);
    assert!(run.stdout.contains("rank  player   points"), "{}", run.stdout);
    // Each of the two letters is as wide as two others: five places to the next column, and points.
    let row = run.stdout.lines().find(|line| line.contains("猫猫")).unwrap();
    let rest = row.split("猫猫").nth(1).unwrap();
    assert_eq!(rest.find(|letter| letter != ' '), Some(5 + 5), "{}", run.stdout);
}

#[test]
fn games_are_listed_and_shown_with_their_moves() {
    let tournament = TestTournament::of_eight("schedule = \"gauntlet\"");
    tournament.tournament("run", &[]);
    let all = tournament.tournament("games", &[]);
    assert_eq!(all.printed().lines().count(), 15);
    let few = tournament.tournament("games", &["--player", "random"]);
    assert_eq!(few.printed().lines().count(), 3);
    let one = tournament.tournament("games", &["1", "--json"]).json();
    let one = &one["games"][0];
    let plies = one["moves"].as_array().unwrap().len();
    assert_eq!(one["plies"], plies);
    assert_eq!(one["milliseconds"].as_array().unwrap().len(), plies);
    let text = tournament.tournament("games", &["1"]);
    assert!(text.printed().contains("\nmoves     "), "{}", text.stdout);
    assert!(tournament.tournament("games", &["99"]).refused(2).contains("there is no game 99"));
    let other = tournament.tournament("games", &["1", "--player", "random"]);
    assert!(other.refused(2).contains("game 1 is none of those asked for"));
    let named = tournament.tournament("games", &["--player", "nobody"]);
    assert!(named.refused(2).contains("there is no player \"nobody\""));
    tournament.pdn();
    let check = crownhead_in(tournament.path(), &["pdn", "check", "games.pdn"]);
    assert!(check.printed().contains("14 games"), "{}", check.stdout);
}

#[test]
fn a_bot_that_cannot_be_started_forfeits_and_the_contest_goes_on() {
    let text = "game = \"english\"\nsubmissions = \"bots\"\nplayers = [\"random\"]\n";
    let tournament = TestTournament::new(text);
    tournament.write("bots/gone/bot.toml", "command = \"./nothing\"");
    tournament.write("bots/unbuilt/bot.toml", "command = \"true\"\nbuild = \"false\"");
    tournament.write("bots/wrong/bot.toml", "comand = \"true\"");
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(4), "a bot forfeited: {run:?}");
    assert!(run.stderr.contains("wrong takes part, but cannot play"), "{run:?}");
    assert!(run.stdout.contains("forfeits: gone: start "), "{}", run.stdout);
    let rows = tournament.standings();
    assert_eq!((&rows[0]["player"], &rows[0]["points"]), (&json!("random"), &json!(12)));
    let unbuilt = tournament.tournament("games", &["--player", "unbuilt", "--forfeits"]);
    assert!(unbuilt.printed().contains("start"), "{}", unbuilt.stdout);
    let game = tournament.tournament("games", &["1"]);
    assert!(game.stdout.contains("By the policy forfeit, the game is lost"), "{}", game.stdout);
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let tournament = TestTournament::of_eight("");
    assert!(tournament.tournament("status", &[]).refused(1).contains("has not been run"));
    assert!(tournament.tournament("resume", &[]).refused(1).contains("no journal class.journal"));
    let path = tournament.write("class.journal", "not a database, but long enough to be looked at");
    assert!(tournament.tournament("status", &[]).refused(3).contains("is no journal of a contest"));
    let told = tournament.tournament("run", &[]);
    assert!(told.refused(3).contains("is no journal of a contest: put it away"), "{told:?}");
    assert_eq!(fs::read_to_string(path).unwrap().len(), 47);
}
