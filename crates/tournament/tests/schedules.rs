//! What every schedule keeps to, for any number of players.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot go on may stop

use std::collections::{HashMap, HashSet};

use crownhead_tournament::schedule::{
    Knockout, Ladder, NextRound, PairHistory, PairingResult, Round, Scheduler, SeedDecision, Swiss,
    gauntlet, round_robin, schedule_games,
};
use crownhead_tournament::{Colours, Points};
use proptest::prelude::*;

/// Nobody has two opponents in a round, or an opponent and a bye.
fn check_round(round: &Round) {
    let mut seen = HashSet::new();
    let all = round.pairs.iter().flatten().chain(&round.byes);
    for player in all {
        assert!(seen.insert(*player), "{player} is there twice: {round:?}");
    }
}

/// How often each pair meets.
fn meetings(rounds: &[Round]) -> HashMap<[usize; 2], usize> {
    let mut count = HashMap::new();
    for &[one, other] in rounds.iter().flat_map(|round| &round.pairs) {
        *count.entry([one.min(other), one.max(other)]).or_default() += 1;
    }
    count
}

/// Games moved first less games moved second, by player.
fn balances(rounds: &[Round], players: usize, games: u32, colours: Colours) -> Vec<i32> {
    let mut balance = vec![0; players];
    for round in rounds {
        for game in schedule_games(round, games, colours, 7, &PairHistory::new(), 0) {
            balance[game.players[0]] += 1;
            balance[game.players[1]] -= 1;
        }
    }
    balance
}

/// Results drawn by lot: the better seed is a little more likely to win.
fn results(round: &Round, games: u32, lots: &mut fastrand::Rng) -> Vec<PairingResult> {
    let dealt = schedule_games(round, games, Colours::Balanced, 1, &PairHistory::new(), 0);
    let mut meetings: Vec<PairingResult> =
        round.pairs.iter().map(|pair| PairingResult::new(*pair)).collect();
    for game in dealt {
        let winner = match lots.u32(..10) {
            0..5 => Some(*game.players.iter().min().unwrap()),
            5..8 => Some(*game.players.iter().max().unwrap()),
            _ => None,
        };
        let is_it = |m: &&mut PairingResult| game.players.iter().all(|p| m.players.contains(p));
        meetings.iter_mut().find(is_it).unwrap().add(game.players[0], winner);
    }
    meetings
}

/// Plays a tournament by lot: its rounds.
fn play(director: &mut dyn Scheduler, games: u32, seed: u64, most: usize) -> Vec<Round> {
    let mut lots = fastrand::Rng::with_seed(seed);
    let mut rounds = Vec::new();
    while rounds.len() < most {
        let NextRound::Round(round) = director.next() else { break };
        check_round(&round);
        assert_eq!(director.next(), NextRound::Round(round.clone()), "asking changes nothing");
        director.on_scheduled(&round);
        director.on_round_finished(&results(&round, games, &mut lots));
        rounds.push(round);
    }
    rounds
}

/// Who rests in a Swiss round, checked by trying every way: nobody behind the one who rests could do so
/// instead without a rematch, a second rest or a larger difference of points.
#[derive(Default)]
struct Rests {
    points: Vec<i64>,
    balance: Vec<i32>,
    met: HashSet<[usize; 2]>,
    rested: HashSet<usize>,
}

impl Rests {
    fn difference(&self, pair: [usize; 2]) -> i64 {
        (self.points[pair[0]] - self.points[pair[1]]).abs()
    }

    fn can_pair(&self, free: &[usize], most: i64) -> bool {
        let Some((&one, rest)) = free.split_first() else { return true };
        rest.iter().any(|&other| {
            let left: Vec<usize> = rest.iter().copied().filter(|player| *player != other).collect();
            let [a, b] = [self.balance[one], self.balance[other]];
            let is_bad = a.abs().min(b.abs()) >= 2 && a.signum() == b.signum();
            !is_bad
                && !self.met.contains(&[one, other])
                && self.difference([one, other]) <= most
                && self.can_pair(&left, most)
        })
    }

