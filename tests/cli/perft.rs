//! `crownhead perft`.

use std::collections::BTreeMap;

use crate::harness::{Finished, crownhead};

/// Runs `perft` with additional arguments.
fn perft(game: &str, depth: u32, more: &[&str]) -> Finished {
    let depth = depth.to_string();
    crownhead(&[&["perft", game, "--depth", &depth], more].concat())
}

/// Formats counts of depth 1, 2, … as lines `DEPTH NODES`.
fn lines(counts: &[u64]) -> String {
    counts.iter().zip(1..).map(|(nodes, depth)| format!("{depth} {nodes}\n")).collect()
}

/// Leaf counts from the start position.
const COUNTS: [(&str, &[u64]); 4] = [
    ("english", &[7, 49, 302, 1469, 7361, 36768, 179740]),
    ("contest", &[7, 49, 302, 1469, 7361, 36768, 179740]),
    ("chinese-checkers", &[16, 256, 6369, 158847]),
    ("capture-halma", &[31, 961, 31282]),
];

/// Leaf counts of positions with draws, losses, rings and passes.
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
fn counts_are_printed_one_line_per_depth() {
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
fn speed_goes_to_standard_error() {
    let finished = perft("english", 5, &[]);
    assert_eq!(finished.stdout, lines(&COUNTS[0].1[..5]));
    assert!(finished.stderr.starts_with("depth 5: "), "{}", finished.stderr);
    assert!(finished.stderr.ends_with("nodes per second\n"), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1);
}

#[test]
fn depth_0_has_one_leaf() {
    assert_eq!(perft("english", 0, &[]).stdout, "0 1\n");
    assert_eq!(perft("english", 0, &["--divide"]).stdout, "0 1\n");
}

#[test]
fn all_methods_give_the_same_counts() {
    const METHODS: [&[&str]; 7] = [
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
        for method in METHODS {
            let finished = perft(game, counts.len() as u32, &[method, &position].concat());
            let result = (finished.code, finished.stdout);
            assert_eq!(result, (Some(0), lines(counts)), "{game} {position:?} {method:?}");
        }
    }
}

#[test]
fn divide_lists_each_move_and_the_counts_add_up() {
    for (game, counts) in COUNTS {
        let depth = counts.len() as u32 - 1;
        for method in [&[][..], &["--threads", "2", "--hash", "1"], &["--no-bulk"]] {
            let finished = perft(game, depth, &[method, &["--divide"]].concat());
            let divided_text = finished.stdout.strip_prefix(&lines(&counts[..depth as usize]));
            let divided_text = divided_text.expect("starts with the counts");
            let mut divided = BTreeMap::new();
            for line in divided_text.lines() {
                let row = line.strip_prefix("  ").and_then(|row| row.rsplit_once(' '));
                let (text, nodes) = row.expect("two spaces, the move and its count");
                divided.insert(text.to_string(), nodes.parse::<u64>().unwrap());
            }
            assert_eq!(divided.values().sum::<u64>(), counts[depth as usize - 1], "{game}");

            let moves = crownhead(&["moves", game]);
            let mut moves: Vec<_> = moves.printed().lines().collect();
            moves.sort_unstable();
            assert!(moves.into_iter().eq(divided.keys()), "{game}: {divided_text}");
        }
    }
}

#[test]
fn divide_of_a_finished_game_lists_no_moves() {
    let finished = perft("english", 2, &["--position", "B:W17,22,29:B13", "--divide"]);
    assert_eq!(finished.stdout, "1 0\n2 0\n");
}

#[test]
fn json_has_counts_and_times() {
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
fn paths_counts_each_path_of_a_capture() {
    // Around the ring in either direction: one move, two paths.
    let ring = ["--position", "B:W10,11,18,19,29,32:BK7"];
    let paths = |game| perft(game, 8, &[&ring[..], &["--paths"]].concat()).stdout;
    assert_eq!(paths("english"), lines(&[2, 6, 24, 72, 216, 720, 2774, 8822]));
    assert_eq!(paths("contest:kings=true"), paths("english"));
    // The published counts from the start; they differ from distinct moves only from depth 12 on.
    assert_eq!(perft("english", 7, &["--paths"]).stdout, lines(COUNTS[0].1));

    let divided = perft("english", 2, &[&ring[..], &["--paths", "--divide"]].concat());
    assert!(divided.stdout.starts_with("1 2\n2 6\n  7x7 "), "{}", divided.stdout);
}

#[test]
fn paths_is_a_usage_error_in_hopping_games() {
    for game in ["chinese-checkers", "capture-halma"] {
        let finished = perft(game, 2, &["--paths"]);
        let message = finished.refused(2);
        assert!(message.contains("--paths") && message.contains(game), "{message}");
    }
}

#[test]
fn paths_conflicts_with_other_methods() {
    for method in [&["--hash", "1"][..], &["--threads", "2"], &["--no-bulk"]] {
        let finished = perft("english", 2, &[method, &["--paths"]].concat());
        let message = finished.refused(2);
        assert!(
            message.contains("cannot be used with") && message.contains("'--paths'"),
            "{message}"
        );
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
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
        let message = finished.refused(2);
        assert!(message.contains(range), "{arguments:?}: {message}");
    }
    let finished = crownhead(&["perft", "english", "--depth", "six"]);
    assert!(finished.refused(2).contains("'six'"));
}

#[test]
fn depth_is_required() {
    assert!(crownhead(&["perft", "english"]).refused(2).contains("--depth <N>"));
}
