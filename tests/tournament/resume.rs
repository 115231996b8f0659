//! Tournaments that are other when they are taken up again.

use std::fs;

use serde_json::json;

use crate::harness::TestTournament;
use crate::run::crownhead_in;

/// A bot that takes the first move there is.
const FIRST_MOVE: &str = "while read -r word rest; do
    case $word in
        crownhead | newgame) echo ready ;;
        turn) moves=${rest##*moves=}; moves=${moves%% *}; echo \"move ${moves%%,*}\" ;;
        quit) exit ;;
    esac
done
";

/// A finished tournament of three.
fn three() -> TestTournament {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [\"level:1\", \"random\", \"minimax:1\"]\nconcurrency = 1\n",
    );
    assert_eq!(tournament.tournament("run", &[]).code, Some(0));
    tournament
}

#[test]
fn what_concerns_nobody_changes_freely() {
    let tournament = three();
    let before = tournament.games();
    tournament.change("concurrency = 1", "concurrency = 2\nname = \"Other\"\n[points]\nwin = 3");
    let resumed = tournament.tournament("resume", &[]);
    assert_eq!((resumed.code, resumed.stderr.as_str()), (Some(0), ""), "{resumed:?}");
    assert_eq!(tournament.games(), before);
    let rows = tournament.standings();
    let row = &rows[0];
    let points = 3 * row["wins"].as_u64().unwrap() + row["draws"].as_u64().unwrap();
    assert_eq!(row["points"], points, "{row}");
}

#[test]
fn a_changed_player_is_explained_and_its_games_are_kept_or_replayed() {
    let tournament = three();
    let before = tournament.games();
    tournament.change("\"random\"", "{ name = \"random\", player = \"level:2\" }");
    let told = tournament.tournament("resume", &[]);
    let told = told.refused(2);
    assert!(told.contains("changed: random was random, and is level:2"), "{told}");
    assert!(told.contains("this concerns 4 of 6 finished games"), "{told}");
    assert!(told.contains("--keep") && told.contains("--replay"), "{told}");
    assert_eq!(tournament.games(), before, "nothing happens before the choice");
    let kept = tournament.tournament("resume", &["--keep"]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert_eq!(tournament.games(), before);
    tournament.change("level:2", "level:3");
    let replayed = tournament.tournament("resume", &["--replay"]);
    assert!(replayed.stderr.contains("4 games do not count any more"), "{replayed:?}");
    let after = tournament.games();
    assert_eq!(after.len(), 6);
    for (number, game) in &before {
        let is_concerned = game["first"] == "random" || game["second"] == "random";
        assert_eq!(after[number] != *game, is_concerned, "game {number}");
    }
    assert_eq!(tournament.tournament("resume", &[]).stderr, "", "it is known now");
}

#[test]
fn a_changed_bot_is_noticed_by_its_files() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"./bot\", \"level:1\"]\n");
    tournament.write("bot/bot.toml", "command = \"sh bot.sh\"");
    tournament.write("bot/bot.sh", FIRST_MOVE);
    tournament.write("bot/__pycache__/x.pyc", "1");
    assert_eq!(tournament.tournament("run", &[]).code, Some(0));
    tournament.write("bot/__pycache__/x.pyc", "2");
    assert_eq!(tournament.tournament("resume", &[]).code, Some(0), "leavings are not the bot");
    tournament.write("bot/more.sh", "");
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: bot: more.sh is new"), "{told:?}");
    tournament.write("bot/bot.sh", &format!("# better\n{FIRST_MOVE}"));
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: bot: bot.sh has changed, and 1 more"), "{told:?}");
    let replayed = tournament.tournament("resume", &["--replay"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    assert_eq!(tournament.finished().len(), 6);
}

#[test]
fn a_player_may_join_and_leave_a_round_robin() {
    let tournament = three();
    let before = tournament.games();
    tournament.change("\"minimax:1\"]", "\"minimax:1\", \"level:2\"]");
    let joined = tournament.tournament("resume", &[]);
    assert_eq!(joined.code, Some(0), "{joined:?}");
    assert!(joined.stderr.contains("changed: level:2 is new"), "{joined:?}");
    let games = tournament.games();
    assert_eq!(games.len(), 12);
    assert!(before.iter().all(|(number, game)| games[number] == *game), "old games stand");
    tournament.change("\"random\", ", "");
    assert_eq!(tournament.tournament("resume", &[]).code, Some(2), "a choice is needed");
    tournament.tournament("resume", &["--keep"]);
    assert_eq!(tournament.games().len(), 12, "who left keeps what was played");
    tournament.change("\"level:1\"", "\"random\", \"level:1\"");
    tournament.tournament("resume", &["--keep"]);
    tournament.change("\"random\", ", "");
    tournament.tournament("resume", &["--replay"]);
    assert_eq!(tournament.games().len(), 6, "or does not");
    assert_eq!(tournament.standings().as_array().unwrap().len(), 3);
}

/// What was played, in the order of the games.
fn played(tournament: &TestTournament) -> Vec<[serde_json::Value; 4]> {
    let keys = ["first", "second", "result", "plies"];
    tournament.games().into_values().map(|game| keys.map(|key| game[key].clone())).collect()
}

#[test]
fn a_contest_that_is_replayed_as_a_whole_is_as_one_that_begins() {
    let text = "game = \"english\"\ncolours = \"random\"\nseed = 1\ngames = 1\nopenings = \"random:4\"\n\
                players = [\"level:1\", \"level:2\", \"level:3\", \"random\", \"minimax:1\"]\n";
    let tournament = TestTournament::new(text);
    tournament.tournament("run", &[]);
    for (from, to) in [("\"random\"\nseed", "\"balanced\"\nseed"), ("seed = 1", "seed = 2")] {
        tournament.change(from, to);
        let resumed = tournament.tournament("resume", &["--replay"]);
        assert!(resumed.stderr.contains("10 games do not count any more"), "{resumed:?}");
        let fresh =
            TestTournament::new(&fs::read_to_string(tournament.path().join("class.toml")).unwrap());
        fresh.tournament("run", &[]);
        assert_eq!(played(&tournament), played(&fresh), "{to}");
        assert_eq!(tournament.standings(), fresh.standings(), "{to}");
    }
}

#[test]
fn finished_games_too_many_are_kept_or_dropped_as_one_says() {
    let tournament = three();
    tournament.change("concurrency = 1", "games = 1");
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("this concerns 3 of 6 finished games"), "{told:?}");
    assert_eq!(tournament.tournament("resume", &["--keep"]).code, Some(0));
    assert_eq!(tournament.games().len(), 6);
    let status = tournament.tournament("status", &["--json"]).json();
    assert_eq!((&status["planned"], &status["finished"]), (&json!(6), &json!(6)));
    tournament.change("games = 1", "games = 2");
    assert_eq!(tournament.tournament("resume", &[]).code, Some(0), "none is too many");
    tournament.change("games = 2", "games = 1");
    assert_eq!(tournament.tournament("resume", &["--replay"]).code, Some(0));
    let rows = tournament.standings();
    assert!(rows.as_array().unwrap().iter().all(|row| row["games"] == 2), "{rows}");
    // A gauntlet of the first player has no use for the game of the others.
    tournament.change("games = 1", "games = 1\nschedule = \"gauntlet\"");
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("this concerns 1 of 3 finished games"), "{told:?}");
    tournament.tournament("resume", &["--replay"]);
    assert_eq!(tournament.games().len(), 2);
}

