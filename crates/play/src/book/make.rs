//! Making a book by drop-out expansion (T. R. Lincke, "Strategies for the automatic construction of
//! opening books", 2000).
//!
//! A position is expanded by searching every position one move later. Scores are backed up by
//! minimax. The next position to expand is a leaf with the lowest cost: the plies to it and what
//! the moves to it give away. So the lines that good players choose become long, and those after
//! mistakes stay short. There is a cost for each side as the one that follows the book: that side
//! plays book moves only, its opponent any move.
//!
//! A move is in the book if the position after it was expanded, too: its value rests on searches of
//! all replies, and not on one search, which the player could do as well.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crownhead_rules::{Game, MoveList, Side};
use crownhead_search::{
    DRAW, DynEngine, EngineConfig, GameVisitor, HasEngine, Knowledge, Score, SearchLimits,
    SearchRequest, StopFlag, WIN, visit,
};

use super::format::{
    BLOCK_ENTRIES, BlockReader, BookError, ENTRY_BYTES, Entry, write_block, write_blocks,
};
use super::{MAGIC, MAX_BOOK_BYTES, move_value};
use crate::Openings;
use crate::session::TypedSession;

/// Start of the header line of a file of scores.
const SCORES_MAGIC: &str = "crownhead-book-scores 1";
/// A move that gives away no more than this, in hundredths of a man, is a book move.
const MARGIN: Score = 2;
/// What a move must give away to cost as much as one more ply.
const PLY_COST: Score = 5;
/// Cost of a ballot. Its moves are not the players' choice, but there are many ballots: with this
/// cost they take about half of the positions.
const BALLOT_COST: Score = 8 * PLY_COST;
/// Positions expanded at a time, whatever the number of threads.
const BATCH: usize = 8;
/// Size of a hash table, in megabytes: it is cleared for every search.
const HASH_MB: usize = 8;
/// Maximum number of entries: 1,000 bytes are left for the header line and those of the blocks.
const MAX_ENTRIES: usize = (MAX_BOOK_BYTES - 1000) / ENTRY_BYTES;

/// How a book is made. Its contents depend on nothing else, and not on the number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BookOptions {
    /// Nodes of a search.
    pub nodes: u64,
    /// Number of positions to expand.
    pub positions: usize,
    /// Threads.
    pub threads: usize,
}

/// Result of an expansion.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BookBatch {
    /// Positions expanded so far.
    pub positions: usize,
    /// Positions with a score so far.
    pub scores: usize,
    /// Positions searched now; the others had a score.
    pub searched: usize,
    /// Bytes to append to the file of scores.
    pub bytes: Vec<u8>,
}

/// Makes a book step by step.
pub trait BookMaker {
    /// Expands the next positions; `None` if there are enough of them or `stop` is set.
    fn expand(&mut self, stop: &StopFlag) -> Option<BookBatch>;

    /// Returns the file of the book.
    fn book(&self) -> Vec<u8>;
}

/// Scores of positions that have been searched, and the header line of the file that has them: what
/// an interrupted run needs to continue.
#[derive(Clone, Debug)]
pub struct BookScores {
    header: String,
    scores: HashMap<u64, i16>,
}

impl BookScores {
    /// No scores yet. The file starts with [`header`](BookScores::header) and a line break.
    pub fn new(game: &Game, nodes: u64) -> BookScores {
        let header = format!("{SCORES_MAGIC} game={game} nodes={nodes}");
        BookScores { header, scores: HashMap::new() }
    }

