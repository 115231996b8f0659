//! Puzzles: positions with exactly one move that wins, or exactly one that does not lose.
//!
//! A quick search of every position of a game finds candidates. A deep search of the position alone,
//! without the game before it, then verifies that the move wins by force (or that every other move
//! loses by force) and that no other move comes close. Where tables know a position, the search
//! uses them, and the result is exact. The depth at which a search finds the move is the grade.

use crownhead_play::{Knowledge, Session, derive_seed, new_session};
use crownhead_rules::Game;
use crownhead_search::{EngineConfig, Score, SearchLimits, StopFlag, plies_to_end};

use crate::{AnalysisError, Analyst, Eval, Progress};

/// Size of a hash table, in megabytes: small, because it is cleared for every game and puzzle.
const HASH_MB: usize = 8;
/// Maximum score of the second best move of a win, and maximum distance from zero of a drawing move.
const LEVEL: Score = 60;
/// Minimum length of a win: shorter ones are seen at a glance.
const MIN_PLIES: u32 = 3;
/// Minimum number of pieces: with fewer, there is little to find.
const MIN_PIECES: usize = 5;
/// Plies between two puzzles of a game, so that they differ.
const GAP: usize = 8;
/// Maximum length of a solution in plies, the opponent's replies included.
const MAX_SOLUTION: usize = 11;
/// Maximum length of a game played for puzzles.
const MAX_PLIES: usize = 200;
/// Random moves at the start of such a game.
const OPENING_PLIES: usize = 6;
/// One of this many moves is random, so that mistakes happen.
const RANDOM_MOVE: u32 = 8;
/// Depths up to which a search finds the move of each grade but the hardest.
const GRADE_DEPTHS: [u32; 4] = [3, 5, 7, 10];
/// Hardest grade.
pub const MAX_GRADE: u8 = 5;

/// What the player must achieve.
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
    /// What to achieve.
    pub goal: Goal,
    /// Moves of the player and best replies in turn; each move of the player is the only one.
    pub solution: Vec<String>,
    /// Plies to the end of the game after the first move, for a win.
    pub plies: Option<u32>,
    /// 1, easy, to [`MAX_GRADE`].
    pub grade: u8,
}

/// How much to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PuzzleNodes {
    /// Nodes per position of a game.
    pub find: u64,
    /// Nodes per position of a candidate and its solution.
    pub verify: u64,
}

/// Finds puzzles in games.
pub struct PuzzleMaker {
    game: Game,
    nodes: PuzzleNodes,
    finder: Analyst,
    verifier: Analyst,
}

/// The two best moves of a position.
struct TwoBest {
    goal: Goal,
    /// Text of the best one.
    text: String,
    /// Plies to the end, for a win.
    plies: Option<u32>,
    /// The reply to it.
    reply: Option<String>,
}

impl PuzzleMaker {
    /// Creates the engines.
    pub fn new(
        game: &Game,
        nodes: PuzzleNodes,
        knowledge: &Knowledge,
    ) -> Result<PuzzleMaker, AnalysisError> {
        let config = EngineConfig { hash_mb: HASH_MB, ..EngineConfig::default() };
        let analyst = || Analyst::new(game, config, knowledge);
        Ok(PuzzleMaker { game: game.clone(), nodes, finder: analyst()?, verifier: analyst()? })
    }

    /// Plays a game against itself, with mistakes, and returns its puzzles. They depend on the seed
    /// only.
    pub fn self_play(&mut self, seed: u64, stop: &StopFlag) -> Result<Vec<Puzzle>, AnalysisError> {
        let mut rng = fastrand::Rng::with_seed(derive_seed(&[seed]));
        let Ok(mut session) = new_session(&self.game, None) else { return Ok(Vec::new()) };
        self.finder.clear();
        let (mut puzzles, mut last) = (Vec::new(), None);
        while session.plies() < MAX_PLIES {
            let legal = session.legal_moves();
            if legal.is_empty() {
                break;
            }
            let random = legal[rng.usize(..legal.len())].text.clone();
            let is_opening = session.plies() < OPENING_PLIES;
            let text = if is_opening || legal.len() == 1 {
                random
            } else {
                let found = self.finder.search(
                    session.as_ref(),
                    nodes(self.nodes.find),
                    2,
                    stop,
                    &mut |_| {},
                );
                check(stop)?;
                let Some(found) = found else { break };
                self.add(session.as_ref(), &found, &mut last, &mut puzzles, stop)?;
                let best = found.lines.first().and_then(|line| line.steps.first());
                match best {
                    Some(step) if rng.u32(..RANDOM_MOVE) > 0 => step.text.clone(),
                    _ => random,
                }
            };
            if session.play(&text).is_err() {
                break;
            }
        }
        Ok(puzzles)
    }

    /// Returns the puzzles of a recorded game: its start and its moves.
    pub fn recorded(
        &mut self,
        start: Option<&str>,
        moves: &[&str],
        stop: &StopFlag,
    ) -> Result<Vec<Puzzle>, AnalysisError> {
        let session = new_session(&self.game, start);
        let mut session =
            session.map_err(|error| AnalysisError::InvalidInput(error.to_string()))?;
        self.finder.clear();
        let (mut puzzles, mut last) = (Vec::new(), None);
        for text in moves {
            let limits = nodes(self.nodes.find);
            let found = self.finder.search(session.as_ref(), limits, 2, stop, &mut |_| {});
            check(stop)?;
            if let Some(found) = found {
                self.add(session.as_ref(), &found, &mut last, &mut puzzles, stop)?;
            }
            // A game may have been recorded after its end.
            if session.play(text).is_err() {
                break;
            }
        }
        Ok(puzzles)
    }

