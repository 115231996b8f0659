//! What the results of games say about the strength of two players.
//!
//! Games are played in pairs, both colours from each opening. An opening that favours one side
//! makes the two results of a pair depend on each other, so the error bars are computed from the
//! scores of pairs (0, ½, 1, 1½ or 2 of 2 points), not from single games.

/// Wins, draws and losses of one player.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Wdl {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// How one game ended for a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GamePoints {
    /// Nothing.
    Loss,
    /// Half a point.
    Draw,
    /// A point.
    Win,
}

impl Wdl {
    /// Counts a game.
    pub fn add(&mut self, points: GamePoints) {
        match points {
            GamePoints::Loss => self.losses += 1,
            GamePoints::Draw => self.draws += 1,
            GamePoints::Win => self.wins += 1,
        }
    }

    /// How many games there were.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points per game, from 0 to 1; none without a game.
    pub fn score(&self) -> Option<f64> {
        let points = f64::from(self.wins) + f64::from(self.draws) / 2.0;
        (self.games() > 0).then(|| points / f64::from(self.games()))
    }
}

/// How many pairs of games brought 0, ½, 1, 1½ and 2 points.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pentanomial(pub [u32; 5]);

/// What the pairs say, for the first of the two players.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Points per game, from 0 to 1.
    pub score: f64,
    /// The score lies within so much of it, with a probability of 95 %.
    pub error: f64,
    /// The difference of strength in Elo points; infinite when all games had the same winner.
    pub elo: f64,
    /// Half the width of the range of Elo points that belongs to the range of scores; infinite if
    /// the range has no end.
    pub elo_error: f64,
    /// How likely it is that the first player is the stronger one.
    pub los: f64,
}

/// So many standard deviations to both sides hold 95 % of a normal distribution.
const Z_95: f64 = 1.959_964;

impl Pentanomial {
    /// Counts a pair.
    pub fn add(&mut self, games: [GamePoints; 2]) {
        self.0[games.map(|points| points as usize).iter().sum::<usize>()] += 1;
    }

    /// How many pairs there were.
    pub fn count(&self) -> u32 {
        self.0.iter().sum()
    }

    /// What they say; nothing without a pair.
    pub fn estimate(&self) -> Option<Estimate> {
        let count = f64::from(self.count());
        if count == 0.0 {
            return None;
        }
        let each = || self.0.iter().enumerate().map(|(half, &n)| (half as f64 / 4.0, f64::from(n)));
        let score = each().map(|(score, n)| score * n).sum::<f64>() / count;
        let spread = each().map(|(at, n)| (at - score).powi(2) * n).sum::<f64>() / count;
        let deviation = (spread / count).sqrt();
        let (error, superiority) = if deviation > 0.0 {
            (Z_95 * deviation, normal((score - 0.5) / deviation))
        } else {
            // Pairs that are all alike show no spread. What was never seen in n pairs is still as
            // likely as 3/n (with 95 %).
            (
                (3.0 / count).min(1.0),
                score.partial_cmp(&0.5).map_or(0.5, |order| (order as i8 as f64 + 1.0) / 2.0),
            )
        };
        let range = elo(score + error) - elo(score - error);
        let elo_error = if range.is_finite() { range / 2.0 } else { f64::INFINITY };
        Some(Estimate { score, error, elo: elo(score), elo_error, los: superiority })
    }
}

/// The difference in Elo points that makes a score expected.
pub fn elo(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        400.0 * (score / (1.0 - score)).log10()
    }
}

/// The probability that a normally distributed number is below `x` standard deviations.
///
/// Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.2.17: exact to seven digits.
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let powers = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let tail = powers.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = tail * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x >= 0.0 { 1.0 - tail } else { tail }
}
