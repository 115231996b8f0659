//! `crownhead play` by lines: whole dialogues through a pipe.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Finished, command, converse, crownhead, crownhead_reading};

/// Plays with these lines; nothing of it stays in anybody's home.
fn play(data: &Path, input: &[u8], arguments: &[&str]) -> Finished {
    let mut command = command(arguments);
    command.env("XDG_DATA_HOME", data).env("CROWNHEAD_CACHE", data);
    converse(command, input)
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
        ("", "Invalid input format", "invalid move: the line is empty"),
        // Whatever else is wrong with it, a text that is no number is that first.
        ("9x", "Invalid input format", "invalid move \"9x\""),
        ("-1131", "Invalid input format", ""),
        ("99999999999", "Invalid input format", ""),
        ("\u{7}\u{1b}[2J", "Invalid input format", ""),
        ("1９31", "Invalid input format", ""),
        // Off the board before a start without a piece; that before an end that is taken.
        ("9955", "Input out of the game board", "invalid cell 99"),
        ("5512", "Invalid starting location", "there is no piece on 55"),
        ("8812", "Invalid starting location", "the piece on 88 is Red's"),
        ("1112", "Invalid ending location", "12 is occupied"),
        ("1144", "The move violates the game rule", "the jump 11-44 has no middle cell"),
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
        // Five lines are rejected with a reason each; an empty one only in the assignment's dialogue.
        let refused = printed
            .lines()
            .filter(|line| line.contains("invalid input: ") || line.contains("invalid move"));
        let blank = usize::from(game == "chinese-checkers");
        assert_eq!(refused.count(), 5 + blank, "{printed}");
        assert!(printed.contains("invalid input: the line is longer than 4096 bytes"), "{printed}");
        assert!(printed.contains("invalid input: the line is not UTF-8"), "{printed}");
        assert!(printed.ends_with("crownhead play --resume\n"), "{printed}");
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
    ends("draw\nperhaps\nyes\n", "The players agreed to a draw.\nDraw!\n");
    let printed = dialogue("chinese-checkers", start, "draw\nno\n2233\n");
    assert!(printed.contains("Red(O) to move: "), "{printed}");
}

#[test]
fn the_end_of_the_input_keeps_the_game_and_resume_takes_it_up() {
    let data = tempfile::tempdir().unwrap();
    let play = |input: &str, arguments: &[&str]| {
        play(data.path(), input.as_bytes(), arguments).printed().to_string()
    };
    let begun = play("11-15\n23-19\n", &["play", "english", "--second", "human", "--time", "5+2"]);
    assert!(begun.ends_with("Game saved. Resume it with: crownhead play --resume\n"));
    let resumed = play("undo\n22-18\nquit\n", &["play", "--resume"]);
    assert!(resumed.contains("White(w) to move: "), "{resumed}");
    let finished = play("15x22\nresign\n", &["play", "english", "--resume"]);
    assert!(finished.ends_with("White resigns: Black wins.\n"), "{finished}");
    let none = self::play(data.path(), b"", &["play", "--resume"]);
    assert!(none.refused(3).contains("there is no unfinished game to resume"));
}

/// Plays one move of two people and leaves.
fn leave(data: &Path, game: &str) {
    let mv = if game.starts_with("chinese") { "2233\n" } else { "11-15\n" };
    play(data, mv.as_bytes(), &["play", game, "--second", "human"]).printed();
}

/// The first line that a game says when it is taken up again.
fn taken_up(data: &Path, arguments: &[&str]) -> String {
    let finished = play(data, b"", &[&["play", "--resume"], arguments].concat());
    finished.printed().lines().next().unwrap().into()
}

