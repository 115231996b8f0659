//! Logistic regression with L2 regularisation.

use super::Sample;
use crate::StopFlag;
use crate::eval::weights::{WEIGHT_SCALE, Weights};

/// Options of the regression.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// Passes over all samples.
    pub epochs: usize,
    /// Share of the game's result in the target; the rest is the score of the search.
    pub result_weight: f32,
    /// Strength of the L2 regularisation, in samples: a feature seen less often keeps less than
    /// half of its weight.
    pub l2: f32,
}

/// Result of the regression.
pub struct Fit {
    /// The fitted weights.
    pub weights: Weights,
    /// Number of training and of validation samples.
    pub samples: (usize, usize),
    /// Mean squared error of the validation samples, before the first and after every epoch.
    pub losses: Vec<f32>,
}

/// One game in this many is used for validation.
const VALIDATION_EVERY: u32 = 20;

/// Fits weights to samples, starting from `start`. Calls `on_epoch` with the number and the loss of
/// each epoch. If `stop` is set, the current epoch is dropped.
pub fn fit(
    samples: &[Sample],
    start: &Weights,
    options: &FitOptions,
    stop: &StopFlag,
    on_epoch: &mut dyn FnMut(usize, f32),
) -> Fit {
    let (validation, training): (Vec<_>, Vec<_>) =
        samples.iter().partition(|sample| sample.game % VALIDATION_EVERY == 0);
    let score_scale = fit_score_scale(samples, stop);
    // Opening and endgame weight of each feature, in log-odds instead of points.
    let unit = WEIGHT_SCALE as f32 * score_scale;
    let initial: Vec<[f32; 2]> =
        start.pairs().iter().map(|&(a, b)| [a as f32 / unit, b as f32 / unit]).collect();
    let target = |sample: &Sample| {
        options.result_weight * sample.result
            + (1.0 - options.result_weight) * sigmoid(sample.score / score_scale)
    };
    let loss = |weights: &[[f32; 2]]| {
        let error = |sample: &&Sample| sigmoid(value(weights, sample)) - target(sample);
        let total: f64 = validation.iter().map(|sample| f64::from(error(sample).powi(2))).sum();
        (total / validation.len().max(1) as f64) as f32
    };
    // Upper bound of the loss's curvature per weight: a quarter per sample and feature, times the
    // other features of the sample. With steps of its inverse the loss cannot rise. A bound per
    // weight, not one for all, makes rare features converge as fast as common ones.
    let l2 = options.l2 / 4.0;
    let mut curvature = vec![[l2; 2]; initial.len()];
    let mut is_seen = vec![false; initial.len()];
    for sample in &training {
        let all: f32 = sample.features().map(|(_, count)| count.abs()).sum();
        for (index, count) in sample.features() {
            let bound = 0.25 * count.abs() * all * sample.scale * sample.scale;
            curvature[index][0] += bound * sample.opening_share;
            curvature[index][1] += bound * (1.0 - sample.opening_share);
            is_seen[index] = true;
        }
    }
    let rms_before = rms(training.iter().map(|sample| value(&initial, sample)));
    let mut losses = vec![loss(&initial)];
    on_epoch(0, losses[0]);
    let mut weights = initial.clone();
    // Weights plus momentum: the gradient is computed there (Nesterov).
    let mut ahead = initial;
    let mut gradient = vec![[0.0; 2]; weights.len()];
    for epoch in 1..=options.epochs {
        gradient.fill([0.0; 2]);
        for sample in training.iter().take_while(|_| !stop.is_set()) {
            let error = (sigmoid(value(&ahead, sample)) - target(sample)) * sample.scale;
            for (index, count) in sample.features() {
                gradient[index][0] += error * count * sample.opening_share;
                gradient[index][1] += error * count * (1.0 - sample.opening_share);
            }
        }
        if stop.is_set() {
            break;
        }
        let momentum = (epoch as f32 - 1.0) / (epoch as f32 + 2.0);
        for index in 0..weights.len() {
            for part in 0..2 {
                let from = ahead[index][part];
                let step = (gradient[index][part] + l2 * from) / curvature[index][part].max(1e-6);
                let to = from - step;
                ahead[index][part] = to + momentum * (to - weights[index][part]);
                weights[index][part] = to;
            }
        }
        losses.push(loss(&weights));
        on_epoch(epoch, losses[epoch]);
    }
    // Keep the size of scores: 100 points stay about a man.
    let rms_after = rms(training.iter().map(|sample| value(&weights, sample)));
    let unit =
        unit * if rms_before > 0.0 && rms_after > 0.0 { rms_before / rms_after } else { 1.0 };
    let round = |weight: f32| (weight * unit).round() as i32;
    // Features without samples keep their weights.
    let pairs: Vec<_> = std::iter::zip(&weights, start.pairs())
        .zip(&is_seen)
        .map(|(([a, b], old), is_seen)| if *is_seen { (round(*a), round(*b)) } else { old })
        .collect();
    let samples = (training.len(), validation.len());
    Fit { weights: Weights::from_pairs(&pairs), samples, losses }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Weighted sum of a sample in log-odds.
fn value(weights: &[[f32; 2]], sample: &Sample) -> f32 {
    let (mut opening, mut endgame) = (0.0, 0.0);
    for (index, count) in sample.features() {
        opening += weights[index][0] * count;
        endgame += weights[index][1] * count;
    }
    (opening * sample.opening_share + endgame * (1.0 - sample.opening_share)) * sample.scale
}

/// Root mean square.
fn rms(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let len = values.len().max(1) as f64;
    (values.map(|value| f64::from(value * value)).sum::<f64>() / len).sqrt() as f32
}

/// Finds the scale of the logistic curve with which the search's scores predict the results best.
fn fit_score_scale(samples: &[Sample], stop: &StopFlag) -> f32 {
    let loss = |scale: f32| {
        let error = |sample: &Sample| sigmoid(sample.score / scale) - sample.result;
        let samples = samples.iter().take_while(|_| !stop.is_set());
        samples.map(|sample| f64::from(error(sample).powi(2))).sum::<f64>()
    };
    let candidates = (8..=100).map(|n| n as f32 * 5.0);
    candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(150.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a game in which feature 0 wins and feature 1 is noise.
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
                let ahead = n % 4 != 0; // the side ahead wins three games of four
                let count = if n % 2 == 0 { 1 } else { -1 };
                let won = (count == 1) == ahead;
                sample(n, count, [1, -1, -1, 1, 0][n as usize % 5], f32::from(u8::from(won)))
            })
            .collect()
    }

    #[test]
    fn fit_weights_winning_features_and_not_noise() {
        let start = Weights::from_pairs(&[(0, 0), (400, 400)]);
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 1.0 };
        let fit = fit(&samples(), &start, &options, &StopFlag::new(), &mut |_, _| {});
        let [(man, _), (noise, _)] = fit.weights.pairs()[..] else { panic!() };
        assert!(fit.losses[40] < fit.losses[0], "{:?}", fit.losses);
        assert!(man > 350 && noise.abs() < man / 10, "{man} {noise}");
    }

    #[test]
    fn fit_keeps_the_size_of_scores() {
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 1.0 };
        for size in [100, 800, 3000] {
            let start = Weights::from_pairs(&[(size, size), (0, 0)]);
            let fit = fit(&samples(), &start, &options, &StopFlag::new(), &mut |_, _| {});
            let (man, _) = fit.weights.pairs()[0];
            assert!((man - size).abs() <= size / 50, "{size} became {man}");
        }
    }

    #[test]
    fn features_without_samples_keep_their_weights() {
        let start = Weights::from_pairs(&[(100, 100), (0, 0), (-700, 300)]);
        let options = FitOptions { epochs: 40, result_weight: 1.0, l2: 100.0 };
        let fit = fit(&samples(), &start, &options, &StopFlag::new(), &mut |_, _| {});
        assert_eq!(fit.weights.pairs()[2], (-700, 300));
    }

    #[test]
    fn strong_regularisation_shrinks_rare_features() {
        let start = Weights::from_pairs(&[(0, 0), (0, 0)]);
        let samples: Vec<_> = samples().into_iter().take(50).collect();
        let loss = |l2| {
            let options = FitOptions { epochs: 40, result_weight: 1.0, l2 };
            fit(&samples, &start, &options, &StopFlag::new(), &mut |_, _| {}).losses[40]
        };
        assert!(loss(1e5) > loss(1.0), "strong regularisation must predict worse");
    }

    #[test]
    fn stop_flag_ends_the_fit() {
        let start = Weights::from_pairs(&[(0, 0), (0, 0)]);
        let options = FitOptions { epochs: 1_000_000, result_weight: 1.0, l2: 1.0 };
        let stop = StopFlag::new();
        let mut on_epoch = |epoch, _| {
            if epoch == 3 {
                stop.set();
            }
        };
        assert_eq!(fit(&samples(), &start, &options, &stop, &mut on_epoch).losses.len(), 4);
    }
}
