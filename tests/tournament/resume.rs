//! Tournaments that have changed when they are resumed.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::crownhead_in;
use crate::harness::TestTournament;

/// A bot that plays the first legal move.
const FIRST_MOVE: &str = "while read -r word rest; do
    case $word in
        crownhead | newgame) echo ready ;;
        turn) moves=${rest##*moves=}; moves=${moves%% *}; echo \"move ${moves%%,*}\" ;;
        quit) exit ;;
    esac
done
";

/// Creates a finished round robin of three players.
fn of_three() -> TestTournament {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [\"level:1\", \"random\", \"minimax:1\"]\nconcurrency = 1\n",
    );
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    tournament
}

/// Creates a finished tournament of four players in a schedule that depends on results.
fn of_four(schedule: &str) -> TestTournament {
    let rounds = if schedule == "knockout" { "" } else { "rounds = 2\n" };
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nschedule = \"{schedule}\"\n{rounds}games = 2\n\
         players = [\"random\", \"level:1\", \"level:2\", \"level:3\"]\n",
    ));
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    tournament
}

/// Returns players, results and lengths, in the order of the games.
fn results(tournament: &TestTournament) -> Vec<[Value; 4]> {
    let keys = ["first", "second", "result", "plies"];
    tournament.games().into_values().map(|game| keys.map(|key| game[key].clone())).collect()
}

/// Returns the results of a new tournament with the same file.
fn results_of_a_fresh_run(tournament: &TestTournament) -> Vec<[Value; 4]> {
    let fresh = TestTournament::new(&tournament.text());
    fresh.crownhead("run", &[]);
    results(&fresh)
}

#[test]
fn changes_that_affect_no_game_are_accepted() {
    let tournament = of_three();
    let games = tournament.games();
    tournament.edit("concurrency = 1", "concurrency = 2\nname = \"Other\"\n[points]\nwin = 3");
    let resume = tournament.crownhead("resume", &[]);
    assert_eq!((resume.code, resume.stderr.as_str()), (Some(0), ""), "{resume:?}");
    assert_eq!(tournament.games(), games);
    let rows = tournament.standings();
    let row = &rows[0];
    let points = 3 * row["wins"].as_u64().unwrap() + row["draws"].as_u64().unwrap();
    assert_eq!(row["points"], points, "{row}");
}

#[test]
fn changed_player_requires_keep_or_replay() {
    let tournament = of_three();
    let games = tournament.games();
    tournament.edit("\"random\"", "{ name = \"random\", player = \"level:2\" }");
    let resume = tournament.crownhead("resume", &[]);
    let message = resume.refused(2);
    assert!(message.contains("changed: random was random, is now level:2"), "{message}");
    assert!(message.contains("the changes affect 4 of 6 games played"), "{message}");
    assert!(message.contains("--keep") && message.contains("--replay"), "{message}");
    assert_eq!(tournament.games(), games, "nothing happens before the choice");
    let resume = tournament.crownhead("resume", &["--keep"]);
    assert_eq!(resume.code, Some(0), "{resume:?}");
    assert_eq!(tournament.games(), games);
    tournament.edit("level:2", "level:3");
    let resume = tournament.crownhead("resume", &["--replay"]);
    assert!(resume.stderr.contains("voided 4 games"), "{resume:?}");
    let replayed = tournament.games();
    assert_eq!(replayed.len(), 6);
    for (number, game) in &games {
        let is_affected = game["first"] == "random" || game["second"] == "random";
        assert_eq!(replayed[number] != *game, is_affected, "game {number}");
    }
    assert_eq!(tournament.crownhead("resume", &[]).stderr, "", "the change is stored");
}

