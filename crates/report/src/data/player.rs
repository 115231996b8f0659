//! The report of one player.

use std::collections::{BTreeMap, HashMap};

use crownhead_analysis::{Eval, GameAnalysis, MoveAnalysis};
use crownhead_play::FaultKind;
use crownhead_statistics::ratings::Ratings;
use serde::Serialize;

use super::games::side;
use super::{FaultEntry, GameEntry, Report, ReportInput, advice, rounded};
use crate::replay::eval_for;

/// Maximum number of drops listed.
const MAX_DROPS: usize = 5;
/// Maximum number of slow moves listed.
const MAX_SLOW_MOVES: usize = 5;
/// Maximum number of faults listed for each kind.
const MAX_OCCURRENCES: usize = 3;

/// The report of one player.
#[derive(Debug, Serialize)]
pub struct PlayerReport {
    /// The player.
    pub player: usize,
    /// Rank.
    pub rank: usize,
    /// Points.
    pub points: i64,
    /// Games won, drawn and lost.
    pub results: [u32; 3],
    /// The same for games in which the player moved first, and second.
    pub by_colour: [[u32; 3]; 2],
    /// Elo and half the width of its 95 % confidence interval.
    pub rating: Option<[f64; 2]>,
    /// Score against each opponent, in the order of the standings.
    pub opponents: Vec<OpponentScore>,
    /// Score of all games, 1 for a win and ½ for a draw.
    pub achieved: f64,
    /// Expected score of all games, from the ratings.
    pub expected: Option<f64>,
    /// The costliest moves, the worst first; empty without an analysis.
    pub drops: Vec<Drop>,
    /// The slowest moves.
    pub slowest: Vec<SlowMove>,
    /// Faults by kind, the most frequent first.
    pub faults: Vec<FaultGroup>,
    /// Time used.
    pub time: Option<TimeUse>,
    /// Mean search depth, if the player reports it, and the mean of all players that do.
    pub depth: Option<[f64; 2]>,
    /// Accuracy and mistakes, if games were analysed.
    pub quality: Option<Quality>,
    /// What to try next.
    pub suggestions: Vec<String>,
}

/// Score against an opponent.
#[derive(Debug, Serialize)]
pub struct OpponentScore {
    /// The opponent.
    pub opponent: usize,
    /// Numbers of the games, and `+`, `=` or `-` for each.
    pub games: Vec<(i64, char)>,
    /// Score achieved.
    pub achieved: f64,
    /// Score expected from the ratings.
    pub expected: Option<f64>,
}

/// A move that lost much of the expected score.
#[derive(Clone, Debug, Serialize)]
pub struct Drop {
    /// Number of the game.
    pub game: i64,
    /// Opponent.
    pub opponent: usize,
    /// Number of plies before the move.
    pub ply: usize,
    /// The move played.
    pub played: String,
    /// The better move.
    pub better: Option<String>,
    /// Loss of expected score, 0 to 1.
    pub loss: f64,
    /// The other games with the same move in the same position, and the number of plies before it.
    pub also_in: Vec<(i64, usize)>,
    /// What happened, in a sentence.
    pub sentence: String,
    /// Expected score of the player before the move.
    #[serde(skip)]
    pub(super) before: f64,
    /// Whether the player won the game all the same.
    #[serde(skip)]
    pub(super) is_won: bool,
}

/// A move that took long.
#[derive(Clone, Debug, Serialize)]
pub struct SlowMove {
    /// Number of the game.
    pub game: i64,
    /// Opponent.
    pub opponent: usize,
    /// Number of plies after the move.
    pub ply: usize,
    /// The move.
    pub played: String,
    /// Time taken, in milliseconds.
    pub milliseconds: u64,
}

/// Faults of one kind.
#[derive(Debug, Serialize)]
pub struct FaultGroup {
    /// Code of the fault.
    pub code: String,
    /// How often it happened.
    pub count: usize,
    /// What to do about it.
    pub advice: String,
    /// The first ones.
    pub occurrences: Vec<FaultOccurrence>,
}

