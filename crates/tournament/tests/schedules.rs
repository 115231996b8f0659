//! Properties of every schedule, for any number of players.

use std::collections::{HashMap, HashSet};

use crownhead_tournament::schedule::{
    Knockout, Ladder, NextRound, PairHistory, PairingResult, Round, Scheduler, SeedDecision, Swiss,
    gauntlet, round_robin, schedule_games,
};
use crownhead_tournament::{Colours, Points};
use proptest::prelude::*;

/// Checks that nobody has two opponents in a round, or an opponent and a bye.
fn check_round(round: &Round) {
    let mut seen = HashSet::new();
    for player in round.pairs.iter().flatten().chain(&round.byes) {
        assert!(seen.insert(*player), "{player} appears twice: {round:?}");
    }
}

fn pair_key([a, b]: [usize; 2]) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// Returns how often each pair plays.
fn pair_counts(rounds: &[Round]) -> HashMap<[usize; 2], usize> {
    let mut counts = HashMap::new();
    for &pair in rounds.iter().flat_map(|round| &round.pairs) {
        *counts.entry(pair_key(pair)).or_default() += 1;
    }
    counts
}

/// Returns games moved first minus games moved second, by player.
fn balances(rounds: &[Round], players: usize, games: u32, colours: Colours) -> Vec<i32> {
    let mut balances = vec![0; players];
    for round in rounds {
        for game in schedule_games(round, games, colours, 7, &PairHistory::new(), 0) {
            balances[game.players[0]] += 1;
            balances[game.players[1]] -= 1;
        }
    }
    balances
}

fn bye_counts(rounds: &[Round], players: usize) -> Vec<usize> {
    let mut counts = vec![0; players];
    rounds.iter().flat_map(|round| &round.byes).for_each(|player| counts[*player] += 1);
    counts
}

/// Returns random results in which the better seed wins more often.
fn random_results(round: &Round, games: u32, rng: &mut fastrand::Rng) -> Vec<PairingResult> {
    let scheduled = schedule_games(round, games, Colours::Balanced, 1, &PairHistory::new(), 0);
    let mut results: Vec<PairingResult> =
        round.pairs.iter().map(|pair| PairingResult::new(*pair)).collect();
    for game in scheduled {
        let winner = match rng.u32(..10) {
            0..5 => Some(*game.players.iter().min().unwrap()),
            5..8 => Some(*game.players.iter().max().unwrap()),
            _ => None,
        };
        let is_pairing =
            |result: &&mut PairingResult| pair_key(result.players) == pair_key(game.players);
        results.iter_mut().find(is_pairing).unwrap().add(game.players[0], winner);
    }
    results
}

/// Plays up to `max` rounds with random results, and returns them.
fn play(scheduler: &mut dyn Scheduler, games: u32, seed: u64, max: usize) -> Vec<Round> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut rounds = Vec::new();
    while rounds.len() < max {
        let NextRound::Round(round) = scheduler.next() else { break };
        check_round(&round);
        assert_eq!(scheduler.next(), NextRound::Round(round.clone()), "`next` changes nothing");
        scheduler.on_scheduled(&round);
        scheduler.on_round_finished(&random_results(&round, games, &mut rng));
        rounds.push(round);
    }
    rounds
}

/// Checks by brute force who has the bye in a Swiss round: no lower player could have it without a
/// rematch, a second bye or a larger difference in points.
#[derive(Default)]
struct ByeChecker {
    points: Vec<i64>,
    balances: Vec<i32>,
    met: HashSet<[usize; 2]>,
    had_bye: HashSet<usize>,
}

impl ByeChecker {
    fn distance(&self, [a, b]: [usize; 2]) -> i64 {
        (self.points[a] - self.points[b]).abs()
    }

    fn can_pair(&self, free: &[usize], max_distance: i64) -> bool {
        let Some((&player, others)) = free.split_first() else { return true };
        others.iter().any(|&opponent| {
            let rest: Vec<usize> = others.iter().copied().filter(|&p| p != opponent).collect();
            let [a, b] = [player, opponent].map(|player| self.balances[player]);
            let is_unbalanced = a.abs().min(b.abs()) >= 2 && a.signum() == b.signum();
            !is_unbalanced
                && !self.met.contains(&[player, opponent])
                && self.distance([player, opponent]) <= max_distance
                && self.can_pair(&rest, max_distance)
        })
    }

