//! The players, whatever their name.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{
    Choice, Clock, FaultPolicy, GameSettings, GameStart, Knowledge, Openings, Player, PlayerError,
    StopFlag, TimeControl, new_session,
};
use crownhead_rules::{Game, Side};
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};
use crownhead_tournament::statistics::GamePoints;

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

fn plan(game: &Game, one: &str, other: &str, concurrency: usize) -> MatchConfig {
    MatchConfig {
        game: game.clone(),
        players: [one.parse().unwrap(), other.parse().unwrap()],
        pairs: 2,
        settings: GameSettings::default_for(game),
        openings: Openings::Random(4),
        seed: 7,
        concurrency,
        log: None,
    }
}

fn played(plan: &MatchConfig) -> Vec<MatchGame> {
    let mut games = Vec::new();
    matches::play(plan, &Knowledge::default(), &StopFlag::new(), |game| games.push(game)).unwrap();
    games.sort_by_key(|game| (game.pair, game.first));
    games
}

#[test]
fn every_player_plays_every_game_to_its_end() {
    for game in Game::all() {
        for player in PLAYERS {
            let mut plan = plan(&game, player, "random", 1);
            plan.pairs = 1;
            let games = played(&plan);
            assert_eq!(games.len(), 2);
            assert_eq!(games[0].opening(), games[1].opening(), "both colours from each opening");
            for game in games {
                // What is written can be read, so every move was legal.
                let text = crownhead_records::format_game(&game.record(&plan)).unwrap();
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
fn the_same_seed_gives_the_same_games_however_many_are_played_at_once() {
    for game in Game::all() {
        for (one, other) in [("level:2", "level:4"), ("best:nodes=500,hash=1", "minimax:1")] {
            let moves = |concurrency| -> Vec<_> {
                let games = played(&plan(&game, one, other, concurrency));
                games.into_iter().map(|game| (game.played.opening, game.played.moves)).collect()
            };
            let alone = moves(1);
            assert_eq!(alone.len(), 4);
            assert_eq!(alone, moves(3), "{game}, {one} against {other}");
            assert_eq!(alone, moves(1), "{game}, {one} against {other}");
        }
    }
}

#[test]
fn a_player_forgets_one_game_before_the_next() {
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
fn the_textbook_players_draw_lots_among_the_best_moves() {
    // No capture is near: all that lies ahead is alike.
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
fn minimax_does_not_look_again_at_a_tree_that_has_ended() {
    // Four plies before the draw by count every line is soon at its end.
    let game: Game = "chinese-checkers".parse().unwrap();
    let late = Some("4#3/8/8/8/8/8/8/3O4 # 198");
    let (two, thirty) = (choose("minimax:2", &game, late, 1), choose("minimax:30", &game, late, 1));
    assert_eq!(two.unwrap().nodes, thirty.unwrap().nodes);
}

#[test]
fn alpha_beta_finds_what_minimax_finds_with_fewer_nodes() {
    for game in Game::all() {
        let minimax = choose("minimax:3", &game, None, 1).unwrap();
        let alpha_beta = choose("alphabeta:3", &game, None, 1).unwrap();
        assert_eq!((minimax.score, minimax.depth), (alpha_beta.score, alpha_beta.depth));
        assert!(alpha_beta.nodes < minimax.nodes, "{game}");
    }
}

#[test]
fn a_capture_that_wins_the_game_is_seen_by_all_but_random() {
    let game: Game = "english".parse().unwrap();
    for player in PLAYERS.into_iter().filter(|player| *player != "random" && *player != "level:1") {
        // The other capture leaves a man.
        let choice = choose(player, &game, Some("B:W10,18:B6,14"), 3).unwrap();
        assert_eq!(choice.text, "6x22", "{player}");
    }
}

#[test]
fn the_only_move_is_made_without_thought() {
    let game: Game = "english".parse().unwrap();
    for player in PLAYERS {
        let choice = choose(player, &game, Some("B:W18,27:B15"), 1).unwrap();
        assert_eq!(choice.nodes, 0, "{player}");
        let over = choose(player, &game, Some("B:W18,27:B"), 1);
        assert_eq!(over, Err(PlayerError::GameOver), "{player}");
    }
}

#[test]
fn a_player_that_is_stopped_still_has_a_move() {
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
fn the_clock_ends_a_search_that_would_take_for_ever() {
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
fn a_player_says_when_it_is_asked_about_another_game() {
    let spec: PlayerSpec = "best:hash=1".parse().unwrap();
    let mut player = spec.player(&Game::ChineseCheckers(()), &Knowledge::default()).unwrap();
    let english = new_session(&"english".parse().unwrap(), None).unwrap();
    let error = player
        .choose(english.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {})
        .unwrap_err();
    assert_eq!(error.to_string(), "this player does not play english");
}

#[test]
fn random_takes_no_point_from_level_5() {
    for game in ["english", "chinese-checkers", "capture-halma"] {
        let game: Game = game.parse().unwrap();
        let mut plan = plan(&game, "level:5", "random", 2);
        plan.pairs = 4;
        for game in played(&plan) {
            assert_eq!(game.points(), GamePoints::Win, "{game:?}");
        }
    }
}

#[test]
fn whoever_is_late_loses() {
    let game: Game = "capture-halma".parse().unwrap();
    let mut plan = plan(&game, "minimax:3", "random", 1);
    // Nobody is so quick: whoever moves first has lost.
    plan.settings.grace = Duration::ZERO;
    plan.settings.time_control = TimeControl::PerMove(Duration::from_nanos(1));
    plan.settings.fault_policy = FaultPolicy::Forfeit;
    let games = played(&plan);
    assert_eq!(games.len(), 4);
    for game in games {
        let summary = game.summary();
        assert_eq!((summary.reason.as_str(), summary.winner), ("time", Some(1)));
    }
}
