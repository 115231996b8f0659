//! `crownhead bot`, `crownhead engine`, and matches of bots.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Finished, crownhead, crownhead_in, crownhead_reading, finish};

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_crownhead")
}

pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The bot that plays random moves and misbehaves as its mode says.
pub(crate) fn hostile(mode: &str) -> String {
    format!("cmd:python3 '{}' {mode}", project("crates/bots/tests/fixtures/hostile.py").display())
}

/// Returns the JSON object of a command that succeeded without messages.
pub(crate) fn result(finished: &Finished) -> Value {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    finished.json()
}

#[test]
fn crash_after_many_faults_is_reported() {
    let bot = hostile("illegal-then-abort");
    let arguments = ["match", &bot, "random", "--game", "capture-halma", "-n", "4", "--json"];
    let run = |concurrency: &str| {
        let finished = crownhead(&[&arguments[..], &["--concurrency", concurrency]].concat());
        assert_eq!(finished.code, Some(4), "{finished:?}");
        finished.json()
    };
    let object = run("1");
    let incidents = object["incidents"].as_array().unwrap();
    let crash = incidents.iter().find(|incident| incident["code"] == "crash").unwrap();
    for (key, start) in [
        ("message", "the bot was killed by signal 6 (abort)"),
        ("description", "crash, Black, ply "),
        ("side", "b"),
    ] {
        assert!(crash[key].as_str().unwrap().starts_with(start), "{crash}");
    }
    let count = object["faults"][0].as_u64().unwrap();
    assert_eq!(object["incidents_omitted"].as_u64(), Some(count - incidents.len() as u64));
    assert_eq!(object["incidents"], run("4")["incidents"], "in the order of the games");
}

#[test]
fn match_of_a_bot_that_cannot_start_prints_json() {
    let finished = crownhead(&["match", "cmd:./no", "random", "--game", "english", "--json"]);
    assert_eq!(finished.code, Some(4));
    let object = finished.json();
    assert_eq!(object["games"], 0);
    assert!(object["failure"].as_str().unwrap().contains("cmd:./no cannot be started"), "{object}");
}

#[test]
fn unwritable_log_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    // A folder is in the way of the second game's log.
    fs::create_dir_all(folder.path().join("logs/00002-white-hostile.py.log")).unwrap();
    let bot = hostile("fine");
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2", "--log", "logs"];
    let finished = crownhead_in(folder.path(), &arguments);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("the logs are incomplete: logs/00002-white-hostile.py.log: "));
    assert!(finished.stdout.contains("games     2"), "{finished:?}");
}

#[test]
fn failed_build_shows_compiler_output() {
    let folder = tempfile::tempdir().unwrap();
    crownhead_in(folder.path(), &["bot", "new", "c", "bad"]).printed();
    fs::write(folder.path().join("bad/bot.c"), "int main(void) { return oops; }").unwrap();
    let finished = crownhead_in(folder.path(), &["match", "./bad", "random", "--game", "english"]);
    let message = finished.refused(4);
    let start = "building ./bad with \"cc -O2 -o bot bot.c\" failed with exit code 1:\n";
    assert!(message.contains(start), "{message}");
    assert!(message.contains("oops"), "{message}");
    // The first error matters most, so the beginning is shown as well as the end.
    let script = "echo the first >&2; seq 10000 >&2; echo the last >&2; exit 9";
    let text = format!("command = \"x\"\nbuild = [\"sh\", \"-c\", \"{script}\"]\n");
    fs::write(folder.path().join("bad/bot.toml"), text).unwrap();
    let finished = crownhead_in(folder.path(), &["match", "./bad", "random", "--game", "english"]);
    let message = finished.refused(4);
    assert!(message.contains("failed with exit code 9:\nthe first\n1\n2\n"), "{message}");
    assert!(message.trim_end().ends_with("10000\nthe last") && message.len() < 8192, "{message}");
}