    /// The header line.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Adds the scores of a file. Returns the number of bytes up to the end of its last complete
    /// block; a run that was killed may have written part of another one.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, BookError> {
        let mut reader = BlockReader::new(bytes, SCORES_MAGIC, "file of book scores")?;
        if reader.header() != self.header {
            return Err(BookError::Settings(reader.header().into()));
        }
        loop {
            match reader.next_block() {
                Ok(Some(block)) => {
                    let entries = block.iter().map(Entry::decode);
                    self.scores.extend(entries.map(|entry| (entry.key, entry.value as i16)));
                }
                Ok(None) | Err(BookError::Incomplete(_)) => return Ok(reader.position),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Prepares to make a book from the start position and the ballots of a game.
pub fn new_book_maker(
    game: &Game,
    options: BookOptions,
    scores: BookScores,
) -> Result<Box<dyn BookMaker>, BookError> {
    visit(game, NewMaker { game, options, scores })
}

struct NewMaker<'a> {
    game: &'a Game,
    options: BookOptions,
    scores: BookScores,
}

impl GameVisitor for NewMaker<'_> {
    type Output = Result<Box<dyn BookMaker>, BookError>;

    fn visit<P: HasEngine>(self, rules: &P::Options) -> Self::Output {
        let NewMaker { game, options, scores } = self;
        let config = EngineConfig { hash_mb: HASH_MB, ..EngineConfig::default() };
        let new_engine = |_| P::new_engine(config, &Knowledge::default());
        let engines: Result<Vec<_>, _> = (0..options.threads.max(1)).map(new_engine).collect();
        let mut maker = Maker {
            game: game.clone(),
            options,
            scores,
            engines: engines.map_err(|error| BookError::OutOfMemory(error.to_string()))?,
            nodes: Vec::new(),
            index: HashMap::new(),
            roots: Vec::new(),
            expanded: 0,
        };
        let start = maker.insert(P::start(rules));
        maker.roots.push((start, 0));
        if let Ok(Openings::Listed(ballots)) = Openings::ballots(game, false) {
            for session in ballots.iter().filter_map(|ballot| ballot.session(game).ok()) {
                if let Some(typed) = session.as_any().downcast_ref::<TypedSession<P>>() {
                    let root = maker.insert(typed.current().clone());
                    maker.roots.push((root, BALLOT_COST));
                }
            }
        }
        Ok(Box::new(maker))
    }
}

/// A position of the tree, which is a graph: a position that arises in several ways is one node.
struct Node<P> {
    position: P,
    /// Score of a search, for the side to move.
    score: Score,
    /// Positions one move later, each once; none if the node is a leaf.
    children: Vec<usize>,
    is_over: bool,
}

struct Maker<P: HasEngine> {
    game: Game,
    options: BookOptions,
    scores: BookScores,
    engines: Vec<Box<dyn DynEngine<P>>>,
    nodes: Vec<Node<P>>,
    index: HashMap<P, usize>,
    /// Root positions and their costs.
    roots: Vec<(usize, Score)>,
    expanded: usize,
}

impl<P: HasEngine> BookMaker for Maker<P> {
    fn expand(&mut self, stop: &StopFlag) -> Option<BookBatch> {
        let leaves = self.next_leaves();
        let first_new = if self.expanded == 0 { 0 } else { self.nodes.len() };
        let mut moves = MoveList::new();
        for &leaf in &leaves {
            let position = self.nodes[leaf].position.clone();
            position.legal_moves(&mut moves);
            for &mv in moves.iter() {
                let child = self.insert(position.after(mv));
                if !self.nodes[leaf].children.contains(&child) {
                    self.nodes[leaf].children.push(child);
                }
            }
        }
        self.expanded += leaves.len();
        let found = self.search_from(first_new, stop);
        if leaves.is_empty() || stop.is_set() {
            return None;
        }
        let mut bytes = Vec::new();
        write_blocks(self.scores.header(), &found, &mut bytes);
        let (positions, scores) = (self.expanded, self.nodes.len());
        Some(BookBatch { positions, scores, searched: found.len(), bytes })
    }

    fn book(&self) -> Vec<u8> {
        let header = format!(
            "{MAGIC} game={} nodes={} positions={}",
            self.game, self.options.nodes, self.options.positions
        );
        let mut entries = self.entries();
        entries.sort();
        let mut bytes = format!("{header}\n").into_bytes();
        write_blocks(&header, &entries, &mut bytes);
        if entries.len().is_multiple_of(BLOCK_ENTRIES) {
            // The last block must not be full.
            write_block(&header, &[], &mut bytes);
        }
        bytes
    }
}

impl<P: HasEngine> Maker<P> {
    /// Returns the node of a position, which is created if there is none.
    fn insert(&mut self, position: P) -> usize {
        let new = self.nodes.len();
        let node = *self.index.entry(position.clone()).or_insert(new);
        if node == new {
            let outcome = position.outcome(&[]);
            let score = match outcome.as_ref().and_then(|outcome| outcome.winner) {
                None => DRAW,
                Some(winner) if winner == position.side() => WIN,
                Some(_) => -WIN,
            };
            let is_over = outcome.is_some();
            self.nodes.push(Node { position, score, children: Vec::new(), is_over });
        }
        node
    }