    fn check(&self, round: &Round) {
        let resting = round.byes[0];
        let least = *self.points.iter().min().unwrap();
        let most = round.pairs.iter().map(|pair| self.difference(*pair)).max().unwrap();
        let most = most.max(self.points[resting] - least);
        let is_rematch =
            |pair: &[usize; 2]| self.met.contains(&[pair[0].min(pair[1]), pair[0].max(pair[1])]);
        if round.pairs.iter().any(is_rematch) {
            return;
        }
        let place = |player: usize| (-self.points[player], player);
        for player in (0..self.points.len()).filter(|player| !self.rested.contains(player)) {
            let others: Vec<usize> =
                (0..self.points.len()).filter(|other| *other != player).collect();
            let could_rest = self.points[player] - least <= most && self.can_pair(&others, most);
            assert!(
                place(player) <= place(resting) || !could_rest,
                "{player} could rest instead of {resting}: {:?}, {round:?}",
                self.points
            );
        }
    }

    fn add(&mut self, round: &Round, meetings: &[PairingResult]) {
        self.rested.extend(&round.byes);
        self.points[round.byes[0]] += Points::default().bye;
        for meeting in meetings {
            let [one, other] = meeting.players;
            self.met.insert([one.min(other), one.max(other)]);
            for (own, &player) in meeting.players.iter().enumerate() {
                self.points[player] += i64::from(2 * meeting.wins[own] + meeting.draws);
                self.balance[player] += meeting.first_move_counts[own] as i32
                    - meeting.first_move_counts[1 - own] as i32;
            }
        }
    }
}

/// Whether all can be paired without a pair that has met; every way is tried.
fn can_avoid(free: &[usize], met: &HashSet<[usize; 2]>) -> bool {
    let Some((&one, rest)) = free.split_first() else { return true };
    rest.iter().any(|&other| {
        let left: Vec<usize> = rest.iter().copied().filter(|player| *player != other).collect();
        !met.contains(&[one, other]) && can_avoid(&left, met)
    })
}

