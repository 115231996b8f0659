//! Sequential probability ratio test (SPRT) over game pairs.
//!
//! Two hypotheses about the Elo difference are compared after every pair. The log-likelihood
//! ratio (LLR) is the generalised one of the pentanomial distribution: the probabilities of the
//! five pair scores that fit the results best under each hypothesis. The test ends when the LLR
//! leaves the bounds that follow from the permitted error rates.

use crate::Pentanomial;
use crate::pairs::Z_95;
use crate::ratings::Estimated;

/// Scale of the Elo bounds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum EloModel {
    /// Logistic Elo: depends on the expected score only.
    #[default]
    Logistic,
    /// Normalised Elo: the expected score in standard deviations of a game, as seen in pairs. The
    /// length of a test does not depend on the draw rate.
    Normalised,
}

/// A test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprt {
    /// Elo difference under H0.
    pub elo0: f64,
    /// Elo difference under H1, greater than `elo0`.
    pub elo1: f64,
    /// Probability of accepting H1 if H0 holds.
    pub alpha: f64,
    /// Probability of accepting H0 if H1 holds.
    pub beta: f64,
    /// Scale of the Elo differences.
    pub model: EloModel,
}

/// State of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The difference is about `elo1` or more.
    AcceptH1,
    /// The difference is about `elo0` or less.
    AcceptH0,
    /// More games are needed.
    Undecided,
}

impl Decision {
    /// Name in JSON.
    pub const fn code(self) -> &'static str {
        match self {
            Decision::AcceptH1 => "H1",
            Decision::AcceptH0 => "H0",
            Decision::Undecided => "undecided",
        }
    }
}

/// Normalised Elo per standard deviation of a game: 800 / ln 10, twice the Elo per unit of log
/// odds, so that both scales agree near zero in games without draws.
const NORMALISED_ELO: f64 = 800.0 / std::f64::consts::LN_10;
/// Count given to scores that have not occurred, so that every likelihood is finite.
const EMPTY_COUNT: f64 = 1e-3;

impl Sprt {
    /// Returns the LLR at or below which H0 is accepted, and that at or above which H1 is.
    pub fn bounds(&self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// Returns the log-likelihood ratio of H1 to H0.
    pub fn llr(&self, pairs: &Pentanomial) -> f64 {
        let count = f64::from(pairs.count());
        if count == 0.0 {
            return 0.0;
        }
        let counts = pairs.0.map(|count| f64::from(count).max(EMPTY_COUNT));
        let total: f64 = counts.iter().sum();
        let observed = counts.map(|count| count / total);
        let [under_h0, under_h1] = [self.elo0, self.elo1].map(|elo| match self.model {
            EloModel::Logistic => with_mean(&observed, 1.0 / (1.0 + 10f64.powf(-elo / 400.0))),
            // The variance of a pair's score is half that of a game's if they are independent.
            EloModel::Normalised => with_t_value(&observed, 2f64.sqrt() * elo / NORMALISED_ELO),
        });
        let terms = (0..5).map(|i| observed[i] * (under_h1[i] / under_h0[i]).ln());
        count * terms.sum::<f64>()
    }

    /// Returns the state of the test.
    pub fn decision(&self, pairs: &Pentanomial) -> Decision {
        let (llr, [lower, upper]) = (self.llr(pairs), self.bounds());
        if llr >= upper {
            Decision::AcceptH1
        } else if llr <= lower {
            Decision::AcceptH0
        } else {
            Decision::Undecided
        }
    }
}

/// Estimates the difference in normalised Elo; `None` as long as all pairs have the same score.
pub fn normalised_elo(pairs: &Pentanomial) -> Option<Estimated> {
    let count = f64::from(pairs.count());
    let (mean, variance) = mean_and_variance(&pairs.0.map(|pairs| f64::from(pairs) / count));
    // The variance of a pair's score is half that of a game's if they are independent.
    let per_deviation = NORMALISED_ELO / 2f64.sqrt();
    (variance > 0.0).then(|| Estimated {
        value: per_deviation * (mean - 0.5) / variance.sqrt(),
        error: per_deviation * Z_95 / count.sqrt(),
    })
}

/// Points per game of each pair score.
const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

fn mean_and_variance(probabilities: &[f64; 5]) -> (f64, f64) {
    let terms = || SCORES.iter().zip(probabilities);
    let mean = terms().map(|(score, p)| score * p).sum::<f64>();
    (mean, terms().map(|(score, p)| (score - mean).powi(2) * p).sum())
}

/// Returns the distribution with this mean that fits the observed one best.
fn with_mean(observed: &[f64; 5], mean: f64) -> [f64; 5] {
    with_zero_sum(observed, &SCORES.map(|score| score - mean))
}

/// Returns the most likely distribution under which `values` have the mean 0: `p / (1 + x value)`
/// for the root `x` of a decreasing function (Owen, *Empirical Likelihood*, 2.9).
fn with_zero_sum(observed: &[f64; 5], values: &[f64; 5]) -> [f64; 5] {
    let max = values.iter().copied().fold(f64::MIN, f64::max);
    let min = values.iter().copied().fold(f64::MAX, f64::min);
    if min >= 0.0 || max <= 0.0 {
        return *observed;
    }
    let (mut low, mut high) = (-1.0 / max, -1.0 / min);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let slope: f64 =
            observed.iter().zip(values).map(|(p, value)| p * value / (1.0 + middle * value)).sum();
        if slope > 0.0 { low = middle } else { high = middle }
    }
    let x = (low + high) / 2.0;
    std::array::from_fn(|i| observed[i] / (1.0 + x * values[i]))
}

/// Returns the best fitting distribution whose mean is `t` standard deviations above ½. The
/// condition is linearised around the current distribution until it does not change any more.
fn with_t_value(observed: &[f64; 5], t: f64) -> [f64; 5] {
    let mut fitted = [0.2; 5];
    for _ in 0..50 {
        let (mean, variance) = mean_and_variance(&fitted);
        let deviation = variance.sqrt();
        let values = SCORES.map(|score| {
            let standardised = (score - mean) / deviation;
            score - 0.5 - t * deviation * (1.0 + standardised * standardised) / 2.0
        });
        let next = with_zero_sum(observed, &values);
        let change: f64 = next.iter().zip(fitted).map(|(a, b)| (a - b).abs()).sum();
        fitted = next;
        if change < 1e-9 {
            break;
        }
    }
    fitted
}
