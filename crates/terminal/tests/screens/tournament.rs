//! The screen of a running tournament.

use std::sync::mpsc::{Sender, channel};

use crownhead_play::new_session;
use crownhead_rules::Side;
use crownhead_terminal::screen::tournament::{
    LiveGame, LiveResult, StandingsLine, TournamentScreen, TournamentView,
};

use super::*;

fn live_game(number: i64, names: [&str; 2], moves: &[&str]) -> LiveGame {
    let mut session = new_session(&"english".parse().unwrap(), None).unwrap();
    for text in moves {
        session.play(text).unwrap();
    }
    let last = session.last_move().unwrap();
    LiveGame {
        number,
        names: names.map(String::from),
        board: session.board(),
        side: session.side(),
        first: Side::First,
        path: last.path,
        captures: last.captures,
        moves: moves.iter().map(ToString::to_string).collect(),
        time: [Duration::from_millis(1500), Duration::from_millis(61_240)],
        score: Some("Black: +0.35, depth 12".into()),
    }
}

const MOVES: [&str; 5] = ["11-15", "22-18", "15x22", "25x18", "8-11"];

fn view(players: u32) -> TournamentView {
    let line = |rank: u32| StandingsLine {
        rank: rank.to_string(),
        player: format!("player {rank}"),
        points: i64::from(100 - rank),
        games: [40 - rank, 10, rank],
    };
    let result = |number: i64| LiveResult {
        number,
        names: ["Ada".into(), "a player with a very long name that does not fit".into()],
        result: "1/2-1/2".into(),
        reason: "no-progress".into(),
    };
    TournamentView {
        title: "class: english, round-robin".into(),
        progress: "running: 34 of 120 games, 2 forfeited, about 3 min 20 s left".into(),
        game: "english".parse().unwrap(),
        standings: (1..=players).map(line).collect(),
        running: vec![
            live_game(35, ["Ada", "Bob"], &MOVES),
            live_game(36, ["Eve", "Ada"], &MOVES[..1]),
            live_game(37, ["Bob", "Eve"], &MOVES[..3]),
        ],
        results: (1..=30).rev().map(result).collect(),
        faults: vec!["game 30: Bob: illegal move: 9-9".into(), "game 12: Eve: timeout".into()],
    }
}

fn screen(look: Look) -> (TournamentScreen, Sender<TournamentView>) {
    let (sender, updates) = channel();
    sender.send(view(20)).unwrap();
    (TournamentScreen::new(updates, None, look), sender)
}

#[test]
fn tournament_is_shown_in_standard_and_large_terminals() {
    let (screen, _sender) = screen(PLAIN);
    insta::assert_snapshot!("tournament-standard", text(&screen, STANDARD));
    insta::assert_snapshot!("tournament-large", text(&screen, LARGE));
    assert!(text(&screen, (60, 20)).contains("at least 70x22"));
    for size in [MINIMUM, (200, 70)] {
        assert!(text(&screen, size).contains("Latest results"), "{size:?}");
    }
}

#[test]
fn tournament_follows_a_game_a_player_or_a_pairing_until_the_next_game() {
    let (mut screen, sender) = screen(PLAIN);
    press(&mut screen, [KeyCode::Right, KeyCode::Enter]);
    insta::assert_snapshot!("tournament-game", text(&screen, STANDARD));
    // The player's next game replaces this one when it starts, not when this one ends.
    press(&mut screen, [KeyCode::Char('p'), KeyCode::Char('p')]);
    assert!(text(&screen, STANDARD).contains("all games of Ada"));
    let mut next = view(20);
    next.running.retain(|game| !game.names.contains(&"Ada".to_string()));
    next.results
        .insert(0, LiveResult { number: 36, result: "1-0".into(), ..next.results[0].clone() });
    sender.send(next.clone()).unwrap();
    screen.tick();
    assert!(text(&screen, STANDARD).contains("Game 36: 1-0, no-progress."));
    next.running.push(live_game(41, ["Bob", "Ada"], &MOVES[..2]));
    sender.send(next.clone()).unwrap();
    screen.tick();
    assert!(text(&screen, STANDARD).contains("Game 41"));
    press(&mut screen, [KeyCode::Char('v')]);
    assert!(text(&screen, STANDARD).contains("all games of Bob and"));
    press(&mut screen, [KeyCode::Esc]);
    assert!(text(&screen, STANDARD).contains("Latest results"));
}

#[test]
fn tournament_standings_scroll_and_a_tournament_without_games_is_shown() {
    let (mut screen, sender) = screen(PLAIN);
    assert!(text(&screen, STANDARD).contains("player 1 "));
    press(&mut screen, [KeyCode::Down]);
    let scrolled = text(&screen, STANDARD);
    assert!(!scrolled.contains("player 1 ") && scrolled.contains("player 2 "), "{scrolled}");
    let empty = TournamentView {
        standings: Vec::new(),
        running: Vec::new(),
        results: Vec::new(),
        faults: Vec::new(),
        ..view(0)
    };
    sender.send(empty).unwrap();
    screen.tick();
    type_in(&mut screen, "pv\n");
    assert!(text(&screen, STANDARD).contains("No game is running."));
}

#[test]
fn tournament_screen_closes_with_q_and_interrupts_with_ctrl_c() {
    let (sender, updates) = channel();
    sender.send(view(3)).unwrap();
    let interrupt = Box::new(|| "finishing the running games".to_string());
    let mut screen = TournamentScreen::new(updates, Some(interrupt), COLOURED);
    let ctrl_c = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    dispatch(&mut screen, &ctrl_c, Rect::new(0, 0, STANDARD.0, STANDARD.1));
    assert!(text(&screen, STANDARD).contains("finishing the running games"));
    assert!(!screen.has_quit());
    type_in(&mut screen, "q");
    assert!(screen.has_quit());
}
