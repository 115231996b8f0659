//! A recorded game, move by move.
//!
//! The game is searched from its last position to its first, with one hash table. Forwards, a
//! search that overlooks what happens ten plies later would praise a move, and blame the harmless
//! one after it when it suddenly sees; backwards, what came of a move is in the table when the
//! move is judged.
//!
//! Two moves are compared by searches of the positions after them, with equal limits: where the
//! search of a position prefers another move so clearly that the one played would be marked, the
//! position after that other move is searched too before anything is said.
//!
//! What a position is worth to the move before it is what its best move turned out to be worth, not
//! what the search of it thought: so a loss is told where it was brought about.

use crownhead_records::GameRecord;
use crownhead_rules::{MoveList, Notation, Position, Side, SideInfo};
use crownhead_search::{
    DynEngine, GameVisitor, HasEngine, Knowledge, PvLine, SearchReport, SearchRequest, Searchable,
    StopFlag, visit,
};

use super::judgement::{accuracy, is_lost, mean, turning_point};
use super::{
    AnalysisError, AnalysisRequest, Eval, Judgement, MoveStep, Progress, Variation, board_text,
    ended, variations,
};

/// What was found about a game.
#[derive(Clone, Debug)]
pub struct GameAnalysis {
    /// Which game of its file, counted from 1.
    pub number: u64,
    /// The game as it was recorded.
    pub record: GameRecord,
    /// The name people use for what is played.
    pub name: &'static str,
    /// How its sides are called.
    pub sides: [SideInfo; 2],
    /// The text of the position it starts from.
    pub start: String,
    /// The letters of the 64 cells there.
    pub board: String,
    /// Who moves first in it.
    pub side: Side,
    /// What that position is worth.
    pub worth: Eval,
    /// The moves.
    pub moves: Vec<MoveAnalysis>,
    /// How each side played.
    pub summaries: [SideSummary; 2],
    /// The move at which the game turned for good, counted from 0.
    pub turning_point: Option<usize>,
    /// How the game ended by its rules, if it did.
    pub end: Option<End>,
}

/// The end of a game.
#[derive(Clone, Debug)]
pub struct End {
    /// After so many moves. Files may go on behind it, and those moves are not judged.
    pub plies: usize,
    /// Who won.
    pub winner: Option<Side>,
    /// In a sentence.
    pub text: String,
}

/// What was found about a move.
#[derive(Clone, Debug)]
pub struct MoveAnalysis {
    /// The move.
    pub step: MoveStep,
    /// The text of the position after it.
    pub position: String,
    /// Who made it.
    pub side: Side,
    /// What the position before it was worth with the best move.
    pub before: Eval,
    /// What the position after it is worth.
    pub after: Eval,
    /// How much of its player's expected result it lost, 0 to 1.
    pub lost: f64,
    /// What is to be said about it.
    pub verdict: MoveVerdict,
    /// The better line, if the move is marked.
    pub better: Option<Variation>,
    /// The best lines of the position before it, if more than one was asked for.
    pub lines: Vec<Variation>,
    /// How deep the position after it was searched.
    pub depth: u32,
}

/// What is to be said about a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveVerdict {
    /// The game was over already.
    AfterTheEnd,
    /// There was no other move.
    Forced,
    /// No better move was found.
    Best,
    /// Another was hardly better, or the game was decided.
    Fine,
    /// It was worse than another.
    Marked(Judgement),
}

impl MoveVerdict {
    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            MoveVerdict::AfterTheEnd => "after-the-end",
            MoveVerdict::Forced => "forced",
            MoveVerdict::Best => "best",
            MoveVerdict::Fine => "fine",
            MoveVerdict::Marked(mark) => mark.word(),
        }
    }

    /// The mark, if there is one.
    pub const fn mark(self) -> Option<Judgement> {
        match self {
            MoveVerdict::Marked(mark) => Some(mark),
            _ => None,
        }
    }
}

impl MoveAnalysis {
    /// Whether the player had a choice and something to lose.
    fn counts(&self) -> bool {
        let choice = !matches!(self.verdict, MoveVerdict::AfterTheEnd | MoveVerdict::Forced);
        choice && !is_lost(self.before.expected_by(self.side))
    }
}