#[test]
fn changed_files_of_a_bot_are_detected() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"./bot\", \"level:1\"]\n");
    tournament.write("bot/bot.toml", "command = \"sh bot.sh\"");
    tournament.write("bot/bot.sh", FIRST_MOVE);
    tournament.write("bot/__pycache__/x.pyc", "1");
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    assert_eq!(tournament.crownhead("resume", &[]).code, Some(0), "nothing has changed");
    let mut changes = Vec::new();
    for (file, text, change) in [
        ("__pycache__/x.pyc", "2", "__pycache__/x.pyc has changed"),
        (".hidden", "", ".hidden is new"),
        ("bot.log", "", "bot.log is new"),
        ("bot.sh", &format!("# better\n{FIRST_MOVE}"), "bot.sh has changed"),
    ] {
        tournament.write(&format!("bot/{file}"), text);
        changes.push(change);
        let resume = tournament.crownhead("resume", &[]);
        let message = resume.refused(2);
        assert!(
            changes.iter().any(|change| message.contains(&format!("bot: {change}"))),
            "{message}"
        );
        let more = format!(", and {} more", changes.len() - 1);
        assert!(changes.len() == 1 || message.contains(&more), "{message}");
    }
    let resume = tournament.crownhead("resume", &["--replay"]);
    assert_eq!(resume.code, Some(0), "{resume:?}");
    assert_eq!(tournament.finished().len(), 6);
}

#[test]
fn players_can_join_and_leave_a_round_robin() {
    let tournament = of_three();
    let before = tournament.games();
    tournament.edit("\"minimax:1\"]", "\"minimax:1\", \"level:2\"]");
    let resume = tournament.crownhead("resume", &[]);
    assert_eq!(resume.code, Some(0), "{resume:?}");
    assert!(resume.stderr.contains("changed: level:2 has joined"), "{resume:?}");
    let games = tournament.games();
    assert_eq!(games.len(), 12);
    assert!(before.iter().all(|(number, game)| games[number] == *game), "old games are kept");
    tournament.edit("\"random\", ", "");
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("changed: random has left"), "{resume:?}");
    tournament.crownhead("resume", &["--keep"]);
    assert_eq!(tournament.games().len(), 12, "--keep keeps the games of a player who left");
    tournament.edit("\"level:1\"", "\"random\", \"level:1\"");
    tournament.crownhead("resume", &["--keep"]);
    tournament.edit("\"random\", ", "");
    tournament.crownhead("resume", &["--replay"]);
    assert_eq!(tournament.games().len(), 6, "--replay removes them");
    assert_eq!(tournament.standings().as_array().unwrap().len(), 3);
}

#[test]
fn replaying_all_games_equals_a_fresh_run() {
    let text = "game = \"english\"\ncolours = \"random\"\nseed = 1\ngames = 1\n\
                openings = \"random:4\"\n\
                players = [\"level:1\", \"level:2\", \"level:3\", \"random\", \"minimax:1\"]\n";
    let tournament = TestTournament::new(text);
    tournament.crownhead("run", &[]);
    for (from, to) in [("\"random\"\nseed", "\"balanced\"\nseed"), ("seed = 1", "seed = 2")] {
        tournament.edit(from, to);
        let resume = tournament.crownhead("resume", &["--replay"]);
        assert!(resume.stderr.contains("voided 10 games"), "{resume:?}");
        let fresh = TestTournament::new(&tournament.text());
        fresh.crownhead("run", &[]);
        assert_eq!(results(&tournament), results(&fresh), "{to}");
        assert_eq!(tournament.standings(), fresh.standings(), "{to}");
    }
}

#[test]
fn excess_games_require_keep_or_replay() {
    let tournament = of_three();
    tournament.edit("concurrency = 1", "games = 1");
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("affect 3 of 6 games"), "{resume:?}");
    assert_eq!(tournament.crownhead("resume", &["--keep"]).code, Some(0));
    assert_eq!(tournament.games().len(), 6);
    let status = tournament.status();
    assert_eq!((&status["planned"], &status["finished"]), (&json!(6), &json!(6)));
    tournament.edit("games = 1", "games = 2");
    assert_eq!(tournament.crownhead("resume", &[]).code, Some(0), "no game is in excess");
    tournament.edit("games = 2", "games = 1");
    assert_eq!(tournament.crownhead("resume", &["--replay"]).code, Some(0));
    let rows = tournament.standings();
    assert!(rows.as_array().unwrap().iter().all(|row| row["games"] == 2), "{rows}");
    // A gauntlet of the first player does not contain the game between the others.
    tournament.edit("games = 1", "games = 1\nschedule = \"gauntlet\"");
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("affect 1 of 3 games"), "{resume:?}");
    tournament.crownhead("resume", &["--replay"]);
    assert_eq!(tournament.games().len(), 2);
}

