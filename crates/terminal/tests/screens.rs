//! Every screen as text: on a usual terminal, a large one and one that is too small, with and without
//! colours, and what keys and the mouse do to it. No terminal is needed: the real one is tested with the
//! built program.

#![allow(clippy::unwrap_used)] // a test may fail

use std::time::{Duration, Instant};

use crownhead_play::TimeControl;
use crownhead_play::lessons::course;
use crownhead_rules::Game;
use crownhead_terminal::autosave::Autosave;
use crownhead_terminal::game_file::GameFile;
use crownhead_terminal::local_game::{LocalGame, Setup};
use crownhead_terminal::screen::{GameScreen, LessonScreen, Screen, ViewScreen, dispatch};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

#[path = "screens/opponents.rs"]
mod opponents;

const USUAL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (132, 50);
const SMALLEST: (u16, u16) = (70, 22);

fn setup(game: &str, seats: [&str; 2], position: Option<&str>) -> Setup {
    Setup {
        game: game.parse().unwrap(),
        seats: seats.map(|seat| seat.parse().unwrap()),
        position: position.map(String::from),
        time_control: TimeControl::Unlimited,
        seed: 1,
    }
}

fn people(game: &str, position: Option<&str>, colour: bool) -> GameScreen {
    let live = LocalGame::new(setup(game, ["human", "human"], position)).unwrap();
    GameScreen::new(live, None::<Autosave>, colour)
}

fn picture(screen: &impl Screen, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap().buffer.clone()
}

/// The letters of a screen, without blanks at the ends of lines.
fn text(screen: &impl Screen, size: (u16, u16)) -> String {
    let buffer = picture(screen, size);
    let row = |y: u16| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let rows: Vec<_> = (0..size.1).map(|y| row(y).trim_end().to_string()).collect();
    rows.join("\n")
}

fn press(screen: &mut impl Screen, codes: impl IntoIterator<Item = KeyCode>) {
    for code in codes {
        let key = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        dispatch(screen, &key, Rect::new(0, 0, USUAL.0, USUAL.1));
    }
}

/// Presses letters.
fn type_in(screen: &mut impl Screen, letters: &str) {
    press(
        screen,
        letters.chars().map(|c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) }),
    );
}

fn mouse(screen: &mut impl Screen, kind: MouseEventKind, column: u16, row: u16) {
    let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    dispatch(screen, &Event::Mouse(mouse), Rect::new(0, 0, USUAL.0, USUAL.1));
}

/// Clicks on cells of a board that is not turned, on a usual screen.
fn click(screen: &mut impl Screen, cells: &str) {
    for cell in cells.split_whitespace() {
        let [row, column] = [0, 1].map(|at| cell[at..=at].parse::<u16>().unwrap() - 1);
        let left = MouseEventKind::Down(MouseButton::Left);
        mouse(screen, left, 3 + 5 * column + 2, 2 + 2 * row);
    }
}

/// What is said below the board.
fn said(screen: &impl Screen) -> String {
    let text = text(screen, USUAL);
    let lines: Vec<_> = text.lines().skip(20).take(3).map(str::trim).collect();
    lines.join(" ").trim().to_string()
}

const ENGLISH: &str = "B:W18,27,K3:B15,8,K12";

#[test]
fn a_game_of_each_kind() {
    for game in Game::all() {
        let id = game.info().id;
        let mut screen = people(id, None, false);
        insta::assert_snapshot!(format!("{id}-start"), text(&screen, USUAL));
        let moves = match id {
            "english" | "contest" => "11-15\n22-18\n15x22\n25x18\n8-11\n",
            "chinese-checkers" => "2233\n7766\n1155\n",
            _ => "31-32\n73-72\n37-36\n",
        };
        type_in(&mut screen, moves);
        insta::assert_snapshot!(format!("{id}-moves"), text(&screen, USUAL));
    }
}

#[test]
fn on_a_large_screen_the_board_is_larger() {
    let screen = people("english", Some(ENGLISH), true);
    insta::assert_snapshot!(text(&screen, LARGE));
}

#[test]
fn in_colour_the_ground_the_pieces_and_the_marks_have_colours() {
    let mut screen = people("english", Some(ENGLISH), true);
    press(&mut screen, [KeyCode::Down, KeyCode::Enter]);
    insta::assert_debug_snapshot!(picture(&screen, USUAL));
}

#[test]
fn too_small_a_screen_says_what_it_needs() {
    let screen = people("english", None, true);
    for size in [(60, 15), (69, 24), (80, 21)] {
        let (width, height) = size;
        let needs = format!("This needs a screen of 70x22; it has {width}x{height}.");
        assert_eq!(text(&screen, size).replace('\n', " ").trim(), needs);
    }
    assert!(text(&screen, (70, 22)).contains("Black(b) to move."));
}

