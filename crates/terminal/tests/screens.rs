//! Every screen as text, in several sizes, with and without colours, and its reaction to keys and
//! mouse. These tests need no terminal; `tests/terminal` tests the program in a real one.

#![allow(clippy::unwrap_used, clippy::panic)] // a failing test may panic, and one must

use std::time::{Duration, Instant};

use crownhead_play::TimeControl;
use crownhead_play::lessons::course;
use crownhead_records::GameFile;
use crownhead_rules::Game;
use crownhead_terminal::autosave::Autosave;
use crownhead_terminal::local_game::{LocalGame, Setup};
use crownhead_terminal::screen::{
    ColourDepth, EditorScreen, GameScreen, HomeChoice, HomeScreen, LessonScreen, Look, Screen,
    Theme, ViewScreen, dispatch,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use viewer::FILE;

#[path = "screens/computers.rs"]
mod computers;
#[cfg(unix)]
#[path = "screens/crash.rs"]
mod crash;
#[path = "screens/home.rs"]
mod home;
#[path = "screens/tournament.rs"]
mod tournament;
#[path = "screens/viewer.rs"]
mod viewer;

const PLAIN: Look = Look::PLAIN;
const COLOURED: Look = Look { theme: Theme::Wood, depth: ColourDepth::Ansi256 };
const STANDARD: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (132, 50);
const MINIMUM: (u16, u16) = (70, 22);

fn setup(game: &str, seats: [&str; 2], position: Option<&str>) -> Setup {
    Setup {
        game: game.parse().unwrap(),
        seats: seats.map(|seat| seat.parse().unwrap()),
        position: position.map(String::from),
        time_control: TimeControl::Unlimited,
        seed: 1,
    }
}

fn two_people(game: &str, position: Option<&str>, look: Look) -> GameScreen {
    let game = LocalGame::new(setup(game, ["human", "human"], position)).unwrap();
    GameScreen::new(game, None::<Autosave>, look)
}

fn render(screen: &impl Screen, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap().buffer.clone()
}

/// Returns the text of a screen, without trailing spaces.
fn text(screen: &impl Screen, size: (u16, u16)) -> String {
    let buffer = render(screen, size);
    let row = |y: u16| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let rows: Vec<_> = (0..size.1).map(|y| row(y).trim_end().to_string()).collect();
    rows.join("\n")
}

fn press(screen: &mut impl Screen, codes: impl IntoIterator<Item = KeyCode>) {
    for code in codes {
        let key = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        dispatch(screen, &key, Rect::new(0, 0, STANDARD.0, STANDARD.1));
    }
}

/// Presses the keys of a text.
fn type_in(screen: &mut impl Screen, letters: &str) {
    press(
        screen,
        letters.chars().map(|c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) }),
    );
}

fn mouse(screen: &mut impl Screen, kind: MouseEventKind, column: u16, row: u16) {
    let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    dispatch(screen, &Event::Mouse(mouse), Rect::new(0, 0, STANDARD.0, STANDARD.1));
}

/// Clicks on cells of a board that is not flipped, on a standard screen.
fn click(screen: &mut impl Screen, cells: &str) {
    for cell in cells.split_whitespace() {
        let [row, column] = [0, 1].map(|at| cell[at..=at].parse::<u16>().unwrap() - 1);
        let left = MouseEventKind::Down(MouseButton::Left);
        mouse(screen, left, 3 + 5 * column + 2, 2 + 2 * row);
    }
}

/// Returns the message below the board.
fn message(screen: &impl Screen) -> String {
    let text = text(screen, STANDARD);
    let lines: Vec<_> = text.lines().skip(20).take(3).map(str::trim).collect();
    lines.join(" ").trim().to_string()
}

const ENGLISH: &str = "B:W18,27,K3:B15,8,K12";

#[test]
fn every_game_is_drawn() {
    for game in Game::all() {
        let id = game.info().id;
        let mut screen = two_people(id, None, PLAIN);
        insta::assert_snapshot!(format!("{id}-start"), text(&screen, STANDARD));
        let moves = match id {
            "english" | "contest" => "11-15\n22-18\n15x22\n25x18\n8-11\n",
            "chinese-checkers" => "2233\n7766\n1155\n",
            _ => "31-32\n73-72\n37-36\n",
        };
        type_in(&mut screen, moves);
        insta::assert_snapshot!(format!("{id}-moves"), text(&screen, STANDARD));
    }
}

