//! Analysis of a position or a game on its own thread.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crownhead_analysis::{
    AnalysisError, AnalysisRequest, PositionSpec, Progress, Variation, analyse_game,
    analyse_position, pdn::annotated,
};
use crownhead_play::knowledge::value_text;
use crownhead_play::{Knowledge, StopFlag, new_session};
use crownhead_records::GameRecord;
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
        /// Exact result of the position, if a table contains it: `Table: Black wins in 23 plies`.
        table: Option<String>,
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
            let knowledge = knowledge.get(&game);
            let table = table_text(&game, &position, knowledge);
            let update = |depth, lines: &_| lines_update(table.clone(), depth, lines, &sides);
            // Sending fails if the receiver is gone, and then nobody needs the update.
            let mut on_progress = |progress: &Progress| {
                let _ = sender.send(update(progress.depth, &progress.lines));
            };
            let analysis =
                analyse_position(&spec, &request, knowledge, &thread_stop, &mut on_progress);
            let update = match analysis {
                Ok(analysis) => match analysis.end {
                    Some((_, outcome)) => AnalysisUpdate::Unavailable(outcome),
                    None => update(analysis.depth, &analysis.lines),
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

/// Search time per position when a whole game is analysed.
const GAME_POSITION_TIME: Duration = Duration::from_millis(200);

/// State of the analysis of a game.
enum GameUpdate {
    /// Positions done, and positions in total.
    Positions(usize, usize),
    Done(Result<Box<GameRecord>, String>),
}

/// The analysis of a whole game, in progress.
pub struct GameAnalysisThread {
    updates: Receiver<GameUpdate>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
    /// Positions done, and positions in total.
    pub positions: (usize, usize),
}

impl GameAnalysisThread {
    /// Analyses every move of a game.
    pub fn new(record: GameRecord) -> std::io::Result<GameAnalysisThread> {
        let (sender, updates) = channel();
        let stop = StopFlag::new();
        let thread_stop = stop.clone();
        let work = move || {
            let hard_time = Some(GAME_POSITION_TIME);
            let limits = SearchLimits { hard_time, ..SearchLimits::default() };
            let request = AnalysisRequest { limits, ..AnalysisRequest::default() };
            let mut on_progress = |progress: &Progress| {
                let (done, total) = progress.positions;
                let _ = sender.send(GameUpdate::Positions(done, total));
            };
            let knowledge = LazyKnowledge::default();
            let knowledge = knowledge.get(&record.game);
            let result =
                analyse_game(&record, 1, &request, knowledge, &thread_stop, &mut on_progress);
            let result = result.map(|analysis| Box::new(annotated(&analysis)));
            let _ = sender.send(GameUpdate::Done(result.map_err(|error| error.to_string())));
        };
        let builder = std::thread::Builder::new().name("analysis".into()).stack_size(STACK_BYTES);
        let thread = Some(builder.spawn(work)?);
        Ok(GameAnalysisThread { updates, stop, thread, positions: (0, 0) })
    }

    /// Returns the annotated game when the analysis is complete.
    pub fn poll(&mut self) -> Option<Result<GameRecord, String>> {
        loop {
            match self.updates.try_recv() {
                Ok(GameUpdate::Positions(done, total)) => self.positions = (done, total),
                Ok(GameUpdate::Done(result)) => return Some(result.map(|record| *record)),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {
                    return Some(Err("the analysis crashed; this is a bug in crownhead".into()));
                }
            }
        }
    }
}

impl Drop for GameAnalysisThread {
    /// Stops the search, which takes milliseconds.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lines_update(
    table: Option<String>,
    depth: u32,
    lines: &[Variation],
    sides: &[SideInfo; 2],
) -> AnalysisUpdate {
    let text = |line: &Variation| (line.eval.text(sides), line.moves_text(MAX_PV_MOVES));
    AnalysisUpdate::Lines { table, depth, lines: lines.iter().map(text).collect() }
}

/// Describes the exact result of a position in a table.
fn table_text(game: &Game, position: &str, knowledge: &Knowledge) -> Option<String> {
    let session = new_session(game, Some(position)).ok()?;
    if session.outcome_text().is_some() {
        return None;
    }
    let value = session.table_value(knowledge)?;
    let side = game.info().sides[session.side().index()].name;
    Some(format!("Table: {side} {}", value_text(game, value)))
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
