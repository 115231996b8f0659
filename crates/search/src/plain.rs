//! The textbook's players: minimax, and alpha-beta that gives the same value with fewer nodes.
//!
//! No hash table, no ordering, no quiescence: each looks exactly so many plies ahead. People learn
//! from comparing them, and tests measure the strong search against them.

use crownhead_rules::{MoveList, Position};

use crate::{DRAW, Evaluate, Score, WIN};

/// What a plain search found.
#[derive(Clone, Debug)]
pub struct Found<M> {
    /// The value for the side to move.
    pub score: Score,
    /// All moves that reach it, in the order of generation.
    pub best: Vec<M>,
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
    evaluation: &impl Evaluate<P>,
    is_over: &dyn Fn() -> bool,
) -> Option<Found<P::Move>> {
    let mut search = Plain { evaluation, is_over, past: past.to_vec(), nodes: 1, judged: 0 };
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut found = Found { score: -WIN, best: Vec::new(), nodes: 0, complete: false };
    search.past.push(position.key());
    for &mv in moves.iter() {
        let score = -search.minimax(&position.after(mv), depth.saturating_sub(1), 1)?;
        if score > found.score {
            found.score = score;
            found.best.clear();
        }
        if score == found.score {
            found.best.push(mv);
        }
    }
    (found.nodes, found.complete) = (search.nodes, search.judged == 0);
    Some(found)
}

/// The same value and the same moves, with the lines left out that cannot change them. None if it
/// was stopped.
pub fn alpha_beta<P: Position>(
    position: &P,
    past: &[u64],
    depth: u32,
    evaluation: &impl Evaluate<P>,
    is_over: &dyn Fn() -> bool,
) -> Option<Found<P::Move>> {
    let mut search = Plain { evaluation, is_over, past: past.to_vec(), nodes: 1, judged: 0 };
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut found = Found { score: -WIN, best: Vec::new(), nodes: 0, complete: false };
    search.past.push(position.key());
    for &mv in moves.iter() {
        // A point below the best so far: a move that is as good is proved to be so.
        let alpha = (found.score - 1).max(-WIN);
        let child = position.after(mv);
        let score = -search.alpha_beta(&child, -WIN, -alpha, depth.saturating_sub(1), 1)?;
        if score > found.score {
            found.score = score;
            found.best.clear();
        }
        if score == found.score {
            found.best.push(mv);
        }
    }
    (found.nodes, found.complete) = (search.nodes, search.judged == 0);
    Some(found)
}

struct Plain<'a, E> {
    evaluation: &'a E,
    /// Asked from time to time: whether to give up.
    is_over: &'a dyn Fn() -> bool,
    past: Vec<u64>,
    nodes: u64,
    /// Positions that were judged before their game had ended.
    judged: u64,
}

impl<E> Plain<'_, E> {
    /// The score of a game that is over.
    fn ended<P: Position>(&self, position: &P, ply: Score) -> Option<Score> {
        position.outcome(&self.past).map(|outcome| match outcome.winner {
            None => DRAW,
            Some(winner) if winner == position.side() => WIN - ply,
            Some(_) => -WIN + ply,
        })
    }

    fn minimax<P: Position>(&mut self, position: &P, depth: u32, ply: Score) -> Option<Score>
    where
        E: Evaluate<P>,
    {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && (self.is_over)() {
            return None;
        }
        if let Some(score) = self.ended(position, ply) {
            return Some(score);
        }
        if depth == 0 {
            self.judged += 1;
            return Some(self.evaluation.score(position));
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut best = -WIN;
        self.past.push(position.key());
        for &mv in moves.iter() {
            best = best.max(-self.minimax(&position.after(mv), depth - 1, ply + 1)?);
        }
        self.past.pop();
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
        E: Evaluate<P>,
    {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && (self.is_over)() {
            return None;
        }
        if let Some(score) = self.ended(position, ply) {
            return Some(score);
        }
        if depth == 0 {
            self.judged += 1;
            return Some(self.evaluation.score(position));
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut best = -WIN;
        self.past.push(position.key());
        for &mv in moves.iter() {
            let child = position.after(mv);
            let score = -self.alpha_beta(&child, -beta, -alpha, depth - 1, ply + 1)?;
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        self.past.pop();
        Some(best)
    }
}
