//! Games of a pairing: colours and openings.

use std::cmp::Ordering;
use std::collections::HashMap;

use crownhead_play::derive_seed;

use super::{PlayerIndex, Round, pair_key};
use crate::Colours;

/// A scheduled game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledGame {
    /// The players; the first one moves first.
    pub players: [PlayerIndex; 2],
    /// Number of the opening. Two games with reversed colours share it.
    pub opening: u32,
}

/// Games that pairs already have, by pair with the lower index first.
pub type PairHistory = HashMap<[PlayerIndex; 2], PairGames>;

/// Games that a pair already has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PairGames {
    /// Games in which each player moved first.
    first_move_counts: [u32; 2],
    /// Opening of a game without a counterpart with reversed colours.
    unpaired_opening: Option<u32>,
}

impl PairGames {
    /// Adds a game.
    pub fn add(&mut self, is_lower_first: bool, opening: u32) {
        self.first_move_counts[usize::from(!is_lower_first)] += 1;
        let is_paired = self.unpaired_opening == Some(opening);
        self.unpaired_opening = if is_paired { None } else { Some(opening) };
    }
}

/// Returns the games of a round that are not in `history` yet. Each pair plays `games` games with
/// alternating colours; `colours` decides who moves first in the last of an odd number. Openings
/// are numbered from `next_opening`.
pub fn schedule_games(
    round: &Round,
    games: u32,
    colours: Colours,
    seed: u64,
    history: &PairHistory,
    mut next_opening: u32,
) -> Vec<ScheduledGame> {
    let mut scheduled = Vec::new();
    for &pair in &round.pairs {
        let key = pair_key(pair);
        let PairGames { mut first_move_counts, unpaired_opening } =
            history.get(&key).copied().unwrap_or_default();
        // Only a game with reversed colours completes a pair.
        let is_balanced = first_move_counts[0] == first_move_counts[1];
        let mut unpaired = unpaired_opening.filter(|_| !is_balanced);
        for count in first_move_counts.iter().sum()..games {
            let [lower, higher] = first_move_counts;
            let is_odd_game = lower == higher && count + 1 == games;
            let first = match (lower.cmp(&higher), colours) {
                (Ordering::Less, _) => key[0],
                (Ordering::Greater, _) => key[1],
                (Ordering::Equal, Colours::Random) if is_odd_game => {
                    let numbers = [seed, round.number.into(), key[0] as u64, key[1] as u64];
                    key[(derive_seed(&numbers) >> 32 & 1) as usize]
                }
                (Ordering::Equal, _) => pair[0],
            };
            first_move_counts[usize::from(first != key[0])] += 1;
            let opening = unpaired.take().unwrap_or_else(|| {
                next_opening += 1;
                unpaired = Some(next_opening - 1);
                next_opening - 1
            });
            let second = key[usize::from(first == key[0])];
            scheduled.push(ScheduledGame { players: [first, second], opening });
        }
    }
    scheduled
}
