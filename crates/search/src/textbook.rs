//! The textbook's players: minimax, and alpha-beta that gives the same value with fewer nodes.
//!
//! No hash table, no ordering, no quiescence: each looks exactly so many plies ahead. People learn
//! from comparing them, and tests measure the strong search against them.

use crownhead_rules::{MoveList, Position};

use crate::{DRAW, Evaluator, Score, WIN};

/// What a plain search found.
#[derive(Clone, Debug)]
pub struct SearchResult<M> {
    /// The value for the side to move.
    pub score: Score,
    /// All moves that reach it, in the order of generation.
    pub best_moves: Vec<M>,
    /// Positions looked at.
    pub nodes: u64,
    /// Whether every line ended by the rules: looking further would find nothing new.
    pub complete: bool,
}

/// Looks at every line of `depth` plies. None if it was stopped.
pub fn minimax<P: Position>(
    position: &P,
    past: &[u64],
    depth: u32,
    evaluation: &impl Evaluator<P>,
    is_over: &dyn Fn() -> bool,
) -> Option<SearchResult<P::Move>> {
    let mut search = Textbook {
        evaluator: evaluation,
        should_stop: is_over,
        history_keys: past.to_vec(),
        nodes: 1,
        evaluated: 0,
    };
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut found = SearchResult { score: -WIN, best_moves: Vec::new(), nodes: 0, complete: false };
    search.history_keys.push(position.key());
    for &mv in moves.iter() {
        let score = -search.minimax(&position.after(mv), depth.saturating_sub(1), 1)?;
        if score > found.score {
            found.score = score;
            found.best_moves.clear();
        }
        if score == found.score {
            found.best_moves.push(mv);
        }
    }
    (found.nodes, found.complete) = (search.nodes, search.evaluated == 0);
    Some(found)
}

/// The same value and the same moves, with the lines left out that cannot change them. None if it
/// was stopped.
pub fn alpha_beta<P: Position>(
    position: &P,
    past: &[u64],
    depth: u32,
    evaluation: &impl Evaluator<P>,
    is_over: &dyn Fn() -> bool,
) -> Option<SearchResult<P::Move>> {
    let mut search = Textbook {
        evaluator: evaluation,
        should_stop: is_over,
        history_keys: past.to_vec(),
        nodes: 1,
        evaluated: 0,
    };
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut found = SearchResult { score: -WIN, best_moves: Vec::new(), nodes: 0, complete: false };
    search.history_keys.push(position.key());
    for &mv in moves.iter() {
        // A point below the best so far: a move that is as good is proved to be so.
        let alpha = (found.score - 1).max(-WIN);
        let child = position.after(mv);
        let score = -search.alpha_beta(&child, -WIN, -alpha, depth.saturating_sub(1), 1)?;
        if score > found.score {
            found.score = score;
            found.best_moves.clear();
        }
        if score == found.score {
            found.best_moves.push(mv);
        }
    }
    (found.nodes, found.complete) = (search.nodes, search.evaluated == 0);
    Some(found)
}

struct Textbook<'a, E> {
    evaluator: &'a E,
    /// Asked from time to time: whether to give up.
    should_stop: &'a dyn Fn() -> bool,
    history_keys: Vec<u64>,
    nodes: u64,
    /// Positions that were judged before their game had ended.
    evaluated: u64,
}

impl<E> Textbook<'_, E> {
    /// The score of a game that is over.
    fn terminal_score<P: Position>(&self, position: &P, ply: Score) -> Option<Score> {
        position.outcome(&self.history_keys).map(|outcome| match outcome.winner {
            None => DRAW,
            Some(winner) if winner == position.side() => WIN - ply,
            Some(_) => -WIN + ply,
        })
    }

    fn minimax<P: Position>(&mut self, position: &P, depth: u32, ply: Score) -> Option<Score>
    where
        E: Evaluator<P>,
    {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && (self.should_stop)() {
            return None;
        }
        if let Some(score) = self.terminal_score(position, ply) {
            return Some(score);
        }
        if depth == 0 {
            self.evaluated += 1;
            return Some(self.evaluator.eval(position));
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut best = -WIN;
        self.history_keys.push(position.key());
        for &mv in moves.iter() {
            best = best.max(-self.minimax(&position.after(mv), depth - 1, ply + 1)?);
        }
        self.history_keys.pop();
        Some(best)
    }

    fn alpha_beta<P: Position>(
        &mut self,
        position: &P,
        mut alpha: Score,
        beta: Score,
        depth: u32,
        ply: Score,
    ) -> Option<Score>
    where
        E: Evaluator<P>,
    {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && (self.should_stop)() {
            return None;
        }
        if let Some(score) = self.terminal_score(position, ply) {
            return Some(score);
        }
        if depth == 0 {
            self.evaluated += 1;
            return Some(self.evaluator.eval(position));
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut best = -WIN;
        self.history_keys.push(position.key());
        for &mv in moves.iter() {
            let child = position.after(mv);
            let score = -self.alpha_beta(&child, -beta, -alpha, depth - 1, ply + 1)?;
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        self.history_keys.pop();
        Some(best)
    }
}
