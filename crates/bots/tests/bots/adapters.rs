//! Programs written for the original assignments: they play complete games unchanged, and their
//! faults are reported like those of any bot.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::FaultPolicy;
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_tournament::job::JobError;
use crownhead_tournament::matches::MatchConfig;
use tempfile::TempDir;

use crate::harness::{
    assert_ends_by_rules, assert_faultless, assert_forfeits, fixture, match_config, play, start_at,
    try_play,
};

const MOVE_TIME: Duration = Duration::from_secs(2);
/// Short enough to wait for when a bot does not answer.
const SHORT_MOVE_TIME: Duration = Duration::from_millis(300);

/// A position of Capture Halma eight plies before the turn limit.
const NEAR_TURN_LIMIT: &str = "b7/8/b7/8/8/7w/8/7w b 392";

fn play_faultless(config: &MatchConfig) {
    let games = play(config);
    assert_eq!(games.len() as u32, 2 * config.pairs);
    games.iter().for_each(assert_faultless);
}

/// A Capture Halma client: how it reads (`numbers` or `board`) and how it misbehaves.
fn client(reads: &str, mode: &str) -> String {
    format!("tcp-int32:python3 '{}' {reads} {mode}", fixture("halma_client.py").display())
}

fn halma_match(players: [&str; 2], move_time: Duration) -> MatchConfig {
    match_config("capture-halma", players, move_time)
}

#[test]
fn clients_receive_every_item_with_one_recv() {
    let players = [&client("numbers", "fine"), &client("board", "fine")];
    let mut config = halma_match(players.map(String::as_str), MOVE_TIME);
    (config.pairs, config.concurrency) = (2, 2);
    play_faultless(&config);
}

#[test]
fn client_may_send_in_pieces_print_and_probe_the_port() {
    for mode in ["byte-by-byte", "prints", "tries-first"] {
        play_faultless(&halma_match([&client("board", mode), "random"], MOVE_TIME));
    }
}

