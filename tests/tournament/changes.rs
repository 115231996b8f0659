//! Contests that are other when they are taken up again.

use serde_json::json;

use crate::contest::Contest;

/// A finished contest of three.
fn three() -> Contest {
    let contest = Contest::new(
        "game = \"english\"\nplayers = [\"level:1\", \"random\", \"minimax:1\"]\nconcurrency = 1\n",
    );
    assert_eq!(contest.tournament("run", &[]).code, Some(0));
    contest
}

#[test]
fn what_concerns_nobody_changes_freely() {
    let contest = three();
    let before = contest.games();
    contest.change("concurrency = 1", "concurrency = 2\nname = \"Other\"\n[points]\nwin = 3");
    let resumed = contest.tournament("resume", &[]);
    assert_eq!((resumed.code, resumed.stderr.as_str()), (Some(0), ""), "{resumed:?}");
    assert_eq!(contest.games(), before);
    let rows = contest.standings();
    let row = &rows[0];
    let points = 3 * row["wins"].as_u64().unwrap() + row["draws"].as_u64().unwrap();
    assert_eq!(row["points"], points, "{row}");
}

#[test]
fn a_changed_player_is_explained_and_its_games_are_kept_or_replayed() {
    let contest = three();
    let before = contest.games();
    contest.change("\"random\"", "{ name = \"random\", player = \"level:2\" }");
    let told = contest.tournament("resume", &[]);
    let told = told.refused(2);
    assert!(told.contains("changed: random was random, and is level:2"), "{told}");
    assert!(told.contains("this concerns 4 of 6 finished games"), "{told}");
    assert!(told.contains("--keep") && told.contains("--replay"), "{told}");
    assert_eq!(contest.games(), before, "nothing happens before the choice");
    let kept = contest.tournament("resume", &["--keep"]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert_eq!(contest.games(), before);
    contest.change("level:2", "level:3");
    let replayed = contest.tournament("resume", &["--replay"]);
    assert!(replayed.stderr.contains("4 games do not count any more"), "{replayed:?}");
    let after = contest.games();
    assert_eq!(after.len(), 6);
    for (number, game) in &before {
        let is_concerned = game["first"] == "random" || game["second"] == "random";
        assert_eq!(after[number] != *game, is_concerned, "game {number}");
    }
    assert_eq!(contest.tournament("resume", &[]).stderr, "", "it is known now");
}

#[test]
fn a_changed_bot_is_noticed_by_its_files() {
    let contest =
        Contest::new("game = \"english\"\nplayers = [\"random\", \"./bot\", \"level:1\"]\n");
    let engine = env!("CARGO_BIN_EXE_crownhead");
    contest.write("bot/bot.toml", "command = \"sh bot.sh\"");
    contest.write("bot/bot.sh", &format!("exec {engine} engine random\n"));
    contest.write("bot/__pycache__/x.pyc", "1");
    assert_eq!(contest.tournament("run", &[]).code, Some(0));
    contest.write("bot/__pycache__/x.pyc", "2");
    assert_eq!(contest.tournament("resume", &[]).code, Some(0), "leavings are not the bot");
    contest.write("bot/bot.sh", &format!("exec {engine} engine level:1\n"));
    let told = contest.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: bot: bot.sh has changed"), "{told:?}");
    let replayed = contest.tournament("resume", &["--replay"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    assert_eq!(contest.finished().len(), 6);
}

#[test]
fn a_player_may_join_and_leave_a_round_robin() {
    let contest = three();
    let before = contest.games();
    contest.change("\"minimax:1\"]", "\"minimax:1\", \"level:2\"]");
    let joined = contest.tournament("resume", &[]);
    assert_eq!(joined.code, Some(0), "{joined:?}");
    assert!(joined.stderr.contains("changed: level:2 is new"), "{joined:?}");
    let games = contest.games();
    assert_eq!(games.len(), 12);
    assert!(before.iter().all(|(number, game)| games[number] == *game), "old games stand");
    contest.change("\"random\", ", "");
    assert_eq!(contest.tournament("resume", &[]).code, Some(2), "a choice is needed");
    contest.tournament("resume", &["--keep"]);
    assert_eq!(contest.games().len(), 12, "who left keeps what was played");
    contest.change("\"level:1\"", "\"random\", \"level:1\"");
    contest.tournament("resume", &["--keep"]);
    contest.change("\"random\", ", "");
    contest.tournament("resume", &["--replay"]);
    assert_eq!(contest.games().len(), 6, "or does not");
    assert_eq!(contest.standings().as_array().unwrap().len(), 3);
}

#[test]
fn games_of_one_player_can_be_played_again() {
    let contest = three();
    let before = contest.games();
    let resumed = contest.tournament("resume", &["--replay-player", "random"]);
    assert!(resumed.stderr.contains("4 games do not count any more"), "{resumed:?}");
    let after = contest.games();
    let result = |game: &serde_json::Value| (game["result"].clone(), game["plies"].clone());
    for (number, game) in &before {
        assert_eq!(result(game), result(&after[number]), "the same seed, the same game");
    }
    let named = contest.tournament("resume", &["--replay-player", "nobody"]);
    assert!(named.refused(2).contains("there is no player \"nobody\""));
}

#[test]
fn replayed_games_of_a_swiss_contest_take_later_rounds_with_them() {
    let contest = Contest::of_eight("schedule = \"swiss\"\nrounds = 3");
    assert_eq!(contest.tournament("run", &[]).code, Some(0));
    let table = contest.standings();
    contest.change("\"level:1\", ", "{ name = \"level:1\", player = \"level:4\" }, ");
    let told = contest.tournament("resume", &["--replay"]);
    assert!(told.stderr.contains("9 games do not count any more"), "1 and two rounds: {told:?}");
    let status = contest.tournament("status", &["--json"]).json();
    assert_eq!((&status["finished"], &status["rounds"]), (&json!(12), &json!(3)));
    contest.change("level:4", "level:1");
    contest.tournament("resume", &["--replay"]);
    assert_eq!(contest.standings(), table, "as if nothing had been");
    contest.change("\"random\", ", "");
    let told = contest.tournament("resume", &["--keep"]);
    assert!(told.refused(2).contains("cannot be kept"), "{told:?}");
}

#[test]
fn more_rounds_of_a_swiss_contest_may_follow() {
    let contest = Contest::of_eight("schedule = \"swiss\"\nrounds = 2");
    contest.tournament("run", &[]);
    let before = contest.games();
    contest.change("rounds = 2", "rounds = 4");
    assert_eq!(contest.tournament("resume", &[]).code, Some(0));
    let games = contest.games();
    assert_eq!((before.len(), games.len()), (8, 16));
    assert!(before.iter().all(|(number, game)| games[number] == *game));
}
