//! Recorded games: the games of a file, and a cursor through one of them with its variations.

use std::io::Read;
use std::time::Duration;

use crownhead_play::replay::{self, ReplayedPosition};
use crownhead_records::{
    EvalScore, GameRecord, Line, MoveData, MoveEval, Ply, Reader, RecordError, RecordErrorKind,
};
use crownhead_rules::{Side, SideInfo, replace_invisible};

use crate::text::clock_text;

/// The games of a file, read on demand.
pub struct GameFile<R> {
    reader: Reader<R>,
    /// Games read so far, with their numbers in the file.
    records: Vec<(u64, GameRecord)>,
    count: u64,
    /// Errors of games that could not be read. The caller takes them.
    pub errors: Vec<RecordError>,
    is_exhausted: bool,
}

/// Maximum number of errors kept: a large invalid file must not fill the memory.
const MAX_ERRORS: usize = 100;

impl<R: Read> GameFile<R> {
    /// Reads games from an input.
    pub fn new(input: R) -> GameFile<R> {
        GameFile {
            reader: Reader::new(input),
            records: Vec::new(),
            count: 0,
            errors: Vec::new(),
            is_exhausted: false,
        }
    }

    /// Returns the game at an index among the readable games, with its number in the file.
    pub fn get(&mut self, index: usize) -> Option<(u64, &GameRecord)> {
        while self.records.len() <= index && !self.is_exhausted {
            let next = self.reader.next();
            self.count += 1;
            match next {
                None => self.is_exhausted = true,
                Some(Ok(record)) => self.records.push((self.count, record)),
                Some(Err(error)) => {
                    self.is_exhausted = error.kind == RecordErrorKind::Io;
                    if self.errors.len() < MAX_ERRORS {
                        self.errors.push(error);
                    }
                }
            }
        }
        self.records.get(index).map(|(number, record)| (*number, record))
    }
}

/// A variation: the ply of its parent line that it replaces, and its index among the variations of
/// that ply.
type Branch = (usize, usize);

/// A position in a recorded game and its variations.
pub struct RecordCursor {
    record: GameRecord,
    /// Variations entered, from the main line inwards.
    branches: Vec<Branch>,
    ply: usize,
    /// Positions of the current line.
    positions: Vec<ReplayedPosition>,
}

impl RecordCursor {
    /// Starts at the beginning of a game.
    pub fn new(record: GameRecord) -> Result<RecordCursor, String> {
        let mut cursor =
            RecordCursor { record, branches: Vec::new(), ply: 0, positions: Vec::new() };
        cursor.positions = cursor.replay_line()?;
        Ok(cursor)
    }

    fn replay_line(&self) -> Result<Vec<ReplayedPosition>, String> {
        let plies = self.plies();
        let moves: Vec<_> = plies.iter().map(|ply| ply.text.as_str()).collect();
        replay::positions(&self.record.game, self.record.start.as_deref(), &moves)
    }

    /// The recorded game.
    pub fn record(&self) -> &GameRecord {
        &self.record
    }

    /// Current position.
    pub fn position(&self) -> &ReplayedPosition {
        &self.positions[self.ply]
    }

    /// Start position.
    pub fn first(&self) -> &ReplayedPosition {
        &self.positions[0]
    }

    /// Moves of the current line, from the start of the game.
    pub fn plies(&self) -> Vec<&Ply> {
        let (mut plies, mut line) = (Vec::new(), &self.record.line);
        for &(at, variation) in &self.branches {
            plies.extend(&line.plies[..at]);
            line = &line.plies[at].variations[variation];
        }
        plies.extend(&line.plies);
        plies
    }

    fn line(&self, branches: &[Branch]) -> &Line {
        let mut line = &self.record.line;
        for &(at, variation) in branches {
            line = &line.plies[at].variations[variation];
        }
        line
    }

    /// Number of plies before the innermost variation.
    fn branch_ply(&self) -> usize {
        self.branches.iter().map(|(at, _)| at).sum()
    }

    /// Number of plies played.
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// Nesting depth of the current variation; 0 is the main line.
    pub fn depth(&self) -> usize {
        self.branches.len()
    }

    /// Whether the current line continues.
    pub fn has_more(&self) -> bool {
        self.ply + 1 < self.positions.len()
    }

    /// Goes to a ply of the current line. Going back past the first move of a variation leaves it.
    pub fn go_to(&mut self, ply: usize) {
        self.ply = ply.min(self.positions.len() - 1);
        let depth = self.branches.len();
        while !self.branches.is_empty() && self.ply <= self.branch_ply() {
            self.branches.pop();
        }
        if self.branches.len() < depth
            && let Ok(positions) = self.replay_line()
        {
            self.positions = positions;
        }
    }

