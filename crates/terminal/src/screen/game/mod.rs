//! A game on the screen: what it shows, and what moves and time do to it. Keys and the mouse are in
//! `keys`, the picture in `draw`; nothing here touches a terminal.

mod draw;
mod keys;

use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_play::{Action, Choice, FaultPolicy, OfferKind, Refusal, Session, to_sentence};
use crownhead_rules::Side;

use super::board::Highlights;
use super::board_input::BoardInput;
use crate::autosave::Autosave;
use crate::computers::Computers;
use crate::local_game::{LocalGame, Seat};
use crate::player_thread::PlayerThread;
use crate::text::{hint_text, side_text};

/// A question or a page over the board.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Dialog {
    /// The keys.
    Help,
    /// Leave the game?
    Quit,
    /// Give up?
    Resign,
    /// Does the other person accept a draw?
    Draw,
    /// A file to write to.
    Save {
        /// Its name.
        name: String,
        /// Whether the name is only proposed: what is typed takes its place.
        proposed: bool,
    },
    /// What is said, from a line of it on: there was no room for all of it.
    Text(usize),
}

/// Why the best player was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Advice {
    Hint,
    Draw,
}

/// A game on the screen.
pub struct GameScreen {
    live: LocalGame,
    message: String,
    hand: BoardInput,
    /// The ply that is looked at, if it is not the present.
    viewed_ply: Option<usize>,
    /// Whether the board is turned round.
    flipped: bool,
    /// Whether squares carry numbers.
    numbers: bool,
    dialog: Option<Dialog>,
    /// Whether two computers wait.
    paused: bool,
    /// How long a move of two computers stays on the screen.
    pace: Duration,
    /// Since when the game has been as it is.
    since: Instant,
    colour: bool,
    left: bool,
    computers: Computers,
    thinking: Option<PlayerThread>,
    advice: Option<(Advice, PlayerThread)>,
    kept: Option<Autosave>,
    /// What a computer that has moved thought.
    last_info: Option<(Side, Choice)>,
}

/// How slowly two computers play, at first.
const PACE: Duration = Duration::from_millis(800);

impl GameScreen {
    /// A game to play.
    pub fn new(live: LocalGame, kept: Option<Autosave>, colour: bool) -> GameScreen {
        let computers = Computers::new(&live);
        // Sides that fight each other, instead of racing to a target, start face to face: a person who
        // plays the side at the top sees the board from there.
        let [first, second] = &live.setup().seats;
        let from_top = *first == Seat::Human && *second != Seat::Human;
        let mut screen = GameScreen {
            message: String::new(),
            hand: BoardInput::new(live.session()),
            viewed_ply: None,
            flipped: from_top && live.setup().game.info().targets.is_none(),
            // Moves of the checkers games are written by them.
            numbers: true,
            dialog: None,
            paused: false,
            pace: PACE,
            since: Instant::now(),
            colour,
            left: false,
            computers,
            thinking: None,
            advice: None,
            kept,
            last_info: None,
            live,
        };
        screen.message = screen.prompt();
        screen
    }

    /// The game, when the screen is no longer needed.
    pub fn into_game(self) -> LocalGame {
        self.live
    }

    /// What to do now, and what is wrong with keeping the game.
    fn prompt(&self) -> String {
        let mut text = self.turn_text();
        if let Some(trouble) = self.trouble() {
            text = format!("{text} {trouble}");
        }
        text
    }

    fn turn_text(&self) -> String {
        if let Some(ending) = self.live.describe_end() {
            return format!("{ending} n: new game, q: quit.");
        }
        let side = side_text(&self.live.setup().game, self.live.session().side());
        if !self.live.human_to_move() {
            let is_ready = self.thinking.as_ref().is_some_and(|thinking| thinking.since.is_some());
            let what = match (&self.thinking, self.paused) {
                (None, true) => "is to move.",
                _ if !is_ready && self.computers.is_starting(&self.live) => "is starting.",
                _ => "is thinking.",
            };
            return format!("{side} {what}");
        }
        if self.hand.must_pass() {
            return format!("{side} cannot move: p passes.");
        }
        let must = if self.hand.must_capture() { " A capture is compulsory." } else { "" };
        format!("{side} to move.{must}")
    }

    /// Why the board cannot be played on now, if so.
    fn blocked_reason(&self) -> Option<String> {
        if self.viewed_ply.is_some() {
            return Some("This is an earlier position: End goes back to the game.".into());
        }
        (!self.live.human_to_move()).then(|| self.prompt())
    }

    /// The position that is shown.
    fn shown(&self) -> Box<dyn Session> {
        match self.viewed_ply {
            Some(ply) => self.live.session_at(ply),
            None => self.live.session().clone_box(),
        }
    }

    /// The number of plies on the board that is shown.
    fn shown_ply(&self) -> usize {
        self.viewed_ply.unwrap_or_else(|| self.live.session().plies())
    }

    /// What is marked on the board that is shown.
    fn marks(&self) -> Highlights {
        let mut marks = Highlights { cursor: self.hand.cursor, ..Highlights::default() };
        if let Some(last) = self.shown().last_move() {
            (marks.last, marks.taken) = (last.path, last.captures);
        }
        if self.viewed_ply.is_none() && self.live.human_to_move() {
            self.hand.mark(&mut marks);
        }
        marks
    }

