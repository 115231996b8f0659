//! The Swiss system: in every round players with about the same points meet, and nobody meets the same
//! opponent twice as long as that can be avoided.
//!
//! The pairs of a round are a perfect matching of all players (and the bye, if their number is odd),
//! sought under conditions that are loosened one by one until there is one: first the difference of
//! points within a pair, then the balance of colours, last of all rematches. Within its conditions a
//! matching begins as at the board, the upper half of those with equal points against the lower half;
//! whoever is left over is fitted in by augmenting paths ([`matching`](super::matching)), which
//! find a complete matching whenever there is one.

use super::matching::complete;
use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};
use crate::Points;

/// The director of a Swiss tournament.
pub struct Swiss {
    rounds: u32,
    games: u32,
    points: Points,
    issued: u32,
    is_open: bool,
    byes: Vec<PlayerIndex>,
    players: Vec<SwissPlayer>,
    /// How often two players have met, by `one * count + other`.
    met: Vec<u8>,
}

#[derive(Clone, Default)]
struct SwissPlayer {
    points: i64,
    /// Games moved first less games moved second.
    balance: i32,
    /// Whether it moved first in its last game.
    was_first: Option<bool>,
    had_bye: bool,
}

impl Swiss {
    /// So many players, the best seed first; so many games for each pair.
    pub fn new(players: usize, rounds: u32, games: u32, points: Points) -> Swiss {
        Swiss {
            rounds,
            games,
            points,
            issued: 0,
            is_open: false,
            byes: Vec::new(),
            players: vec![SwissPlayer::default(); players],
            met: vec![0; players * players],
        }
    }

    /// What a pairing may be.
    fn allows(&self, one: usize, other: usize, conditions: &PairingConstraints) -> bool {
        let count = self.players.len();
        if one == count || other == count {
            // The bye: a player that has the least points.
            let player = &self.players[one.min(other)];
            let rested = conditions.met > 0 || !player.had_bye;
            return rested && player.points - conditions.least <= conditions.distance;
        }
        let (a, b) = (&self.players[one], &self.players[other]);
        // Two who have moved first twice more often than not cannot both be spared the third time.
        let is_bad =
            a.balance.abs().min(b.balance.abs()) >= 2 && a.balance.signum() == b.balance.signum();
        (conditions.any_colours || !is_bad)
            && (a.points - b.points).abs() <= conditions.distance
            && self.met[one * count + other] <= conditions.met
    }

    /// The pairs of the next round, with the number of players standing for the bye.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let count = self.players.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&player| (-self.players[player].points, player));
        if count % 2 == 1 {
            order.push(count);
        }
        let points = self.players.iter().map(|player| player.points);
        let least = points.clone().min().unwrap_or(0);
        let mut levels: Vec<i64> = points.collect();
        levels.sort_unstable();
        levels.dedup();
        let mut distances: Vec<i64> =
            levels.iter().flat_map(|one| levels.iter().map(move |other| one - other)).collect();
        distances.retain(|distance| *distance >= 0);
        distances.sort_unstable();
        distances.dedup();
        let most_met = self.met.iter().copied().max().unwrap_or(0);
        for met in 0..=most_met {
            for any_colours in [false, true] {
                for &distance in &distances {
                    let conditions = PairingConstraints { distance, any_colours, met, least };
                    let allows = |one, other| self.allows(one, other, &conditions);
                    let start = self.pair_halves(&order, &allows);
                    if let Some(pairs) = complete(&order, start, allows) {
                        return self.with_lowest_bye(&order, pairs, &allows);
                    }
                }
            }
        }
        // With everything allowed but a second bye there is always one: here nobody is left.
        order.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    /// These pairs, or others that are allowed in which a player further down rests.
    fn with_lowest_bye(
        &self,
        order: &[usize],
        pairs: Vec<[usize; 2]>,
        allows: &impl Fn(usize, usize) -> bool,
    ) -> Vec<[usize; 2]> {
        let count = self.players.len();
        let Some(rests) = pairs.iter().find(|pair| pair.contains(&count)) else { return pairs };
        let resting = rests[0].min(rests[1]);
        let below = order.iter().rev().filter(|&&player| player < count);
        let below = below.take_while(|&&player| player != resting);
        for &last in below.filter(|&&player| allows(player, count)) {
            let allows = |one: usize, other: usize| {
                allows(one, other) && (one.max(other) != count || one.min(other) == last)
            };
            let start = self.pair_halves(order, &allows);
            if let Some(pairs) = complete(order, start, allows) {
                return pairs;
            }
        }
        pairs
    }

