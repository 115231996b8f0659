//! Searches a recorded game.
//!
//! The game is searched from its last position to its first, with one hash table. In forward order,
//! a search that misses something ten plies ahead would praise a move and blame the harmless one
//! after it. In backward order, the consequences of a move are in the table when the move is
//! judged.
//!
//! Moves are compared by searches of the positions after them, with equal limits. If the search of
//! a position prefers another move so clearly that the move played would be judged a mistake, the
//! position after that other move is searched before the verdict.

use crownhead_play::{TypedSession, line_texts};
use crownhead_records::GameRecord;
use crownhead_rules::{Position, Side};
use crownhead_search::{
    DynEngine, GameVisitor, HasEngine, Knowledge, MAX_PLY, PvLine, SearchReport, SearchRequest,
    Searchable, StopFlag, WIN, visit,
};
use serde::{Deserialize, Serialize};

use crate::game::{MAX_LINE_MOVES, is_forced, replay_record};
use crate::{AnalysisError, AnalysisRequest, Eval, Judgement, Progress, final_eval};

/// Findings of the searches of a game. The analysis follows from them and the game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SearchedGame {
    /// Evaluation of the last position, and depth of its search; `None` if the game is over there.
    pub(crate) last: Option<(SearchedEval, u32)>,
    /// The searches for each move up to the end of the game by its rules.
    pub(crate) moves: Vec<SearchedMove>,
}

impl SearchedGame {
    /// Returns the number of moves up to the end of the game by its rules.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }
}

/// Findings of the searches of a position from which a move was played.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct SearchedMove {
    /// Depth of the search; 0 if the move was the only one, and nothing was searched.
    pub(crate) depth: u32,
    /// The best line, if it is better than the move played.
    pub(crate) better: Option<SearchedLine>,
    /// Best lines, if more than one was requested.
    pub(crate) lines: Vec<SearchedLine>,
}

/// A line of moves with its evaluation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SearchedLine {
    pub(crate) eval: SearchedEval,
    pub(crate) moves: Vec<String>,
}

/// An [`Eval`] in a form that can be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum SearchedEval {
    Points(i32),
    /// The side that moves first in the game wins, in so many plies.
    First(u32),
    Second(u32),
    Drawn,
}

impl From<Eval> for SearchedEval {
    fn from(eval: Eval) -> SearchedEval {
        match eval {
            Eval::Points(points) => SearchedEval::Points(points),
            Eval::Win { winner: Side::First, plies } => SearchedEval::First(plies),
            Eval::Win { winner: Side::Second, plies } => SearchedEval::Second(plies),
            Eval::Drawn => SearchedEval::Drawn,
        }
    }
}

impl SearchedEval {
    /// Returns the evaluation. Fails if no search returns it.
    pub(crate) fn check(self) -> Result<Eval, String> {
        let win = |winner, plies| Eval::Win { winner, plies };
        let eval = match self {
            SearchedEval::Points(points) if (-WIN..=WIN).contains(&points) => Eval::Points(points),
            SearchedEval::First(plies) if plies <= MAX_WIN_PLIES => win(Side::First, plies),
            SearchedEval::Second(plies) if plies <= MAX_WIN_PLIES => win(Side::Second, plies),
            SearchedEval::Drawn => Eval::Drawn,
            impossible => return Err(format!("impossible evaluation {impossible:?}")),
        };
        Ok(eval)
    }
}

/// Maximum number of plies to a win. A table may know a longer way than a search can find.
const MAX_WIN_PLIES: u32 = 4 * MAX_PLY as u32;
/// Number of best moves compared where the first choice of a search is refuted.
const MAX_CANDIDATES: usize = 4;

/// Searches a recorded game. `on_progress` is called after every iteration of every search.
pub fn search_game(
    record: &GameRecord,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<SearchedGame, AnalysisError> {
    visit(&record.game, SearchVisitor { record, request, knowledge, stop, on_progress })
}

struct SearchVisitor<'a> {
    record: &'a GameRecord,
    request: &'a AnalysisRequest,
    knowledge: &'a Knowledge,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(&Progress),
}

impl GameVisitor for SearchVisitor<'_> {
    type Output = Result<SearchedGame, AnalysisError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let SearchVisitor { record, request, knowledge, stop, on_progress } = self;
        let (session, end) =
            replay_record::<P>(record, options).map_err(AnalysisError::InvalidInput)?;
        let engine = P::new_engine(request.engine, knowledge)
            .map_err(|error| AnalysisError::OutOfMemory(error.to_string()))?;
        let (positions, keys) = (session.positions(), session.history_keys());
        let mut searcher = Searcher {
            session: &session,
            engine,
            request,
            stop,
            on_progress,
            progress: (0, positions.len()),
        };

        let played = session.moves_played().len();
        let last_judged = end.as_ref().map_or(played, |end| end.plies);
        let (mut after, last) = match &end {
            Some(end) => (final_eval(end.winner), None),
            None => {
                let found = searcher.search(&positions[last_judged], &keys[..last_judged], 1)?;
                (found.eval, Some((found.eval.into(), found.depth)))
            }
        };
        let mut moves = Vec::with_capacity(last_judged);
        for index in (0..last_judged).rev() {
            searcher.progress.0 = played - index;
            let (before, searched) = searcher.search_move(index, after.one_ply_up())?;
            moves.push(searched);
            // The move before is judged by this evaluation: the search's own may have been refuted.
            after = before;
        }
        moves.reverse();
        Ok(SearchedGame { last, moves })
    }
}

