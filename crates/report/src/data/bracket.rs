//! Rounds of a knockout.

use std::collections::HashMap;

use crownhead_tournament::journal::Snapshot;
use crownhead_tournament::schedule::bracket_slots;
use crownhead_tournament::standings::Standings;
use serde::Serialize;

/// A round of a knockout with its replays.
#[derive(Debug, Serialize)]
pub struct BracketRound {
    /// Title, such as `semi-finals`.
    pub title: String,
    /// Pairings from the top of the bracket to its bottom; a player without an opponent has a bye.
    pub pairings: Vec<BracketPairing>,
}

/// A pairing of a knockout.
#[derive(Debug, Serialize)]
pub struct BracketPairing {
    /// The players, the one higher up in the bracket first; the second is missing for a bye.
    pub players: [Option<usize>; 2],
    /// Points per player, 1 for a win and ½ for a draw.
    pub points: [f64; 2],
    /// Index of the player who advanced: 0 or 1.
    pub winner: Option<usize>,
    /// Whether the better seed advanced after a tie.
    pub by_seed: bool,
    /// Numbers of the games.
    pub games: Vec<i64>,
    /// Number of games that are not finished.
    pub unfinished: usize,
}

/// Returns the rounds. Replays of tied pairings belong to the round they decide.
pub(super) fn rounds(snapshot: &Snapshot, standings: &Standings) -> Vec<BracketRound> {
    let players = snapshot.active_players();
    let slots = bracket_slots(players.len()).into_iter().flatten();
    let slots: HashMap<usize, usize> =
        slots.filter_map(|seed| players.get(seed).copied()).zip(0..).collect();
    let slot = |player: &usize| slots.get(player).copied().unwrap_or(usize::MAX);
    let mut rounds: Vec<BracketRound> = Vec::new();
    for (title, number) in snapshot.rounds.iter().zip(1u32..) {
        let stage = title.split(", replay").next().unwrap_or(title);
        if rounds.last().is_none_or(|round| round.title != stage) {
            rounds.push(BracketRound { title: stage.into(), pairings: Vec::new() });
        }
        let Some(round) = rounds.last_mut() else { continue };
        for game in snapshot.games.iter().filter(|game| game.round == number) {
            let mut players = game.players;
            players.sort_by_key(slot);
            let players = players.map(Some);
            let known = round.pairings.iter().position(|pairing| pairing.players == players);
            let index = known.unwrap_or(round.pairings.len());
            if known.is_none() {
                round.pairings.push(BracketPairing {
                    players,
                    points: [0.0; 2],
                    winner: None,
                    by_seed: false,
                    games: Vec::new(),
                    unfinished: 0,
                });
            }
            let pairing = &mut round.pairings[index];
            pairing.games.push(game.number);
            let Some(summary) = &game.summary else {
                pairing.unfinished += 1;
                continue;
            };
            for (side, player) in game.players.iter().enumerate() {
                let points = match summary.winner {
                    None => 0.5,
                    Some(winner) => f64::from(u8::from(winner == side)),
                };
                let place = usize::from(pairing.players[0] != Some(*player));
                pairing.points[place] += points;
            }
        }
        for (_, player) in snapshot.byes.iter().filter(|(round, _)| *round == number) {
            round.pairings.push(BracketPairing {
                players: [Some(*player), None],
                points: [0.0; 2],
                winner: Some(0),
                by_seed: false,
                games: Vec::new(),
                unfinished: 0,
            });
        }
    }
    for round in &mut rounds {
        round.pairings.sort_by_key(|pairing| pairing.players.iter().flatten().map(slot).min());
    }
    decide(&mut rounds, standings);
    rounds
}

/// Finds out who advanced: who appears in the next round, or has more points.
fn decide(rounds: &mut [BracketRound], standings: &Standings) {
    let next: Vec<Vec<usize>> = (1..=rounds.len())
        .map(|index| {
            let pairings = rounds.get(index).map_or(&[][..], |round| &round.pairings);
            pairings.iter().flat_map(|pairing| pairing.players).flatten().collect()
        })
        .collect();
    for (round, advanced) in rounds.iter_mut().zip(next) {
        for pairing in &mut round.pairings {
            let by_seed = standings.seed_decisions.iter().find(|decision| {
                decision.round == round.title
                    && pairing.players.contains(&Some(decision.winner))
                    && pairing.players.contains(&Some(decision.loser))
            });
            if let Some(decision) = by_seed {
                pairing.by_seed = true;
                let winner = Some(decision.winner);
                pairing.winner = pairing.players.iter().position(|player| *player == winner);
            } else if pairing.winner.is_none() {
                let has_advanced = |player: &Option<usize>| {
                    player.is_some_and(|player| advanced.contains(&player))
                };
                let [first, second] = pairing.points;
                pairing.winner = pairing.players.iter().position(has_advanced).or_else(|| {
                    // The final, or a round whose successor is not scheduled yet.
                    let is_decided = pairing.unfinished == 0 && first != second;
                    is_decided.then(|| usize::from(second > first))
                });
            }
        }
    }
}
