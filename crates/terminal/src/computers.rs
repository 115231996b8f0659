//! The computer players of a game, made when they are first needed.

use crownhead_play::{
    Choice, Clock, Knowledge, Player, PlayerError, PlayerKind, PlayerSpec, knowledge_for,
};
use crownhead_rules::{Game, Side};

use crate::live::LiveGame;
use crate::thinking::{Chosen, Thinking};

/// The computers of a game.
pub struct Computers {
    game: Game,
    seed: u64,
    /// What they may know, and the sentence about what is missing; none before the first is asked.
    knowledge: Option<Knowledge>,
    players: [Option<Box<dyn Player>>; 2],
    /// Who gives hints and answers offers.
    adviser: Option<Box<dyn Player>>,
    /// What is missing for best play, said once.
    pub missing: Option<String>,
}

/// Hints think so long.
const ADVICE: &str = "best:movetime=1s";

impl Computers {
    /// None made yet.
    pub fn new(live: &LiveGame) -> Computers {
        Computers {
            game: live.setup().game.clone(),
            seed: live.setup().seed,
            knowledge: None,
            players: [None, None],
            adviser: None,
            missing: None,
        }
    }

    fn make(&mut self, spec: &PlayerSpec, lot: u64) -> Result<Box<dyn Player>, PlayerError> {
        if self.knowledge.is_none() {
            let (knowledge, missing) = knowledge_for(&self.game);
            (self.knowledge, self.missing) = (Some(knowledge), missing.map(|s| s.to_string()));
        }
        let none = Knowledge::default();
        let knowledge = self.knowledge.as_ref().unwrap_or(&none);
        let mut player = spec.player(&self.game, knowledge)?;
        player.new_game(self.seed.wrapping_add(lot));
        Ok(player)
    }

    /// Asks the computer to move; `None` if a person is to move or the game is over.
    pub fn ask(&mut self, live: &LiveGame) -> Result<Option<Thinking>, AskError> {
        let Some(spec) = live.computer_to_move() else { return Ok(None) };
        let side = live.session().side();
        let player = match self.players[side.index()].take() {
            Some(player) => player,
            None => self.make(spec, side.index() as u64)?,
        };
        Ok(Some(Thinking::new(player, live.session().copy(), live.clock(side))?))
    }

    /// Asks for advice about the move of the side to move.
    pub fn advise(&mut self, live: &LiveGame) -> Result<Thinking, AskError> {
        let adviser = match self.adviser.take() {
            Some(adviser) => adviser,
            None => {
                let spec = ADVICE.parse().unwrap_or(PlayerSpec::new(PlayerKind::Best));
                self.make(&spec, 2)?
            }
        };
        Ok(Thinking::new(adviser, live.session().copy(), Clock::Free)?)
    }

    /// Takes back a player who has chosen for a side.
    pub fn back(
        &mut self,
        side: Side,
        chosen: Chosen,
    ) -> (Result<Choice, PlayerError>, std::time::Duration) {
        self.players[side.index()] = Some(chosen.player);
        (chosen.choice, chosen.used)
    }

    /// Takes back the adviser.
    pub fn advised(&mut self, chosen: Chosen) -> Result<Choice, PlayerError> {
        self.adviser = Some(chosen.player);
        chosen.choice
    }
}

/// Why a computer cannot think.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The player could not be had.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The system gives no thread.
    #[error("the computer cannot think: {0}")]
    Thread(#[from] std::io::Error),
}
