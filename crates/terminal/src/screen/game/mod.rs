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
enum HintPurpose {
    Hint,
    Draw,
}

/// A game on the screen.
pub struct GameScreen {
    game: LocalGame,
    message: String,
    input: BoardInput,
    /// The ply that is looked at, if it is not the present.
    viewed_ply: Option<usize>,
    /// Whether the board is turned round.
    flipped: bool,
    /// Whether squares carry numbers.
    show_numbers: bool,
    dialog: Option<Dialog>,
    /// Whether two computers wait.
    paused: bool,
    /// How long a move of two computers stays on the screen.
    move_interval: Duration,
    /// Since when the game has been as it is.
    last_change: Instant,
    colour: bool,
    quit: bool,
    computers: Computers,
    player_thread: Option<PlayerThread>,
    hint_thread: Option<(HintPurpose, PlayerThread)>,
    autosave: Option<Autosave>,
    /// What a computer that has moved thought.
    last_info: Option<(Side, Choice)>,
}

/// How slowly two computers play, at first.
const DEFAULT_MOVE_INTERVAL: Duration = Duration::from_millis(800);

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
            input: BoardInput::new(live.session()),
            viewed_ply: None,
            flipped: from_top && live.setup().game.info().targets.is_none(),
            // Moves of the checkers games are written by them.
            show_numbers: true,
            dialog: None,
            paused: false,
            move_interval: DEFAULT_MOVE_INTERVAL,
            last_change: Instant::now(),
            colour,
            quit: false,
            computers,
            player_thread: None,
            hint_thread: None,
            autosave: kept,
            last_info: None,
            game: live,
        };
        screen.message = screen.prompt();
        screen
    }

    /// The game, when the screen is no longer needed.
    pub fn into_game(self) -> LocalGame {
        self.game
    }

    /// What to do now, and what is wrong with keeping the game.
    fn prompt(&self) -> String {
        let mut text = self.turn_text();
        if let Some(trouble) = self.autosave_error() {
            text = format!("{text} {trouble}");
        }
        text
    }

    fn turn_text(&self) -> String {
        if let Some(ending) = self.game.describe_end() {
            return format!("{ending} n: new game, q: quit.");
        }
        let side = side_text(&self.game.setup().game, self.game.session().side());
        if !self.game.human_to_move() {
            let is_ready =
                self.player_thread.as_ref().is_some_and(|thinking| thinking.started.is_some());
            let what = match (&self.player_thread, self.paused) {
                (None, true) => "is to move.",
                _ if !is_ready && self.computers.is_starting(&self.game) => "is starting.",
                _ => "is thinking.",
            };
            return format!("{side} {what}");
        }
        if self.input.must_pass() {
            return format!("{side} cannot move: p passes.");
        }
        let must = if self.input.must_capture() { " A capture is compulsory." } else { "" };
        format!("{side} to move.{must}")
    }

    /// Why the board cannot be played on now, if so.
    fn blocked_reason(&self) -> Option<String> {
        if self.viewed_ply.is_some() {
            return Some("This is an earlier position: End goes back to the game.".into());
        }
        (!self.game.human_to_move()).then(|| self.prompt())
    }

    /// The position that is shown.
    fn shown_session(&self) -> Box<dyn Session> {
        match self.viewed_ply {
            Some(ply) => self.game.session_at(ply),
            None => self.game.session().clone_box(),
        }
    }

    /// The number of plies on the board that is shown.
    fn shown_ply(&self) -> usize {
        self.viewed_ply.unwrap_or_else(|| self.game.session().plies())
    }

    /// What is marked on the board that is shown.
    fn highlights(&self) -> Highlights {
        let mut marks = Highlights { cursor: self.input.cursor, ..Highlights::default() };
        if let Some(last) = self.shown_session().last_move() {
            (marks.last_path, marks.captured) = (last.path, last.captures);
        }
        if self.viewed_ply.is_none() && self.game.human_to_move() {
            self.input.highlight(&mut marks);
        }
        marks
    }

    /// What the computer thinks, or thought before its last move: whose side, and what.
    fn shown_info(&self) -> Option<(Side, &Choice)> {
        let now = self.player_thread.as_ref().and_then(|thinking| thinking.latest.as_ref());
        match now {
            Some(choice) => Some((self.game.session().side(), choice)),
            None => self.last_info.as_ref().map(|(side, choice)| (*side, choice)),
        }
    }

    /// Whether a computer thinks at this moment.
    fn is_thinking(&self) -> bool {
        self.player_thread.is_some()
    }

    /// What time alone does: computers move, clocks run out.
    fn advance(&mut self) {
        self.poll_hint();
        // What is said while somebody thinks does not stay long enough to be read.
        if self.player_thread.is_none() && self.hint_thread.is_none() {
            self.show_warning();
        }
        if self.game.is_over() {
            return;
        }
        let side = self.game.session().side();
        if self.game.human_to_move() {
            if self.game.check_flag() {
                self.on_change();
            }
            return;
        }
        let watching = !self.game.has_human();
        if self.player_thread.is_none() {
            if watching && (self.paused || self.is_between_moves()) {
                return;
            }
            match self.computers.ask(&self.game) {
                Ok(thinking) => self.player_thread = thinking,
                Err(error) => self.fail(error.to_string()),
            }
            return;
        }
        // In a pause too: a computer that has been asked ends its thought, so that its clock is true.
        let told = self.prompt();
        let Some(thinking) = &mut self.player_thread else { return };
        let polled = thinking.poll();
        if let Some(since) = thinking.started {
            self.game.start_turn(since);
            if self.message == told {
                self.message = self.prompt();
            }
        }
        match polled {
            Ok(None) => {}
            Err(died) => self.fail(died.to_string()),
            Ok(Some(chosen)) => {
                self.player_thread = None;
                let (choice, used) = self.computers.return_player(side, chosen);
                if let Ok(choice) = &choice {
                    self.last_info = Some((side, choice.clone()));
                }
                match self.game.on_choice(choice, used) {
                    Ok(incident) => {
                        self.on_computer_move(side);
                        // An incident that lost the game is told with its end.
                        if let Some(incident) = incident
                            && incident.policy != FaultPolicy::Forfeit
                        {
                            let text = self.game.incident_text(&incident);
                            self.message = format!("{} {text}", self.message);
                        }
                    }
                    Err(error) => self.fail(error.to_string()),
                }
            }
        }
    }

    /// A computer has moved. Whoever looks at an earlier position goes on looking.
    fn on_computer_move(&mut self, side: Side) {
        let look = self.viewed_ply;
        self.on_change();
        if let (Some(_), Some(text), false) =
            (look, self.game.session().last_move_text(), self.game.is_over())
        {
            self.viewed_ply = look;
            let side = side_text(&self.game.setup().game, side);
            self.message = format!("{side} has played {text}. End goes back to the game.");
        }
    }

    /// Whether the last move of two computers should stay a little longer.
    fn is_between_moves(&self) -> bool {
        self.game.session().plies() > 0 && self.last_change.elapsed() < self.move_interval
    }

    fn show_warning(&mut self) {
        if let Some(missing) = self.computers.take_warning() {
            self.message = format!("{} {}", self.message, to_sentence(&missing));
        }
    }

    /// A computer that cannot go on has lost: nothing else would end the game.
    fn fail(&mut self, error: String) {
        self.player_thread = None;
        self.resign();
        self.message = error;
    }

    fn poll_hint(&mut self) {
        let Some((purpose, thinking)) = &mut self.hint_thread else { return };
        let purpose = *purpose;
        let advice = match thinking.poll() {
            Ok(None) => return,
            Err(died) => Err(died.to_string()),
            Ok(Some(chosen)) => self.computers.take_hint(chosen).map_err(|error| error.to_string()),
        };
        self.hint_thread = None;
        match (purpose, advice) {
            (HintPurpose::Hint, Ok(choice)) => {
                self.message = hint_text(self.game.session(), &choice);
            }
            (HintPurpose::Hint, Err(error)) => self.message = to_sentence(&error),
            (HintPurpose::Draw, advice) => {
                let accepts = self.computers.accepts_draw(&self.game, advice.ok().as_ref());
                self.answer_draw(accepts);
                if !accepts && !self.game.is_over() {
                    self.show_declined();
                }
            }
        }
    }

    /// The side to move resigns.
    fn resign(&mut self) {
        // A game that is over stays as it ended.
        let _ = self.game.act(self.game.session().side(), &Action::Resign);
        self.on_change();
    }

    /// The opponent answers the draw offer of the side to move.
    fn answer_draw(&mut self, accepts: bool) {
        let other = self.game.session().side().other();
        let answer = match accepts {
            true => Action::Accept(OfferKind::Draw),
            false => Action::Decline(OfferKind::Draw),
        };
        match self.game.act(other, &answer) {
            Ok(()) if self.game.is_over() => self.on_change(),
            Ok(()) => self.message = self.prompt(),
            Err(refusal) => self.message = to_sentence(&refusal.to_string()),
        }
    }

    fn show_declined(&mut self) {
        let other = self.game.session().side().other();
        self.message = format!("{} plays on.", side_text(&self.game.setup().game, other));
    }

    /// The game is another than before.
    fn on_change(&mut self) {
        self.input.reset(self.game.session());
        self.viewed_ply = None;
        self.hint_thread = None;
        self.last_change = Instant::now();
        // A game that is over asks for nothing any more.
        if self.game.is_over()
            && matches!(self.dialog, Some(Dialog::Quit | Dialog::Resign | Dialog::Draw))
        {
            self.dialog = None;
        }
        self.save_progress();
        self.computers.on_game_over(&self.game);
        self.message = self.prompt();
    }

    /// Keeps the game as it is.
    fn save_progress(&mut self) {
        if let Some(kept) = &mut self.autosave {
            kept.save(&self.game);
        }
    }

    fn autosave_error(&self) -> Option<&str> {
        self.autosave.as_ref().and_then(Autosave::error)
    }

    /// A sentence on what has become of a game that was left: whether it is kept.
    pub fn autosave_text(&self) -> Option<&str> {
        let kept = self.autosave.as_ref().is_some_and(Autosave::is_saved);
        let text = "The game is kept: crownhead play --resume takes it up again.";
        self.autosave_error().or(kept.then_some(text))
    }

    fn play(&mut self, text: &str) {
        if let Some(why) = self.blocked_reason() {
            self.message = why;
            return;
        }
        match self.game.act(self.game.session().side(), &Action::Move(text.into())) {
            Ok(()) => self.on_change(),
            Err(Refusal::Illegal(error)) => {
                self.input.deselect();
                self.message = to_sentence(&error.reason);
            }
            Err(_) => self.message = self.prompt(),
        }
    }

    fn quit_now(&mut self) {
        // Nobody waits for what they think.
        self.player_thread = None;
        self.hint_thread = None;
        self.quit = true;
    }

    fn hint(&mut self) {
        match self.blocked_reason() {
            Some(why) => self.message = why,
            None => self.ask_hint(HintPurpose::Hint),
        }
    }

    fn ask_hint(&mut self, purpose: HintPurpose) {
        // Who is being asked need not be asked again.
        if self.hint_thread.as_ref().is_some_and(|(asked, _)| *asked == purpose) {
            return;
        }
        match self.computers.ask_hint(&self.game) {
            Ok(thinking) => {
                self.hint_thread = Some((purpose, thinking));
                self.message = match purpose {
                    HintPurpose::Hint => "Looking for a good move …".into(),
                    HintPurpose::Draw => "The offer is being considered …".into(),
                };
            }
            Err(error) => self.message = error.to_string(),
        }
    }

    fn offer_draw(&mut self) {
        let side = self.game.session().side();
        let is_computer = matches!(self.game.seat(side.other()), Seat::Computer(_));
        if is_computer && !self.computers.considers_offers(&self.game) {
            return self.show_declined();
        }
        match self.game.act(side, &Action::Offer(OfferKind::Draw)) {
            Err(refusal) => self.message = to_sentence(&refusal.to_string()),
            Ok(()) if self.game.is_over() => self.on_change(),
            Ok(()) if is_computer => self.ask_hint(HintPurpose::Draw),
            Ok(()) => self.dialog = Some(Dialog::Draw),
        }
    }

    fn undo(&mut self) {
        if self.game.undo() {
            // Who thinks about a position that has gone away thinks in vain.
            self.player_thread = None;
            self.last_info = None;
            self.computers.on_undo();
            self.on_change();
        } else {
            self.message = match self.game.is_lost_on_time() {
                true => "A game lost on time stays lost.".into(),
                false => "There is no move of yours to take back.".into(),
            };
        }
    }

    /// The same once more.
    fn new_game(&mut self) {
        let mut setup = self.game.setup().clone();
        setup.seed = setup.seed.wrapping_add(1);
        if let Ok(live) = LocalGame::new(setup) {
            self.computers = Computers::new(&live);
            self.game = live;
            self.last_info = None;
            self.on_change();
        }
    }

    fn view_by(&mut self, plies: isize) {
        let now = self.shown_ply();
        self.view_ply(now.saturating_add_signed(plies));
    }

    /// Looks at an earlier position; the last one is the game itself.
    fn view_ply(&mut self, ply: usize) {
        let made = self.game.session().plies();
        self.input.deselect();
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
        let id = self.game.setup().game.info().id;
        let mut names = (1..1000).map(|number| format!("{id}-{number}.pdn"));
        names.find(|name| !Path::new(name).exists()).unwrap_or_else(|| format!("{id}.pdn"))
    }

    fn save(&mut self, name: &str) {
        let name = name.trim();
        self.message = if name.is_empty() {
            "The game was not saved: a file needs a name.".into()
        } else {
            match self.game.save(Path::new(name)) {
                Ok(()) => format!("The game is in {name}."),
                Err(error) => to_sentence(&error.to_string()),
            }
        };
    }
}