/// A fault in a game.
#[derive(Debug, Serialize)]
pub struct FaultOccurrence {
    /// Number of the game.
    pub game: i64,
    /// Plies played before it.
    pub ply: u32,
    /// What happened, for the author of the bot.
    pub description: String,
    /// What happened, for everybody.
    pub summary: String,
    /// Log lines of that turn. Only the player may see them, so they are not part of the JSON.
    #[serde(skip)]
    pub log: Vec<String>,
}

/// Time used by a player. Times are in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimeUse {
    /// Number of timed moves.
    pub moves: usize,
    /// Mean time per move.
    pub mean: f64,
    /// Median time per move.
    pub median: u64,
    /// Longest time for a move.
    pub max: u64,
    /// Mean time per move of all players.
    pub class_mean: f64,
}

/// Accuracy and mistakes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quality {
    /// Number of analysed games.
    pub games: usize,
    /// Mean accuracy, 0 to 1.
    pub accuracy: Option<f64>,
    /// Mean accuracy of all players.
    pub class_accuracy: Option<f64>,
    /// Number of inaccuracies, mistakes and blunders.
    pub judgements: [usize; 3],
    /// The same per game, of all players.
    pub class_judgements: [f64; 3],
    /// Games not won in spite of a winning position.
    pub missed_wins: usize,
}

/// Returns the reports of the ranked players, by index.
pub(super) fn reports(
    report: &Report,
    input: &ReportInput<'_>,
    ratings: Option<&Ratings>,
) -> Vec<Option<PlayerReport>> {
    let mut faults: HashMap<usize, Vec<&FaultEntry>> = HashMap::new();
    for fault in &report.faults {
        faults.entry(fault.player).or_default().push(fault);
    }
    let mut times: HashMap<usize, Vec<u64>> = HashMap::new();
    let mut games: HashMap<usize, Vec<&GameEntry>> = HashMap::new();
    for game in &report.games {
        for &player in &game.players {
            games.entry(player).or_default().push(game);
        }
        for time in &game.move_times {
            let player = game.players[time.side];
            let faults = faults.get(&player).map_or(&[][..], Vec::as_slice);
            if is_running(faults, game.number, time.ply - 1) {
                times.entry(player).or_default().push(time.milliseconds);
            }
        }
    }
    let class = Class::new(report, input, &times);
    let mut reports: Vec<Option<PlayerReport>> = report.names.iter().map(|_| None).collect();
    for row in &report.standings {
        let player = row.player;
        let games = games.remove(&player).unwrap_or_default();
        let faults = faults.remove(&player).unwrap_or_default();
        let builder = Builder { report, input, ratings, player, games, faults };
        let (drops, missed_wins) = builder.drops();
        let opponents = builder.opponents();
        let rating = ratings.and_then(|ratings| ratings.players.get(player));
        let expected = opponents.iter().map(|opponent| opponent.expected).sum();
        let mut entry = PlayerReport {
            player,
            rank: row.rank,
            points: row.points,
            results: row.results,
            by_colour: row.by_colour,
            rating: rating.map(|rating| [rating.value.round(), rating.error.round()]),
            achieved: opponents.iter().map(|opponent| opponent.achieved).sum(),
            expected,
            opponents,
            drops,
            slowest: builder.slowest(),
            faults: builder.faults(),
            time: times.get_mut(&player).and_then(|times| class.time_use(times)),
            depth: class.depths.get(&player).map(|&depth| [depth, class.depth]),
            quality: builder.quality(&class, missed_wins),
            suggestions: Vec::new(),
        };
        entry.suggestions = advice::suggestions(&entry, report, &builder.games);
        reports[player] = Some(entry);
    }
    reports
}

/// Averages over all players.
struct Class {
    mean_time: f64,
    accuracy: Option<f64>,
    /// Inaccuracies, mistakes and blunders per game and player.
    judgements: [f64; 3],
    /// Mean depth by player, of those that report it.
    depths: HashMap<usize, f64>,
    depth: f64,
}

