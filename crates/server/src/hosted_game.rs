//! A game that the server hosts: the board, the clocks, offers, ends off the board, and who may do
//! what. It knows neither sockets nor files, nor what time it is.
//!
//! What happens is first decided, then kept, then true: [`HostedGame::decide`] says what an action
//! comes to and changes nothing on the board; whoever keeps games writes the [`Event`] down, and only
//! then [`HostedGame::apply`] makes it so. A game taken up again is its events applied once more.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crownhead_play::{LegalMove, PlayError, Session, considers_offer, new_session, to_sentence};
use crownhead_records::GameResult;
use crownhead_rules::{Cell, PositionError, Side};

use crate::deeds::{Action, Decision, Deed, Event, Refusal, RefusalCode, Rights, Seat, What};
use crate::error::kind_text;
use crate::new_game::{GameSetup, Mode};

/// A computer that moves so little too late has not lost: its thread may have waited for a processor.
const GRACE: Duration = Duration::from_millis(100);
/// So many things can happen in a game; a game without take-backs comes nowhere near.
const MOST_EVENTS: usize = 2000;
/// So many names can be given to a seat in one game. They are counted apart: what somebody does to a
/// name takes no move away.
const MOST_NAMES: usize = 20;
/// The clocks run when both have made their first move: a friend may come late.
const FREE_PLIES: usize = 2;

/// A move that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// Its text.
    pub text: String,
    /// Who made it.
    pub side: Side,
    /// The cells it touched.
    pub path: Vec<Cell>,
    /// The cells whose pieces it took.
    pub captures: Vec<Cell>,
    /// The board after it.
    pub board: [char; 64],
}

/// A game that the server hosts.
pub struct HostedGame {
    setup: GameSetup,
    session: Box<dyn Session>,
    /// The board it began with.
    start_board: [char; 64],
    /// The legal moves now, once somebody has asked for them: a game taken up again goes through
    /// thousands of positions in which nobody does.
    legal: OnceLock<Vec<LegalMove>>,
    made: Vec<Made>,
    /// The clocks as they stood when the turn began.
    left: Option<[Duration; 2]>,
    /// Since when the side to move has been thinking; none as long as a computer has not been asked.
    turn_began: Option<Instant>,
    /// The most plies that were ever made: whoever takes moves back is not paid for them again.
    furthest: usize,
    version: u64,
    offers: [Option<Side>; 3],
    decision: Option<Decision>,
    /// After how many plies the computer last declined a draw.
    declined: Option<usize>,
    names: [Option<String>; 2],
    /// How many names each seat has been given.
    namings: [usize; 2],
    next: Option<String>,
    events: usize,
}

impl HostedGame {
    /// A new game.
    pub fn new(setup: GameSetup, now: Instant) -> Result<HostedGame, PositionError> {
        let session = new_session(&setup.game, setup.position.as_deref())?;
        let mut game = HostedGame {
            start_board: session.board(),
            legal: OnceLock::new(),
            left: setup.clock.map(|clock| [Duration::from_millis(clock.time); 2]),
            setup,
            session,
            made: Vec::new(),
            turn_began: None,
            furthest: 0,
            version: 0,
            offers: [None; 3],
            decision: None,
            declined: None,
            names: [None, None],
            namings: [0; 2],
            next: None,
            events: 0,
        };
        game.next_turn(now);
        Ok(game)
    }

    /// What is played.
    pub fn setup(&self) -> &GameSetup {
        &self.setup
    }

    /// The board.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// The board it began with.
    pub fn start_board(&self) -> &[char; 64] {
        &self.start_board
    }

    /// The legal moves; none when the game has ended.
    pub fn legal(&self) -> &[LegalMove] {
        if self.decision.is_some() {
            return &[];
        }
        self.legal.get_or_init(|| self.session.legal_moves())
    }

    /// The moves so far.
    pub fn made(&self) -> &[Made] {
        &self.made
    }

    /// Counts moves, take-backs and ends.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many events are kept of it.
    pub fn events(&self) -> usize {
        self.events
    }

    /// Whether so much has happened in it that nothing more may.
    fn is_full(&self) -> bool {
        self.events - self.namings[0] - self.namings[1] >= MOST_EVENTS
    }

    /// Whether a seat may be given yet another name.
    pub fn may_name(&self, side: Side) -> bool {
        self.namings[side.index()] < MOST_NAMES
    }

    /// Who has offered something.
    pub fn offer(&self, what: What) -> Option<Side> {
        self.offers[what as usize]
    }

    /// The name of a seat.
    pub fn name(&self, side: Side) -> Option<&str> {
        self.names[side.index()].as_deref()
    }

