//! Computer players, hints, draw offers and clocks in a game screen.

use crownhead_rules::Side;

use super::*;

#[test]
fn computer_shows_its_search_and_undo_takes_back_the_last_move_of_the_person() {
    let game = LocalGame::new(setup("english", ["human", "alphabeta:4"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "11-15\n");
    let screen_text = wait_for(&mut screen, "White searched:");
    assert!(screen_text.contains("depth 4"), "{screen_text}");
    type_in(&mut screen, "u");
    assert_eq!(message(&screen), "Black(b) to move.");
    assert!(!text(&screen, STANDARD).contains("11-15"));
    type_in(&mut screen, "u");
    assert_eq!(message(&screen), "Nothing to take back: you have not moved yet.");
}

#[test]
fn undo_and_quit_stop_a_long_search() {
    let game = LocalGame::new(setup("english", ["human", "minimax:30"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "11-15\n");
    screen.tick();
    assert_eq!(message(&screen), "White(w) is thinking.");
    type_in(&mut screen, "u");
    assert_eq!(message(&screen), "Black(b) to move.");
    type_in(&mut screen, "11-15\n");
    screen.tick();
    type_in(&mut screen, "qy");
    assert!(screen.has_quit());
}

#[test]
fn hint_has_a_reason() {
    let mut screen = two_people("english", Some("B:W15,32:B1,11"), PLAIN);
    type_in(&mut screen, "h");
    wait_for(&mut screen, "Try 11x18: it is the only legal move");
}

#[test]
fn game_of_two_computers_can_be_paused_and_ends() {
    let game = LocalGame::new(setup("contest", ["random", "random"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    wait_for(&mut screen, " 1.>");
    type_in(&mut screen, " ");
    assert!(text(&screen, STANDARD).contains("paused (space: continue)"));
    type_in(&mut screen, " +++++");
    wait_for(&mut screen, "n: new game,");
}

#[test]
fn person_loses_on_time() {
    let mut setup = setup("english", ["human", "human"], None);
    setup.time_control = "1s+0s".parse().unwrap();
    let mut screen = GameScreen::new(LocalGame::new(setup).unwrap(), None, PLAIN);
    type_in(&mut screen, "r");
    let screen_text = wait_for(&mut screen, "Black ran out of time: White wins.");
    // The question is closed and the clock shows zero.
    assert!(!screen_text.contains("resign?") && screen_text.contains(" 0.0"), "{screen_text}");
    type_in(&mut screen, "u");
    assert_eq!(message(&screen), "A game lost on time cannot be taken back.");
}

#[test]
fn undo_restores_no_time_and_adds_no_second_increment() {
    let mut setup = setup("english", ["human", "human"], None);
    setup.time_control = TimeControl::parse_minutes("5+3").unwrap();
    let mut game = LocalGame::new(setup).unwrap();
    game.play("11-15", Duration::from_secs(10)).unwrap();
    assert_eq!(game.time_left(Side::First), Some(Duration::from_secs(293)));
    assert!(game.undo());
    game.play("11-16", Duration::from_secs(10)).unwrap();
    assert_eq!(game.time_left(Side::First), Some(Duration::from_secs(283)));
}

#[test]
fn undo_after_a_resignation_takes_back_only_the_resignation() {
    let mut game = LocalGame::new(setup("english", ["human", "random"], None)).unwrap();
    for moves in [&[][..], &["11-15", "22-18"][..]] {
        moves.iter().for_each(|text| game.play(text, Duration::ZERO).unwrap());
        game.act(Side::First, &crownhead_play::Action::Resign).unwrap();
        assert!(game.is_over() && game.undo());
        assert_eq!((game.is_over(), game.session().moves().len()), (false, moves.len()));
    }
}

#[test]
fn clock_of_a_computer_runs_only_while_it_thinks() {
    let mut setup = setup("english", ["random", "random"], None);
    setup.time_control = TimeControl::parse_minutes("5+0").unwrap();
    let mut game = LocalGame::new(setup).unwrap();
    let full_time = Some(Duration::from_secs(300));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2) {
        assert_eq!(game.time_left(Side::First), full_time);
    }
    game.start_turn(Instant::now());
    while game.time_left(Side::First) == full_time {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    game.play("11-15", Duration::from_secs(1)).unwrap();
    assert_eq!(game.time_left(Side::First), Some(Duration::from_secs(299)));
    assert_eq!(game.time_left(Side::Second), full_time);
}

#[test]
fn undo_without_moves_does_not_stop_the_search() {
    let game = LocalGame::new(setup("english", ["minimax:30", "human"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    screen.tick();
    let is_thinking = |screen: &GameScreen| {
        let screen_text = text(screen, STANDARD);
        screen_text.contains("Black thinking")
            || screen_text.lines().any(|line| line.contains("│ …"))
    };
    assert!(is_thinking(&screen));
    type_in(&mut screen, "u");
    assert_eq!(message(&screen), "Nothing to take back: you have not moved yet.");
    assert!(is_thinking(&screen));
}

#[test]
fn earlier_position_stays_while_computers_move() {
    let game = LocalGame::new(setup("english", ["random", "random"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "+++++");
    assert_eq!(message(&screen), "One move every 0.025 s.");
    wait_for(&mut screen, " 1.>");
    press(&mut screen, [KeyCode::Home]);
    let screen_text = wait_for(&mut screen, "played");
    assert!(
        !screen_text.contains('>') && screen_text.contains("End: back to the game."),
        "{screen_text}"
    );
    // A random player has no search information.
    assert!(!screen_text.contains("depth"), "{screen_text}");
    type_in(&mut screen, "u");
    let screen_text = text(&screen, STANDARD);
    assert!(
        screen_text.contains("Back to the current position.") && screen_text.contains('>'),
        "{screen_text}"
    );
}

/// Offers a draw to a computer that plays White.
fn offer_draw(position: Option<&str>, answer: &str) -> GameScreen {
    let game = LocalGame::new(setup("english", ["human", "random"], position)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "d");
    wait_for(&mut screen, answer);
    screen
}

#[test]
fn computer_accepts_a_draw_only_if_it_is_worse_or_the_game_is_long() {
    offer_draw(Some("B:W32:BK1,K2,K3"), "The players agreed to a draw.");
    offer_draw(Some("B:WK1,K2,K3:B5,6"), "White(w) declines the draw.");
    // A single legal move is played without a search, so there is no score.
    offer_draw(Some("B:W14,15,16,K22,K23:B13"), "White(w) declines the draw.");
    let mut screen = offer_draw(None, "White(w) declines the draw.");
    // A second offer soon after is declined without a search.
    type_in(&mut screen, "hd");
    assert_eq!(message(&screen), "White(w) declines the draw.");
}

#[test]
fn record_has_clock_times_and_evaluations_and_survives_resuming() {
    let time = TimeControl::parse_minutes("5+3").unwrap();
    let setup = Setup { time_control: time, ..setup("english", ["human", "alphabeta:4"], None) };
    let mut screen = GameScreen::new(LocalGame::new(setup).unwrap(), None, PLAIN);
    type_in(&mut screen, "11-15\n");
    wait_for(&mut screen, "White searched:");
    let record = screen.into_game().record();
    let data: Vec<_> = record.line.plies.iter().map(|ply| ply.data()).collect();
    assert!(data.iter().all(|data| data.clock > Some(Duration::from_secs(240))), "{data:?}");
    assert_eq!(data.iter().map(|data| data.eval.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(data[1].eval.unwrap().depth, Some(4));
    let left = [0, 1].map(|ply: usize| data[ply].clock.unwrap());
    let resumed = LocalGame::resume(&record, time, Some(left), 1).unwrap();
    assert_eq!(resumed.record(), record);
}
