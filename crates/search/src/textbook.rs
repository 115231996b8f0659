//! Plain minimax and alpha-beta to a fixed depth.
//!
//! No transposition table, no move ordering, no quiescence search. People learn from comparing the
//! two, and tests compare the engine with them.

use crownhead_rules::{MoveList, Position};

use crate::{DRAW, Evaluator, Score, WIN};

/// Result of a textbook search.
#[derive(Clone, Debug)]
pub struct SearchResult<M> {
    /// Score for the side to move.
    pub score: Score,
    /// All moves with that score, in generation order.
    pub best_moves: Vec<M>,
    /// Nodes searched.
    pub nodes: u64,
    /// Whether every line reached the end of the game: a deeper search would find nothing new.
    pub complete: bool,
}

/// Both textbook searches with one evaluator, behind a trait object.
pub trait DynTextbook<P: Position>: Send {
    /// Runs [`alpha_beta`] if `pruning`, else [`minimax`].
    fn search(
        &self,
        position: &P,
        history_keys: &[u64],
        depth: u32,
        pruning: bool,
        should_stop: &dyn Fn() -> bool,
    ) -> Option<SearchResult<P::Move>>;
}

/// The textbook searches with an evaluator.
pub(crate) struct TextbookEngine<E>(E);

impl<E> TextbookEngine<E> {
    pub(crate) fn new(evaluator: E) -> TextbookEngine<E> {
        TextbookEngine(evaluator)
    }
}

impl<P: Position, E: Evaluator<P>> DynTextbook<P> for TextbookEngine<E> {
    fn search(
        &self,
        position: &P,
        history_keys: &[u64],
        depth: u32,
        pruning: bool,
        should_stop: &dyn Fn() -> bool,
    ) -> Option<SearchResult<P::Move>> {
        search_root(position, history_keys, depth, &self.0, should_stop, pruning)
    }
}

/// Searches every line to `depth` plies. Returns `None` if `should_stop` became true.
pub fn minimax<P: Position>(
    position: &P,
    history_keys: &[u64],
    depth: u32,
    evaluator: &impl Evaluator<P>,
    should_stop: &dyn Fn() -> bool,
) -> Option<SearchResult<P::Move>> {
    search_root(position, history_keys, depth, evaluator, should_stop, false)
}

/// Returns the same score and moves as [`minimax`], but skips lines that cannot change them.
/// Returns `None` if `should_stop` became true.
pub fn alpha_beta<P: Position>(
    position: &P,
    history_keys: &[u64],
    depth: u32,
    evaluator: &impl Evaluator<P>,
    should_stop: &dyn Fn() -> bool,
) -> Option<SearchResult<P::Move>> {
    search_root(position, history_keys, depth, evaluator, should_stop, true)
}

/// Searches each root move, with or without pruning.
fn search_root<P: Position, E: Evaluator<P>>(
    position: &P,
    history_keys: &[u64],
    depth: u32,
    evaluator: &E,
    should_stop: &dyn Fn() -> bool,
    pruning: bool,
) -> Option<SearchResult<P::Move>> {
    let keys = history_keys.iter().copied().chain([position.key()]).collect();
    let mut search = Textbook { evaluator, should_stop, pruning, keys, nodes: 1, evaluated: 0 };
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let (mut best, mut best_moves) = (-WIN, Vec::new());
    for &mv in moves.iter() {
        // One point below the best score, so that equally good moves get an exact score.
        let alpha = (best - 1).max(-WIN);
        let depth = depth.saturating_sub(1);
        let score = -search.search(&position.after(mv), -WIN, -alpha, depth, 1)?;
        if score > best {
            best = score;
            best_moves.clear();
        }
        if score == best {
            best_moves.push(mv);
        }
    }
    let (nodes, complete) = (search.nodes, search.evaluated == 0);
    Some(SearchResult { score: best, best_moves, nodes, complete })
}

struct Textbook<'a, E> {
    evaluator: &'a E,
    should_stop: &'a dyn Fn() -> bool,
    /// Whether lines that cannot change the result are skipped (alpha-beta).
    pruning: bool,
    /// Keys of the game so far and of the current line.
    keys: Vec<u64>,
    nodes: u64,
    /// Positions evaluated before the game was over.
    evaluated: u64,
}

impl<E> Textbook<'_, E> {
    /// Score of a finished game.
    fn terminal_score<P: Position>(&self, position: &P, ply: Score) -> Option<Score> {
        position.outcome(&self.keys).map(|outcome| match outcome.winner {
            None => DRAW,
            Some(winner) if winner == position.side() => WIN - ply,
            Some(_) => -WIN + ply,
        })
    }

    /// Counts a node. Returns `None` if the search must stop.
    fn count_node(&mut self) -> Option<()> {
        self.nodes += 1;
        let is_checked = self.nodes.is_multiple_of(64);
        (!is_checked || !(self.should_stop)()).then_some(())
    }

    /// Returns the score of a position, exact between `alpha` and `beta`; without pruning anywhere.
    fn search<P: Position>(
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
        self.count_node()?;
        if let Some(score) = self.terminal_score(position, ply) {
            return Some(score);
        }
        if depth == 0 {
            self.evaluated += 1;
            return Some(self.evaluator.evaluate(position));
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut best = -WIN;
        self.keys.push(position.key());
        for &mv in moves.iter() {
            let child = position.after(mv);
            let score = -self.search(&child, -beta, -alpha, depth - 1, ply + 1)?;
            best = best.max(score);
            alpha = alpha.max(score);
            if self.pruning && alpha >= beta {
                break;
            }
        }
        self.keys.pop();
        Some(best)
    }
}
