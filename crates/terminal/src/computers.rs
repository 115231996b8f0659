//! The computer players of a game, created on first use. They also give hints.

use std::io;
use std::time::Duration;

use crownhead_analysis::HINT_PLAYER;
use crownhead_bots::PlayerSpec;
use crownhead_play::{
    Choice, Clock, GameOver, GameSettings, GameStart, Knowledge, Player, PlayerError, StopFlag,
};
use crownhead_rules::{Game, Side};

use crate::lazy_knowledge::LazyKnowledge;
use crate::local_game::{LocalGame, Seat};
use crate::player_thread::{PlayerAnswer, PlayerThread};

/// The computer players of a game.
pub struct Computers {
    game: Game,
    seed: u64,
    knowledge: LazyKnowledge,
    players: [Option<Box<dyn Player>>; 2],
    /// Which players have started the game in its current form.
    started: [bool; 2],
    /// Gives hints and decides on draw offers.
    hint_player: Option<Box<dyn Player>>,
    /// Whether the warning about a missing table has been taken.
    warned: bool,
}

/// Configuration of a player.
struct SeatConfig {
    spec: PlayerSpec,
    side: Side,
    settings: GameSettings,
    seed: u64,
    opponent: String,
    /// Whether the player has already started the game.
    is_started: bool,
}

impl Computers {
    /// Prepares the players of a game; none is created yet.
    pub fn new(game: &LocalGame) -> Computers {
        Computers {
            game: game.setup().game.clone(),
            seed: game.setup().seed,
            knowledge: LazyKnowledge::default(),
            players: [None, None],
            started: [false; 2],
            hint_player: None,
            warned: false,
        }
    }

    /// Asks a player for a move. The player is created on its own thread, because that takes memory
    /// and time.
    fn spawn(
        &self,
        player: Option<Box<dyn Player>>,
        seat: SeatConfig,
        local_game: &LocalGame,
        clock: Clock,
    ) -> io::Result<PlayerThread> {
        let (game, knowledge) = (self.game.clone(), self.knowledge.clone());
        let prepare = move |stop: &StopFlag| {
            let mut player = match player {
                Some(player) => player,
                None if seat.spec.uses_evaluation() => {
                    seat.spec.player(&game, knowledge.get(&game))?
                }
                None => seat.spec.player(&game, &Knowledge::default())?,
            };
            if !seat.is_started {
                let SeatConfig { side, ref settings, seed, ref opponent, .. } = seat;
                let start = GameStart { game: &game, side, settings, seed, opponent, log: None };
                player.start_game(&start, stop);
            }
            Ok(player)
        };
        PlayerThread::new(prepare, local_game.session().clone_box(), clock)
    }

    /// Asks the computer to move for a move; `None` if a person is to move or the game is over.
    pub fn ask(&mut self, game: &LocalGame) -> io::Result<Option<PlayerThread>> {
        let side = game.session().side();
        let Seat::Computer(spec) = game.seat(side) else { return Ok(None) };
        if game.is_over() {
            return Ok(None);
        }
        let player = self.players[side.index()].take();
        let seat = SeatConfig {
            spec: spec.clone(),
            side,
            settings: game.settings(side),
            seed: self.seed.wrapping_add(side.index() as u64),
            opponent: game.seat(side.other()).to_string(),
            is_started: player.is_some() && self.started[side.index()],
        };
        self.spawn(player, seat, game, game.clock(side)).map(Some)
    }

    /// Asks for a hint for the side to move.
    pub fn ask_hint(&mut self, game: &LocalGame) -> io::Result<PlayerThread> {
        let player = self.hint_player.take();
        let side = game.session().side();
        let seat = SeatConfig {
            spec: HINT_PLAYER.parse().map_err(io::Error::other)?,
            side,
            settings: GameSettings::default_for(&self.game),
            seed: self.seed.wrapping_add(2),
            opponent: game.seat(side.other()).to_string(),
            is_started: player.is_some(),
        };
        self.spawn(player, seat, game, Clock::Unlimited)
    }

    /// Whether the bot to move has not started the game yet, which may take a while.
    pub fn is_starting(&self, game: &LocalGame) -> bool {
        let side = game.session().side();
        game.seat(side).is_program() && !self.started[side.index()]
    }

    /// Called after moves were taken back: bots start the game again, and a bot that crashed is
    /// restarted.
    pub fn on_undo(&mut self) {
        for (player, started) in self.players.iter().zip(&mut self.started) {
            *started &= player.as_ref().is_some_and(|player| !player.is_external());
        }
    }

    /// Notifies the bots of the end of the game, once.
    pub fn on_game_over(&mut self, game: &LocalGame) {
        let Some(end) = game.end() else { return };
        let reason = end.reason(game.session());
        for side in [Side::First, Side::Second] {
            if let Some(player) = &mut self.players[side.index()]
                && self.started[side.index()]
                && player.is_external()
            {
                player.on_game_over(&GameOver::new(side, end, &reason));
                self.started[side.index()] = false;
            }
        }
    }

    /// Returns the warning about a missing table, once, after the tables have been loaded.
    pub fn take_warning(&mut self) -> Option<String> {
        let warning = self.knowledge.warning().filter(|_| !self.warned)?;
        self.warned = true;
        Some(warning.to_string())
    }

    /// Stores a player again after its answer, and returns its choice and the time it used.
    pub fn return_player(
        &mut self,
        side: Side,
        answer: PlayerAnswer,
    ) -> (Result<Choice, PlayerError>, Duration) {
        self.started[side.index()] = answer.player.is_some();
        self.players[side.index()] = answer.player;
        (answer.choice, answer.used)
    }

    /// Stores the hint player again after its answer, and returns the hint.
    pub fn take_hint(&mut self, answer: PlayerAnswer) -> Result<Choice, PlayerError> {
        self.hint_player = answer.player;
        answer.choice
    }
}
