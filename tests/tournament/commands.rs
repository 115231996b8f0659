//! The commands, one by one.

use std::collections::BTreeSet;
use std::fs;

use crownhead_records::{MoveData, Ply, Reader};
use serde_json::{Value, json};

use crate::cli::crownhead_in;
use crate::harness::{TestTournament, events};

#[test]
fn new_writes_a_runnable_file_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let new = crownhead_in(folder.path(), &["tournament", "new"]);
    assert!(new.printed().contains("crownhead tournament run tournament.toml"));
    let again = crownhead_in(folder.path(), &["tournament", "new", "tournament.toml"]);
    assert!(again.refused(1).contains("tournament.toml already exists"));
    let run = crownhead_in(folder.path(), &["tournament", "run", "tournament.toml"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let heading = "tournament: capture-halma, round-robin, 12 games\n";
    assert!(run.stdout.starts_with(heading), "{}", run.stdout);
}

#[test]
fn invalid_file_is_refused_with_locations_and_suggestions() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\"]\nshedule = \"swiss\"\n");
    let run = tournament.crownhead("run", &[]);
    let message = run.refused(3);
    for expected in [
        "class.toml, line 3, column 1: unknown key \"shedule\"; did you mean",
        "class.toml, line 2, column 11: a tournament needs at least two players",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    assert!(!tournament.path().join("class.journal").exists());
}

#[test]
fn standings_are_the_same_on_every_run_at_any_concurrency() {
    let mut outputs = BTreeSet::new();
    for concurrency in [1, 3, 4] {
        for schedule in ["round-robin", "swiss"] {
            let lines = format!(
                "concurrency = {concurrency}\nseed = 5\nschedule = {schedule:?}\n\
                 openings = \"random:4\""
            );
            let tournament = TestTournament::of_eight(&lines);
            let run = tournament.crownhead("run", &[]);
            assert_eq!(run.code, Some(0), "{run:?}");
            outputs.insert((schedule, run.stdout, tournament.pdn()));
        }
    }
    assert_eq!(outputs.len(), 2, "one per schedule");
}

#[test]
fn events_report_the_whole_tournament() {
    let tournament = TestTournament::of_eight("schedule = \"knockout\"\nconcurrency = 2");
    let run = tournament.crownhead("run", &["--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let events = events(&run.stdout);
    assert!(events.iter().all(|event| event["version"] == 1));
    assert_eq!(events[0]["event"], "run");
    assert_eq!(events[0]["players"].as_array().unwrap().len(), 8);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let games: u64 = of("round").iter().map(|round| round["games"].as_u64().unwrap()).sum();
    assert_eq!((of("started").len() as u64, of("finished").len() as u64), (games, games));
    assert_eq!(of("round")[0]["title"], "quarter-finals");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["how"]), (&json!("ended"), &json!("finished")));
    let champion = &last["standings"][0]["player"];
    let final_win = of("finished").into_iter().rfind(|game| !game["winner"].is_null()).unwrap();
    assert_eq!(&final_win["winner"], champion);
    assert_eq!(tournament.standings(), last["standings"]);
}

#[test]
fn every_schedule_is_played_to_its_end() {
    for (schedule, games, lines) in [
        ("gauntlet", 14, "challengers = [\"random\"]"),
        ("swiss", 12, "rounds = 3"),
        ("ladder", 14 + 14, "rounds = 4"),
    ] {
        let lines = format!("schedule = {schedule:?}\n{lines}\nconcurrency = 2");
        let tournament = TestTournament::of_eight(&lines);
        let run = tournament.crownhead("run", &[]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(tournament.finished().len(), games, "{schedule}");
        let status = tournament.status();
        assert_eq!(status["planned"], games, "{schedule}");
        assert_eq!((&status["state"], &status["seconds_left"]), (&json!("finished"), &json!(null)));
    }
}

#[test]
fn byes_count_in_a_swiss_tournament() {
    let text = "game = \"english\"\nschedule = \"swiss\"\nrounds = 3\n\
                players = [\"level:1\", \"level:2\", \"random\"]";
    let tournament = TestTournament::new(text);
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let rows = tournament.standings();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| row["byes"] == 1 && row["games"] == 2), "{rows:?}");
    assert!(run.stdout.contains("byes: random: 1"), "{}", run.stdout);
}