#[test]
fn board_grows_with_the_screen() {
    let screen = two_people("english", Some(ENGLISH), COLOURED);
    insta::assert_snapshot!(text(&screen, LARGE));
}

#[test]
fn colours_show_squares_pieces_and_highlights() {
    let mut screen = two_people("english", Some(ENGLISH), COLOURED);
    press(&mut screen, [KeyCode::Down, KeyCode::Enter]);
    insta::assert_debug_snapshot!(render(&screen, STANDARD));
}

#[test]
fn small_screen_shows_the_required_size() {
    let screen = two_people("english", None, COLOURED);
    for size in [(60, 15), (69, 24), (80, 21)] {
        let (width, height) = size;
        let expected = format!("The screen is {width}x{height}; at least 70x22 is needed.");
        assert_eq!(text(&screen, size).replace('\n', " ").trim(), expected);
    }
    assert!(text(&screen, (70, 22)).contains("Black(b) to move."));
}

#[test]
fn screens_can_be_drawn_in_any_size() {
    let file = "1. 11-15 {comment} (1. 9-14) 23-19 *";
    let mut view = ViewScreen::new(GameFile::new(file.as_bytes()), COLOURED).unwrap();
    let mut game = two_people("capture-halma", None, COLOURED);
    let mut lesson = LessonScreen::new(course(&Game::ChineseCheckers(())).unwrap(), COLOURED);
    for keys in ["?", "x", "t"] {
        // The previous key opened or closed a popup, or did nothing.
        type_in(&mut game, keys);
        type_in(&mut view, keys);
        type_in(&mut lesson, keys);
        for width in (0..90).step_by(3).chain([300]) {
            for height in (0..30).chain([120]) {
                let size = (width, height);
                for text in [text(&game, size), text(&view, size), text(&lesson, size)] {
                    // The key bar at the bottom, or the required size.
                    if width >= 70 && height >= 22 {
                        assert!(text.ends_with("q quit"), "{size:?}\n{text}");
                    } else if width >= 12 && height >= 5 {
                        assert!(text.starts_with("The screen"), "{size:?}\n{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn screen_without_colours_has_no_styles() {
    let plain = two_people("english", Some(ENGLISH), PLAIN);
    for size in [STANDARD, LARGE] {
        let buffer = render(&plain, size);
        for cell in buffer.content() {
            let unstyled = (Color::Reset, Color::Reset, Modifier::empty());
            assert_eq!((cell.fg, cell.bg, cell.modifier), unstyled);
        }
    }
}

#[test]
fn every_dialog_is_drawn() {
    let mut screen = two_people("english", None, PLAIN);
    for (name, keys) in [("help", "?"), ("quit", "q"), ("resign", "r"), ("draw", "d")] {
        type_in(&mut screen, keys);
        insta::assert_snapshot!(format!("dialog-{name}"), text(&screen, STANDARD));
        press(&mut screen, [KeyCode::Esc]);
        assert_eq!(message(&screen), "Black(b) to move.");
    }
    type_in(&mut screen, "s");
    let screen_text = text(&screen, STANDARD);
    assert!(screen_text.contains("File: english-1.pdn_"), "{screen_text}");
    // Typing replaces the proposed name; of a long name the end is visible.
    type_in(&mut screen, &format!("{}.pdn", "long".repeat(30)));
    let screen_text = text(&screen, STANDARD);
    assert!(screen_text.contains("File: …") && screen_text.contains("long.pdn_"), "{screen_text}");
    assert!(!screen_text.contains("english-1"), "{screen_text}");
    press(&mut screen, [KeyCode::Esc]);
    assert_eq!(message(&screen), "Not saved.");
    type_in(&mut screen, "qy");
    assert!(screen.has_quit());
}

#[test]
fn new_game_starts_after_the_end() {
    let mut screen = two_people("english", Some("B:W13:B5,6"), PLAIN);
    type_in(&mut screen, "5-9\n");
    insta::assert_snapshot!(text(&screen, STANDARD));
    type_in(&mut screen, "n\n");
    assert_eq!(message(&screen), "Black(b) to move.");
    type_in(&mut screen, "ry");
    assert_eq!(
        message(&screen),
        "Black resigns: White wins. n: new game, a: analyse this game, q: quit."
    );
    type_in(&mut screen, "n\ndy");
    assert_eq!(
        message(&screen),
        "The players agreed to a draw. n: new game, a: analyse this game, q: quit."
    );
    type_in(&mut screen, "q");
    assert!(screen.has_quit());
}

/// Returns the key bar on the smallest screen.
fn keys(screen: &impl Screen) -> String {
    text(screen, MINIMUM).lines().last().unwrap().trim().to_string()
}

#[test]
fn key_bar_fits_the_smallest_screen() {
    let mut screen = two_people("english", None, PLAIN);
    assert!(keys(&screen).ends_with("· q quit"), "{}", keys(&screen));
    type_in(&mut screen, "ry");
    assert!(keys(&screen).ends_with("· q quit"), "{}", keys(&screen));
    let stuck = two_people("capture-halma", Some("8/8/8/3w4/8/8/8/8 b 0"), PLAIN);
    let screen_text = keys(&stuck);
    assert!(
        screen_text.starts_with("p pass · ") && screen_text.ends_with("· q quit"),
        "{screen_text}"
    );
    let view = ViewScreen::new(GameFile::new(FILE.as_bytes()), PLAIN).unwrap();
    assert!(keys(&view).ends_with("· q quit"), "{}", keys(&view));
}

#[test]
fn end_of_recorded_game_has_no_side_to_move_and_empty_message_opens_no_popup() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), PLAIN).unwrap();
    assert!(text(&screen, STANDARD).contains('▶'));
    press(&mut screen, [KeyCode::End]);
    assert!(!text(&screen, STANDARD).contains('▶'));
    let mut uncommented =
        ViewScreen::new(GameFile::new("1. 11-15 22-18 *".as_bytes()), PLAIN).unwrap();
    assert_eq!(message(&uncommented), "");
    type_in(&mut uncommented, "t");
    assert!(!text(&uncommented, STANDARD).contains("Esc: close"));
}

#[test]
fn rejected_selection_is_explained_and_mandatory_captures_are_marked() {
    let mut screen = two_people("english", Some("B:W15,32:B1,11"), PLAIN);
    click(&mut screen, "12");
    assert_eq!(message(&screen), "Illegal: 11x18 is mandatory.");
    let screen_text = text(&screen, STANDARD);
    assert!(screen_text.matches('!').count() == 1, "{screen_text}");
    click(&mut screen, "11");
    assert_eq!(message(&screen), "This square is not used in the game.");
    click(&mut screen, "36 36 36 63");
    assert_eq!(message(&screen), "Illegal: no capture leads from 11 to 22: play 11x18.");
    type_in(&mut screen, "1-5\n");
    assert_eq!(message(&screen), "Illegal: 11x18 is mandatory.");
    // Start and end complete the only legal move.
    click(&mut screen, "36 54");
    assert!(message(&screen).starts_with("White(w) to move"), "{}", message(&screen));
}

#[test]
fn path_is_selected_step_by_step_and_completed_when_one_move_is_left() {
    // Both captures end on 26: the first step decides.
    let mut screen = two_people("english", Some("B:W6,14,15,22,23,29,32:B1,4"), PLAIN);
    click(&mut screen, "12");
    insta::assert_snapshot!("path-selected", text(&screen, STANDARD));
    click(&mut screen, "74");
    assert_eq!(message(&screen), "Several paths lead there: select the next step.");
    click(&mut screen, "12 34");
    assert_eq!(message(&screen), "Select the next jump.");
    insta::assert_snapshot!("path-started", text(&screen, STANDARD));
    click(&mut screen, "52");
    insta::assert_snapshot!("path-done", text(&screen, STANDARD));
}

#[test]
fn selecting_the_last_cell_again_ends_hops_and_any_path_is_accepted() {
    let circle = Some("8/8/8/2bw4/2w1w3/3w4/8/5w2 b 0");
    let mut screen = two_people("capture-halma", circle, PLAIN);
    click(&mut screen, "43 45");
    assert_eq!(message(&screen), "Select the next hop, or the same cell again to stop here.");
    click(&mut screen, "45");
    assert!(text(&screen, STANDARD).lines().any(|line| line.contains(">43-45 ")));
    for path in ["43 45 65 63 43", "43 63 65 45 43"] {
        let mut screen = two_people("capture-halma", circle, PLAIN);
        click(&mut screen, path);
        assert!(text(&screen, STANDARD).contains(">43-45-65-"), "{path}: {}", message(&screen));
    }
}

#[test]
fn cursor_moves_by_arrows_and_hjkl_and_h_is_hint_without_cursor() {
    let mut screen = two_people("chinese-checkers", None, PLAIN);
    press(&mut screen, [KeyCode::Down, KeyCode::Down, KeyCode::Right]);
    type_in(&mut screen, "ljhk");
    insta::assert_snapshot!(text(&screen, STANDARD));
    press(&mut screen, [KeyCode::Esc]);
    type_in(&mut screen, "h");
    assert_eq!(message(&screen), "Searching for a hint…");
}

#[test]
fn keys_and_move_list_go_to_earlier_positions() {
    let mut screen = two_people("english", None, PLAIN);
    type_in(&mut screen, "11-15\n23-19\n8-11\n22-17\n");
    type_in(&mut screen, "[[");
    assert!(message(&screen).starts_with("Position after 2 of 4 plies."), "{}", message(&screen));
    insta::assert_snapshot!(text(&screen, STANDARD));
    press(&mut screen, [KeyCode::Home]);
    assert!(message(&screen).starts_with("Position after 0 of 4 plies."));
    type_in(&mut screen, "1");
    assert_eq!(message(&screen), "This is an earlier position. End: back to the game.");
    press(&mut screen, [KeyCode::End]);
    assert_eq!(message(&screen), "Black(b) to move.");
    // The second move of the first pair, then the wheel.
    let left = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut screen, left, 66, 15);
    assert!(message(&screen).starts_with("Position after 2 of 4 plies."), "{}", message(&screen));
    mouse(&mut screen, MouseEventKind::ScrollUp, 10, 10);
    assert!(message(&screen).starts_with("Position after 1 of 4 plies."));
    press(&mut screen, [KeyCode::PageDown]);
    assert_eq!(message(&screen), "Black(b) to move.");
    type_in(&mut screen, "uu");
    let screen_text = text(&screen, STANDARD);
    assert!(screen_text.contains(">23-19") && !screen_text.contains("8-11"), "{screen_text}");
}

#[test]
fn move_list_scrolls_to_the_current_move() {
    let mut screen = two_people("chinese-checkers", None, PLAIN);
    for _ in 0..12 {
        type_in(&mut screen, "2233\n7766\n3322\n6677\n");
    }
    insta::assert_snapshot!("list-end", text(&screen, STANDARD));
    press(&mut screen, [KeyCode::PageUp, KeyCode::PageUp]);
    assert!(text(&screen, STANDARD).contains(" 14."));
    press(&mut screen, [KeyCode::Home]);
    insta::assert_snapshot!("list-start", text(&screen, STANDARD));
}

#[test]
fn move_list_starts_in_the_second_column_if_the_second_side_starts() {
    let mut screen = two_people("english", Some("W:W21,22,32:B1,2"), PLAIN);
    type_in(&mut screen, "22-18\n1-6\n");
    let screen_text = text(&screen, STANDARD);
    let rows: Vec<_> =
        screen_text.lines().map(|line| line.chars().skip(47).collect::<String>()).collect();
    assert!(rows.iter().any(|row| row.starts_with("  1.") && row.contains("22-18")));
    assert!(rows.iter().any(|row| row.starts_with("  2.>1-6")), "{screen_text}");
}

/// Ticks until a text is on the screen.
fn wait_for(screen: &mut impl Screen, expected: &str) -> String {
    let start = Instant::now();
    loop {
        screen.tick();
        let screen_text = text(screen, STANDARD);
        if screen_text.contains(expected) {
            return screen_text;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "no {expected:?} in\n{screen_text}");
        std::thread::yield_now();
    }
}

#[test]
fn red_is_red_in_contest_checkers_and_kings_have_crowns() {
    let screen = two_people("contest", None, COLOURED);
    let red = COLOURED
        .colour(crownhead_terminal::screen::theme::Role::Piece(crownhead_rules::Colour::Red));
    let buffer = render(&screen, STANDARD);
    // Square 32, row 8, column 7: the upper edge of a disc.
    assert_eq!((buffer[(35, 16)].symbol(), buffer[(35, 16)].fg), ("█", red));
    for size in [STANDARD, (100, 32), LARGE, (200, 60)] {
        let man = text(&two_people("english", Some("B:W32:B1"), COLOURED), size);
        let king = text(&two_people("english", Some("B:WK32:B1"), COLOURED), size);
        assert!(!man.contains('▙') || size != STANDARD);
        assert_ne!(man, king, "{size:?}");
    }
}
