//! Bots that misbehave, as real processes: each game ends as it should, in time, and nothing stays
//! behind.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crownhead_play::{FaultPolicy, GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_sandbox::Isolation;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

/// How long a move may take; the late bot takes longer.
const MOVETIME: Duration = Duration::from_millis(250);

/// A text that is in the command line of the processes of one test only.
fn mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("mark-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The processes with a mark that are not dead.
fn processes(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!("{:?} {}", entry.file_name(), String::from_utf8_lossy(&line)))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

fn plan(game: &str, mode: &str, mark: &str) -> MatchConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile.py");
    let game: Game = game.parse().unwrap();
    let bot = format!("cmd:python3 '{}' {mode} {mark}", script.display());
    MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(MOVETIME),
            ..GameSettings::default_for(&game)
        },
        game,
        players: [bot.parse().unwrap(), "random".parse().unwrap()],
        pairs: 1,
        openings: Openings::Random(2),
        seed: 7,
        concurrency: 2,
        log: None,
    }
}

fn played(plan: &MatchConfig) -> Vec<MatchGame> {
    let mut games = Vec::new();
    matches::play(plan, &Knowledge::default(), &StopFlag::new(), |game| games.push(game)).unwrap();
    games.sort_by_key(|game| (game.pair, game.first));
    games
}

/// A match that was timed.
struct Timed {
    games: Vec<MatchGame>,
    /// All of it.
    time: Duration,
    /// From the end of the last game to the end of all: the bots are ended meanwhile.
    end: Duration,
    /// How much later than it should a thread woke up meanwhile that only slept: what the machine
    /// had no time for. No referee can make up for that.
    delay: Duration,
}

fn timed(plan: &MatchConfig) -> Timed {
    const NAP: Duration = Duration::from_millis(10);
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let (mut games, mut last) = (Vec::new(), begun);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut delay = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(NAP);
                delay += begun.elapsed().saturating_sub(NAP);
            }
            delay
        });
        let result = matches::play(plan, &Knowledge::default(), &StopFlag::new(), |game| {
            games.push(game);
            last = Instant::now();
        });
        let (time, end) = (begun.elapsed(), last.elapsed());
        is_over.store(true, Ordering::Relaxed);
        result.unwrap();
        Timed { games, time, end, delay: sleeper.join().unwrap() }
    })
}

/// Plays a hostile bot, sees to it that it ends within its limits plus a second and that nothing is
/// left of it, and gives the games.
fn hostile(game: &str, mode: &str) -> Vec<MatchGame> {
    let mark = mark();
    let mut plan = plan(game, mode, &mark);
    if mode == "says-nothing" {
        plan.settings.startup_timeout = Duration::from_secs(1);
    }
    let Timed { games, time, end, delay } = timed(&plan);
    assert_eq!(games.len(), 2, "{mode}");
    let (second, limit) = (Duration::from_secs(1), MOVETIME + plan.settings.grace);
    for game in &games {
        assert!(
            game.slowest_move()[0] < limit + second + delay,
            "{mode}: {:?}",
            game.slowest_move()
        );
    }
    assert!(end < second + delay, "{mode}: {end:?} after the last game, {delay:?} not to blame");
    // The games are played at once. A bot may take its time to start, to be ready for the game, and
    // for each of its turns.
    let turns = games.iter().map(|game| game.played.moves.len() as u32 / 2 + 1).max().unwrap();
    let limits = 2 * plan.settings.startup_timeout + turns * limit;
    assert!(time < limits + second + delay, "{mode}: {time:?}, limits {limits:?}");
    assert_eq!(processes(&mark), Vec::<String>::new(), "{mode}: no process is left behind");
    games
}

