//! A cursor through a recorded game and its variations.

use std::time::Duration;

use crownhead_records::{GameRecord, Line, Ply};

use super::{ReplayedPosition, positions};

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
        positions(&self.record.game, self.record.start.as_deref(), &moves)
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
            |branches: &Vec<_>| self.line(branches).plies.get(index(branches)).map(Ply::annotated);
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

    /// Last move of the current line; `None` at the start.
    pub fn last_ply(&self) -> Option<&Ply> {
        self.plies().get(self.ply.checked_sub(1)?).copied()
    }

    /// Comment on the last move. At the start of a line, the comment before its first move precedes
    /// it.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        let line = self.line(&self.branches);
        let first_ply = self.branch_ply() + usize::from(!self.branches.is_empty());
        let introduction = line.comment.as_deref().filter(|_| self.ply == first_ply);
        let comment = self.last_ply().and_then(|ply| ply.comment.as_deref());
        introduction.into_iter().chain(comment)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;
    use crownhead_records::Reader;

    const GAME: &str = "{Begin} 1. 11-15! {good} (1. 9-14 {first} 22-18 (1... 22-17 2. 14-18) \
                        2. 5-9) (1. 10-14) 23-19 2. 8-11 *";

    fn cursor() -> RecordCursor {
        RecordCursor::new(Reader::new(GAME.as_bytes()).next().unwrap().unwrap()).unwrap()
    }

    fn comments(cursor: &RecordCursor) -> String {
        cursor.comments().collect::<Vec<_>>().join(" ")
    }

    fn texts(cursor: &RecordCursor) -> String {
        cursor.plies().iter().map(|ply| ply.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn cursor_cycles_through_all_variations_of_a_move() {
        let mut cursor = cursor();
        assert_eq!(comments(&cursor), "Begin");
        assert!(cursor.sibling_moves().is_empty() && !cursor.next_sibling());
        cursor.forward();
        assert_eq!(
            (comments(&cursor).as_str(), cursor.sibling_moves().join(" ")),
            ("good", "9-14 10-14".into())
        );
        assert!(cursor.next_sibling());
        assert_eq!((texts(&cursor).as_str(), cursor.depth()), ("9-14 22-18 5-9", 1));
        assert_eq!(comments(&cursor), "first");
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
}