#[test]
fn resume_takes_the_game_that_was_left_last_not_the_one_begun_last() {
    let data = tempfile::tempdir().unwrap();
    leave(data.path(), "english");
    leave(data.path(), "contest:kings=true");
    leave(data.path(), "contest");
    assert!(taken_up(data.path(), &["english"]).starts_with("English checkers"));
    assert!(taken_up(data.path(), &[]).starts_with("English checkers"));
    // A game named with options is that game, one named without them any of its kind.
    let unfinished = data.path().join("crownhead/unfinished");
    let resume = |game: &str| play(data.path(), b"resign\n", &["play", game, "--resume"]);
    resume("contest:kings=true").printed();
    let kept = || std::fs::read_dir(&unfinished).unwrap().count();
    assert_eq!(kept(), 2);
    assert!(resume("contest:kings=true").refused(3).contains("there is no unfinished game of"));
    resume("contest").printed();
    assert_eq!(kept(), 1);
}

#[test]
fn files_that_are_no_games_do_not_stand_in_the_way_of_others() {
    let data = tempfile::tempdir().unwrap();
    leave(data.path(), "english");
    let folder = data.path().join("crownhead/unfinished");
    std::fs::write(folder.join("empty.pdn"), "").unwrap();
    std::fs::write(folder.join("bad.pdn"), "1. 11-99 *").unwrap();
    std::fs::create_dir(folder.join("folder.pdn")).unwrap();
    if cfg!(unix) {
        let made = Command::new("mkfifo").arg(folder.join("pipe.pdn")).status();
        assert!(made.unwrap().success());
    }
    let finished = play(data.path(), b"", &["play", "--resume"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("White(w) to move: "), "{finished:?}");
    for name in ["empty", "bad", "folder"] {
        assert!(finished.stderr.contains(&format!("{name}.pdn: ")), "{finished:?}");
    }
}

/// Reads until a text has come.
fn read_to(output: &mut impl std::io::Read, wanted: &str) -> String {
    let mut said = String::new();
    while !said.contains(wanted) {
        let mut bytes = [0; 1024];
        let read = output.read(&mut bytes).unwrap();
        assert!(read > 0, "no {wanted:?} in {said}");
        said.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    said
}

#[test]
fn a_game_that_is_being_played_is_not_taken_up_a_second_time() {
    use std::io::Write;
    let data = tempfile::tempdir().unwrap();
    let mut command = command(&["play", "english", "--second", "human"]);
    command.env("XDG_DATA_HOME", data.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    keyboard.write_all(b"11-15\n").unwrap();
    read_to(&mut output, "White(w) to move: ");
    let second = play(data.path(), b"resign\n", &["play", "--resume"]);
    assert!(second.refused(3).contains("the game is open in another terminal"), "{second:?}");
    keyboard.write_all(b"quit\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(taken_up(data.path(), &[]).starts_with("English checkers"));
}

#[test]
fn nobody_is_told_that_a_game_is_kept_which_is_not() {
    let mut command = command(&["play", "english", "--second", "human"]);
    command.env("CROWNHEAD_DATA", "/dev/null/nowhere");
    let finished = converse(command, b"11-15\n23-19\n");
    let printed = finished.printed();
    // Once when it turns out, once at the end.
    assert_eq!(printed.matches("The game cannot be saved: ").count(), 2, "{printed}");
    assert!(!printed.contains("Game saved."), "{printed}");
}

#[test]
fn a_game_that_could_not_be_kept_once_is_kept_after_the_next_move() {
    use std::io::Write;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("data");
    // A file where a folder should be.
    std::fs::write(&folder, "").unwrap();
    let mut command = command(&["play", "english", "--second", "human"]);
    command.env("CROWNHEAD_DATA", &folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    keyboard.write_all(b"11-15\n").unwrap();
    let said = read_to(&mut output, "White(w) to move: ");
    assert!(said.contains("The game cannot be saved: "), "{said}");
    std::fs::remove_file(&folder).unwrap();
    keyboard.write_all(b"23-19\nquit\n").unwrap();
    read_to(&mut output, "Game saved. ");
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(folder.join("unfinished")).unwrap().count(), 1);
}

#[test]
fn a_computer_that_wins_accepts_no_draw() {
    let data = tempfile::tempdir().unwrap();
    let offer = |position: &str| {
        let arguments = ["play", "english", "--second", "random", "--position", position];
        play(data.path(), b"draw\ndraw\n", &arguments).printed().to_string()
    };
    // Black has one move, about which nobody thinks.
    let printed = offer("B:W14,15,16,K22,K23:B13");
    assert_eq!(printed.matches("White(w) declines the draw.").count(), 2, "{printed}");
    let printed = offer("B:W32:BK1,K2,K3");
    assert!(printed.ends_with("The players agreed to a draw.\n"), "{printed}");
}

#[test]
fn a_turn_without_a_move_says_how_to_pass() {
    let printed = dialogue("capture-halma", "8/8/8/3w4/8/8/8/8 b 0", "pass\n44-43\n");
    assert_eq!(printed.matches("Black(b) cannot move, type pass: ").count(), 2, "{printed}");
}

#[test]
fn people_have_minutes_and_see_their_clocks() {
    let data = tempfile::tempdir().unwrap();
    let said = |time: &str| {
        let arguments = ["play", "english", "--second", "human", "--time", time];
        play(data.path(), b"", &arguments).printed().to_string()
    };
    for (time, shown) in
        [("5+3", "White 5:00\n"), ("0.5", "White 0:30\n"), ("90s+500ms", "White 1:30\n")]
    {
        let printed = said(time);
        assert!(printed.contains("Time left: Black ") && printed.contains(shown), "{printed}");
    }
}

#[test]
fn a_file_that_is_there_is_neither_saved_over_nor_emptied() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("old.pdn");
    std::fs::write(&file, "old").unwrap();
    let name = file.to_str().unwrap();
    let text = || std::fs::read_to_string(&file).unwrap();
    let people = ["play", "english", "--second", "human"];
    let recorded = [&people[..], &["--record", name]].concat();
    let finished = play(data.path(), format!("11-15\nsave {name}\n").as_bytes(), &people);
    assert!(finished.printed().contains("exists already: choose another name."), "{finished:?}");
    assert_eq!(text(), "old");
    // Nothing that a terminal would obey is said back.
    play(data.path(), format!("save {name}/\u{1b}[2J\n").as_bytes(), &people).printed();
    let finished = play(data.path(), b"", &recorded);
    assert!(finished.stderr.contains("No move was made"), "{finished:?}");
    assert_eq!(text(), "old");
    play(data.path(), b"11-15\n", &recorded).printed();
    assert!(text().contains("1. 11-15"), "{}", text());
}

#[test]
fn a_save_that_fails_names_the_file_that_was_asked_for_and_no_other() {
    let data = tempfile::tempdir().unwrap();
    let input = b"save /no-such-folder/game.pdn\n";
    let told = play(data.path(), input, &["play", "english", "--second", "human"]);
    assert!(told.printed().contains("/no-such-folder/game.pdn"), "{told:?}");
    assert!(!told.stdout.contains(".crownhead-"), "{told:?}");
}

#[test]
fn a_game_is_recorded_when_nobody_reads_the_output_any_more() {
    use std::io::Write;
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("game.pdn");
    let people = ["play", "english", "--second", "human", "--record", file.to_str().unwrap()];
    let mut command = command(&people);
    command.env("XDG_DATA_HOME", data.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    read_to(&mut output, "Black(b) to move: ");
    drop(output);
    keyboard.write_all(b"11-15\n").unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("1. 11-15"), "{text}");
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
    let end = "Black ran out of time: White wins.\n";
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
    assert!(finished.printed().contains(&format!("Saved to {}.", saved.display())));
    assert!(finished.printed().contains("/no/such/place"), "{finished:?}");
    let view = |path: &Path| crownhead(&["view", path.to_str().unwrap()]).printed().to_string();
    assert!(view(&saved).contains("1. 11-15\n*"), "{}", view(&saved));
    assert!(view(&recorded).contains("1. 11-15 23-19\n*"), "{}", view(&recorded));
}

#[test]
fn positions_players_and_times_that_are_none_are_refused() {
    for (arguments, code, wanted) in [
        (&["play", "english", "--position", "B:W33:B1"][..], 3, "invalid square 33"),
        (&["play", "chess"], 2, "unknown game \"chess\""),
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