    /// Begins a matching: the bye for the last who can have it, then among those with equal points the
    /// upper half against the lower half, with colours that suit both if possible.
    fn pair_halves(
        &self,
        order: &[usize],
        allows: &impl Fn(usize, usize) -> bool,
    ) -> Vec<[usize; 2]> {
        let count = self.players.len();
        let mut pairs = Vec::new();
        let mut free: Vec<usize> = order.iter().copied().filter(|&player| player < count).collect();
        if order.len() > count
            && let Some(at) = free.iter().rposition(|&player| allows(player, count))
        {
            pairs.push([free.remove(at), count]);
        }
        let mut left: Vec<usize> = Vec::new();
        while let Some(&top) = free.first() {
            let points = self.players[top].points;
            let size = free.iter().take_while(|&&p| self.players[p].points == points).count();
            // Those who found nobody among more points come first.
            let mut group: Vec<usize> = left.drain(..).chain(free.drain(..size)).collect();
            while !group.is_empty() {
                let one = group.remove(0);
                let half = group.len() / 2;
                let candidates = || (half..group.len()).chain((0..half).rev());
                let suits = |&at: &usize| {
                    self.colour_preference(one) * self.colour_preference(group[at]) <= 0
                };
                let can = |at: &usize| allows(one, group[*at]);
                let found = candidates().find(|at| can(at) && suits(at));
                match found.or_else(|| candidates().find(can)) {
                    Some(at) => pairs.push([one, group.remove(at)]),
                    None => left.push(one),
                }
            }
        }
        pairs
    }

    /// Positive if a player has moved first too often, negative if too seldom.
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
    /// The largest difference of points.
    distance: i64,
    /// Whether two who both must not move first, or second, once more may meet.
    any_colours: bool,
    /// So often two may have met before.
    met: u8,
    least: i64,
}

impl Scheduler for Swiss {
    fn next(&self) -> NextRound {
        if self.is_open {
            return NextRound::Wait;
        }
        if self.issued >= self.rounds || self.players.len() < 2 {
            return NextRound::Over;
        }
        let number = self.issued + 1;
        let mut round = Round { number, title: format!("round {number}"), ..Round::default() };
        for [one, other] in self.pairs() {
            let count = self.players.len();
            if one == count || other == count {
                round.byes.push(one.min(other));
                continue;
            }
            // Whoever moved first less often does so now. Among equals the better seed does in every
            // other pair, so that not all good seeds begin alike.
            let swap = match self.colour_preference(one).cmp(&self.colour_preference(other)) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => round.pairs.len() % 2 == 1,
            };
            round.pairs.push(if swap { [other, one] } else { [one, other] });
        }
        NextRound::Round(round)
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.issued, self.is_open) = (round.number, true);
        self.byes.clone_from(&round.byes);
    }

    fn on_round_finished(&mut self, meetings: &[PairingResult]) {
        self.is_open = false;
        for player in std::mem::take(&mut self.byes) {
            self.players[player].points += self.points.bye * i64::from(self.games);
            self.players[player].had_bye = true;
        }
        let count = self.players.len();
        for meeting in meetings {
            let [one, other] = meeting.players;
            for at in [one * count + other, other * count + one] {
                self.met[at] = self.met[at].saturating_add(1);
            }
            for (own, &player) in meeting.players.iter().enumerate() {
                let Points { win, draw, loss, .. } = self.points;
                let player = &mut self.players[player];
                player.points += win * i64::from(meeting.wins[own])
                    + draw * i64::from(meeting.draws)
                    + loss * i64::from(meeting.wins[1 - own]);
                let (firsts, seconds) =
                    (meeting.first_move_counts[own], meeting.first_move_counts[1 - own]);
                player.balance += firsts as i32 - seconds as i32;
                if firsts != seconds {
                    player.was_first = Some(firsts > seconds);
                }
            }
        }
    }
}