/// Waits until no other test, of this process or another, uses the machine's port 8888.
fn lock_port() -> File {
    let file = File::create(std::env::temp_dir().join("crownhead-test-port-8888.lock")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn client_in_a_network_namespace_has_its_own_port_and_reaches_no_other() {
    let isolation = IsolationStatus::detect(Isolation::Default).unwrap();
    if !isolation.active().any(|mechanism| mechanism == "namespaces") {
        return eprintln!("skipped: no network namespaces here: {isolation}");
    }
    let _lock = lock_port();
    let _same_address = TcpListener::bind("127.0.0.1:8888").unwrap();
    let _other_address = TcpListener::bind("127.0.0.2:8888").unwrap();
    let wanderer = client("board", "wanders 127.0.0.2");
    let mut config = halma_match([&wanderer, &wanderer], MOVE_TIME);
    (config.pairs, config.concurrency) = (2, 2);
    play_faultless(&config);
}

#[test]
fn clients_without_isolation_take_turns_on_the_port() {
    let _lock = lock_port();
    let client = client("board", "fine");
    let mut config = halma_match([&client, &client], MOVE_TIME);
    for player in &mut config.players {
        player.program_mut().unwrap().isolation = Isolation::Off;
    }
    (config.pairs, config.concurrency) = (2, 2);
    play_faultless(&config);
}

#[test]
fn misbehaving_client_forfeits_with_the_reason() {
    for (mode, code, part) in [
        ("crash-at-once", "crash", "the bot exited with code 3"),
        ("never-connects", "time", "the bot did not connect to port 8888 of 127.0.0.1 within 1s"),
        ("no-team", "time", "did not send its team number (4 bytes) within 5s"),
        ("other-packet", "no-protocol", "answered packet 4, but the last one it received is 3"),
        ("twice", "no-protocol", "the bot answered packet 3 twice"),
        ("too-many", "no-protocol", "starts with 101, expected the number of cells"),
        ("negative", "no-protocol", "received: integers -1 "),
        ("text", "no-protocol", "(11 bytes)"),
        ("empty", "illegal-move", "a path has at least two cells, start and end, not 0"),
        ("off-board", "illegal-move", "column 8 is not on the board: both count from 0 to 7"),
        ("half", "time", "; its answer is incomplete; received: integers 2 "),
        ("floods", "no-protocol", "answered packet 0, but the last one it received is 3"),
        ("floods-output", "flood", "the bot wrote more than 64 KiB in a line"),
        ("closes", "end-of-output", "the bot closed its connection but is still running"),
        (
            "crash",
            "crash",
            "code 1; last line of its standard error: \"ZeroDivisionError: on purpose\"",
        ),
        ("late", "time", "the bot did not answer in time"),
    ] {
        let mut config = halma_match([&client("board", mode), "random"], SHORT_MOVE_TIME);
        config.settings.fault_policy = FaultPolicy::Forfeit;
        match mode {
            "never-connects" => config.settings.startup_timeout = Duration::from_secs(1),
            // The client must be able to connect on a busy machine.
            "no-team" => config.settings.startup_timeout = Duration::from_secs(5),
            _ => {}
        }
        play(&config).iter().for_each(|game| assert_forfeits(game, code, part));
    }
}

#[test]
fn late_packet_does_not_count_for_the_next_turn() {
    let mut config = halma_match([&client("board", "late"), "random"], SHORT_MOVE_TIME);
    start_at(&mut config, NEAR_TURN_LIMIT);
    for game in play(&config) {
        assert_eq!(game.summary().reason, "turn-limit", "{}", game.played.description);
        assert_eq!(game.faults()[0], 4, "{:?}", game.played.incidents);
        let codes = game.played.incidents.iter().map(|incident| incident.code.as_str());
        assert!(codes.into_iter().all(|code| code == "time"), "{:?}", game.played.incidents);
    }
}

#[test]
fn client_may_use_cpu_time_in_its_own_turns() {
    let players = [&client("board", "thinks"), "random"];
    let mut config = halma_match(players, Duration::from_secs(60));
    // The client thinks for two seconds in each game.
    config.players[0].program_mut().unwrap().limits = "cpu-slack=1s".parse().unwrap();
    start_at(&mut config, NEAR_TURN_LIMIT);
    play_faultless(&config);
}

/// Copies a source file of the tests to a new folder, with `code` at the marked place.
fn source_with(file: &str, code: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for name in [file, "student.h"] {
        let text = fs::read_to_string(fixture(name)).unwrap();
        fs::write(folder.path().join(name), text.replace("/* HERE */", code)).unwrap();
    }
    let path = folder.path().join(file).display().to_string();
    (folder, path)
}

/// A match of the C function of the tests, with `code` at the marked place.
fn student_match(code: &str, move_time: Duration) -> (TempDir, MatchConfig) {
    let (folder, file) = source_with("student.c", code);
    let student = format!("c-function:{file}");
    (folder, match_config("chinese-checkers", [&student, "random"], move_time))
}

#[test]
fn functions_play_complete_games_unchanged() {
    let (_folder, file) = source_with("student.c", "printf(\"turn %d\\n\", turns);");
    let student = format!("c-function:{file}");
    play_faultless(&match_config("chinese-checkers", [&student, &student], MOVE_TIME));
    let contestant = format!("cpp-function:{}", fixture("contestant.cpp").display());
    for game in ["contest", "contest:draw-plies=30"] {
        play_faultless(&match_config(game, [&contestant, &contestant], MOVE_TIME));
    }
}

#[test]
fn function_gets_a_new_process_for_each_game() {
    // A process that played on would reach 100 turns in its third game.
    let (_folder, mut config) = student_match("if (turns > 100) return 1;", MOVE_TIME);
    config.pairs = 2;
    start_at(&mut config, "#7/8/8/8/8/8/8/7O # 100");
    play_faultless(&config);
}

#[test]
fn misbehaving_function_forfeits_with_the_reason() {
    for (code, fault, part) in [
        ("if (turns == 3) *(volatile int *)0 = 1;", "crash", "(segmentation fault)"),
        ("if (turns == 3) exit(0);", "crash", "the bot exited with code 0"),
        ("if (turns == 3) for (;;) sleep(1);", "time", "the bot did not answer in time"),
        ("if (turns == 3) return -5;", "illegal-move", "the function returned -5, expected"),
        ("if (turns == 3) return 1188;", "illegal-move", "received: \"move 1188\""),
        ("if (turns == 3) abort();", "crash", "by signal 6 (abort)"),
    ] {
        let (_folder, config) = student_match(code, SHORT_MOVE_TIME);
        play(&config).iter().for_each(|game| assert_forfeits(game, fault, part));
    }
}

#[test]
fn function_may_do_anything_to_its_standard_streams() {
    for code in [
        "puts(\"move 1112\"); fputs(\"no end\", stdout);",
        "fclose(stdout); fclose(stdin); close(0); close(1);",
        "if (scanf(\"%d\", &from) != -1) return 0;",
    ] {
        let (_folder, config) = student_match(code, MOVE_TIME);
        play_faultless(&config);
    }
}

#[test]
fn function_for_one_side_forfeits_with_the_other() {
    let (_folder, file) = source_with("contestant.cpp", "row1 = 2; col1 = 2; return;");
    let contestant = format!("cpp-function:{file}");
    let config = || match_config("contest", [&contestant, "random"], MOVE_TIME);
    let games = play(&config());
    assert_ends_by_rules(&games[0]);
    assert_forfeits(&games[1], "illegal-move", "row 2, column 2 is not a dark square");
    assert!(games[1].played.description.contains("row1=2"), "{}", games[1].played.description);
    let text = fs::read_to_string(&file).unwrap().replace("void move_red", "void move_white");
    fs::write(&file, text).unwrap();
    let games = play(&config());
    assert_ends_by_rules(&games[0]);
    let part = "no function move_red: it plays the other side only";
    assert_forfeits(&games[1], "illegal-move", part);
}

#[test]
fn source_without_the_function_is_refused_with_its_signature() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text, part) in [
        ("a.c", "int player(int a) { return a; }", "int ai_player(int player, const int *board)"),
        ("b.cpp", "void move(int a) {}", "found neither void move_black"),
        ("c.cpp", "void move_red(int b[][8]) {}", "has 1 parameters, expected six"),
        ("d.c", "int ai_player(int p, const int *b) { return oops; }", "oops"),
    ] {
        let path = folder.path().join(file);
        fs::write(&path, text).unwrap();
        let is_c = file.ends_with(".c");
        let (protocol, game) =
            if is_c { ("c-function", "chinese-checkers") } else { ("cpp-function", "contest") };
        let bot = format!("{protocol}:{}", path.display());
        let result = try_play(&match_config(game, [&bot, "random"], MOVE_TIME));
        let Err(JobError::StartFailed(message)) = result else { panic!("{result:?}") };
        assert!(message.contains(part) && message.contains(file), "{message}");
    }
}

