//! `crownhead assignment`: the programs of the original assignments.

use crate::harness::{crownhead, crownhead_in, crownhead_reading};

/// A whole game, from the start to Blue's win.
const GAME: &str = "3142 8675 1353 7566 1232 8846 3254 7832 4288 8765 1175 7731 5377 6824 5478 \
                    6655 2286 4645 2187 4544 7576 6521 7868 2423 7678";

/// Plays this side's best: the first legal step or capture that it finds.
const PLAYS: &str = include_str!("../../crates/bots/kits/cpp-function/bot.cpp");

#[test]
fn chinese_checkers_transcript_from_menu_to_result() {
    let bad = "hello\n1991\n8878\n1112\n1151\n";
    let input = format!("3\n1\n{bad}{}\n", GAME.replace(' ', "\n"));
    let finished = crownhead_reading(input.as_bytes(), &["assignment", "chinese-checkers"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(finished.stdout);
}

#[test]
fn computer_plays_red_in_mode_2() {
    let arguments = ["assignment", "chinese-checkers", "--computer", "random", "--seed", "1"];
    let finished = crownhead_reading(b"2\n2233\n", &arguments);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout.matches("Red(O) plays ").count(), 1, "{}", finished.stdout);
    assert_eq!(finished.stdout.matches("Blue(#) to move: ").count(), 2, "{}", finished.stdout);
}

#[test]
fn contest_prints_the_result_and_the_board_as_numbers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cpp"), PLAYS).unwrap();
    let stuck = "void move_black(int b[][8], int &r1, int &c1, int &r2, int &c2, int p) {\n\
                 r1 = c1 = r2 = c2 = 0; }\n\
                 void move_red(int b[][8], int &r1, int &c1, int &r2, int &c2, int p) {\n\
                 r1 = c1 = r2 = c2 = 0; }\n";
    std::fs::write(folder.path().join("b.cpp"), stuck).unwrap();
    let run = |second, seed| {
        crownhead_in(folder.path(), &["assignment", "contest", "a.cpp", second, "--seed", seed])
    };
    let finished = run("a.cpp", "1");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines: Vec<_> = finished.stdout.lines().collect();
    assert!(["Draw", "Black wins", "Red wins"].contains(&lines[0]), "{lines:?}");
    assert_eq!(lines.len(), 9);
    for line in &lines[1..] {
        let numbers: Vec<u8> = line.split_whitespace().map(|n| n.parse().unwrap()).collect();
        assert!(numbers.len() == 8 && numbers.iter().all(|&n| n <= 2), "{line}");
    }
    // The colours depend on the seed.
    let mut black = Vec::new();
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let finished = run("b.cpp", seed);
        assert_eq!(finished.code, Some(4), "{finished:?}");
        assert!(finished.stdout.starts_with("Invalid Move\n"), "{}", finished.stdout);
        assert!(finished.stderr.contains("is not a dark square"), "{}", finished.stderr);
        black.push(finished.stderr.contains("Black: b.cpp"));
        if black.last() == Some(&true) {
            let start = "Invalid Move\n0 1 0 1 0 1 0 1 \n1 0 1 0 1 0 1 0 \n";
            assert!(finished.stdout.starts_with(start), "{}", finished.stdout);
        }
    }
    assert!(black.contains(&true) && black.contains(&false), "{black:?}");
}

#[test]
fn other_games_and_missing_files_are_usage_errors() {
    for (arguments, message) in [
        (&["assignment", "contest", "a.cpp"][..], "needs two source files"),
        (&["assignment", "chinese-checkers", "a.c"], "--second c-function:FILE"),
        (&["assignment", "english"], "use crownhead play english"),
    ] {
        let finished = crownhead(arguments);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let finished = crownhead(&["assignment", "contest", name, name]);
    assert!(finished.refused(3).contains("a folder; cpp-function needs a source file"));
}
