//! The SPRT keeps its error rates.

#![allow(clippy::unwrap_used)] // a failing test may panic

use crownhead_statistics::Pentanomial;
use crownhead_statistics::sprt::{Decision, EloModel, Sprt, normalised_elo as estimated_elo};

/// Distribution of pair scores: balanced, with a mean shifted by `shift` points per game.
fn distribution(shift: f64) -> [f64; 5] {
    [0.05 - shift, 0.2 - shift, 0.5, 0.2 + shift, 0.05 + shift]
}

fn mean(p: &[f64; 5]) -> f64 {
    p.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]).map(|(p, score)| p * score).sum()
}

fn logistic_elo(p: &[f64; 5]) -> f64 {
    400.0 * (mean(p) / (1.0 - mean(p))).log10()
}

fn normalised_elo(p: &[f64; 5]) -> f64 {
    let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
    let variance: f64 = p.iter().zip(scores).map(|(q, s)| q * (s - mean(p)).powi(2)).sum();
    800.0 / std::f64::consts::LN_10 * (mean(p) - 0.5) / (2.0 * variance).sqrt()
}

/// Runs tests on pairs from a distribution, checking every `stride` pairs, and returns how many
/// accepted H1 and the average number of pairs.
fn simulate(sprt: &Sprt, p: &[f64; 5], runs: u64, stride: usize) -> (f64, f64) {
    let (mut accepted, mut total) = (0, 0.0);
    for seed in 0..runs {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut pairs = Pentanomial::default();
        let decision = loop {
            for _ in 0..stride {
                let mut point = rng.f64();
                let score = p.iter().position(|p| {
                    point -= p;
                    point < 0.0
                });
                pairs.0[score.unwrap_or(4)] += 1;
            }
            match sprt.decision(&pairs) {
                Decision::Undecided => assert!(pairs.count() < 100_000),
                decision => break decision,
            }
        };
        accepted += u64::from(decision == Decision::AcceptH1);
        total += f64::from(pairs.count());
    }
    (accepted as f64 / runs as f64, total / runs as f64)
}

#[test]
fn error_rates_are_alpha_and_beta() {
    let [h0, h1] = [distribution(0.0), distribution(0.02)];
    for model in [EloModel::Logistic, EloModel::Normalised] {
        let elo = |p| match model {
            EloModel::Logistic => logistic_elo(p),
            EloModel::Normalised => normalised_elo(p),
        };
        let sprt = Sprt { elo0: elo(&h0), elo1: elo(&h1), alpha: 0.05, beta: 0.1, model };
        let (false_positives, _) = simulate(&sprt, &h0, 1_000, 4);
        assert!((0.025..0.07).contains(&false_positives), "{model:?} alpha {false_positives}");
        let (power, _) = simulate(&sprt, &h1, 1_000, 4);
        assert!((0.06..0.13).contains(&(1.0 - power)), "{model:?} beta {}", 1.0 - power);
    }
}

#[test]
fn draws_do_not_lengthen_a_test_of_normalised_elo() {
    let sprt = Sprt { elo0: 0.0, elo1: 40.0, alpha: 0.05, beta: 0.05, model: EloModel::Normalised };
    let few_draws = [0.22, 0.02, 0.5, 0.02, 0.24];
    let many_draws = [0.005, 0.04, 0.905, 0.04, 0.01];
    let lengths = [few_draws, many_draws].map(|p| {
        // Equal strength in normalised Elo means an equal length.
        let elo = normalised_elo(&p);
        simulate(&Sprt { elo0: elo - 20.0, elo1: elo + 20.0, ..sprt }, &p, 150, 4).1
    });
    assert!((lengths[0] / lengths[1] - 1.0).abs() < 0.35, "{lengths:?}");
}

#[test]
fn llr_of_a_small_difference_is_that_of_a_normal_distribution() {
    let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: EloModel::Logistic };
    let [lower, upper] = sprt.bounds();
    assert!((lower + 2.944).abs() < 1e-3 && (upper - 2.944).abs() < 1e-3);
    // For small differences the LLR is that of a normal distribution:
    // pairs (s1 - s0) (2 mean - s0 - s1) / (2 variance).
    let pairs = Pentanomial([10, 190, 580, 205, 15]);
    let (count, score, variance) = (1_000.0, 0.50625, 0.030_898_437_5);
    let s1 = 1.0 / (1.0 + 10f64.powf(-5.0 / 400.0));
    let normal = count * (s1 - 0.5) * (2.0 * score - 0.5 - s1) / (2.0 * variance);
    let llr = sprt.llr(&pairs);
    assert!((llr / normal - 1.0).abs() < 0.02, "{llr} {normal}");
}

#[test]
fn normalised_elo_is_the_score_in_standard_deviations_of_a_game() {
    let pairs = Pentanomial([10, 190, 580, 205, 15]);
    let estimate = estimated_elo(&pairs).unwrap();
    let expected = normalised_elo(&pairs.0.map(|count| f64::from(count) / 1_000.0));
    assert!((estimate.value - expected).abs() < 1e-9, "{estimate:?} {expected}");
    // 800 / ln 10 · 1.96 / √2000 games.
    assert!((estimate.error - 15.227).abs() < 1e-3, "{estimate:?}");
    assert_eq!(estimated_elo(&Pentanomial::default()), None);
    assert_eq!(estimated_elo(&Pentanomial([0, 0, 50, 0, 0])), None);
}

#[test]
fn identical_pairs_end_the_test() {
    let sprt = Sprt { elo0: 0.0, elo1: 20.0, alpha: 0.05, beta: 0.05, model: EloModel::Logistic };
    assert_eq!(sprt.decision(&Pentanomial::default()), Decision::Undecided);
    assert_eq!(sprt.decision(&Pentanomial([0, 0, 2_000, 0, 0])), Decision::AcceptH0);
    assert_eq!(sprt.decision(&Pentanomial([0, 0, 0, 0, 100])), Decision::AcceptH1);
    assert_eq!(sprt.decision(&Pentanomial([100, 0, 0, 0, 0])), Decision::AcceptH0);
}
