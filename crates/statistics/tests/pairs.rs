//! Scores and error bars, against values computed by hand.

use crownhead_statistics::{GamePoints, Pentanomial, Wdl, elo};

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

#[test]
fn draw_counts_half_a_win() {
    let mut wdl = Wdl::default();
    assert_eq!(wdl.score(), None);
    for points in [GamePoints::Win, GamePoints::Win, GamePoints::Draw, GamePoints::Loss] {
        wdl.add(points);
    }
    assert_eq!((wdl.wins, wdl.draws, wdl.losses, wdl.games()), (2, 1, 1, 4));
    assert_eq!(wdl.score(), Some(0.625));
}

#[test]
fn elo_follows_from_the_score() {
    assert_eq!(elo(0.5), 0.0);
    near(elo(0.75), 190.85, 0.01);
    near(elo(0.25), -190.85, 0.01);
    near(elo(10.0 / 11.0), 400.0, 1e-9);
    assert_eq!(elo(1.0), f64::INFINITY);
    assert_eq!(elo(0.0), f64::NEG_INFINITY);
}

#[test]
fn pair_counts_by_the_sum_of_its_points() {
    let mut pairs = Pentanomial::default();
    pairs.add([GamePoints::Loss, GamePoints::Loss]);
    pairs.add([GamePoints::Draw, GamePoints::Loss]);
    pairs.add([GamePoints::Win, GamePoints::Loss]);
    pairs.add([GamePoints::Draw, GamePoints::Draw]);
    pairs.add([GamePoints::Win, GamePoints::Draw]);
    pairs.add([GamePoints::Win, GamePoints::Win]);
    assert_eq!((pairs.0, pairs.count()), ([1, 1, 2, 1, 1], 6));
}

#[test]
fn error_bars_are_computed_from_pairs() {
    // 100 pairs: 10 with 1 of 2 points, 60 with 1½, 30 with 2. The mean of a game is
    // (10·0.5 + 60·0.75 + 30·1)/100 = 0.8, the variance (10·0.09 + 60·0.0025 + 30·0.04)/100
    // = 0.0225, the deviation of the mean √(0.0225/100) = 0.015, its 95 % range ± 0.0294.
    let estimate = Pentanomial([0, 0, 10, 60, 30]).estimate().unwrap();
    near(estimate.score, 0.8, 1e-9);
    near(estimate.error, 0.0294, 1e-4);
    near(estimate.elo, 240.82, 0.01);
    // elo(0.8294) − elo(0.7706), halved: (274.78 − 210.49)/2.
    near(estimate.elo_error, 32.1, 0.1);
    near(estimate.los, 1.0, 1e-9);
}

#[test]
fn decisive_opening_gives_no_information_about_the_players() {
    // Each player won every game as Black: single games vary, pairs do not.
    let estimate = Pentanomial([0, 0, 50, 0, 0]).estimate().unwrap();
    assert_eq!((estimate.score, estimate.elo, estimate.los), (0.5, 0.0, 0.5));
    near(estimate.error, 0.06, 1e-9);
}

#[test]
fn los_follows_from_the_normal_distribution() {
    // One pair each with 0 and 2 points: mean ½. With three of four pairs won: mean 0.75,
    // variance 0.1875, deviation √(0.1875/4) = 0.2165; 0.25/0.2165 = 1.1547, and Φ = 0.8759.
    near(Pentanomial([1, 0, 0, 0, 1]).estimate().unwrap().los, 0.5, 1e-7);
    near(Pentanomial([1, 0, 0, 0, 3]).estimate().unwrap().los, 0.8759, 1e-4);
    near(Pentanomial([3, 0, 0, 0, 1]).estimate().unwrap().los, 0.1241, 1e-4);
}

#[test]
fn clean_sweep_has_infinite_elo_and_a_finite_error() {
    assert!(Pentanomial::default().estimate().is_none());
    let estimate = Pentanomial([0, 0, 0, 0, 100]).estimate().unwrap();
    assert_eq!((estimate.score, estimate.elo, estimate.los), (1.0, f64::INFINITY, 1.0));
    near(estimate.error, 0.03, 1e-9);
    let estimate = Pentanomial([7, 0, 0, 0, 0]).estimate().unwrap();
    assert_eq!((estimate.elo, estimate.los), (f64::NEG_INFINITY, 0.5_f64.powi(8)));
}

#[test]
fn few_pairs_are_no_proof_of_superiority() {
    // After n won pairs the likelihood is 1 - 2^-(n+1), and no other result gives more: the normal
    // distribution would say 0.99999 after two pairs with 1½ and 2 points.
    for (pairs, los) in [
        ([0, 0, 0, 0, 1], 0.75),
        ([0, 0, 0, 1, 0], 0.75),
        ([1, 0, 0, 0, 0], 0.25),
        ([0, 0, 0, 1, 1], 0.875),
    ] {
        near(Pentanomial(pairs).estimate().unwrap().los, los, 1e-9);
    }
}
