//! Recorded games and lessons.

use crownhead_play::is_flipped_for;
use crownhead_rules::Side;

use super::*;

pub(super) const FILE: &str =
    "[Event \"Club\"] [Date \"2024.05.06\"] [Black \"Ann\"] [White \"Bob\"]
{Before} 1. 11-15! {A fine start.} (1. 9-14 {Instead.} 22-18 (1... 22-17) 2. 5-9) (1. 10-14) 23-19
2. 8-11 22-17 1-0
1. 11-99 *
[Event \"Next\"] 1. 11-16 *";

#[test]
fn viewer_shows_variations_and_comments() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), PLAIN).unwrap();
    insta::assert_snapshot!("view-start", text(&screen, STANDARD));
    press(&mut screen, [KeyCode::Right]);
    insta::assert_snapshot!("view-move", text(&screen, STANDARD));
    insta::assert_snapshot!("view-move-large", text(&screen, LARGE));
    type_in(&mut screen, "v");
    insta::assert_snapshot!("view-variation", text(&screen, STANDARD));
    press(&mut screen, [KeyCode::Right]);
    type_in(&mut screen, "v");
    assert!(text(&screen, STANDARD).contains(">22-17"));
    press(&mut screen, [KeyCode::Esc, KeyCode::Esc, KeyCode::End]);
    assert_eq!(message(&screen), "The record ends here: 1-0.");
    type_in(&mut screen, "n");
    insta::assert_snapshot!("view-next-game", text(&screen, STANDARD));
    type_in(&mut screen, "n");
    assert_eq!(message(&screen), "That was the last game.");
    type_in(&mut screen, "pp");
    assert_eq!(message(&screen), "This is the first game.");
    type_in(&mut screen, "?");
    insta::assert_snapshot!("view-help", text(&screen, STANDARD));
    type_in(&mut screen, "qq");
    assert!(screen.has_quit());
}

#[test]
fn long_comment_is_truncated_and_can_be_read_in_a_popup() {
    let words: Vec<_> = (1..=300).map(|number| format!("word{number}")).collect();
    let file = format!("1. 11-15 {{{}}} *", words.join(" "));
    let mut screen = ViewScreen::new(GameFile::new(file.as_bytes()), PLAIN).unwrap();
    press(&mut screen, [KeyCode::Right]);
    assert!(message(&screen).starts_with("word1 word2 "), "{}", message(&screen));
    assert!(message(&screen).ends_with("… (t: full text)"), "{}", message(&screen));
    type_in(&mut screen, "t");
    let mut read = String::new();
    for _ in 0..6 {
        read.push_str(&text(&screen, STANDARD));
        press(&mut screen, [KeyCode::PageDown]);
    }
    let missing = words.iter().find(|word| !read.contains(&format!(" {word} ")));
    assert_eq!(missing, None);
    press(&mut screen, [KeyCode::Esc]);
    assert!(text(&screen, STANDARD).contains(">11-15"));
}

#[test]
fn viewer_plays_and_analyses_a_game() {
    let mut screen = ViewScreen::new(GameFile::new(FILE.as_bytes()), PLAIN).unwrap();
    type_in(&mut screen, "a++++ ");
    assert!(text(&screen, STANDARD).contains("playing (space: stop)"));
    wait_for(&mut screen, "The record ends here: 1-0.");
    wait_for(&mut screen, "(depth ");
    press(&mut screen, [KeyCode::Home]);
    wait_for(&mut screen, "(depth ");
    type_in(&mut screen, "a");
    assert!(!text(&screen, STANDARD).contains("(depth "));
}

#[test]
fn viewer_rejects_a_file_without_readable_games() {
    let error = |text: &str| ViewScreen::new(GameFile::new(text.as_bytes()), PLAIN).err();
    assert_eq!(error("").as_deref(), Some("the file has no games"));
    let error = error("1. 11-99 *").unwrap();
    assert!(error.starts_with("game 1, line 1, column 4: 11-99: invalid square 99"), "{error}");
}

