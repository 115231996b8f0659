//! Analysis of a position on its own thread, for the viewer.

use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crownhead_play::StopFlag;
use crownhead_play::analysis::{
    AnalysisError, AnalysisRequest, PositionSpec, Progress, Variation, analyse_position,
};
use crownhead_rules::{Game, SideInfo};
use crownhead_search::SearchLimits;

use crate::lazy_knowledge::LazyKnowledge;

/// Number of best lines.
const LINES: usize = 3;
/// Maximum search time per position.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Maximum number of moves shown per line.
const MAX_PV_MOVES: usize = 12;
/// Stack size of the thread: the search recurses once per ply.
const STACK_BYTES: usize = 16 << 20;

/// State of an analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnalysisUpdate {
    /// Best lines, best first.
    Lines {
        /// Search depth in plies.
        depth: u32,
        /// Evaluation and moves of each line.
        lines: Vec<(String, String)>,
    },
    /// There is nothing to analyse, with the reason.
    Unavailable(String),
}

/// An analysis in progress.
pub struct AnalysisThread {
    updates: Receiver<AnalysisUpdate>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
    /// Latest state.
    pub latest: Option<AnalysisUpdate>,
}

impl AnalysisThread {
    /// Analyses a position until dropped.
    pub fn new(
        game: &Game,
        position: String,
        knowledge: LazyKnowledge,
    ) -> std::io::Result<AnalysisThread> {
        let (sender, updates) = channel();
        let stop = StopFlag::new();
        let (thread_stop, game) = (stop.clone(), game.clone());
        let work = move || {
            let limits = SearchLimits { hard_time: Some(MAX_TIME), ..SearchLimits::default() };
            let request = AnalysisRequest { limits, lines: LINES, ..AnalysisRequest::default() };
            let spec = PositionSpec { game: &game, position: Some(&position), moves: "" };
            let sides = game.info().sides;
            // Sending fails if the receiver is gone, and then nobody needs the update.
            let mut on_progress = |progress: &Progress| {
                let _ = sender.send(lines_update(progress.depth, &progress.lines, &sides));
            };
            let knowledge = knowledge.get(&game);
            let analysis =
                analyse_position(&spec, &request, knowledge, &thread_stop, &mut on_progress);
            let update = match analysis {
                Ok(analysis) => match analysis.end {
                    Some((_, outcome)) => AnalysisUpdate::Unavailable(outcome),
                    None => lines_update(analysis.depth, &analysis.lines, &sides),
                },
                Err(AnalysisError::Interrupted) => return,
                Err(error) => AnalysisUpdate::Unavailable(error.to_string()),
            };
            let _ = sender.send(update);
        };
        let builder = std::thread::Builder::new().name("analysis".into()).stack_size(STACK_BYTES);
        let thread = builder.spawn(work)?;
        Ok(AnalysisThread { updates, stop, thread: Some(thread), latest: None })
    }

    /// Processes updates.
    pub fn poll(&mut self) {
        if let Some(update) = self.updates.try_iter().last() {
            self.latest = Some(update);
        }
    }
}

fn lines_update(depth: u32, lines: &[Variation], sides: &[SideInfo; 2]) -> AnalysisUpdate {
    let text = |line: &Variation| (line.eval.text(sides), line.moves_text(MAX_PV_MOVES));
    AnalysisUpdate::Lines { depth, lines: lines.iter().map(text).collect() }
}

impl Drop for AnalysisThread {
    /// Stops the search, which takes milliseconds.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