proptest! {
    #[test]
    fn in_a_round_robin_everybody_meets_everybody_once(players in 2usize..80) {
        let rounds = round_robin(&(0..players).collect::<Vec<_>>());
        rounds.iter().for_each(check_round);
        let met = meetings(&rounds);
        prop_assert_eq!(met.len(), players * (players - 1) / 2);
        prop_assert!(met.values().all(|count| *count == 1));
        prop_assert_eq!(rounds.len(), players - 1 + players % 2);
        // Everybody rests equally often: once if the number is odd.
        let mut rests = vec![0; players];
        rounds.iter().flat_map(|round| &round.byes).for_each(|player| rests[*player] += 1);
        prop_assert!(rests.iter().all(|rests| *rests == players % 2));
    }

    #[test]
    fn colours_of_a_round_robin_are_balanced(players in 2usize..60, games in 1u32..5) {
        let rounds = round_robin(&(0..players).collect::<Vec<_>>());
        let balance = balances(&rounds, players, games, Colours::Balanced);
        // An even number of games balances wholly, an odd one as nearly as possible.
        let most = if games % 2 == 0 { 0 } else { 1 };
        prop_assert!(balance.iter().all(|balance| balance.abs() <= most), "{balance:?}");
    }

    #[test]
    fn games_of_a_pair_change_colours_and_share_openings(games in 1u32..9, seed in any::<u64>()) {
        let round = Round { number: 1, pairs: vec![[3, 1], [0, 2]], ..Round::default() };
        let dealt = schedule_games(&round, games, Colours::Random, seed, &PairHistory::new(), 5);
        prop_assert_eq!(&dealt, &schedule_games(&round, games, Colours::Random, seed, &PairHistory::new(), 5));
        prop_assert_eq!(dealt.len(), 2 * games as usize);
        for pair in dealt.chunks(games as usize) {
            for two in pair.chunks_exact(2) {
                prop_assert_eq!(two[0].opening, two[1].opening);
                prop_assert_eq!(two[0].players, [two[1].players[1], two[1].players[0]]);
            }
        }
        let openings: HashSet<_> = dealt.iter().map(|game| game.opening).collect();
        prop_assert_eq!(openings.len(), 2 * games.div_ceil(2) as usize, "pairs have their own");
        prop_assert!(openings.iter().all(|opening| *opening >= 5));
    }

    #[test]
    fn in_a_gauntlet_each_challenger_meets_everybody(heroes in 1usize..6, others in 1usize..20) {
        let all: Vec<usize> = (0..heroes + others).collect();
        let rounds = gauntlet(&all[..heroes], &all[heroes..]);
        rounds.iter().for_each(check_round);
        let met = meetings(&rounds);
        prop_assert_eq!(met.len(), heroes * others + heroes * (heroes - 1) / 2);
        prop_assert!(met.iter().all(|(pair, count)| *count == 1 && pair[0] < heroes));
    }

    #[test]
    fn a_swiss_contest_has_no_rematches(
        players in 2usize..40, rounds in 1u32..12, games in 1u32..3, seed in any::<u64>(),
    ) {
        // A round robin among the rest is always possible for half as many rounds as opponents.
        let rounds = rounds.min((players as u32 / 2).max(1));
        let mut swiss = Swiss::new(players, rounds, games, Points::default());
        let played = play(&mut swiss, games, seed, 100);
        prop_assert_eq!(played.len(), rounds as usize);
        prop_assert!(meetings(&played).values().all(|count| *count == 1));
        let mut rests = vec![0; players];
        played.iter().flat_map(|round| &round.byes).for_each(|player| rests[*player] += 1);
        prop_assert!(rests.iter().all(|rests| *rests <= 1), "a bye once at most");
        for round in &played {
            prop_assert_eq!(2 * round.pairs.len() + round.byes.len(), players);
        }
        let balance = balances(&played, players, games, Colours::Balanced);
        prop_assert!(balance.iter().all(|balance| balance.abs() <= 2), "{balance:?}");
    }

    #[test]
    fn in_a_swiss_contest_the_last_player_who_can_rests(half in 1usize..5, seed in any::<u64>()) {
        let players = 2 * half + 1;
        let mut swiss = Swiss::new(players, players as u32, 1, Points::default());
        let mut lots = fastrand::Rng::with_seed(seed);
        let mut rests = Rests {
            points: vec![0; players],
            balance: vec![0; players],
            ..Rests::default()
        };
        while let NextRound::Round(round) = swiss.next() {
            rests.check(&round);
            let meetings = results(&round, 1, &mut lots);
            rests.add(&round, &meetings);
            swiss.on_scheduled(&round);
            swiss.on_round_finished(&meetings);
        }
    }

    #[test]
    fn a_game_alone_shares_its_opening_with_the_one_that_follows(games in 2u32..6) {
        let round = Round { number: 1, pairs: vec![[0, 1]], ..Round::default() };
        let one = schedule_games(&round, 1, Colours::Random, 3, &PairHistory::new(), 0)[0];
        let mut have = PairHistory::new();
        have.entry([0, 1]).or_default().add(one.players[0] == 0, one.opening);
        let more = schedule_games(&round, games, Colours::Random, 3, &have, 1);
        prop_assert_eq!(more.len(), games as usize - 1);
        prop_assert_eq!(more[0].opening, one.opening);
        prop_assert_eq!(more[0].players, [one.players[1], one.players[0]]);
        prop_assert!(more[1..].iter().all(|game| game.opening > one.opening));
    }

    #[test]
    fn in_a_long_swiss_contest_pairs_meet_again_only_if_they_must(
        players in 2usize..9, seed in any::<u64>(),
    ) {
        let players = players + players % 2;
        let mut swiss = Swiss::new(players, players as u32 + 3, 1, Points::default());
        let played = play(&mut swiss, 1, seed, 100);
        prop_assert_eq!(played.len(), players + 3);
        let mut met = HashSet::new();
        for round in &played {
            let pairs = round.pairs.iter().map(|pair| [pair[0].min(pair[1]), pair[0].max(pair[1])]);
            let again = pairs.clone().any(|pair| met.contains(&pair));
            let free: Vec<usize> = (0..players).collect();
            prop_assert_eq!(again, !can_avoid(&free, &met), "{:?} after {:?}", round, met);
            met.extend(pairs);
        }
    }

    #[test]
    fn in_a_knockout_all_but_one_lose_a_meeting(players in 1usize..70, replays in 0u32..3, seed: u64) {
        let mut knockout = Knockout::new(players, replays);
        let played = play(&mut knockout, 2, seed, 1000);
        prop_assert_eq!(knockout.next(), NextRound::Over);
        // Without replays: as many meetings as players who go.
        let first = played.iter().filter(|round| !round.title.contains("replay"));
        let stages = (players.max(1) as f64).log2().ceil() as usize;
        prop_assert_eq!(first.clone().count(), stages);
        prop_assert_eq!(first.map(|round| round.pairs.len()).sum::<usize>(), players - 1);
        let progress = knockout.progress().unwrap();
        prop_assert_eq!(progress.iter().filter(|reached| **reached == stages as i64).count(), 1);
        // The best seeds rest in the first round.
        if let Some(round) = played.first() {
            let mut byes = round.byes.clone();
            byes.sort_unstable();
            prop_assert!(byes.iter().enumerate().all(|(place, player)| place == *player));
        }
    }

    #[test]
    fn a_ladder_goes_on_and_everybody_keeps_a_place(players in 2usize..20, seed: u64) {
        let mut ladder = Ladder::new(players, None);
        let played = play(&mut ladder, 2, seed, 50);
        prop_assert_eq!(played.len(), 50, "it does not end by itself");
        let mut places = ladder.progress().unwrap();
        places.sort_unstable();
        prop_assert_eq!(places, (1..=players as i64).collect::<Vec<_>>());
        prop_assert!(matches!(Ladder::new(players, Some(0)).next(), NextRound::Over));
    }
}

