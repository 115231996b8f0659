//! The jobs that a coordinator waits for.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use crownhead_tournament::FinishedGame;

use crate::work::{Done, Work};

/// A job that has been published.
pub(crate) struct Outstanding {
    /// What to do.
    pub(crate) work: Work,
    /// When to publish it, for the first time or again; `None` while it is in the queue.
    pub(crate) publish_at: Option<Instant>,
    /// Time at which it was published.
    pub(crate) published: Instant,
    /// How often in a row it was missing from the queue.
    pub(crate) missing: u32,
    /// How often workers gave it back.
    pub(crate) returns: u32,
    /// How often workers gave it back because they were starved.
    pub(crate) starved: u32,
    /// The workers that could not play its games.
    pub(crate) failed_on: HashSet<String>,
    /// Whether it is on the dead-letter list.
    pub(crate) is_dead: bool,
    /// The first result, while another worker does the same to check it.
    pub(crate) to_check: Option<FirstResult>,
}

/// The result of a job that is being checked.
pub(crate) struct FirstResult {
    pub(crate) worker: String,
    pub(crate) done: Done,
}

impl Outstanding {
    pub(crate) fn new(work: Work) -> Outstanding {
        let now = Instant::now();
        Outstanding {
            work,
            publish_at: Some(now),
            published: now,
            missing: 0,
            returns: 0,
            starved: 0,
            failed_on: HashSet::new(),
            is_dead: false,
            to_check: None,
        }
    }

    /// Numbers of the games.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.work.numbers()
    }

    /// Name of the job in its subject.
    pub(crate) fn name(&self) -> String {
        job_name(&self.numbers(), self.to_check.is_some())
    }
}

/// The jobs by the number of their first game.
pub(crate) type Jobs = HashMap<i64, Outstanding>;

/// Returns the name of a job in its subject.
pub(crate) fn job_name(games: &[i64], is_check: bool) -> String {
    let first = games.first().copied().unwrap_or_default();
    let suffix = if is_check { "-check" } else { "" };
    format!("{first}-{}{suffix}", games.len())
}

/// Returns the name of a job as workers report it.
pub(crate) fn reported_name(run: &str, games: &[i64], is_check: bool) -> String {
    format!("{run}.{}", job_name(games, is_check))
}

/// Returns whether two results of the same work are the same.
pub(crate) fn agree(first: &Done, second: &Done) -> bool {
    let essence = |game: &FinishedGame| {
        (game.moves.clone(), game.summary.winner, game.summary.reason.clone())
    };
    match (first, second) {
        (Done::Games(first), Done::Games(second)) => {
            first.iter().map(essence).eq(second.iter().map(essence))
        }
        _ => first == second,
    }
}