#[test]
fn broken_submission_is_the_same_from_any_folder() {
    let tournament =
        TestTournament::new("game = \"english\"\nsubmissions = \"bots\"\nplayers = [\"random\"]\n");
    tournament.write("bots/wrong/bot.toml", "comand = \"true\"");
    assert_eq!(tournament.crownhead("run", &[]).code, Some(4));
    let path = tournament.path().join("class.toml");
    let args = ["tournament", "resume", path.to_str().unwrap()];
    let resume = crownhead_in(std::path::Path::new("/"), &args);
    assert_eq!(resume.code, Some(4), "{resume:?}");
    assert!(!resume.stderr.contains("changed"), "{resume:?}");
}

#[test]
fn program_replaced_after_the_build_is_detected() {
    let tournament = TestTournament::new("game = \"english\"\nplayers = [\"random\", \"./bot\"]\n");
    let manifest =
        "command = \"sh made\"\nbuild = [\"sh\", \"-c\", \"test -e made || cp bot.sh made\"]";
    tournament.write("bot/bot.toml", manifest);
    tournament.write("bot/bot.sh", FIRST_MOVE);
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    assert_eq!(
        tournament.crownhead("resume", &[]).code,
        Some(0),
        "the output of the build is known"
    );
    tournament.write("bot/made", &format!("# better\n{FIRST_MOVE}"));
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("changed: bot: made has changed"), "{resume:?}");
}

#[test]
fn without_a_build_command_no_file_is_a_build_artifact() {
    let tournament = TestTournament::new("game = \"english\"\nplayers = [\"random\", \"./bot\"]\n");
    tournament.write("bot/bot.toml", "command = \"sh build/bot.jar\"");
    tournament.write("bot/build/bot.jar", FIRST_MOVE);
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    tournament.write("bot/build/bot.jar", &format!("# better\n{FIRST_MOVE}"));
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("changed: bot: build/bot.jar has changed"), "{resume:?}");
}

#[test]
fn bot_that_changes_during_the_run_is_reported() {
    let tournament = TestTournament::new(
        "game = \"english\"\nisolation = \"off\"\nplayers = [\"random\", \"./bot\"]\n",
    );
    tournament.write("bot/bot.toml", "command = \"sh bot.sh\"");
    tournament.write("bot/bot.sh", &format!("echo '# more' >> more.sh\n{FIRST_MOVE}"));
    let run = tournament.crownhead("run", &[]);
    let warning = "warning: changed during the run: bot: more.sh is new";
    assert!(run.stderr.contains(warning), "{run:?}");
}

#[test]
fn games_of_one_player_can_be_replayed() {
    let tournament = of_three();
    let before = results(&tournament);
    let resume = tournament.crownhead("resume", &["--replay-player", "random"]);
    assert!(resume.stderr.contains("voided 4 games"), "{resume:?}");
    assert_eq!(results(&tournament), before, "the same seeds give the same games");
    let resume = tournament.crownhead("resume", &["--replay-player", "nobody"]);
    assert!(resume.refused(2).contains("unknown player \"nobody\""), "{resume:?}");
}