#[test]
fn a_challenger_who_wins_takes_the_place_above() {
    let mut ladder = Ladder::new(3, None);
    let NextRound::Round(round) = ladder.next() else { unreachable!() };
    assert_eq!(round.pairs, [[1, 0]], "places 2 and 1");
    ladder.on_scheduled(&round);
    assert_eq!(ladder.next(), NextRound::Wait);
    let mut meeting = PairingResult::new([1, 0]);
    meeting.add(1, Some(1));
    meeting.add(0, None);
    ladder.on_round_finished(&[meeting]);
    assert_eq!(ladder.progress().unwrap(), [2, 3, 1]);
    let NextRound::Round(round) = ladder.next() else { unreachable!() };
    assert_eq!(round.pairs, [[2, 0]], "places 3 and 2");
}

#[test]
fn a_tied_knockout_is_repeated_and_then_the_better_seed_goes_on() {
    let mut knockout = Knockout::new(2, 1);
    for (title, pair) in [("final", [0, 1]), ("final, replay 1", [1, 0])] {
        let NextRound::Round(round) = knockout.next() else { unreachable!() };
        assert_eq!((round.title.as_str(), round.pairs.as_slice()), (title, &[pair][..]));
        knockout.on_scheduled(&round);
        let mut meeting = PairingResult::new(pair);
        meeting.add(0, None);
        meeting.add(1, None);
        knockout.on_round_finished(&[meeting]);
    }
    assert_eq!(knockout.next(), NextRound::Over);
    assert_eq!(knockout.progress().unwrap(), [1, 0]);
    assert_eq!(
        knockout.seed_decisions(),
        [SeedDecision { round: "final".into(), winner: 0, loser: 1 }]
    );
}

#[test]
fn a_thousand_players_have_eleven_rounds_of_a_swiss_contest_without_rematches() {
    for players in [1000, 999] {
        let mut swiss = Swiss::new(players, 11, 1, Points::default());
        let played = play(&mut swiss, 1, 3, 100);
        assert_eq!(played.len(), 11);
        assert!(meetings(&played).values().all(|count| *count == 1));
        let balance = balances(&played, players, 1, Colours::Balanced);
        assert!(balance.iter().all(|balance| balance.abs() <= 2));
    }
}

#[test]
fn random_colours_of_single_games_follow_from_the_seed_and_are_fair() {
    let players: Vec<usize> = (0..40).collect();
    let rounds = round_robin(&players);
    let firsts = |seed| -> Vec<bool> {
        let of =
            |round: &Round| schedule_games(round, 1, Colours::Random, seed, &PairHistory::new(), 0);
        rounds.iter().flat_map(of).map(|game| game.players[0] < game.players[1]).collect()
    };
    assert_eq!(firsts(1), firsts(1));
    assert_ne!(firsts(1), firsts(2));
    let lower = firsts(1).into_iter().filter(|lower| *lower).count();
    assert!((300..480).contains(&lower), "{lower} of 780");
}
