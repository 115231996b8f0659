//! Ratings agree with a second implementation, and their intervals hold what they promise.

use crownhead_statistics::ratings::{
    Anchor, Estimated, RatedGame, RatingError, RatingOptions, Ratings, rate,
};

const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Plays games between all ordered pairs by the model: strengths, first-move advantage, draws.
fn simulate(
    strengths: &[f64],
    advantage: f64,
    draw: f64,
    games: usize,
    seed: u64,
) -> Vec<RatedGame> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut results = Vec::new();
    for first in 0..strengths.len() {
        for second in (0..strengths.len()).filter(|&second| second != first) {
            let win = ((strengths[first] - strengths[second] + advantage) / 2.0).exp();
            for _ in 0..games {
                let point = rng.f64() * (win + draw + 1.0 / win);
                let winner = match point {
                    point if point < win => Some(0),
                    point if point < win + draw => None,
                    _ => Some(1),
                };
                results.push(([first, second], winner));
            }
        }
    }
    results
}

fn rate_all(players: usize, games: &[RatedGame]) -> Ratings {
    rate(players, games.iter().copied(), RatingOptions::default()).unwrap()
}

/// The second implementation: adjusts one parameter after the other by bisection until expected
/// and actual points (and draws) agree. Player 0 has strength 0.
fn solve_by_bisection(players: usize, games: &[RatedGame]) -> Vec<f64> {
    let mut parameters = vec![0.0_f64; players + 2];
    for _ in 0..400 {
        for index in 1..players + 2 {
            let (mut low, mut high) = (-10.0, 10.0);
            for _ in 0..50 {
                parameters[index] = (low + high) / 2.0;
                let mut excess = 0.0;
                for ([first, second], winner) in games {
                    let d = parameters[*first] - parameters[*second] + parameters[players];
                    let weights =
                        [(d / 2.0).exp(), parameters[players + 1].exp(), (-d / 2.0).exp()];
                    let sum: f64 = weights.iter().sum();
                    let expected = (weights[0] + weights[1] / 2.0) / sum;
                    let points = match winner {
                        Some(0) => 1.0,
                        Some(_) => 0.0,
                        None => 0.5,
                    };
                    if index == players + 1 {
                        excess += weights[1] / sum - f64::from(winner.is_none());
                    } else if index == players || *first == index {
                        excess += expected - points;
                    } else if *second == index {
                        excess += points - expected;
                    }
                }
                if excess > 0.0 { high = parameters[index] } else { low = parameters[index] }
            }
        }
    }
    parameters
}

fn log_likelihood(players: usize, games: &[RatedGame], parameters: &[f64]) -> f64 {
    let one = |([first, second], winner): &RatedGame| {
        let d = parameters[*first] - parameters[*second] + parameters[players];
        let logs = [d / 2.0, parameters[players + 1], -d / 2.0];
        let sum: f64 = logs.iter().map(|log| log.exp()).sum();
        logs[winner.map_or(1, |winner| 2 * winner)] - sum.ln()
    };
    games.iter().map(one).sum()
}

/// Inverse of the matrix of second differences, by Gauss-Jordan elimination, without player 0.
fn numeric_covariance(players: usize, games: &[RatedGame], at: &[f64]) -> Vec<Vec<f64>> {
    let size = players + 1;
    let step = 1e-3;
    let value = |i: usize, j: usize, a: f64, b: f64| {
        let mut moved = at.to_vec();
        moved[i + 1] += a;
        moved[j + 1] += b;
        log_likelihood(players, games, &moved)
    };
    let mut matrix = vec![vec![0.0; 2 * size]; size];
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, entry) in row[..size].iter_mut().enumerate() {
            let difference =
                value(i, j, step, step) - value(i, j, step, -step) - value(i, j, -step, step)
                    + value(i, j, -step, -step);
            *entry = -difference / (4.0 * step * step);
        }
        row[size + i] = 1.0;
    }
    for pivot in 0..size {
        let factor = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|entry| *entry /= factor);
        let pivot_row = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&pivot_row).for_each(|(entry, other)| *entry -= factor * other);
        }
    }
    matrix.into_iter().map(|row| row[size..].to_vec()).collect()
}

#[test]
fn ratings_and_errors_agree_with_a_second_implementation() {
    let players = 4;
    let games = simulate(&[0.0, 0.8, -0.5, 1.4], 0.3, 1.5, 30, 7);
    let ratings = rate_all(players, &games);
    let parameters = solve_by_bisection(players, &games);
    let covariance = numeric_covariance(players, &games, &parameters);
    let odds = parameters[players + 1].exp();
    let scale = ELO * 2.0 / (2.0 + odds);
    assert!((ratings.draw_rate - odds / (2.0 + odds)).abs() < 1e-6);
    assert!((ratings.first_move.value - scale * parameters[players]).abs() < 1e-4);
    for (player, strength) in parameters[..players].iter().enumerate().skip(1) {
        let Estimated { value, error } = ratings.difference(player, 0);
        assert!((value - scale * strength).abs() < 1e-4, "{value} {}", scale * strength);
        // The scale depends on the draw parameter, too.
        let slope = -strength * scale * odds / (2.0 + odds);
        let (i, v) = (player - 1, players);
        let variance = scale * scale * covariance[i][i]
            + 2.0 * scale * slope * covariance[i][v]
            + slope * slope * covariance[v][v];
        let expected = 1.959_964 * variance.sqrt();
        assert!((error / expected - 1.0).abs() < 1e-3, "{error} {expected}");
    }
}

