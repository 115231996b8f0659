//! Judges every move of a recorded game by what its [searches](crate::game_search) found.
//!
//! The evaluation of a position, as the result of the move before it, is that of its best move by
//! these searches, not that of the search of the position itself. So a loss is attributed to the
//! move that caused it.

use crownhead_play::TypedSession;
use crownhead_play::replay::replay;
use crownhead_records::GameRecord;
use crownhead_rules::{MoveList, Side, SideInfo};
use crownhead_search::{GameVisitor, HasEngine, Knowledge, MAX_PLY, Searchable, StopFlag, visit};

use crate::game_search::{SearchedGame, SearchedLine, SearchedMove, search_game};
use crate::judgement::{MoveLoss, accuracy, is_lost, mean, turning_point};
use crate::{
    AnalysisError, AnalysisRequest, Eval, Judgement, MoveStep, Progress, Variation, board_text,
    final_eval,
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
pub(crate) const MAX_LINE_MOVES: usize = 12;

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
    let searched = search_game(record, request, knowledge, stop, on_progress)?;
    judge_game(record, number, request.lines, &searched)
}

/// Judges the moves of a game by what searches of it found. They may be the work of a machine that
/// lies: the error says what is impossible about them. `lines` is the number of lines requested.
pub fn judge_game(
    record: &GameRecord,
    number: u64,
    lines: usize,
    searched: &SearchedGame,
) -> Result<GameAnalysis, AnalysisError> {
    let visitor = JudgeVisitor { record, number, lines, searched };
    visit(&record.game, visitor).map_err(AnalysisError::InvalidInput)
}

/// Replays a recorded game, and finds its end by the rules.
pub(crate) fn replay_record<P: Searchable>(
    record: &GameRecord,
    options: &P::Options,
) -> Result<(TypedSession<P>, Option<GameEnd>), String> {
    let texts = record.line.plies.iter().map(|ply| ply.text.as_str());
    let session = replay::<P>(&record.game, options, record.start.as_deref(), texts)?;
    let (positions, keys) = (session.positions(), session.history_keys());
    let end = positions.iter().enumerate().find_map(|(plies, position)| {
        let outcome = position.outcome(&keys[..plies])?;
        Some(GameEnd { plies, winner: outcome.winner, text: position.describe(outcome) })
    });
    Ok((session, end))
}

struct JudgeVisitor<'a> {
    record: &'a GameRecord,
    number: u64,
    lines: usize,
    searched: &'a SearchedGame,
}

impl GameVisitor for JudgeVisitor<'_> {
    type Output = Result<GameAnalysis, String>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let JudgeVisitor { record, number, lines, searched } = self;
        let (session, end) = replay_record::<P>(record, options)?;
        let positions = session.positions();
        let played = session.moves_played().len();
        let last_judged = end.as_ref().map_or(played, |end| end.plies);
        if searched.moves.len() != last_judged {
            let count = searched.moves.len();
            return Err(format!("{count} searches for {last_judged} moves"));
        }
        let (mut after, mut depth) = match (&end, &searched.last) {
            (Some(end), None) => (final_eval(end.winner), 0),
            (None, Some((eval, depth))) => (eval.check()?, check_depth(*depth)?),
            _ => return Err("a search of the last position, or none, is missing".into()),
        };
        let mut moves: Vec<MoveAnalysis> = Vec::with_capacity(played);
        for index in (last_judged..played).rev() {
            moves.push(after_the_end(&session, index, after));
        }
        for (index, searched) in searched.moves.iter().enumerate().rev() {
            let judged = judge(&session, index, (after, depth), searched, lines);
            let judged = judged.map_err(|error| format!("move {}: {error}", index + 1))?;
            if judged.verdict != MoveVerdict::Forced {
                depth = check_depth(searched.depth)?;
            }
            after = judged.before;
            moves.push(judged);
        }
        moves.reverse();
        let eval = moves.first().map_or(after, |first| first.before);
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

/// Judges the move at `index`. `after` is the evaluation of the position after it, and the depth of
/// the search that found it.
fn judge<P: Searchable>(
    session: &TypedSession<P>,
    index: usize,
    (after, depth): (Eval, u32),
    searched: &SearchedMove,
    lines: usize,
) -> Result<MoveAnalysis, String> {
    let (position, played) = (&session.positions()[index], session.moves_played()[index]);
    let side = position.side();
    let mut analysis = MoveAnalysis {
        step: MoveStep::new(position, played),
        position: session.positions()[index + 1].format_position(),
        side,
        before: after.one_ply_up(),
        after,
        loss: 0.0,
        verdict: MoveVerdict::Best,
        better: None,
        lines: Vec::new(),
        depth,
    };
    if is_forced(session, index) {
        analysis.verdict = MoveVerdict::Forced;
        return match searched == &SearchedMove::default() {
            true => Ok(analysis),
            false => Err("the only move was searched".into()),
        };
    }
    let max_lines = if lines > 1 { lines } else { 0 };
    if searched.lines.len() > max_lines {
        return Err(format!("{} lines instead of {max_lines}", searched.lines.len()));
    }
    let variations = searched.lines.iter().map(|line| variation(position, line));
    analysis.lines = variations.collect::<Result<_, _>>()?;
    let Some(better) = &searched.better else { return Ok(analysis) };
    let better = variation(position, better)?;
    let first = better.steps.first().ok_or("the better line is empty")?;
    if first.text == analysis.step.text || !better.eval.is_better_for(side, analysis.before) {
        return Err(format!("{} is not better", first.text));
    }
    let (best_score, played_score) = (better.eval.expected_for(side), after.expected_for(side));
    analysis.before = better.eval;
    analysis.loss = best_score - played_score;
    analysis.verdict = match Judgement::new(best_score, played_score) {
        Some(judgement) => {
            analysis.better = Some(better);
            MoveVerdict::Judged(judgement)
        }
        None => MoveVerdict::Fine,
    };
    Ok(analysis)
}

/// Returns the depth of a search. Fails if no search is that deep.
fn check_depth(depth: u32) -> Result<u32, String> {
    match depth <= MAX_PLY as u32 {
        true => Ok(depth),
        false => Err(format!("impossible depth {depth}")),
    }
}

/// Whether the move at `index` was the only legal one. A skipped turn is not a legal move, so it is
/// compared even with a single one.
pub(crate) fn is_forced<P: Searchable>(session: &TypedSession<P>, index: usize) -> bool {
    let mut legal = MoveList::new();
    session.positions()[index].legal_moves(&mut legal);
    legal[..] == [session.moves_played()[index]]
}

/// Converts a line from a position.
fn variation<P: Searchable>(position: &P, line: &SearchedLine) -> Result<Variation, String> {
    if line.moves.len() > MAX_LINE_MOVES {
        return Err(format!("a line of {} moves", line.moves.len()));
    }
    let mut current = position.clone();
    let mut moves = Vec::with_capacity(line.moves.len());
    for text in &line.moves {
        let mv = current.parse_move(text).map_err(|error| error.to_string())?;
        moves.push(mv);
        current.play(mv);
    }
    Ok(Variation::new(position, &moves, line.eval.check()?, MAX_LINE_MOVES))
}