#[test]
fn tied_knockout_reverses_colours_and_is_decided_by_seed() {
    let tournament = TestTournament::new(
        "game = \"english:draw-plies=2\"\nplayers = [\"level:1\", \"level:2\"]\n\
         schedule = \"knockout\"\ngames = 1\ncolours = \"balanced\"\ntie-replays = 3\n",
    );
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let games = tournament.games().into_values();
    let firsts: Vec<_> = games.map(|game| game["first"].clone()).collect();
    assert_eq!(firsts, ["level:1", "level:2", "level:1", "level:2"]);
    let counts = run.stderr.lines().filter_map(|line| line.split("  ").next()?.split_once('/'));
    assert_eq!(counts.collect::<Vec<_>>(), [("1", "1"), ("2", "2"), ("3", "3"), ("4", "4")]);
    let note = "final: level:1 and level:2 tied; level:1 advanced as the better seed";
    assert!(run.stdout.contains(note), "{}", run.stdout);
    let rows = tournament.standings();
    let eliminated = json!({ "round": "final", "winner": "level:1" });
    assert_eq!(rows[1]["eliminated_by_seed"], eliminated);
    assert_eq!(rows[0]["eliminated_by_seed"], json!(null));
}

#[test]
fn file_that_is_not_utf8_is_invalid_input() {
    let tournament = TestTournament::new("");
    let bytes = b"game = \"english\"\nname = \"caf\xe9\"\n";
    fs::write(tournament.path().join("class.toml"), bytes).unwrap();
    let run = tournament.crownhead("run", &[]);
    let expected = "class.toml, line 2, column 12: invalid UTF-8: byte 0xe9";
    assert!(run.refused(3).contains(expected), "{run:?}");
}

#[test]
fn columns_are_aligned_with_wide_characters() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [{ name = \"猫猫\", player = \"random\" }, \"level:1\"]\n",
    );
    let run = tournament.crownhead("run", &[]);
    assert!(run.stdout.contains("rank  player   points"), "{}", run.stdout);
    // Each of the two characters is two columns wide.
    let row = run.stdout.lines().find(|line| line.contains("猫猫")).unwrap();
    let rest = row.split("猫猫").nth(1).unwrap();
    assert_eq!(rest.find(|c| c != ' '), Some(5 + 5), "{}", run.stdout);
}

#[test]
fn games_lists_games_and_prints_their_moves() {
    let tournament = TestTournament::of_eight("schedule = \"gauntlet\"");
    tournament.crownhead("run", &[]);
    let all = tournament.crownhead("games", &[]);
    assert_eq!(all.printed().lines().count(), 15);
    let of_player = tournament.crownhead("games", &["--player", "random"]);
    assert_eq!(of_player.printed().lines().count(), 3);
    let object = tournament.crownhead("games", &["1", "--json"]).json();
    let game = &object["games"][0];
    let plies = game["moves"].as_array().unwrap().len();
    assert_eq!(game["plies"], plies);
    assert_eq!(game["milliseconds"].as_array().unwrap().len(), plies);
    let text = tournament.crownhead("games", &["1"]);
    assert!(text.printed().contains("\nmoves     "), "{}", text.stdout);
    for (args, message) in [
        (&["99"][..], "no game 99: the last one is game 14"),
        (&["1", "--player", "random"], "game 1 does not match the other options"),
        (&["--player", "nobody"], "unknown player \"nobody\"; players: level:1, "),
    ] {
        let refused = tournament.crownhead("games", args);
        assert!(refused.refused(2).contains(message), "{refused:?}");
    }
    tournament.pdn();
    let check = crownhead_in(tournament.path(), &["pdn", "check", "games.pdn"]);
    assert!(check.printed().contains("14 games"), "{}", check.stdout);
}

