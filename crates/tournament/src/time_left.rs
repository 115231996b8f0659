//! How long the missing games of a tournament will take.

use std::time::Duration;

use crate::journal::{Snapshot, now};

/// Number of recent games that the time estimate is based on.
const RECENT_GAMES: usize = 200;
/// Maximum time of a game in that estimate, in milliseconds: a year.
const MAX_GAME_TIME: i64 = 365 * 86_400_000;

/// Estimates how long the missing games will take, if their number is known. Games count as running
/// only if the tournament is running.
pub fn time_left(snapshot: &Snapshot, is_running: bool) -> Option<Duration> {
    let mut times: Vec<_> =
        snapshot.finished().map(|(_, summary)| (summary.finished, summary.milliseconds)).collect();
    times.sort_unstable();
    let missing = snapshot.planned()?.saturating_sub(times.len() as u64);
    let recent = times.iter().rev().take(RECENT_GAMES).map(|(_, milliseconds)| *milliseconds);
    let now = now();
    let running = snapshot.games.iter().filter(|game| game.summary.is_none() && is_running);
    let ages: Vec<_> = running.filter_map(|game| Some(now.saturating_sub(game.started?))).collect();
    let left = estimate(recent.collect(), &ages, missing, snapshot.settings.concurrency)?;
    Some(Duration::from_millis(left))
}

/// Estimates the time for the missing games from the times of finished games and the ages of the
/// running ones, all in milliseconds. A game that takes longer than the average is expected to take
/// as long again.
fn estimate(mut times: Vec<i64>, ages: &[i64], missing: u64, concurrency: usize) -> Option<u64> {
    let concurrency = concurrency.max(1);
    // If the system clock is set, all games that run at that moment may look absurdly long. Their
    // number is at most `concurrency`, so times are capped at ten times the longest of the others.
    times.sort_unstable();
    let next = times.len().checked_sub(1)?.saturating_sub(concurrency);
    let limit = 10 * times[next].clamp(1, MAX_GAME_TIME);
    let mut samples: Vec<_> = times.iter().map(|time| (*time).clamp(0, limit) as u64).collect();
    let average = |samples: &[u64]| samples.iter().sum::<u64>() / samples.len().max(1) as u64;
    let finished = average(&samples);
    let ages: Vec<_> = ages.iter().map(|age| (*age).clamp(0, MAX_GAME_TIME) as u64).collect();
    let running: Vec<_> =
        ages.iter().map(|&age| if age < finished { finished - age } else { age }).collect();
    samples.extend(ages.iter().filter(|age| **age > finished));
    let waiting = missing.saturating_sub(running.len() as u64);
    let work = average(&samples).saturating_mul(waiting).saturating_add(running.iter().sum());
    Some((work / concurrency as u64).max(running.into_iter().max().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_counts_games_that_have_been_running_for_long() {
        let fast = || vec![50; 20];
        assert_eq!(estimate(vec![], &[1000], 5, 1), None);
        assert_eq!(estimate(fast(), &[], 10, 2), Some(250));
        assert_eq!(estimate(fast(), &[20, 20], 10, 2), Some(230));
        // The last game, a slow one: the other of the two cores is idle.
        assert_eq!(estimate(fast(), &[30_000], 1, 2), Some(30_000));
        let left = estimate(fast(), &[30_000, 30_000], 10, 2).unwrap();
        assert!((30_000..60_000).contains(&left), "{left}");
    }

    #[test]
    fn estimate_counts_slow_games_in_full() {
        let times: Vec<_> = (0..30).map(|game| if game % 3 == 0 { 40_000 } else { 50 }).collect();
        assert_eq!(estimate(times, &[], 30, 1), Some(400_980));
    }

    #[test]
    fn estimate_does_not_depend_on_a_clock_that_was_set() {
        let (mut forward, mut back) = (vec![1000; 50], vec![1000; 50]);
        (forward[7], forward[8], back[3]) = (i64::MAX, 10 * MAX_GAME_TIME, i64::MIN);
        assert!(estimate(forward, &[], 10, 2).unwrap() < 10_000);
        assert!(estimate(back, &[-5], 10, 2).unwrap() <= 6000);
        assert_eq!(estimate(vec![0], &[], 0, 1), Some(0));
    }
}
