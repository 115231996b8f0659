//! Swiss system: in every round players with similar points play each other, and rematches are
//! avoided as long as possible.
//!
//! The pairings of a round are a perfect matching of all players, and of a dummy for the bye if
//! their number is odd. Constraints are relaxed one by one until a matching exists: first the
//! difference in points, then the balance of colours, and rematches last. Within its constraints a
//! matching starts like a manual pairing, with the upper half of a score group against the lower
//! half; [augmenting paths](super::matching) fit in the rest and find a perfect matching whenever
//! there is one.

use std::cmp::Ordering;

use super::matching::complete_matching;
use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};
use crate::Points;

/// Scheduler of a Swiss tournament.
pub struct Swiss {
    rounds: u32,
    games: u32,
    points: Points,
    scheduled: u32,
    is_open: bool,
    byes: Vec<PlayerIndex>,
    players: Vec<SwissPlayer>,
    /// Number of pairings of two players, at `a * players + b`.
    met: Vec<u8>,
}

#[derive(Clone, Default)]
struct SwissPlayer {
    points: i64,
    /// Games moved first minus games moved second.
    balance: i32,
    /// Whether it moved first in its last game.
    was_first: Option<bool>,
    had_bye: bool,
}

impl Swiss {
    /// Creates a Swiss tournament with `games` games per pairing. Players are numbered by seed.
    pub fn new(players: usize, rounds: u32, games: u32, points: Points) -> Swiss {
        Swiss {
            rounds,
            games,
            points,
            scheduled: 0,
            is_open: false,
            byes: Vec::new(),
            players: vec![SwissPlayer::default(); players],
            met: vec![0; players * players],
        }
    }

    /// Number that stands for the bye.
    fn bye(&self) -> usize {
        self.players.len()
    }

    fn allows(&self, a: usize, b: usize, constraints: &PairingConstraints) -> bool {
        let bye = self.bye();
        if a == bye || b == bye {
            let player = &self.players[a.min(b)];
            let is_first_bye = constraints.max_met > 0 || !player.had_bye;
            let distance = player.points - constraints.min_points;
            return is_first_bye && distance <= constraints.max_distance;
        }
        let (player, opponent) = (&self.players[a], &self.players[b]);
        // One of two players who are both two games out of balance on the same side would become
        // three games out of balance.
        let is_unbalanced = player.balance.abs().min(opponent.balance.abs()) >= 2
            && player.balance.signum() == opponent.balance.signum();
        (constraints.any_colours || !is_unbalanced)
            && (player.points - opponent.points).abs() <= constraints.max_distance
            && self.met[a * self.players.len() + b] <= constraints.max_met
    }

    /// Returns the pairings of the next round, including the one with the bye.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let count = self.players.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&player| (-self.players[player].points, player));
        if count % 2 == 1 {
            order.push(self.bye());
        }
        let points = self.players.iter().map(|player| player.points);
        let min_points = points.clone().min().unwrap_or(0);
        let mut levels: Vec<i64> = points.collect();
        levels.sort_unstable();
        levels.dedup();
        let mut distances: Vec<i64> =
            levels.iter().flat_map(|a| levels.iter().map(move |b| a - b)).collect();
        distances.retain(|distance| *distance >= 0);
        distances.sort_unstable();
        distances.dedup();
        let highest_met = self.met.iter().copied().max().unwrap_or(0);
        for max_met in 0..=highest_met {
            for any_colours in [false, true] {
                for &max_distance in &distances {
                    let constraints =
                        PairingConstraints { max_distance, any_colours, max_met, min_points };
                    let allows = |a, b| self.allows(a, b, &constraints);
                    let initial = self.pair_halves(&order, &allows);
                    if let Some(pairs) = complete_matching(&order, initial, allows) {
                        return self.with_lowest_bye(&order, pairs, &allows);
                    }
                }
            }
        }
        // Unreachable with two players or more: the last constraints allow everything.
        order.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    /// Returns pairings in which the bye goes to the lowest player possible.
    fn with_lowest_bye(
        &self,
        order: &[usize],
        pairs: Vec<[usize; 2]>,
        allows: &impl Fn(usize, usize) -> bool,
    ) -> Vec<[usize; 2]> {
        let bye = self.bye();
        let Some(&[a, b]) = pairs.iter().find(|pair| pair.contains(&bye)) else { return pairs };
        let current = a.min(b);
        let lower = order.iter().rev().filter(|&&player| player != bye);
        let lower = lower.take_while(|&&player| player != current);
        for &candidate in lower.filter(|&&player| allows(player, bye)) {
            let allows =
                |a: usize, b: usize| allows(a, b) && (a.max(b) != bye || a.min(b) == candidate);
            let initial = self.pair_halves(order, &allows);
            if let Some(pairs) = complete_matching(order, initial, allows) {
                return pairs;
            }
        }
        pairs
    }