#[test]
fn bot_for_another_game_is_refused_before_anything_starts() {
    for (bot, game, part) in [
        (client("board", "fine"), "english", "tcp-int32 bots play capture-halma only"),
        (format!("c-function:{}", fixture("student.c").display()), "contest", "chinese-checkers"),
    ] {
        let result = try_play(&match_config(game, [&bot, "random"], MOVE_TIME));
        let Err(JobError::StartFailed(message)) = result else { panic!("{result:?}") };
        assert!(message.contains("cannot play") && message.contains(part), "{message}");
    }
}

#[test]
fn functions_in_one_folder_cannot_read_or_include_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let student = fs::read_to_string(fixture("student.c")).unwrap();
    fs::copy(fixture("student.h"), folder.path().join("student.h")).unwrap();
    write("victim.c", &student);
    let bot = |name: &str| format!("c-function:{}", folder.path().join(name).display());
    let config =
        |name: &str| match_config("chinese-checkers", [&bot(name), &bot("victim.c")], MOVE_TIME);
    std::os::unix::fs::symlink("victim.c", folder.path().join("linked.h")).unwrap();
    // Nobody may wait for somebody to write to a named pipe.
    let pipe = Command::new("mkfifo").arg(folder.path().join("pipe.h")).status();
    assert!(pipe.unwrap().success());
    for included in ["victim.c", "linked.h", "pipe.h"] {
        let function = "int ai_player_9(int p, const int *b) { return 0; }";
        write("thief.c", &format!("#include \"{included}\"\n{function}\n"));
        match try_play(&config("thief.c")) {
            Err(JobError::StartFailed(message)) => {
                assert!(
                    message.contains("fatal error:") && message.contains(included),
                    "{message}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    let path = folder.path().join("victim.c");
    let spy = format!(
        "#include <stdio.h>\n#include <stdlib.h>\nint ai_player(int player, const int *board) {{\n\
         if (fopen(\"{}\", \"r\")) exit(77);\nexit(66); }}\n",
        path.display()
    );
    write("spy.c", &spy);
    for game in play(&config("spy.c")) {
        assert_forfeits(&game, "crash", "exited with code 66");
    }
}

/// Compiles the CheckerBoard engine of the tests as a shared library. Returns the player.
fn engine(folder: &TempDir, compiler: &str, misbehaviour: u32) -> String {
    let library = folder.path().join(format!("engine_{misbehaviour}_{compiler}.so"));
    let source = fixture("checkerboard_engine.c");
    let language = if compiler == "c++" { "c++" } else { "c" };
    let status = Command::new(compiler)
        .args(["-O1", "-fPIC", "-shared", "-x", language, &format!("-DMISBEHAVES={misbehaviour}")])
        .arg("-o")
        .args([&library, &source])
        .status();
    assert!(status.unwrap().success(), "cannot compile {}", source.display());
    format!("checkerboard:{}", library.display())
}

#[test]
fn checkerboard_engines_in_c_and_cpp_play_complete_games() {
    let folder = TempDir::new().unwrap();
    let players = [engine(&folder, "cc", 0), engine(&folder, "c++", 0)];
    let mut config = match_config("english", players.each_ref().map(String::as_str), MOVE_TIME);
    (config.pairs, config.log) = (2, Some(folder.path().to_path_buf()));
    play_faultless(&config);
    // The log of the last game: one process for all games, the time limit is exact.
    let logs = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<_> =
        logs.filter(|path| path.extension().is_some_and(|e| e == "log")).collect();
    logs.sort();
    let log = fs::read_to_string(logs.last().unwrap()).unwrap();
    for part in ["engine output", "result 3: games=4 ", "exact=1 maxtime=1.9"] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

#[test]
fn misbehaving_checkerboard_engine_forfeits_with_the_reason() {
    let folder = TempDir::new().unwrap();
    for (misbehaviour, code, part) in [
        (1, "illegal-move", "the engine did not change the board"),
        (2, "illegal-move", "no legal move leads to the engine's board; square"),
        (3, "time", "did not answer in time"),
    ] {
        let player = engine(&folder, "cc", misbehaviour);
        let games = play(&match_config("english", [&player, "random"], SHORT_MOVE_TIME));
        assert_forfeits(&games[0], code, part);
    }
    let library = folder.path().join("none.so");
    fs::write(&library, "not a library").unwrap();
    let player = format!("checkerboard:{}", library.display());
    let games = play(&match_config("english", [&player, "random"], MOVE_TIME));
    assert_forfeits(&games[0], "crash", "cannot load the engine");
    let missing = "checkerboard:/nowhere/engine.so".parse::<PlayerSpec>().unwrap_err();
    assert!(missing.to_string().contains("needs a shared library"), "{missing}");
}