    /// Goes one ply forward.
    pub fn forward(&mut self) {
        self.go_to(self.ply + 1);
    }

    /// Goes one ply back.
    pub fn back(&mut self) {
        self.go_to(self.ply.saturating_sub(1));
    }

    /// Returns the lines that differ in the last move, the current one included. The line that the
    /// others are variations of is first.
    fn siblings(&self) -> Vec<Vec<Branch>> {
        let mut base = self.branches.clone();
        let mut siblings = Vec::new();
        if self.ply == 0 {
            return siblings;
        }
        // The first move of a variation is an alternative to a move of its parent line.
        let mut index = self.ply - 1 - self.branch_ply();
        while index == 0
            && let Some((at, _)) = base.pop()
        {
            index = at;
        }
        self.collect_siblings(base, index, &mut siblings);
        siblings
    }

    fn collect_siblings(
        &self,
        branches: Vec<Branch>,
        index: usize,
        siblings: &mut Vec<Vec<Branch>>,
    ) {
        let line = self.line(&branches);
        let count = line.plies.get(index).map_or(0, |ply| ply.variations.len());
        siblings.push(branches.clone());
        for variation in 0..count {
            let mut inner = branches.clone();
            inner.push((index, variation));
            self.collect_siblings(inner, 0, siblings);
        }
    }

    /// Alternatives to the last move, in the order of [`next_sibling`](RecordCursor::next_sibling).
    pub fn sibling_moves(&self) -> Vec<String> {
        let siblings = self.siblings();
        let current = siblings.iter().position(|line| *line == self.branches).unwrap_or(0);
        let count = siblings.len().saturating_sub(1);
        let others = siblings.iter().cycle().skip(current + 1).take(count);
        let index =
            |branches: &[Branch]| self.ply - 1 - branches.iter().map(|(at, _)| at).sum::<usize>();
        let text =
            |branches: &Vec<_>| self.line(branches).plies.get(index(branches)).map(annotated_move);
        others.filter_map(text).collect()
    }

    /// Switches to the next alternative to the last move. Returns false if there is none.
    pub fn next_sibling(&mut self) -> bool {
        let mut siblings = self.siblings();
        if siblings.len() < 2 {
            return false;
        }
        let current = siblings.iter().position(|line| *line == self.branches).unwrap_or(0);
        let next = siblings.swap_remove((current + 1) % siblings.len());
        let previous = std::mem::replace(&mut self.branches, next);
        match self.replay_line() {
            // A variation may have no moves.
            Ok(positions) if positions.len() > self.ply => self.positions = positions,
            _ => {
                self.branches = previous;
                return false;
            }
        }
        true
    }

    /// Goes back to the position before the current variation.
    pub fn leave_variation(&mut self) {
        if !self.branches.is_empty() {
            self.go_to(self.branch_ply());
        }
    }