    /// Adds the puzzle of a position, if a quick search says that there is one and a deep search
    /// agrees. `last` is the ply of the last puzzle.
    fn add(
        &mut self,
        session: &dyn Session,
        found: &Progress,
        last: &mut Option<usize>,
        puzzles: &mut Vec<Puzzle>,
        stop: &StopFlag,
    ) -> Result<(), AnalysisError> {
        let is_near = last.is_some_and(|last| session.plies() < last + GAP);
        if is_near || session.plies() < OPENING_PLIES || candidate(session, found).is_none() {
            return Ok(());
        }
        if let Some(puzzle) = self.verify(&session.position(), stop)? {
            *last = Some(session.plies());
            puzzles.push(puzzle);
        }
        Ok(())
    }

    /// Makes a puzzle of a position; `None` if it has not exactly one move that reaches a goal.
    pub fn verify(
        &mut self,
        position: &str,
        stop: &StopFlag,
    ) -> Result<Option<Puzzle>, AnalysisError> {
        let session = new_session(&self.game, Some(position));
        let mut session =
            session.map_err(|error| AnalysisError::InvalidInput(error.to_string()))?;
        self.verifier.clear();
        let mut depths = Vec::new();
        let Some(first) = self.two_best(session.as_ref(), &mut depths, stop)? else {
            return Ok(None);
        };
        let goal = first.goal;
        let is_short = first.plies.is_some_and(|plies| plies < MIN_PLIES);
        let pieces = session.board().iter().filter(|letter| **letter != '.').count();
        if is_short || pieces < MIN_PIECES || session.legal_moves().len() < 3 {
            return Ok(None);
        }
        // The depth from which on the search prefers the move.
        let found_at = depths.iter().rev().take_while(|text| **text == first.text).count();
        let depth = (depths.len() - found_at) as u32 + 1;
        let mut solution = vec![first.text.clone()];
        let mut next = Some(first);
        let plies = next.as_ref().and_then(|best| best.plies);
        while let Some(TwoBest { text, reply: Some(reply), .. }) = next.take() {
            if solution.len() + 2 > MAX_SOLUTION
                || session.play(&text).is_err()
                || session.play(&reply).is_err()
            {
                break;
            }
            next = match session.legal_moves().len() {
                // A forced move is part of a solution only if a choice follows.
                0 | 1 => None,
                _ => self.two_best(session.as_ref(), &mut Vec::new(), stop)?,
            };
            if let Some(best) = next.as_ref().filter(|best| best.goal == goal) {
                solution.extend([reply, best.text.clone()]);
            } else {
                next = None;
            }
        }
        let grade = grade(depth, solution.len().div_ceil(2));
        Ok(Some(Puzzle { position: position.into(), goal, solution, plies, grade }))
    }

    /// Searches deeply. `depths` gets the best move of each depth.
    fn two_best(
        &mut self,
        session: &dyn Session,
        depths: &mut Vec<String>,
        stop: &StopFlag,
    ) -> Result<Option<TwoBest>, AnalysisError> {
        let mut on_progress = |progress: &Progress| {
            let best = progress.lines.first().and_then(|line| line.steps.first());
            depths.extend(best.map(|step| step.text.clone()));
        };
        let limits = nodes(self.nodes.verify);
        let found = self.verifier.search(session, limits, 2, stop, &mut on_progress);
        check(stop)?;
        Ok(found.and_then(|found| candidate(session, &found)))
    }
}

/// Returns the best move if a search says that it alone reaches a goal.
fn candidate(session: &dyn Session, found: &Progress) -> Option<TwoBest> {
    let [best, second] = &found.lines[..] else { return None };
    let score = |eval: Eval| eval.score_for(session.side());
    let (first, other) = (score(best.eval), score(second.eval));
    let (goal, plies) = match plies_to_end(first) {
        Some(plies) if plies > 0 && other <= LEVEL => (Goal::Win, Some(plies.unsigned_abs())),
        None if first.abs() <= LEVEL && plies_to_end(other).is_some_and(|plies| plies < 0) => {
            (Goal::Draw, None)
        }
        _ => return None,
    };
    let text = best.steps.first()?.text.clone();
    let reply = best.steps.get(1).map(|step| step.text.clone());
    Some(TwoBest { goal, text, plies, reply })
}

fn grade(depth: u32, moves: usize) -> u8 {
    let by_depth = GRADE_DEPTHS.iter().filter(|limit| depth > **limit).count() as u8 + 1;
    (by_depth + u8::from(moves > 2)).min(MAX_GRADE)
}

fn nodes(nodes: u64) -> SearchLimits {
    SearchLimits { nodes: Some(nodes), ..SearchLimits::default() }
}

fn check(stop: &StopFlag) -> Result<(), AnalysisError> {
    if stop.is_set() { Err(AnalysisError::Interrupted) } else { Ok(()) }
}
