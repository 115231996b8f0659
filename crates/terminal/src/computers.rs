//! The computer players of a game, made when they are first needed.

use std::time::Duration;

use crownhead_play::{Choice, Clock, Player, PlayerError, accepts_draw, hears_offer};
use crownhead_rules::{Game, Side};

use crate::known::Known;
use crate::live::{LiveGame, Seat};
use crate::thinking::{Chosen, Thinking};

/// The computers of a game.
pub struct Computers {
    game: Game,
    seed: u64,
    known: Known,
    players: [Option<Box<dyn Player>>; 2],
    /// Who gives hints and answers offers.
    adviser: Option<Box<dyn Player>>,
    /// Whether it has been said what is missing for best play.
    said: bool,
    /// After how many plies a draw was last declined.
    declined: Option<usize>,
}

/// Hints think so long.
const ADVICE: &str = "best:movetime=1s";

impl Computers {
    /// None made yet.
    pub fn new(live: &LiveGame) -> Computers {
        Computers {
            game: live.setup().game.clone(),
            seed: live.setup().seed,
            known: Known::default(),
            players: [None, None],
            adviser: None,
            said: false,
            declined: None,
        }
    }

    /// Has a player think, who is made on the thread where it thinks: that takes memory and time.
    fn think(
        &self,
        player: Option<Box<dyn Player>>,
        seat: Seat,
        lot: u64,
        live: &LiveGame,
        clock: Clock,
    ) -> std::io::Result<Thinking> {
        let (game, known, seed) = (self.game.clone(), self.known.clone(), self.seed);
        let make = move || match (player, seat) {
            (Some(player), _) => Ok(player),
            (None, Seat::Human) => Err(PlayerError::Over),
            (None, Seat::Computer(spec)) => {
                let mut player = spec.player(&game, known.of(&game))?;
                player.new_game(seed.wrapping_add(lot));
                Ok(player)
            }
        };
        Thinking::new(make, live.session().copy(), clock)
    }

    /// Asks the computer to move; `None` if a person is to move or the game is over.
    pub fn ask(&mut self, live: &mut LiveGame) -> std::io::Result<Option<Thinking>> {
        if !live.computer_to_move() {
            return Ok(None);
        }
        let side = live.session().side();
        let player = self.players[side.index()].take();
        let seat = live.seat(side).clone();
        live.begin_turn();
        self.think(player, seat, side.index() as u64, live, live.clock(side)).map(Some)
    }

    /// Asks for advice about the move of the side to move.
    pub fn advise(&mut self, live: &LiveGame) -> std::io::Result<Thinking> {
        let adviser = self.adviser.take();
        let seat = ADVICE.parse().map_err(std::io::Error::other)?;
        self.think(adviser, seat, 2, live, Clock::Free)
    }

    /// Whether a computer is willing to think about an offer of a draw at all.
    pub fn hears_offers(&self, live: &LiveGame) -> bool {
        hears_offer(self.declined, live.session().plies())
    }

    /// Whether a computer accepts a draw, by what the adviser of the other side says. Without a score
    /// it does not know what it would give away.
    pub fn accepts(&mut self, live: &LiveGame, advice: Option<&Choice>) -> bool {
        let plies = live.session().plies();
        let own = advice.and_then(|choice| choice.score).map(|score| -score);
        let accepts = accepts_draw(own, plies);
        if !accepts {
            self.declined = Some(plies);
        }
        accepts
    }

    /// A sentence on what is missing for best play, once, when it has turned out.
    pub fn missing(&mut self) -> Option<String> {
        let missing = self.known.missing().filter(|_| !self.said)?;
        self.said = true;
        Some(missing.to_string())
    }

    /// Takes back a player who has chosen for a side.
    pub fn back(&mut self, side: Side, chosen: Chosen) -> (Result<Choice, PlayerError>, Duration) {
        self.players[side.index()] = chosen.player;
        (chosen.choice, chosen.used)
    }

    /// Takes back the adviser.
    pub fn advised(&mut self, chosen: Chosen) -> Result<Choice, PlayerError> {
        self.adviser = chosen.player;
        chosen.choice
    }
}
