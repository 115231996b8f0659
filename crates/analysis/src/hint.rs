//! Hints: which piece, which move, and why, in words and with the cells to mark.
//!
//! The reasons come from comparing the moves of both players before and after the move, and from
//! the line of the search. Nothing here depends on one game: games without captures or king rows
//! have no such reasons.

use std::time::Duration;

use crownhead_play::{Choice, LegalMove, Session, counted, new_session, position_text};
use crownhead_rules::{Cell, GameInfo, Side};
use crownhead_search::{Score, SearchLimits, StopFlag, plies_to_end};

use crate::{AnalysisError, Analyst, MoveStep};

/// The player that gives hints.
pub const HINT_PLAYER: &str = "best:movetime=1s,book=off";
/// Time of a search for a hint; the same as that of [`HINT_PLAYER`].
const HINT_TIME: Duration = Duration::from_secs(1);
/// Maximum number of reasons besides the score.
const MAX_REASONS: usize = 2;
/// Minimum progress of a move, in cells, that is a reason by itself.
const LONG_MOVE: i32 = 3;

/// A move to play, and why.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The move.
    pub step: MoveStep,
    /// Reasons, the most important first. The last one is about the score.
    pub reasons: Vec<Reason>,
}

/// One reason for a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// The reason after `it`: `saves the man on 15`.
    pub text: String,
    /// The cells to mark.
    pub cells: Vec<Cell>,
}

/// Kinds of reasons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReasonKind {
    /// There is no other legal move, or only captures.
    Forced,
    /// The game is won or lost by force.
    Decided,
    /// It captures.
    Capture,
    /// It gives up pieces for more.
    Exchange,
    /// It saves a piece that could be captured.
    Save,
    /// It threatens a capture.
    Threat,
    /// The piece becomes a king, now or later in the line.
    KingRow,
    /// It brings a piece into the target, or makes room there.
    Camp,
    /// It blocks a long move of the opponent.
    Block,
    /// It brings a piece many cells forward.
    Advance,
    /// The score after the move.
    Score,
}

impl ReasonKind {
    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            ReasonKind::Forced => "forced",
            ReasonKind::Decided => "decided",
            ReasonKind::Capture => "capture",
            ReasonKind::Exchange => "exchange",
            ReasonKind::Save => "save",
            ReasonKind::Threat => "threat",
            ReasonKind::KingRow => "king-row",
            ReasonKind::Camp => "camp",
            ReasonKind::Block => "block",
            ReasonKind::Advance => "advance",
            ReasonKind::Score => "score",
        }
    }
}

/// Searches for a hint for the side to move. `None` if the game is over.
pub fn hint(
    session: &dyn Session,
    analyst: &mut dyn Analyst,
    stop: &StopFlag,
) -> Result<Option<Hint>, AnalysisError> {
    let limits = SearchLimits { hard_time: Some(HINT_TIME), ..SearchLimits::default() };
    let Some(found) = analyst.search(session, limits, 1, stop, &mut |_| {}) else {
        return Ok(None);
    };
    if stop.is_set() {
        return Err(AnalysisError::Interrupted);
    }
    let Some(line) = found.lines.into_iter().next() else { return Ok(None) };
    let pv: Vec<_> = line.steps.iter().map(|step| step.text.clone()).collect();
    let Some(step) = line.steps.into_iter().next() else { return Ok(None) };
    let score = Some(line.eval.score_for(session.side()));
    let choice =
        Choice { text: step.text.clone(), score, depth: found.depth, nodes: found.nodes, pv };
    Ok(Some(Hint { step, reasons: hint_reasons(session, &choice) }))
}

/// Returns why a move is good, for the player whose turn it is: `it captures a piece and keeps the
/// game level`. `None` if the move is not legal.
pub fn hint_reason(session: &dyn Session, choice: &Choice) -> Option<String> {
    let reasons = hint_reasons(session, choice);
    (!reasons.is_empty()).then(|| reasons_text(&reasons))
}

