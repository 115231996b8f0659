//! `crownhead perft`.

use std::collections::BTreeMap;

use crate::harness::{Finished, crownhead};

/// Runs `perft` with these arguments after the game and the depth.
fn perft(game: &str, depth: u32, more: &[&str]) -> Finished {
    let depth = depth.to_string();
    crownhead(&[&["perft", game, "--depth", &depth], more].concat())
}

/// The lines `DEPTH NODES` for these counts of depth 1, 2, …
fn lines(counts: &[u64]) -> String {
    counts.iter().zip(1..).map(|(nodes, depth)| format!("{depth} {nodes}\n")).collect()
}

/// Counts of distinct moves from the start.
const COUNTS: [(&str, &[u64]); 4] = [
    ("english", &[7, 49, 302, 1469, 7361, 36768, 179740]),
    ("contest", &[7, 49, 302, 1469, 7361, 36768, 179740]),
    ("chinese-checkers", &[16, 256, 6369, 158847]),
    ("capture-halma", &[31, 961, 31282]),
];

/// Counts that draws, losses, rings and passes make.
const POSITIONS: [(&str, &str, &[u64]); 6] = [
    ("contest:draw-plies=4", "B:W21-32:B1-12", &[7, 49, 302, 1469, 565, 3310, 18751, 90413]),
    (
        "contest:kings=true,draw-plies=2",
        "B:W6,8,20:B13,25,27",
        &[5, 25, 119, 523, 1969, 6356, 12440, 18680, 17280, 0],
    ),
    ("english", "B:W10,11,18,19,29,32:BK7", &[1, 3, 12, 36, 108, 360, 1387, 4411]),
    ("english", "B:W17,22,29:B13", &[0, 0, 0]),
    ("chinese-checkers", "#3#1O1/3#2#1/1O6/7O/3#4/2O5/2O4#/6O1 # 198", &[59, 2649, 0, 0]),
    ("capture-halma", "bww5/w7/w7/8/5w2/8/8/8 b 40", &[1, 12, 16, 200, 508, 6263]),
];

#[test]
fn one_line_for_each_depth_with_the_known_counts() {
    for (game, counts) in COUNTS {
        let finished = perft(game, counts.len() as u32, &[]);
        assert_eq!((finished.code, finished.stdout), (Some(0), lines(counts)), "{game}");
    }
    for (game, position, counts) in POSITIONS {
        let finished = perft(game, counts.len() as u32, &["--position", position]);
        assert_eq!((finished.code, finished.stdout), (Some(0), lines(counts)), "{position}");
    }
}

#[test]
fn the_speed_goes_to_standard_error() {
    let finished = perft("english", 5, &[]);
    assert_eq!(finished.stdout, lines(&COUNTS[0].1[..5]));
    assert!(finished.stderr.starts_with("depth 5: "), "{}", finished.stderr);
    assert!(finished.stderr.ends_with("nodes per second\n"), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1);
}

#[test]
fn depth_0_is_the_position_itself() {
    assert_eq!(perft("english", 0, &[]).stdout, "0 1\n");
    assert_eq!(perft("english", 0, &["--divide"]).stdout, "0 1\n");
}

#[test]
fn every_way_of_counting_gives_the_same_counts() {
    const WAYS: [&[&str]; 7] = [
        &["--no-bulk"],
        &["--threads", "3"],
        &["--hash", "1"],
        &["--hash", "16", "--threads", "2"],
        &["--no-bulk", "--threads", "2"],
        &["--no-bulk", "--hash", "1"],
        &["--no-bulk", "--hash", "1", "--threads", "7"],
    ];
    let starts = COUNTS.iter().map(|(game, counts)| (*game, None, *counts));
    let positions = POSITIONS.iter().map(|(game, text, counts)| (*game, Some(*text), *counts));
    for (game, position, counts) in starts.chain(positions) {
        let position: Vec<_> = position.into_iter().flat_map(|text| ["--position", text]).collect();
        for way in WAYS {
            let finished = perft(game, counts.len() as u32, &[way, &position].concat());
            let found = (finished.code, finished.stdout);
            assert_eq!(found, (Some(0), lines(counts)), "{game} {position:?} {way:?}");
        }
    }
}

