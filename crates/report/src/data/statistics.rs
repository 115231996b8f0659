//! Progress, colours, openings and game lengths.

use std::collections::BTreeMap;

use crownhead_tournament::Schedule;
use crownhead_tournament::journal::Snapshot;
use crownhead_tournament::standings::Standings;
use serde::Serialize;

use super::GameEntry;

/// Points after each round.
#[derive(Debug, Serialize)]
pub struct Progress {
    /// Titles of the rounds.
    pub rounds: Vec<String>,
    /// Players in the order of the standings.
    pub lines: Vec<ProgressLine>,
}

/// Points of a player after each round.
#[derive(Debug, Serialize)]
pub struct ProgressLine {
    /// The player.
    pub player: usize,
    /// Points after each round.
    pub points: Vec<i64>,
}

/// Results of games, by side.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ResultCounts {
    /// Won by the side that moves first.
    pub first: u32,
    /// Drawn.
    pub draws: u32,
    /// Won by the other side.
    pub second: u32,
}

/// Results of the games with one opening.
#[derive(Debug, Serialize)]
pub struct OpeningScore {
    /// Moves or position of the opening.
    pub opening: String,
    /// Results.
    pub results: ResultCounts,
}

/// Number of games of some length.
#[derive(Debug, Serialize)]
pub struct LengthBin {
    /// Minimum number of plies, opening included.
    pub from: usize,
    /// Maximum number of plies.
    pub to: usize,
    /// Number of games.
    pub games: usize,
}

impl ResultCounts {
    /// Counts the results of games.
    pub(super) fn count<'a>(games: impl IntoIterator<Item = &'a GameEntry>) -> ResultCounts {
        let mut counts = ResultCounts::default();
        for game in games {
            match game.winner() {
                None => counts.draws += 1,
                Some(0) => counts.first += 1,
                Some(_) => counts.second += 1,
            }
        }
        counts
    }

    /// Number of games.
    pub fn games(&self) -> u32 {
        self.first + self.draws + self.second
    }

    /// Points per game of the side that moves first, 0 to 1.
    pub fn score(&self) -> f64 {
        let points = f64::from(self.first) + f64::from(self.draws) / 2.0;
        points / f64::from(self.games().max(1))
    }
}

/// Returns the points after each round; `None` before the first game.
pub(super) fn progress(snapshot: &Snapshot, standings: &Standings) -> Option<Progress> {
    let settings = &snapshot.settings;
    let is_swiss = matches!(settings.schedule, Schedule::Swiss { .. });
    let mut gained = vec![vec![0i64; snapshot.rounds.len()]; snapshot.players.len()];
    let mut last_round = None;
    for (game, summary) in snapshot.finished() {
        let Some(round) = (game.round as usize).checked_sub(1) else { continue };
        last_round = last_round.max(Some(round));
        for (side, &player) in game.players.iter().enumerate() {
            let points = match summary.winner {
                None => settings.points.draw,
                Some(winner) if winner == side => settings.points.win,
                Some(_) => settings.points.loss,
            };
            if let Some(gained) = gained[player].get_mut(round) {
                *gained += points;
            }
        }
    }
    let rounds = last_round? + 1;
    for &(round, player) in snapshot.byes.iter().filter(|_| is_swiss) {
        let index = (round as usize).checked_sub(1);
        if let Some(gained) = index.and_then(|round| gained[player].get_mut(round)) {
            *gained += settings.points.bye * i64::from(settings.games);
        }
    }
    let line = |player: usize| {
        let mut total = 0;
        let add = |points: &i64| {
            total += points;
            total
        };
        ProgressLine { player, points: gained[player].iter().take(rounds).map(add).collect() }
    };
    Some(Progress {
        rounds: snapshot.rounds.iter().take(rounds).cloned().collect(),
        lines: standings.rows.iter().map(|row| line(row.player)).collect(),
    })
}

/// Returns the results by opening, the most frequent first.
pub(super) fn openings(games: &[GameEntry]) -> Vec<OpeningScore> {
    let mut by_opening: BTreeMap<&str, Vec<&GameEntry>> = BTreeMap::new();
    for game in games {
        by_opening.entry(&game.opening_text).or_default().push(game);
    }
    let mut openings: Vec<_> = by_opening
        .into_iter()
        .map(|(opening, games)| OpeningScore {
            opening: opening.into(),
            results: ResultCounts::count(games),
        })
        .collect();
    openings.sort_by_key(|opening| std::cmp::Reverse(opening.results.games()));
    openings
}

/// Maximum number of bars of the histogram of lengths.
const MAX_BINS: usize = 16;

/// Returns the histogram of game lengths.
pub(super) fn lengths(games: &[GameEntry]) -> Vec<LengthBin> {
    let lengths: Vec<usize> = games.iter().map(|game| game.opening + game.plies).collect();
    let (Some(&min), Some(&max)) = (lengths.iter().min(), lengths.iter().max()) else {
        return Vec::new();
    };
    let widths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
    let fits = |width: &&usize| max / **width - min / **width < MAX_BINS;
    let width = widths.iter().find(fits).copied().unwrap_or(max + 1);
    let bin = |index: usize| LengthBin {
        from: index * width,
        to: (index + 1) * width - 1,
        games: lengths.iter().filter(|&&length| length / width == index).count(),
    };
    (min / width..=max / width).map(bin).collect()
}

/// Returns the number of games by reason for their end, the most frequent first.
pub(super) fn endings(games: &[GameEntry]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for game in games {
        *counts.entry(&game.reason).or_default() += 1;
    }
    let mut endings: Vec<_> =
        counts.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect();
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    endings
}
