//! Programs written for the original assignments, as real processes: whole games of programs that are
//! as their authors left them, and what becomes of those that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on may stop
#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crownhead_play::{FaultPolicy, GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_tournament::job::JobError;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};
use tempfile::TempDir;

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn plan(game: &str, one: &str, other: &str) -> MatchConfig {
    let game: Game = game.parse().unwrap();
    MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(Duration::from_secs(2)),
            ..GameSettings::default_for(&game)
        },
        game,
        players: [one, other].map(|name| name.parse().unwrap()),
        pairs: 1,
        openings: Openings::Random(2),
        seed: 7,
        concurrency: 1,
        log: None,
    }
}

fn try_to_play(plan: &MatchConfig) -> Result<Vec<MatchGame>, JobError> {
    let mut games = Vec::new();
    matches::play(plan, &Knowledge::default(), &StopFlag::new(), |game| games.push(game))?;
    games.sort_by_key(|game| (game.pair, game.first));
    Ok(games)
}

fn played(plan: &MatchConfig) -> Vec<MatchGame> {
    try_to_play(plan).unwrap()
}

/// Whole games, played to their end without any fault.
fn fine(plan: &MatchConfig) {
    let games = played(plan);
    assert_eq!(games.len() as u32, 2 * plan.pairs);
    for game in games {
        assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
        assert_eq!(game.faults(), [0, 0], "{:?}", game.played.incidents);
    }
}

/// Games that all end by a fault of the first player.
fn faulty(plan: &MatchConfig, code: &str, sentence: &str) {
    for game in played(plan) {
        assert_eq!(game.summary().reason, code, "{sentence}: {}", game.played.description);
        assert_eq!(
            game.summary().forfeit,
            Some(game.first),
            "the bot's fault: {}",
            game.played.description
        );
        assert!(
            game.played.description.contains(sentence),
            "{sentence}: {}",
            game.played.description
        );
        assert!(game.played.description.len() < 1500, "{}", game.played.description);
    }
}

fn client(reads: &str, mode: &str) -> String {
    let script = bots().join("halma_client.py");
    format!("tcp-int32:python3 '{}' {reads} {mode}", script.display())
}

#[test]
fn clients_that_read_each_item_with_one_recv_play_on_the_same_port() {
    let mut both = plan("capture-halma", &client("numbers", "fine"), &client("board", "fine"));
    (both.pairs, both.concurrency) = (2, 2);
    fine(&both);
    // An answer may come in pieces, and whatever is printed is no answer.
    fine(&plan("capture-halma", &client("board", "byte-by-byte"), &client("board", "prints")));
    fine(&plan("capture-halma", &client("board", "tries-first"), "random"));
}

/// Whose turn it is with the machine's own port.
static PORT: Mutex<()> = Mutex::new(());

#[test]
fn a_client_has_a_port_8888_of_its_own_and_reaches_no_other() {
    let walls = IsolationStatus::detect(Isolation::Default).unwrap();
    if !walls.active().any(|wall| wall == "namespaces") {
        return eprintln!("there is no network of one's own here: {walls}");
    }
    let _port = PORT.lock();
    // Somebody else listens there all day, and on another address.
    let _taken = TcpListener::bind("127.0.0.1:8888").unwrap();
    let _other = TcpListener::bind("127.0.0.2:8888").unwrap();
    let wanders = client("board", "wanders 127.0.0.2");
    let mut both = plan("capture-halma", &wanders, &wanders);
    (both.pairs, both.concurrency) = (2, 2);
    fine(&both);
}

#[test]
fn clients_without_walls_have_the_port_one_after_the_other() {
    let _port = PORT.lock();
    let mut both = plan("capture-halma", &client("board", "fine"), &client("board", "fine"));
    for player in &mut both.players {
        player.program_mut().unwrap().isolation = Isolation::Off;
    }
    (both.pairs, both.concurrency) = (2, 2);
    fine(&both);
}