#[test]
fn whoever_misbehaves_forfeits_with_the_reason() {
    for (mode, code, sentence) in [
        ("crash-at-once", "crash", "the bot ended with exit code 3"),
        (
            "crash-on-fifth-move",
            "crash",
            "exit code 1; the last line of its standard error: \"ZeroDivisionError: on purpose\"",
        ),
        ("hangs", "time", "the bot did not answer in time"),
        ("ignores-sigterm", "time", "the bot did not answer in time"),
        ("forks", "time", "the bot did not answer in time"),
        ("floods-at-start", "flood", "the bot wrote too much"),
        ("floods-output", "flood", "received: \"xxxxx"),
        ("floods-lines", "flood", "all lines of a turn 1 MiB"),
        ("floods-errors", "time", "the bot did not answer in time"),
        ("late", "time", "the bot did not answer in time"),
        ("earlier-turn", "time", "; received: \"move 1-1 ply="),
        ("twice", "no-protocol", "the bot answered before it was asked"),
        ("long-line", "flood", "received: \"move xxxxx"),
        ("no-utf8", "no-protocol", "bytes that are no UTF-8 text; received: \"move \\xff\\xfe\""),
        ("closes-output", "end-of-output", "the bot closed its standard output and lives on"),
        ("errors-without-end", "end-of-output", "the bot closed its standard output and lives on"),
        ("joins-a-group", "time", "the bot did not answer in time"),
        ("joins-our-group", "time", "the bot did not answer in time"),
        ("leaves-a-child", "crash", "the bot ended with exit code 7"),
        ("later-turn", "no-protocol", "and was asked for "),
        ("hidden-second", "no-protocol", "the bot answered before it was asked"),
        ("no-utf8-after", "no-protocol", "bytes that are no UTF-8 text; received: \"\\xff\""),
        ("long-line-after", "flood", "received: \"zzzzz"),
        ("bare", "time", "no line was an answer, which would be: move "),
        ("capital", "time", "received: \"Move "),
        ("colon", "time", "received: \"move: "),
        ("illegal", "illegal-move", "received: \"move 32-1\""),
        ("no-move", "no-protocol", "a move line without a move"),
    ] {
        for game in hostile("english", mode) {
            assert_eq!(game.summary().reason, code, "{mode}: {}", game.played.description);
            assert_eq!(game.summary().forfeit, Some(game.first), "{mode}: the bot's fault");
            assert_eq!(game.summary().winner, Some(1 - game.first), "{mode}");
            assert!(
                game.played.description.contains(sentence),
                "{mode}: {}",
                game.played.description
            );
            for part in ["Position: ", "Legal moves: ", "the game is lost"] {
                assert!(
                    game.played.description.contains(part),
                    "{mode}: {}",
                    game.played.description
                );
            }
            assert!(game.played.description.len() < 1000, "{mode}: {}", game.played.description);
        }
    }
}

#[test]
fn whoever_is_only_odd_plays_to_the_end() {
    for mode in [
        "fine",
        "much-on-errors",
        "chatters",
        "ignores-quit",
        "floods-at-quit",
        "daemon",
        "says-nothing",
    ] {
        for game in hostile("english", mode) {
            assert!(game.summary().forfeit.is_none(), "{mode}: {}", game.played.description);
            assert_eq!(game.faults(), [0, 0], "{mode}");
        }
    }
}

#[test]
fn in_capture_halma_a_fault_costs_the_turn_and_the_other_plays_on() {
    for (mode, code) in
        [("illegal", "illegal-move"), ("crash-on-fifth-move", "crash"), ("floods-output", "flood")]
    {
        for game in hostile("capture-halma", mode) {
            assert!(game.summary().forfeit.is_none(), "{mode}: {}", game.played.description);
            assert!(game.faults()[0] > 0 && game.faults()[1] == 0, "{mode}: {:?}", game.faults());
            assert!(game.played.moves.contains(&"pass".to_string()), "{mode}");
            let incident = &game.played.incidents[0];
            assert_eq!(incident.code, code);
            let sentence = &incident.description;
            assert!(sentence.contains("the turn is skipped"), "{sentence}");
            // What was skipped is read back from a file.
            let record = game.record(&plan("capture-halma", mode, ""));
            let text = crownhead_records::format_game(&record).unwrap();
            let read = crownhead_records::Reader::new(text.as_bytes()).next().unwrap().unwrap();
            assert_eq!(read.line.plies.len(), record.line.plies.len());
        }
    }
}

/// The logs of a match of the bot with this mode, in the order of the games.
fn logs(
    game: &str,
    mode: &str,
    set: impl FnOnce(&mut MatchConfig),
) -> (Vec<MatchGame>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(game, mode, "");
    plan.log = Some(folder.path().to_path_buf());
    set(&mut plan);
    let games = played(&plan);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    (games, paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect())
}

#[test]
fn every_fault_is_in_the_log_with_what_was_made_instead() {
    for (game, policy) in [
        ("capture-halma", FaultPolicy::Skip),
        ("english", FaultPolicy::RandomMove),
        ("english", FaultPolicy::Forfeit),
    ] {
        let (games, logs) = logs(game, "illegal", |plan| plan.settings.fault_policy = policy);
        assert_eq!(logs.len(), 2);
        for (game, log) in games.iter().zip(&logs) {
            let remarks: Vec<_> = log.lines().filter(|line| line.contains(" * illegal-")).collect();
            assert_eq!(remarks.len() as u32, game.faults()[0], "{policy}: {log}");
            let own = game.played.moves.iter().skip(game.first).step_by(2);
            for (remark, made) in remarks.iter().zip(own) {
                let told = format!("; by the policy {policy}, {made} is made instead");
                assert!(remark.contains("received: \"move 32-1\"; "), "{remark}");
                assert!(remark.ends_with(&told), "{remark}, {told}");
            }
        }
    }
}