#[test]
fn divide_lists_each_move_indented_and_its_counts_add_up() {
    for (game, counts) in COUNTS {
        let depth = counts.len() as u32 - 1;
        for way in [&[][..], &["--threads", "2", "--hash", "1"], &["--no-bulk"]] {
            let finished = perft(game, depth, &[way, &["--divide"]].concat());
            let shown = finished.stdout.strip_prefix(&lines(&counts[..depth as usize]));
            let shown = shown.expect("the counts come first");
            let mut divided = BTreeMap::new();
            for line in shown.lines() {
                let row = line.strip_prefix("  ").and_then(|row| row.rsplit_once(' '));
                let (text, nodes) = row.expect("two blanks, the move and its count");
                divided.insert(text.to_string(), nodes.parse::<u64>().unwrap());
            }
            assert_eq!(divided.values().sum::<u64>(), counts[depth as usize - 1], "{game}");

            let moves = crownhead(&["moves", game]);
            let mut moves: Vec<_> = moves.printed().lines().collect();
            moves.sort_unstable();
            assert!(moves.into_iter().eq(divided.keys()), "{game}: {shown}");
        }
    }
}

#[test]
fn divide_of_a_finished_game_has_no_moves() {
    let finished = perft("english", 2, &["--position", "B:W17,22,29:B13", "--divide"]);
    assert_eq!(finished.stdout, "1 0\n2 0\n");
}

#[test]
fn json_has_the_counts_with_their_times_and_nothing_goes_to_standard_error() {
    let finished = perft("contest:kings=true", 4, &["--json", "--divide"]);
    finished.printed();
    let object = finished.json();
    assert_eq!(object["game"], "contest:kings=true");
    assert_eq!(
        object["position"],
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"
    );
    let counts = object["counts"].as_array().unwrap();
    assert_eq!(counts.len(), 4);
    for (count, depth) in counts.iter().zip(1..) {
        assert_eq!(
            (&count["depth"], &count["nodes"]),
            (&depth.into(), &COUNTS[0].1[depth - 1].into())
        );
        assert!(count["seconds"].is_f64(), "{count}");
    }
    let divide = object["divide"].as_array().unwrap();
    assert_eq!(divide.len(), 7);
    assert_eq!(divide.iter().map(|row| row["nodes"].as_u64().unwrap()).sum::<u64>(), 1469);
    assert!(divide.iter().any(|row| row["move"] == "11-15"));

    let without = perft("english", 2, &["--json"]);
    without.printed();
    assert_eq!(without.json().get("divide"), None);
}

#[test]
fn paths_count_each_way_of_capturing() {
    // Round a ring either way: one move, two paths.
    let ring = ["--position", "B:W10,11,18,19,29,32:BK7"];
    let paths = |game| perft(game, 8, &[&ring[..], &["--paths"]].concat()).stdout;
    assert_eq!(paths("english"), lines(&[2, 6, 24, 72, 216, 720, 2774, 8822]));
    assert_eq!(paths("contest:kings=true"), paths("english"));
    // The published counts from the start; the two ways of counting part only at depth 12.
    assert_eq!(perft("english", 7, &["--paths"]).stdout, lines(COUNTS[0].1));

    let divided = perft("english", 2, &[&ring[..], &["--paths", "--divide"]].concat());
    assert!(divided.stdout.starts_with("1 2\n2 6\n  7x7 "), "{}", divided.stdout);
}

#[test]
fn paths_of_hopping_games_are_refused_as_bad_usage() {
    for game in ["chinese-checkers", "capture-halma"] {
        let finished = perft(game, 2, &["--paths"]);
        let told = finished.refused(2);
        assert!(told.contains("--paths") && told.contains(game), "{told}");
    }
}

#[test]
fn paths_go_with_no_other_way_of_counting() {
    for way in [&["--hash", "1"][..], &["--threads", "2"], &["--no-bulk"]] {
        let finished = perft("english", 2, &[way, &["--paths"]].concat());
        let told = finished.refused(2);
        assert!(told.contains("cannot be used with") && told.contains("'--paths'"), "{told}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_and_the_range_is_told() {
    for (arguments, range) in [
        (&["--depth", "201"][..], "0..=200"),
        (&["--depth", "4294967296"], "0..=200"),
        (&["--depth=-1"], "0..=200"),
        (&["--depth", "2", "--threads", "0"], "1..=1024"),
        (&["--depth", "2", "--threads", "1025"], "1..=1024"),
        (&["--depth", "2", "--hash", "0"], "1..=1048576"),
        (&["--depth", "2", "--hash", "1048577"], "1..=1048576"),
    ] {
        let finished = crownhead(&[&["perft", "english"], arguments].concat());
        let told = finished.refused(2);
        assert!(told.contains(range), "{arguments:?}: {told}");
    }
    let finished = crownhead(&["perft", "english", "--depth", "six"]);
    assert!(finished.refused(2).contains("'six'"));
}

#[test]
fn the_depth_must_be_given() {
    assert!(crownhead(&["perft", "english"]).refused(2).contains("--depth <N>"));
}
