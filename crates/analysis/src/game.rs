//! Judges every move of a recorded game.
//!
//! The game is searched from its last position to its first, with one hash table. In forward order,
//! a search that misses something ten plies ahead would praise a move and blame the harmless one
//! after it. In backward order, the consequences of a move are in the table when the move is
//! judged.
//!
//! Moves are compared by searches of the positions after them, with equal limits. If the search of
//! a position prefers another move so clearly that the move played would be judged a mistake, the
//! position after that other move is searched before the verdict.
//!
//! The evaluation of a position, as the result of the move before it, is that of its best move by
//! these searches, not that of the search of the position itself. So a loss is attributed to the
//! move that caused it.

use crownhead_play::TypedSession;
use crownhead_play::replay::replay;
use crownhead_records::GameRecord;
use crownhead_rules::{MoveList, Position, Side, SideInfo};
use crownhead_search::{
    DynEngine, GameVisitor, HasEngine, Knowledge, PvLine, SearchReport, SearchRequest, Searchable,
    StopFlag, visit,
};

use crate::judgement::{MoveLoss, accuracy, is_lost, mean, turning_point};
use crate::{
    AnalysisError, AnalysisRequest, Eval, Judgement, MoveStep, Progress, Variation, board_text,
    final_eval, variations,
};

/// The analysis of a game.
#[derive(Clone, Debug)]
pub struct GameAnalysis {
    /// Number of the game in its file, from 1.
    pub number: u64,
    /// The recorded game.
    pub record: GameRecord,
    /// Name of the game that is played.
    pub game_name: &'static str,
    /// Names and letters of the sides.
    pub sides: [SideInfo; 2],
    /// Text of the start position.
    pub start: String,
    /// Letters of the 64 cells there.
    pub board: String,
    /// Side to move there.
    pub side: Side,
    /// Evaluation there.
    pub eval: Eval,
    /// Moves.
    pub moves: Vec<MoveAnalysis>,
    /// Summary of each side.
    pub summaries: [SideSummary; 2],
    /// Index of the move at which the game turned.
    pub turning_point: Option<usize>,
    /// End of the game by its rules.
    pub end: Option<GameEnd>,
}

/// The end of a recorded game by its rules.
#[derive(Clone, Debug)]
pub struct GameEnd {
    /// Number of plies before it. A file may continue after it; those moves are not judged.
    pub plies: usize,
    /// The winner; `None` is a draw.
    pub winner: Option<Side>,
    /// Outcome in a sentence.
    pub text: String,
}

/// The analysis of a move.
#[derive(Clone, Debug)]
pub struct MoveAnalysis {
    /// The move.
    pub step: MoveStep,
    /// Text of the position after it.
    pub position: String,
    /// Side that played it.
    pub side: Side,
    /// Evaluation of the best move in the position before it.
    pub before: Eval,
    /// Evaluation of the position after it.
    pub after: Eval,
    /// Loss of the player's expected score, 0 to 1.
    pub loss: f64,
    /// The verdict.
    pub verdict: MoveVerdict,
    /// The better line, if the move was an inaccuracy, mistake or blunder.
    pub better: Option<Variation>,
    /// Best lines of the position before it, if more than one was requested.
    pub lines: Vec<Variation>,
    /// Search depth of the position after it.
    pub depth: u32,
}

/// The verdict on a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveVerdict {
    /// The game was already over.
    AfterTheEnd,
    /// It was the only legal move.
    Forced,
    /// No better move was found.
    Best,
    /// Another move was slightly better, or the game was decided.
    Fine,
    /// An inaccuracy, mistake or blunder.
    Judged(Judgement),
}

impl MoveVerdict {
    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            MoveVerdict::AfterTheEnd => "after-the-end",
            MoveVerdict::Forced => "forced",
            MoveVerdict::Best => "best",
            MoveVerdict::Fine => "fine",
            MoveVerdict::Judged(judgement) => judgement.code(),
        }
    }

    /// The judgement, if there is one.
    pub const fn judgement(self) -> Option<Judgement> {
        match self {
            MoveVerdict::Judged(judgement) => Some(judgement),
            _ => None,
        }
    }
}