#[test]
fn replay_shows_a_logged_turn_and_asks_again() {
    let folder = tempfile::tempdir().unwrap();
    let bot = hostile("much-on-errors");
    let play = ["match", &bot, "random", "--game", "chinese-checkers", "-n", "2", "--log", "logs"];
    crownhead_in(folder.path(), &play).printed();
    let log = "logs/00001-blue-hostile.py.log";
    let text = fs::read_to_string(folder.path().join(log)).unwrap();
    assert!(
        text.starts_with("crownhead bot log, version 1\ngame      chinese-checkers\n"),
        "{text}"
    );
    for part in [
        " > crownhead protocol=1",
        " < ready",
        " > newgame game=chinese-checkers side=#",
        " ! xxxx",
        "more than 1 MiB of standard error",
        "    1 2 3 4 5 6 7 8\n  1 ",
        " > gameover result=",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.len() < 4 << 20, "{} bytes", text.len());
    assert!(folder.path().join("logs/00002-red-hostile.py.log").is_file());
    let replay = crownhead_in(
        folder.path(),
        &["bot", "replay", log, "--at", "8", "--bot", &hostile("fine")],
    );
    let printed = replay.printed();
    assert!(printed.starts_with("chinese-checkers, ply 8, Blue to move: "), "{printed}");
    let (logged, now) = printed.split_once("\nnow\n").unwrap();
    assert!(logged.contains("\nlogged\n") && logged.contains(" < move "), "{printed}");
    assert!(now.contains(" < move "), "{printed}");
    let show = ["bot", "replay", log, "--at", "8", "--show", "--json"];
    let turn = crownhead_in(folder.path(), &show).json();
    assert_eq!((&turn["ply"], &turn["now"]), (&json!(8), &Value::Null));
    let following = turn["following"].as_array().unwrap();
    assert!(following.iter().any(|line| line["direction"] == "<"), "{turn}");
    let last = crownhead_in(folder.path(), &["bot", "replay", log, "--show", "--json"]).json();
    assert!(last["ply"].as_u64() > Some(8), "the last turn without --at: {last}");
    let wrong = crownhead_in(folder.path(), &["bot", "replay", log, "--at", "9"]);
    assert!(
        wrong.refused(3).contains("the bot was not asked at ply 9, only at every second ply"),
        "{wrong:?}"
    );
    let wrong = crownhead_in(folder.path(), &["bot", "replay", "logs"]);
    assert!(wrong.refused(3).contains("logs: a folder; name one of the logs in it"), "{wrong:?}");
    fs::write(folder.path().join("other"), "nonsense").unwrap();
    let wrong = crownhead_in(folder.path(), &["bot", "replay", "other", "--at", "9"]);
    assert!(wrong.refused(3).contains("other: line 1: not a bot log"), "{wrong:?}");
}

#[test]
fn replay_works_from_another_folder_and_reports_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    crownhead_in(folder.path(), &["bot", "new", "python", "my bot"]).printed();
    let play = ["match", "./my bot", "random", "--game", "english", "-n", "2", "--log", "logs"];
    crownhead_in(folder.path(), &play).printed();
    let logs: Vec<_> = fs::read_dir(folder.path().join("logs")).unwrap().flatten().collect();
    let black = logs.iter().find(|log| log.file_name().to_string_lossy().contains("black"));
    let log = black.unwrap().path().display().to_string();
    let replayed = crownhead(&["bot", "replay", &log, "--at", "6"]);
    assert!(replayed.printed().contains("\nnow\n"), "{replayed:?}");
    let crash = hostile("crash-at-once");
    let crashed = crownhead(&["bot", "replay", &log, "--at", "6", "--bot", &crash]);
    assert_eq!(crashed.code, Some(4), "{crashed:?}");
    assert!(crashed.stderr.contains("the bot exited with code 3"), "{crashed:?}");
}

#[test]
fn commands_printed_by_bot_new_work_in_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let created = crownhead_in(folder.path(), &["bot", "new", "python", "it's mine"]);
    let line = created.printed().lines().find(|line| line.contains(" match ")).unwrap();
    let script = line.replace("crownhead", program()).replace("-n 20", "-n 2");
    let mut shell = Command::new("sh");
    let finished = finish(shell.args(["-c", &script]).current_dir(folder.path()));
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