    /// What the computer thinks, or thought before its last move: whose side, and what.
    fn thought(&self) -> Option<(Side, &Choice)> {
        let now = self.thinking.as_ref().and_then(|thinking| thinking.latest.as_ref());
        match now {
            Some(choice) => Some((self.live.session().side(), choice)),
            None => self.last_info.as_ref().map(|(side, choice)| (*side, choice)),
        }
    }

    /// Whether a computer thinks at this moment.
    fn is_thinking(&self) -> bool {
        self.thinking.is_some()
    }

    /// What time alone does: computers move, clocks run out.
    fn advance(&mut self) {
        self.hear_advice();
        // What is said while somebody thinks does not stay long enough to be read.
        if self.thinking.is_none() && self.advice.is_none() {
            self.say_missing();
        }
        if self.live.is_over() {
            return;
        }
        let side = self.live.session().side();
        if self.live.human_to_move() {
            if self.live.check_flag() {
                self.changed();
            }
            return;
        }
        let watching = !self.live.has_human();
        if self.thinking.is_none() {
            if watching && (self.paused || self.waits()) {
                return;
            }
            match self.computers.ask(&self.live) {
                Ok(thinking) => self.thinking = thinking,
                Err(error) => self.fail(error.to_string()),
            }
            return;
        }
        // In a pause too: a computer that has been asked ends its thought, so that its clock is true.
        let told = self.prompt();
        let Some(thinking) = &mut self.thinking else { return };
        let polled = thinking.poll();
        if let Some(since) = thinking.since {
            self.live.start_turn(since);
            if self.message == told {
                self.message = self.prompt();
            }
        }
        match polled {
            Ok(None) => {}
            Err(died) => self.fail(died.to_string()),
            Ok(Some(chosen)) => {
                self.thinking = None;
                let (choice, used) = self.computers.return_player(side, chosen);
                if let Ok(choice) = &choice {
                    self.last_info = Some((side, choice.clone()));
                }
                match self.live.on_choice(choice, used) {
                    Ok(incident) => {
                        self.moved(side);
                        // An incident that lost the game is told with its end.
                        if let Some(incident) = incident
                            && incident.policy != FaultPolicy::Forfeit
                        {
                            let text = self.live.incident_text(&incident);
                            self.message = format!("{} {text}", self.message);
                        }
                    }
                    Err(error) => self.fail(error.to_string()),
                }
            }
        }
    }

    /// A computer has moved. Whoever looks at an earlier position goes on looking.
    fn moved(&mut self, side: Side) {
        let look = self.viewed_ply;
        self.changed();
        if let (Some(_), Some(text), false) =
            (look, self.live.session().last_move_text(), self.live.is_over())
        {
            self.viewed_ply = look;
            let side = side_text(&self.live.setup().game, side);
            self.message = format!("{side} has played {text}. End goes back to the game.");
        }
    }

    /// Whether the last move of two computers should stay a little longer.
    fn waits(&self) -> bool {
        self.live.session().plies() > 0 && self.since.elapsed() < self.pace
    }

    fn say_missing(&mut self) {
        if let Some(missing) = self.computers.missing() {
            self.message = format!("{} {}", self.message, to_sentence(&missing));
        }
    }

    /// A computer that cannot go on has lost: nothing else would end the game.
    fn fail(&mut self, error: String) {
        self.thinking = None;
        self.resign();
        self.message = error;
    }

    fn hear_advice(&mut self) {
        let Some((purpose, thinking)) = &mut self.advice else { return };
        let purpose = *purpose;
        let advice = match thinking.poll() {
            Ok(None) => return,
            Err(died) => Err(died.to_string()),
            Ok(Some(chosen)) => self.computers.take_hint(chosen).map_err(|error| error.to_string()),
        };
        self.advice = None;
        match (purpose, advice) {
            (Advice::Hint, Ok(choice)) => {
                self.message = hint_text(self.live.session(), &choice);
            }
            (Advice::Hint, Err(error)) => self.message = to_sentence(&error),
            (Advice::Draw, advice) => {
                let accepts = self.computers.accepts(&self.live, advice.ok().as_ref());
                self.answer_draw(accepts);
                if !accepts && !self.live.is_over() {
                    self.decline();
                }
            }
        }
    }

    /// The side to move resigns.
    fn resign(&mut self) {
        // A game that is over stays as it ended.
        let _ = self.live.act(self.live.session().side(), &Action::Resign);
        self.changed();
    }

    /// The opponent answers the draw offer of the side to move.
    fn answer_draw(&mut self, accepts: bool) {
        let other = self.live.session().side().other();
        let answer = match accepts {
            true => Action::Accept(OfferKind::Draw),
            false => Action::Decline(OfferKind::Draw),
        };
        match self.live.act(other, &answer) {
            Ok(()) if self.live.is_over() => self.changed(),
            Ok(()) => self.message = self.prompt(),
            Err(refusal) => self.message = to_sentence(&refusal.to_string()),
        }
    }

