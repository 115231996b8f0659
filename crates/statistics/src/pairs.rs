//! Score, Elo difference and error bars from game pairs.
//!
//! Both games of a pair start from the same opening, so their results are correlated if it favours
//! one side. The error bars are therefore computed from the scores of pairs (0, ½, 1, 1½ or 2
//! points), not from single games.

/// Wins, draws and losses of a player.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Wdl {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// Result of a game for one player. As a number: half points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GamePoints {
    /// No points.
    Loss,
    /// Half a point.
    Draw,
    /// One point.
    Win,
}

impl Wdl {
    /// Adds a game.
    pub fn add(&mut self, points: GamePoints) {
        match points {
            GamePoints::Loss => self.losses += 1,
            GamePoints::Draw => self.draws += 1,
            GamePoints::Win => self.wins += 1,
        }
    }

    /// Returns the number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Returns the points per game, 0 to 1; `None` without games.
    pub fn score(&self) -> Option<f64> {
        let points = f64::from(self.wins) + f64::from(self.draws) / 2.0;
        (self.games() > 0).then(|| points / f64::from(self.games()))
    }
}

/// Number of game pairs with 0, ½, 1, 1½ and 2 points.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pentanomial(pub [u32; 5]);

/// Estimated strength of the first player relative to the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Points per game, 0 to 1.
    pub score: f64,
    /// Half-width of the 95 % confidence interval of the score.
    pub error: f64,
    /// Elo difference; infinite if all games were won or lost.
    pub elo: f64,
    /// Half-width of the confidence interval in Elo; infinite if the interval is unbounded.
    pub elo_error: f64,
    /// Likelihood of superiority (LOS) of the first player, 0 to 1. It is capped at the value for
    /// the same number of pairs, all of them won.
    pub los: f64,
}

/// Standard deviations of the two-sided 95 % interval of a normal distribution.
pub(crate) const Z_95: f64 = 1.959_964;

impl Pentanomial {
    /// Adds a pair.
    pub fn add(&mut self, games: [GamePoints; 2]) {
        self.0[games.map(|points| points as usize).iter().sum::<usize>()] += 1;
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Estimates the difference in strength; `None` without pairs.
    pub fn estimate(&self) -> Option<Estimate> {
        let count = f64::from(self.count());
        if count == 0.0 {
            return None;
        }
        let scores = || (0..5).map(|points| f64::from(points) / 4.0).zip(self.0.map(f64::from));
        let score = scores().map(|(score, n)| score * n).sum::<f64>() / count;
        let variance = scores().map(|(s, n)| (s - score).powi(2) * n).sum::<f64>() / count;
        let standard_error = (variance / count).sqrt();
        let (error, los) = if standard_error > 0.0 {
            (Z_95 * standard_error, normal_cdf((score - 0.5) / standard_error))
        } else {
            // Identical pairs have no variance. By the rule of three, an event that did not occur
            // in n trials has a probability of at most 3/n, with 95 % confidence.
            let los = score.partial_cmp(&0.5).map_or(0.5, |order| (order as i8 as f64 + 1.0) / 2.0);
            ((3.0 / count).min(1.0), los)
        };
        // After n won pairs, with all probabilities of winning a pair equally likely before, the
        // first player is stronger with probability 1 - 2^-(n+1). No other result shows more.
        let floor = (-count - 1.0).exp2();
        let los = los.clamp(floor, 1.0 - floor);
        let interval = elo(score + error) - elo(score - error);
        let elo_error = if interval.is_finite() { interval / 2.0 } else { f64::INFINITY };
        Some(Estimate { score, error, elo: elo(score), elo_error, los })
    }
}

/// Returns the Elo difference at which a score is expected.
pub fn elo(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        400.0 * (score / (1.0 - score)).log10()
    }
}

/// Cumulative distribution function of the standard normal distribution, accurate to seven digits.
///
/// Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.2.17.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let powers = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let tail = powers.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = tail * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x >= 0.0 { 1.0 - tail } else { tail }
}