/// How one side played.
#[derive(Clone, Copy, Debug)]
pub struct SideSummary {
    /// Moves it made.
    pub moves: usize,
    /// Those of them that count: there was a choice, and the game was not lost already.
    pub counted: usize,
    /// The mean accuracy of the moves that count, 0 to 1.
    pub accuracy: Option<f64>,
    /// Their mean loss of expected result.
    pub lost: Option<f64>,
    /// How many moves got each mark, the mildest first.
    pub marks: [usize; 3],
}

impl GameAnalysis {
    /// The number of a move, as the players count, counted from 1.
    pub fn move_number(&self, index: usize) -> usize {
        (index + usize::from(self.side == Side::Second)) / 2 + 1
    }

    /// The name of a player, if it is known.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.record.player(side)
    }

    /// A move with its number and mark: `12. 11-15 ?`, `12... 24-19`.
    pub fn move_text(&self, index: usize) -> String {
        let Some(played) = self.moves.get(index) else { return String::new() };
        let dots = if played.side == Side::First { "." } else { "..." };
        let mark = played.verdict.mark().map_or("", Judgement::sign);
        format!("{}{dots} {}{mark}", self.move_number(index), played.step.text)
    }
}

/// Variations are not shown longer.
const LONGEST: usize = 12;
/// So many best moves are looked at where the first choice of a search is refuted.
const CHOICES: usize = 4;

/// Analyses a recorded game. `number` is its place in the file; `heard` is told of every iteration
/// of every search.
pub fn analyse_game(
    record: &GameRecord,
    number: u64,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    heard: &mut dyn FnMut(&Progress),
) -> Result<GameAnalysis, AnalysisError> {
    visit(&record.game, Analysis { record, number, request, knowledge, stop, heard })
}

struct Analysis<'a> {
    record: &'a GameRecord,
    number: u64,
    request: &'a AnalysisRequest,
    knowledge: &'a Knowledge,
    stop: &'a StopFlag,
    heard: &'a mut dyn FnMut(&Progress),
}

/// A game that has been played over.
struct Replay<P: Position> {
    /// One more than moves.
    positions: Vec<P>,
    moves: Vec<P::Move>,
    /// The keys of the positions.
    keys: Vec<u64>,
}

impl<P: Notation> Replay<P> {
    fn new(record: &GameRecord, options: &P::Options) -> Result<Self, AnalysisError> {
        let refused = |why: String| AnalysisError::BadInput(why);
        let mut position = match &record.start {
            Some(text) => {
                P::parse_position(text, options).map_err(|error| refused(error.to_string()))?
            }
            None => P::start(options),
        };
        let mut replay = Replay { positions: Vec::new(), moves: Vec::new(), keys: Vec::new() };
        for (number, ply) in (1..).zip(&record.line.plies) {
            let mv = position
                .parse_recorded_move(&ply.text)
                .map_err(|error| refused(format!("move {number}, {}: {error}", ply.text)))?;
            let after = position.after(mv);
            replay.keys.push(position.key());
            replay.positions.push(std::mem::replace(&mut position, after));
            replay.moves.push(mv);
        }
        replay.keys.push(position.key());
        replay.positions.push(position);
        Ok(replay)
    }
}