impl MoveAnalysis {
    /// Returns whether the move counts for the accuracy: there was a choice, and the game was not
    /// lost yet.
    fn counts(&self) -> bool {
        let has_choice = !matches!(self.verdict, MoveVerdict::AfterTheEnd | MoveVerdict::Forced);
        has_choice && !is_lost(self.before.expected_for(self.side))
    }
}

/// How one side played.
#[derive(Clone, Copy, Debug)]
pub struct SideSummary {
    /// Number of moves.
    pub moves: usize,
    /// Number of moves that count for the accuracy.
    pub counted_moves: usize,
    /// Mean accuracy of the counted moves, 0 to 1.
    pub accuracy: Option<f64>,
    /// Mean loss of the counted moves.
    pub mean_loss: Option<f64>,
    /// Number of inaccuracies, mistakes and blunders.
    pub judgements: [usize; 3],
}

impl GameAnalysis {
    /// Returns the number of the move at an index, from 1; both sides share a number.
    pub fn move_number(&self, index: usize) -> usize {
        (index + usize::from(self.side == Side::Second)) / 2 + 1
    }

    /// Returns the name of a player, if the record has it.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.record.player(side)
    }

    /// Formats a move with its number and judgement: `12. 11-15?`, `12... 24-19`.
    pub fn move_text(&self, index: usize) -> String {
        let Some(played) = self.moves.get(index) else { return String::new() };
        let dots = if played.side == Side::First { "." } else { "..." };
        let symbol = played.verdict.judgement().map_or("", Judgement::symbol);
        format!("{}{dots} {}{symbol}", self.move_number(index), played.step.text)
    }
}

/// Maximum number of moves per line.
const MAX_LINE_MOVES: usize = 12;
/// Number of best moves compared where the first choice of a search is refuted.
const MAX_CANDIDATES: usize = 4;

/// Analyses a recorded game. `number` is its number in the file. `on_progress` is called after
/// every iteration of every search.
pub fn analyse_game(
    record: &GameRecord,
    number: u64,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<GameAnalysis, AnalysisError> {
    visit(&record.game, AnalysisVisitor { record, number, request, knowledge, stop, on_progress })
}

struct AnalysisVisitor<'a> {
    record: &'a GameRecord,
    number: u64,
    request: &'a AnalysisRequest,
    knowledge: &'a Knowledge,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(&Progress),
}

impl GameVisitor for AnalysisVisitor<'_> {
    type Output = Result<GameAnalysis, AnalysisError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let AnalysisVisitor { record, number, request, knowledge, stop, on_progress } = self;
        let texts = record.line.plies.iter().map(|ply| ply.text.as_str());
        let session = replay::<P>(&record.game, options, record.start.as_deref(), texts)
            .map_err(AnalysisError::InvalidInput)?;
        let (positions, keys) = (session.positions(), session.history_keys());
        let end = positions.iter().enumerate().find_map(|(plies, position)| {
            let outcome = position.outcome(&keys[..plies])?;
            Some(GameEnd { plies, winner: outcome.winner, text: position.describe(outcome) })
        });
        let engine = P::new_engine(request.engine, knowledge)
            .map_err(|error| AnalysisError::OutOfMemory(error.to_string()))?;
        let mut judge = Judge {
            session: &session,
            engine,
            request,
            stop,
            on_progress,
            progress: (0, positions.len()),
        };

        let played = session.moves_played().len();
        let last_judged = end.as_ref().map_or(played, |end| end.plies);
        let mut after = match &end {
            Some(end) => PositionEval::over(end.winner),
            None => judge.search(&positions[last_judged], &keys[..last_judged], 1)?,
        };
        let mut moves: Vec<MoveAnalysis> = Vec::with_capacity(played);
        for index in (last_judged..played).rev() {
            moves.push(after_the_end(&session, index, after.eval));
        }
        for index in (0..last_judged).rev() {
            judge.progress.0 = played - index;
            let (before, analysis) = judge.judge(index, &after)?;
            moves.push(analysis);
            after = before;
        }
        moves.reverse();
        let eval = moves.first().map_or(after.eval, |first| first.before);
        let evals = std::iter::once(eval).chain(moves.iter().map(|played| played.after));
        let expected: Vec<_> = evals.map(Eval::expected_score).collect();
        let losses: Vec<_> = moves
            .iter()
            .map(|played| MoveLoss {
                loss: played.loss,
                is_marked: played.verdict.judgement().is_some(),
            })
            .collect();
        Ok(GameAnalysis {
            number,
            record: record.clone(),
            game_name: P::NAME,
            sides: P::SIDES,
            start: positions[0].format_position(),
            board: board_text(&positions[0]),
            side: positions[0].side(),
            eval,
            summaries: [Side::First, Side::Second].map(|side| SideSummary::new(&moves, side)),
            turning_point: turning_point(&expected, &losses),
            moves,
            end,
        })
    }
}

