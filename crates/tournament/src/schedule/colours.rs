//! Games out of pairs: who moves first, and which opening it is.

use std::collections::HashMap;

use crownhead_play::derive_seed;

use super::{PlayerIndex, Round};
use crate::Colours;

/// A game to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dealt {
    /// The players, the one who moves first first.
    pub players: [PlayerIndex; 2],
    /// The number of the opening: two games with exchanged colours have the same.
    pub opening: u32,
}

/// The games that pairs, the lower index first, have already.
pub type Played = HashMap<[PlayerIndex; 2], Past>;

/// The games that a pair has already.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Past {
    firsts: [u32; 2],
    /// The opening of a game that has no second one with exchanged colours.
    alone: Option<u32>,
}

impl Past {
    /// Counts a game in which the player with the lower index moved first, or did not.
    pub fn add(&mut self, is_lower_first: bool, opening: u32) {
        self.firsts[usize::from(!is_lower_first)] += 1;
        self.alone = if self.alone == Some(opening) { None } else { Some(opening) };
    }
}

/// The games of a round. Each pair plays so many, less what is in `have`; colours change from game to
/// game. Who moves first in an odd one out is a matter of `colours`, and a lot follows from the seed.
/// Openings are numbered from `opening` on.
pub fn deal(
    round: &Round,
    games: u32,
    colours: Colours,
    seed: u64,
    have: &Played,
    mut opening: u32,
) -> Vec<Dealt> {
    let mut dealt = Vec::new();
    for &[one, other] in &round.pairs {
        let key = [one.min(other), one.max(other)];
        let Past { mut firsts, alone } = have.get(&key).copied().unwrap_or_default();
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
            dealt.push(Dealt { players: [first, second], opening: number });
        }
    }
    dealt
}
