//! Bots that misbehave: every game ends in time with the right result, and no process is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crownhead_play::{FaultPolicy, Knowledge, StopFlag};
use crownhead_sandbox::Isolation;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

use crate::harness::{
    assert_ends_by_rules, assert_faultless, assert_forfeits, assert_no_process, hostile,
    match_config, play, start_at, unique_mark,
};

/// Time per move. The mode `late` takes longer.
const MOVE_TIME: Duration = Duration::from_millis(250);

/// A match of a hostile bot against `random`, two games at a time.
fn hostile_match(game: &str, mode: &str) -> MatchConfig {
    let mut config = match_config(game, [&hostile(mode), "random"], MOVE_TIME);
    config.concurrency = 2;
    config
}

/// A match with its times.
struct TimedMatch {
    games: Vec<MatchGame>,
    total: Duration,
    /// From the end of the last game to the end of the match, when the bots are stopped.
    shutdown: Duration,
    /// Total delay of a sleeping thread: the time for which the machine was too busy, which no
    /// referee can make up for.
    delay: Duration,
}

fn play_timed(config: &MatchConfig) -> TimedMatch {
    const SLEEP: Duration = Duration::from_millis(10);
    let (start, is_over) = (Instant::now(), AtomicBool::new(false));
    let (mut games, mut last_end) = (Vec::new(), start);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut delay = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let start = Instant::now();
                std::thread::sleep(SLEEP);
                delay += start.elapsed().saturating_sub(SLEEP);
            }
            delay
        });
        let result = matches::play(config, &Knowledge::default(), &StopFlag::new(), |game| {
            games.push(game);
            last_end = Instant::now();
        });
        let (total, shutdown) = (start.elapsed(), last_end.elapsed());
        is_over.store(true, Ordering::Relaxed);
        result.unwrap();
        TimedMatch { games, total, shutdown, delay: sleeper.join().unwrap() }
    })
}

/// Plays a hostile bot, and asserts that the match stays within its time limits plus a second and
/// leaves no process.
fn play_hostile(game: &str, mode: &str) -> Vec<MatchGame> {
    let mark = unique_mark();
    let mut config = hostile_match(game, &format!("{mode} {mark}"));
    if mode == "says-nothing" {
        config.settings.startup_timeout = Duration::from_secs(1);
    }
    let TimedMatch { games, total, shutdown, delay } = play_timed(&config);
    assert_eq!(games.len(), 2, "{mode}");
    let (second, turn_limit) = (Duration::from_secs(1), MOVE_TIME + config.settings.grace);
    for game in &games {
        assert!(
            game.slowest_move()[0] < turn_limit + second + delay,
            "{mode}: {:?}",
            game.slowest_move()
        );
    }
    assert!(shutdown < second + delay, "{mode}: shutdown took {shutdown:?}, delay {delay:?}");
    // Both games are played at once. A bot may use the startup timeout twice, to start and to get
    // ready for the game, and the time limit in each of its turns.
    let turns = games.iter().map(|game| game.played.moves.len() as u32 / 2 + 1).max().unwrap();
    let limit = 2 * config.settings.startup_timeout + turns * turn_limit;
    assert!(total < limit + second + delay, "{mode}: {total:?}, limit {limit:?}");
    assert_no_process(&mark);
    games
}

#[test]
fn misbehaving_bot_forfeits_with_the_reason() {
    for (mode, code, part) in [
        ("crash-at-once", "crash", "the bot exited with code 3"),
        (
            "crash-on-fifth-move",
            "crash",
            "code 1; last line of its standard error: \"ZeroDivisionError: on purpose\"",
        ),
        ("hangs", "time", "the bot did not answer in time"),
        ("ignores-sigterm", "time", "the bot did not answer in time"),
        ("forks", "time", "the bot did not answer in time"),
        ("floods-at-start", "flood", "the bot wrote more than 64 KiB in a line"),
        ("floods-output", "flood", "received: \"xxxxx"),
        ("floods-lines", "flood", "or 1 MiB in a turn"),
        ("floods-errors", "time", "the bot did not answer in time"),
        ("late", "time", "the bot did not answer in time"),
        ("earlier-turn", "time", "; received: \"move 1-1 ply="),
        ("twice", "no-protocol", "the bot answered before it was asked"),
        ("long-line", "flood", "received: \"move xxxxx"),
        ("no-utf8", "no-protocol", "bytes that are not UTF-8; received: \"move \\xff\\xfe\""),
        ("closes-output", "end-of-output", "closed its standard output but is still running"),
        ("errors-without-end", "end-of-output", "closed its standard output but is still running"),
        ("joins-a-group", "time", "the bot did not answer in time"),
        ("joins-our-group", "time", "the bot did not answer in time"),
        ("leaves-a-child", "crash", "the bot exited with code 7"),
        ("later-turn", "no-protocol", "when asked for ply "),
        ("hidden-second", "no-protocol", "the bot answered before it was asked"),
        ("no-utf8-after", "no-protocol", "bytes that are not UTF-8; received: \"\\xff\""),
        ("long-line-after", "flood", "received: \"zzzzz"),
        ("bare", "time", "no line was an answer, expected for example: move "),
        ("capital", "time", "received: \"Move "),
        ("colon", "time", "received: \"move: "),
        ("illegal", "illegal-move", "received: \"move 32-1\""),
        ("no-move", "no-protocol", "a move line without a move"),
    ] {
        for game in play_hostile("english", mode) {
            assert_forfeits(&game, code, part);
            assert!(game.played.description.len() < 1000, "{mode}");
        }
    }
}