    fn check(&self, round: &Round) {
        let bye = round.byes[0];
        let min_points = *self.points.iter().min().unwrap();
        let max_distance = round.pairs.iter().map(|pair| self.distance(*pair)).max().unwrap();
        let max_distance = max_distance.max(self.points[bye] - min_points);
        if round.pairs.iter().any(|pair| self.met.contains(&pair_key(*pair))) {
            return;
        }
        let place = |player: usize| (-self.points[player], player);
        for player in (0..self.points.len()).filter(|player| !self.had_bye.contains(player)) {
            let others: Vec<usize> =
                (0..self.points.len()).filter(|other| *other != player).collect();
            let is_possible = self.points[player] - min_points <= max_distance
                && self.can_pair(&others, max_distance);
            assert!(
                place(player) <= place(bye) || !is_possible,
                "{player} could have the bye instead of {bye}: {:?}, {round:?}",
                self.points
            );
        }
    }

    fn add(&mut self, round: &Round, results: &[PairingResult]) {
        self.had_bye.extend(&round.byes);
        self.points[round.byes[0]] += Points::default().bye;
        for result in results {
            self.met.insert(pair_key(result.players));
            for (side, &player) in result.players.iter().enumerate() {
                self.points[player] += i64::from(2 * result.wins[side] + result.draws);
                let counts = result.first_move_counts;
                self.balances[player] += counts[side] as i32 - counts[1 - side] as i32;
            }
        }
    }
}

/// Returns whether all can be paired without a rematch, by brute force.
fn can_avoid_rematches(free: &[usize], met: &HashSet<[usize; 2]>) -> bool {
    let Some((&player, others)) = free.split_first() else { return true };
    others.iter().any(|&opponent| {
        let rest: Vec<usize> = others.iter().copied().filter(|&p| p != opponent).collect();
        !met.contains(&[player, opponent]) && can_avoid_rematches(&rest, met)
    })
}