#[test]
fn number_of_swiss_rounds_can_change() {
    let tournament = TestTournament::of_eight("schedule = \"swiss\"\nrounds = 2");
    tournament.crownhead("run", &[]);
    let before = tournament.games();
    tournament.edit("rounds = 2", "rounds = 4");
    assert_eq!(tournament.crownhead("resume", &[]).code, Some(0));
    let games = tournament.games();
    assert_eq!((before.len(), games.len()), (8, 16));
    assert!(before.iter().all(|(number, game)| games[number] == *game));
    tournament.edit("rounds = 4", "rounds = 3");
    assert_eq!(tournament.crownhead("resume", &[]).code, Some(0));
    assert_eq!(tournament.games(), games, "rounds already played stay");
}

#[test]
fn changed_player_in_dependent_pairings_allows_only_keep() {
    for schedule in ["knockout", "ladder", "swiss"] {
        let tournament = of_four(schedule);
        let games = tournament.games();
        tournament.edit("\"random\", ", "{ name = \"random\", player = \"level:4\" }, ");
        let resume = tournament.crownhead("resume", &[]);
        let message = resume.refused(2);
        assert!(message.contains("changed: random was random, is now level:4"), "{message}");
        assert!(message.contains("--keep keeps their results"), "{message}");
        assert!(message.contains("start a new journal: move class.journal away"), "{message}");
        for args in [&["--replay"][..], &["--replay-player", "random"]] {
            let resume = tournament.crownhead("resume", args);
            let message = resume.refused(2);
            assert!(message.contains("later pairings"), "{message}");
            assert!(message.contains("start a new journal"), "{message}");
        }
        assert_eq!(tournament.crownhead("resume", &["--keep"]).code, Some(0), "{schedule}");
        assert_eq!(tournament.games(), games);
        assert_eq!(tournament.crownhead("resume", &[]).stderr, "", "the change is stored");
    }
}

#[test]
fn changed_pairings_need_a_new_journal() {
    let changes = [
        (", \"level:3\"]", "]", "changed: level:3 has left"),
        ("\"level:3\"]", "\"level:3\", \"level:4\"]", "changed: level:4 has joined"),
        ("games = 2", "games = 4", "changed: games was 2, is now 4"),
        ("game = \"english\"", "game = \"contest\"", "changed: game was english, is now contest"),
        ("\"random\", \"level:1\"", "\"level:1\", \"random\"", "changed: order of players was"),
    ];
    for schedule in ["knockout", "ladder", "swiss"] {
        let tournament = of_four(schedule);
        let (text, games) = (tournament.text(), tournament.games());
        for (from, to, expected) in changes {
            if schedule == "swiss" && expected.contains("order") {
                continue; // the seeding only separates players with equal points
            }
            tournament.edit(from, to);
            for args in [&[][..], &["--keep"], &["--replay"]] {
                let resume = tournament.crownhead("resume", args);
                let message = resume.refused(2);
                assert!(message.contains(expected), "{schedule}, {args:?}: {message}");
                assert!(message.contains("cannot be kept: "), "{schedule}, {args:?}: {message}");
                let advice = "start a new journal: move class.journal away";
                assert!(message.contains(advice), "{schedule}, {args:?}: {message}");
            }
            tournament.write("class.toml", &text);
        }
        assert_eq!(tournament.games(), games);
    }
}

#[test]
fn tournament_without_finished_games_can_change_freely() {
    for schedule in ["round-robin", "swiss", "knockout"] {
        // A game that would take hours.
        let tournament = TestTournament::new(&format!(
            "game = \"english\"\nschedule = \"{schedule}\"\nmovetime = \"600s\"\n\
             players = [\"best\", \"level:10\"]\n"
        ));
        let mut command = tournament.command("run", &["--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"event\":\"started\"") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut out, &mut line).unwrap() > 0);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        tournament.edit("movetime = \"600s\"\n", "");
        tournament.edit("\"best\", \"level:10\"", "\"level:1\", \"random\", \"level:2\"");
        let resume = tournament.crownhead("resume", &[]);
        assert_eq!(resume.code, Some(0), "{resume:?}");
        assert_eq!(results(&tournament), results_of_a_fresh_run(&tournament), "{schedule}");
    }
}
