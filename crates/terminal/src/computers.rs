//! The computer players of a game, made when they are first needed. They sit down before their clocks
//! run, and hear how the game ended.

use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{
    Choice, Clock, GameOver, GameSettings, GameStart, Knowledge, Player, PlayerError, StopFlag,
    accepts_draw, considers_offer,
};
use crownhead_rules::{Game, Side};

use crate::lazy_knowledge::LazyKnowledge;
use crate::local_game::{LocalGame, Seat};
use crate::player_thread::{PlayerAnswer, PlayerThread};

/// The computers of a game.
pub struct Computers {
    game: Game,
    seed: u64,
    knowledge: LazyKnowledge,
    players: [Option<Box<dyn Player>>; 2],
    /// Who of them knows of the game as it is.
    seated: [bool; 2],
    /// Who gives hints and answers offers.
    hint_player: Option<Box<dyn Player>>,
    /// Whether it has been said what is missing for best play.
    warned: bool,
}

/// Where a player sits.
struct SeatConfig {
    spec: PlayerSpec,
    side: Side,
    settings: GameSettings,
    seed: u64,
    opponent: String,
    /// Whether it knows of the game.
    is_seated: bool,
}

/// Hints think so long.
const HINT_PLAYER: &str = "best:movetime=1s";

impl Computers {
    /// None made yet.
    pub fn new(live: &LocalGame) -> Computers {
        Computers {
            game: live.setup().game.clone(),
            seed: live.setup().seed,
            knowledge: LazyKnowledge::default(),
            players: [None, None],
            seated: [false; 2],
            hint_player: None,
            warned: false,
        }
    }

    /// Has a player think, who is made on the thread where it thinks: that takes memory and time.
    fn start_thread(
        &self,
        player: Option<Box<dyn Player>>,
        place: SeatConfig,
        live: &LocalGame,
        clock: Clock,
    ) -> std::io::Result<PlayerThread> {
        let (game, known) = (self.game.clone(), self.knowledge.clone());
        let make = move |stop: &StopFlag| {
            let mut player = match player {
                Some(player) => player,
                None if place.spec.uses_evaluation() => {
                    place.spec.player(&game, known.get(&game))?
                }
                None => place.spec.player(&game, &Knowledge::default())?,
            };
            if !place.is_seated {
                let SeatConfig { side, settings: ref terms, seed, ref opponent, .. } = place;
                player.start_game(
                    &GameStart { game: &game, side, settings: terms, seed, opponent, log: None },
                    stop,
                );
            }
            Ok(player)
        };
        PlayerThread::new(make, live.session().clone_box(), clock)
    }

    /// Asks the computer to move; `None` if a person is to move or the game is over.
    pub fn ask(&mut self, live: &LocalGame) -> std::io::Result<Option<PlayerThread>> {
        let side = live.session().side();
        let Seat::Computer(spec) = live.seat(side) else { return Ok(None) };
        if live.is_over() {
            return Ok(None);
        }
        let player = self.players[side.index()].take();
        let place = SeatConfig {
            spec: spec.clone(),
            side,
            settings: live.settings(side),
            seed: self.seed.wrapping_add(side.index() as u64),
            opponent: live.seat(side.other()).to_string(),
            is_seated: player.is_some() && self.seated[side.index()],
        };
        self.start_thread(player, place, live, live.clock(side)).map(Some)
    }

    /// Asks for advice about the move of the side to move.
    pub fn ask_hint(&mut self, live: &LocalGame) -> std::io::Result<PlayerThread> {
        let adviser = self.hint_player.take();
        let side = live.session().side();
        let place = SeatConfig {
            spec: HINT_PLAYER.parse().map_err(std::io::Error::other)?,
            side,
            settings: GameSettings::default_for(&self.game),
            seed: self.seed.wrapping_add(2),
            opponent: live.seat(side.other()).to_string(),
            is_seated: adviser.is_some(),
        };
        self.start_thread(adviser, place, live, Clock::Unlimited)
    }

    /// Whether a program has yet to hear of the game, which it may take its time for.
    pub fn is_starting(&self, live: &LocalGame) -> bool {
        let side = live.session().side();
        live.seat(side).is_program() && !self.seated[side.index()]
    }

    /// Moves were taken back: programs hear of it as of a new game, and one that broke is started
    /// again.
    pub fn on_undo(&mut self) {
        for (player, seated) in self.players.iter().zip(&mut self.seated) {
            *seated &= player.as_ref().is_some_and(|player| !player.is_external());
        }
    }

    /// The game is over: programs that played it hear so, once.
    pub fn on_game_over(&mut self, live: &LocalGame) {
        let Some(end) = live.end() else { return };
        let reason = end.reason(live.session());
        for side in [Side::First, Side::Second] {
            if let Some(player) = &mut self.players[side.index()]
                && self.seated[side.index()]
                && player.is_external()
            {
                player.on_game_over(&GameOver::new(side, end, &reason));
                self.seated[side.index()] = false;
            }
        }
    }

    /// Whether a computer considers a draw offer at all.
    pub fn considers_offers(&self, live: &LocalGame) -> bool {
        considers_offer(live.draw_declined_at(), live.session().plies())
    }

    /// Whether a computer accepts a draw, by what the adviser of the other side says. Without a score
    /// it does not know what it would give away.
    pub fn accepts_draw(&self, live: &LocalGame, advice: Option<&Choice>) -> bool {
        let score = advice.and_then(|choice| choice.score).map(|score| -score);
        accepts_draw(score, live.session().plies())
    }

    /// A sentence on what is missing for best play, once, when it has turned out.
    pub fn take_warning(&mut self) -> Option<String> {
        let missing = self.knowledge.warning().filter(|_| !self.warned)?;
        self.warned = true;
        Some(missing.to_string())
    }

    /// Takes back a player who has chosen for a side.
    pub fn return_player(
        &mut self,
        side: Side,
        chosen: PlayerAnswer,
    ) -> (Result<Choice, PlayerError>, Duration) {
        self.seated[side.index()] = chosen.player.is_some();
        self.players[side.index()] = chosen.player;
        (chosen.choice, chosen.used)
    }

    /// Takes back the adviser.
    pub fn take_hint(&mut self, chosen: PlayerAnswer) -> Result<Choice, PlayerError> {
        self.hint_player = chosen.player;
        chosen.choice
    }
}