#[test]
fn a_client_that_misbehaves_is_told_how() {
    for (mode, code, sentence) in [
        ("crash-at-once", "crash", "the bot ended with exit code 3"),
        ("never-connects", "time", "the bot did not connect to port 8888 of 127.0.0.1 within 1"),
        ("no-team", "time", "did not send its team number (4 bytes) within 1"),
        ("other-package", "no-protocol", "answered package 4, and the last it was sent is 3"),
        ("twice", "no-protocol", "the bot answered package 3 a second time"),
        ("too-many", "no-protocol", "begins with 101, which should be the number of cells"),
        ("negative", "no-protocol", "received: integers -1 "),
        ("text", "no-protocol", "(11 bytes)"),
        ("empty", "illegal-move", "a path has two cells or more, from start to end, not 0"),
        ("off-board", "illegal-move", "column 8 is not on the board: both count from 0 to 7"),
        ("half", "time", "(and its answer had no end); received: integers 2 "),
        ("floods", "no-protocol", "answered package 0, and the last it was sent is 3"),
        ("floods-output", "flood", "the bot wrote too much"),
        ("closes", "end-of-output", "the bot closed its connection and lives on"),
        (
            "crash",
            "crash",
            "exit code 1; the last line of its standard error: \"ZeroDivisionError: on purpose\"",
        ),
        ("late", "time", "the bot did not answer in time"),
    ] {
        let mut plan = plan("capture-halma", &client("board", mode), "random");
        plan.settings.fault_policy = FaultPolicy::Forfeit;
        plan.settings.time_control = TimeControl::PerMove(Duration::from_millis(300));
        if code == "time" && mode != "late" {
            plan.settings.startup_timeout = Duration::from_millis(1500);
        }
        faulty(&plan, code, sentence);
    }
}

#[test]
fn a_late_package_does_not_count_for_the_next_turn() {
    let mut plan = plan("capture-halma", &client("board", "late"), "random");
    plan.settings.time_control = TimeControl::PerMove(Duration::from_millis(300));
    let start = "b7/8/b7/8/8/7w/8/7w b 392";
    plan.openings = Openings::parse(start, &plan.game).unwrap();
    for game in played(&plan) {
        assert_eq!(game.summary().reason, "turn-limit", "{}", game.played.description);
        assert_eq!(game.faults()[0], 4, "{:?}", game.played.incidents);
        let is_late = |code: &str| code == "time";
        assert!(game.played.incidents.iter().all(|incident| is_late(&incident.code)));
    }
}

#[test]
fn a_client_that_thinks_in_its_own_turns_is_not_stopped_for_it() {
    let mut plan = plan("capture-halma", &client("board", "thinks"), "random");
    plan.settings.time_control = TimeControl::PerMove(Duration::from_secs(60));
    // Two seconds of thought in each game, and one to spare.
    plan.players[0].program_mut().unwrap().limits = "cpu-slack=1s".parse().unwrap();
    plan.openings = Openings::parse("b7/8/b7/8/8/7w/8/7w b 392", &plan.game).unwrap();
    fine(&plan);
}

/// A folder with the files of the tests, the one named changed.
fn changed(file: &str, here: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for name in [file, "student.h"] {
        let text = fs::read_to_string(bots().join(name)).unwrap();
        fs::write(folder.path().join(name), text.replace("/* HERE */", here)).unwrap();
    }
    let name = folder.path().join(file).display().to_string();
    (folder, name)
}

#[test]
fn functions_play_whole_games_as_they_were_handed_in() {
    let (_folder, file) = changed("student.c", "printf(\"turn %d\\n\", turns);");
    let student = format!("c-function:{file}");
    fine(&plan("chinese-checkers", &student, &student));
    let contestant = format!("cpp-function:{}", bots().join("contestant.cpp").display());
    for game in ["contest", "contest:draw-plies=30"] {
        fine(&plan(game, &contestant, &contestant));
    }
}

#[test]
fn a_function_begins_each_game_anew() {
    // It would return nonsense in its third game if it remembered.
    let (_folder, file) = changed("student.c", "if (turns > 100) return 1;");
    let mut plan = plan("chinese-checkers", &format!("c-function:{file}"), "random");
    plan.pairs = 2;
    plan.openings = Openings::parse("#7/8/8/8/8/8/8/7O # 100", &plan.game).unwrap();
    fine(&plan);
}