#[test]
fn intervals_cover_the_true_rating_in_95_of_100_simulations() {
    let strengths = [-0.9, -0.4, 0.0, 0.1, 0.5, 0.7];
    let (advantage, draw) = (0.4, 3.0);
    let scale = ELO * 2.0 / (2.0 + draw);
    let (mut covered, mut covered_first, runs) = (0, 0, 1_000);
    for seed in 0..runs {
        let ratings = rate_all(6, &simulate(&strengths, advantage, draw, 20, seed));
        let covers =
            |estimated: Estimated, truth: f64| (estimated.value - truth).abs() < estimated.error;
        covered += (0..6).filter(|&i| covers(ratings.players[i], scale * strengths[i])).count();
        covered_first += usize::from(covers(ratings.first_move, scale * advantage));
    }
    let coverage = covered as f64 / (6 * runs) as f64;
    assert!((0.935..0.965).contains(&coverage), "{coverage}");
    let coverage = covered_first as f64 / runs as f64;
    assert!((0.93..0.97).contains(&coverage), "{coverage}");
}

#[test]
fn expected_scores_of_a_player_add_up_to_its_points() {
    let players = 4;
    let games = simulate(&[0.0, 2.5, -1.5, 1.0], 0.6, 2.0, 15, 11);
    let ratings = rate_all(players, &games);
    let (mut expected, mut points) = (vec![0.0; players], vec![0.0; players]);
    for ([first, second], winner) in &games {
        expected[*first] += ratings.expected_score(*first, *second, true);
        expected[*second] += ratings.expected_score(*second, *first, false);
        points[*first] += winner.map_or(0.5, |winner| f64::from(u8::from(winner == 0)));
        points[*second] += winner.map_or(0.5, |winner| f64::from(u8::from(winner == 1)));
    }
    for (expected, points) in expected.iter().zip(&points) {
        assert!((expected - points).abs() < 1e-5, "{expected} {points}");
    }
}

#[test]
fn rating_difference_of_two_players_is_close_to_the_elo_of_their_score() {
    // 30 wins, 60 draws, 10 losses, half of them with each colour: 60 %, +70 Elo.
    let one_colour = [(15, Some(0)), (30, None), (5, Some(1))];
    let games = one_colour.iter().flat_map(|&(count, winner)| {
        let reversed = winner.map(|winner: usize| 1 - winner);
        std::iter::repeat_n([([0, 1], winner), ([1, 0], reversed)], count).flatten()
    });
    let ratings = rate(2, games, RatingOptions::default()).unwrap();
    let difference = ratings.difference(0, 1);
    assert!((difference.value - 70.4).abs() < 3.0, "{difference:?}");
    assert!(ratings.first_move.value.abs() < 1e-6);
    assert!(ratings.los(0, 1) > 0.99 && ratings.los(1, 0) < 0.01);
}

#[test]
fn anchored_player_has_its_rating_and_differences_stay() {
    let games = simulate(&[0.0, 0.5, 1.0], 0.0, 1.0, 20, 3);
    let mean = rate_all(3, &games);
    let options = RatingOptions { anchor: Anchor::Player(1, 2000.0), ..RatingOptions::default() };
    let anchored = rate(3, games, options).unwrap();
    assert_eq!(anchored.players[1], Estimated { value: 2000.0, error: 0.0 });
    let differences = [&mean, &anchored].map(|r| r.players[2].value - r.players[0].value);
    assert!((differences[0] - differences[1]).abs() < 1e-6);
    assert!(mean.players.iter().map(|rating| rating.value).sum::<f64>().abs() < 1e-6);
}

#[test]
fn player_who_lost_everything_gets_a_finite_rating_from_the_prior() {
    let mut games = simulate(&[0.0, 0.5], 0.0, 1.0, 20, 5);
    games.extend([([2, 0], Some(1)), ([1, 2], Some(0)), ([2, 1], Some(1)), ([0, 2], Some(0))]);
    let ratings = rate_all(3, &games);
    assert_eq!(ratings.prior, 1.0);
    assert_eq!(ratings.order()[2], 2);
    assert!(ratings.players.iter().all(|rating| rating.value.is_finite() && rating.error > 0.0));
    let options = RatingOptions { prior: Some(0.0), ..RatingOptions::default() };
    assert_eq!(rate(3, games, options), Err(RatingError::Unbounded));
}

#[test]
fn degenerate_results_have_finite_ratings_or_an_error() {
    let none: [RatedGame; 0] = [];
    assert_eq!(rate(2, none, RatingOptions::default()), Err(RatingError::NoGames));
    assert!(matches!(
        rate(5_000, [([0, 1], None)], RatingOptions::default()),
        Err(RatingError::TooManyPlayers(5_000))
    ));
    for winner in [None, Some(0), Some(1)] {
        for count in [1, 1_000] {
            let games = std::iter::repeat_n(([0, 1], winner), count);
            let ratings = rate(3, games, RatingOptions::default()).unwrap();
            let finite = |rating: &Estimated| rating.value.is_finite() && rating.error.is_finite();
            assert!(ratings.players.iter().all(finite), "{winner:?} {count}");
        }
    }
}
