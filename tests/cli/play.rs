//! `crownhead play` by lines: whole dialogues through a pipe.

use std::path::Path;
use std::process::Stdio;

use crate::run::{Finished, command, crownhead, crownhead_reading};

/// Plays with these lines; nothing of it stays in anybody's home.
fn play(data: &Path, input: &[u8], arguments: &[&str]) -> Finished {
    use std::io::Write;
    let mut command = command(arguments);
    command.env("XDG_DATA_HOME", data).env_remove("CROWNHEAD_DATA");
    command.env("CROWNHEAD_CACHE", data);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A game that is over reads no further.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Finished::new(output)
}

fn people<'a>(game: &'a str, position: &'a str) -> Vec<&'a str> {
    vec!["play", game, "--first", "human", "--second", "human", "--position", position]
}

/// The whole dialogue of two people.
fn dialogue(game: &str, position: &str, input: &str) -> String {
    let data = tempfile::tempdir().unwrap();
    play(data.path(), input.as_bytes(), &people(game, position)).printed().to_string()
}

#[test]
fn chinese_checkers_asks_and_answers_as_the_assignment_does() {
    let input = "hello\n1991\n8878\n1112\n1151\n1121\n1314\n6677\n";
    let position = "##O5/3O4/8/8/8/5#1#/7O/5##O # 0";
    insta::assert_snapshot!(dialogue("chinese-checkers", position, input));
}

#[test]
fn the_five_messages_come_in_the_order_of_the_checks_with_the_reason_after_them() {
    let start = "###5/##6/#7/8/8/7O/6OO/5OOO # 0";
    for (typed, message, reason) in [
        // Whatever else is wrong with it, a text that is no number is that first.
        ("9x", "Invalid input format", "\"9x\" is no move"),
        ("-1131", "Invalid input format", ""),
        ("99999999999", "Invalid input format", ""),
        ("\u{7}\u{1b}[2J", "Invalid input format", ""),
        ("1９31", "Invalid input format", ""),
        // Off the board before a start without a piece; that before an end that is taken.
        ("9955", "Input out of the game board", "there is no cell 99"),
        ("5512", "Invalid starting location", "there is no piece on 55"),
        ("8812", "Invalid starting location", "the piece on 88 is Red's"),
        ("1112", "Invalid ending location", "12 is occupied"),
        ("1144", "The move violates the game rule", "the jump 11-44 has no cell in the middle"),
    ] {
        let printed = dialogue("chinese-checkers", start, &format!("{typed}\n"));
        let answer = printed.split("Blue(#) to move: ").nth(1).unwrap();
        let mut lines = answer.lines();
        assert_eq!(lines.next(), Some(&*format!("{message}, please input again:")), "{typed:?}");
        let told = lines.next().unwrap();
        assert!(told.len() > 10 && told.contains(reason), "{typed:?}: {told}");
    }
}

#[test]
fn every_kind_of_bad_input_is_refused_in_every_game_and_the_game_goes_on() {
    let mut long = vec![b'1'; 1 << 20];
    long.push(b'\n');
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        let data = tempfile::tempdir().unwrap();
        let good = match game {
            "english" | "contest" => "11-15",
            "chinese-checkers" => "2233",
            _ => "31-32",
        };
        let mut input = Vec::new();
        for bad in
            [&long[..], b"\xff\xfe\xfd\n", b"-5\n", b"99999999999\n", b"\x00\x01\x7f\n", b"\t\n"]
        {
            input.extend(bad);
        }
        input.extend(format!("{good}\n").bytes());
        let finished = play(data.path(), &input, &["play", game, "--second", "human"]);
        let printed = finished.printed();
        // Five lines are refused with a reason each, the blank one is not worth a word.
        let refused =
            printed.lines().filter(|line| line.contains("is no move") || line.contains("write "));
        assert_eq!(refused.count(), 5, "{printed}");
        assert!(printed.ends_with("takes it up again.\n"), "{printed}");
        assert!(!printed.contains(|c: char| c.is_control() && c != '\n'), "{printed:?}");
        assert!(printed.len() < 5000);
    }
}

