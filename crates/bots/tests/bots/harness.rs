//! Matches between bots of the tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_tournament::job::JobError;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The bot that plays at random and misbehaves as its mode says.
pub(crate) fn hostile(mode: &str) -> String {
    format!("cmd:python3 '{}' {mode}", fixture("hostile.py").display())
}

/// One pair of games, one game at a time.
pub(crate) fn match_config(game: &str, players: [&str; 2], move_time: Duration) -> MatchConfig {
    let game: Game = game.parse().unwrap();
    MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(move_time),
            ..GameSettings::default_for(&game)
        },
        game,
        players: players.map(|name| name.parse().unwrap()),
        pairs: 1,
        openings: Openings::Random(2),
        seed: 7,
        concurrency: 1,
        log: None,
    }
}

/// Starts all games of a match at a position.
pub(crate) fn start_at(config: &mut MatchConfig, position: &str) {
    config.openings = Openings::parse(position, &config.game).unwrap();
}

/// Plays a match and returns its games in order.
pub(crate) fn try_play(config: &MatchConfig) -> Result<Vec<MatchGame>, JobError> {
    let mut games = Vec::new();
    matches::play(config, &Knowledge::default(), &StopFlag::new(), |game| games.push(game))?;
    games.sort_by_key(|game| (game.pair, game.first));
    Ok(games)
}

pub(crate) fn play(config: &MatchConfig) -> Vec<MatchGame> {
    try_play(config).unwrap()
}

/// Asserts that a game ended by the rules, without any fault.
pub(crate) fn assert_faultless(game: &MatchGame) {
    assert_ends_by_rules(game);
    assert_eq!(game.faults(), [0, 0], "{:?}", game.played.incidents);
}

pub(crate) fn assert_ends_by_rules(game: &MatchGame) {
    assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
}

/// Asserts that the first player of the match forfeited, with this code and this part of the
/// description.
pub(crate) fn assert_forfeits(game: &MatchGame, code: &str, part: &str) {
    let description = &game.played.description;
    assert_eq!(game.summary().reason, code, "{part}: {description}");
    assert_eq!(game.summary().forfeit, Some(game.first), "wrong side: {description}");
    assert_eq!(game.summary().winner, Some(1 - game.first), "{description}");
    for part in [part, "Position: ", "Legal moves: ", "the game is lost"] {
        assert!(description.contains(part), "{part}: {description}");
    }
    assert!(description.len() < 1500, "{description}");
}

/// Returns a text that marks the processes of one test in their command lines.
pub(crate) fn unique_mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("mark-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Asserts that no process with a mark is alive.
pub(crate) fn assert_no_process(mark: &str) {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let command_lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!("{:?} {}", entry.file_name(), String::from_utf8_lossy(&line)))
    });
    let alive: Vec<_> = command_lines.filter(|line| line.contains(mark)).collect();
    assert!(alive.is_empty(), "still running: {alive:?}");
}
