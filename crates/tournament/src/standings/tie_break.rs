//! Tie-breaks between players with equal points.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crownhead_statistics::GamePoints;

use super::{GameResults, StandingsRow};
use crate::schedule::PlayerIndex;

/// A tie-break.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// Games won; byes do not count.
    Wins,
    /// Scores of the games themselves minus those of the opponents; forfeited games do not count.
    ScoreDifferential,
    /// Games won minus games lost within the tied group, if all of them have played each other
    /// equally often. Applied again to the players it leaves tied.
    DirectEncounter,
    /// Points of beaten opponents plus half the points of drawn ones, per game.
    SonnebornBerger,
    /// Points of all opponents, per game; a bye counts as an opponent with the player's own points.
    Buchholz,
}

/// Value of a tie-break, in half points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TieBreakValue {
    halves: i64,
}

impl TieBreakValue {
    fn whole(number: i64) -> TieBreakValue {
        TieBreakValue { halves: 2 * number }
    }

    /// Returns the value as a number.
    pub fn to_f64(self) -> f64 {
        self.halves as f64 / 2.0
    }
}

impl fmt::Display for TieBreakValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.halves < 0 { "-" } else { "" };
        let (whole, half) = (self.halves.abs() / 2, self.halves.abs() % 2);
        write!(f, "{sign}{whole}{}", if half == 1 { ".5" } else { "" })
    }
}

/// Results of a player by opponent.
type ResultsByOpponent = BTreeMap<PlayerIndex, GameResults>;

impl TieBreak {
    /// All tie-breaks.
    pub const ALL: [TieBreak; 5] = [
        TieBreak::Wins,
        TieBreak::ScoreDifferential,
        TieBreak::DirectEncounter,
        TieBreak::SonnebornBerger,
        TieBreak::Buchholz,
    ];

    /// Tie-breaks used by default, in order. The first two are those of the course assignment.
    pub const DEFAULT: [TieBreak; 3] =
        [TieBreak::Wins, TieBreak::ScoreDifferential, TieBreak::DirectEncounter];

    /// Name in tournament files and JSON.
    pub const fn code(self) -> &'static str {
        match self {
            TieBreak::Wins => "wins",
            TieBreak::ScoreDifferential => "score-differential",
            TieBreak::DirectEncounter => "direct-encounter",
            TieBreak::SonnebornBerger => "sonneborn-berger",
            TieBreak::Buchholz => "buchholz",
        }
    }

    /// Name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            TieBreak::Wins => "games won",
            TieBreak::ScoreDifferential => "score differential",
            TieBreak::DirectEncounter => "direct encounter",
            TieBreak::SonnebornBerger => "Sonneborn–Berger",
            TieBreak::Buchholz => "Buchholz",
        }
    }

    /// Definition, for readers of the standings.
    pub const fn meaning(self) -> &'static str {
        match self {
            TieBreak::Wins => "games won; byes do not count",
            TieBreak::ScoreDifferential => {
                "own scores minus the opponents' scores; forfeited games do not count"
            }
            TieBreak::DirectEncounter => {
                "games won minus games lost among the tied players, if all of them have played \
                 each other equally often"
            }
            TieBreak::SonnebornBerger => {
                "points of beaten opponents plus half the points of drawn ones, per game"
            }
            TieBreak::Buchholz => {
                "points of all opponents, per game; a bye counts as an opponent with the player's \
                 own points"
            }
        }
    }

    /// Column header.
    pub const fn short(self) -> &'static str {
        match self {
            TieBreak::Wins => "won",
            TieBreak::ScoreDifferential => "diff",
            TieBreak::DirectEncounter => "direct",
            TieBreak::SonnebornBerger => "SB",
            TieBreak::Buchholz => "Buch",
        }
    }

    /// Returns the value of each player in a tied group; `None` if the tie-break does not apply.
    /// Rows, results and points are by player index.
    pub(super) fn values(
        self,
        group: &[PlayerIndex],
        rows: &[StandingsRow],
        results: &[ResultsByOpponent],
        points: &[i64],
        byes: &[(PlayerIndex, u32)],
    ) -> Option<Vec<TieBreakValue>> {
        let value = |player: PlayerIndex| match self {
            TieBreak::Wins => TieBreakValue::whole(rows[player].all.wins.into()),
            TieBreak::ScoreDifferential => {
                let [score, opponents] = rows[player].scores;
                TieBreakValue::whole(score - opponents)
            }
            TieBreak::DirectEncounter => direct_encounter(player, group, results),
            TieBreak::SonnebornBerger => {
                let halves = |(opponent, games): (&PlayerIndex, &GameResults)| {
                    points[*opponent] * games.iter().map(|&(result, _)| result as i64).sum::<i64>()
                };
                TieBreakValue { halves: results[player].iter().map(halves).sum() }
            }
            TieBreak::Buchholz => {
                let opponents = results[player].iter();
                let played = opponents.map(|(other, games)| points[*other] * games.len() as i64);
                let missed = byes.iter().filter(|(other, _)| *other == player);
                let missed = missed.map(|(_, games)| points[player] * i64::from(*games));
                TieBreakValue::whole(played.sum::<i64>() + missed.sum::<i64>())
            }
        };
        let applies = self != TieBreak::DirectEncounter || all_played_equally(group, results);
        applies.then(|| group.iter().map(|&player| value(player)).collect())
    }
}

/// Returns whether all players of a group have played each other equally often, at least once.
fn all_played_equally(group: &[PlayerIndex], results: &[ResultsByOpponent]) -> bool {
    let games = |a: PlayerIndex, b: PlayerIndex| results[a].get(&b).map_or(0, Vec::len);
    let &[first, second, ..] = group else { return false };
    let count = games(first, second);
    let mut pairs = group.iter().flat_map(|&a| group.iter().map(move |&b| (a, b)));
    count > 0 && pairs.all(|(a, b)| a == b || games(a, b) == count)
}

/// Returns games won minus games lost against the others of a group.
fn direct_encounter(
    player: PlayerIndex,
    group: &[PlayerIndex],
    results: &[ResultsByOpponent],
) -> TieBreakValue {
    let opponents = results[player].iter().filter(|(opponent, _)| group.contains(opponent));
    let games = opponents.flat_map(|(_, games)| games);
    TieBreakValue::whole(games.map(|(result, _)| *result as i64 - GamePoints::Draw as i64).sum())
}
