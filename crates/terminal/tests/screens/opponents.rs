//! Games on the screen that go on by themselves: computers that think, advise and answer, and clocks.

use crownhead_rules::Side;

use super::*;

#[test]
fn a_computer_says_what_it_thinks_and_undo_goes_back_to_the_persons_move() {
    let live = LocalGame::new(setup("english", ["human", "alphabeta:4"], None)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    type_in(&mut screen, "11-15\n");
    let shown = wait_for(&mut screen, "White thought:");
    assert!(shown.contains("depth 4"), "{shown}");
    type_in(&mut screen, "u");
    assert_eq!(said(&screen), "Black(b) to move.");
    assert!(!text(&screen, USUAL).contains("11-15"));
    type_in(&mut screen, "u");
    assert_eq!(said(&screen), "There is no move of yours to take back.");
}

#[test]
fn a_computer_that_would_think_for_hours_stops_when_nobody_wants_to_know() {
    let live = LocalGame::new(setup("english", ["human", "minimax:30"], None)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    type_in(&mut screen, "11-15\n");
    screen.tick();
    assert_eq!(said(&screen), "White(w) is thinking.");
    type_in(&mut screen, "u");
    assert_eq!(said(&screen), "Black(b) to move.");
    type_in(&mut screen, "11-15\n");
    screen.tick();
    type_in(&mut screen, "qy");
    assert!(screen.has_quit());
}

#[test]
fn a_hint_comes_with_its_reason() {
    let mut screen = people("english", Some("B:W15,32:B1,11"), false);
    type_in(&mut screen, "h");
    wait_for(&mut screen, "Try 11x18: it is the only legal move");
}

#[test]
fn two_computers_can_be_watched_stopped_and_seen_to_the_end() {
    let live = LocalGame::new(setup("contest", ["random", "random"], None)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    wait_for(&mut screen, "  1.>");
    type_in(&mut screen, " ");
    assert!(text(&screen, USUAL).contains("paused (space goes on)"));
    type_in(&mut screen, " +++++");
    wait_for(&mut screen, "n: new game, q: quit.");
}

#[test]
fn a_person_whose_time_is_up_has_lost() {
    let mut setup = setup("english", ["human", "human"], None);
    setup.time_control = "1s+0s".parse().unwrap();
    let mut screen = GameScreen::new(LocalGame::new(setup).unwrap(), None, false);
    type_in(&mut screen, "r");
    let shown = wait_for(&mut screen, "Black ran out of time: White wins.");
    // A question that nobody needs any more is gone, and the clock shows what is left: nothing.
    assert!(!shown.contains("give up?") && shown.contains(" 0.0"), "{shown}");
    type_in(&mut screen, "u");
    assert_eq!(said(&screen), "A game lost on time stays lost.");
}

#[test]
fn undo_gives_no_time_back_and_no_increment_twice() {
    let mut setup = setup("english", ["human", "human"], None);
    setup.time_control = TimeControl::parse_minutes("5+3").unwrap();
    let mut live = LocalGame::new(setup).unwrap();
    live.play("11-15", Duration::from_secs(10)).unwrap();
    assert_eq!(live.time_left(Side::First), Some(Duration::from_secs(293)));
    assert!(live.undo());
    live.play("11-16", Duration::from_secs(10)).unwrap();
    assert_eq!(live.time_left(Side::First), Some(Duration::from_secs(283)));
}

#[test]
fn undo_after_a_resignation_takes_back_the_resignation_and_no_move() {
    let mut live = LocalGame::new(setup("english", ["human", "random"], None)).unwrap();
    for moves in [&[][..], &["11-15", "22-18"][..]] {
        moves.iter().for_each(|text| live.play(text, Duration::ZERO).unwrap());
        live.act(Side::First, &crownhead_play::Action::Resign).unwrap();
        assert!(live.is_over() && live.undo());
        assert_eq!((live.is_over(), live.session().moves().len()), (false, moves.len()));
    }
}

#[test]
fn the_clock_of_a_computer_runs_only_while_it_thinks() {
    let mut setup = setup("english", ["random", "random"], None);
    setup.time_control = TimeControl::parse_minutes("5+0").unwrap();
    let mut live = LocalGame::new(setup).unwrap();
    let whole = Some(Duration::from_secs(300));
    let later = Instant::now();
    while later.elapsed() < Duration::from_millis(2) {
        assert_eq!(live.time_left(Side::First), whole);
    }
    live.start_turn(Instant::now());
    while live.time_left(Side::First) == whole {
        assert!(later.elapsed() < Duration::from_secs(60));
    }
    live.play("11-15", Duration::from_secs(1)).unwrap();
    assert_eq!(live.time_left(Side::First), Some(Duration::from_secs(299)));
    assert_eq!(live.time_left(Side::Second), whole);
}

#[test]
fn a_thought_is_not_thrown_away_by_an_undo_that_undoes_nothing() {
    let live = LocalGame::new(setup("english", ["minimax:30", "human"], None)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    screen.tick();
    let thinks = |screen: &GameScreen| {
        let shown = text(screen, USUAL);
        shown.contains("Black thinks") || shown.lines().any(|line| line.ends_with('…'))
    };
    assert!(thinks(&screen));
    type_in(&mut screen, "u");
    assert_eq!(said(&screen), "There is no move of yours to take back.");
    assert!(thinks(&screen));
}

#[test]
fn whoever_looks_at_an_earlier_position_is_not_interrupted() {
    let live = LocalGame::new(setup("english", ["random", "random"], None)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    type_in(&mut screen, "+++++");
    assert_eq!(said(&screen), "A move every 0.025 s.");
    wait_for(&mut screen, "  1.>");
    press(&mut screen, [KeyCode::Home]);
    let shown = wait_for(&mut screen, "has played");
    assert!(!shown.contains('>') && shown.contains("End goes back to the game."), "{shown}");
    // Whoever draws lots looks no plies ahead, and nothing is said of it.
    assert!(!shown.contains("depth"), "{shown}");
    type_in(&mut screen, "u");
    let shown = text(&screen, USUAL);
    assert!(shown.contains("This is the game again.") && shown.contains('>'), "{shown}");
}

/// What becomes of an offer to a computer that plays White.
fn offered(position: Option<&str>, answer: &str) -> GameScreen {
    let live = LocalGame::new(setup("english", ["human", "random"], position)).unwrap();
    let mut screen = GameScreen::new(live, None, false);
    type_in(&mut screen, "d");
    wait_for(&mut screen, answer);
    screen
}

#[test]
fn a_computer_accepts_a_draw_only_if_it_is_worse_or_the_game_is_old() {
    offered(Some("B:W32:BK1,K2,K3"), "The players agreed to a draw.");
    offered(Some("B:WK1,K2,K3:B5,6"), "White(w) plays on.");
    // There is no score where there is one move.
    offered(Some("B:W14,15,16,K22,K23:B13"), "White(w) plays on.");
    let mut screen = offered(None, "White(w) plays on.");
    // Nobody is asked twice in a moment: the answer comes without a thought.
    type_in(&mut screen, "hd");
    assert_eq!(said(&screen), "White(w) plays on.");
}
