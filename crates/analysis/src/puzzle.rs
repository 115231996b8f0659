//! Puzzles: positions with exactly one move that wins, or exactly one that does not lose.
//!
//! A quick search of every position of a game finds candidates. A deep search of the position
//! alone, without the game before it, verifies them: the best move must win, or not lose, and every
//! other move must fail to. What tables or the search prove is exact. A win or loss that is not
//! proved must change the material and the score, and is confirmed by playing the game out. The
//! grade of a puzzle is given by the nodes that a search without tables needs to find its move. If
//! that search prefers the move from the start, the position is not a puzzle.

use crownhead_play::knowledge::{MoveValue, move_values};
use crownhead_play::{Knowledge, Session, derive_seed, new_session};
use crownhead_rules::{Cell, Game, Side, TableValue};
use crownhead_search::{EngineConfig, Score, SearchLimits, StopFlag, plies_to_end};

use crate::{AnalysisError, Analyst, Progress, Variation, new_analyst};

/// Size of a hash table, in megabytes: small, because it is cleared for every game and puzzle.
const HASH_MB: usize = 8;
/// Maximum absolute score of a level game.
const LEVEL: Score = 40;
/// Minimum score of a win that is not proved: an expected score of 77 %.
const DECISIVE: Score = 120;
/// Minimum length of a proved win: shorter ones are seen at a glance.
const MIN_PLIES: u32 = 3;
/// Minimum number of pieces: with fewer, there is little to find.
const MIN_PIECES: usize = 5;
/// Plies between two puzzles of a game, so that they differ.
const GAP: usize = 8;
/// Maximum length of a solution in plies, the opponent's replies included.
const MAX_SOLUTION: usize = 11;
/// Maximum length of a game played for puzzles, and of one played out to verify a win.
const MAX_PLIES: usize = 200;
/// Random moves at the start of a game played for puzzles.
const OPENING_PLIES: usize = 6;
/// One in this many moves of such a game is random.
const RANDOM_MOVE: u32 = 16;
/// Depth of the search for half of the other moves, which makes plausible mistakes.
const SHALLOW_DEPTH: u32 = 2;
/// Size of the hash table of these searches, in megabytes.
const SHALLOW_HASH_MB: usize = 1;
/// For each grade but the hardest, the maximum number of nodes after which a search still prefers
/// another move.
const GRADE_NODES: [u64; 4] = [60, 300, 2_000, 20_000];
/// Hardest grade.
pub const MAX_GRADE: u8 = 5;

/// Goal of the player.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Goal {
    /// One move wins.
    Win,
    /// One move does not lose.
    Draw,
}

impl Goal {
    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            Goal::Win => "win",
            Goal::Draw => "draw",
        }
    }
}

/// A puzzle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Puzzle {
    /// The position.
    pub position: String,
    /// Letters of its 64 cells.
    pub board: [char; 64],
    /// What to achieve.
    pub goal: Goal,
    /// Moves of the player and best replies in turn. Each move of the player is the only one that
    /// reaches the goal, or the only legal one.
    pub solution: Vec<String>,
    /// Plies to the end of the game, if the win is proved.
    pub plies: Option<u32>,
    /// 1, easy, to [`MAX_GRADE`].
    pub grade: u8,
}

/// How much to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PuzzleNodes {
    /// Nodes per position of a game, played for puzzles or to verify one.
    pub find: u64,
    /// Nodes per position of a candidate and its solution.
    pub verify: u64,
}

/// Finds puzzles in games.
pub struct PuzzleMaker {
    game: Game,
    nodes: PuzzleNodes,
    knowledge: Knowledge,
    finder: Box<dyn Analyst>,
    shallow: Box<dyn Analyst>,
    verifier: Box<dyn Analyst>,
    /// Searches without tables: people have none.
    grader: Box<dyn Analyst>,
}

/// The two best moves of a position, if the best one alone reaches a goal.
struct OnlyMove {
    goal: Goal,
    text: String,
    /// Plies to the end, for a proved win.
    plies: Option<u32>,
    /// The reply to it, if the search knows one.
    reply: Option<String>,
    second: String,
    /// Whether the values of both moves are proved.
    is_proved: [bool; 2],
    /// Whether the win, or the loss after the second best move, is proved or shows in the material.
    has_material: bool,
}

/// Class of a game by its score, for the side to move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Won,
    Level,
    Lost,
}

impl Class {
    /// `None` if the score is between two classes.
    fn of(score: Score) -> Option<Class> {
        match plies_to_end(score) {
            Some(plies) if plies > 0 => Some(Class::Won),
            Some(_) => Some(Class::Lost),
            None if score >= DECISIVE => Some(Class::Won),
            None if score <= -DECISIVE => Some(Class::Lost),
            None if score.abs() <= LEVEL => Some(Class::Level),
            None => None,
        }
    }
}