/// Joins reasons to a clause.
pub fn reasons_text(reasons: &[Reason]) -> String {
    let texts: Vec<_> = reasons.iter().map(|reason| reason.text.as_str()).collect();
    let decided = [ReasonKind::Forced, ReasonKind::Decided];
    match texts.split_last() {
        None => String::new(),
        Some((last, [])) if decided.contains(&reasons[0].kind) => (*last).to_string(),
        Some((last, [])) => format!("it {last}"),
        Some((last, first)) => format!("it {} and {last}", first.join(", ")),
    }
}

/// Returns the reasons for a move; none if it is not legal.
pub fn hint_reasons(session: &dyn Session, choice: &Choice) -> Vec<Reason> {
    let legal = session.legal_moves();
    let Some(mv) = legal.iter().find(|mv| mv.text == choice.text) else { return Vec::new() };
    let reason = |kind, text: String, cells: &[Cell]| Reason { kind, text, cells: cells.to_vec() };
    let forced = |text: String| vec![reason(ReasonKind::Forced, text, &mv.captures)];
    if legal.len() == 1 {
        return forced("it is the only legal move".into());
    }
    if session.game().info().forced_capture && legal.iter().all(|mv| !mv.captures.is_empty()) {
        return forced(format!("the best of {} mandatory captures", legal.len()));
    }
    let score = choice.score.unwrap_or(0);
    match plies_to_end(score) {
        Some(plies) if plies > 0 => {
            let moves = plies.unsigned_abs().div_ceil(2).into();
            let text = format!("it wins by force in {}", counted(moves, "move"));
            return vec![reason(ReasonKind::Decided, text, &[])];
        }
        Some(_) => {
            let text = "every move loses; this one holds out longest".into();
            return vec![reason(ReasonKind::Decided, text, &[])];
        }
        None => {}
    }
    let mut reasons = Reasons::new(session, mv, &choice.pv).map_or(Vec::new(), Reasons::all);
    reasons.truncate(MAX_REASONS);
    reasons.push(reason(ReasonKind::Score, score_phrase(score).into(), &[]));
    reasons
}

/// A move that is compared with the position before it.
struct Reasons<'a> {
    before: &'a dyn Session,
    after: Box<dyn Session>,
    mv: &'a LegalMove,
    from: Cell,
    to: Cell,
    pv: &'a [String],
    /// The legal moves of the opponent before the move, as if it were the opponent's turn.
    opponent_before: Vec<LegalMove>,
    opponent_after: Vec<LegalMove>,
}

impl<'a> Reasons<'a> {
    fn new(before: &'a dyn Session, mv: &'a LegalMove, pv: &'a [String]) -> Option<Self> {
        let mut after = before.clone_box();
        after.play(&mv.text).ok()?;
        let (from, to) = (*mv.path.first()?, *mv.path.last()?);
        let opponent_before = moves_of_other(before);
        let opponent_after = after.legal_moves();
        Some(Reasons { before, after, mv, from, to, pv, opponent_before, opponent_after })
    }

    fn all(self) -> Vec<Reason> {
        let reasons = [
            self.capture(),
            self.exchange(),
            self.save(),
            self.king_row(),
            self.threat(),
            self.camp(),
            self.block(),
            self.advance(),
        ];
        reasons.into_iter().flatten().collect()
    }

