//! Tapered weights, feature layout, weights files.
//!
//! Each feature has an opening and an endgame weight, which are interpolated by the phase of the
//! game. Both share one word, so that one addition adds both. Weights are in eighths of a point.
//!
//! An evaluation passes each feature to a [`FeatureSink`], which adds weights; a test records them.

use crate::Score;

/// Groups of features: name and number of weights.
pub type Layout = &'static [(&'static str, usize)];

/// Weight units per point.
pub const WEIGHT_SCALE: i32 = 8;
/// Phase at the start of a game; it is 0 at the end.
pub const MAX_PHASE: i32 = 32;

/// Receives the features of a position one by one.
pub trait FeatureSink {
    /// Adds the feature `index`, `count` times; negative for features of the opponent.
    fn add(&mut self, index: usize, count: i32);
}

/// Packs a pair of weights into one word.
#[inline(always)]
const fn pack(opening: i32, endgame: i32) -> i32 {
    (endgame << 16).wrapping_add(opening)
}

#[inline(always)]
const fn opening(word: i32) -> i32 {
    word as i16 as i32
}

#[inline(always)]
const fn endgame(word: i32) -> i32 {
    word.wrapping_add(0x8000) >> 16
}

/// Weights of an evaluator.
#[derive(Clone)]
pub struct Weights(Box<[i32]>);

/// Syntax error in a weights file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct WeightsError {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

/// Adds the weights of features.
pub(crate) struct WeightedSum<'a> {
    weights: &'a [i32],
    total: i32,
}

impl FeatureSink for WeightedSum<'_> {
    #[inline(always)]
    fn add(&mut self, index: usize, count: i32) {
        self.total = self.total.wrapping_add(self.weights[index].wrapping_mul(count));
    }
}

impl WeightedSum<'_> {
    /// The sum, interpolated by the phase.
    #[inline(always)]
    pub(crate) fn score(&self, phase: i32) -> Score {
        (opening(self.total) * phase + endgame(self.total) * (MAX_PHASE - phase))
            / (MAX_PHASE * WEIGHT_SCALE)
    }
}

impl Weights {
    #[inline(always)]
    pub(crate) fn sum(&self) -> WeightedSum<'_> {
        WeightedSum { weights: &self.0, total: 0 }
    }

    /// Creates weights from pairs of opening and endgame weight.
    pub fn from_pairs(pairs: &[(i32, i32)]) -> Weights {
        let clamp = |weight: i32| weight.clamp(-16_000, 16_000);
        Weights(
            pairs.iter().map(|&(opening, endgame)| pack(clamp(opening), clamp(endgame))).collect(),
        )
    }

    /// Pairs of opening and endgame weight.
    pub fn pairs(&self) -> Vec<(i32, i32)> {
        self.0.iter().map(|&word| (opening(word), endgame(word))).collect()
    }

    /// Parses a weights file: each line has a group's name and its weights, `opening,endgame` each,
    /// or `*N` for N pairs of zeros. Missing groups are zero. Lines that start with `#` are
    /// comments.
    pub fn parse(text: &str, layout: Layout) -> Result<Weights, WeightsError> {
        let total = layout.iter().map(|(_, len)| len).sum();
        let mut pairs = vec![(0, 0); total];
        for (number, line) in text.lines().enumerate() {
            let fail = |message: String| WeightsError { line: number + 1, message };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let name = words.next().unwrap_or_default();
            let mut first = 0;
            let group = layout.iter().find(|(group, len)| {
                let found = *group == name;
                first += if found { 0 } else { *len };
                found
            });
            let Some((_, len)) = group else {
                return Err(fail(format!("unknown group {name:?}")));
            };
            let mut index = 0;
            for word in words {
                if let Some(zeros) = word.strip_prefix('*') {
                    let zeros: usize = zeros
                        .parse()
                        .map_err(|_| fail(format!("invalid run of zeros {word:?}")))?;
                    index = zeros.saturating_add(index);
                    continue;
                }
                let pair = word.split_once(',');
                let pair = pair.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                let Some(pair) = pair else {
                    return Err(fail(format!(
                        "invalid pair of weights {word:?}, expected for example 12,-3"
                    )));
                };
                if index < *len {
                    pairs[first + index] = pair;
                }
                index += 1;
            }
            if index != *len {
                return Err(fail(format!(
                    "{name}: expected {len} pairs of weights, found {index}"
                )));
            }
        }
        Ok(Weights::from_pairs(&pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = &[("man", 1), ("square", 4)];

    #[test]
    fn groups_are_read_with_runs_of_zeros_and_comments() {
        let weights = Weights::parse("# n\nman 800,-900\nsquare *1 -3,4 *2\n", LAYOUT).unwrap();
        assert_eq!(weights.pairs(), [(800, -900), (0, 0), (-3, 4), (0, 0), (0, 0)]);
    }

    #[test]
    fn packed_sums_of_both_signs_are_exact() {
        let weights = Weights::from_pairs(&[(800, -900), (-7, 5)]);
        let mut sum = weights.sum();
        sum.add(0, 3);
        sum.add(1, -2);
        assert_eq!((opening(sum.total), endgame(sum.total)), (2414, -2710));
        assert_eq!(sum.score(MAX_PHASE), 2414 / WEIGHT_SCALE);
        assert_eq!(sum.score(0), -2710 / WEIGHT_SCALE);
    }

    #[test]
    fn syntax_errors_name_the_line() {
        let error = |text| Weights::parse(text, LAYOUT).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error("man 1,2\nking 1,2"), "line 2: unknown group \"king\"");
        assert_eq!(
            error("man 1"),
            "line 1: invalid pair of weights \"1\", expected for example 12,-3"
        );
        assert_eq!(error("square 1,2"), "line 1: square: expected 4 pairs of weights, found 1");
        assert_eq!(error("square *x"), "line 1: invalid run of zeros \"*x\"");
    }
}