#[test]
fn invalid_manifest_is_reported_with_its_location() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.toml");
    let name = folder.path().to_str().unwrap();
    for (text, message) in [
        ("command = \"x\"\n  speed = 3\n", "bot.toml, line 2, column 3: unknown key \"speed\""),
        ("command = 3\n", "bot.toml, line 1, column 1: command must be a string"),
        ("command = \n", "line 1, column 11"),
        ("name = \"x\"\n", "bot.toml: missing command = \"…\""),
    ] {
        fs::write(&file, text).unwrap();
        for arguments in [
            &["match", name, "random", "--game", "english"][..],
            &["bot", "check", name, "--game", "english"],
        ] {
            let finished = crownhead(arguments);
            assert!(finished.refused(3).contains(message), "{text}: {finished:?}");
        }
    }
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    let finished = crownhead(&["match", name, "random", "--game", "english"]);
    assert!(finished.refused(3).contains("bot.toml: not a regular file"), "{finished:?}");
}

#[test]
fn forfeit_is_reported_with_exit_code_4() {
    let arguments = ["match", &hostile("illegal"), "random", "--game", "contest", "-n", "2"];
    let finished = crownhead(&arguments);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(4), ""), "{finished:?}");
    assert!(finished.stdout.contains("\nends      illegal-move 2\n"), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("\ngame 1: illegal-move, Black, ply 6: "),
        "{}",
        finished.stdout
    );
    assert!(finished.stdout.contains("; received: \"move 32-1\"."), "{}", finished.stdout);
    let strict = crownhead(&["match", "random", "random", "--game", "english", "--grace", "0ms"]);
    assert!(strict.printed().contains("timeouts  random 0, random 0"), "{strict:?}");
    let skip = crownhead(&["match", "random", "random", "--game", "english", "--policy", "skip"]);
    assert!(skip.refused(2).contains("turns cannot be skipped in english"), "{skip:?}");
    let odd = crownhead(&["match", "random", "random", "--game", "english", "--policy", "mercy"]);
    assert!(odd.refused(2).contains("a policy is forfeit, skip or random-move"), "{odd:?}");
}

/// Returns the processes with a text in their command line, except the match itself.
pub(crate) fn processes(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some(format!("{} {line}", entry.file_name().display()))
    });
    lines.filter(|line| line.contains(mark) && !line.contains(" match ")).collect()
}

/// Starts a match and interrupts it as soon as a marked process runs; `again` repeats the signal.
fn interrupt_match(bot: &str, mark: &str, again: bool) {
    let game = ["match", bot, "random", "--game", "english", "--movetime", "600s", "--json"];
    interrupt_command(&game, mark, again);
}

fn interrupt_command(arguments: &[&str], mark: &str, again: bool) {
    let mut command = crate::harness::command(arguments);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    while processes(mark).is_empty() {
        std::thread::yield_now();
    }
    let interrupt = format!("kill -INT {}", child.id());
    finish(Command::new("sh").args(["-c", &interrupt]));
    while again && child.try_wait().unwrap().is_none() {
        finish(Command::new("sh").args(["-c", &interrupt]));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(processes(mark), Vec::<String>::new());
}

#[test]
fn interrupted_match_leaves_no_bot_running() {
    for again in [false, true] {
        let mark = format!("mark-{}-{again}", std::process::id());
        interrupt_match(&hostile(&format!("ignores-sigterm {mark}")), &mark, again);
    }
}

#[test]
fn interrupted_build_leaves_no_process_running() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("mark-{}-build", std::process::id());
    let text = format!("command = \"x\"\nbuild = [\"sh\", \"-c\", \"sleep 600; echo {mark}\"]");
    fs::write(folder.path().join("bot.toml"), text).unwrap();
    let bot = folder.path().to_str().unwrap();
    interrupt_match(bot, &mark, false);
    interrupt_command(&["play", "--second", bot, "--plain"], &mark, false);
    interrupt_command(&["bot", "play", bot, "--plain"], &mark, false);
}