#[test]
fn pdn_of_a_tournament_has_date_clock_times_scores_and_depths() {
    let text = "game = \"english\"\ntime = \"60s+1s\"\nplayers = [\"level:3\", \"random\"]\n";
    let tournament = TestTournament::new(text);
    tournament.crownhead("run", &[]);
    tournament.pdn();
    let journal = tournament.crownhead("games", &["1", "--json"]).json()["games"][0].take();
    let games = Reader::new(fs::File::open(tournament.path().join("games.pdn")).unwrap());
    let games: Vec<_> = games.map(Result::unwrap).collect();
    assert_eq!(games.len(), 2);
    for game in &games {
        let date = game.tag("Date").unwrap();
        assert!(date.starts_with("20") && date.len() == "2026.11.18".len(), "{date}");
        assert_eq!(game.tag("TimeControl"), Some("60s+1s"));
    }
    let opening = journal["opening_moves"].as_array().unwrap().len();
    let data: Vec<_> = games[0].line.plies[opening..].iter().map(Ply::data).collect();
    let clock = |data: &MoveData| data.clock.unwrap().as_millis() as u64;
    assert_eq!(journal["clocks"], data.iter().map(clock).collect::<Value>());
    let depth = |data: &MoveData| data.eval.and_then(|eval| eval.depth);
    assert_eq!(journal["depths"], data.iter().map(depth).collect::<Value>());
    assert!(data.iter().any(|data| depth(data).is_some()), "{journal}");
}

#[test]
fn bot_that_cannot_start_forfeits_and_the_tournament_goes_on() {
    let text = "game = \"english\"\nsubmissions = \"bots\"\nplayers = [\"random\"]\n";
    let tournament = TestTournament::new(text);
    tournament.write("bots/gone/bot.toml", "command = \"./nothing\"");
    tournament.write("bots/unbuilt/bot.toml", "command = \"true\"\nbuild = \"false\"");
    tournament.write("bots/wrong/bot.toml", "comand = \"true\"");
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(4), "a bot forfeited: {run:?}");
    assert!(run.stderr.contains("warning: wrong takes part but cannot play"), "{run:?}");
    assert!(run.stdout.contains("forfeits: gone: start "), "{}", run.stdout);
    let rows = tournament.standings();
    assert_eq!((&rows[0]["player"], &rows[0]["points"]), (&json!("random"), &json!(12)));
    let forfeits = tournament.crownhead("games", &["--player", "unbuilt", "--forfeits"]);
    assert!(forfeits.printed().contains("start"), "{}", forfeits.stdout);
    let game = tournament.crownhead("games", &["1", "--json"]).json();
    assert_eq!(game["games"][0]["incidents"][0]["code"], "start", "{game}");
}

#[test]
fn file_that_is_not_a_journal_is_left_alone() {
    let tournament = TestTournament::of_eight("");
    assert!(tournament.crownhead("status", &[]).refused(1).contains("has not been run"));
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(1).contains("there is no journal class.journal"), "{resume:?}");
    let path = tournament.write("class.journal", "not a database, but long enough to be looked at");
    let message = "class.journal is not a tournament journal";
    assert!(tournament.crownhead("status", &[]).refused(3).contains(message));
    let run = tournament.crownhead("run", &[]);
    assert!(run.refused(3).contains(&format!("{message}: move it away")), "{run:?}");
    assert_eq!(fs::read_to_string(path).unwrap().len(), 47);
}

#[test]
fn crash_in_a_tournament_shows_standard_error_the_line_and_the_log_once() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [\"random\", \"./crash\"]\ngames = 4\nlog = \"logs\"\n",
    );
    tournament.write("crash/bot.toml", "command = \"python3 bot.py\"\n");
    let bot = "import sys\nfor line in sys.stdin:\n    if line.startswith('turn'):\n        \
               [print(i, file=sys.stderr) for i in range(20)]\n        {}[line[:4]]\n    \
               print('ready', flush=True)\n";
    tournament.write("crash/bot.py", bot);
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    let report = &run.stderr;
    assert_eq!(report.matches(", crash: crash, ").count(), 1, "{report}");
    assert!(report.contains("(4 times)\n  | "), "{report}");
    assert!(report.contains("  | KeyError: 'turn'\n  at "), "{report}");
    assert_eq!(report.matches("\n  | ").count(), 10, "{report}");
    assert!(report.contains("bot.py:5\n  log "), "{report}");
    let log = report.split("  log ").nth(1).unwrap().lines().next().unwrap();
    assert!(tournament.path().join(log).is_file(), "{log}");
}