    /// Comment on the last move. At the start of a line, the comment before its first move precedes
    /// it.
    pub fn comment(&self) -> String {
        let line = self.line(&self.branches);
        let first_ply = self.branch_ply() + usize::from(!self.branches.is_empty());
        let introduction = line.comment.as_ref().filter(|_| self.ply == first_ply);
        let plies = self.plies();
        let comment = self.ply.checked_sub(1).and_then(|last| plies[last].comment.as_ref());
        let comments = introduction.into_iter().chain(comment);
        let sides = &self.record.game.info().sides;
        let texts = comments.map(|text| replace_invisible(&split_data(text, sides).1));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Recorded evaluation of the position, with its depth.
    pub fn eval_text(&self) -> Option<String> {
        let data = self.plies()[self.ply.checked_sub(1)?].data();
        data.eval.map(|eval| eval_text(eval, &self.record.game.info().sides))
    }

    /// Recorded time left on the clocks after the last move, by side.
    pub fn clocks(&self) -> [Option<Duration>; 2] {
        let mut clocks = [None; 2];
        for (ply, position) in self.plies()[..self.ply].iter().zip(&self.positions) {
            let side = position.side.index();
            clocks[side] = ply.data().clock.or(clocks[side]);
        }
        clocks
    }
}

/// Splits a comment into the text of its data, such as `+0.13, depth 18, 4:59 left`, and the rest. The
/// sentence that an analysis writes after the evaluation is dropped, because it repeats it.
pub fn split_data(comment: &str, sides: &[SideInfo; 2]) -> (Option<String>, String) {
    let (data, rest) = MoveData::split(comment);
    let eval = data.eval.map(|eval| eval_text(eval, sides));
    let repeated = eval.as_ref().and_then(|eval| rest.strip_prefix(&format!("{eval}.")));
    let rest = repeated.unwrap_or(&rest).trim_start().to_string();
    let texts: Vec<_> = [
        eval,
        data.clock.map(|left| format!("{} left", clock_text(left))),
        data.elapsed.map(|used| format!("{:.1} s", used.as_secs_f64())),
    ]
    .into_iter()
    .flatten()
    .collect();
    ((!texts.is_empty()).then(|| texts.join(", ")), rest)
}

/// Formats a recorded evaluation: `+0.13, depth 18`, or `Black wins in 7`.
fn eval_text(eval: MoveEval, sides: &[SideInfo; 2]) -> String {
    match (eval.score, eval.depth) {
        (EvalScore::WinIn(0), _) => "won".into(),
        (EvalScore::WinIn(moves), _) => {
            let side = sides[usize::from(moves < 0)];
            format!("{} wins in {}", side.name, moves.unsigned_abs())
        }
        (EvalScore::Points(points), Some(depth)) => {
            format!("{:+.2}, depth {depth}", f64::from(points) / 100.0)
        }
        (EvalScore::Points(points), None) => format!("{:+.2}", f64::from(points) / 100.0),
    }
}

/// Returns a move with its annotation symbols.
pub fn annotated_move(ply: &Ply) -> String {
    let mut text = ply.text.clone();
    for &nag in &ply.nags {
        match nag {
            1 => text.push('!'),
            2 => text.push('?'),
            3 => text.push_str("!!"),
            4 => text.push_str("??"),
            5 => text.push_str("!?"),
            6 => text.push_str("?!"),
            7 => text.push('□'),
            0 => {}
            nag => text.push_str(&format!("${nag}")),
        }
    }
    text
}

/// Returns players and result: `A - B, 1-0`.
pub fn title(record: &GameRecord) -> String {
    let sides = record.game.info().sides;
    let name = |side: Side| match record.player(side) {
        Some(name) => replace_invisible(name),
        None => sides[side.index()].name.to_string(),
    };
    format!("{} - {}, {}", name(Side::First), name(Side::Second), record.result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "{Begin} 1. 11-15! {good} (1. 9-14 {first} 22-18 (1... 22-17 2. 14-18) \
                        2. 5-9) (1. 10-14) 23-19 2. 8-11 *";

    fn cursor() -> RecordCursor {
        RecordCursor::new(GameFile::new(GAME.as_bytes()).get(0).unwrap().1.clone()).unwrap()
    }

    fn texts(cursor: &RecordCursor) -> String {
        cursor.plies().iter().map(|ply| ply.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn cursor_cycles_through_all_variations_of_a_move() {
        let mut cursor = cursor();
        assert_eq!(cursor.comment(), "Begin");
        assert!(cursor.sibling_moves().is_empty() && !cursor.next_sibling());
        cursor.forward();
        assert_eq!(
            (cursor.comment().as_str(), cursor.sibling_moves().join(" ")),
            ("good", "9-14 10-14".into())
        );
        assert!(cursor.next_sibling());
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("9-14 22-18 5-9", 1));
        assert_eq!(cursor.comment(), "first");
        cursor.forward();
        assert_eq!(cursor.sibling_moves(), ["22-17"]);
        assert!(cursor.next_sibling());
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("9-14 22-17 14-18", 2));
        assert!(cursor.next_sibling());
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("9-14 22-18 5-9", 1));
        cursor.back();
        assert!(cursor.next_sibling());
        assert_eq!(texts(&cursor), "10-14");
        assert!(cursor.next_sibling());
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("11-15 23-19 8-11", 0));
    }

    #[test]
    fn going_back_past_the_first_move_leaves_a_variation() {
        let mut cursor = cursor();
        cursor.forward();
        cursor.next_sibling();
        cursor.forward();
        cursor.next_sibling();
        cursor.go_to(usize::MAX);
        assert_eq!((cursor.ply(), cursor.has_more()), (3, false));
        cursor.go_to(1);
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("9-14 22-18 5-9", 1));
        cursor.leave_variation();
        assert_eq!((cursor.ply(), cursor.depth()), (0, 0));
    }

    #[test]
    fn unreadable_games_are_skipped_and_reported() {
        let text = "1. 11-15 *\n\n1. 11-99 *\n\n1. 11-16 *";
        let mut games = GameFile::new(text.as_bytes());
        assert!(games.get(0).is_some() && games.errors.is_empty());
        assert_eq!(games.get(1).unwrap().0, 3);
        assert_eq!((games.errors.len(), games.errors[0].game), (1, 2));
        assert!(games.get(2).is_none());
        assert_eq!(games.get(0).unwrap().0, 1);
    }
}