impl GameVisitor for Analysis<'_> {
    type Output = Result<GameAnalysis, AnalysisError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let Analysis { record, number, request, knowledge, stop, heard } = self;
        let replay = Replay::<P>::new(record, options)?;
        let mut end = None;
        for (plies, position) in replay.positions.iter().enumerate() {
            if let Some(outcome) = position.outcome(&replay.keys[..plies]) {
                end = Some(End { plies, winner: outcome.winner, text: position.describe(outcome) });
                break;
            }
        }
        let engine = P::new_engine(request.settings, knowledge)
            .map_err(|error| AnalysisError::NoMemory(error.to_string()))?;
        let positions = (0, replay.positions.len());
        let mut judge = Judge { engine, request, stop, heard, positions };

        let last_judged = end.as_ref().map_or(replay.moves.len(), |end| end.plies);
        let past = &replay.keys[..last_judged];
        let mut after = match &end {
            Some(end) => Found::over(end.winner),
            None => judge.search(&replay.positions[last_judged], past, 1)?,
        };
        let mut moves: Vec<MoveAnalysis> = Vec::with_capacity(replay.moves.len());
        for index in (last_judged..replay.moves.len()).rev() {
            moves.push(behind_the_end(&replay, index, after.worth));
        }
        for index in (0..last_judged).rev() {
            judge.positions.0 = replay.moves.len() - index;
            let (before, analysis) = judge.judge(&replay, index, &after)?;
            moves.push(analysis);
            after = before;
        }
        moves.reverse();
        let mut expected =
            vec![moves.first().map_or(after.worth, |first| first.before).expected_score()];
        expected.extend(moves.iter().map(|played| played.after.expected_score()));
        let losses: Vec<_> = moves.iter().map(|played| played.lost).collect();
        Ok(GameAnalysis {
            number,
            record: record.clone(),
            name: P::NAME,
            sides: P::SIDES,
            start: replay.positions[0].format_position(),
            board: board_text(&replay.positions[0]),
            side: replay.positions[0].side(),
            worth: moves.first().map_or(after.worth, |first| first.before),
            summaries: [Side::First, Side::Second].map(|side| SideSummary::new(&moves, side)),
            turning_point: turning_point(&expected, &losses),
            moves,
            end,
        })
    }
}

impl SideSummary {
    fn new(moves: &[MoveAnalysis], side: Side) -> SideSummary {
        let own = || moves.iter().filter(|played| played.side == side);
        let losses = || own().filter(|played| played.counts()).map(|played| played.lost);
        let marked = |mark| own().filter(|played| played.verdict.mark() == Some(mark)).count();
        SideSummary {
            moves: own().count(),
            counted: losses().count(),
            accuracy: accuracy(losses()),
            lost: mean(losses()),
            marks: Judgement::ALL.map(marked),
        }
    }
}

fn behind_the_end<P: Notation>(replay: &Replay<P>, index: usize, worth: Eval) -> MoveAnalysis {
    MoveAnalysis {
        step: MoveStep::new(&replay.positions[index], replay.moves[index]),
        position: replay.positions[index + 1].format_position(),
        side: replay.positions[index].side(),
        before: worth,
        after: worth,
        lost: 0.0,
        verdict: MoveVerdict::AfterTheEnd,
        better: None,
        lines: Vec::new(),
        depth: 0,
    }
}

/// What a search found about a position.
struct Found<P: Position> {
    worth: Eval,
    lines: Vec<PvLine<P>>,
    depth: u32,
}

impl<P: Position> Found<P> {
    fn over(winner: Option<Side>) -> Self {
        Found { worth: ended(winner), lines: Vec::new(), depth: 0 }
    }

    fn new(report: SearchReport<P>, side: Side) -> Self {
        let worth = Eval::new(report.score(), side);
        Found { worth, lines: report.lines, depth: report.depth }
    }
}

/// A move other than the one played, and what it is worth.
struct Alternative<P: Position> {
    worth: Eval,
    line: Vec<P::Move>,
}

struct Judge<'a, P: Searchable> {
    engine: Box<dyn DynEngine<P>>,
    request: &'a AnalysisRequest,
    stop: &'a StopFlag,
    heard: &'a mut dyn FnMut(&Progress),
    positions: (usize, usize),
}

