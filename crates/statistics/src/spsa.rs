//! SPSA (simultaneous perturbation stochastic approximation): finds better values of parameters
//! from the results of games.
//!
//! A [`Trial`] moves all values at once, each up or down at random. One player has the moved
//! values, its opponent those moved the other way. After the games all values go a little toward
//! the winner's. The steps become smaller from iteration to iteration, with the exponents that
//! Spall recommends.

/// A parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpsaParam {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Change of the value in a trial of the last iteration ("c end").
    pub step: f64,
}

/// Values being tuned.
#[derive(Clone, PartialEq, Debug)]
pub struct Spsa {
    /// The parameters.
    pub params: Vec<SpsaParam>,
    /// Number of iterations.
    pub iterations: u32,
    /// Fraction of a step that a value moves per game of difference, in the last iteration
    /// ("r end").
    pub rate: f64,
    /// Number of finished iterations.
    pub iteration: u32,
    /// Value of each parameter, between its limits.
    pub values: Vec<f64>,
}

/// Values of two opponents, as whole numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// Direction of each parameter: 1 if the first player has the larger value, or -1.
    signs: Vec<i8>,
    /// Values of both players.
    pub values: [Vec<i64>; 2],
}

/// Exponents of the schedules of the movement and of the step.
const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;
/// Fraction of the iterations by which the schedule of the movement is shifted, so that the first
/// iterations do not move the values too far.
const STABILITY: f64 = 0.1;

impl Spsa {
    /// Factor of the steps in the next iteration; 1 in the last.
    fn step_factor(&self) -> f64 {
        (f64::from(self.iterations.max(1)) / f64::from(self.iteration + 1)).powf(GAMMA)
    }

    /// Factor of the movement in the next iteration; 1 in the last.
    fn movement_factor(&self) -> f64 {
        let iterations = f64::from(self.iterations.max(1));
        let shift = STABILITY * iterations;
        ((shift + iterations) / (shift + f64::from(self.iteration + 1))).powf(ALPHA)
    }

    /// Returns the values of two opponents in the next iteration. `random` returns numbers from 0
    /// to 1. Values are rounded up or down at random, so that even a step of less than 1 counts.
    pub fn trial(&self, mut random: impl FnMut() -> f64) -> Trial {
        let factor = self.step_factor();
        let mut trial = Trial { signs: Vec::new(), values: [Vec::new(), Vec::new()] };
        for (param, value) in self.params.iter().zip(&self.values) {
            let sign = if random() < 0.5 { 1 } else { -1 };
            // The same for both, so that their difference depends on the step alone.
            let rounding = random();
            trial.signs.push(sign);
            for (values, sign) in trial.values.iter_mut().zip([sign, -sign]) {
                let moved = value + f64::from(sign) * factor * param.step;
                values.push((moved + rounding).floor().clamp(param.min, param.max) as i64);
            }
        }
        trial
    }

    /// Ends an iteration with the results of its trials: the games that the first player won, minus
    /// those that it lost.
    pub fn update<'a>(&mut self, results: impl IntoIterator<Item = (&'a Trial, i32)>) {
        let factor = self.rate * self.movement_factor() / self.step_factor();
        for (trial, difference) in results {
            let all = self.values.iter_mut().zip(&self.params).zip(&trial.signs);
            for ((value, param), sign) in all {
                let movement = factor * param.step * f64::from(difference) * f64::from(*sign);
                *value = (*value + movement).clamp(param.min, param.max);
            }
        }
        self.iteration += 1;
    }
}
