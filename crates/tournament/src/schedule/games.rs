//! Games out of pairs: who moves first, and which opening it is.

use std::collections::HashMap;

use crownhead_play::derive_seed;

use super::{PlayerIndex, Round};
use crate::Colours;

/// A game to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledGame {
    /// The players, the one who moves first first.
    pub players: [PlayerIndex; 2],
    /// The number of the opening: two games with exchanged colours have the same.
    pub opening: u32,
}

/// The games that pairs, the lower index first, have already.
pub type PairHistory = HashMap<[PlayerIndex; 2], PairGames>;

/// The games that a pair has already.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PairGames {
    first_move_counts: [u32; 2],
    /// The opening of a game that has no second one with exchanged colours.
    unpaired_opening: Option<u32>,
}

impl PairGames {
    /// Counts a game in which the player with the lower index moved first, or did not.
    pub fn add(&mut self, is_lower_first: bool, opening: u32) {
        self.first_move_counts[usize::from(!is_lower_first)] += 1;
        self.unpaired_opening =
            if self.unpaired_opening == Some(opening) { None } else { Some(opening) };
    }
}

/// The games of a round. Each pair plays so many, less what is in `have`; colours change from game to
/// game. Who moves first in an odd one out is a matter of `colours`, and a lot follows from the seed.
/// Openings are numbered from `opening` on.
pub fn schedule_games(
    round: &Round,
    games: u32,
    colours: Colours,
    seed: u64,
    have: &PairHistory,
    mut opening: u32,
) -> Vec<ScheduledGame> {
    let mut dealt = Vec::new();
    for &[one, other] in &round.pairs {
        let key = [one.min(other), one.max(other)];
        let PairGames { first_move_counts: mut firsts, unpaired_opening: alone } =
            have.get(&key).copied().unwrap_or_default();
        // Only the other colours make a second game of it.
        let mut since = alone.filter(|_| firsts[0] != firsts[1]);
        for played in firsts[0] + firsts[1]..games {
            let is_odd_one = firsts[0] == firsts[1] && played + 1 == games;
            let first = match (firsts[0].cmp(&firsts[1]), colours) {
                (std::cmp::Ordering::Less, _) => key[0],
                (std::cmp::Ordering::Greater, _) => key[1],
                (_, Colours::Random) if is_odd_one => {
                    let lot = [seed, round.number.into(), key[0] as u64, key[1] as u64];
                    key[(derive_seed(&lot) >> 32 & 1) as usize]
                }
                _ => one,
            };
            firsts[usize::from(first != key[0])] += 1;
            // The second game of two has the opening of the first.
            let number = since.take().unwrap_or_else(|| {
                opening += 1;
                since = Some(opening - 1);
                opening - 1
            });
            let second = key[usize::from(first == key[0])];
            dealt.push(ScheduledGame { players: [first, second], opening: number });
        }
    }
    dealt
}