#[test]
fn english_checkers_from_first_prompt_to_last_word() {
    let input = "help\nmoves\n1-5\n11x18\nundo\n11-18\nsave\n32-28\n1-6\nquit\n";
    insta::assert_snapshot!(dialogue("english", "B:W15,32:B1,11", input));
}

#[test]
fn english_checkers_to_its_end() {
    insta::assert_snapshot!(dialogue("english", "W:W17:B5,6", "17-13\n5-9\n"));
}

#[test]
fn contest_checkers_is_drawn_after_ten_turns_without_a_capture() {
    let moves = "1-5\n32-28\n5-9\n28-24\n9-14\n24-20\n2-6\n31-27\n6-9\n27-23\n";
    insta::assert_snapshot!(dialogue("contest", "B:W31,32:B1,2", moves));
}

#[test]
fn capture_halma_to_its_end() {
    let position = "7b/6b1/5b2/3bw3/8/8/8/3w4 b 60";
    let input = "44-47\n44-46\n84-83\n46-47\n83-82\n36-37\n";
    insta::assert_snapshot!(dialogue("capture-halma", position, input));
}

#[test]
fn a_whole_game_against_a_computer_is_the_same_for_the_same_seed() {
    let data = tempfile::tempdir().unwrap();
    let moves = "11-15\n8-11\n4-8\n10-14\n9-13\n6-10\nresign\n".repeat(4);
    let run = |seed: &str| {
        let arguments = ["play", "english", "--second", "random", "--seed", seed];
        let finished = play(data.path(), moves.as_bytes(), &arguments);
        finished.printed().to_string()
    };
    let first = run("7");
    assert_eq!(first, run("7"));
    assert_ne!(first, run("8"));
    assert!(first.ends_with("Black resigns: White wins.\n"), "{first}");
}

#[test]
fn a_computer_without_a_limit_moves_all_the_same() {
    let data = tempfile::tempdir().unwrap();
    let finished =
        play(data.path(), b"", &["play", "english", "--first", "best", "--second", "human"]);
    assert!(finished.printed().contains("Black(b) plays "), "{finished:?}");
}

#[test]
fn resigning_and_drawing_end_a_game_in_the_words_of_the_assignment() {
    let start = "###5/##6/#7/8/8/7O/6OO/5OOO # 0";
    let ends = |input, end: &str| {
        let printed = dialogue("chinese-checkers", start, input);
        assert!(printed.ends_with(end), "{printed}");
    };
    ends("resign\n", "Blue resigns: Red wins.\nRed(O) wins!\n");
    ends("2233\nresign\n", "Red resigns: Blue wins.\nBlue(#) wins!\n");
    ends("draw\nperhaps\nyes\n", "The players agree on a draw.\nDraw!\n");
    let printed = dialogue("chinese-checkers", start, "draw\nno\n2233\n");
    assert!(printed.contains("Red(O) to move: "), "{printed}");
}

#[test]
fn the_end_of_the_input_keeps_the_game_and_resume_takes_it_up() {
    let data = tempfile::tempdir().unwrap();
    let play = |input: &str, arguments: &[&str]| {
        play(data.path(), input.as_bytes(), arguments).printed().to_string()
    };
    let begun =
        play("11-15\n23-19\n", &["play", "english", "--second", "human", "--time", "300+2"]);
    assert!(begun.ends_with("The game is kept: crownhead play --resume takes it up again.\n"));
    let resumed = play("undo\n22-18\nquit\n", &["play", "--resume"]);
    assert!(resumed.contains("White(w) to move: "), "{resumed}");
    let finished = play("15x22\nresign\n", &["play", "english", "--resume"]);
    assert!(finished.ends_with("White resigns: Black wins.\n"), "{finished}");
    let none = self::play(data.path(), b"", &["play", "--resume"]);
    assert!(none.refused(3).contains("there is no unfinished game to take up again"));
}

