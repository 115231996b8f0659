//! `crownhead play`, `learn` and `view` in plain text, through a pipe.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Finished, command, converse, crownhead, crownhead_reading};

/// Plays with this input; saved games and tables are in `data`.
fn play(data: &Path, input: &[u8], arguments: &[&str]) -> Finished {
    let mut command = command(arguments);
    command.env("XDG_DATA_HOME", data).env("CROWNHEAD_CACHE", data);
    converse(command, input)
}

fn hotseat<'a>(game: &'a str, position: &'a str) -> Vec<&'a str> {
    vec!["play", game, "--first", "human", "--second", "human", "--position", position]
}

/// Returns the whole dialogue of a game between two people.
fn dialogue(game: &str, position: &str, input: &str) -> String {
    let data = tempfile::tempdir().unwrap();
    play(data.path(), input.as_bytes(), &hotseat(game, position)).printed().to_string()
}

#[test]
fn q_leaves_a_game_in_plain_text() {
    for game in ["english", "chinese-checkers"] {
        let finished = crownhead_reading(b"q\n", &["play", game]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(!finished.stdout.to_lowercase().contains("invalid"), "{}", finished.stdout);
    }
}

#[test]
fn chinese_checkers_dialogue_follows_the_assignment() {
    let input = "hello\n1991\n8878\n1112\n1151\n1121\n1314\n6677\n";
    let position = "##O5/3O4/8/8/8/5#1#/7O/5##O # 0";
    insta::assert_snapshot!(dialogue("chinese-checkers", position, input));
}

#[test]
fn five_messages_of_the_assignment_have_a_precedence_and_a_reason() {
    let start = "###5/##6/#7/8/8/7O/6OO/5OOO # 0";
    for (typed, message, reason) in [
        ("", "Invalid input format", "invalid move: the line is empty"),
        // The format is checked first.
        ("9x", "Invalid input format", "invalid move \"9x\""),
        ("-1131", "Invalid input format", ""),
        ("99999999999", "Invalid input format", ""),
        ("\u{7}\u{1b}[2J", "Invalid input format", ""),
        ("1９31", "Invalid input format", ""),
        // Then the board, the start and the end.
        ("9955", "Input out of the game board", "invalid cell 99"),
        ("5512", "Invalid starting location", "there is no piece on 55"),
        ("8812", "Invalid starting location", "the piece on 88 is Red's"),
        ("1112", "Invalid ending location", "12 is occupied"),
        ("1144", "The move violates the game rule", "the jump 11-44 has no middle cell"),
    ] {
        let printed = dialogue("chinese-checkers", start, &format!("{typed}\n"));
        let answer = printed.split("Blue(#) to move: ").nth(1).unwrap();
        let mut lines = answer.lines();
        let line = lines.next().unwrap();
        assert!(line.len() > 10 && line.contains(reason), "{typed:?}: {line}");
        // The prompt is the last line.
        assert_eq!(lines.next(), Some(&*format!("{message}, please input again: ")), "{typed:?}");
    }
}

#[test]
fn mistyped_command_suggests_the_nearest_one() {
    for game in ["english", "capture-halma"] {
        let data = tempfile::tempdir().unwrap();
        let input = b"helpme\nundos\n11-16\n";
        let finished = play(data.path(), input, &["play", game, "--second", "human"]);
        let printed = finished.printed();
        for command in ["help", "undo"] {
            assert!(printed.contains(&format!(" (did you mean {command}?)\n")), "{printed}");
        }
        assert_eq!(printed.matches("did you mean").count(), 2, "{printed}");
    }
}

#[test]
fn invalid_input_is_refused_in_every_game_and_the_game_continues() {
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
        // Five lines are rejected with a reason each; an empty one only in the assignment's
        // dialogue.
        let refused = printed
            .lines()
            .filter(|line| line.contains("invalid input: ") || line.contains("invalid move"));
        let blank = usize::from(game == "chinese-checkers");
        assert_eq!(refused.count(), 5 + blank, "{printed}");
        // These are not quoted.
        assert!(printed.contains("invalid input: the line is longer than 4096 bytes"), "{printed}");
        assert!(printed.contains("invalid input: the line is not UTF-8"), "{printed}");
        assert!(printed.ends_with("crownhead play --resume\n"), "{printed}");
        assert!(!printed.contains(|c: char| c.is_control() && c != '\n'), "{printed:?}");
        assert!(printed.len() < 5000);
    }
}

