//! What decides between players with the same points.

use std::collections::BTreeMap;
use std::fmt;

use crate::statistics::GamePoints as Result;

use super::StandingsRow;
use crate::schedule::PlayerIndex;

/// A way to decide between players with the same points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TieBreak {
    /// How many games were won; byes are no games.
    Wins,
    /// The games' own points, less those of the opponents; a forfeited game counts none.
    ScoreDifferential,
    /// Games won less games lost among the players who are still equal, if all of them have met
    /// equally often; and again among those whom it leaves equal.
    DirectEncounter,
    /// The points of the opponents beaten, and half of those drawn with, game by game.
    SonnebornBerger,
    /// The points of all opponents, game by game; a bye counts like an opponent with the player's own
    /// points.
    Buchholz,
}

/// The value of a tie-break; some count in halves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TieBreakValue {
    halves: i64,
}

impl TieBreakValue {
    fn whole(number: i64) -> TieBreakValue {
        TieBreakValue { halves: 2 * number }
    }

    /// Twice the value.
    pub fn halves(self) -> i64 {
        self.halves
    }
}

impl fmt::Display for TieBreakValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.halves < 0 { "-" } else { "" };
        let (whole, half) = (self.halves.abs() / 2, self.halves.abs() % 2);
        write!(f, "{sign}{whole}{}", if half == 1 { ".5" } else { "" })
    }
}

type Results = BTreeMap<PlayerIndex, Vec<(Result, bool)>>;

impl TieBreak {
    /// All of them.
    pub const ALL: [TieBreak; 5] = [
        TieBreak::Wins,
        TieBreak::ScoreDifferential,
        TieBreak::DirectEncounter,
        TieBreak::SonnebornBerger,
        TieBreak::Buchholz,
    ];

    /// Those of the assignment, in its order.
    pub const DEFAULT: [TieBreak; 3] =
        [TieBreak::Wins, TieBreak::ScoreDifferential, TieBreak::DirectEncounter];

    /// Its name in a tournament file.
    pub const fn code(self) -> &'static str {
        match self {
            TieBreak::Wins => "wins",
            TieBreak::ScoreDifferential => "score-differential",
            TieBreak::DirectEncounter => "direct-encounter",
            TieBreak::SonnebornBerger => "sonneborn-berger",
            TieBreak::Buchholz => "buchholz",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            TieBreak::Wins => "games won",
            TieBreak::ScoreDifferential => "score differential",
            TieBreak::DirectEncounter => "direct encounter",
            TieBreak::SonnebornBerger => "Sonneborn–Berger",
            TieBreak::Buchholz => "Buchholz",
        }
    }

    /// The head of its column.
    pub const fn short(self) -> &'static str {
        match self {
            TieBreak::Wins => "won",
            TieBreak::ScoreDifferential => "diff",
            TieBreak::DirectEncounter => "direct",
            TieBreak::SonnebornBerger => "SB",
            TieBreak::Buchholz => "Buch",
        }
    }

    /// What it gives each of a group of equals; none if it has nothing to say about them. Rows, results
    /// and points are by player.
    pub(super) fn values(
        self,
        group: &[PlayerIndex],
        rows: &[StandingsRow],
        results: &[Results],
        points: &[i64],
        byes: &[(PlayerIndex, u32)],
    ) -> Option<Vec<TieBreakValue>> {
        let each = |value: &dyn Fn(PlayerIndex) -> TieBreakValue| {
            group.iter().map(|&player| value(player)).collect::<Vec<_>>()
        };
        Some(match self {
            TieBreak::Wins => each(&|player| TieBreakValue::whole(rows[player].all.wins.into())),
            TieBreak::ScoreDifferential => each(&|player| {
                TieBreakValue::whole(rows[player].scores[0] - rows[player].scores[1])
            }),
            TieBreak::DirectEncounter => return direct(group, results),
            TieBreak::SonnebornBerger => each(&|player| {
                let of = |(other, games): (&PlayerIndex, &Vec<(Result, bool)>)| {
                    let halves = |&(result, _): &(Result, bool)| match result {
                        Result::Win => 2,
                        Result::Draw => 1,
                        Result::Loss => 0,
                    };
                    points[*other] * games.iter().map(halves).sum::<i64>()
                };
                TieBreakValue { halves: results[player].iter().map(of).sum() }
            }),
            TieBreak::Buchholz => each(&|player| {
                let met = results[player].iter().map(|(o, games)| points[*o] * games.len() as i64);
                let spared = byes.iter().filter(|(resting, _)| *resting == player);
                let spared: i64 = spared.map(|(_, games)| points[player] * i64::from(*games)).sum();
                TieBreakValue::whole(met.sum::<i64>() + spared)
            }),
        })
    }
}

/// Games won less games lost against the others of the group, if all have met equally often.
fn direct(group: &[PlayerIndex], results: &[Results]) -> Option<Vec<TieBreakValue>> {
    let games = |one: PlayerIndex, other: PlayerIndex| results[one].get(&other).map_or(0, Vec::len);
    let often = games(*group.first()?, *group.get(1)?);
    let pairs = group.iter().flat_map(|&one| group.iter().map(move |&other| (one, other)));
    let mut pairs = pairs.filter(|(one, other)| one != other);
    if often == 0 || pairs.any(|(one, other)| games(one, other) != often) {
        return None;
    }
    let value = |&player: &PlayerIndex| {
        let among = results[player].iter().filter(|(other, _)| group.contains(other));
        let games = among.flat_map(|(_, games)| games);
        TieBreakValue::whole(games.map(|(result, _)| *result as i64 - 1).sum())
    };
    Some(group.iter().map(value).collect())
}
