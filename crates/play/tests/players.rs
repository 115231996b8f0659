//! Built-in players.

use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{
    Choice, Clock, FaultPolicy, GameSettings, GameStart, Knowledge, Openings, Player, PlayerError,
    StopFlag, TimeControl, new_session,
};
use crownhead_rules::{Game, Side};
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

fn start_game(player: &mut dyn Player, game: &Game, seed: u64) {
    let settings = GameSettings::default_for(game);
    player.start_game(&GameStart::new(game, Side::First, &settings, seed), &StopFlag::new());
}

fn choose(
    player: &str,
    game: &Game,
    start: Option<&str>,
    seed: u64,
) -> Result<Choice, PlayerError> {
    let spec: PlayerSpec = player.parse().unwrap();
    let mut player = spec.player(game, &Knowledge::default()).unwrap();
    start_game(player.as_mut(), game, seed);
    player.choose(
        new_session(game, start).unwrap().as_ref(),
        &Clock::Unlimited,
        &StopFlag::new(),
        &mut |_| {},
    )
}

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
fn player_forgets_the_previous_game() {
    let game: Game = "english".parse().unwrap();
    let spec: PlayerSpec = "level:3".parse().unwrap();
    let mut player = spec.player(&game, &Knowledge::default()).unwrap();
    let mut texts = |seed: u64| {
        start_game(player.as_mut(), &game, seed);
        let mut session = new_session(&game, None).unwrap();
        while session.outcome().is_none() {
            let choice = player
                .choose(session.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {})
                .unwrap();
            assert_eq!(choice.text, choice.pv[0]);
            session.play(&choice.text).unwrap();
        }
        session.moves()
    };
    let first = texts(1);
    assert_ne!(first, texts(2), "another seed, another game");
    assert_eq!(first, texts(1));
}

#[test]
fn textbook_players_choose_at_random_among_the_best_moves() {
    // No capture is near, so all moves have the same score.
    let game: Game = "english".parse().unwrap();
    for player in ["minimax:2", "alphabeta:2"] {
        let choices: Vec<_> =
            (0..40).map(|seed| choose(player, &game, None, seed).unwrap()).collect();
        assert!(choices.iter().all(|choice| choice.score == choices[0].score), "equally good");
        let mut texts: Vec<_> = choices.into_iter().map(|choice| choice.text).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), 7, "{player}: {texts:?}");
    }
}

#[test]
fn minimax_stops_deepening_when_the_tree_is_complete() {
    // Every line ends at the turn limit, two plies later.
    let game: Game = "chinese-checkers".parse().unwrap();
    let late = Some("4#3/8/8/8/8/8/8/3O4 # 198");
    let (two, thirty) = (choose("minimax:2", &game, late, 1), choose("minimax:30", &game, late, 1));
    assert_eq!(two.unwrap().nodes, thirty.unwrap().nodes);
}

#[test]
fn alpha_beta_finds_the_score_of_minimax_with_fewer_nodes() {
    for game in Game::all() {
        let minimax = choose("minimax:3", &game, None, 1).unwrap();
        let alpha_beta = choose("alphabeta:3", &game, None, 1).unwrap();
        assert_eq!((minimax.score, minimax.depth), (alpha_beta.score, alpha_beta.depth));
        assert!(alpha_beta.nodes < minimax.nodes, "{game}");
    }
}

#[test]
fn every_player_that_searches_finds_a_winning_capture() {
    let game: Game = "english".parse().unwrap();
    for player in PLAYERS.into_iter().filter(|player| *player != "random" && *player != "level:1") {
        // The other capture leaves a man.
        let choice = choose(player, &game, Some("B:W10,18:B6,14"), 3).unwrap();
        assert_eq!(choice.text, "6x22", "{player}");
    }
}

#[test]
fn only_legal_move_is_played_without_a_search() {
    let game: Game = "english".parse().unwrap();
    for player in PLAYERS {
        let choice = choose(player, &game, Some("B:W18,27:B15"), 1).unwrap();
        assert_eq!(choice.nodes, 0, "{player}");
        let over = choose(player, &game, Some("B:W18,27:B"), 1);
        assert_eq!(over, Err(PlayerError::GameOver), "{player}");
    }
}

#[test]
fn stopped_player_still_has_a_move() {
    let stop = StopFlag::new();
    stop.set();
    for game in Game::all() {
        for player in ["best", "level:9", "alphabeta:30", "minimax:30", "random"] {
            let spec: PlayerSpec = player.parse().unwrap();
            let mut player = spec.player(&game, &Knowledge::default()).unwrap();
            let mut session = new_session(&game, None).unwrap();
            let choice =
                player.choose(session.as_ref(), &Clock::Unlimited, &stop, &mut |_| {}).unwrap();
            session.play(&choice.text).unwrap();
        }
    }
}

#[test]
fn clock_ends_an_endless_search() {
    let clock = Clock::PerGame { left: Duration::from_millis(40), increment: Duration::ZERO };
    for game in Game::all() {
        for player in ["best", "level:10", "minimax:30", "alphabeta:30", "best:threads=2"] {
            let spec: PlayerSpec = player.parse().unwrap();
            let mut player = spec.player(&game, &Knowledge::default()).unwrap();
            let mut session = new_session(&game, None).unwrap();
            let choice =
                player.choose(session.as_ref(), &clock, &StopFlag::new(), &mut |_| {}).unwrap();
            session.play(&choice.text).unwrap();
        }
    }
}

#[test]
fn player_rejects_a_session_of_another_game() {
    let spec: PlayerSpec = "best:hash=1".parse().unwrap();
    let mut player = spec.player(&Game::ChineseCheckers(()), &Knowledge::default()).unwrap();
    let english = new_session(&"english".parse().unwrap(), None).unwrap();
    let error = player
        .choose(english.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {})
        .unwrap_err();
    assert_eq!(error.to_string(), "this player does not play english");
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