impl<P: Searchable> Judge<'_, P> {
    fn search(
        &mut self,
        position: &P,
        past: &[u64],
        lines: usize,
    ) -> Result<Found<P>, AnalysisError> {
        if let Some(outcome) = position.outcome(past) {
            return Ok(Found::over(outcome.winner));
        }
        let task = SearchRequest {
            position,
            history_keys: past,
            limits: self.request.limits,
            multipv: lines,
        };
        let (positions, heard) = (self.positions, &mut *self.heard);
        let report = self.engine.search(task, self.stop, &mut |report| {
            heard(&Progress::new(positions, position, report, LONGEST));
        });
        if self.stop.is_set() {
            return Err(AnalysisError::Interrupted);
        }
        Ok(Found::new(report, position.side()))
    }

    /// Judges the move at `index`, after which the position is worth `after`; also returns what the
    /// position before it is worth to the move before.
    fn judge(
        &mut self,
        replay: &Replay<P>,
        index: usize,
        after: &Found<P>,
    ) -> Result<(Found<P>, MoveAnalysis), AnalysisError> {
        let (position, played) = (&replay.positions[index], replay.moves[index]);
        let past = &replay.keys[..index];
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let mut analysis = MoveAnalysis {
            step: MoveStep::new(position, played),
            position: replay.positions[index + 1].format_position(),
            side: position.side(),
            before: after.worth.one_ply_up(),
            after: after.worth,
            lost: 0.0,
            verdict: MoveVerdict::Best,
            better: None,
            lines: Vec::new(),
            depth: after.depth,
        };
        // A skipped turn is none of the moves, so something can be compared with it.
        if legal[..] == [played] {
            // Nothing to compare with, and nothing to search: it is worth what comes of it.
            analysis.verdict = MoveVerdict::Forced;
            let before = Found { worth: analysis.before, lines: Vec::new(), depth: after.depth };
            return Ok((before, analysis));
        }
        let mut before = self.search(position, past, self.request.lines.max(1))?;
        if self.request.lines > 1 {
            analysis.lines = variations(position, &before.lines, LONGEST);
        }
        if let Some(other) = self.alternative(replay, index, &before, analysis.before)? {
            let side = position.side();
            let best = other.worth.expected_by(side);
            let kept = after.worth.expected_by(side);
            analysis.before = other.worth;
            analysis.lost = best - kept;
            analysis.verdict = match Judgement::new(best, kept) {
                Some(mark) => MoveVerdict::Marked(mark),
                None => MoveVerdict::Fine,
            };
            if analysis.verdict.mark().is_some() {
                let line = Variation::new(position, &other.line, other.worth, LONGEST);
                analysis.better = Some(line);
            }
        }
        // The move before is judged by the same: what the search thought at first may be refuted.
        before.worth = analysis.before;
        Ok((before, analysis))
    }

    /// The best move other than the one played, which is worth `kept`, if it is better.
    ///
    /// A move that is better only by the search of this position, and so clearly that the one
    /// played would be marked, is searched behind. If it turns out to be no better, and so does the
    /// one played where the search liked that, the next choices get their chance.
    fn alternative(
        &mut self,
        replay: &Replay<P>,
        index: usize,
        before: &Found<P>,
        kept: Eval,
    ) -> Result<Option<Alternative<P>>, AnalysisError> {
        let (position, played) = (&replay.positions[index], replay.moves[index]);
        let side = position.side();
        let (mut best, mut kept) = (None, kept);
        let mut seen = vec![played];
        let mut more = None;
        loop {
            let marked = |worth: Eval, kept: Eval| {
                Judgement::new(worth.expected_by(side), kept.expected_by(side)).is_some()
            };
            let lines = more.as_ref().unwrap_or(&before.lines);
            let unseen =
                |line: &&PvLine<P>| line.moves.first().is_some_and(|mv| !seen.contains(mv));
            let Some(line) = lines.iter().find(unseen) else {
                if more.is_some() || !marked(before.worth, kept) {
                    return Ok(best);
                }
                let choices = CHOICES.max(self.request.lines);
                more = Some(self.search(position, &replay.keys[..index], choices)?.lines);
                continue;
            };
            let mut other =
                Alternative { worth: Eval::new(line.score, side), line: line.moves.clone() };
            let is_clear = marked(other.worth, kept);
            if is_clear {
                let mv = other.line[0];
                seen.push(mv);
                let behind = self.search(&position.after(mv), &replay.keys[..=index], 1)?;
                other.worth = behind.worth.one_ply_up();
                if let Some(line) = behind.lines.first() {
                    other.line.truncate(1);
                    other.line.extend_from_slice(&line.moves);
                }
            }
            if other.worth.is_better_for(side, kept) {
                kept = other.worth;
                best = Some(other);
            }
            if !is_clear {
                return Ok(best);
            }
        }
    }
}