    fn info(&self) -> &'static GameInfo {
        self.before.game().info()
    }

    /// The name of a piece with its square: `the man on 15`.
    fn piece_on(&self, board: &[char; 64], cell: Cell) -> String {
        let info = self.info();
        let kind = info.piece(board[cell.index() as usize]).map_or("piece", |(_, kind)| kind.name);
        format!("the {kind} on {}", self.cell_name(cell))
    }

    fn cell_name(&self, cell: Cell) -> String {
        let number = self.info().square_number(cell);
        number.map_or(cell.to_string(), |number| number.to_string())
    }

    fn pieces(&self, board: &[char; 64], cells: &[Cell]) -> String {
        match cells {
            [cell] => self.piece_on(board, *cell),
            cells => counted(cells.len() as u64, "piece"),
        }
    }

    fn capture(&self) -> Option<Reason> {
        let text = match self.mv.captures.len() {
            0 => return None,
            1 => "captures a piece".into(),
            count => format!("captures {count} pieces"),
        };
        Some(Reason { kind: ReasonKind::Capture, text, cells: self.mv.captures.clone() })
    }

    /// The opponent captures, and then the player captures more.
    fn exchange(&self) -> Option<Reason> {
        let [_, reply, next, ..] = self.pv else { return None };
        let mut line = self.after.clone_box();
        let captures = |line: &mut Box<dyn Session>, text: &str| {
            line.play(text).ok()?;
            line.last_move().map(|mv| mv.captures)
        };
        let lost = captures(&mut line, reply)?;
        let won = captures(&mut line, next)?;
        if lost.is_empty() || won.len() <= lost.len() || !self.mv.captures.is_empty() {
            return None;
        }
        let pieces = |count: usize| match count {
            1 => "a piece".to_string(),
            count => format!("{count} pieces"),
        };
        let text = format!("gives up {} and captures {}", pieces(lost.len()), pieces(won.len()));
        Some(Reason { kind: ReasonKind::Exchange, text, cells: won })
    }

    /// The opponent could have captured a piece, and cannot any more.
    fn save(&self) -> Option<Reason> {
        let attacked = captured(&self.opponent_before);
        if attacked.is_empty() || !self.mv.captures.is_empty() {
            return None;
        }
        let still = captured(&self.opponent_after);
        let is_saved = |cell: &Cell| match *cell == self.from {
            true => !still.contains(&self.to),
            false => !still.contains(cell),
        };
        let saved: Vec<_> = attacked.into_iter().filter(is_saved).collect();
        // Saving one piece by giving up another is not a reason.
        if saved.is_empty() || !still.is_empty() {
            return None;
        }
        let text = format!("saves {}", self.pieces(&self.before.board(), &saved));
        Some(Reason { kind: ReasonKind::Save, text, cells: saved })
    }

    /// The player could capture next, if the opponent did nothing.
    fn threat(&self) -> Option<Reason> {
        // An opponent who must capture does not have the time to answer, nor the player to wait.
        if !captured(&self.opponent_after).is_empty() {
            return None;
        }
        let before = captured(&self.before.legal_moves());
        let mut threatened = captured(&moves_of_other(self.after.as_ref()));
        threatened.retain(|cell| !before.contains(cell));
        if threatened.is_empty() {
            return None;
        }
        let text = format!("threatens {}", self.pieces(&self.after.board(), &threatened));
        Some(Reason { kind: ReasonKind::Threat, text, cells: threatened })
    }

    /// The piece becomes a king, now or later in the line of the search.
    fn king_row(&self) -> Option<Reason> {
        let letter = |board: [char; 64], cell: Cell| board[cell.index() as usize];
        let start = letter(self.before.board(), self.from);
        let (mut line, mut at) = (self.after.clone_box(), self.to);
        let mut moves = 1;
        let mut next = self.pv.get(1..).unwrap_or_default();
        while letter(line.board(), at) == start {
            let [reply, own, rest @ ..] = next else { return None };
            next = rest;
            line.play(reply).ok()?;
            // The piece is captured, or the line goes on with another one.
            if letter(line.board(), at) != start {
                return None;
            }
            line.play(own).ok()?;
            let path = line.last_move()?.path;
            if *path.first()? == at {
                at = *path.last()?;
                moves += 1;
            }
        }
        let text = match moves {
            1 => "makes a king".into(),
            _ => {
                let piece = self.piece_on(&self.before.board(), self.from);
                let moves = counted(moves, "move");
                format!("lets {piece} run to the king row: a king in {moves}")
            }
        };
        Some(Reason { kind: ReasonKind::KingRow, text, cells: vec![self.from, at] })
    }

    /// The piece enters the target, or moves on inside it and makes room.
    fn camp(&self) -> Option<Reason> {
        let side = self.before.side();
        let target = self.info().targets?[side.index()];
        let home = self.info().targets?[side.other().index()];
        let is_in = |cells: u64, cell: Cell| cells & cell.bit() != 0;
        let name = match self.info().counts_points {
            true => "target",
            false => "camp",
        };
        let text = match (is_in(target, self.from), is_in(target, self.to)) {
            (false, true) => format!("brings a piece into the {name}"),
            (true, true) => format!("makes room in the {name} for the pieces behind"),
            // The last pieces at home are easily shut in.
            (false, false) if is_in(home, self.from) && !is_in(home, self.to) => {
                let board = self.after.board();
                let is_own = |cell: &Cell| {
                    let piece = self.info().piece(board[cell.index() as usize]);
                    is_in(home, *cell) && piece.is_some_and(|(owner, _)| owner == side)
                };
                match Cell::all().filter(is_own).count() {
                    0..=2 => "frees a piece before its camp is blocked".into(),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Reason { kind: ReasonKind::Camp, text, cells: vec![self.from, self.to] })
    }

    /// The opponent had a long move forward, and has no such move any more.
    fn block(&self) -> Option<Reason> {
        let other = self.before.side().other();
        let longest = self.opponent_before.iter().max_by_key(|mv| self.progress(other, mv))?;
        let left = self.opponent_after.iter().map(|mv| self.progress(other, mv)).max()?;
        if self.progress(other, longest) < left.max(0) + LONG_MOVE {
            return None;
        }
        let text = format!("blocks {}", longest.text);
        Some(Reason { kind: ReasonKind::Block, text, cells: longest.path.clone() })
    }

    /// The piece moves many cells towards its target.
    fn advance(&self) -> Option<Reason> {
        let progress = self.progress(self.before.side(), self.mv);
        if progress < LONG_MOVE {
            return None;
        }
        let text = format!("brings a piece {progress} cells closer to the target");
        let cells = vec![self.from, self.to];
        Some(Reason { kind: ReasonKind::Advance, text, cells })
    }

    /// Cells that a move of a side comes closer to its target; 0 in games without targets.
    fn progress(&self, side: Side, mv: &LegalMove) -> i32 {
        let Some(targets) = self.info().targets else { return 0 };
        let (Some(from), Some(to)) = (mv.path.first(), mv.path.last()) else { return 0 };
        let target = targets[side.index()];
        distance(*from, target) as i32 - distance(*to, target) as i32
    }
}

/// King moves from a cell to the nearest of these cells.
fn distance(cell: Cell, cells: u64) -> u32 {
    let to = |other: Cell| {
        let rows = u32::from(cell.row().abs_diff(other.row()));
        rows.max(cell.column().abs_diff(other.column()).into())
    };
    Cell::all().filter(|other| cells & other.bit() != 0).map(to).min().unwrap_or(0)
}

/// The cells of all pieces that moves capture, without duplicates.
fn captured(moves: &[LegalMove]) -> Vec<Cell> {
    let mut cells: Vec<_> = moves.iter().flat_map(|mv| mv.captures.iter().copied()).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The legal moves of the player who has just moved, as if the other one had passed; none if that
/// is not a valid position.
fn moves_of_other(session: &dyn Session) -> Vec<LegalMove> {
    let (game, side) = (session.game(), session.side().other());
    let text = position_text(game, &session.board(), side, 0);
    new_session(game, Some(&text)).map_or(Vec::new(), |session| session.legal_moves())
}

/// Describes a score to the side to move.
fn score_phrase(score: Score) -> &'static str {
    match score {
        150.. => "leaves you well ahead",
        40..150 => "leaves you slightly ahead",
        -39..40 => "keeps the game level",
        -149..-39 => "keeps the disadvantage small",
        _ => "is the best defence",
    }
}
