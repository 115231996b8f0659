//! SPSA.

use crownhead_statistics::spsa::{Spsa, SpsaParam};

fn param(min: f64, max: f64, step: f64) -> SpsaParam {
    SpsaParam { min, max, step }
}

/// Tunes with games whose expected result falls with the squared distance from the optimum, in
/// steps; most of a result is noise.
fn tune(mut spsa: Spsa, optimum: &[f64], seed: u64) -> Spsa {
    let mut rng = fastrand::Rng::with_seed(seed);
    let steps: Vec<_> = spsa.params.iter().map(|param| param.step).collect();
    let loss = |values: &[i64]| -> f64 {
        let distance = |((value, best), step): ((&i64, &f64), &f64)| (*value as f64 - best) / step;
        values.iter().zip(optimum).zip(&steps).map(|all| distance(all).powi(2)).sum()
    };
    while spsa.iteration < spsa.iterations {
        let trials: Vec<_> = (0..8).map(|_| spsa.trial(|| rng.f64())).collect();
        let results: Vec<i32> = trials
            .iter()
            .map(|trial| {
                let [first, second] = &trial.values;
                let expected = 1.0 / (1.0 + (0.02 * (loss(first) - loss(second))).exp());
                (0..2).map(|_| if rng.f64() < expected { 1 } else { -1 }).sum()
            })
            .collect();
        spsa.update(trials.iter().zip(results));
    }
    spsa
}

#[test]
fn spsa_finds_the_optimum_of_a_noisy_quadratic() {
    let params = vec![param(0.0, 300.0, 8.0), param(-50.0, 50.0, 3.0), param(0.0, 12.0, 0.7)];
    let (start, optimum) = ([90.0, 0.0, 6.0], [134.0, -17.0, 4.0]);
    for seed in 1..=3 {
        let values = start.to_vec();
        let spsa =
            Spsa { params: params.clone(), iterations: 2000, rate: 0.02, iteration: 0, values };
        let tuned = tune(spsa, &optimum, seed);
        for ((value, best), param) in tuned.values.iter().zip(optimum).zip(&params) {
            assert!((value - best).abs() < 1.5 * param.step, "{:?}", tuned.values);
        }
    }
}

#[test]
fn values_stay_within_their_range() {
    let params = vec![param(10.0, 100.0, 8.0), param(2.0, 4.0, 0.5)];
    let spsa = Spsa { params, iterations: 300, rate: 0.5, iteration: 0, values: vec![12.0, 4.0] };
    let tuned = tune(spsa, &[-500.0, 90.0], 1);
    let mut rng = fastrand::Rng::with_seed(1);
    for values in [vec![10.0, 2.0], vec![100.0, 4.0], tuned.values.clone()] {
        let at_limits = Spsa { values, ..tuned.clone() };
        assert!((10.0..=100.0).contains(&at_limits.values[0]), "{tuned:?}");
        assert!((2.0..=4.0).contains(&at_limits.values[1]), "{tuned:?}");
        for values in (0..100).flat_map(|_| at_limits.trial(|| rng.f64()).values) {
            assert!((10..=100).contains(&values[0]) && (2..=4).contains(&values[1]), "{values:?}");
        }
    }
}

#[test]
fn opponents_differ_by_two_steps_on_average() {
    let params = vec![param(0.0, 100.0, 0.4), param(0.0, 100.0, 3.3)];
    let spsa = Spsa { params, iterations: 1, rate: 0.1, iteration: 0, values: vec![50.0, 20.7] };
    let mut rng = fastrand::Rng::with_seed(1);
    let mut differences = [0.0; 2];
    for _ in 0..10_000 {
        let [first, second] = spsa.trial(|| rng.f64()).values;
        for (sum, (a, b)) in differences.iter_mut().zip(first.iter().zip(second)) {
            *sum += (a - b).abs() as f64 / 10_000.0;
        }
    }
    assert!((differences[0] - 0.8).abs() < 0.03, "{differences:?}");
    assert!((differences[1] - 6.6).abs() < 0.03, "{differences:?}");
}