impl PuzzleMaker {
    /// Creates the engines.
    pub fn new(
        game: &Game,
        nodes: PuzzleNodes,
        knowledge: &Knowledge,
    ) -> Result<PuzzleMaker, AnalysisError> {
        let analyst = |hash_mb, knowledge: &Knowledge| {
            let config = EngineConfig { hash_mb, ..EngineConfig::default() };
            new_analyst(game, config, knowledge)
        };
        Ok(PuzzleMaker {
            game: game.clone(),
            nodes,
            knowledge: knowledge.clone(),
            finder: analyst(HASH_MB, knowledge)?,
            shallow: analyst(SHALLOW_HASH_MB, &Knowledge::default())?,
            verifier: analyst(HASH_MB, knowledge)?,
            grader: analyst(HASH_MB, &Knowledge::default())?,
        })
    }

    /// Plays a game against itself, with mistakes, and returns its puzzles. They depend on the seed
    /// only.
    pub fn self_play(&mut self, seed: u64, stop: &StopFlag) -> Result<Vec<Puzzle>, AnalysisError> {
        let mut rng = fastrand::Rng::with_seed(derive_seed(&[seed]));
        let mut session = self.session(None)?;
        let mut found = Found::default();
        self.finder.clear();
        self.shallow.clear();
        while session.plies() < MAX_PLIES {
            let legal = session.legal_moves();
            if legal.is_empty() {
                break;
            }
            let mut text = legal[rng.usize(..legal.len())].text.clone();
            if session.plies() >= OPENING_PLIES && legal.len() > 1 {
                let best = self.visit(session.as_ref(), &mut found, stop)?;
                let chosen = match rng.u32(..RANDOM_MOVE) {
                    0 => None,
                    number if number % 2 == 0 => best,
                    _ => self.shallow_move(session.as_ref(), stop)?,
                };
                text = chosen.unwrap_or(text);
            }
            if session.play(&text).is_err() {
                break;
            }
        }
        Ok(found.puzzles)
    }

    /// Returns the puzzles of a recorded game: its start and its moves.
    pub fn recorded(
        &mut self,
        start: Option<&str>,
        moves: &[&str],
        stop: &StopFlag,
    ) -> Result<Vec<Puzzle>, AnalysisError> {
        let mut session = self.session(start)?;
        let mut found = Found::default();
        self.finder.clear();
        for text in moves {
            self.visit(session.as_ref(), &mut found, stop)?;
            // A game may have been recorded after its end.
            if session.play(text).is_err() {
                break;
            }
        }
        Ok(found.puzzles)
    }

    /// Searches a position of a game and adds its puzzle, if it has one. Returns the best move.
    fn visit(
        &mut self,
        session: &dyn Session,
        found: &mut Found,
        stop: &StopFlag,
    ) -> Result<Option<String>, AnalysisError> {
        let progress = self.finder.search(session, nodes(self.nodes.find), 2, stop, &mut |_| {});
        check(stop)?;
        let Some(progress) = progress else { return Ok(None) };
        let is_near = found.last.is_some_and(|last| session.plies() < last + GAP);
        if !is_near
            && only_move(session, &progress).is_some()
            && let Some(puzzle) = self.verify(&session.position(), stop)?
        {
            found.last = Some(session.plies());
            found.puzzles.push(puzzle);
        }
        Ok(best_move(&progress))
    }

    fn shallow_move(
        &mut self,
        session: &dyn Session,
        stop: &StopFlag,
    ) -> Result<Option<String>, AnalysisError> {
        let limits = SearchLimits { depth: Some(SHALLOW_DEPTH), ..SearchLimits::default() };
        let found = self.shallow.search(session, limits, 1, stop, &mut |_| {});
        check(stop)?;
        Ok(found.as_ref().and_then(best_move))
    }

    /// Makes a puzzle of a position. `None` if it has not exactly one move that reaches a goal, or
    /// if that move is obvious.
    pub fn verify(
        &mut self,
        position: &str,
        stop: &StopFlag,
    ) -> Result<Option<Puzzle>, AnalysisError> {
        let session = self.session(Some(position))?;
        let session = session.as_ref();
        self.verifier.clear();
        let board = session.board();
        let pieces = board.iter().filter(|letter| **letter != '.').count();
        if pieces < MIN_PIECES || session.legal_moves().len() < 3 {
            return Ok(None);
        }
        let Some(first) = self.only_move(session, stop)? else { return Ok(None) };
        let (goal, plies) = (first.goal, first.plies);
        if plies.is_some_and(|plies| plies < MIN_PLIES) || !first.has_material {
            return Ok(None);
        }
        let Some(nodes) = self.nodes_to_find(session, &first.text, stop)? else {
            return Ok(None);
        };
        if !self.holds_when_played(session, &first, stop)? {
            return Ok(None);
        }
        let (solution, choices) = self.solution(session, first, stop)?;
        let grade = grade(nodes, choices);
        Ok(Some(Puzzle { position: position.into(), board, goal, solution, plies, grade }))
    }