    /// Starts a matching: the bye for the lowest player allowed, then in each score group the
    /// upper half against the lower half, with compatible colours if possible.
    fn pair_halves(
        &self,
        order: &[usize],
        allows: &impl Fn(usize, usize) -> bool,
    ) -> Vec<[usize; 2]> {
        let bye = self.bye();
        let mut pairs = Vec::new();
        let mut free: Vec<usize> = order.iter().copied().filter(|&player| player != bye).collect();
        if order.len() > free.len()
            && let Some(position) = free.iter().rposition(|&player| allows(player, bye))
        {
            pairs.push([free.remove(position), bye]);
        }
        let mut floaters: Vec<usize> = Vec::new();
        while let Some(&top) = free.first() {
            let points = self.players[top].points;
            let size = free.iter().take_while(|&&p| self.players[p].points == points).count();
            // Players without an opponent in a higher score group come first.
            let mut group: Vec<usize> = floaters.drain(..).chain(free.drain(..size)).collect();
            while !group.is_empty() {
                let player = group.remove(0);
                let half = group.len() / 2;
                let candidates = || (half..group.len()).chain((0..half).rev());
                let is_allowed = |position: &usize| allows(player, group[*position]);
                let is_compatible = |&position: &usize| {
                    let opponent = group[position];
                    self.colour_preference(player) * self.colour_preference(opponent) <= 0
                };
                let compatible = candidates().find(|p| is_allowed(p) && is_compatible(p));
                match compatible.or_else(|| candidates().find(is_allowed)) {
                    Some(position) => pairs.push([player, group.remove(position)]),
                    None => floaters.push(player),
                }
            }
        }
        pairs
    }

    /// Returns a positive number if a player should move second, a negative one if first.
    fn colour_preference(&self, player: usize) -> i32 {
        let player = &self.players[player];
        match (player.balance, player.was_first) {
            (0, Some(true)) => 1,
            (0, Some(false)) => -1,
            (0, None) => 0,
            (balance, _) => 2 * balance,
        }
    }
}

struct PairingConstraints {
    /// Maximum difference in points.
    max_distance: i64,
    /// Whether colours may become unbalanced.
    any_colours: bool,
    /// Maximum number of earlier pairings of two players; above 0, also allows a second bye.
    max_met: u8,
    /// Lowest points of any player.
    min_points: i64,
}

impl Scheduler for Swiss {
    fn next(&self) -> NextRound {
        if self.is_open {
            return NextRound::Wait;
        }
        if self.scheduled >= self.rounds || self.players.len() < 2 {
            return NextRound::Over;
        }
        let number = self.scheduled + 1;
        let mut round = Round { number, title: format!("round {number}"), ..Round::default() };
        for [a, b] in self.pairs() {
            if a == self.bye() || b == self.bye() {
                round.byes.push(a.min(b));
                continue;
            }
            // Without a preference, the better seed moves first in every other pair.
            let swap = match self.colour_preference(a).cmp(&self.colour_preference(b)) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => round.pairs.len() % 2 == 1,
            };
            round.pairs.push(if swap { [b, a] } else { [a, b] });
        }
        NextRound::Round(round)
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.scheduled, self.is_open) = (round.number, true);
        self.byes.clone_from(&round.byes);
    }

    fn on_round_finished(&mut self, results: &[PairingResult]) {
        self.is_open = false;
        for player in std::mem::take(&mut self.byes) {
            self.players[player].points += self.points.bye * i64::from(self.games);
            self.players[player].had_bye = true;
        }
        let count = self.players.len();
        let Points { win, draw, loss, .. } = self.points;
        for result in results {
            let [a, b] = result.players;
            for position in [a * count + b, b * count + a] {
                self.met[position] = self.met[position].saturating_add(1);
            }
            for (side, &player) in result.players.iter().enumerate() {
                let player = &mut self.players[player];
                player.points += win * i64::from(result.wins[side])
                    + draw * i64::from(result.draws)
                    + loss * i64::from(result.wins[1 - side]);
                let counts = result.first_move_counts;
                let (firsts, seconds) = (counts[side], counts[1 - side]);
                player.balance += firsts as i32 - seconds as i32;
                if firsts != seconds {
                    player.was_first = Some(firsts > seconds);
                }
            }
        }
    }
}