#[test]
fn odd_but_correct_bot_plays_to_the_end() {
    for mode in [
        "fine",
        "much-on-errors",
        "chatters",
        "ignores-quit",
        "floods-at-quit",
        "daemon",
        "says-nothing",
    ] {
        play_hostile("english", mode).iter().for_each(assert_faultless);
    }
}

#[test]
fn fault_costs_only_the_turn_in_capture_halma() {
    for (mode, code) in
        [("illegal", "illegal-move"), ("crash-on-fifth-move", "crash"), ("floods-output", "flood")]
    {
        for game in play_hostile("capture-halma", mode) {
            assert_ends_by_rules(&game);
            assert!(game.faults()[0] > 0 && game.faults()[1] == 0, "{mode}: {:?}", game.faults());
            assert!(game.played.moves.contains(&"pass".to_string()), "{mode}");
            let incident = &game.played.incidents[0];
            assert_eq!(incident.code, code);
            let config = hostile_match("capture-halma", mode);
            let description = &incident.description;
            assert!(description.contains("the turn is skipped"), "{description}");
            // Game files keep the skipped turns.
            let record = game.record(&config);
            let text = crownhead_records::format_game(&record).unwrap();
            let parsed = crownhead_records::Reader::new(text.as_bytes()).next().unwrap().unwrap();
            assert_eq!(parsed.line.plies.len(), record.line.plies.len());
        }
    }
}

/// Plays a match of a hostile bot and returns its games and logs, in order.
fn play_logged(
    game: &str,
    mode: &str,
    configure: impl FnOnce(&mut MatchConfig),
) -> (Vec<MatchGame>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = hostile_match(game, mode);
    config.log = Some(folder.path().to_path_buf());
    configure(&mut config);
    let games = play(&config);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    (games, paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect())
}

#[test]
fn log_has_every_fault_and_the_substitute_move() {
    for (game, policy) in [
        ("capture-halma", FaultPolicy::Skip),
        ("english", FaultPolicy::RandomMove),
        ("english", FaultPolicy::Forfeit),
    ] {
        let (games, logs) =
            play_logged(game, "illegal", |config| config.settings.fault_policy = policy);
        assert_eq!(logs.len(), 2);
        for (game, log) in games.iter().zip(&logs) {
            let notes: Vec<_> = log.lines().filter(|line| line.contains(" * illegal-")).collect();
            assert_eq!(notes.len() as u32, game.faults()[0], "{policy}: {log}");
            let substitutes = game.played.moves.iter().skip(game.first).step_by(2);
            for (note, text) in notes.iter().zip(substitutes) {
                let end = format!("; policy {policy}: {text} is played instead");
                assert!(note.contains("received: \"move 32-1\"; "), "{note}");
                assert!(note.ends_with(&end), "{note}, {end}");
            }
        }
    }
}

#[test]
fn crash_is_logged_once_and_followed_by_the_result() {
    let (games, logs) = play_logged("capture-halma", "crash-on-fifth-move", |_| {});
    for (game, log) in games.iter().zip(&logs) {
        assert_eq!((game.faults()[0], game.played.incidents.len()), (1, 1));
        let notes: Vec<_> = log.lines().filter(|line| line.contains(" * ")).collect();
        let [crash, end] = notes[..] else { panic!("{notes:?}") };
        assert!(crash.contains(" * crash: the bot exited with code 1"), "{crash}");
        assert!(crash.ends_with("the bot takes no further part in the game"), "{crash}");
        assert!(end.ends_with(&game.played.description), "{end}");
    }
}