    fn session(&self, start: Option<&str>) -> Result<Box<dyn Session>, AnalysisError> {
        new_session(&self.game, start)
            .map_err(|error| AnalysisError::InvalidInput(error.to_string()))
    }

    /// Searches a position deeply.
    fn only_move(
        &mut self,
        session: &dyn Session,
        stop: &StopFlag,
    ) -> Result<Option<OnlyMove>, AnalysisError> {
        let found = self.verifier.search(session, nodes(self.nodes.verify), 2, stop, &mut |_| {});
        check(stop)?;
        let only = found.and_then(|found| only_move(session, &found));
        Ok(only.filter(|only| {
            let values = move_values(session, &self.knowledge);
            !has_other_solution(&values, only.goal, &only.text)
        }))
    }

    /// The number of nodes at which a search without tables last preferred another move. `None` if
    /// it never did: the move is obvious.
    fn nodes_to_find(
        &mut self,
        session: &dyn Session,
        text: &str,
        stop: &StopFlag,
    ) -> Result<Option<u64>, AnalysisError> {
        let mut preferred_other = None;
        let mut on_progress = |progress: &Progress| {
            if best_move(progress).as_deref() != Some(text) {
                preferred_other = Some(progress.nodes);
            }
        };
        self.grader.clear();
        self.grader.search(session, nodes(self.nodes.verify), 1, stop, &mut on_progress);
        check(stop)?;
        Ok(preferred_other)
    }