#[test]
fn no_size_breaks_a_screen() {
    let file = "1. 11-15 {comment} (1. 9-14) 23-19 *";
    let mut view = ViewScreen::new(GameFile::new(file.as_bytes()), true).unwrap();
    let mut game = people("capture-halma", None, true);
    let mut lesson = LessonScreen::new(course(&Game::ChineseCheckers(())).unwrap(), true);
    for keys in ["?", "x", "t"] {
        // The key before closed a page, or did nothing.
        type_in(&mut game, keys);
        type_in(&mut view, keys);
        type_in(&mut lesson, keys);
        for width in (0..90).step_by(3).chain([300]) {
            for height in (0..30).chain([120]) {
                let size = (width, height);
                for text in [text(&game, size), text(&view, size), text(&lesson, size)] {
                    // A line of keys at the bottom, or what is needed instead.
                    if width >= 70 && height >= 22 {
                        assert!(text.ends_with("q quit"), "{size:?}\n{text}");
                    } else if width >= 12 && height >= 5 {
                        assert!(text.starts_with("This"), "{size:?}\n{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn without_colours_nothing_is_styled_and_nothing_is_lost() {
    let plain = people("english", Some(ENGLISH), false);
    let coloured = people("english", Some(ENGLISH), true);
    for size in [USUAL, LARGE] {
        let buffer = picture(&plain, size);
        for cell in buffer.content() {
            let unstyled = (Color::Reset, Color::Reset, Modifier::empty());
            assert_eq!((cell.fg, cell.bg, cell.modifier), unstyled);
        }
        // Only the shade of the light squares is added.
        let bare =
            |text: String| text.replace('░', " ").lines().map(str::trim_end).collect::<String>();
        assert_eq!(bare(text(&plain, size)), bare(text(&coloured, size)));
    }
}

#[test]
fn every_dialog() {
    let mut screen = people("english", None, false);
    for (name, keys) in [("help", "?"), ("quit", "q"), ("resign", "r"), ("draw", "d")] {
        type_in(&mut screen, keys);
        insta::assert_snapshot!(format!("dialog-{name}"), text(&screen, USUAL));
        press(&mut screen, [KeyCode::Esc]);
        assert_eq!(said(&screen), "Black(b) to move.");
    }
    type_in(&mut screen, "s");
    let shown = text(&screen, USUAL);
    assert!(shown.contains("File: english-1.pdn_"), "{shown}");
    // What is typed takes the place of a name that was only proposed; a long one shows its end.
    type_in(&mut screen, &format!("{}.pdn", "long".repeat(30)));
    let shown = text(&screen, USUAL);
    assert!(shown.contains("File: …") && shown.contains("long.pdn_"), "{shown}");
    assert!(!shown.contains("english-1"), "{shown}");
    press(&mut screen, [KeyCode::Esc]);
    assert_eq!(said(&screen), "The game was not saved.");
    type_in(&mut screen, "qy");
    assert!(screen.has_quit());
}

#[test]
fn the_end_of_a_game_is_said_and_another_can_begin() {
    let mut screen = people("english", Some("B:W13:B5,6"), false);
    type_in(&mut screen, "5-9\n");
    insta::assert_snapshot!(text(&screen, USUAL));
    type_in(&mut screen, "n");
    assert_eq!(said(&screen), "Black(b) to move.");
    type_in(&mut screen, "ry");
    assert_eq!(said(&screen), "Black resigns: White wins. n: new game, q: quit.");
    type_in(&mut screen, "ndy");
    assert_eq!(said(&screen), "The players agreed to a draw. n: new game, q: quit.");
    type_in(&mut screen, "q");
    assert!(screen.has_quit());
}

/// The line of keys on the smallest screen.
fn keys(screen: &impl Screen) -> String {
    text(screen, SMALLEST).lines().last().unwrap().trim().to_string()
}

#[test]
fn the_smallest_screen_has_room_for_the_keys() {
    let mut screen = people("english", None, false);
    assert!(keys(&screen).ends_with("· q quit"), "{}", keys(&screen));
    type_in(&mut screen, "ry");
    assert!(keys(&screen).ends_with("· q quit"), "{}", keys(&screen));
    let stuck = people("capture-halma", Some("8/8/8/3w4/8/8/8/8 b 0"), false);
    let shown = keys(&stuck);
    assert!(shown.starts_with("p pass · ") && shown.ends_with("· q quit"), "{shown}");
    let view = ViewScreen::new(GameFile::new(FILE.as_bytes()), false).unwrap();
    assert!(keys(&view).ends_with("· q quit"), "{}", keys(&view));
}

#[test]
fn at_the_end_of_a_recorded_game_nobody_is_to_move_and_nothing_is_read() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), false).unwrap();
    assert!(text(&screen, USUAL).contains('▶'));
    press(&mut screen, [KeyCode::End]);
    assert!(!text(&screen, USUAL).contains('▶'));
    let mut silent = ViewScreen::new(GameFile::new("1. 11-15 22-18 *".as_bytes()), false).unwrap();
    assert_eq!(said(&silent), "");
    type_in(&mut silent, "t");
    assert!(!text(&silent, USUAL).contains("Esc closes"));
}

#[test]
fn a_refused_choice_is_explained_and_the_pieces_that_must_are_marked() {
    let mut screen = people("english", Some("B:W15,32:B1,11"), false);
    click(&mut screen, "12");
    assert_eq!(said(&screen), "Illegal: 11x18 is mandatory.");
    let shown = text(&screen, USUAL);
    assert!(shown.contains("!11") && !shown.contains("!1 "), "{shown}");
    click(&mut screen, "11");
    assert_eq!(said(&screen), "This square is not played on.");
    click(&mut screen, "36 36 36 63");
    assert_eq!(said(&screen), "Illegal: no capture leads from 11 to 22: play 11x18.");
    type_in(&mut screen, "1-5\n");
    assert_eq!(said(&screen), "Illegal: 11x18 is mandatory.");
    // The choice that is asked for is the move, for there is one left.
    click(&mut screen, "36 54");
    assert!(said(&screen).starts_with("White(w) to move"), "{}", said(&screen));
}

#[test]
fn a_way_is_chosen_step_by_step_and_completed_when_one_is_left() {
    // Both captures end on 26: the first step decides.
    let mut screen = people("english", Some("B:W6,14,15,22,23,29,32:B1,4"), false);
    click(&mut screen, "12");
    insta::assert_snapshot!("way-chosen", text(&screen, USUAL));
    click(&mut screen, "74");
    assert_eq!(said(&screen), "Several ways lead there: choose the next step.");
    click(&mut screen, "12 34");
    assert_eq!(said(&screen), "Choose the next jump.");
    insta::assert_snapshot!("way-begun", text(&screen, USUAL));
    click(&mut screen, "52");
    insta::assert_snapshot!("way-done", text(&screen, USUAL));
}

#[test]
fn a_chain_of_hops_ends_where_its_last_cell_is_chosen_again_and_any_way_round_will_do() {
    let circle = Some("8/8/8/2bw4/2w1w3/3w4/8/5w2 b 0");
    let mut screen = people("capture-halma", circle, false);
    click(&mut screen, "43 45");
    assert_eq!(said(&screen), "Choose the next hop, or the same cell again to end here.");
    click(&mut screen, "45");
    assert!(text(&screen, USUAL).lines().any(|line| line.ends_with(">43-45")));
    for way in ["43 45 65 63 43", "43 63 65 45 43"] {
        let mut screen = people("capture-halma", circle, false);
        click(&mut screen, way);
        assert!(text(&screen, USUAL).contains(">43-45-65-63"), "{way}: {}", said(&screen));
    }
}

#[test]
fn the_cursor_goes_by_arrows_and_by_hjkl_and_h_is_the_hint_only_without_it() {
    let mut screen = people("chinese-checkers", None, false);
    press(&mut screen, [KeyCode::Down, KeyCode::Down, KeyCode::Right]);
    type_in(&mut screen, "ljhk");
    insta::assert_snapshot!(text(&screen, USUAL));
    press(&mut screen, [KeyCode::Esc]);
    type_in(&mut screen, "h");
    assert_eq!(said(&screen), "Looking for a good move …");
}

#[test]
fn earlier_positions_are_looked_at_with_keys_and_in_the_list() {
    let mut screen = people("english", None, false);
    type_in(&mut screen, "11-15\n23-19\n8-11\n22-17\n");
    type_in(&mut screen, "[[");
    assert!(said(&screen).starts_with("The position after 2 of 4 plies."), "{}", said(&screen));
    insta::assert_snapshot!(text(&screen, USUAL));
    press(&mut screen, [KeyCode::Home]);
    assert!(said(&screen).starts_with("The position after 0 of 4 plies."));
    type_in(&mut screen, "1");
    assert_eq!(said(&screen), "This is an earlier position: End goes back to the game.");
    press(&mut screen, [KeyCode::End]);
    assert_eq!(said(&screen), "Black(b) to move.");
    // The second move of the first pair, then the wheel.
    let left = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut screen, left, 66, 10);
    assert!(said(&screen).starts_with("The position after 2 of 4 plies."), "{}", said(&screen));
    mouse(&mut screen, MouseEventKind::ScrollUp, 10, 10);
    assert!(said(&screen).starts_with("The position after 1 of 4 plies."));
    press(&mut screen, [KeyCode::PageDown]);
    assert_eq!(said(&screen), "Black(b) to move.");
    type_in(&mut screen, "uu");
    let shown = text(&screen, USUAL);
    assert!(shown.contains(">23-19") && !shown.contains("8-11"), "{shown}");
}

#[test]
fn a_long_list_of_moves_scrolls_with_what_is_shown() {
    let mut screen = people("chinese-checkers", None, false);
    for _ in 0..12 {
        type_in(&mut screen, "2233\n7766\n3322\n6677\n");
    }
    insta::assert_snapshot!("list-end", text(&screen, USUAL));
    press(&mut screen, [KeyCode::PageUp, KeyCode::PageUp]);
    assert!(text(&screen, USUAL).contains(" 14."));
    press(&mut screen, [KeyCode::Home]);
    insta::assert_snapshot!("list-start", text(&screen, USUAL));
}

#[test]
fn a_game_that_begins_with_the_second_side_is_listed_so() {
    let mut screen = people("english", Some("W:W21,22,32:B1,2"), false);
    type_in(&mut screen, "22-18\n1-6\n");
    let shown = text(&screen, USUAL);
    let rows: Vec<_> =
        shown.lines().map(|line| line.chars().skip(45).collect::<String>()).collect();
    assert!(rows.iter().any(|row| row.starts_with("  1.") && row.trim_end().ends_with("22-18")));
    assert!(rows.iter().any(|row| row.starts_with("  2.>1-6")), "{shown}");
}

/// Lets time pass until something is on the screen. The computer takes as long as it takes.
fn wait_for(screen: &mut impl Screen, wanted: &str) -> String {
    let begun = Instant::now();
    loop {
        screen.tick();
        let shown = text(screen, USUAL);
        if shown.contains(wanted) {
            return shown;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no {wanted:?} in\n{shown}");
        std::thread::yield_now();
    }
}

const FILE: &str = "[Event \"Club\"] [Date \"2024.05.06\"] [Black \"Ann\"] [White \"Bob\"]
{Before} 1. 11-15! {A fine start.} (1. 9-14 {Instead.} 22-18 (1... 22-17) 2. 5-9) (1. 10-14) 23-19
2. 8-11 22-17 1-0
1. 11-99 *
[Event \"Next\"] 1. 11-16 *";

#[test]
fn recorded_games_with_variations_and_comments() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), false).unwrap();
    insta::assert_snapshot!("view-start", text(&screen, USUAL));
    press(&mut screen, [KeyCode::Right]);
    insta::assert_snapshot!("view-move", text(&screen, USUAL));
    insta::assert_snapshot!("view-move-large", text(&screen, LARGE));
    type_in(&mut screen, "v");
    insta::assert_snapshot!("view-variation", text(&screen, USUAL));
    press(&mut screen, [KeyCode::Right]);
    type_in(&mut screen, "v");
    assert!(text(&screen, USUAL).contains(">22-17"));
    press(&mut screen, [KeyCode::Esc, KeyCode::Esc, KeyCode::End]);
    assert_eq!(said(&screen), "The record ends here: 1-0.");
    type_in(&mut screen, "n");
    insta::assert_snapshot!("view-next-game", text(&screen, USUAL));
    type_in(&mut screen, "n");
    assert_eq!(said(&screen), "That was the last game.");
    type_in(&mut screen, "pp");
    assert_eq!(said(&screen), "This is the first game.");
    type_in(&mut screen, "?");
    insta::assert_snapshot!("view-help", text(&screen, USUAL));
    type_in(&mut screen, "qq");
    assert!(screen.has_quit());
}

#[test]
fn a_long_comment_ends_in_dots_and_can_be_read_whole() {
    let words: Vec<_> = (1..=300).map(|number| format!("word{number}")).collect();
    let file = format!("1. 11-15 {{{}}} *", words.join(" "));
    let mut screen = ViewScreen::new(GameFile::new(file.as_bytes()), false).unwrap();
    press(&mut screen, [KeyCode::Right]);
    assert!(said(&screen).starts_with("word1 word2 "), "{}", said(&screen));
    assert!(said(&screen).ends_with("… (t: all of it)"), "{}", said(&screen));
    type_in(&mut screen, "t");
    let mut seen = String::new();
    for _ in 0..6 {
        seen.push_str(&text(&screen, USUAL));
        press(&mut screen, [KeyCode::PageDown]);
    }
    let missing = words.iter().find(|word| !seen.contains(&format!(" {word} ")));
    assert_eq!(missing, None);
    press(&mut screen, [KeyCode::Esc]);
    assert!(text(&screen, USUAL).contains(">11-15"));
}

#[test]
fn a_recorded_game_plays_by_itself_and_is_analysed_on_demand() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), false).unwrap();
    type_in(&mut screen, "a++++ ");
    assert!(text(&screen, USUAL).contains("playing (space stops)"));
    wait_for(&mut screen, "The record ends here: 1-0.");
    wait_for(&mut screen, "(depth ");
    press(&mut screen, [KeyCode::Home]);
    wait_for(&mut screen, "(depth ");
    type_in(&mut screen, "a");
    assert!(!text(&screen, USUAL).contains("(depth "));
}

