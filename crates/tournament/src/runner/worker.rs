//! Plays one [`GameJob`] on the current thread.

use std::path::Path;
use std::time::Instant;

use crownhead_bots::log::file_name;
use crownhead_play::referee::play_game;
use crownhead_play::{GameSetup, Player, PlayerError, StopFlag};
use crownhead_rules::Side;

use super::JobSource;
use super::pool::PlayerPool;
use crate::job::{FinishedGame, GameJob, JobResult, MoveReport};
use crate::journal::now;

pub(super) struct GameWorker<'a> {
    pub(super) pool: PlayerPool<'a>,
    /// Folder for bot logs.
    pub(super) log: Option<&'a Path>,
}

impl GameWorker<'_> {
    /// Plays a game. Its players return to the pool if it ends normally.
    pub(super) fn play(
        &self,
        job: &GameJob,
        slot: usize,
        source: &dyn JobSource,
        stop: &StopFlag,
    ) -> JobResult {
        match self.try_play(job, slot, source, stop) {
            Ok(Some(game)) => JobResult::Finished(Box::new(game)),
            Ok(None) | Err(PlayerError::Stopped) => JobResult::Stopped,
            Err(error) => JobResult::Failed(error.into()),
        }
    }

    fn try_play(
        &self,
        job: &GameJob,
        slot: usize,
        source: &dyn JobSource,
        stop: &StopFlag,
    ) -> Result<Option<FinishedGame>, PlayerError> {
        let [first_index, second_index] = job.players.each_ref().map(|player| player.index);
        let mut first = self.pool.take(first_index, &job.game, stop)?;
        let mut second = self.pool.take(second_index, &job.game, stop)?;
        source.on_players_ready(job);
        let log = |side: Side| {
            let folder = self.log?;
            let name = self.pool.name(job.players[side.index()].index);
            Some(folder.join(file_name(&job.game, job.number.unsigned_abs(), side, name)))
        };
        let setup = GameSetup {
            game: &job.game,
            settings: &job.settings,
            knowledge: self.pool.knowledge(),
            opening: &job.opening,
            names: job.players.each_ref().map(|player| player.name.as_str()),
            seeds: job.seeds,
            referee_seed: job.referee_seed,
            logs: [log(Side::First), log(Side::Second)],
        };
        let mut replaces = None;
        let mut game = loop {
            let (started, clock) = (now(), Instant::now());
            source.on_start(slot, job, started);
            let mut reports = Vec::new();
            let players: [&mut dyn Player; 2] = [first.as_mut(), second.as_mut()];
            let played = play_game(&setup, players, stop, &mut |mv| {
                let report = MoveReport::from(mv);
                reports.push(report);
                source.on_move(slot, mv.text, report);
            })?;
            let Some(played) = played else { return Ok(None) };
            let game = FinishedGame::new(job, played, reports, started, clock.elapsed());
            // Once: a bot must not be able to have every lost game replayed.
            if !game.is_disputed() || replaces.is_some() || !source.replays_disputed_games() {
                break FinishedGame { replaces, ..game };
            }
            replaces = Some(Box::new(game));
        };
        let log_error = |player: &dyn Player| player.log_failure().map(String::from);
        game.log_error = log_error(first.as_ref()).or_else(|| log_error(second.as_ref()));
        self.pool.put_back(first_index, first);
        self.pool.put_back(second_index, second);
        Ok(Some(game))
    }
}
