//! How much CPU time a program may use.

use std::time::Duration;

use crate::Limits;

/// CPU time per core and second of a turn. A runtime that compiles and collects garbage on threads
/// of its own needs more than 1.
pub(crate) const CPU_ALLOWANCE: f64 = 1.25;

/// Tolerance for the kernel's clock ticks.
const ROUNDING: Duration = Duration::from_millis(20);

/// CPU time that a program may still use. Its turns add to it, up to [`Limits::cpu_slack`]: a
/// program that sleeps through its turns saves nothing up for those of its opponent.
#[derive(Default)]
pub(crate) struct CpuBudget {
    /// Seconds that are left; `None` before the first update.
    left: Option<f64>,
    used: Duration,
    turns: Duration,
}

impl CpuBudget {
    /// Seconds that are left.
    pub(crate) fn left(&self) -> f64 {
        self.left.unwrap_or(f64::INFINITY)
    }

    /// Takes the CPU time and the duration of all turns so far into account. Returns whether the
    /// program used more than it may.
    pub(crate) fn update(&mut self, used: Duration, turns: Duration, limits: &Limits) -> bool {
        let max = limits.cpu_slack.saturating_add(ROUNDING).as_secs_f64();
        let earned = turns.saturating_sub(self.turns).as_secs_f64();
        let spent = used.saturating_sub(self.used).as_secs_f64();
        let earned = earned * f64::from(limits.cores) * CPU_ALLOWANCE;
        let left = self.left.unwrap_or(max) + earned - spent;
        (self.used, self.turns) = (used, turns);
        self.left = Some(left.min(max));
        left < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_that_slept_through_its_turns_has_saved_nothing_up() {
        let limits: Limits = "cores=1,cpu-slack=1s".parse().unwrap();
        let secs = Duration::from_secs;
        let mut budget = CpuBudget::default();
        assert!(!budget.update(secs(0), secs(60), &limits), "it sleeps for a minute of its turns");
        assert!(!budget.update(secs(1), secs(60), &limits), "then uses its slack");
        assert!(budget.update(secs(2), secs(60), &limits), "and no more than that");
    }

    #[test]
    fn program_may_use_all_of_its_own_turns() {
        let limits: Limits = "cores=2,cpu-slack=1ms".parse().unwrap();
        let mut budget = CpuBudget::default();
        for turn in 1..100 {
            let turns = Duration::from_secs(turn);
            assert!(!budget.update(turns * 2, turns, &limits), "turn {turn}");
        }
        assert!(budget.update(Duration::from_secs(203), Duration::from_secs(100), &limits));
    }
}