#[test]
fn a_file_without_a_game_that_can_be_read_is_no_screen() {
    let refused = |text: &str| ViewScreen::new(GameFile::new(text.as_bytes()), false).err();
    assert_eq!(refused("").as_deref(), Some("there is no game in it"));
    let told = refused("1. 11-99 *").unwrap();
    assert!(told.starts_with("game 1, line 1, column 4: 11-99: invalid square 99"), "{told}");
}

#[test]
fn exercises_on_the_screen() {
    let mut screen = LessonScreen::new(course(&"english".parse().unwrap()).unwrap(), false);
    insta::assert_snapshot!("learn-first", text(&screen, USUAL));
    type_in(&mut screen, "h");
    assert_eq!(said(&screen), "From 11 a man can go to 15 or to 16.");
    click(&mut screen, "36 45");
    assert_eq!(said(&screen), "That is a step. Enter: the next exercise.");
    type_in(&mut screen, "\n");
    // A refusal is what is wanted here: the cells may be chosen all the same.
    click(&mut screen, "45 34");
    insta::assert_snapshot!("learn-refused", text(&screen, USUAL));
    type_in(&mut screen, "n");
    insta::assert_snapshot!("learn-jump-large", text(&screen, LARGE));
    click(&mut screen, "36 45");
    assert_eq!(said(&screen), "Illegal: 11x18 is mandatory.");
}