proptest! {
    #[test]
    fn round_robin_pairs_everybody_once(players in 2usize..80) {
        let rounds = round_robin(&(0..players).collect::<Vec<_>>());
        rounds.iter().for_each(check_round);
        let counts = pair_counts(&rounds);
        prop_assert_eq!(counts.len(), players * (players - 1) / 2);
        prop_assert!(counts.values().all(|count| *count == 1));
        prop_assert_eq!(rounds.len(), players - 1 + players % 2);
        // With an odd number everybody has one bye.
        prop_assert!(bye_counts(&rounds, players).iter().all(|byes| *byes == players % 2));
    }

    #[test]
    fn round_robin_balances_colours(players in 2usize..60, games in 1u32..5) {
        let rounds = round_robin(&(0..players).collect::<Vec<_>>());
        let balances = balances(&rounds, players, games, Colours::Balanced);
        let max = if games % 2 == 0 { 0 } else { 1 };
        prop_assert!(balances.iter().all(|balance| balance.abs() <= max), "{balances:?}");
    }

    #[test]
    fn games_of_a_pair_alternate_colours_and_share_openings(games in 1u32..9, seed in any::<u64>()) {
        let round = Round { number: 1, pairs: vec![[3, 1], [0, 2]], ..Round::default() };
        let schedule = || {
            schedule_games(&round, games, Colours::Random, seed, &PairHistory::new(), 5)
        };
        let scheduled = schedule();
        prop_assert_eq!(&scheduled, &schedule());
        prop_assert_eq!(scheduled.len(), 2 * games as usize);
        for pairing in scheduled.chunks(games as usize) {
            for pair in pairing.chunks_exact(2) {
                prop_assert_eq!(pair[0].opening, pair[1].opening);
                prop_assert_eq!(pair[0].players, [pair[1].players[1], pair[1].players[0]]);
            }
        }
        let openings: HashSet<_> = scheduled.iter().map(|game| game.opening).collect();
        prop_assert_eq!(openings.len(), 2 * games.div_ceil(2) as usize, "one per pair of games");
        prop_assert!(openings.iter().all(|opening| *opening >= 5));
    }

    #[test]
    fn gauntlet_pairs_each_challenger_with_everybody(challengers in 1usize..6, others in 1usize..20) {
        let all: Vec<usize> = (0..challengers + others).collect();
        let rounds = gauntlet(&all[..challengers], &all[challengers..]);
        rounds.iter().for_each(check_round);
        let counts = pair_counts(&rounds);
        prop_assert_eq!(counts.len(), challengers * others + challengers * (challengers - 1) / 2);
        prop_assert!(counts.iter().all(|(pair, count)| *count == 1 && pair[0] < challengers));
    }

    #[test]
    fn swiss_has_no_rematches(
        players in 2usize..40, rounds in 1u32..12, games in 1u32..3, seed in any::<u64>(),
    ) {
        // Rematches can always be avoided for half as many rounds as there are players.
        let rounds = rounds.min((players as u32 / 2).max(1));
        let mut swiss = Swiss::new(players, rounds, games, Points::default());
        let played = play(&mut swiss, games, seed, 100);
        prop_assert_eq!(played.len(), rounds as usize);
        prop_assert!(pair_counts(&played).values().all(|count| *count == 1));
        prop_assert!(bye_counts(&played, players).iter().all(|byes| *byes <= 1), "one bye at most");
        for round in &played {
            prop_assert_eq!(2 * round.pairs.len() + round.byes.len(), players);
        }
        let balances = balances(&played, players, games, Colours::Balanced);
        prop_assert!(balances.iter().all(|balance| balance.abs() <= 2), "{balances:?}");
    }

    #[test]
    fn swiss_gives_the_bye_to_the_lowest_player_possible(half in 1usize..5, seed in any::<u64>()) {
        let players = 2 * half + 1;
        let mut swiss = Swiss::new(players, players as u32, 1, Points::default());
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut checker = ByeChecker {
            points: vec![0; players],
            balances: vec![0; players],
            ..ByeChecker::default()
        };
        while let NextRound::Round(round) = swiss.next() {
            checker.check(&round);
            let results = random_results(&round, 1, &mut rng);
            checker.add(&round, &results);
            swiss.on_scheduled(&round);
            swiss.on_round_finished(&results);
        }
    }

    #[test]
    fn unpaired_game_shares_its_opening_with_the_next_one(games in 2u32..6) {
        let round = Round { number: 1, pairs: vec![[0, 1]], ..Round::default() };
        let schedule = |games, history: &PairHistory, opening| {
            schedule_games(&round, games, Colours::Random, 3, history, opening)
        };
        let first = schedule(1, &PairHistory::new(), 0)[0];
        let mut history = PairHistory::new();
        history.entry([0, 1]).or_default().add(first.players[0] == 0, first.opening);
        let more = schedule(games, &history, 1);
        prop_assert_eq!(more.len(), games as usize - 1);
        prop_assert_eq!(more[0].opening, first.opening);
        prop_assert_eq!(more[0].players, [first.players[1], first.players[0]]);
        prop_assert!(more[1..].iter().all(|game| game.opening > first.opening));
    }

    #[test]
    fn long_swiss_has_rematches_only_if_unavoidable(players in 2usize..9, seed in any::<u64>()) {
        let players = players + players % 2;
        let mut swiss = Swiss::new(players, players as u32 + 3, 1, Points::default());
        let played = play(&mut swiss, 1, seed, 100);
        prop_assert_eq!(played.len(), players + 3);
        let mut met = HashSet::new();
        for round in &played {
            let pairs = round.pairs.iter().map(|pair| pair_key(*pair));
            let has_rematch = pairs.clone().any(|pair| met.contains(&pair));
            let all: Vec<usize> = (0..players).collect();
            prop_assert_eq!(
                has_rematch, !can_avoid_rematches(&all, &met), "{:?} after {:?}", round, met
            );
            met.extend(pairs);
        }
    }

    #[test]
    fn knockout_eliminates_all_but_one(players in 1usize..70, tie_replays in 0u32..3, seed: u64) {
        let mut knockout = Knockout::new(players, tie_replays);
        let played = play(&mut knockout, 2, seed, 1000);
        prop_assert_eq!(knockout.next(), NextRound::Over);
        // Without replays there is one pairing per eliminated player.
        let stages = played.iter().filter(|round| !round.title.contains("replay"));
        let stage_count = (players.max(1) as f64).log2().ceil() as usize;
        prop_assert_eq!(stages.clone().count(), stage_count);
        prop_assert_eq!(stages.map(|round| round.pairs.len()).sum::<usize>(), players - 1);
        let progress = knockout.progress().unwrap();
        let winners = progress.iter().filter(|reached| **reached == stage_count as i64);
        prop_assert_eq!(winners.count(), 1);
        // The best seeds have the byes of the first round.
        if let Some(round) = played.first() {
            let mut byes = round.byes.clone();
            byes.sort_unstable();
            prop_assert!(byes.iter().enumerate().all(|(seed, player)| seed == *player));
        }
    }

    #[test]
    fn ladder_never_ends_and_keeps_every_player(players in 2usize..20, seed: u64) {
        let mut ladder = Ladder::new(players, None);
        let played = play(&mut ladder, 2, seed, 50);
        prop_assert_eq!(played.len(), 50);
        let mut places = ladder.progress().unwrap();
        places.sort_unstable();
        prop_assert_eq!(places, (1..=players as i64).collect::<Vec<_>>());
        prop_assert!(matches!(Ladder::new(players, Some(0)).next(), NextRound::Over));
    }
}

