//! Weights that foretell results: logistic regression by Adam, a gradient descent with a step of
//! its own for each weight.

use super::Sample;
use crate::weights::{UNIT, Weights};

/// How to fit.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// How often every sample is looked at.
    pub epochs: usize,
    /// How much of the target is the game's result; the rest is what the search thought.
    pub blend: f32,
    /// How strongly weights are drawn to zero: what was seen rarely should say little.
    pub decay: f32,
    /// Decides the order of samples.
    pub seed: u64,
}

/// What came of it.
pub struct Fit {
    /// The new weights.
    pub weights: Weights,
    /// Points that make an even game one of odds e to 1; found from the scores of the search.
    pub points: f32,
    /// Samples used to fit, and kept apart for the check.
    pub samples: (usize, usize),
    /// The mean loss on the samples kept apart: before and after every epoch.
    pub losses: Vec<f32>,
}

const BATCH: usize = 2048;
/// Every so many games are kept apart for the check.
const CHECKED: u32 = 20;
const STEP: f32 = 6.0;

/// Fits weights to samples, beginning with `start`. `heard` is told the loss after every epoch.
pub fn fit(
    samples: &[Sample],
    start: &Weights,
    options: &FitOptions,
    mut heard: impl FnMut(usize, f32),
) -> Fit {
    let (checked, mut used): (Vec<_>, Vec<_>) =
        samples.iter().partition(|sample| sample.game % CHECKED == 0);
    let points = points(samples);
    // Two numbers a feature, for the beginning and the end, in points.
    let mut weights: Vec<[f32; 2]> = start
        .pairs()
        .iter()
        .map(|&(early, late)| [early as f32 / UNIT as f32, late as f32 / UNIT as f32])
        .collect();
    let mut descent = Descent::new(weights.len());
    let loss = |weights: &[[f32; 2]], samples: &[&Sample]| {
        let total: f64 = samples
            .iter()
            .map(|sample| {
                let guess = sigmoid(value(weights, sample) / points);
                f64::from((guess - target(sample, options.blend, points)).powi(2))
            })
            .sum();
        (total / samples.len().max(1) as f64) as f32
    };
    let mut losses = vec![loss(&weights, &checked)];
    heard(0, losses[0]);
    let mut random = fastrand::Rng::with_seed(options.seed);
    for epoch in 1..=options.epochs {
        random.shuffle(&mut used);
        // Long steps first, short ones in the end.
        let step = STEP * (1.0 - (epoch - 1) as f32 / options.epochs as f32).powi(2);
        for batch in used.chunks(BATCH) {
            for sample in batch {
                let guess = sigmoid(value(&weights, sample) / points);
                let error = (guess - target(sample, options.blend, points)) * sample.scale;
                for (index, count) in sample.each() {
                    let pull = error * count / batch.len() as f32;
                    descent.gradient[index][0] += pull * sample.early;
                    descent.gradient[index][1] += pull * (1.0 - sample.early);
                }
            }
            descent.step(&mut weights, step, options.decay);
        }
        losses.push(loss(&weights, &checked));
        heard(epoch, losses[epoch]);
    }
    let round = |weight: f32| (weight * UNIT as f32).round() as i32;
    let pairs: Vec<_> = weights.iter().map(|[early, late]| (round(*early), round(*late))).collect();
    Fit {
        weights: Weights::from_pairs(&pairs),
        points,
        samples: (used.len(), checked.len()),
        losses,
    }
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
    (early * sample.early + late * (1.0 - sample.early)) * sample.scale
}

fn target(sample: &Sample, blend: f32, points: f32) -> f32 {
    blend * sample.result + (1.0 - blend) * sigmoid(sample.score / points)
}

/// The scale of the curve from points to expected results under which the search's scores foretell
/// the results best.
fn points(samples: &[Sample]) -> f32 {
    let loss = |points: f32| {
        let error = |sample: &Sample| sigmoid(sample.score / points) - sample.result;
        samples.iter().map(|sample| f64::from(error(sample).powi(2))).sum::<f64>()
    };
    let candidates = (8..=100).map(|n| n as f32 * 5.0);
    candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(150.0)
}

/// Adam's memory.
struct Descent {
    gradient: Vec<[f32; 2]>,
    mean: Vec<[f32; 2]>,
    square: Vec<[f32; 2]>,
    steps: i32,
}

impl Descent {
    fn new(len: usize) -> Descent {
        let zero = vec![[0.0; 2]; len];
        Descent { gradient: zero.clone(), mean: zero.clone(), square: zero, steps: 0 }
    }

    /// Changes the weights against the gradient, which is then zero again.
    fn step(&mut self, weights: &mut [[f32; 2]], length: f32, decay: f32) {
        const SLOW: f32 = 0.9;
        const SLOWER: f32 = 0.999;
        self.steps += 1;
        let first = 1.0 - SLOW.powi(self.steps);
        let second = 1.0 - SLOWER.powi(self.steps);
        for (index, weight) in weights.iter_mut().enumerate() {
            for part in 0..2 {
                let gradient = std::mem::take(&mut self.gradient[index][part]);
                let mean = &mut self.mean[index][part];
                let square = &mut self.square[index][part];
                *mean = SLOW * *mean + (1.0 - SLOW) * gradient;
                *square = SLOWER * *square + (1.0 - SLOWER) * gradient * gradient;
                let step = *mean / first / ((*square / second).sqrt() + 1e-6);
                weight[part] -= length * (step + decay * weight[part]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a game in which feature 0 wins and feature 1 means nothing.
    fn samples() -> Vec<Sample> {
        let sample = |game: u32, count: i8, noise: i8, result| Sample {
            features: [u32::from(count as u8), 1 << 8 | u32::from(noise as u8)].into(),
            early: 1.0,
            scale: 1.0,
            score: 100.0 * f32::from(count),
            result,
            game,
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
        let options = FitOptions { epochs: 40, blend: 1.0, decay: 0.0, seed: 1 };
        let fit = fit(&samples(), &start, &options, |_, _| {});
        let [(man, _), (noise, _)] = fit.weights.pairs()[..] else { panic!() };
        assert!(fit.losses[40] < fit.losses[0], "{:?}", fit.losses);
        assert!(man > 400 && noise.abs() < man / 10, "{man} {noise}");
    }

    #[test]
    fn the_same_seed_gives_the_same_weights() {
        let start = Weights::from_pairs(&[(0, 0), (400, 400)]);
        let options = FitOptions { epochs: 3, blend: 0.5, decay: 1e-4, seed: 7 };
        let pairs = || fit(&samples(), &start, &options, |_, _| {}).weights.pairs();
        assert_eq!(pairs(), pairs());
    }
}