    /// Whether playing the game out confirms the values that are not proved.
    fn holds_when_played(
        &mut self,
        session: &dyn Session,
        only: &OnlyMove,
        stop: &StopFlag,
    ) -> Result<bool, AnalysisError> {
        let side = session.side();
        for (text, is_best) in [(&only.text, true), (&only.second, false)] {
            if only.is_proved[usize::from(!is_best)] {
                continue;
            }
            let winner = self.play_out(session, text, stop)?;
            let is_reached = match only.goal {
                Goal::Win => winner == Some(side),
                Goal::Draw => winner != Some(side.other()),
            };
            if is_reached != is_best {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Plays a game to its end, and returns its winner.
    fn play_out(
        &mut self,
        session: &dyn Session,
        text: &str,
        stop: &StopFlag,
    ) -> Result<Option<Side>, AnalysisError> {
        let mut session = session.clone_box();
        let mut next = Some(text.to_string());
        while let Some(text) = next.take()
            && session.plies() < MAX_PLIES
            && session.play(&text).is_ok()
        {
            if let Some(outcome) = session.outcome() {
                return Ok(outcome.winner);
            }
            let limits = nodes(self.nodes.find);
            let found = self.finder.search(session.as_ref(), limits, 1, stop, &mut |_| {});
            check(stop)?;
            let Some(found) = found else { break };
            let score = found.lines.first().map(|line| line.eval.score_for(session.side()));
            if let Some(plies) = score.and_then(plies_to_end) {
                let side = session.side();
                return Ok(Some(if plies > 0 { side } else { side.other() }));
            }
            next = best_move(&found);
        }
        Ok(None)
    }

    /// Returns the moves of the solution: as long as only one move of the player reaches the goal, or
    /// the player must capture. Also returns how many of these moves are a choice.
    fn solution(
        &mut self,
        session: &dyn Session,
        first: OnlyMove,
        stop: &StopFlag,
    ) -> Result<(Vec<String>, usize), AnalysisError> {
        let goal = first.goal;
        let mut session = session.clone_box();
        let (mut solution, mut choices) = (vec![first.text.clone()], 1);
        // A forced move without a capture is part of the solution only if a choice follows.
        let mut forced = Vec::new();
        let (mut text, mut reply) = (first.text, first.reply);
        while solution.len() + forced.len() + 2 <= MAX_SOLUTION && session.play(&text).is_ok() {
            if reply.is_none() {
                let limits = nodes(self.nodes.verify);
                let found = self.verifier.search(session.as_ref(), limits, 1, stop, &mut |_| {});
                check(stop)?;
                reply = found.as_ref().and_then(best_move);
            }
            let Some(replied) = reply.take() else { break };
            if session.play(&replied).is_err() {
                break;
            }
            let legal = session.legal_moves();
            let is_part = match &legal[..] {
                [only] => {
                    text.clone_from(&only.text);
                    !only.captures.is_empty()
                }
                _ => match self.only_move(session.as_ref(), stop)? {
                    Some(next) if next.goal == goal => {
                        (text, reply) = (next.text, next.reply);
                        choices += 1;
                        true
                    }
                    _ => break,
                },
            };
            forced.extend([replied, text.clone()]);
            if is_part {
                solution.append(&mut forced);
            }
        }
        Ok((solution, choices))
    }
}

/// The puzzles of a game so far.
#[derive(Default)]
struct Found {
    puzzles: Vec<Puzzle>,
    /// Ply of the last one.
    last: Option<usize>,
}

/// Whether another move reaches the goal by the tables. A win that a draw counter could spoil
/// counts as a win: a player would accept it as a solution.
fn has_other_solution(values: &[MoveValue], goal: Goal, text: &str) -> bool {
    use TableValue::{AtLeastDraw, AtMostDraw, Draw, Loss, Win};
    values.iter().filter(|mv| mv.text != text).any(|mv| match (mv.value, goal) {
        (Some(Win { .. } | AtLeastDraw { .. }), _) => true,
        (Some(Draw), Goal::Draw) => true,
        (Some(Draw | Loss { .. } | AtMostDraw { .. }) | None, _) => false,
    })
}

fn best_move(progress: &Progress) -> Option<String> {
    Some(progress.lines.first()?.steps.first()?.text.clone())
}

/// Returns the best move if, by the search, it alone reaches a goal.
fn only_move(session: &dyn Session, found: &Progress) -> Option<OnlyMove> {
    let [best, second] = &found.lines[..] else { return None };
    let scores = [best, second].map(|line| line.eval.score_for(session.side()));
    let goal = match (Class::of(scores[0])?, Class::of(scores[1])) {
        (Class::Won, _) if scores[1] <= LEVEL => Goal::Win,
        (Class::Level, Some(Class::Lost)) => Goal::Draw,
        _ => return None,
    };
    let text = |index: usize| Some(best.steps.get(index)?.text.clone());
    let start = session.board();
    let gain = |line: &Variation| {
        let end = line.steps.last().map_or(0, |step| material(session, step.board.chars()));
        end - material(session, start.iter().copied())
    };
    let is_proved = scores.map(|score| plies_to_end(score).is_some());
    let has_material = match goal {
        Goal::Win => is_proved[0] || gain(best) > 0,
        Goal::Draw => is_proved[1] || gain(second) < 0,
    };
    Some(OnlyMove {
        goal,
        text: text(0)?,
        plies: plies_to_end(scores[0]).map(i32::unsigned_abs),
        reply: text(1),
        second: second.steps.first()?.text.clone(),
        is_proved,
        has_material,
    })
}

/// The pieces of the side to move less those of the other side: 2 for a man, 3 for a king, and 1
/// more on a target cell that counts.
fn material(session: &dyn Session, board: impl Iterator<Item = char>) -> i32 {
    let info = session.game().info();
    let value = |(cell, letter): (Cell, char)| {
        let (side, kind) = info.piece(letter)?;
        let is_promoted = info.pieces.first().is_some_and(|first| first.name != kind.name);
        let target =
            info.targets.filter(|_| info.counts_points).map_or(0, |cells| cells[side.index()]);
        let value = 2 + i32::from(is_promoted) + i32::from(target & cell.bit() != 0);
        Some(if side == session.side() { value } else { -value })
    };
    Cell::all().zip(board).filter_map(value).sum()
}

fn grade(nodes: u64, choices: usize) -> u8 {
    let by_nodes = GRADE_NODES.iter().filter(|limit| nodes > **limit).count() as u8 + 1;
    (by_nodes + u8::from(choices > 2)).min(MAX_GRADE)
}

fn nodes(nodes: u64) -> SearchLimits {
    SearchLimits { nodes: Some(nodes), ..SearchLimits::default() }
}

fn check(stop: &StopFlag) -> Result<(), AnalysisError> {
    if stop.is_set() { Err(AnalysisError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn win_that_a_draw_counter_could_spoil_is_another_solution() {
        let has_other = |value, goal| {
            let value = Some(value);
            let values = [("12-8", Some(TableValue::Win { plies: 9 })), ("11-15", value)];
            let values = values.map(|(text, value)| MoveValue { text: text.into(), value });
            has_other_solution(&values, goal, "12-8")
        };
        assert!(has_other(TableValue::AtLeastDraw { plies: Some(61) }, Goal::Win));
        assert!(!has_other(TableValue::Draw, Goal::Win));
        assert!(has_other(TableValue::Draw, Goal::Draw));
        assert!(!has_other(TableValue::AtMostDraw { plies: Some(60) }, Goal::Draw));
    }
}