#[test]
fn whoever_leaves_or_joins_a_swiss_contest_does_so() {
    let tournament = TestTournament::of_eight("schedule = \"swiss\"\nrounds = 3");
    tournament.tournament("run", &[]);
    tournament.change("\"level:1\", ", "");
    tournament.change("\"random\", ", "\"random\", \"level:4\", ");
    let resumed = tournament.tournament("resume", &["--replay"]);
    assert_eq!(resumed.code, Some(0), "nobody forfeits: {resumed:?}");
    let fresh =
        TestTournament::new(&fs::read_to_string(tournament.path().join("class.toml")).unwrap());
    fresh.tournament("run", &[]);
    assert_eq!(played(&tournament), played(&fresh));
    let status = tournament.tournament("status", &["--json"]).json();
    assert_eq!(status["players"].as_array().unwrap().len(), 8);
    tournament.change("rounds = 3", "rounds = 2");
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: rounds was 3, and is 2"), "{told:?}");
    assert!(told.stderr.contains("this concerns 4 of 12 finished games"), "{told:?}");
    tournament.tournament("resume", &["--replay"]);
    assert_eq!(tournament.games().len(), 8);
}

#[test]
fn a_broken_submission_is_the_same_from_anywhere() {
    let tournament =
        TestTournament::new("game = \"english\"\nsubmissions = \"bots\"\nplayers = [\"random\"]\n");
    tournament.write("bots/wrong/bot.toml", "comand = \"true\"");
    assert_eq!(tournament.tournament("run", &[]).code, Some(4));
    let path = tournament.path().join("class.toml");
    let path = path.to_str().unwrap();
    let resumed = crownhead_in(std::path::Path::new("/"), &["tournament", "resume", path]);
    assert_eq!(resumed.code, Some(4), "{resumed:?}");
    assert!(!resumed.stderr.contains("changed"), "{resumed:?}");
}

#[test]
fn without_a_build_everything_is_the_bot() {
    let tournament = TestTournament::new("game = \"english\"\nplayers = [\"random\", \"./bot\"]\n");
    tournament.write("bot/bot.toml", "command = \"sh build/bot.jar\"");
    tournament.write("bot/build/bot.jar", FIRST_MOVE);
    assert_eq!(tournament.tournament("run", &[]).code, Some(0));
    tournament.write("bot/build/bot.jar", &format!("# better\n{FIRST_MOVE}"));
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: bot: build/bot.jar has changed"), "{told:?}");
}