/// Returns the exit code of a match and the peak memory of its largest process, bots included, in
/// kilobytes.
fn match_peak_memory(arguments: &[&str]) -> (i32, u64) {
    let script = "import resource, subprocess, sys\n\
                  code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n\
                  print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let mut command = Command::new("python3");
    let finished = finish(command.args(["-c", script, program(), "match"]).args(arguments));
    let (code, kilobytes) = finished.printed().trim().split_once(' ').unwrap();
    (code.parse().unwrap(), kilobytes.parse().unwrap())
}

#[test]
fn concurrent_games_share_the_memory_for_balanced_openings() {
    let arguments = ["random", "random", "--game", "english", "-n", "100", "--concurrency", "50"];
    let (code, kilobytes) = match_peak_memory(&arguments);
    assert_eq!(code, 0);
    assert!(kilobytes < 50 * 1024, "{kilobytes} kB");
}

#[test]
fn output_flood_does_not_fill_memory() {
    for (mode, code) in [
        ("floods-output", 4),
        ("long-line", 4),
        ("floods-lines", 4),
        ("floods-errors", 4),
        ("floods-at-quit", 0),
    ] {
        let bot = hostile(mode);
        let games = [&bot, "random", "--game", "english", "-n", "4", "--concurrency", "4"];
        let arguments = [&games[..], &["--movetime", "500ms"]].concat();
        let (exit_code, kilobytes) = match_peak_memory(&arguments);
        assert_eq!(exit_code, code, "{mode}");
        assert!(kilobytes < 50 * 1024, "{mode}: {kilobytes} kB");
    }
}

#[test]
fn hundred_concurrent_games_have_no_timeouts() {
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("sleepy");
    let source = project("crates/bots/benches/trivial_bot.c");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&bot).arg(source).status().unwrap();
    assert!(compiled.success());
    fs::write(folder.path().join("start"), "###5/##6/#7/8/8/7O/6OO/5OOO # 160\n").unwrap();
    let bot = format!("cmd:{} 1000", bot.display());
    let games = result(&crownhead_in(
        folder.path(),
        &[
            "match",
            &bot,
            &bot,
            "--game",
            "chinese-checkers",
            "-n",
            "200",
            "--concurrency",
            "100",
            "--movetime",
            "2s",
            "--openings",
            "start",
            "--json",
        ],
    ));
    assert_eq!(games["timeouts"], json!([0, 0]), "{games}");
    assert_eq!(games["ends"], json!({ "turn-limit": 200 }), "{games}");
    assert!(games["cpu_seconds"].as_f64() > Some(0.0), "{games}");
}

#[test]
fn engine_plays_the_same_games_at_any_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let bot = format!("cmd:'{}' engine best:nodes=300,hash=1", program());
    let games = |concurrency: &str| {
        let arguments = [
            "match",
            &bot,
            "level:3",
            "--game",
            "english",
            "-n",
            "8",
            "--seed",
            "5",
            "--concurrency",
            concurrency,
            "--pdn",
            "games.pdn",
        ];
        crownhead_in(folder.path(), &arguments).printed();
        without_times(&fs::read_to_string(folder.path().join("games.pdn")).unwrap())
    };
    let alone = games("1");
    assert!(alone == games("4"), "{alone}");
    assert_eq!(alone.matches("[Result ").count(), 8);
}

/// Removes the times of the moves, and line breaks, which depend on them.
fn without_times(pdn: &str) -> String {
    let words = pdn.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = words.split("[%emt ").enumerate();
    let text = parts.map(|(index, part)| match index {
        0 => part,
        _ => part.split_once(']').map_or(part, |(_, rest)| rest),
    });
    text.collect()
}

