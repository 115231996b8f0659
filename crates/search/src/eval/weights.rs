//! Evaluations as weighted sums, and the files that hold the weights.
//!
//! Each feature has two weights, one for the beginning of a game and one for its end; a position's
//! phase says how they mix. Both stand in one word, so that one addition adds both (an old trick of
//! chess programs). A feature's weight is kept in eighths of the points that scores are counted in.
//!
//! The same code that judges a position lists its features to the tuner: it hands each feature to a
//! [`Sink`], which adds up weights or takes notes.

use std::fmt::Write;

use crate::Score;

/// The features of an evaluation: groups with a name and a number of weights.
pub type Layout = &'static [(&'static str, usize)];

/// The weights in a score's unit.
pub const WEIGHT_SCALE: i32 = 8;
/// The phase at the beginning of a game; at the end it is 0.
pub const MAX_PHASE: i32 = 32;

/// Takes the features of a position one by one.
pub trait FeatureSink {
    /// The feature `index` occurs `count` times (less than none: it speaks for the opponent).
    fn add(&mut self, index: usize, count: i32);
}

/// A pair of weights in one word.
#[inline(always)]
const fn pack(early: i32, late: i32) -> i32 {
    (late << 16).wrapping_add(early)
}

#[inline(always)]
const fn opening(word: i32) -> i32 {
    word as i16 as i32
}

#[inline(always)]
const fn endgame(word: i32) -> i32 {
    word.wrapping_add(0x8000) >> 16
}

/// The weights of an evaluation.
#[derive(Clone)]
pub struct Weights(Box<[i32]>);

/// A weights file that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct WeightsError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Adds up the weights of the features it is given.
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
    /// The sum, mixed for a phase.
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

    /// From pairs of weights for the beginning and the end of a game.
    pub fn from_pairs(pairs: &[(i32, i32)]) -> Weights {
        let clamp = |weight: i32| weight.clamp(-16_000, 16_000);
        Weights(pairs.iter().map(|&(early, late)| pack(clamp(early), clamp(late))).collect())
    }

    /// The pairs of weights for the beginning and the end of a game.
    pub fn pairs(&self) -> Vec<(i32, i32)> {
        self.0.iter().map(|&word| (opening(word), endgame(word))).collect()
    }

    /// Reads a weights file: lines of a group's name and its weights, `early,late` each, or `*N` for
    /// N pairs of zeros. Groups that are not in the file are zero; lines that begin with `#` tell
    /// people how it was made.
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
                return Err(fail(format!("there is no group of weights {name:?}")));
            };
            let mut place = 0;
            for word in words {
                if let Some(zeros) = word.strip_prefix('*') {
                    let zeros: usize =
                        zeros.parse().map_err(|_| fail(format!("{word:?} is no run of zeros")))?;
                    place = zeros.saturating_add(place);
                    continue;
                }
                let pair = word.split_once(',');
                let pair = pair.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                let Some(pair) = pair else {
                    return Err(fail(format!("{word:?} is no pair of weights such as 12,-3")));
                };
                if place < *len {
                    pairs[first + place] = pair;
                }
                place += 1;
            }
            if place != *len {
                return Err(fail(format!("{name} has {len} pairs of weights, not {place}")));
            }
        }
        Ok(Weights::from_pairs(&pairs))
    }

    /// The lines of a weights file, without comments.
    pub fn format(&self, layout: Layout) -> String {
        let pairs = self.pairs();
        let mut rest = pairs.as_slice();
        let mut text = String::new();
        for (name, len) in layout {
            let (group, after) = rest.split_at((*len).min(rest.len()));
            rest = after;
            text.push_str(name);
            let mut zeros = 0;
            for &(early, late) in group {
                if (early, late) == (0, 0) {
                    zeros += 1;
                    continue;
                }
                format_zeros(&mut text, &mut zeros);
                let _ = write!(text, " {early},{late}"); // a String takes everything
            }
            format_zeros(&mut text, &mut zeros);
            text.push('\n');
        }
        text
    }
}

fn format_zeros(text: &mut String, zeros: &mut usize) {
    if *zeros > 0 {
        let _ = write!(text, " *{zeros}"); // a String takes everything
    }
    *zeros = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = &[("man", 1), ("square", 4)];

    #[test]
    fn what_is_written_is_read_back() {
        let weights = Weights::from_pairs(&[(800, -900), (0, 0), (-3, 4), (0, 0), (0, 0)]);
        let text = weights.format(LAYOUT);
        assert_eq!(text, "man 800,-900\nsquare *1 -3,4 *2\n");
        assert_eq!(Weights::parse(&text, LAYOUT).unwrap().pairs(), weights.pairs());
    }

    #[test]
    fn sums_of_either_sign_come_apart_again() {
        let weights = Weights::from_pairs(&[(800, -900), (-7, 5)]);
        let mut sum = weights.sum();
        sum.add(0, 3);
        sum.add(1, -2);
        assert_eq!((opening(sum.total), endgame(sum.total)), (2414, -2710));
        assert_eq!(sum.score(MAX_PHASE), 2414 / WEIGHT_SCALE);
        assert_eq!(sum.score(0), -2710 / WEIGHT_SCALE);
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let refused = |text| Weights::parse(text, LAYOUT).map(|_| ()).unwrap_err().to_string();
        assert_eq!(refused("man 1,2\nking 1,2"), "line 2: there is no group of weights \"king\"");
        assert_eq!(refused("man 1"), "line 1: \"1\" is no pair of weights such as 12,-3");
        assert_eq!(refused("square 1,2"), "line 1: square has 4 pairs of weights, not 1");
        assert_eq!(refused("square *x"), "line 1: \"*x\" is no run of zeros");
    }
}