impl Class {
    fn new(report: &Report, input: &ReportInput<'_>, times: &HashMap<usize, Vec<u64>>) -> Class {
        let moves: usize = times.values().map(Vec::len).sum();
        let total: u64 = times.values().flatten().sum();
        let accuracy = weighted_accuracy(input.analyses.values().flat_map(|game| {
            game.summaries.iter().map(|summary| (summary.accuracy, summary.counted_moves))
        }));
        let summaries = || input.analyses.values().flat_map(|game| &game.summaries);
        let judgements = [0, 1, 2].map(|kind| {
            let total: usize = summaries().map(|summary| summary.judgements[kind]).sum();
            rounded(total as f64 / summaries().count().max(1) as f64)
        });
        let depths = mean_depths(report, input);
        Class {
            mean_time: total as f64 / moves.max(1) as f64,
            accuracy,
            judgements,
            depth: rounded(depths.values().sum::<f64>() / depths.len().max(1) as f64),
            depths,
        }
    }

    fn time_use(&self, times: &mut [u64]) -> Option<TimeUse> {
        times.sort_unstable();
        let total: u64 = times.iter().sum();
        Some(TimeUse {
            moves: times.len(),
            mean: rounded(total as f64 / times.len().max(1) as f64),
            median: *times.get(times.len() / 2)?,
            max: *times.last()?,
            class_mean: rounded(self.mean_time),
        })
    }
}

/// Returns the mean depth of each player that reports depths: with its moves, or else in its log.
fn mean_depths(report: &Report, input: &ReportInput<'_>) -> HashMap<usize, f64> {
    let mut sums: HashMap<usize, (f64, f64)> = HashMap::new();
    for game in &report.games {
        for (side, &player) in game.players.iter().enumerate() {
            let own = game.move_times.iter().filter(|time| time.side == side);
            let mut depths: Vec<u32> = own.filter_map(|time| time.depth).collect();
            if let (true, Some(log)) = (depths.is_empty(), input.logs.get(&(game.number, side))) {
                depths.extend(log.depths());
            }
            let (sum, count) = sums.entry(player).or_default();
            *sum += depths.iter().map(|&depth| f64::from(depth)).sum::<f64>();
            *count += depths.len() as f64;
        }
    }
    let reported = sums.into_iter().filter(|(_, (_, count))| *count > 0.0);
    reported.map(|(player, (sum, count))| (player, rounded(sum / count))).collect()
}

/// Mean accuracy, weighted by the number of moves that count.
fn weighted_accuracy(games: impl Iterator<Item = (Option<f64>, usize)>) -> Option<f64> {
    let (mut sum, mut moves) = (0.0, 0);
    for (accuracy, counted) in games {
        if let Some(accuracy) = accuracy {
            sum += accuracy * counted as f64;
            moves += counted;
        }
    }
    (moves > 0).then(|| rounded(sum / moves as f64))
}

/// Expected score from which a position counts as winning.
pub(super) const WINNING: f64 = 0.8;

/// Returns the faults of a player in a game. Faults are sorted by game.
fn faults_in<'a>(faults: &'a [&FaultEntry], game: i64) -> impl Iterator<Item = &'a FaultEntry> {
    let start = faults.partition_point(|fault| fault.game < game);
    faults[start..].iter().copied().take_while(move |fault| fault.game == game)
}

fn ends_process(fault: &FaultEntry) -> bool {
    let kind = FaultKind::ALL.into_iter().find(|kind| kind.code() == fault.code);
    kind.is_some_and(FaultKind::ends_process)
}

/// Whether a bot was still running after `ply` plies of a game.
fn is_running(faults: &[&FaultEntry], game: i64, ply: usize) -> bool {
    !faults_in(faults, game).any(|fault| (fault.ply as usize) < ply && ends_process(fault))
}

struct Builder<'a> {
    report: &'a Report,
    input: &'a ReportInput<'a>,
    ratings: Option<&'a Ratings>,
    player: usize,
    games: Vec<&'a GameEntry>,
    faults: Vec<&'a FaultEntry>,
}