impl SideSummary {
    fn new(moves: &[MoveAnalysis], side: Side) -> SideSummary {
        let moves = || moves.iter().filter(|played| played.side == side);
        let losses = || moves().filter(|played| played.counts()).map(|played| played.loss);
        let count = |judgement| {
            moves().filter(|played| played.verdict.judgement() == Some(judgement)).count()
        };
        SideSummary {
            moves: moves().count(),
            counted_moves: losses().count(),
            accuracy: accuracy(losses()),
            mean_loss: mean(losses()),
            judgements: Judgement::ALL.map(count),
        }
    }
}

/// Returns the analysis of a move played after the end of the game.
fn after_the_end<P: Searchable>(
    session: &TypedSession<P>,
    index: usize,
    eval: Eval,
) -> MoveAnalysis {
    let position = &session.positions()[index];
    MoveAnalysis {
        step: MoveStep::new(position, session.moves_played()[index]),
        position: session.positions()[index + 1].format_position(),
        side: position.side(),
        before: eval,
        after: eval,
        loss: 0.0,
        verdict: MoveVerdict::AfterTheEnd,
        better: None,
        lines: Vec::new(),
        depth: 0,
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

struct Judge<'a, P: Searchable> {
    session: &'a TypedSession<P>,
    engine: Box<dyn DynEngine<P>>,
    request: &'a AnalysisRequest,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(&Progress),
    /// Positions done, and positions in total.
    progress: (usize, usize),
}

impl<P: Searchable> Judge<'_, P> {
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

    /// Judges the move at `index`; `after` is the evaluation of the position after it. Also returns
    /// the evaluation of the position before it.
    fn judge(
        &mut self,
        index: usize,
        after: &PositionEval<P>,
    ) -> Result<(PositionEval<P>, MoveAnalysis), AnalysisError> {
        let session = self.session;
        let (position, played) = (&session.positions()[index], session.moves_played()[index]);
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let mut analysis = MoveAnalysis {
            step: MoveStep::new(position, played),
            position: session.positions()[index + 1].format_position(),
            side: position.side(),
            before: after.eval.one_ply_up(),
            after: after.eval,
            loss: 0.0,
            verdict: MoveVerdict::Best,
            better: None,
            lines: Vec::new(),
            depth: after.depth,
        };
        // A skipped turn is not a legal move, so it is compared even with a single one.
        if legal[..] == [played] {
            analysis.verdict = MoveVerdict::Forced;
            let before =
                PositionEval { eval: analysis.before, lines: Vec::new(), depth: after.depth };
            return Ok((before, analysis));
        }
        let history_keys = &session.history_keys()[..index];
        let mut before = self.search(position, history_keys, self.request.lines.max(1))?;
        if self.request.lines > 1 {
            analysis.lines = variations(position, &before.lines, MAX_LINE_MOVES);
        }
        if let Some(better) = self.better_move(index, &before, analysis.before)? {
            let side = position.side();
            let best_score = better.eval.expected_for(side);
            let played_score = after.eval.expected_for(side);
            analysis.before = better.eval;
            analysis.loss = best_score - played_score;
            analysis.verdict = match Judgement::new(best_score, played_score) {
                Some(judgement) => {
                    let line = Variation::new(position, &better.moves, better.eval, MAX_LINE_MOVES);
                    analysis.better = Some(line);
                    MoveVerdict::Judged(judgement)
                }
                None => MoveVerdict::Fine,
            };
        }
        // The move before is judged by this evaluation: the search's own may have been refuted.
        before.eval = analysis.before;
        Ok((before, analysis))
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
