//! Recorded games to analyse.

use std::time::Duration;

use crownhead_analysis::{
    AnalysisError, AnalysisRequest, EngineConfig, SearchedGame, judge_game, search_game,
};
use crownhead_play::{Knowledge, StopFlag};
use crownhead_records::{GameRecord, Ply};
use crownhead_rules::Game;
use crownhead_search::SearchLimits;
use crownhead_tournament::job::as_text;
use serde::{Deserialize, Serialize};

use crate::in_order::InOrder;
use crate::messages::ReturnReason;
use crate::players::scaled;
use crate::work::{Done, OTHER_WORK, Work};
use crate::{Coordinator, FleetRun};

/// A recorded game, and how to search its positions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AnalysisWork {
    /// Number of the game in its file.
    pub(crate) number: u64,
    #[serde(with = "as_text")]
    pub(crate) game: Game,
    start: Option<String>,
    moves: Vec<String>,
    depth: Option<u32>,
    nodes: Option<u64>,
    time: Option<Duration>,
    hash_mb: usize,
    lines: usize,
}

impl AnalysisWork {
    fn new(number: u64, record: &GameRecord, request: &AnalysisRequest) -> AnalysisWork {
        AnalysisWork {
            number,
            game: record.game.clone(),
            start: record.start.clone(),
            moves: record.line.plies.iter().map(|ply| ply.text.clone()).collect(),
            depth: request.limits.depth,
            nodes: request.limits.nodes,
            time: request.limits.hard_time,
            hash_mb: request.engine.hash_mb,
            lines: request.lines,
        }
    }

    /// Whether the result is the same on every machine.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.time.is_none()
    }

    fn record(&self) -> GameRecord {
        let mut record = GameRecord::new(self.game.clone());
        record.start.clone_from(&self.start);
        record.line.plies = self.moves.iter().map(Ply::new).collect();
        record
    }

    /// Searches the game on a worker that needs `time_factor` times as long as the coordinator.
    pub(crate) fn search(
        &self,
        knowledge: &Knowledge,
        time_factor: f64,
        stop: &StopFlag,
    ) -> Result<SearchedGame, ReturnReason> {
        let limits = SearchLimits {
            depth: self.depth,
            nodes: self.nodes,
            hard_time: self.time.map(|time| scaled(time, time_factor)),
            ..SearchLimits::default()
        };
        let engine = EngineConfig { hash_mb: self.hash_mb, ..EngineConfig::default() };
        let request = AnalysisRequest { limits, engine, lines: self.lines };
        search_game(&self.record(), &request, knowledge, stop, &mut |_| {}).map_err(|error| {
            match error {
                AnalysisError::Interrupted => ReturnReason::Stopped,
                error => ReturnReason::Unable(error.to_string()),
            }
        })
    }
}

impl Coordinator {
    /// Searches recorded games on the workers of the fleet. `on_game` gets the index of each game
    /// and what its searches found, in order; its error ends the run. Returns whether all games
    /// have been searched.
    pub fn analyse<E: Send>(
        &self,
        run: FleetRun,
        games: &[(u64, GameRecord)],
        request: &AnalysisRequest,
        stop: &StopFlag,
        mut on_game: impl FnMut(usize, &SearchedGame) -> Result<(), E> + Send,
    ) -> Result<bool, E> {
        let work = games
            .iter()
            .map(|(number, record)| Work::Analysis(AnalysisWork::new(*number, record, request)));
        let check = |work: &Work, done: &Done| match (work, done) {
            (Work::Analysis(work), Done::Analysis(searched)) => {
                let judged = judge_game(&work.record(), work.number, work.lines, searched);
                judged.map(|_| ()).map_err(|error| error.to_string())
            }
            _ => Err(OTHER_WORK.into()),
        };
        let mut index = 0;
        let deliver = |done| match done {
            Done::Analysis(searched) => {
                index += 1;
                on_game(index - 1, &searched)
            }
            Done::Games(_) | Done::SelfPlay(_) => Ok(()),
        };
        InOrder::new(games.len() as u64, work, &check, deliver, stop).run(self, &run)
    }
}
