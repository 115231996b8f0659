//! Games out of pairs: who moves first, and which opening it is.

use std::collections::HashMap;

use crownhead_play::mix;

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

/// How often the players of a pair, the lower index first, have moved first against each other.
pub type Firsts = HashMap<[PlayerIndex; 2], [u32; 2]>;

/// The games of a round. Each pair plays so many, less what is in `have`; colours change from game to
/// game. Who moves first in an odd one out is a matter of `colours`, and a lot follows from the seed.
/// Openings are numbered from `opening` on.
pub fn deal(
    round: &Round,
    games: u32,
    colours: Colours,
    seed: u64,
    have: &Firsts,
    mut opening: u32,
) -> Vec<Dealt> {
    let mut dealt = Vec::new();
    for &[one, other] in &round.pairs {
        let key = [one.min(other), one.max(other)];
        let mut firsts = have.get(&key).copied().unwrap_or_default();
        let mut since = None;
        for played in firsts[0] + firsts[1]..games {
            let is_odd_one = firsts[0] == firsts[1] && played + 1 == games;
            let first = match (firsts[0].cmp(&firsts[1]), colours) {
                (std::cmp::Ordering::Less, _) => key[0],
                (std::cmp::Ordering::Greater, _) => key[1],
                (_, Colours::Random) if is_odd_one => {
                    let lot = [seed, round.number.into(), key[0] as u64, key[1] as u64];
                    key[(mix(&lot) >> 32 & 1) as usize]
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