#[test]
fn a_crash_is_told_once_and_its_log_has_the_result() {
    let (games, logs) = logs("capture-halma", "crash-on-fifth-move", |_| {});
    for (game, log) in games.iter().zip(&logs) {
        assert_eq!((game.faults()[0], game.played.incidents.len()), (1, 1));
        let remarks: Vec<_> = log.lines().filter(|line| line.contains(" * ")).collect();
        let [crash, end] = remarks[..] else { panic!("{remarks:?}") };
        assert!(crash.contains(" * crash: the bot ended with exit code 1"), "{crash}");
        assert!(crash.ends_with("its later turns are made without it"), "{crash}");
        assert!(end.ends_with(&game.played.description), "{end}");
    }
}

#[test]
fn a_bot_that_was_late_plays_the_next_game_too() {
    let (games, logs) = logs("capture-halma", "late-once", |plan| {
        (plan.pairs, plan.concurrency) = (2, 1);
    });
    assert!(games.iter().all(|game| game.timeouts()[0] > 0));
    let greeted = logs.iter().filter(|log| log.contains(" > crownhead protocol=1")).count();
    assert_eq!((logs.len(), greeted), (4, 1), "it was started once");
    // One that does not get ready again is started anew.
    let (games, logs) = self::logs("english", "hangs", |plan| plan.concurrency = 1);
    assert!(games.iter().all(|game| game.summary().reason == "time"));
    assert!(logs.iter().all(|log| log.contains(" > crownhead protocol=1")), "{logs:?}");
}

#[test]
fn a_child_does_not_hide_in_our_group() {
    let mark = mark();
    let mode = format!("child-joins-our-group {mark} {}", std::process::id());
    let mut plan = plan("english", &mode, "");
    plan.players[0].program_mut().unwrap().isolation = Isolation::Off;
    played(&plan);
    assert_eq!(processes(&mark), Vec::<String>::new());
}

#[test]
fn a_late_answer_does_not_count_for_the_next_turn() {
    let mark = mark();
    let mut plan = plan("chinese-checkers", "late", &mark);
    plan.settings.fault_policy = FaultPolicy::Skip;
    // Near the end, so that the game is short.
    let start = "#7/8/8/8/8/8/8/7O # 190";
    plan.openings = Openings::parse(start, &plan.game).unwrap();
    for game in played(&plan) {
        assert_eq!(game.summary().reason, "turn-limit", "{}", game.played.description);
        let codes: Vec<_> =
            game.played.incidents.iter().map(|incident| incident.code.as_str()).collect();
        assert!(codes.iter().all(|code| *code == "time"), "{codes:?}");
        assert_eq!(game.faults()[0], 5);
    }
    assert_eq!(processes(&mark), Vec::<String>::new());
}

#[test]
fn a_random_move_is_made_for_whoever_makes_none() {
    let mark = mark();
    let mut plan = plan("english", "crash-on-fifth-move", &mark);
    plan.settings.fault_policy = FaultPolicy::RandomMove;
    let games = played(&plan);
    for game in &games {
        assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
        assert!(game.faults()[0] > 0);
    }
    let moves = |games: Vec<MatchGame>| -> Vec<_> {
        games.into_iter().map(|game| game.played.moves).collect()
    };
    assert_eq!(moves(games), moves(played(&plan)), "the seed decides");
}

#[test]
fn no_other_game_is_disturbed() {
    let mut games = BTreeMap::new();
    for mode in ["fine", "moody"] {
        let mark = mark();
        let mut plan = plan("english", mode, &mark);
        (plan.pairs, plan.concurrency) = (8, 4);
        games.insert(mode, played(&plan));
        assert_eq!(processes(&mark), Vec::<String>::new());
    }
    let mut broken = 0;
    for (fine, moody) in games["fine"].iter().zip(&games["moody"]) {
        assert!(fine.summary().forfeit.is_none(), "{}", fine.played.description);
        match moody.summary().forfeit {
            Some(_) => {
                assert_eq!(moody.summary().reason, "crash", "{}", moody.played.description);
                assert!(
                    moody.played.description.contains("by signal 6 (abort)"),
                    "{}",
                    moody.played.description
                );
                broken += 1;
            }
            None => assert_eq!(fine.played.moves, moody.played.moves),
        }
    }
    assert!((1..16).contains(&broken), "{broken} of 16 games");
}

#[test]
fn a_bot_stays_alive_between_games_unless_its_file_says_otherwise() {
    for (line, starts) in [("", 2), ("restart = true", 8)] {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile.py");
        let start = format!("echo >> starts; exec python3 '{}' fine", script.display());
        let text = format!("command = [\"sh\", \"-c\", \"{start}\"]\n{line}\n");
        std::fs::write(folder.path().join("bot.toml"), text).unwrap();
        let mut plan = plan("english", "fine", "");
        plan.players[0] = folder.path().to_str().unwrap().parse().unwrap();
        // It writes to its folder.
        plan.players[0].program_mut().unwrap().isolation = Isolation::Off;
        (plan.pairs, plan.concurrency) = (4, 2);
        for game in played(&plan) {
            assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
        }
        let counted = std::fs::read_to_string(folder.path().join("starts")).unwrap();
        assert_eq!(counted.lines().count(), starts, "{line}");
    }
}