    fn decline(&mut self) {
        let other = self.live.session().side().other();
        self.message = format!("{} plays on.", side_text(&self.live.setup().game, other));
    }

    /// The game is another than before.
    fn changed(&mut self) {
        self.hand.reset(self.live.session());
        self.viewed_ply = None;
        self.advice = None;
        self.since = Instant::now();
        // A game that is over asks for nothing any more.
        if self.live.is_over()
            && matches!(self.dialog, Some(Dialog::Quit | Dialog::Resign | Dialog::Draw))
        {
            self.dialog = None;
        }
        self.keep();
        self.computers.game_over(&self.live);
        self.message = self.prompt();
    }

    /// Keeps the game as it is.
    fn keep(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.save(&self.live);
        }
    }

    fn trouble(&self) -> Option<&str> {
        self.kept.as_ref().and_then(Autosave::trouble)
    }

    /// A sentence on what has become of a game that was left: whether it is kept.
    pub fn autosave_text(&self) -> Option<&str> {
        let kept = self.kept.as_ref().is_some_and(Autosave::is_saved);
        let text = "The game is kept: crownhead play --resume takes it up again.";
        self.trouble().or(kept.then_some(text))
    }

    fn play(&mut self, text: &str) {
        if let Some(why) = self.blocked_reason() {
            self.message = why;
            return;
        }
        match self.live.act(self.live.session().side(), &Action::Move(text.into())) {
            Ok(()) => self.changed(),
            Err(Refusal::Illegal(error)) => {
                self.hand.deselect();
                self.message = to_sentence(&error.reason);
            }
            Err(_) => self.message = self.prompt(),
        }
    }

    fn go(&mut self) {
        // Nobody waits for what they think.
        self.thinking = None;
        self.advice = None;
        self.left = true;
    }

    fn hint(&mut self) {
        match self.blocked_reason() {
            Some(why) => self.message = why,
            None => self.ask(Advice::Hint),
        }
    }

    fn ask(&mut self, purpose: Advice) {
        // Who is being asked need not be asked again.
        if self.advice.as_ref().is_some_and(|(asked, _)| *asked == purpose) {
            return;
        }
        match self.computers.ask_hint(&self.live) {
            Ok(thinking) => {
                self.advice = Some((purpose, thinking));
                self.message = match purpose {
                    Advice::Hint => "Looking for a good move …".into(),
                    Advice::Draw => "The offer is being considered …".into(),
                };
            }
            Err(error) => self.message = error.to_string(),
        }
    }

    fn offer(&mut self) {
        let side = self.live.session().side();
        let is_computer = matches!(self.live.seat(side.other()), Seat::Computer(_));
        if is_computer && !self.computers.considers_offers(&self.live) {
            return self.decline();
        }
        match self.live.act(side, &Action::Offer(OfferKind::Draw)) {
            Err(refusal) => self.message = to_sentence(&refusal.to_string()),
            Ok(()) if self.live.is_over() => self.changed(),
            Ok(()) if is_computer => self.ask(Advice::Draw),
            Ok(()) => self.dialog = Some(Dialog::Draw),
        }
    }

    fn undo(&mut self) {
        if self.live.undo() {
            // Who thinks about a position that has gone away thinks in vain.
            self.thinking = None;
            self.last_info = None;
            self.computers.on_undo();
            self.changed();
        } else {
            self.message = match self.live.is_lost_on_time() {
                true => "A game lost on time stays lost.".into(),
                false => "There is no move of yours to take back.".into(),
            };
        }
    }

    /// The same once more.
    fn new_game(&mut self) {
        let mut setup = self.live.setup().clone();
        setup.seed = setup.seed.wrapping_add(1);
        if let Ok(live) = LocalGame::new(setup) {
            self.computers = Computers::new(&live);
            self.live = live;
            self.last_info = None;
            self.changed();
        }
    }

    fn look_by(&mut self, plies: isize) {
        let now = self.shown_ply();
        self.look_at(now.saturating_add_signed(plies));
    }

    /// Looks at an earlier position; the last one is the game itself.
    fn look_at(&mut self, ply: usize) {
        let made = self.live.session().plies();
        self.hand.deselect();
        self.viewed_ply = (ply < made).then_some(ply);
        self.message = match self.viewed_ply {
            Some(ply) => {
                format!("The position after {ply} of {made} plies. End goes back to the game.")
            }
            None => self.prompt(),
        };
    }

    /// A name for a file that does not exist yet.
    fn file_name(&self) -> String {
        let id = self.live.setup().game.info().id;
        let mut names = (1..1000).map(|number| format!("{id}-{number}.pdn"));
        names.find(|name| !Path::new(name).exists()).unwrap_or_else(|| format!("{id}.pdn"))
    }

    fn save(&mut self, name: &str) {
        let name = name.trim();
        self.message = if name.is_empty() {
            "The game was not saved: a file needs a name.".into()
        } else {
            match self.live.save(Path::new(name)) {
                Ok(()) => format!("The game is in {name}."),
                Err(error) => to_sentence(&error.to_string()),
            }
        };
    }
}
