//! Maximum-likelihood Elo ratings of any number of players.
//!
//! The model is Davidson's: with the strengths `r`, the first-move advantage `a` and the draw
//! parameter `v`, the first player wins, draws and loses with probabilities proportional to
//! `exp(d / 2)`, `v` and `exp(-d / 2)`, where `d` is `r[first] - r[second] + a`. The logarithm of
//! the likelihood is concave, and Newton's method finds its maximum. A strength is then scaled so
//! that near zero an Elo difference has the expected score of the logistic curve, whatever the
//! draw rate. The error bars come from the inverse of the full information matrix.

use std::collections::BTreeMap;

use crate::pairs::{Z_95, normal_cdf};

/// Maximum number of players: the covariance matrix is dense.
pub const MAX_PLAYERS: usize = 1_000;

/// Number of a player, from 0.
pub type PlayerIndex = usize;

/// A result: the players, the first mover first, and the winning side (0 or 1).
pub type RatedGame = ([PlayerIndex; 2], Option<usize>);

/// An estimated number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimated {
    /// The estimate.
    pub value: f64,
    /// Half-width of its 95 % confidence interval.
    pub error: f64,
}

/// Zero of the scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Anchor {
    /// The average of all ratings is zero.
    Mean,
    /// A player has this rating.
    Player(PlayerIndex, f64),
}

/// Options of [`rate`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RatingOptions {
    /// Zero of the scale.
    pub anchor: Anchor,
    /// Number of virtual games of each player against an average one, each half won and half
    /// lost. `None` adds one such game if the games alone have no maximum-likelihood estimate.
    pub prior: Option<f64>,
}

impl Default for RatingOptions {
    fn default() -> RatingOptions {
        RatingOptions { anchor: Anchor::Mean, prior: None }
    }
}

/// Ratings of a set of players.
#[derive(Clone, PartialEq, Debug)]
pub struct Ratings {
    /// Rating of each player, in Elo.
    pub players: Vec<Estimated>,
    /// Advantage of moving first, in Elo.
    pub first_move: Estimated,
    /// Probability of a draw between equal players, 0 to 1.
    pub draw_rate: f64,
    /// Virtual games per player that were added.
    pub prior: f64,
    /// Strengths before scaling.
    strengths: Vec<f64>,
    /// Elo per unit of strength, and its derivative by the logarithm of the draw parameter.
    scale: [f64; 2],
    /// Covariance of the strengths, the first-move advantage and the draw parameter.
    covariance: Matrix,
}

/// Why there are no ratings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RatingError {
    /// Nothing to compute from.
    #[error("no finished games")]
    NoGames,
    /// More than [`MAX_PLAYERS`].
    #[error("{0} players; at most {MAX_PLAYERS} can be rated together")]
    TooManyPlayers(usize),
    /// The likelihood has no maximum.
    #[error(
        "the games have no maximum-likelihood estimate: some players only won, only lost or never \
         met the others; a prior of one game gives them finite ratings"
    )]
    Unbounded,
}

/// Rates the players 0 to `players - 1`.
pub fn rate(
    players: usize,
    games: impl IntoIterator<Item = RatedGame>,
    options: RatingOptions,
) -> Result<Ratings, RatingError> {
    if players > MAX_PLAYERS {
        return Err(RatingError::TooManyPlayers(players));
    }
    // Results of each ordered pair: won by the first mover, drawn, lost.
    let mut results: BTreeMap<[PlayerIndex; 2], [f64; 3]> = BTreeMap::new();
    for (pair, winner) in games {
        let result = winner.map_or(1, |winner| 2 * winner.min(1));
        results.entry(pair).or_default()[result] += 1.0;
    }
    let total = |result: usize| results.values().map(|counts| counts[result]).sum::<f64>();
    let (draws, decisive) = (total(1), total(0) + total(2));
    if draws + decisive == 0.0 {
        return Err(RatingError::NoGames);
    }
    let fit = |prior: f64| Model { players, results: &results, prior, draws, decisive }.fit();
    let (prior, (parameters, covariance)) = match options.prior {
        Some(prior) => (prior, fit(prior).ok_or(RatingError::Unbounded)?),
        None => match fit(0.0) {
            Some(estimate) => (0.0, estimate),
            None => (1.0, fit(1.0).ok_or(RatingError::Unbounded)?),
        },
    };
    let draw_odds = if draws == 0.0 { 0.0 } else { parameters[players + 1].exp() };
    let elo = 400.0 / std::f64::consts::LN_10;
    let equal_decisive = 2.0 / (2.0 + draw_odds);
    let slope = if draws == 0.0 { 0.0 } else { -equal_decisive * (1.0 - equal_decisive) };
    let mut ratings = Ratings {
        players: Vec::new(),
        first_move: Estimated { value: 0.0, error: 0.0 },
        draw_rate: 1.0 - equal_decisive,
        prior,
        strengths: parameters,
        scale: [elo * equal_decisive, elo * slope],
        covariance,
    };
    let mut weights = vec![0.0; players + 1];
    weights[players] = 1.0;
    ratings.first_move = ratings.combination(&weights);
    let offset = if let Anchor::Player(_, value) = options.anchor { value } else { 0.0 };
    for player in 0..players {
        let mut weights = match options.anchor {
            Anchor::Mean => vec![-1.0 / players as f64; players],
            Anchor::Player(anchor, _) => {
                (0..players).map(|other| if other == anchor { -1.0 } else { 0.0 }).collect()
            }
        };
        weights[player] += 1.0;
        let rating = ratings.combination(&weights);
        ratings.players.push(Estimated { value: rating.value + offset, ..rating });
    }
    Ok(ratings)
}