#[test]
fn lesson_shows_tasks_hints_and_results() {
    let mut screen = LessonScreen::new(course(&"english".parse().unwrap()).unwrap(), PLAIN);
    insta::assert_snapshot!("learn-first", text(&screen, STANDARD));
    type_in(&mut screen, "f");
    type_in(&mut screen, "h");
    assert_eq!(message(&screen), "From 11 a man can go to 15 or to 16.");
    click(&mut screen, "36 45");
    assert_eq!(message(&screen), "That is a step. Enter: next exercise.");
    type_in(&mut screen, "\n");
    // The goal is an illegal move, so any cells can be selected.
    click(&mut screen, "45 34");
    insta::assert_snapshot!("learn-illegal", text(&screen, STANDARD));
    type_in(&mut screen, "n");
    insta::assert_snapshot!("learn-jump-large", text(&screen, LARGE));
    click(&mut screen, "36 45");
    assert_eq!(message(&screen), "Illegal: 11x18 is mandatory.");
}

#[test]
fn every_exercise_can_be_solved_with_the_mouse() {
    use crownhead_play::lessons::Goal;
    for game in Game::all() {
        let lessons = course(&game).unwrap();
        let count = lessons.count();
        let mut screen = LessonScreen::new(lessons, COLOURED);
        if is_flipped_for(&game, Side::First) {
            // `click` expects row 1 at the top.
            type_in(&mut screen, "f");
        }
        for number in 1..=count {
            let course = screen.course();
            assert_eq!(course.number(), number);
            let legal = course.session().legal_moves();
            let path_of = |text: &String| {
                let mut session = course.session().clone_box();
                session.play(text).unwrap();
                let played = session.last_move_text();
                legal.iter().find(|mv| Some(&mv.text) == played.as_ref()).unwrap().path.clone()
            };
            let square = |number: &str| {
                let number = number.parse::<u8>().unwrap() - 1;
                let row = number / 4 + 1;
                format!("{row}{}", 2 * (number % 4) + 1 + row % 2)
            };
            let cells: Vec<String> = match &course.exercise().goal {
                Goal::Any => legal[0].path.iter().map(ToString::to_string).collect(),
                Goal::Moves(moves) => {
                    let mut path = path_of(&moves[0]);
                    // Without captures, the end identifies the move.
                    if game == Game::ChineseCheckers(()) {
                        path.drain(1..path.len() - 1);
                    }
                    path.iter().map(ToString::to_string).collect()
                }
                Goal::Illegal { text, .. } => {
                    match text.split(['x', '-']).collect::<Vec<_>>()[..] {
                        [cells] => vec![cells[..2].into(), cells[2..].into()],
                        [from, to] if legal[0].text.len() > 5 || game == Game::CaptureHalma(()) => {
                            vec![from.into(), to.into()]
                        }
                        [from, to] => vec![square(from), square(to)],
                        _ => panic!("{text}"),
                    }
                }
            };
            for cell in &cells {
                // The move may be complete before its last cell.
                if !message(&screen).contains("Enter:") && !message(&screen).contains("q: quit") {
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
                message(&screen)
            );
            type_in(&mut screen, "\n");
        }
    }
}

#[test]
fn evaluations_are_shown_beside_the_board_not_as_comments() {
    let file = "1. 11-15 {[%eval 0.13] Fine.} 22-18 {[%eval #-7] White wins in 7.} *";
    let mut screen = ViewScreen::new(GameFile::new(file.as_bytes()), PLAIN).unwrap();
    press(&mut screen, [KeyCode::Right]);
    assert_eq!(message(&screen), "Fine.");
    assert!(text(&screen, STANDARD).contains("│ +0.13"));
    press(&mut screen, [KeyCode::Right]);
    assert!(text(&screen, STANDARD).contains("│ White wins in 7"));
    assert!(!text(&screen, STANDARD).contains("%eval"));
}
