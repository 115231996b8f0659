//! Fixed positions of every game, searched to a fixed depth.
//!
//! With one thread the number of nodes is a checksum of how the search behaves: a change that is
//! meant to change nothing keeps it. It is taken without outside tables, so that it is the same on
//! every machine.

use std::time::Duration;

use crownhead_rules::Game;

use crate::{
    Engine, EngineConfig, GameVisitor, HashAllocError, Knowledge, SearchLimits, SearchRequest,
    Searchable, StopFlag, visit,
};

/// What searching the positions of a game took.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// The depth of every search.
    pub depth: u32,
    /// Nodes, all positions together.
    pub nodes: u64,
    /// Time, all positions together.
    pub time: Duration,
}

/// The positions and the depth: about a second's work a game.
fn plan(game: &Game) -> (&'static str, u32) {
    match game {
        Game::English(_) => (include_str!("../bench/english.txt"), 15),
        Game::Contest(_) => (include_str!("../bench/contest.txt"), 15),
        Game::ChineseCheckers(_) => (include_str!("../bench/chinese-checkers.txt"), 9),
        Game::CaptureHalma(_) => (include_str!("../bench/capture-halma.txt"), 8),
    }
}

/// Searches the positions of a game.
pub fn bench(game: &Game, threads: usize) -> Result<Bench, HashAllocError> {
    visit(game, Run { game, threads })
}

struct Run<'a> {
    game: &'a Game,
    threads: usize,
}

impl GameVisitor for Run<'_> {
    type Output = Result<Bench, HashAllocError>;

    fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
        let (positions, depth) = plan(self.game);
        let settings =
            EngineConfig { threads: self.threads, hash_mb: 16, ..EngineConfig::default() };
        let mut engine = Engine::<P>::new(settings, &Knowledge::default())?;
        let limits = SearchLimits { depth: Some(depth), ..SearchLimits::default() };
        let mut bench = Bench { depth, nodes: 0, time: Duration::ZERO };
        // A line that is no position would be left out; a test reads them all.
        for position in positions.lines().filter_map(|line| P::parse_position(line, options).ok()) {
            engine.clear();
            let report =
                engine.search(SearchRequest::new(&position, limits), &StopFlag::new(), |_| {});
            bench.nodes += report.nodes;
            bench.time += report.time;
        }
        Ok(bench)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(&'static str);

    impl GameVisitor for Count {
        type Output = usize;
        fn visit<P: Searchable>(self, options: &P::Options) -> usize {
            let read = |line| P::parse_position(line, options).unwrap().outcome(&[]);
            self.0.lines().map(read).filter(Option::is_none).count()
        }
    }

    #[test]
    fn every_line_is_a_position_to_search() {
        for game in Game::all() {
            let (positions, _) = plan(&game);
            assert_eq!(visit(&game, Count(positions)), 9, "{game}");
        }
    }
}