#[test]
fn a_function_that_misbehaves_is_handled_like_any_bot() {
    for (here, code, sentence) in [
        ("if (turns == 3) *(volatile int *)0 = 1;", "crash", "(segmentation fault)"),
        ("if (turns == 3) exit(0);", "crash", "the bot ended with exit code 0"),
        ("if (turns == 3) for (;;) sleep(1);", "time", "the bot did not answer in time"),
        ("if (turns == 3) return -5;", "illegal-move", "the function returned -5, which is not"),
        ("if (turns == 3) return 1188;", "illegal-move", "received: \"move 1188\""),
        ("if (turns == 3) abort();", "crash", "by signal 6 (abort)"),
    ] {
        let (_folder, file) = changed("student.c", here);
        let mut plan = plan("chinese-checkers", &format!("c-function:{file}"), "random");
        plan.settings.time_control = TimeControl::PerMove(Duration::from_millis(300));
        faulty(&plan, code, sentence);
    }
    // Whatever it does to its streams does not concern the dialogue.
    for here in [
        "puts(\"move 1112\"); fputs(\"no end\", stdout);",
        "fclose(stdout); fclose(stdin); close(0); close(1);",
        "if (scanf(\"%d\", &from) != -1) return 0;",
    ] {
        let (_folder, file) = changed("student.c", here);
        fine(&plan("chinese-checkers", &format!("c-function:{file}"), "random"));
    }
}

#[test]
fn a_function_for_one_side_loses_with_the_other() {
    let (_folder, file) = changed("contestant.cpp", "row1 = 2; col1 = 2; return;");
    let games = played(&plan("contest", &format!("cpp-function:{file}"), "random"));
    assert!(games[0].summary().forfeit.is_none(), "{}", games[0].played.description);
    let told = &games[1].played.description;
    assert!(
        told.contains("row 2, column 2 is no dark square") && told.contains("row1=2"),
        "{told}"
    );
    let text = fs::read_to_string(&file).unwrap().replace("void move_red", "void move_white");
    fs::write(&file, text).unwrap();
    let games = played(&plan("contest", &format!("cpp-function:{file}"), "random"));
    assert!(games[0].summary().forfeit.is_none(), "{}", games[0].played.description);
    let told = &games[1].played.description;
    assert!(told.contains("no function move_red: it plays the other side only"), "{told}");
}

#[test]
fn a_file_without_the_function_is_refused_with_what_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text, why) in [
        ("a.c", "int player(int a) { return a; }", "int ai_player(int player, const int *board)"),
        ("b.cpp", "void move(int a) {}", "there is neither a function void move_black"),
        ("c.cpp", "void move_red(int b[][8]) {}", "has 1 parameters, and should have six"),
        ("d.c", "int ai_player(int p, const int *b) { return oops; }", "oops"),
    ] {
        let path = folder.path().join(file);
        fs::write(&path, text).unwrap();
        let is_c = file.ends_with(".c");
        let (kind, game) =
            if is_c { ("c-function", "chinese-checkers") } else { ("cpp-function", "contest") };
        let refused = try_to_play(&plan(game, &format!("{kind}:{}", path.display()), "random"));
        let Err(JobError::StartFailed(told)) = refused else { panic!("{refused:?}") };
        assert!(told.contains(why) && told.contains(file), "{told}");
    }
}

#[test]
fn a_player_of_another_game_is_refused_before_anything_starts() {
    for (name, game, own) in [
        (client("board", "fine"), "english", "capture-halma only"),
        (format!("c-function:{}", bots().join("student.c").display()), "contest", "chinese"),
    ] {
        let refused = try_to_play(&plan(game, &name, "random"));
        let Err(JobError::StartFailed(told)) = refused else { panic!("{refused:?}") };
        assert!(told.contains("cannot play") && told.contains(own), "{told}");
    }
}
