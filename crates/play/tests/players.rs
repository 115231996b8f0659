//! Built-in players.

use std::time::Duration;

use crownhead_play::{
    BuiltinSpec, Choice, Clock, GameSettings, GameStart, Knowledge, Player, PlayerError, StopFlag,
    new_session,
};
use crownhead_rules::{Game, Side};

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
    let spec: BuiltinSpec = player.parse().unwrap();
    let mut player = spec.player(game, &Knowledge::default()).unwrap();
    start_game(player.as_mut(), game, seed);
    player.choose(
        new_session(game, start).unwrap().as_ref(),
        &Clock::Unlimited,
        &StopFlag::new(),
        &mut |_| {},
    )
}

#[test]
fn player_forgets_the_previous_game() {
    let game: Game = "english".parse().unwrap();
    let spec: BuiltinSpec = "level:3".parse().unwrap();
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
            let spec: BuiltinSpec = player.parse().unwrap();
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
            let spec: BuiltinSpec = player.parse().unwrap();
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
    let spec: BuiltinSpec = "best:hash=1".parse().unwrap();
    let mut player = spec.player(&Game::ChineseCheckers(()), &Knowledge::default()).unwrap();
    let english = new_session(&"english".parse().unwrap(), None).unwrap();
    let error = player
        .choose(english.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {})
        .unwrap_err();
    assert_eq!(error.to_string(), "this player does not play english");
}