#[test]
fn a_clock_runs_out_without_a_word_being_typed() {
    let data = tempfile::tempdir().unwrap();
    let arguments = ["play", "english", "--second", "human", "--time", "100ms"];
    let mut command = command(&arguments);
    command.env("XDG_DATA_HOME", data.path()).stdin(Stdio::piped());
    // The input stays open, and nothing comes from it.
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (output, silent) = {
        let mut child = child;
        let silent = child.stdin.take();
        (child.wait_with_output().unwrap(), silent)
    };
    drop(silent);
    let finished = Finished::new(output);
    let end = "Black has used up the time: White wins.\n";
    assert!(finished.printed().ends_with(end), "{finished:?}");
}

#[test]
fn a_game_is_saved_and_recorded_and_can_be_viewed() {
    let data = tempfile::tempdir().unwrap();
    let (saved, recorded) = (data.path().join("saved.pdn"), data.path().join("recorded.pdn"));
    let input = format!("11-15\nsave {}\n23-19\nsave /no/such/place\n", saved.display());
    let recorded_name = recorded.to_str().unwrap();
    let arguments = ["play", "english", "--second", "human", "--record", recorded_name];
    let finished = play(data.path(), input.as_bytes(), &arguments);
    assert!(finished.printed().contains(&format!("The game is in {}.", saved.display())));
    assert!(finished.printed().contains("/no/such/place"), "{finished:?}");
    let view = |path: &Path| crownhead(&["view", path.to_str().unwrap()]).printed().to_string();
    assert!(view(&saved).contains("1. 11-15\n*"), "{}", view(&saved));
    assert!(view(&recorded).contains("1. 11-15 23-19\n*"), "{}", view(&recorded));
}

#[test]
fn positions_players_and_times_that_are_none_are_refused() {
    for (arguments, code, wanted) in [
        (&["play", "english", "--position", "B:W33:B1"][..], 3, "there is no square 33"),
        (&["play", "chess"], 2, "there is no game \"chess\""),
        (&["play", "english", "--first", "level:11"], 2, "level takes a level from 1 to 10"),
        (&["play", "english", "--time", "soon"], 2, "a time control is written 5+3"),
        (&["play", "english", "--time", "5+3", "--movetime", "2s"], 2, "cannot be used with"),
        (&["play", "--resume", "--seed", "1"], 2, "cannot be used with"),
    ] {
        let finished = crownhead(arguments);
        let told = finished.refused(code);
        assert!(told.contains(wanted), "{told}");
    }
}

#[test]
fn without_a_terminal_the_program_alone_says_how_to_use_it() {
    let finished = crownhead_reading(b"1\n1\n", &[] as &[&str]);
    assert!(finished.refused(2).contains("Usage: crownhead"), "{finished:?}");
}

#[test]
fn exercises_by_lines() {
    let input = b"hint\n11-7\n11-15\nmoves\n15-18\n15-10\nback\nskip\nskip\n\nquit\n";
    let finished = crownhead_reading(input, &["learn", "english"]);
    insta::assert_snapshot!(finished.printed());
}

#[test]
fn a_course_is_done_from_the_first_exercise_to_the_last() {
    let moves = "22-23\n43-44\n43-54\n43-45\n43-45\n43-45\n43-47\n43-45-65\n43-45\n43-33\n\
                 43-45-65-63-43\n36-37\n";
    let finished = crownhead_reading(moves.as_bytes(), &["learn", "capture-halma"]);
    let printed = finished.printed();
    assert!(printed.ends_with("11 of 11 exercises done.\n"), "{printed}");
}

#[test]
fn a_file_that_is_no_game_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.pdn");
    std::fs::write(&path, "1. 11-15 23-19\n2. 8-12 *\n").unwrap();
    let finished = crownhead(&["view", path.to_str().unwrap()]);
    let told = finished.refused(3);
    assert!(told.contains("bad.pdn: game 1, line 2, column 4: 8-12"), "{told}");
    let finished = crownhead(&["view", "no-such-file.pdn"]);
    assert!(finished.refused(1).contains("no-such-file.pdn cannot be opened"), "{finished:?}");
}