    /// The rematch.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// An end off the board.
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.decision.is_some() || self.session.outcome().is_some()
    }

    /// One sentence on how the game ended, if it has.
    pub fn ending(&self) -> Option<String> {
        let sides = self.setup.game.info().sides;
        let name = |seat: Seat| sides[Side::from(seat).index()].name;
        let winner = |seat: Seat| sides[Side::from(seat).other().index()].name;
        Some(match self.decision {
            None => return self.session.outcome_text().map(|ending| to_sentence(&ending)),
            Some(Decision::Agreed) => "The players agree on a draw.".into(),
            Some(Decision::Resigned(seat)) => {
                format!("{} resigns: {} wins.", name(seat), winner(seat))
            }
            Some(Decision::Late(seat)) => {
                format!("{} has used up the time: {} wins.", name(seat), winner(seat))
            }
        })
    }

    /// Who won, if the game has ended and somebody has.
    pub fn winner(&self) -> Option<Side> {
        match self.decision {
            Some(Decision::Resigned(seat) | Decision::Late(seat)) => Some(Side::from(seat).other()),
            Some(Decision::Agreed) => None,
            None => self.session.outcome().and_then(|outcome| outcome.winner),
        }
    }

    /// The result, for records.
    pub fn result(&self) -> GameResult {
        match (self.is_over(), self.winner()) {
            (false, _) => GameResult::Unknown,
            (true, None) => GameResult::Draw,
            (true, Some(Side::First)) => GameResult::FirstWins,
            (true, Some(Side::Second)) => GameResult::SecondWins,
        }
    }

    /// Whether a computer is to move.
    pub fn computer_to_move(&self) -> bool {
        !self.is_over() && self.setup.computer(self.session.side()).is_some()
    }

    /// A person's clock runs at once, a computer's when it is asked.
    fn next_turn(&mut self, now: Instant) {
        self.turn_began = (!self.computer_to_move()).then_some(now);
    }

    /// A game that was taken up again waits for a player: time during which it was on disk only is
    /// nobody's.
    pub fn wait_for_players(&mut self) {
        self.turn_began = None;
    }

    /// A player is there: the turn begins if it waited for one.
    pub fn player_comes(&mut self, now: Instant) {
        if self.turn_began.is_none() {
            self.next_turn(now);
        }
    }

    /// The computer begins to think: its clock runs.
    pub fn begin_turn(&mut self, now: Instant) {
        self.turn_began = Some(now);
    }

    /// The computer was stopped: its clock waits.
    pub fn stop_turn(&mut self) {
        self.turn_began = None;
    }

    /// The side whose clock runs.
    pub fn running(&self) -> Option<Side> {
        let runs = self.left.is_some()
            && self.turn_began.is_some()
            && self.furthest >= FREE_PLIES
            && !self.is_over();
        runs.then(|| self.session.side())
    }

    /// What is left on the clocks now.
    pub fn left(&self, now: Instant) -> Option<[Duration; 2]> {
        let mut left = self.left?;
        if let (Some(side), Some(began)) = (self.running(), self.turn_began) {
            let used = now.saturating_duration_since(began);
            left[side.index()] = left[side.index()].saturating_sub(used);
        }
        Some(left)
    }

    /// When the clock that runs will have run out: a person has lost then, a computer after a grace.
    pub fn deadline(&self) -> Option<Instant> {
        let (side, left, began) = (self.running()?, self.left?, self.turn_began?);
        let grace = if self.setup.computer(side).is_some() { GRACE } else { Duration::ZERO };
        began.checked_add(left[side.index()] + grace)
    }

    /// The side to move has lost if its time is up.
    pub fn flag(&self, now: Instant) -> Option<Event> {
        self.deadline().filter(|deadline| *deadline <= now)?;
        Some(Event::End(Decision::Late(self.session.side().into())))
    }

    /// What is left on the clocks if the side to move moves now.
    fn left_after_move(&self, now: Instant) -> Option<[u64; 2]> {
        let mut left = self.left(now)?;
        if let (Some(side), Some(clock)) = (self.running(), self.setup.clock)
            && self.made.len() >= self.furthest
        {
            left[side.index()] += Duration::from_millis(clock.increment);
        }
        Some(left.map(millis))
    }

    /// What an action of somebody comes to. The board does not change; offers may.
    pub fn decide(
        &mut self,
        rights: Rights,
        version: u64,
        action: &Action,
        now: Instant,
    ) -> Result<Deed, Refusal> {
        if rights.is_none() {
            return Err(Refusal::new(RefusalCode::Seat, "who looks on does not play"));
        }
        if version != self.version {
            let reason = "the game has changed meanwhile";
            return Err(Refusal::new(RefusalCode::Stale, reason));
        }
        if let Some(flag) = self.flag(now) {
            return Ok(Deed::Happens(flag));
        }
        match action {
            Action::Move(text) => self.decide_move(rights, text, now),
            Action::Resign => {
                self.check_running()?;
                let side = self.own(rights);
                Ok(Deed::Happens(Event::End(Decision::Resigned(side.into()))))
            }
            Action::Offer(What::Draw) => self.offer_draw(rights),
            Action::Offer(What::TakeBack) => self.offer_take_back(rights, now),
            Action::Offer(What::Rematch) => self.offer_rematch(rights),
            Action::Accept(what) => {
                let other = self.own(rights).other();
                if self.setup.mode != Mode::Friend || self.offer(*what) != Some(other) {
                    return Err(Refusal::new(
                        RefusalCode::Nothing,
                        "nothing of the kind was offered",
                    ));
                }
                self.decide(rights, version, &Action::Offer(*what), now)
            }
            Action::Decline(what) => {
                let by = self.own(rights);
                match self.offers[*what as usize].take() {
                    None => {
                        Err(Refusal::new(RefusalCode::Nothing, "nothing of the kind was offered"))
                    }
                    Some(side) if side == by => Ok(Deed::Offers),
                    Some(_) => Ok(Deed::Declined(*what, by)),
                }
            }
        }
    }

    /// The side for which somebody speaks: its own, or that to move if it plays both.
    fn own(&self, rights: Rights) -> Side {
        rights.only().unwrap_or_else(|| self.session.side())
    }

    fn check_running(&self) -> Result<(), Refusal> {
        match self.ending() {
            Some(ending) => {
                Err(Refusal::new(RefusalCode::Over, format!("The game is over. {ending}")))
            }
            None => Ok(()),
        }
    }

    fn decide_move(&mut self, rights: Rights, text: &str, now: Instant) -> Result<Deed, Refusal> {
        self.check_running()?;
        let side = self.session.side();
        if !rights.may(side) {
            let name = self.setup.game.info().sides[side.index()].name;
            return Err(Refusal::new(RefusalCode::Seat, format!("it is the turn of {name}")));
        }
        if self.is_full() {
            let reason = "this game has gone on for so long that no more moves can be made";
            return Err(Refusal::new(RefusalCode::TooMany, reason));
        }
        self.judge(text, now)
    }

    /// What a move of the side to move comes to, whoever makes it.
    fn judge(&mut self, text: &str, now: Instant) -> Result<Deed, Refusal> {
        let left = self.left_after_move(now);
        self.session.play(text).map_err(|error: PlayError| Refusal {
            kind: Some(kind_text(&error)),
            ..Refusal::new(RefusalCode::Illegal, error.to_string())
        })?;
        // As the rules write it: it may have come in another form.
        let text = self.session.last_move_text().unwrap_or_else(|| text.into());
        self.session.undo();
        Ok(Deed::Happens(Event::Move { text, left }))
    }

    /// What a computer's move comes to, which took it so long.
    pub fn decide_computer(&mut self, text: &str, now: Instant) -> Result<Event, Refusal> {
        if let Some(flag) = self.flag(now) {
            return Ok(flag);
        }
        match self.judge(text, now)? {
            Deed::Happens(event) => Ok(event),
            _ => Err(Refusal::new(RefusalCode::Failure, "the computer made no move")),
        }
    }

    /// The computer has thought about a draw.
    pub fn answer_draw(&mut self, accepts: bool) -> Deed {
        match (accepts, &self.setup.mode) {
            (true, _) => Deed::Happens(Event::End(Decision::Agreed)),
            (false, Mode::Computer { side, .. }) => {
                self.declined = Some(self.made.len());
                Deed::Declined(What::Draw, *side)
            }
            (false, _) => Deed::Offers,
        }
    }

    fn offer_draw(&mut self, rights: Rights) -> Result<Deed, Refusal> {
        self.check_running()?;
        match self.setup.mode {
            Mode::Hotseat => Ok(Deed::Happens(Event::End(Decision::Agreed))),
            Mode::Friend => Ok(match self.make_offer(What::Draw, rights) {
                true => Deed::Happens(Event::End(Decision::Agreed)),
                false => Deed::Offers,
            }),
            Mode::Computer { side, .. } => {
                if self.session.side() == side {
                    let reason = "a draw is offered on your own turn";
                    return Err(Refusal::new(RefusalCode::Seat, reason));
                }
                Ok(match considers_offer(self.declined, self.made.len()) {
                    true => Deed::AskComputer,
                    false => Deed::Declined(What::Draw, side),
                })
            }
        }
    }

    /// Makes an offer; true if the other side has made it too.
    fn make_offer(&mut self, what: What, rights: Rights) -> bool {
        let own = self.own(rights);
        if self.offer(what) == Some(own.other()) {
            return true;
        }
        self.offers[what as usize] = Some(own);
        false
    }

    fn offer_take_back(&mut self, rights: Rights, now: Instant) -> Result<Deed, Refusal> {
        let nothing =
            || Refusal::new(RefusalCode::Nothing, "there is nothing of yours to take back");
        if self.is_full() {
            let reason = "so much was taken back in this game that no more can be";
            return Err(Refusal::new(RefusalCode::TooMany, reason));
        }
        let is_friend = self.setup.mode == Mode::Friend;
        if is_friend || matches!(self.decision, Some(Decision::Late(_))) || self.next.is_some() {
            self.check_running()?;
        }
        if self.decision.is_some() {
            return Ok(Deed::Happens(Event::Reopen));
        }
        // In whose favour: the one who asked, if this accepts it.
        let asked = self.offer(What::TakeBack).filter(|_| is_friend);
        let side = match (asked, self.setup.mode == Mode::Hotseat) {
            (_, true) => self.session.side().other(),
            (Some(side), _) => side,
            (None, _) => self.own(rights),
        };
        let plies = if self.session.side() == side { 2 } else { 1 };
        if plies > self.made.len() {
            return Err(nothing());
        }
        if is_friend && !self.make_offer(What::TakeBack, rights) {
            return Ok(Deed::Offers);
        }
        Ok(Deed::Happens(Event::Undo { plies, left: self.left(now).map(|left| left.map(millis)) }))
    }

    fn offer_rematch(&mut self, rights: Rights) -> Result<Deed, Refusal> {
        if !self.is_over() {
            let reason = "a rematch begins when this game has ended";
            return Err(Refusal::new(RefusalCode::Nothing, reason));
        }
        if self.next.is_some() {
            return Err(Refusal::new(RefusalCode::Nothing, "the rematch is there already"));
        }
        let at_once = self.setup.mode != Mode::Friend;
        Ok(match at_once || self.make_offer(What::Rematch, rights) {
            true => Deed::Rematch,
            false => Deed::Offers,
        })
    }

    /// Makes true what has been kept. An event that does not fit is an error: the file is damaged.
    pub fn apply(&mut self, event: &Event, now: Instant) -> Result<(), PlayError> {
        match event {
            Event::Move { text, left } => {
                let side = self.session.side();
                self.session.play(text)?;
                let made = self.session.last_move();
                let (path, captures) = made.map(|mv| (mv.path, mv.captures)).unwrap_or_default();
                let board = self.session.board();
                self.made.push(Made { text: text.clone(), side, path, captures, board });
                self.set_left(*left);
                self.furthest = self.furthest.max(self.made.len());
                self.offers[What::TakeBack as usize] = None;
                // Who moves has not accepted.
                self.offers[What::Draw as usize].take_if(|by| *by != side);
                self.version += 1;
            }
            Event::Undo { plies, left } => {
                for _ in 0..*plies {
                    self.session.undo();
                    self.made.pop();
                }
                self.set_left(*left);
                self.offers = [None; 3];
                self.version += 1;
            }
            Event::End(decision) => {
                self.left = self.left(now);
                self.decision = Some(*decision);
                if let (Decision::Late(seat), Some(left)) = (decision, &mut self.left) {
                    left[Side::from(*seat).index()] = Duration::ZERO;
                }
                self.offers = [None; 3];
                self.version += 1;
            }
            Event::Reopen => {
                self.decision = None;
                self.offers = [None; 3];
                self.version += 1;
            }
            Event::Name(seat, name) => {
                let at = Side::from(*seat).index();
                self.names[at].clone_from(name);
                self.namings[at] += 1;
                self.events += 1;
                return Ok(());
            }
            Event::Next(id) => {
                self.next = Some(id.clone());
                self.offers = [None; 3];
                self.events += 1;
                return Ok(());
            }
        }
        self.events += 1;
        self.legal = OnceLock::new();
        self.next_turn(now);
        Ok(())
    }

    fn set_left(&mut self, left: Option<[u64; 2]>) {
        if self.left.is_some() {
            self.left = left.map(|left| left.map(Duration::from_millis)).or(self.left);
        }
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}
