//! Self-play games for training.

use std::ops::Range;

use crownhead_play::{Knowledge, StopFlag};
use crownhead_rules::Game;
use crownhead_search::train::data::{Block, Record};
use crownhead_search::train::{SelfPlayOptions, Trainer, trainer};
use crownhead_tournament::job::as_text;
use serde::{Deserialize, Serialize};

use crate::in_order::InOrder;
use crate::messages::ReturnReason;
use crate::work::{Done, OTHER_WORK, Work};
use crate::{Coordinator, FleetRun};

/// Most positions of a block for each of its games: far more than a game can have.
const MAX_GAME_POSITIONS: usize = 10_000;

/// A block of self-play games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SelfPlayWork {
    #[serde(with = "as_text")]
    pub(crate) game: Game,
    first_game: u32,
    games: u32,
    nodes: u64,
    random_plies: u32,
    off_game: u32,
    seed: u64,
}

impl SelfPlayWork {
    /// Numbers of the games.
    pub(crate) fn games(&self) -> Range<u32> {
        self.first_game..self.first_game.saturating_add(self.games)
    }

    /// Plays the games.
    pub(crate) fn play(
        &self,
        knowledge: &Knowledge,
        stop: &StopFlag,
    ) -> Result<Block, ReturnReason> {
        let unable = |reason: String| ReturnReason::Unable(reason);
        let trainer = trainer(&self.game, knowledge)
            .ok_or_else(|| unable(format!("{} has no learned evaluation", self.game)))?;
        let options = SelfPlayOptions {
            nodes: self.nodes,
            random_plies: self.random_plies,
            off_game: self.off_game,
            seed: self.seed,
            threads: 1,
        };
        let played = trainer.play_games(self.games(), &options, stop);
        let played = played.map_err(|error| unable(error.to_string()))?;
        let records = played.ok_or(ReturnReason::Stopped)?;
        Ok(Block { first_game: self.first_game, games: self.games, records })
    }

    /// Returns why a block is not the one asked for, or cannot come from games.
    fn check(&self, block: &Block, trainer: &dyn Trainer) -> Result<(), String> {
        if (block.first_game, block.games) != (self.first_game, self.games) {
            return Err("it is another block".into());
        }
        if block.records.len() > MAX_GAME_POSITIONS * self.games as usize {
            return Err("it has too many positions".into());
        }
        let games = self.games();
        if !block.records.iter().all(|record| games.contains(&record.game)) {
            return Err("it has positions of other games".into());
        }
        if !block.records.is_sorted_by_key(|record| record.game) {
            return Err("its games are out of order".into());
        }
        let is_valid = |record: &Record| trainer.are_valid(&record.boards);
        match block.records.iter().all(is_valid) {
            true => Ok(()),
            false => Err("it has impossible positions".into()),
        }
    }
}

/// Self-play games in blocks.
pub struct SelfPlayBlocks<'a> {
    /// The game.
    pub game: &'a Game,
    /// Its training.
    pub trainer: &'a dyn Trainer,
    /// Nodes, random plies and the seed. Workers use one thread for each block.
    pub options: SelfPlayOptions,
    /// Numbers of the games.
    pub games: Range<u32>,
    /// Games of a block; the last one may have fewer.
    pub block_games: u32,
}

impl Coordinator {
    /// Plays self-play games on the workers of the fleet. `on_block` gets the blocks in order; its
    /// error ends the run. Returns whether all blocks are there.
    pub fn self_play<E: Send>(
        &self,
        run: FleetRun,
        blocks: SelfPlayBlocks<'_>,
        stop: &StopFlag,
        mut on_block: impl FnMut(Block) -> Result<(), E> + Send,
    ) -> Result<bool, E> {
        let SelfPlayBlocks { game, trainer, options, games, block_games } = blocks;
        let starts = games.clone().step_by(block_games.max(1) as usize);
        let work = starts.map(|first_game| {
            Work::SelfPlay(SelfPlayWork {
                game: game.clone(),
                first_game,
                games: block_games.min(games.end - first_game),
                nodes: options.nodes,
                random_plies: options.random_plies,
                off_game: options.off_game,
                seed: options.seed,
            })
        });
        let check = |work: &Work, done: &Done| match (work, done) {
            (Work::SelfPlay(work), Done::SelfPlay(block)) => work.check(block, trainer),
            _ => Err(OTHER_WORK.into()),
        };
        let deliver = |done| match done {
            Done::SelfPlay(block) => on_block(block),
            Done::Games(_) | Done::Analysis(_) => Ok(()),
        };
        let count = games.len() as u64;
        InOrder::new(count, work, &check, deliver, stop).run(self, &run)
    }
}
