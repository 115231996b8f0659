//! Matches between built-in players.

use std::time::Duration;

use crownhead_play::{FaultPolicy, GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_statistics::GamePoints;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

const PLAYERS: [&str; 8] = [
    "random",
    "minimax:2",
    "alphabeta:3",
    "level:1",
    "level:5",
    "level:9:nodes=2000",
    "level:10:nodes=2000,hash=1",
    "best:nodes=1000,hash=1",
];

fn config(game: &Game, first: &str, second: &str, concurrency: usize) -> MatchConfig {
    MatchConfig {
        game: game.clone(),
        players: [first.parse().unwrap(), second.parse().unwrap()],
        pairs: 2,
        settings: GameSettings::default_for(game),
        openings: Openings::Random(4),
        seed: 7,
        concurrency,
        log: None,
    }
}

fn play_match(config: &MatchConfig) -> Vec<MatchGame> {
    let mut games = Vec::new();
    matches::play(config, &Knowledge::default(), &StopFlag::new(), |game| games.push(game))
        .unwrap();
    games.sort_by_key(|game| (game.pair, game.first));
    games
}

#[test]
fn every_player_plays_every_game_to_its_end() {
    for game in Game::all() {
        for player in PLAYERS {
            let mut config = config(&game, player, "random", 1);
            config.pairs = 1;
            let games = play_match(&config);
            assert_eq!(games.len(), 2);
            assert_eq!(games[0].opening(), games[1].opening(), "each opening is played twice");
            for game in games {
                // The reader checks that every move is legal.
                let text = crownhead_records::format_game(&game.record(&config)).unwrap();
                let mut reader = crownhead_records::Reader::new(text.as_bytes());
                let record = reader.next().unwrap().unwrap();
                assert_eq!(
                    record.line.plies.len(),
                    game.opening().moves.len() + game.played.moves.len()
                );
            }
        }
    }
}

#[test]
fn same_seed_gives_the_same_games_at_any_concurrency() {
    for game in Game::all() {
        for (first, second) in [("level:2", "level:4"), ("best:nodes=500,hash=1", "minimax:1")] {
            let moves = |concurrency| -> Vec<_> {
                let games = play_match(&config(&game, first, second, concurrency));
                games.into_iter().map(|game| (game.played.opening, game.played.moves)).collect()
            };
            let sequential = moves(1);
            assert_eq!(sequential.len(), 4);
            assert_eq!(sequential, moves(3), "{game}, {first} against {second}");
            assert_eq!(sequential, moves(1), "{game}, {first} against {second}");
        }
    }
}

#[test]
fn random_always_loses_to_level_5() {
    for game in ["english", "chinese-checkers", "capture-halma"] {
        let game: Game = game.parse().unwrap();
        let mut config = config(&game, "level:5", "random", 2);
        config.pairs = 4;
        for game in play_match(&config) {
            assert_eq!(game.points(), GamePoints::Win, "{game:?}");
        }
    }
}

#[test]
fn timeout_loses_the_game() {
    let game: Game = "capture-halma".parse().unwrap();
    let mut config = config(&game, "minimax:3", "random", 1);
    // Nobody answers within a nanosecond, so the first side loses.
    config.settings.grace = Duration::ZERO;
    config.settings.time_control = TimeControl::PerMove(Duration::from_nanos(1));
    config.settings.fault_policy = FaultPolicy::Forfeit;
    let games = play_match(&config);
    assert_eq!(games.len(), 4);
    for game in games {
        let summary = game.summary();
        assert_eq!((summary.reason.as_str(), summary.winner), ("time", Some(1)));
    }
}
