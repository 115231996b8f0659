//! The games of an iteration.

use crownhead_play::referee::play_game;
use crownhead_play::{
    BuiltinSpec, GameSettings, GameSetup, Knowledge, OpeningPicker, Player, PlayerError, StopFlag,
    derive_seed,
};
use crownhead_rules::Game;
use crownhead_search::parallel;
use crownhead_statistics::spsa::Trial;

use super::state::changes;

/// Plays pairs of games between the two sets of values of a trial.
pub(super) struct Games<'a> {
    pub(super) game: &'a Game,
    pub(super) knowledge: &'a Knowledge,
    pub(super) settings: GameSettings,
    pub(super) openings: OpeningPicker<'a>,
    /// Both players, apart from the parameters.
    pub(super) player: BuiltinSpec,
    /// Index of each tuned parameter.
    pub(super) params: &'a [usize],
    pub(super) threads: usize,
    pub(super) seed: u64,
}

impl Games<'_> {
    /// Plays a pair for each trial; the first one has the number `first_pair`. Returns the games
    /// won by the first values minus those lost, or `None` if `stop` was set.
    pub(super) fn play(
        &self,
        trials: &[Trial],
        first_pair: u32,
        stop: &StopFlag,
    ) -> Result<Option<Vec<i32>>, PlayerError> {
        let workers = vec![(); self.threads];
        let results = parallel::map(workers, 0..trials.len() as u32, stop, |(), index| {
            let pair = first_pair.wrapping_add(index);
            self.play_pair(&trials[index as usize], pair, stop)
        });
        if stop.is_set() {
            return Ok(None);
        }
        results.into_iter().collect()
    }

    fn play_pair(
        &self,
        trial: &Trial,
        pair: u32,
        stop: &StopFlag,
    ) -> Result<Option<i32>, PlayerError> {
        let opening = self.openings.opening(pair);
        let mut difference = 0;
        let player = |values: &[i64]| {
            let mut spec = self.player;
            spec.options.params = changes(self.params, values);
            spec.player(self.game, self.knowledge)
        };
        let [mut first, mut second] = [player(&trial.values[0])?, player(&trial.values[1])?];
        for game in 0..2 {
            let seed = |role| derive_seed(&[self.seed, pair.into(), game, role]);
            let setup = GameSetup {
                game: self.game,
                settings: &self.settings,
                knowledge: self.knowledge,
                opening: &opening,
                names: ["best", "best"],
                seeds: [seed(0), seed(1)],
                referee_seed: seed(2),
                logs: [None, None],
            };
            let mut players: [&mut dyn Player; 2] = [first.as_mut(), second.as_mut()];
            if game == 1 {
                players.reverse();
            }
            let played = play_game(&setup, players, stop, &mut |_| {});
            let played = match played {
                Err(PlayerError::Stopped) | Ok(None) => return Ok(None),
                Err(error) => return Err(error),
                Ok(Some(played)) => played,
            };
            difference += match played.end.winner() {
                None => 0,
                Some(side) if side.index() as u64 == game => 1,
                Some(_) => -1,
            };
        }
        Ok(Some(difference))
    }
}