#[test]
fn ladder_challenger_who_wins_takes_the_place_above() {
    let mut ladder = Ladder::new(3, None);
    let NextRound::Round(round) = ladder.next() else { unreachable!() };
    assert_eq!(round.pairs, [[1, 0]], "places 2 and 1");
    ladder.on_scheduled(&round);
    assert_eq!(ladder.next(), NextRound::Wait);
    let mut result = PairingResult::new([1, 0]);
    result.add(1, Some(1));
    result.add(0, None);
    ladder.on_round_finished(&[result]);
    assert_eq!(ladder.progress().unwrap(), [2, 3, 1]);
    let NextRound::Round(round) = ladder.next() else { unreachable!() };
    assert_eq!(round.pairs, [[2, 0]], "places 3 and 2");
}

#[test]
fn knockout_replays_a_tie_then_the_better_seed_advances() {
    let mut knockout = Knockout::new(2, 1);
    for (title, pair) in [("final", [0, 1]), ("final, replay 1", [1, 0])] {
        let NextRound::Round(round) = knockout.next() else { unreachable!() };
        assert_eq!((round.title.as_str(), round.pairs.as_slice()), (title, &[pair][..]));
        knockout.on_scheduled(&round);
        let mut result = PairingResult::new(pair);
        result.add(0, None);
        result.add(1, None);
        knockout.on_round_finished(&[result]);
    }
    assert_eq!(knockout.next(), NextRound::Over);
    assert_eq!(knockout.progress().unwrap(), [1, 0]);
    let decision = SeedDecision { round: "final".into(), winner: 0, loser: 1 };
    assert_eq!(knockout.seed_decisions(), [decision]);
}

#[test]
fn swiss_pairs_a_thousand_players_for_eleven_rounds_without_rematches() {
    for players in [1000, 999] {
        let mut swiss = Swiss::new(players, 11, 1, Points::default());
        let played = play(&mut swiss, 1, 3, 100);
        assert_eq!(played.len(), 11);
        assert!(pair_counts(&played).values().all(|count| *count == 1));
        let balances = balances(&played, players, 1, Colours::Balanced);
        assert!(balances.iter().all(|balance| balance.abs() <= 2));
    }
}

#[test]
fn random_colours_depend_on_the_seed_and_are_fair() {
    let players: Vec<usize> = (0..40).collect();
    let rounds = round_robin(&players);
    let is_lower_first = |seed| -> Vec<bool> {
        let games =
            |round: &Round| schedule_games(round, 1, Colours::Random, seed, &PairHistory::new(), 0);
        rounds.iter().flat_map(games).map(|game| game.players[0] < game.players[1]).collect()
    };
    assert_eq!(is_lower_first(1), is_lower_first(1));
    assert_ne!(is_lower_first(1), is_lower_first(2));
    let lower = is_lower_first(1).into_iter().filter(|lower| *lower).count();
    assert!((300..480).contains(&lower), "{lower} of 780");
}