/// The result of a search of a position.
struct PositionEval<P: Position> {
    eval: Eval,
    lines: Vec<PvLine<P>>,
    depth: u32,
}

impl<P: Position> PositionEval<P> {
    fn over(winner: Option<Side>) -> Self {
        PositionEval { eval: final_eval(winner), lines: Vec::new(), depth: 0 }
    }

    fn new(report: SearchReport<P>, side: Side) -> Self {
        let eval = Eval::new(report.score(), side);
        PositionEval { eval, lines: report.lines, depth: report.depth }
    }
}

/// A line other than the one played.
struct Alternative<P: Position> {
    eval: Eval,
    moves: Vec<P::Move>,
}

struct Searcher<'a, P: Searchable> {
    session: &'a TypedSession<P>,
    engine: Box<dyn DynEngine<P>>,
    request: &'a AnalysisRequest,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(&Progress),
    /// Positions done, and positions in total.
    progress: (usize, usize),
}

impl<P: Searchable> Searcher<'_, P> {
    fn search(
        &mut self,
        position: &P,
        history_keys: &[u64],
        multipv: usize,
    ) -> Result<PositionEval<P>, AnalysisError> {
        if let Some(outcome) = position.outcome(history_keys) {
            return Ok(PositionEval::over(outcome.winner));
        }
        let limits = self.request.limits;
        let request = SearchRequest { position, history_keys, limits, multipv };
        let (progress, on_progress) = (self.progress, &mut *self.on_progress);
        let report = self.engine.search(request, self.stop, &mut |report| {
            on_progress(&Progress::new(progress, position, report, MAX_LINE_MOVES));
        });
        if self.stop.is_set() {
            return Err(AnalysisError::Interrupted);
        }
        Ok(PositionEval::new(report, position.side()))
    }

    /// Searches for a better move than the one at `index`, whose evaluation is `played_eval`. Also
    /// returns the evaluation of the best move.
    fn search_move(
        &mut self,
        index: usize,
        played_eval: Eval,
    ) -> Result<(Eval, SearchedMove), AnalysisError> {
        let session = self.session;
        if is_forced(session, index) {
            return Ok((played_eval, SearchedMove::default()));
        }
        let position = &session.positions()[index];
        let history_keys = &session.history_keys()[..index];
        let before = self.search(position, history_keys, self.request.lines.max(1))?;
        let lines = match self.request.lines {
            0 | 1 => Vec::new(),
            _ => before
                .lines
                .iter()
                .map(|line| {
                    searched_line(position, &line.moves, Eval::new(line.score, position.side()))
                })
                .collect(),
        };
        let better = self.better_move(index, &before, played_eval)?;
        let eval = better.as_ref().map_or(played_eval, |better| better.eval);
        let better = better.map(|better| searched_line(position, &better.moves, better.eval));
        Ok((eval, SearchedMove { depth: before.depth, better, lines }))
    }

    /// Returns the best move other than the one played, if it is better than `played_eval`.
    ///
    /// A move that only the search of this position prefers, and by so much that the move played
    /// would be judged a mistake, is verified by a search of the position after it. If all verified
    /// moves are refuted, and the search overrated the move played as well, more candidates are
    /// searched.
    fn better_move(
        &mut self,
        index: usize,
        before: &PositionEval<P>,
        played_eval: Eval,
    ) -> Result<Option<Alternative<P>>, AnalysisError> {
        let session = self.session;
        let (position, played) = (&session.positions()[index], session.moves_played()[index]);
        let side = position.side();
        let is_judged = |best: Eval, played: Eval| {
            Judgement::new(best.expected_for(side), played.expected_for(side)).is_some()
        };
        let (mut best, mut best_eval) = (None, played_eval);
        let mut tried = vec![played];
        let mut more_lines = None;
        loop {
            let lines = more_lines.as_ref().unwrap_or(&before.lines);
            let is_untried =
                |line: &&PvLine<P>| line.moves.first().is_some_and(|mv| !tried.contains(mv));
            let Some(line) = lines.iter().find(is_untried) else {
                if more_lines.is_some() || !is_judged(before.eval, best_eval) {
                    return Ok(best);
                }
                let multipv = MAX_CANDIDATES.max(self.request.lines);
                let history_keys = &session.history_keys()[..index];
                more_lines = Some(self.search(position, history_keys, multipv)?.lines);
                continue;
            };
            let mut candidate =
                Alternative { eval: Eval::new(line.score, side), moves: line.moves.clone() };
            let needs_check = is_judged(candidate.eval, best_eval);
            if needs_check {
                let mv = candidate.moves[0];
                tried.push(mv);
                let history_keys = &session.history_keys()[..=index];
                let after = self.search(&position.after(mv), history_keys, 1)?;
                candidate.eval = after.eval.one_ply_up();
                if let Some(line) = after.lines.first() {
                    candidate.moves.truncate(1);
                    candidate.moves.extend_from_slice(&line.moves);
                }
            }
            if candidate.eval.is_better_for(side, best_eval) {
                best_eval = candidate.eval;
                best = Some(candidate);
            }
            if !needs_check {
                return Ok(best);
            }
        }
    }
}

/// Converts the first moves of a line.
fn searched_line<P: Searchable>(position: &P, moves: &[P::Move], eval: Eval) -> SearchedLine {
    let moves = line_texts(position, &moves[..moves.len().min(MAX_LINE_MOVES)]);
    SearchedLine { eval: eval.into(), moves }
}