#[test]
fn english_checkers_dialogue() {
    let input = "help\nmoves\n1-5\n11x18\nundo\n11-18\nsave\n32-28\n1-6\nquit\n";
    insta::assert_snapshot!(dialogue("english", "B:W15,32:B1,11", input));
}

#[test]
fn english_checkers_dialogue_to_the_end() {
    insta::assert_snapshot!(dialogue("english", "W:W17:B5,6", "17-13\n5-9\n"));
}

#[test]
fn contest_checkers_dialogue_ends_in_a_draw_without_captures() {
    let moves = "1-5\n32-28\n5-9\n28-24\n9-14\n24-20\n2-6\n31-27\n6-9\n27-23\n";
    insta::assert_snapshot!(dialogue("contest", "B:W31,32:B1,2", moves));
}

#[test]
fn capture_halma_dialogue_to_the_end() {
    let position = "7b/6b1/5b2/3bw3/8/8/8/3w4 b 60";
    let input = "44-47\n44-46\n84-83\n46-47\n83-82\n36-37\n";
    insta::assert_snapshot!(dialogue("capture-halma", position, input));
}

#[test]
fn same_seed_gives_the_same_game_against_a_computer() {
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
fn computer_without_a_time_limit_moves() {
    let data = tempfile::tempdir().unwrap();
    let finished =
        play(data.path(), b"", &["play", "english", "--first", "best", "--second", "human"]);
    assert!(finished.printed().contains("Black(b) plays "), "{finished:?}");
}

#[test]
fn resignation_and_draw_end_with_the_texts_of_the_assignment() {
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
fn end_of_input_saves_the_game_and_resume_continues_it() {
    let data = tempfile::tempdir().unwrap();
    let play = |input: &str, arguments: &[&str]| {
        play(data.path(), input.as_bytes(), arguments).printed().to_string()
    };
    let first = play("11-15\n23-19\n", &["play", "english", "--second", "human", "--time", "5+2"]);
    assert!(first.ends_with("Game saved. Resume it with: crownhead play --resume\n"));
    let resumed = play("undo\n22-18\nquit\n", &["play", "--resume"]);
    assert!(resumed.contains("White(w) to move: "), "{resumed}");
    let finished = play("15x22\nresign\n", &["play", "english", "--resume"]);
    assert!(finished.ends_with("White resigns: Black wins.\n"), "{finished}");
    let none = self::play(data.path(), b"", &["play", "--resume"]);
    assert!(none.refused(3).contains("there is no unfinished game to resume"));
}

/// Plays one move and quits.
fn play_one_move(data: &Path, game: &str) {
    let mv = if game.starts_with("chinese") { "2233\n" } else { "11-15\n" };
    play(data, mv.as_bytes(), &["play", game, "--second", "human"]).printed();
}

/// Resumes a game and returns its first line.
fn resume(data: &Path, arguments: &[&str]) -> String {
    let finished = play(data, b"", &[&["play", "--resume"], arguments].concat());
    finished.printed().lines().next().unwrap().into()
}

#[test]
fn resume_continues_the_game_that_was_played_last() {
    let data = tempfile::tempdir().unwrap();
    play_one_move(data.path(), "english");
    play_one_move(data.path(), "contest:kings=true");
    play_one_move(data.path(), "contest");
    assert!(resume(data.path(), &["english"]).starts_with("English checkers"));
    assert!(resume(data.path(), &[]).starts_with("English checkers"));
    // A game without options stands for all its variants.
    let unfinished = data.path().join("crownhead/unfinished");
    let resign = |game: &str| play(data.path(), b"resign\n", &["play", game, "--resume"]);
    resign("contest:kings=true").printed();
    let saved_games = || std::fs::read_dir(&unfinished).unwrap().count();
    assert_eq!(saved_games(), 2);
    assert!(resign("contest:kings=true").refused(3).contains("there is no unfinished game of"));
    resign("contest").printed();
    assert_eq!(saved_games(), 1);
}

#[test]
fn resume_skips_files_that_are_not_games() {
    let data = tempfile::tempdir().unwrap();
    play_one_move(data.path(), "english");
    let folder = data.path().join("crownhead/unfinished");
    std::fs::write(folder.join("empty.pdn"), "").unwrap();
    std::fs::write(folder.join("bad.pdn"), "1. 11-99 *").unwrap();
    std::fs::create_dir(folder.join("folder.pdn")).unwrap();
    if cfg!(unix) {
        let status = Command::new("mkfifo").arg(folder.join("pipe.pdn")).status();
        assert!(status.unwrap().success());
    }
    let finished = play(data.path(), b"", &["play", "--resume"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("White(w) to move: "), "{finished:?}");
    for name in ["empty", "bad", "folder"] {
        assert!(finished.stderr.contains(&format!("{name}.pdn: ")), "{finished:?}");
    }
}

/// Reads until the output contains a text.
fn read_until(output: &mut impl std::io::Read, expected: &str) -> String {
    let mut text = String::new();
    while !text.contains(expected) {
        let mut bytes = [0; 1024];
        let read = output.read(&mut bytes).unwrap();
        assert!(read > 0, "no {expected:?} in {text}");
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    text
}

#[test]
fn game_in_another_terminal_is_not_resumed() {
    use std::io::Write;
    let data = tempfile::tempdir().unwrap();
    let mut command = command(&["play", "english", "--second", "human"]);
    command.env("XDG_DATA_HOME", data.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    keyboard.write_all(b"11-15\n").unwrap();
    read_until(&mut output, "White(w) to move: ");
    let second = play(data.path(), b"resign\n", &["play", "--resume"]);
    assert!(second.refused(3).contains("the game is open in another terminal"), "{second:?}");
    keyboard.write_all(b"quit\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(resume(data.path(), &[]).starts_with("English checkers"));
}

#[test]
fn failure_to_save_is_reported() {
    let mut command = command(&["play", "english", "--second", "human"]);
    command.env("CROWNHEAD_DATA", "/dev/null/nowhere");
    let finished = converse(command, b"11-15\n23-19\n");
    let printed = finished.printed();
    // After the first move and at the end.
    assert_eq!(printed.matches("The game cannot be saved: ").count(), 2, "{printed}");
    assert!(!printed.contains("Game saved."), "{printed}");
}

#[test]
fn game_is_saved_once_saving_works_again() {
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
    let text = read_until(&mut output, "White(w) to move: ");
    assert!(text.contains("The game cannot be saved: "), "{text}");
    std::fs::remove_file(&folder).unwrap();
    keyboard.write_all(b"23-19\nquit\n").unwrap();
    read_until(&mut output, "Game saved. ");
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(folder.join("unfinished")).unwrap().count(), 1);
}

#[test]
fn winning_computer_declines_a_draw() {
    let data = tempfile::tempdir().unwrap();
    let offer = |position: &str| {
        let arguments = ["play", "english", "--second", "random", "--position", position];
        play(data.path(), b"draw\ndraw\n", &arguments).printed().to_string()
    };
    // Black has only one move.
    let printed = offer("B:W14,15,16,K22,K23:B13");
    assert_eq!(printed.matches("White(w) declines the draw.").count(), 2, "{printed}");
    let printed = offer("B:W32:BK1,K2,K3");
    assert!(printed.ends_with("The players agreed to a draw.\n"), "{printed}");
}

#[test]
fn prompt_without_a_move_explains_pass() {
    let printed = dialogue("capture-halma", "8/8/8/3w4/8/8/8/8 b 0", "pass\n44-43\n");
    assert_eq!(printed.matches("Black(b) cannot move, type pass: ").count(), 2, "{printed}");
}

#[test]
fn clocks_show_minutes_and_seconds() {
    let data = tempfile::tempdir().unwrap();
    let play_with = |time: &str| {
        let arguments = ["play", "english", "--second", "human", "--time", time];
        play(data.path(), b"", &arguments).printed().to_string()
    };
    for (time, clock) in
        [("5+3", "White 5:00\n"), ("0.5", "White 0:30\n"), ("90s+500ms", "White 1:30\n")]
    {
        let printed = play_with(time);
        assert!(printed.contains("Time left: Black ") && printed.contains(clock), "{printed}");
    }
}

#[test]
fn save_does_not_overwrite_and_record_does_not_empty_a_file() {
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
    // Escape sequences are not echoed.
    play(data.path(), format!("save {name}/\u{1b}[2J\n").as_bytes(), &people).printed();
    let finished = play(data.path(), b"", &recorded);
    assert!(finished.stderr.contains("No moves were played"), "{finished:?}");
    assert_eq!(text(), "old");
    play(data.path(), b"11-15\n", &recorded).printed();
    assert!(text().contains("1. 11-15"), "{}", text());
}

#[test]
fn failed_save_names_the_file_and_no_temporary_one() {
    let data = tempfile::tempdir().unwrap();
    let input = b"save /no-such-folder/game.pdn\n";
    let finished = play(data.path(), input, &["play", "english", "--second", "human"]);
    assert!(finished.printed().contains("/no-such-folder/game.pdn"), "{finished:?}");
    assert!(!finished.stdout.contains(".crownhead-"), "{finished:?}");
}

#[test]
fn game_is_recorded_even_if_the_output_is_closed() {
    use std::io::Write;
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("game.pdn");
    let people = ["play", "english", "--second", "human", "--record", file.to_str().unwrap()];
    let mut command = command(&people);
    command.env("XDG_DATA_HOME", data.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    read_until(&mut output, "Black(b) to move: ");
    drop(output);
    keyboard.write_all(b"11-15\n").unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("1. 11-15"), "{text}");
}

#[test]
fn clock_runs_out_without_input() {
    let data = tempfile::tempdir().unwrap();
    let arguments = ["play", "english", "--second", "human", "--time", "100ms"];
    let mut command = command(&arguments);
    command.env("XDG_DATA_HOME", data.path()).stdin(Stdio::piped());
    // The input stays open and silent.
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
fn saved_and_recorded_games_can_be_viewed() {
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
fn invalid_positions_players_and_times_are_refused() {
    for (arguments, code, expected) in [
        (&["play", "english", "--position", "B:W33:B1"][..], 3, "invalid square 33"),
        (&["play", "chess"], 2, "unknown game \"chess\""),
        (&["play", "english", "--first", "level:11"], 2, "level takes a level from 1 to 10"),
        (&["play", "english", "--time", "soon"], 2, "a time control is written 5+3"),
        (&["play", "english", "--time", "5+3", "--movetime", "2s"], 2, "cannot be used with"),
        (&["play", "--resume", "--seed", "1"], 2, "cannot be used with"),
    ] {
        let finished = crownhead(arguments);
        let message = finished.refused(code);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn menu_works_through_a_pipe() {
    let data = tempfile::tempdir().unwrap();
    let mut menu = command(&[] as &[&str]);
    menu.env("CROWNHEAD_DATA", data.path());
    let finished = converse(menu, b"2\n1\n11-15\nquit\n");
    let printed = finished.stdout;
    assert_eq!(finished.code, Some(0), "{printed}");
    for text in ["2 Contest checkers\n", "Which game? [1] ", "Black(b) to move: "] {
        assert!(printed.contains(text), "{text:?} in {printed}");
    }
}

#[test]
fn exercises_dialogue() {
    let input = b"hint\n11-7\n11-15\nmoves\n15-18\n15-10\nback\nskip\nskip\n\nquit\n";
    let finished = crownhead_reading(input, &["learn", "english"]);
    insta::assert_snapshot!(finished.printed());
}

#[test]
fn course_can_be_completed() {
    let moves = "22-23\n43-44\n43-54\n43-45\n43-45\n43-45\n43-47\n43-45-65\n43-45\n43-33\n\
                 43-45-65-63-43\n36-37\n";
    let finished = crownhead_reading(moves.as_bytes(), &["learn", "capture-halma"]);
    let printed = finished.printed();
    assert!(printed.ends_with("11 of 11 exercises done.\n"), "{printed}");
}

#[test]
fn view_reports_invalid_games_with_their_location() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.pdn");
    std::fs::write(&path, "1. 11-15 23-19\n2. 8-12 *\n").unwrap();
    let finished = crownhead(&["view", path.to_str().unwrap()]);
    let message = finished.refused(3);
    assert!(message.contains("bad.pdn: game 1, line 2, column 4: 8-12"), "{message}");
    let finished = crownhead(&["view", "no-such-file.pdn"]);
    assert!(finished.refused(1).contains("cannot open no-such-file.pdn"), "{finished:?}");
}