impl Ratings {
    /// Returns how much stronger a player is than another one, in Elo.
    pub fn difference(&self, player: PlayerIndex, other: PlayerIndex) -> Estimated {
        let mut weights = vec![0.0; self.players.len()];
        weights[player] += 1.0;
        weights[other] -= 1.0;
        self.combination(&weights)
    }

    /// Returns the likelihood of superiority: the probability that a player is stronger than
    /// another one.
    pub fn los(&self, player: PlayerIndex, other: PlayerIndex) -> f64 {
        let Estimated { value, error } = self.difference(player, other);
        if error > 0.0 { normal_cdf(value * Z_95 / error) } else { 0.5 }
    }

    /// Returns the points that a player is expected to score in a game against another one, 0 to
    /// 1. Over all games of a player these add up to its points, if there is no prior.
    pub fn expected_score(
        &self,
        player: PlayerIndex,
        other: PlayerIndex,
        moves_first: bool,
    ) -> f64 {
        let first_move = self.strengths[self.players.len()];
        let advantage = if moves_first { first_move } else { -first_move };
        let win = ((self.strengths[player] - self.strengths[other] + advantage) / 2.0).exp();
        let draw = 2.0 * self.draw_rate / (1.0 - self.draw_rate);
        (win + draw / 2.0) / (win + draw + 1.0 / win)
    }

    /// Returns the players from the strongest to the weakest.
    pub fn order(&self) -> Vec<PlayerIndex> {
        let mut order: Vec<_> = (0..self.players.len()).collect();
        order.sort_by(|&a, &b| self.players[b].value.total_cmp(&self.players[a].value));
        order
    }

    /// Returns a weighted sum of strengths in Elo, with its error by the delta method.
    fn combination(&self, weights: &[f64]) -> Estimated {
        let sum: f64 = weights.iter().zip(&self.strengths).map(|(w, s)| w * s).sum();
        let mut gradient: Vec<f64> = weights.iter().map(|weight| weight * self.scale[0]).collect();
        gradient.resize(self.strengths.len(), 0.0);
        if let Some(draws) = gradient.last_mut() {
            *draws = sum * self.scale[1];
        }
        let nonzero: Vec<_> = (0..gradient.len()).filter(|&i| gradient[i] != 0.0).collect();
        let row = |&i: &usize| {
            let terms = nonzero.iter().map(|&j| gradient[j] * self.covariance.get(i, j));
            gradient[i] * terms.sum::<f64>()
        };
        let variance: f64 = nonzero.iter().map(row).sum();
        Estimated { value: sum * self.scale[0], error: Z_95 * variance.max(0.0).sqrt() }
    }
}

/// The likelihood of all results. Parameters: strengths, first-move advantage, logarithm of the
/// draw parameter.
struct Model<'a> {
    players: usize,
    results: &'a BTreeMap<[PlayerIndex; 2], [f64; 3]>,
    prior: f64,
    draws: f64,
    decisive: f64,
}

/// Strength at which an estimate counts as infinite.
const MAX_STRENGTH: f64 = 40.0;
const MAX_ITERATIONS: usize = 200;