impl Builder<'_> {
    /// Returns the player's side and opponent in a game.
    fn seat(&self, game: &GameEntry) -> (usize, usize) {
        let side = game.side_of(self.player).unwrap_or(0);
        (side, game.players[1 - side])
    }

    /// Whether the player itself chose the move after `ply` plies: the referee moves for a bot that
    /// is at fault, and to the end of the game for one that has crashed. The journal has only the
    /// first faults of a game: what came after the last of them is not known.
    fn has_chosen(&self, game: &GameEntry, ply: usize) -> bool {
        let own = || faults_in(&self.faults, game.number);
        let has_more_faults = game.faults[self.seat(game).0] as usize > own().count();
        !own().any(|fault| fault.ply as usize == ply)
            && is_running(&self.faults, game.number, ply)
            && (!has_more_faults || self.last_fault(game).is_some_and(|last| ply < last))
    }

    /// Number of plies before the last fault on record of either side of a game.
    fn last_fault(&self, game: &GameEntry) -> Option<usize> {
        let faults = &self.report.faults;
        let start = faults.partition_point(|fault| fault.game < game.number);
        let in_game = faults[start..].iter().take_while(|fault| fault.game == game.number);
        let recorded = in_game.filter(|fault| !ends_process(fault));
        recorded.map(|fault| fault.ply as usize).max()
    }

    fn opponents(&self) -> Vec<OpponentScore> {
        let mut scores: BTreeMap<usize, OpponentScore> = BTreeMap::new();
        for game in &self.games {
            let (side, opponent) = self.seat(game);
            let score = scores.entry(opponent).or_insert_with(|| OpponentScore {
                opponent,
                games: Vec::new(),
                achieved: 0.0,
                expected: self.ratings.map(|_| 0.0),
            });
            let points = game.points(side);
            let letter = if points == 1.0 {
                '+'
            } else if points == 0.0 {
                '-'
            } else {
                '='
            };
            score.games.push((game.number, letter));
            score.achieved += points;
            if let (Some(ratings), Some(expected)) = (self.ratings, &mut score.expected) {
                *expected += ratings.expected_score(self.player, opponent, side == 0);
            }
        }
        let mut ordered: Vec<_> =
            self.report.standings.iter().filter_map(|row| scores.remove(&row.player)).collect();
        for score in &mut ordered {
            score.expected = score.expected.map(rounded);
        }
        ordered
    }

    fn analysed(&self) -> impl Iterator<Item = (&GameEntry, &GameAnalysis)> {
        let analysis = |game: &&GameEntry| self.input.analyses.get(&game.number);
        self.games.iter().copied().filter_map(move |game| Some((game, analysis(&game)?)))
    }

    /// Returns the costliest moves, and the number of games not won in spite of a winning position.
    fn drops(&self) -> (Vec<Drop>, usize) {
        let (mut drops, mut missed_wins) = (Vec::new(), 0);
        for (game, analysis) in self.analysed() {
            let (side_index, opponent) = self.seat(game);
            let own = side(side_index);
            let was_winning =
                analysis.moves.iter().any(|played| played.after.expected_for(own) >= WINNING);
            missed_wins += usize::from(was_winning && game.points(side_index) < 1.0);
            let mut board = analysis.board.as_str();
            for (index, played) in analysis.moves.iter().enumerate() {
                let before = std::mem::replace(&mut board, &played.step.board);
                if played.side != own
                    || index < game.opening
                    || played.verdict.judgement().is_none()
                    || !self.has_chosen(game, index)
                {
                    continue;
                }
                let better = played.better.as_ref().and_then(|line| line.steps.first());
                let better = better.map(|step| step.text.clone());
                let drop = Drop {
                    game: game.number,
                    opponent,
                    ply: index,
                    played: played.step.text.clone(),
                    sentence: drop_sentence(played, better.as_deref()),
                    better,
                    loss: rounded(played.loss),
                    also_in: Vec::new(),
                    before: played.before.expected_for(own),
                    is_won: game.points(side_index) == 1.0,
                };
                drops.push((before, drop));
            }
        }
        drops.sort_by(|(_, a), (_, b)| {
            b.loss.total_cmp(&a.loss).then(a.is_won.cmp(&b.is_won)).then(a.game.cmp(&b.game))
        });
        (without_repetitions(drops), missed_wins)
    }

    fn quality(&self, class: &Class, missed_wins: usize) -> Option<Quality> {
        let summaries: Vec<_> =
            self.analysed().map(|(game, analysis)| analysis.summaries[self.seat(game).0]).collect();
        let count = |kind: usize| summaries.iter().map(|summary| summary.judgements[kind]).sum();
        (!summaries.is_empty()).then(|| Quality {
            games: summaries.len(),
            accuracy: weighted_accuracy(
                summaries.iter().map(|summary| (summary.accuracy, summary.counted_moves)),
            ),
            class_accuracy: class.accuracy,
            class_judgements: class.judgements,
            judgements: [count(0), count(1), count(2)],
            missed_wins,
        })
    }

    fn slowest(&self) -> Vec<SlowMove> {
        let mut moves: Vec<SlowMove> = Vec::new();
        for game in &self.games {
            let (side, opponent) = self.seat(game);
            let own = game
                .move_times
                .iter()
                .filter(|time| time.side == side && self.has_chosen(game, time.ply - 1));
            let Some(slowest) = own.max_by_key(|time| time.milliseconds) else { continue };
            moves.push(SlowMove {
                game: game.number,
                opponent,
                ply: slowest.ply,
                played: game.move_text(slowest.ply).into(),
                milliseconds: slowest.milliseconds,
            });
        }
        moves.sort_by_key(|slow| std::cmp::Reverse(slow.milliseconds));
        moves.truncate(MAX_SLOW_MOVES);
        moves
    }

    fn faults(&self) -> Vec<FaultGroup> {
        let mut groups: BTreeMap<&str, Vec<&FaultEntry>> = BTreeMap::new();
        for fault in &self.faults {
            groups.entry(&fault.code).or_default().push(fault);
        }
        let description = &self.input.snapshot.players[self.player].text;
        let occurrence = |fault: &&FaultEntry| {
            let game = self.games.iter().find(|game| game.number == fault.game);
            let side = game.map_or(0, |game| self.seat(game).0);
            let log = self.input.logs.get(&(fault.game, side)).map(|log| log.lines(fault.ply));
            FaultOccurrence {
                game: fault.game,
                ply: fault.ply,
                description: fault.description.clone(),
                summary: fault.summary.clone(),
                log: log.unwrap_or_default().to_vec(),
            }
        };
        let mut groups: Vec<_> = groups
            .into_iter()
            .map(|(code, faults)| FaultGroup {
                code: code.into(),
                count: faults.len(),
                advice: advice::for_fault(code, description).into(),
                occurrences: faults.iter().take(MAX_OCCURRENCES).map(occurrence).collect(),
            })
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups
    }
}