#[test]
fn report_is_a_folder_or_a_file_and_has_a_page_per_player() {
    let players = r#"["random", { name = "../x", player = "minimax:1" }, "level:1"]"#;
    let tournament =
        TestTournament::new(&format!("game = \"english\"\nplayers = {players}\nnodes = 50\n"));
    assert!(tournament.crownhead("report", &["--json"]).refused(1).contains("has not been run"));
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    assert!(tournament.crownhead("report", &[]).refused(2).contains("--html"));
    tournament.crownhead("report", &["--html", "x", "--nodes", "9"]).refused(2);

    let arguments =
        ["--html", "out", "--per-player", "own", "--analyse", "--nodes", "50", "--json"];
    let report = tournament.crownhead("report", &arguments);
    assert_eq!(report.code, Some(0), "{report:?}");
    let json = report.json();
    let games = json["games"].as_array().unwrap();
    assert_eq!(games.len(), 6);
    for game in games {
        let moves = game["replay"]["moves"].as_str().unwrap().split(' ').count();
        let expected = game["replay"]["analysis"]["expected"].as_array().unwrap();
        assert_eq!(expected.len(), moves + 1, "one score per position");
    }
    let names = |folder: &str| {
        let entries = fs::read_dir(tournament.path().join(folder)).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        entries.map(|entry| name(entry).into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    assert_eq!(names("out"), ["games.pdn", "index.html"].map(String::from).into());
    assert_eq!(names("own"), ["level-1.html", "random.html", "x.html"].map(String::from).into());
    // The published file has the moves alone, so that it stays small.
    assert!(tournament.pdn().contains("[%eval "));
    let published = fs::read_to_string(tournament.path().join("out/games.pdn")).unwrap();
    assert!(published.contains("1. ") && !published.contains('{'), "{published}");

    let single = tournament.crownhead("report", &["--html", "one.html"]);
    assert_eq!(single.code, Some(0), "{single:?}");
    assert!(single.stderr.contains("wrote one.html with 6 games"), "{single:?}");
    let page = fs::read_to_string(tournament.path().join("one.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
}

#[test]
fn standings_and_games_are_exported_as_csv_and_markdown() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [{ name = \"=A, \\\"1|2\\\"\", player = \"alphabeta:2\" }, \
         \"random\"]\n[adjudication]\nmax-moves = 6\n",
    );
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    let csv = tournament.crownhead("standings", &["--csv", "--ratings"]);
    let lines: Vec<_> = csv.printed().lines().map(String::from).collect();
    assert!(lines[0].starts_with("rank,player,points,games,wins,draws,losses,first_wins"));
    assert!(lines[0].ends_with("wins,score-differential,direct-encounter,elo,elo_error"));
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().any(|line| line.contains(",\"'=A, \"\"1|2\"\"\",")), "{lines:?}");
    let markdown = tournament.crownhead("standings", &["--markdown"]);
    assert!(markdown.printed().starts_with("| rank | player | points |"));
    assert!(markdown.printed().contains("| =A, \"1\\|2\" |"), "{markdown:?}");
    let games = tournament.crownhead("games", &["--csv"]);
    let lines: Vec<_> = games.printed().lines().map(String::from).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].starts_with("1,1,"), "{lines:?}");
    let both = tournament.crownhead("standings", &["--csv", "--markdown"]);
    assert_eq!(both.code, Some(2));
    // The journal has how a game was adjudicated, and the reported scores.
    let reasons: BTreeSet<_> = tournament
        .games()
        .values()
        .map(|game| game["reason"].as_str().unwrap().to_string())
        .collect();
    assert!(reasons.iter().any(|reason| reason == "adjudicated-length"), "{reasons:?}");
    let game = tournament.crownhead("games", &["1", "--json"]).json()["games"][0].clone();
    let scores = game["scores"].as_array().unwrap();
    assert_eq!(scores.len(), game["moves"].as_array().unwrap().len());
    assert!(scores.iter().any(|score| score.is_i64()), "{game}");
    assert!(scores.iter().any(|score| score.is_null()), "{game}");
}

#[test]
fn watch_needs_a_terminal_and_a_journal() {
    let tournament = TestTournament::of_eight("");
    let watch = tournament.crownhead("watch", &[]);
    assert!(watch.refused(2).contains("crownhead tournament status class.toml"));
}