impl Model<'_> {
    /// Returns the parameters at the maximum and their covariance.
    fn fit(&self) -> Option<(Vec<f64>, Matrix)> {
        let size = self.players + 2;
        let mut parameters = vec![0.0; size];
        // Without decisive games the draw parameter would be infinite: count half a game.
        let ratio = self.draws / self.decisive.max(0.5);
        parameters[size - 1] = if self.draws == 0.0 { 0.0 } else { (2.0 * ratio).ln() };
        let mut value = self.value(&parameters);
        for _ in 0..MAX_ITERATIONS {
            let (gradient, information) = self.derivatives(&parameters);
            let factor = information.cholesky()?;
            let step = factor.solve(&gradient);
            if step.iter().all(|step| step.abs() < 1e-9) {
                return Some((parameters, factor.inverse()));
            }
            let mut fraction = 1.0;
            loop {
                let next: Vec<f64> =
                    parameters.iter().zip(&step).map(|(p, step)| p + fraction * step).collect();
                let next_value = self.value(&next);
                if next_value >= value - 1e-12 * value.abs() || fraction < 1e-6 {
                    (parameters, value) = (next, next_value);
                    break;
                }
                fraction /= 2.0;
            }
            if parameters[..=self.players].iter().any(|strength| strength.abs() > MAX_STRENGTH) {
                return None;
            }
        }
        None
    }

    /// Probabilities of win, draw and loss at a difference in strength.
    fn probabilities(&self, difference: f64, log_draw: f64) -> [f64; 3] {
        let win = (difference / 2.0).exp();
        let draw = if self.draws == 0.0 { 0.0 } else { log_draw.exp() };
        let sum = win + draw + 1.0 / win;
        [win / sum, draw / sum, 1.0 / win / sum]
    }

    /// The average strength is fixed by a penalty on the sum, which does not affect differences.
    fn value(&self, parameters: &[f64]) -> f64 {
        let (first_move, log_draw) = (parameters[self.players], parameters[self.players + 1]);
        let mut value = 0.0;
        for ([first, second], counts) in self.results {
            let difference = parameters[*first] - parameters[*second] + first_move;
            let probabilities = self.probabilities(difference, log_draw);
            let terms = counts.iter().zip(probabilities).filter(|(count, _)| **count > 0.0);
            value += terms.map(|(count, p)| count * p.ln()).sum::<f64>();
        }
        for strength in &parameters[..=self.players] {
            let win = 1.0 / (1.0 + (-strength).exp());
            value += self.prior / 2.0 * (win * (1.0 - win)).ln();
        }
        value - parameters[..self.players].iter().sum::<f64>().powi(2) / 2.0
    }

    /// Gradient of the log-likelihood, and its negative second derivatives.
    fn derivatives(&self, parameters: &[f64]) -> (Vec<f64>, Matrix) {
        let players = self.players;
        let (first_move, log_draw) = (parameters[players], parameters[players + 1]);
        let mut gradient = vec![0.0; players + 2];
        let mut information = Matrix::new(players + 2);
        let sum: f64 = parameters[..players].iter().sum();
        for (i, slope) in gradient[..players].iter_mut().enumerate() {
            *slope -= sum;
            (0..players).for_each(|j| information.add(i, j, 1.0));
        }
        for (i, strength) in parameters[..=players].iter().enumerate() {
            let win = 1.0 / (1.0 + (-strength).exp());
            gradient[i] += self.prior * (0.5 - win);
            information.add(i, i, self.prior * win * (1.0 - win));
        }
        if self.draws == 0.0 || self.decisive == 0.0 {
            // The draw parameter is not estimated.
            information.add(players + 1, players + 1, 1.0);
        }
        let has_draw_term = self.draws > 0.0 && self.decisive > 0.0;
        for ([first, second], counts) in self.results {
            let games: f64 = counts.iter().sum();
            let difference = parameters[*first] - parameters[*second] + first_move;
            let [win, draw, loss] = self.probabilities(difference, log_draw);
            let mean = (win - loss) / 2.0;
            let slope = (counts[0] - counts[2]) / 2.0 - games * mean;
            let variance = games * ((win + loss) / 4.0 - mean * mean);
            let signs = [(*first, 1.0), (*second, -1.0), (players, 1.0)];
            for (i, sign) in signs {
                gradient[i] += sign * slope;
                signs.iter().for_each(|(j, other)| information.add(i, *j, sign * other * variance));
            }
            if has_draw_term {
                gradient[players + 1] += counts[1] - games * draw;
                information.add(players + 1, players + 1, games * draw * (1.0 - draw));
                for (i, sign) in signs {
                    let covariance = -sign * games * draw * mean;
                    information.add(i, players + 1, covariance);
                    information.add(players + 1, i, covariance);
                }
            }
        }
        (gradient, information)
    }
}

/// A square matrix.
#[derive(Clone, PartialEq, Debug)]
struct Matrix {
    size: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn new(size: usize) -> Matrix {
        Matrix { size, entries: vec![0.0; size * size] }
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
    }

    /// Returns the lower Cholesky factor; `None` if the matrix is not clearly positive definite.
    fn cholesky(&self) -> Option<Matrix> {
        let mut factor = Matrix::new(self.size);
        for i in 0..self.size {
            for j in 0..=i {
                let products = factor.row(i)[..j].iter().zip(&factor.row(j)[..j]);
                let rest = self.get(i, j) - products.map(|(a, b)| a * b).sum::<f64>();
                let entry = if i > j {
                    rest / factor.get(j, j)
                } else if rest > 1e-10 * self.get(i, i) && rest > 1e-14 {
                    rest.sqrt()
                } else {
                    return None;
                };
                factor.entries[i * self.size + j] = entry;
            }
        }
        Some(factor)
    }

    /// Solves `A x = b` for a Cholesky factor of `A`.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for i in 0..self.size {
            let known: f64 = self.row(i)[..i].iter().zip(&x).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - known) / self.get(i, i);
        }
        for i in (0..self.size).rev() {
            x[i] /= self.get(i, i);
            let value = x[i];
            x.iter_mut().zip(&self.row(i)[..i]).for_each(|(x, entry)| *x -= entry * value);
        }
        x
    }

    /// Returns the inverse of `A` for a Cholesky factor of `A`.
    fn inverse(&self) -> Matrix {
        let column = |i: usize| {
            let mut unit = vec![0.0; self.size];
            unit[i] = 1.0;
            self.solve(&unit)
        };
        Matrix { size: self.size, entries: (0..self.size).flat_map(column).collect() }
    }
}