#[test]
fn every_exercise_can_be_done_with_the_mouse() {
    use crownhead_play::lessons::Goal;
    for game in Game::all() {
        let lessons = course(&game).unwrap();
        let count = lessons.count();
        let mut screen = LessonScreen::new(lessons, true);
        for number in 1..=count {
            let course = screen.course();
            assert_eq!(course.number(), number);
            let legal = course.session().legal_moves();
            let made = |text: &String| {
                let mut session = course.session().clone_box();
                session.play(text).unwrap();
                let made = session.moves().pop();
                legal.iter().find(|mv| Some(&mv.text) == made.as_ref()).unwrap().path.clone()
            };
            let square = |number: &str| {
                let number = number.parse::<u8>().unwrap() - 1;
                let row = number / 4 + 1;
                format!("{row}{}", 2 * (number % 4) + 1 + row % 2)
            };
            let cells: Vec<String> = match &course.exercise().goal {
                Goal::Any => legal[0].path.iter().map(ToString::to_string).collect(),
                Goal::Moves(moves) => {
                    let mut path = made(&moves[0]);
                    // Where nothing is taken, the end says which move it is.
                    if game == Game::ChineseCheckers(()) {
                        path.drain(1..path.len() - 1);
                    }
                    path.iter().map(ToString::to_string).collect()
                }
                Goal::Illegal { text, .. } => {
                    match text.split(['x', '-']).collect::<Vec<_>>()[..] {
                        [whole] => vec![whole[..2].into(), whole[2..].into()],
                        [from, to] if legal[0].text.len() > 5 || game == Game::CaptureHalma(()) => {
                            vec![from.into(), to.into()]
                        }
                        [from, to] => vec![square(from), square(to)],
                        _ => panic!("{text}"),
                    }
                }
            };
            for cell in &cells {
                // A way is completed when one is left.
                if !said(&screen).contains("Enter:") && !said(&screen).contains("q: quit") {
                    click(&mut screen, cell);
                }
            }
            if screen.course().solved_count() < number {
                click(&mut screen, cells.last().unwrap());
            }
            assert_eq!(
                screen.course().solved_count(),
                number,
                "{game} {number}: {}",
                said(&screen)
            );
            type_in(&mut screen, "\n");
        }
    }
}