#[test]
fn engine_answers_a_script() {
    let script = b"crownhead protocol=1\nnewgame game=english side=b movetime=100\n\
        unknown words are=ignored\n\
        turn ply=6 side=b position=\"B:W18,27:B15\" moves=15x22 time=100\n\
        turn position=\"B:nonsense\"\nquit\n";
    let finished = crownhead_reading(script, &["engine", "level:3"]);
    let lines: Vec<_> = finished.printed().lines().collect();
    assert_eq!(
        lines[..4],
        [
            "bot name=\"Crownhead level:3\" author=\"Crownhead\"",
            "ready",
            "ready",
            "move 15x22 ply=6",
        ]
    );
    assert!(lines[4].starts_with("# position, character 3: "), "{lines:?}");
    let alone = b"turn position=\"###5/##6/#7/8/8/7O/6OO/5OOO # 0\"\n";
    let finished = crownhead_reading(alone, &["engine", "random", "--game", "chinese-checkers"]);
    assert!(finished.printed().starts_with("move "), "{finished:?}");
    let refused = b"newgame game=nonsense\nturn position=\"B:W18,27:B15\"\n";
    let finished = crownhead_reading(refused, &["engine", "random"]);
    assert!(!finished.printed().contains("move "), "another game's position: {finished:?}");
    let nested = crownhead(&["engine", "cmd:x"]);
    assert!(nested.refused(2).contains("unknown player"), "{nested:?}");
}

#[test]
fn crash_in_a_match_shows_standard_error_the_line_and_the_log_once() {
    let folder = tempfile::tempdir().unwrap();
    let bot = "import sys\nfor line in sys.stdin:\n    if line.startswith('turn'):\n        \
               print('about to fail', file=sys.stderr)\n        {}[line[:4]]\n    \
               print('ready', flush=True)\n";
    std::fs::write(folder.path().join("crash.py"), bot).unwrap();
    let players = ["match", "cmd:python3 crash.py", "random"];
    let options = ["--game", "english", "-n", "4", "--log", "logs"];
    let finished = crownhead_in(folder.path(), &[&players[..], &options].concat());
    assert_eq!(finished.code, Some(4), "{finished:?}");
    let report = &finished.stdout;
    assert_eq!(report.matches("\ngame ").count(), 1, "{report}");
    assert!(report.contains("(4 times)\n  | about to fail\n  | Traceback"), "{report}");
    assert!(report.contains("  | KeyError: 'turn'\n  at "), "{report}");
    assert!(report.contains("crash.py:5\n  log logs/00001-black-"), "{report}");
    let log = report.split("  log ").nth(1).unwrap().trim();
    assert!(folder.path().join(log).is_file(), "{report}");
    // Asking again shows all of it too.
    let turn = std::fs::read_to_string(folder.path().join(log)).unwrap();
    let ply = turn.split("turn ply=").nth(1).unwrap().split(' ').next().unwrap();
    let finished = crownhead_in(folder.path(), &["bot", "replay", log, "--at", ply]);
    assert_eq!(finished.stdout.matches("! about to fail").count(), 2, "{}", finished.stdout);
    assert_eq!(finished.stdout.matches("! Traceback").count(), 2, "{}", finished.stdout);
    // The log names the lost game once.
    assert_eq!(finished.stdout.matches(" * ").count(), 1, "{}", finished.stdout);
    assert!(finished.stdout.contains("policy forfeit: the game is lost\n"), "{}", finished.stdout);
}

#[test]
fn bot_that_never_answers_is_advised_to_flush() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mute.py"), "import sys\nfor line in sys.stdin: pass\n")
        .unwrap();
    let players = ["match", "cmd:python3 mute.py", "random", "--game", "english", "-n", "2"];
    let options = ["--startup-timeout", "100ms", "--movetime", "100ms"];
    let finished = crownhead_in(folder.path(), &[&players[..], &options].concat());
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(finished.stdout.contains("it has never answered: flush"), "{}", finished.stdout);
    assert!(finished.stdout.contains("\nno logs; --log DIR "), "{}", finished.stdout);
}

#[test]
fn function_that_does_not_return_is_not_advised_to_flush() {
    let folder = tempfile::tempdir().unwrap();
    let function =
        "int ai_player(int player, const int *board) { for (;;) *(volatile int *)&player = 1; }";
    std::fs::write(folder.path().join("loop.c"), function).unwrap();
    let players = ["match", "c-function:loop.c", "random", "--game", "chinese-checkers", "-n", "2"];
    let finished = crownhead_in(folder.path(), &[&players[..], &["--movetime", "100ms"]].concat());
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(finished.stdout.contains("did not answer in time"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("flush"), "{}", finished.stdout);
}
