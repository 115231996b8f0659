//! Home, new games, the analysis of a finished game, and the position editor.

use super::*;

#[test]
fn home_starts_what_is_chosen_with_the_defaults_of_play() {
    let mut home = HomeScreen::new(PLAIN, 1);
    insta::assert_snapshot!("home", text(&home, STANDARD));
    type_in(&mut home, "\n");
    let Some(HomeChoice::Play(setup)) = home.take_choice() else { panic!("not a game") };
    let default = Setup::default_for(&Game::default());
    assert_eq!((setup.game, setup.seats), (default.game, default.seats));
    // The next game of the list, by arrow keys; then lessons.
    press(&mut home, [KeyCode::Down; 5]);
    press(&mut home, [KeyCode::Right]);
    assert!(text(&home, STANDARD).contains("╭ Contest checkers"));
    press(&mut home, [KeyCode::Home, KeyCode::Down, KeyCode::Enter]);
    assert_eq!(home.take_choice(), Some(HomeChoice::Learn("contest".parse().unwrap())));
    press(&mut home, [KeyCode::Down, KeyCode::Enter]);
    type_in(&mut home, "games.pdn\n");
    assert_eq!(home.take_choice(), Some(HomeChoice::Open("games.pdn".into())));
    // Analyse, by the mouse.
    mouse(&mut home, MouseEventKind::Down(MouseButton::Left), 6, 5);
    assert_eq!(home.take_choice(), Some(HomeChoice::Analyse("contest".parse().unwrap())));
    press(&mut home, [KeyCode::End, KeyCode::Enter]);
    assert!(home.has_quit() && home.take_choice().is_none());
}

#[test]
fn home_asks_for_a_side_only_against_a_computer() {
    let mut home = HomeScreen::new(PLAIN, 1);
    assert!(text(&home, STANDARD).contains("You play"));
    press(&mut home, [KeyCode::Down; 6]);
    for _ in 0..20 {
        press(&mut home, [KeyCode::Left]);
        if text(&home, STANDARD).contains("a person, here") {
            break;
        }
    }
    assert!(!text(&home, STANDARD).contains("You play"));
}

#[test]
fn new_game_can_change_side_and_level_without_leaving() {
    let game = LocalGame::new(setup("english", ["human", "level:1"], None)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "n");
    insta::assert_snapshot!("dialog-new-game", text(&screen, STANDARD));
    press(&mut screen, [KeyCode::Down, KeyCode::Right, KeyCode::Down, KeyCode::Right]);
    press(&mut screen, [KeyCode::Enter]);
    let seats = &screen.into_game().setup().seats.clone();
    assert_eq!(*seats, ["level:2", "human"].map(|seat| seat.parse().unwrap()));
}

#[test]
fn new_game_after_a_position_can_start_from_the_beginning() {
    let start = Some("W:W32:B1");
    let game = LocalGame::new(setup("english", ["human", "level:1"], start)).unwrap();
    let mut screen = GameScreen::new(game, None, PLAIN);
    type_in(&mut screen, "n");
    assert!(text(&screen, STANDARD).contains("From      ◂ the same position ▸"));
    press(&mut screen, [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Right]);
    press(&mut screen, [KeyCode::Enter]);
    assert_eq!(screen.into_game().setup().position, None);
}

#[test]
fn preview_of_the_home_screen_is_centred() {
    for width in [100, 200] {
        let shown = text(&HomeScreen::new(PLAIN, 1), (width, 60));
        // The numbers of the columns, between the frames.
        let numbers: Vec<char> = shown.lines().nth(1).unwrap().chars().collect();
        let first = numbers.iter().position(char::is_ascii_digit).unwrap();
        let last = numbers.iter().rposition(char::is_ascii_digit).unwrap();
        let frame = numbers.iter().take(first).rposition(|c| *c == '│').unwrap();
        let (left, right) = (first - frame, usize::from(width) - last);
        assert!(left.abs_diff(right) < 8, "{left} {right}: {shown}");
    }
}

#[test]
fn finished_game_is_analysed_for_the_viewer() {
    let mut screen = two_people("english", Some("B:W13:B5,6"), PLAIN);
    type_in(&mut screen, "a");
    assert_eq!(message(&screen), "Analysis is for finished games. h: hint.");
    type_in(&mut screen, "5-9\na");
    let start = Instant::now();
    while !screen.has_quit() {
        screen.tick();
        assert!(start.elapsed() < Duration::from_secs(120), "{}", message(&screen));
    }
    let record = screen.take_analysed().unwrap();
    assert!(record.line.plies[0].comment.as_ref().unwrap().contains("[%eval"));
    assert!(!screen.has_quit());
}

#[test]
fn position_is_set_up_checked_and_played() {
    for game in Game::all() {
        let mut editor = EditorScreen::new(game.clone(), PLAIN, 1);
        type_in(&mut editor, "p");
        let setup = editor.take_setup().unwrap();
        assert_eq!(setup.position, Some(game.start_position()));
        LocalGame::new(setup).unwrap();
    }
    let mut editor = EditorScreen::new("english".parse().unwrap(), PLAIN, 1);
    type_in(&mut editor, "x");
    assert_eq!(message(&editor), "White wins: Black has no move.");
    type_in(&mut editor, "p1");
    assert!(!editor.has_quit());
    assert_eq!(message(&editor), "This square is not used in the game.");
    // A black king on 1, a white man on 10.
    type_in(&mut editor, "l3jjj2h2");
    insta::assert_snapshot!("editor", text(&editor, STANDARD));
    type_in(&mut editor, "tp");
    assert_eq!(editor.take_setup().unwrap().position.as_deref(), Some("W:W13:BK1"));
}

#[test]
fn editor_offers_kings_only_where_the_game_has_them() {
    for (game, has_kings) in [("english", true), ("contest", false), ("contest:kings=true", true)] {
        let mut editor = EditorScreen::new(game.parse().unwrap(), PLAIN, 1);
        assert_eq!(text(&editor, STANDARD).contains("Black king"), has_kings, "{game}");
        // Cycles through the pieces to the empty cell.
        type_in(&mut editor, "xl");
        type_in(&mut editor, &" ".repeat(if has_kings { 5 } else { 3 }));
        assert_eq!(text(&editor, STANDARD).matches('█').count(), 0, "{game}");
    }
}

#[test]
fn editor_explains_an_invalid_position_once() {
    let mut editor = EditorScreen::new("english".parse().unwrap(), PLAIN, 1);
    // A white man on 1, where it would have been crowned.
    type_in(&mut editor, "l2a");
    editor.tick();
    let shown = text(&editor, STANDARD);
    assert!(!message(&editor).contains("character"), "{shown}");
    assert_eq!(shown.matches(&message(&editor)[..20]).count(), 1, "{shown}");
}