    /// Searches the nodes from this one on, unless they have a score. Returns the new scores.
    fn search_from(&mut self, first: usize, stop: &StopFlag) -> Vec<Entry> {
        let mut jobs = Vec::new();
        for (node, number) in self.nodes[first..].iter_mut().zip(first..) {
            match self.scores.scores.get(&node.position.key()) {
                _ if node.is_over => {}
                Some(&score) => node.score = score.into(),
                None => jobs.push(number),
            }
        }
        let limits = SearchLimits { nodes: Some(self.options.nodes), ..SearchLimits::default() };
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let nodes = &self.nodes;
        let run = |engine: &mut Box<dyn DynEngine<P>>| {
            while let Some(&node) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                engine.clear();
                let request = SearchRequest::new(&nodes[node].position, limits);
                let score = engine.search(request, stop, &mut |_| {}).score();
                if stop.is_set() {
                    break;
                }
                found.lock().unwrap_or_else(PoisonError::into_inner).push((node, score));
            }
        };
        std::thread::scope(|scope| {
            let mut engines = self.engines.iter_mut();
            let main_engine = engines.next();
            for engine in engines {
                // If a thread cannot be started, the others do its searches.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || run(engine));
            }
            main_engine.map(run);
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable();
        let mut entries = Vec::new();
        for (node, score) in found {
            // Scores are within ±WIN, which fits.
            let (node, score) = (&mut self.nodes[node], score as i16);
            node.score = score.into();
            entries.push(Entry { key: node.position.key(), value: score as u16 });
        }
        entries
    }

    /// Returns the nodes that can be reached from the roots, children before their parents.
    fn order(&self) -> Vec<usize> {
        let (mut order, mut is_visited) = (Vec::new(), vec![false; self.nodes.len()]);
        // A stack of nodes and the number of their children visited.
        let mut stack = Vec::new();
        for &(root, _) in &self.roots {
            stack.push((root, 0));
            while let Some((node, child)) = stack.pop() {
                if child == 0 && std::mem::replace(&mut is_visited[node], true) {
                    continue;
                }
                match self.nodes[node].children.get(child) {
                    None => order.push(node),
                    Some(&next) => stack.extend([(node, child + 1), (next, 0)]),
                }
            }
        }
        order
    }

    /// Returns the minimax values of all nodes, for the side to move. If a position repeats, its
    /// first occurrence is taken for a leaf.
    fn values(&self, order: &[usize]) -> Vec<Score> {
        let mut values: Vec<_> = self.nodes.iter().map(|node| node.score).collect();
        for &node in order {
            let best = self.nodes[node].children.iter().map(|&child| -values[child]).max();
            values[node] = best.unwrap_or(values[node]);
        }
        values
    }

    /// Returns the children of a node, with what the moves to them give away, and whether these are
    /// book moves.
    fn moves(&self, node: usize, values: &[Score]) -> impl Iterator<Item = (usize, Score, bool)> {
        let children = &self.nodes[node].children;
        let value = |child: usize| move_value(&self.nodes[child].position);
        children.iter().enumerate().map(move |(number, &child)| {
            let loss = (values[node] + values[child]).max(0);
            // A book finds the first move with this value.
            let is_found = children[..number].iter().all(|&other| value(other) != value(child));
            (child, loss, loss <= MARGIN && is_found)
        })
    }

    /// Returns the cost of each node if this side follows the book; `None` if it never gets there.
    fn costs(&self, order: &[usize], values: &[Score], book_side: Side) -> Vec<Option<Score>> {
        let mut costs: Vec<Option<Score>> = vec![None; self.nodes.len()];
        let lower = |cost: &mut Option<Score>, new| {
            *cost = Some(cost.map_or(new, |old| old.min(new)));
        };
        self.roots.iter().for_each(|&(root, cost)| lower(&mut costs[root], cost));
        for &node in order.iter().rev() {
            let Some(cost) = costs[node] else { continue };
            let is_own = self.nodes[node].position.side() == book_side;
            // A forced move costs nothing, as in the search.
            let ply = if self.nodes[node].children.len() == 1 { 0 } else { PLY_COST };
            for (child, loss, is_book) in self.moves(node, values) {
                if is_book || !is_own {
                    lower(&mut costs[child], cost + ply + loss);
                }
            }
        }
        costs
    }

    /// Returns the leaves to expand next: those with the lowest costs, whichever side follows the
    /// book.
    fn next_leaves(&self) -> Vec<usize> {
        let order = self.order();
        let values = self.values(&order);
        let mut leaves = Vec::new();
        for side in [Side::First, Side::Second] {
            let costs = self.costs(&order, &values, side);
            leaves.extend(costs.iter().zip(0..).filter_map(|(&cost, node)| Some((cost?, node))));
        }
        leaves
            .retain(|&(_, node)| self.nodes[node].children.is_empty() && !self.nodes[node].is_over);
        leaves.sort_unstable();
        let mut is_new = vec![true; self.nodes.len()];
        let leaves = leaves.into_iter().map(|(_, node)| node);
        let leaves = leaves.filter(|&node| std::mem::replace(&mut is_new[node], false));
        leaves.take(BATCH.min(self.options.positions - self.expanded)).collect()
    }

    /// Returns the entries of the book. If there are too many, those of the positions with the
    /// lowest costs: all that lead to a position in the book are in it, too.
    fn entries(&self) -> Vec<Entry> {
        let order = self.order();
        let values = self.values(&order);
        let mut positions = Vec::new();
        for side in [Side::First, Side::Second] {
            let costs = self.costs(&order, &values, side);
            for (cost, node) in costs.iter().zip(0..).filter_map(|(&cost, n)| Some((cost?, n))) {
                let position = &self.nodes[node].position;
                // A forced move is played without a book.
                if position.side() != side || self.nodes[node].children.len() < 2 {
                    continue;
                }
                let moves = self.moves(node, &values).filter(|(.., is_book)| *is_book);
                let children = moves.map(|(child, ..)| &self.nodes[child]);
                let expanded = children.filter(|child| !child.children.is_empty());
                let moves: Vec<_> = expanded.map(|child| move_value(&child.position)).collect();
                positions.push((cost, position.key(), moves));
            }
        }
        positions.sort_unstable();
        let mut entries = Vec::new();
        for (_, key, moves) in positions {
            if entries.len() + moves.len() > MAX_ENTRIES {
                break;
            }
            entries.extend(moves.into_iter().map(|value| Entry { key, value }));
        }
        entries
    }
}
