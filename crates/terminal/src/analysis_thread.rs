//! A position looked at by the search, on a thread of its own, for somebody who watches.

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

/// So many best lines are found.
const LINES: usize = 3;
/// Nobody looks at a position longer than the search needs to say what it can.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Moves of a line that are shown.
const MAX_PV_MOVES: usize = 12;

/// What has been found so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnalysisUpdate {
    /// The best lines, the best first: what each is worth, and its moves.
    Lines {
        /// Plies looked ahead.
        depth: u32,
        /// The lines.
        lines: Vec<(String, String)>,
    },
    /// There is nothing to look at.
    Unavailable(String),
}

/// A position being looked at.
pub struct AnalysisThread {
    updates: Receiver<AnalysisUpdate>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
    /// What has been found so far.
    pub latest: Option<AnalysisUpdate>,
}

impl AnalysisThread {
    /// Looks at a position until it is dropped.
    pub fn new(
        game: &Game,
        position: String,
        known: LazyKnowledge,
    ) -> std::io::Result<AnalysisThread> {
        let (say, heard) = channel();
        let stop = StopFlag::new();
        let (raised, game) = (stop.clone(), game.clone());
        let work = move || {
            let limits = SearchLimits { hard_time: Some(MAX_TIME), ..SearchLimits::default() };
            let request = AnalysisRequest { limits, lines: LINES, ..AnalysisRequest::default() };
            let place = PositionSpec { game: &game, position: Some(&position), moves: "" };
            let sides = game.info().sides;
            // Who stopped listening does not want to know.
            let mut tell = |progress: &Progress| {
                let _ = say.send(found(progress.depth, &progress.lines, &sides));
            };
            let found =
                match analyse_position(&place, &request, known.get(&game), &raised, &mut tell) {
                    Ok(analysis) => match analysis.end {
                        Some((_, sentence)) => AnalysisUpdate::Unavailable(sentence),
                        None => found(analysis.depth, &analysis.lines, &sides),
                    },
                    Err(AnalysisError::Interrupted) => return,
                    Err(error) => AnalysisUpdate::Unavailable(error.to_string()),
                };
            let _ = say.send(found);
        };
        let builder = std::thread::Builder::new().name("analysis".into()).stack_size(16 << 20);
        let thread = builder.spawn(work)?;
        Ok(AnalysisThread { updates: heard, stop, thread: Some(thread), latest: None })
    }

    /// Takes in what has been found since.
    pub fn poll(&mut self) {
        if let Some(found) = self.updates.try_iter().last() {
            self.latest = Some(found);
        }
    }
}

fn found(depth: u32, lines: &[Variation], sides: &[SideInfo; 2]) -> AnalysisUpdate {
    let text = |line: &Variation| (line.eval.text(sides), line.moves_text(MAX_PV_MOVES));
    AnalysisUpdate::Lines { depth, lines: lines.iter().map(text).collect() }
}

impl Drop for AnalysisThread {
    /// A search ends within milliseconds of being told.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