#[test]
fn late_bot_is_restarted_only_if_it_does_not_get_ready() {
    let count_starts =
        |logs: &[String]| logs.iter().filter(|log| log.contains(" > crownhead protocol=1")).count();
    let (games, logs) = play_logged("capture-halma", "late-once", |config| {
        (config.pairs, config.concurrency) = (2, 1);
    });
    assert!(games.iter().all(|game| game.timeouts()[0] > 0));
    assert_eq!((logs.len(), count_starts(&logs)), (4, 1));
    let (games, logs) = play_logged("english", "hangs", |config| config.concurrency = 1);
    assert!(games.iter().all(|game| game.summary().reason == "time"));
    assert_eq!(count_starts(&logs), logs.len(), "{logs:?}");
}

#[test]
fn child_in_the_process_group_of_the_referee_is_killed() {
    let mark = unique_mark();
    let mode = format!("child-joins-our-group {mark} {}", std::process::id());
    let mut config = hostile_match("english", &mode);
    config.players[0].program_mut().unwrap().isolation = Isolation::Off;
    play(&config);
    assert_no_process(&mark);
}

#[test]
fn late_answer_does_not_count_for_the_next_turn() {
    let mark = unique_mark();
    let mut config = hostile_match("chinese-checkers", &format!("late {mark}"));
    config.settings.fault_policy = FaultPolicy::Skip;
    // Ten plies before the turn limit.
    start_at(&mut config, "#7/8/8/8/8/8/8/7O # 190");
    for game in play(&config) {
        assert_eq!(game.summary().reason, "turn-limit", "{}", game.played.description);
        let codes: Vec<_> =
            game.played.incidents.iter().map(|incident| incident.code.as_str()).collect();
        assert!(codes.iter().all(|code| *code == "time"), "{codes:?}");
        assert_eq!(game.faults()[0], 5);
    }
    assert_no_process(&mark);
}

#[test]
fn random_moves_for_a_crashed_bot_depend_on_the_seed_only() {
    let mut config = hostile_match("english", "crash-on-fifth-move");
    config.settings.fault_policy = FaultPolicy::RandomMove;
    let games = play(&config);
    for game in &games {
        assert_ends_by_rules(game);
        assert!(game.faults()[0] > 0);
    }
    let moves = |games: Vec<MatchGame>| -> Vec<_> {
        games.into_iter().map(|game| game.played.moves).collect()
    };
    assert_eq!(moves(games), moves(play(&config)));
}

#[test]
fn crash_does_not_disturb_other_games() {
    let [fine, moody] = ["fine", "moody"].map(|mode| {
        let mark = unique_mark();
        let mut config = hostile_match("english", &format!("{mode} {mark}"));
        (config.pairs, config.concurrency) = (8, 4);
        let games = play(&config);
        assert_no_process(&mark);
        games
    });
    let mut crashes = 0;
    for (fine, moody) in fine.iter().zip(&moody) {
        assert_ends_by_rules(fine);
        match moody.summary().forfeit {
            Some(_) => {
                assert_forfeits(moody, "crash", "by signal 6 (abort)");
                crashes += 1;
            }
            None => assert_eq!(fine.played.moves, moody.played.moves),
        }
    }
    assert!((1..16).contains(&crashes), "{crashes} of 16 games");
}

#[test]
fn bot_runs_for_many_games_unless_its_manifest_says_restart() {
    for (line, starts) in [("", 2), ("restart = true", 8)] {
        let folder = tempfile::tempdir().unwrap();
        let command = hostile("fine").replace("cmd:", "echo >> starts; exec ");
        let text = format!("command = [\"sh\", \"-c\", \"{command}\"]\n{line}\n");
        std::fs::write(folder.path().join("bot.toml"), text).unwrap();
        let mut config = hostile_match("english", "fine");
        config.players[0] = folder.path().to_str().unwrap().parse().unwrap();
        // It writes to its folder.
        config.players[0].program_mut().unwrap().isolation = Isolation::Off;
        (config.pairs, config.concurrency) = (4, 2);
        play(&config).iter().for_each(assert_ends_by_rules);
        let counted = std::fs::read_to_string(folder.path().join("starts")).unwrap();
        assert_eq!(counted.lines().count(), starts, "{line}");
    }
}
