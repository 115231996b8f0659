//! The complete table of counts in `docs/rules.md`. CONTRIBUTING.md has the command for the deeper
//! published figures.

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{CaptureHalma, ChineseCheckers, Contest, English, Perft, Position};

const TWO_THREADS: PerftOptions<'_> = PerftOptions { threads: 2, bulk: true, hash: None };

fn check<P: Perft>(start: &P, counts: &[u64]) {
    for (depth, &nodes) in (1..).zip(counts) {
        assert_eq!(TWO_THREADS.count(start, depth, &[]), nodes, "depth {depth}");
    }
}

#[test]
fn english_to_depth_13() {
    let counts = [
        7,
        49,
        302,
        1_469,
        7_361,
        36_768,
        179_740,
        845_931,
        3_963_680,
        18_391_564,
        85_242_128,
        388_617_999,
        1_766_564_893,
    ];
    check(&English::start(&Default::default()), &counts);
}

/// Bik's counts, OEIS A133046.
const PATHS: [u64; 15] = [
    7,
    49,
    302,
    1_469,
    7_361,
    36_768,
    179_740,
    845_931,
    3_963_680,
    18_391_564,
    85_242_128,
    388_623_673,
    1_766_623_630,
    7_978_439_499,
    36_263_167_175,
];

fn check_paths(depths: std::ops::RangeInclusive<usize>) {
    let start = English::start(&Default::default());
    let perft = English::perft_by_paths().unwrap();
    for depth in depths {
        assert_eq!((perft.count)(&start, depth as u32), PATHS[depth - 1], "depth {depth}");
    }
}

#[test]
fn english_paths_to_depth_13_as_published() {
    check_paths(1..=13);
}

#[test]
#[ignore = "minutes: see CONTRIBUTING.md"]
fn english_paths_to_depth_15_as_published() {
    check_paths(14..=15);
}

#[test]
fn contest_to_depth_9() {
    let counts = [7, 49, 302, 1_469, 7_361, 36_768, 179_740, 845_931, 3_963_722];
    check(&Contest::start(&Default::default()), &counts);
}

#[test]
fn chinese_checkers_to_depth_6() {
    check(&ChineseCheckers::start(&()), &[16, 256, 6_369, 158_847, 4_666_331, 138_674_818]);
}

#[test]
fn capture_halma_to_depth_6() {
    check(&CaptureHalma::start(&()), &[31, 961, 31_282, 1_019_358, 33_333_833, 1_090_830_838]);
}