/// Returns the first drops. A move that the bot repeats in the same position is listed once, with
/// the other games.
fn without_repetitions(drops: Vec<(&str, Drop)>) -> Vec<Drop> {
    let mut distinct: Vec<(&str, Drop)> = Vec::new();
    for (board, drop) in drops {
        let is_same =
            |(other, first): &(&str, Drop)| *other == board && first.played == drop.played;
        match distinct.iter().position(is_same) {
            Some(index) => distinct[index].1.also_in.push((drop.game, drop.ply)),
            None if distinct.len() < MAX_DROPS => distinct.push((board, drop)),
            None => {}
        }
    }
    distinct.into_iter().map(|(_, drop)| drop).collect()
}

/// Describes a drop to the player: `You were at +1.20, played 22-18 and fell to −0.90; 24-19
/// holds.`
fn drop_sentence(played: &MoveAnalysis, better: Option<&str>) -> String {
    let verb = match played.before {
        Eval::Points(_) => "were at",
        Eval::Win { .. } | Eval::Drawn => "had",
    };
    let eval = |eval| eval_for(eval, played.side);
    let (before, after) = (eval(played.before), eval(played.after));
    let mut sentence =
        format!("You {verb} {before}, played {} and fell to {after}", played.step.text);
    if let Some(better) = better {
        let effect = match played.before.expected_for(played.side) {
            0.9.. => "wins",
            0.6.. => "keeps the advantage",
            0.4.. => "holds",
            _ => "resists longer",
        };
        sentence.push_str(&format!("; {better} {effect}"));
    }
    sentence.push('.');
    sentence
}