#[test]
fn a_bot_that_is_changed_while_the_contest_runs_is_told() {
    let tournament = TestTournament::new(
        "game = \"english\"\nisolation = \"off\"\nplayers = [\"random\", \"./bot\"]\n",
    );
    tournament.write("bot/bot.toml", "command = \"sh bot.sh\"");
    tournament.write("bot/bot.sh", &format!("echo '# more' >> more.sh\n{FIRST_MOVE}"));
    let run = tournament.tournament("run", &[]);
    assert!(run.stderr.contains("note: while the contest ran: bot: more.sh is new"), "{run:?}");
}

#[test]
fn games_of_one_player_can_be_played_again() {
    let tournament = three();
    let before = tournament.games();
    let resumed = tournament.tournament("resume", &["--replay-player", "random"]);
    assert!(resumed.stderr.contains("4 games do not count any more"), "{resumed:?}");
    let after = tournament.games();
    let result = |game: &serde_json::Value| (game["result"].clone(), game["plies"].clone());
    for (number, game) in &before {
        assert_eq!(result(game), result(&after[number]), "the same seed, the same game");
    }
    let named = tournament.tournament("resume", &["--replay-player", "nobody"]);
    assert!(named.refused(2).contains("there is no player \"nobody\""));
}

#[test]
fn replayed_games_of_a_swiss_contest_take_later_rounds_with_them() {
    let tournament = TestTournament::of_eight("schedule = \"swiss\"\nrounds = 3");
    assert_eq!(tournament.tournament("run", &[]).code, Some(0));
    let table = tournament.standings();
    tournament.change("\"level:1\", ", "{ name = \"level:1\", player = \"level:4\" }, ");
    let told = tournament.tournament("resume", &["--replay"]);
    assert!(told.stderr.contains("9 games do not count any more"), "1 and two rounds: {told:?}");
    let status = tournament.tournament("status", &["--json"]).json();
    assert_eq!((&status["finished"], &status["rounds"]), (&json!(12), &json!(3)));
    tournament.change("level:4", "level:1");
    tournament.tournament("resume", &["--replay"]);
    assert_eq!(tournament.standings(), table, "as if nothing had been");
    tournament.change("\"random\", ", "");
    let told = tournament.tournament("resume", &["--keep"]);
    assert!(told.refused(2).contains("cannot be kept"), "{told:?}");
}

#[test]
fn more_rounds_of_a_swiss_contest_may_follow() {
    let tournament = TestTournament::of_eight("schedule = \"swiss\"\nrounds = 2");
    tournament.tournament("run", &[]);
    let before = tournament.games();
    tournament.change("rounds = 2", "rounds = 4");
    assert_eq!(tournament.tournament("resume", &[]).code, Some(0));
    let games = tournament.games();
    assert_eq!((before.len(), games.len()), (8, 16));
    assert!(before.iter().all(|(number, game)| games[number] == *game));
}

/// A finished tournament of four whose rounds depend on results.
fn four(schedule: &str) -> TestTournament {
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nschedule = \"{schedule}\"\nrounds = 2\ngames = 2\n\
         players = [\"random\", \"level:1\", \"level:2\", \"level:3\"]\n",
    ));
    if schedule == "knockout" {
        tournament.change("rounds = 2\n", "");
    }
    assert_eq!(tournament.tournament("run", &[]).code, Some(0));
    tournament
}

#[test]
fn rounds_that_were_paired_otherwise_cannot_be_kept() {
    for schedule in ["knockout", "ladder"] {
        let tournament = four(schedule);
        tournament.change("\"random\", \"level:1\"", "\"level:1\", \"random\"");
        let told = tournament.tournament("resume", &["--keep"]);
        let told = told.refused(2);
        assert!(told.contains("cannot be kept: in this schedule the pairs depend on it"), "{told}");
    }
    for schedule in ["knockout", "ladder", "swiss"] {
        let tournament = four(schedule);
        tournament.change("games = 2", "games = 4");
        let told = tournament.tournament("resume", &["--keep"]);
        let told = told.refused(2);
        assert!(told.contains("all rounds have as many games for each pair"), "{told}");
    }
}

#[test]
fn a_player_who_comes_back_plays_or_the_contest_does_not_go_on() {
    for schedule in ["knockout", "ladder", "swiss"] {
        let tournament = four(schedule);
        tournament.change(", \"level:3\"]", "]");
        assert_eq!(tournament.tournament("resume", &["--replay"]).code, Some(0));
        tournament.change("\"level:2\"]", "\"level:2\", \"level:3\"]");
        let told = tournament.tournament("resume", &["--keep"]);
        let told = told.refused(2);
        assert!(told.contains("changed: level:3 takes part again"), "{told}");
        assert_eq!(tournament.tournament("resume", &["--replay"]).code, Some(0));
        let played = tournament
            .games()
            .into_values()
            .any(|game| [&game["first"], &game["second"]].contains(&&json!("level:3")));
        assert!(played, "{schedule}");
    }
}
