//! Weights that foretell results: logistic regression, with doubt about what was seen seldom.

use super::Sample;
use crate::StopFlag;
use crate::eval::weights::{WEIGHT_SCALE, Weights};

/// How to fit.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// How often all samples are looked at.
    pub epochs: usize,
    /// How much of the target is the game's result; the rest is what the search thought.
    pub result_weight: f32,
    /// How strongly weights are drawn to zero: what was seen rarely should say little. In samples:
    /// a feature seen less often than this keeps less than half of what it seems to be worth.
    pub l2: f32,
}

/// What came of it.
pub struct Fit {
    /// The new weights.
    pub weights: Weights,
    /// Samples used to fit, and kept apart for the check.
    pub samples: (usize, usize),
    /// The mean squared error on the samples kept apart: before the first and after every round.
    pub losses: Vec<f32>,
}

/// Every so many games are kept apart for the check.
const VALIDATION_EVERY: u32 = 20;

/// Fits weights to samples, beginning with `start`. `heard` is told the loss after every round. When
/// `stop` is raised, no further round is finished.
pub fn fit(
    samples: &[Sample],
    start: &Weights,
    options: &FitOptions,
    stop: &StopFlag,
    mut heard: impl FnMut(usize, f32),
) -> Fit {
    let (checked, used): (Vec<_>, Vec<_>) =
        samples.iter().partition(|sample| sample.game % VALIDATION_EVERY == 0);
    let points = fit_score_scale(samples, stop);
    // Two numbers a feature, for the beginning and the end, in odds instead of points.
    let unit = WEIGHT_SCALE as f32 * points;
    let first: Vec<[f32; 2]> =
        start.pairs().iter().map(|&(a, b)| [a as f32 / unit, b as f32 / unit]).collect();
    let target = |sample: &Sample| {
        options.result_weight * sample.result
            + (1.0 - options.result_weight) * sigmoid(sample.score / points)
    };
    let loss = |weights: &[[f32; 2]]| {
        let error = |sample: &&Sample| sigmoid(value(weights, sample)) - target(sample);
        let total: f64 = checked.iter().map(|sample| f64::from(error(sample).powi(2))).sum();
        (total / checked.len().max(1) as f64) as f32
    };
    // The loss bends at most a quarter for each sample and feature, times the other features of the
    // sample: with steps as short as that it can only fall. A weight's own bound, not the largest
    // of all, makes rare features as quick as common ones.
    let doubt = options.l2 / 4.0;
    let mut bend = vec![[doubt; 2]; first.len()];
    let mut seen = vec![false; first.len()];
    for sample in &used {
        let all: f32 = sample.each().map(|(_, count)| count.abs()).sum();
        for (index, count) in sample.each() {
            let most = 0.25 * count.abs() * all * sample.scale * sample.scale;
            bend[index][0] += most * sample.opening_share;
            bend[index][1] += most * (1.0 - sample.opening_share);
            seen[index] = true;
        }
    }
    let before = rms(used.iter().map(|sample| value(&first, sample)));
    let mut losses = vec![loss(&first)];
    heard(0, losses[0]);
    let mut weights = first.clone();
    // Where the momentum leads: the slope is taken there (Nesterov).
    let mut ahead = first;
    let mut slope = vec![[0.0; 2]; weights.len()];
    for round in 1..=options.epochs {
        slope.fill([0.0; 2]);
        for sample in used.iter().take_while(|_| !stop.is_set()) {
            let error = (sigmoid(value(&ahead, sample)) - target(sample)) * sample.scale;
            for (index, count) in sample.each() {
                slope[index][0] += error * count * sample.opening_share;
                slope[index][1] += error * count * (1.0 - sample.opening_share);
            }
        }
        if stop.is_set() {
            break;
        }
        let momentum = (round as f32 - 1.0) / (round as f32 + 2.0);
        for index in 0..weights.len() {
            for part in 0..2 {
                let from = ahead[index][part];
                let to = from - (slope[index][part] + doubt * from) / bend[index][part].max(1e-6);
                ahead[index][part] = to + momentum * (to - weights[index][part]);
                weights[index][part] = to;
            }
        }
        losses.push(loss(&weights));
        heard(round, losses[round]);
    }
    // A hundred points stay what they were: the scores as a whole become neither larger nor smaller.
    let after = rms(used.iter().map(|sample| value(&weights, sample)));
    let unit = unit * if before > 0.0 && after > 0.0 { before / after } else { 1.0 };
    let round = |weight: f32| (weight * unit).round() as i32;
    // What was never seen, these games say nothing about: it stays.
    let pairs: Vec<_> = std::iter::zip(&weights, start.pairs())
        .zip(&seen)
        .map(|(([a, b], old), seen)| if *seen { (round(*a), round(*b)) } else { old })
        .collect();
    Fit { weights: Weights::from_pairs(&pairs), samples: (used.len(), checked.len()), losses }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn value(weights: &[[f32; 2]], sample: &Sample) -> f32 {
    let (mut early, mut late) = (0.0, 0.0);
    for (index, count) in sample.each() {
        early += weights[index][0] * count;
        late += weights[index][1] * count;
    }
    (early * sample.opening_share + late * (1.0 - sample.opening_share)) * sample.scale
}

/// The root of the mean square.
fn rms(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let len = values.len().max(1) as f64;
    (values.map(|value| f64::from(value * value)).sum::<f64>() / len).sqrt() as f32
}

/// The scale of the curve from points to expected results under which the search's scores foretell
/// the results best.
fn fit_score_scale(samples: &[Sample], stop: &StopFlag) -> f32 {
    let loss = |points: f32| {
        let error = |sample: &Sample| sigmoid(sample.score / points) - sample.result;
        let samples = samples.iter().take_while(|_| !stop.is_set());
        samples.map(|sample| f64::from(error(sample).powi(2))).sum::<f64>()
    };
    let candidates = (8..=100).map(|n| n as f32 * 5.0);
    candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(150.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a game in which feature 0 wins and feature 1 means nothing.
    fn samples() -> Vec<Sample> {
        let sample = |n: u32, count: i8, noise: i8, result| Sample {
            features: [u32::from(count as u8), 1 << 8 | u32::from(noise as u8)].into(),
            opening_share: 1.0,
            scale: 1.0,
            score: 100.0 * f32::from(count),
            result,
            game: n / 20,
        };
        (0..4000)
            .map(|n| {
                let ahead = n % 4 != 0; // who is ahead wins three games of four
                let count = if n % 2 == 0 { 1 } else { -1 };
                let won = (count == 1) == ahead;
                sample(n, count, [1, -1, -1, 1, 0][n as usize % 5], f32::from(u8::from(won)))
            })
            .collect()
    }

    #[test]
    fn what_wins_gets_weight_and_what_means_nothing_gets_none() {
        let start = Weights::from_pairs(&[(0, 0), (400, 400)]);
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 1.0 };
        let fit = fit(&samples(), &start, &options, &StopFlag::new(), |_, _| {});
        let [(man, _), (noise, _)] = fit.weights.pairs()[..] else { panic!() };
        assert!(fit.losses[40] < fit.losses[0], "{:?}", fit.losses);
        assert!(man > 350 && noise.abs() < man / 10, "{man} {noise}");
    }

    #[test]
    fn scores_stay_as_large_as_they_were() {
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 1.0 };
        for size in [100, 800, 3000] {
            let start = Weights::from_pairs(&[(size, size), (0, 0)]);
            let fit = fit(&samples(), &start, &options, &StopFlag::new(), |_, _| {});
            let (man, _) = fit.weights.pairs()[0];
            assert!((man - size).abs() <= size / 50, "{size} became {man}");
        }
    }

    #[test]
    fn what_was_never_seen_keeps_its_weight() {
        let start = Weights::from_pairs(&[(100, 100), (0, 0), (-700, 300)]);
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 100.0 };
        let fit = fit(&samples(), &start, &options, &StopFlag::new(), |_, _| {});
        assert_eq!(fit.weights.pairs()[2], (-700, 300));
    }

    #[test]
    fn what_was_seldom_seen_says_little() {
        let start = Weights::from_pairs(&[(0, 0), (0, 0)]);
        let samples: Vec<_> = samples().into_iter().take(50).collect();
        let man = |doubt| {
            let options = FitOptions { epochs: 40, result_weight: 1.0, l2: doubt };
            fit(&samples, &start, &options, &StopFlag::new(), |_, _| {}).losses[40]
        };
        assert!(man(1e5) > man(1.0), "with much doubt nothing is foretold");
    }

    #[test]
    fn a_raised_flag_ends_the_fit_in_the_middle() {
        let start = Weights::from_pairs(&[(0, 0), (0, 0)]);
        let options = FitOptions { epochs: 1_000_000, result_weight: 1.0, l2: 1.0 };
        let stop = StopFlag::new();
        let heard = |round, _| {
            if round == 3 {
                stop.set();
            }
        };
        assert_eq!(fit(&samples(), &start, &options, &stop, heard).losses.len(), 4);
    }
}
