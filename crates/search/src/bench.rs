//! Fixed positions of every game, searched to a fixed depth.
//!
//! With one thread, the node count is a signature of the search: a change that is not meant to
//! change the search keeps it. No tables are used, so it is the same on every machine.

use std::time::Duration;

use crownhead_rules::Game;

use crate::{
    EngineConfig, GameVisitor, HasEngine, HashAllocError, Knowledge, SearchLimits, SearchRequest,
    Searchable, StopFlag, visit,
};

/// Positions of a game to search, and the depth.
#[derive(Clone, Copy, Debug)]
pub struct BenchPositions {
    /// One position per line; if there is none, the start position is searched.
    pub text: &'static str,
    /// Depth of every search.
    pub depth: u32,
}

impl BenchPositions {
    /// Searches the start position only.
    pub const START: BenchPositions = BenchPositions { text: "", depth: 6 };
}

/// Result of a bench run of one game.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// Depth of every search.
    pub depth: u32,
    /// Total nodes.
    pub nodes: u64,
    /// Total time.
    pub time: Duration,
}

/// Searches the bench positions of a game.
pub fn bench(game: &Game, threads: usize) -> Result<Bench, HashAllocError> {
    visit(game, Run { threads })
}

struct Run {
    threads: usize,
}

impl GameVisitor for Run {
    type Output = Result<Bench, HashAllocError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let config = EngineConfig { threads: self.threads, hash_mb: 16, ..EngineConfig::default() };
        let mut engine = P::new_engine(config, &Knowledge::default())?;
        let depth = P::BENCH.depth;
        let limits = SearchLimits { depth: Some(depth), ..SearchLimits::default() };
        let mut bench = Bench { depth, nodes: 0, time: Duration::ZERO };
        for position in positions::<P>(options) {
            engine.clear();
            let request = SearchRequest::new(&position, limits);
            let report = engine.search(request, &StopFlag::new(), &mut |_| {});
            bench.nodes += report.nodes;
            bench.time += report.time;
        }
        Ok(bench)
    }
}

/// Parses the positions. Invalid lines would be skipped; a test parses them all.
fn positions<P: Searchable>(options: &P::Options) -> Vec<P> {
    match P::BENCH.text {
        "" => vec![P::start(options)],
        text => text.lines().filter_map(|line| P::parse_position(line, options).ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct CountUnfinished;

    impl GameVisitor for CountUnfinished {
        type Output = (usize, usize);
        fn visit<P: HasEngine>(self, options: &P::Options) -> (usize, usize) {
            let positions = positions::<P>(options);
            let unfinished = positions.iter().filter(|position| position.outcome(&[]).is_none());
            (unfinished.count(), P::BENCH.text.lines().count())
        }
    }

    #[test]
    fn every_bench_line_is_an_unfinished_position() {
        for game in Game::all() {
            let (unfinished, lines) = visit(&game, CountUnfinished);
            assert_eq!(unfinished, lines.max(1), "{game}");
        }
    }
}
