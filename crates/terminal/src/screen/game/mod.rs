//! A game being played, full screen: its state, and how moves and time change it. Keys and mouse
//! are in `keys`, drawing is in `draw`; nothing here touches the terminal.

mod draw;
mod keys;

use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_play::{
    Action, Choice, FaultPolicy, OfferKind, Refusal, Session, counted, to_sentence,
};
use crownhead_records::GameRecord;
use crownhead_rules::Side;

use super::board::Highlights;
use super::board_input::BoardInput;
use super::new_game::NewGame;
use super::theme::Look;
use super::widgets::Popup;
use crate::analysis_thread::GameAnalysisThread;
use crate::autosave::Autosave;
use crate::computers::Computers;
use crate::local_game::{LocalGame, Seat, Setup};
use crate::player_thread::PlayerThread;
use crate::text::{hint_text, side_text};

/// A popup over the board.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Dialog {
    /// Text to read.
    Text(Popup),
    /// "Leave this game?"
    Quit,
    /// "Does Black resign?"
    Resign,
    /// "Do you accept a draw?"
    Draw,
    /// File to save the game to.
    Save {
        /// Name of the file.
        name: String,
        /// Whether the name is a proposal that typing replaces.
        proposed: bool,
    },
    /// Settings of the next game.
    NewGame(NewGame),
}

/// Purpose of a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HintPurpose {
    Hint,
    Draw,
}

/// A game being played.
pub struct GameScreen {
    game: LocalGame,
    message: String,
    input: BoardInput,
    /// Ply of the earlier position that is shown; `None` is the current position.
    viewed_ply: Option<usize>,
    /// Whether row 8 is at the top.
    flipped: bool,
    /// Whether to show square numbers.
    show_numbers: bool,
    dialog: Option<Dialog>,
    /// Whether the game of two computers is paused.
    paused: bool,
    /// Time between two moves of two computers.
    move_interval: Duration,
    /// When the game last changed.
    last_change: Instant,
    look: Look,
    quit: bool,
    computers: Computers,
    player_thread: Option<PlayerThread>,
    hint_thread: Option<(HintPurpose, PlayerThread)>,
    autosave: Option<Autosave>,
    /// Side and search information of the last computer that moved.
    last_info: Option<(Side, Choice)>,
    /// Analysis of the finished game, in progress.
    game_analysis: Option<GameAnalysisThread>,
    /// The annotated game, for the viewer.
    analysed: Option<GameRecord>,
}

/// Default time between two moves of two computers.
const DEFAULT_MOVE_INTERVAL: Duration = Duration::from_millis(800);

impl GameScreen {
    /// Shows a game.
    pub fn new(game: LocalGame, autosave: Option<Autosave>, look: Look) -> GameScreen {
        let computers = Computers::new(&game);
        let flipped = game.setup().is_flipped();
        let mut screen = GameScreen {
            message: String::new(),
            input: BoardInput::new(game.session()),
            viewed_ply: None,
            flipped,
            show_numbers: true,
            dialog: None,
            paused: false,
            move_interval: DEFAULT_MOVE_INTERVAL,
            last_change: Instant::now(),
            look,
            quit: false,
            computers,
            player_thread: None,
            hint_thread: None,
            autosave,
            last_info: None,
            game_analysis: None,
            analysed: None,
            game,
        };
        screen.message = screen.prompt();
        screen
    }

    /// Returns the game when the screen is closed.
    pub fn into_game(self) -> LocalGame {
        self.game
    }

    /// Returns what to do now, and why saving failed, if it did.
    fn prompt(&self) -> String {
        let mut text = self.turn_text();
        if let Some(error) = self.autosave_error() {
            text = format!("{text} {error}");
        }
        text
    }

    fn turn_text(&self) -> String {
        if let Some(end) = self.game.describe_end() {
            return format!("{end} n: new game, a: analyse this game, q: quit.");
        }
        let side = side_text(&self.game.setup().game, self.game.session().side());
        if !self.game.human_to_move() {
            let is_ready =
                self.player_thread.as_ref().is_some_and(|thread| thread.started.is_some());
            let state = match (&self.player_thread, self.paused) {
                (None, true) => "is to move.",
                _ if !is_ready && self.computers.is_starting(&self.game) => "is starting.",
                _ => "is thinking.",
            };
            return format!("{side} {state}");
        }
        if self.input.must_pass() {
            return format!("{side} cannot move. p: pass.");
        }
        let note = if self.input.must_capture() { " A capture is mandatory." } else { "" };
        format!("{side} to move.{note}")
    }

    /// Returns why no move can be played now, if so.
    fn blocked_reason(&self) -> Option<String> {
        if self.viewed_ply.is_some() {
            return Some("This is an earlier position. End: back to the game.".into());
        }
        (!self.game.human_to_move()).then(|| self.prompt())
    }

    /// The game up to the shown position.
    fn viewed_session(&self) -> Box<dyn Session> {
        match self.viewed_ply {
            Some(ply) => self.game.session_at(ply),
            None => self.game.session().clone_box(),
        }
    }

    /// Number of plies up to the shown position.
    fn viewed_plies(&self) -> usize {
        self.viewed_ply.unwrap_or_else(|| self.game.session().plies())
    }

    /// Highlights of the shown position.
    fn highlights(&self) -> Highlights {
        let mut highlights = Highlights { cursor: self.input.cursor, ..Highlights::default() };
        if let Some(last) = self.viewed_session().last_move() {
            (highlights.last_path, highlights.captured) = (last.path, last.captures);
        }
        if self.viewed_ply.is_none() && self.game.human_to_move() {
            self.input.highlight(&mut highlights);
        }
        highlights
    }

    /// Search information of the computer to move, or else of the last computer that moved.
    fn search_info(&self) -> Option<(Side, &Choice)> {
        let now = self.player_thread.as_ref().and_then(|thread| thread.latest.as_ref());
        match now {
            Some(choice) => Some((self.game.session().side(), choice)),
            None => self.last_info.as_ref().map(|(side, choice)| (*side, choice)),
        }
    }

    /// Whether a computer is thinking.
    fn is_thinking(&self) -> bool {
        self.player_thread.is_some()
    }

    /// Called once per frame: polls the computers and the clocks.
    fn advance(&mut self) {
        self.poll_game_analysis();
        self.poll_hint();
        // A message shown while a computer thinks would be replaced too soon.
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
        let is_watching = !self.game.has_human();
        if self.player_thread.is_none() {
            if is_watching && (self.paused || self.is_between_moves()) {
                return;
            }
            match self.computers.ask(&self.game) {
                Ok(thread) => self.player_thread = thread,
                Err(error) => self.fail(error.to_string()),
            }
            return;
        }
        // Also while paused: a computer that is thinking finishes its move, so that its clock stays
        // correct.
        let prompt = self.prompt();
        let Some(thread) = &mut self.player_thread else { return };
        let answer = thread.poll();
        if let Some(started) = thread.started {
            self.game.start_turn(started);
            if self.message == prompt {
                self.message = self.prompt();
            }
        }
        match answer {
            Ok(None) => {}
            Err(error) => self.fail(error.to_string()),
            Ok(Some(answer)) => {
                self.player_thread = None;
                let (choice, used) = self.computers.return_player(side, answer);
                if let Ok(choice) = &choice {
                    self.last_info = Some((side, choice.clone()));
                }
                match self.game.on_choice(choice, used) {
                    Ok(incident) => {
                        self.on_computer_move(side);
                        // A forfeit is reported with the end of the game.
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

    /// Updates the screen after a computer's move. An earlier position stays on the screen.
    fn on_computer_move(&mut self, side: Side) {
        let viewed_ply = self.viewed_ply;
        self.on_change();
        if let (Some(_), Some(text), false) =
            (viewed_ply, self.game.session().last_move_text(), self.game.is_over())
        {
            self.viewed_ply = viewed_ply;
            let side = side_text(&self.game.setup().game, side);
            self.message = format!("{side} played {text}. End: back to the game.");
        }
    }

    /// Whether the next move of two computers is not due yet.
    fn is_between_moves(&self) -> bool {
        self.game.session().plies() > 0 && self.last_change.elapsed() < self.move_interval
    }

    fn show_warning(&mut self) {
        if let Some(warning) = self.computers.take_warning() {
            self.message = format!("{} {}", self.message, to_sentence(&warning));
        }
    }

    /// Resigns for a computer that failed, so that the game ends.
    fn fail(&mut self, error: String) {
        self.player_thread = None;
        self.resign();
        self.message = error;
    }

    fn poll_hint(&mut self) {
        let Some((purpose, thread)) = &mut self.hint_thread else { return };
        let purpose = *purpose;
        let hint = match thread.poll() {
            Ok(None) => return,
            Err(error) => Err(error.to_string()),
            Ok(Some(answer)) => self.computers.take_hint(answer).map_err(|error| error.to_string()),
        };
        self.hint_thread = None;
        match (purpose, hint) {
            (HintPurpose::Hint, Ok(choice)) => {
                self.message = hint_text(self.game.session(), &choice);
            }
            (HintPurpose::Hint, Err(error)) => self.message = to_sentence(&error),
            (HintPurpose::Draw, hint) => {
                let accepts = self.game.accepts_draw(hint.ok().as_ref());
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
        let answer = Action::answer_offer(OfferKind::Draw, accepts);
        match self.game.act(other, &answer) {
            Ok(()) if self.game.is_over() => self.on_change(),
            Ok(()) => self.message = self.prompt(),
            Err(refusal) => self.message = to_sentence(&refusal.to_string()),
        }
    }

    fn show_declined(&mut self) {
        let other = self.game.session().side().other();
        self.message = format!("{} declines the draw.", side_text(&self.game.setup().game, other));
    }

    /// Updates the screen after a change of the game.
    fn on_change(&mut self) {
        self.input.reset(self.game.session());
        self.viewed_ply = None;
        self.hint_thread = None;
        self.last_change = Instant::now();
        // These questions make no sense after the end of the game.
        if self.game.is_over()
            && matches!(self.dialog, Some(Dialog::Quit | Dialog::Resign | Dialog::Draw))
        {
            self.dialog = None;
        }
        self.save_progress();
        self.computers.on_game_over(&self.game);
        self.message = self.prompt();
    }

    /// Saves the game.
    fn save_progress(&mut self) {
        if let Some(autosave) = &mut self.autosave {
            autosave.save(&self.game);
        }
    }

    fn autosave_error(&self) -> Option<&str> {
        self.autosave.as_ref().and_then(Autosave::error)
    }

    /// Message for a user who leaves the game, if it was saved or could not be.
    pub fn autosave_text(&self) -> Option<&str> {
        self.autosave.as_ref().and_then(Autosave::quit_message)
    }

    fn play(&mut self, text: &str) {
        if let Some(reason) = self.blocked_reason() {
            self.message = reason;
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
        // Stops the threads.
        self.player_thread = None;
        self.hint_thread = None;
        self.quit = true;
    }

    fn hint(&mut self) {
        match self.blocked_reason() {
            Some(reason) => self.message = reason,
            None => self.ask_hint(HintPurpose::Hint),
        }
    }

    fn ask_hint(&mut self, purpose: HintPurpose) {
        // The same question is already being answered.
        if self.hint_thread.as_ref().is_some_and(|(asked, _)| *asked == purpose) {
            return;
        }
        match self.computers.ask_hint(&self.game) {
            Ok(thread) => {
                self.hint_thread = Some((purpose, thread));
                self.message = match purpose {
                    HintPurpose::Hint => "Searching for a hint…".into(),
                    HintPurpose::Draw => "The computer considers the offer…".into(),
                };
            }
            Err(error) => self.message = error.to_string(),
        }
    }

    fn offer_draw(&mut self) {
        let side = self.game.session().side();
        let is_computer = matches!(self.game.seat(side.other()), Seat::Computer(_));
        if is_computer && !self.game.considers_draw() {
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
            // The position being searched is gone.
            self.player_thread = None;
            self.last_info = None;
            self.computers.on_undo();
            self.on_change();
        } else {
            self.message = match self.game.is_lost_on_time() {
                true => "A game lost on time cannot be taken back.".into(),
                false => "Nothing to take back: you have not moved yet.".into(),
            };
        }
    }

    /// Asks for the settings of another game; those of this game are the proposal.
    fn ask_new_game(&mut self) {
        self.dialog = Some(Dialog::NewGame(NewGame::after(self.game.setup())));
    }

    /// Starts another game. An unfinished game stays saved.
    fn start_game(&mut self, setup: Setup) {
        match LocalGame::new(setup) {
            Ok(game) => {
                (self.player_thread, self.game_analysis) = (None, None);
                self.save_progress();
                if self.autosave.is_some() {
                    self.autosave = Autosave::new();
                }
                self.computers = Computers::new(&game);
                self.flipped = game.setup().is_flipped();
                self.game = game;
                (self.last_info, self.paused) = (None, false);
                self.on_change();
            }
            Err(error) => self.message = to_sentence(&error.to_string()),
        }
    }

    /// Analyses the finished game.
    fn analyse_game(&mut self) {
        if self.game.session().plies() == 0 {
            self.message = "The game has no moves to analyse.".into();
        } else if self.game_analysis.is_none() {
            match GameAnalysisThread::new(self.game.record()) {
                Ok(thread) => self.game_analysis = Some(thread),
                Err(error) => self.message = to_sentence(&error.to_string()),
            }
        }
    }

    fn poll_game_analysis(&mut self) {
        let Some(thread) = &mut self.game_analysis else { return };
        let result = thread.poll();
        let (done, total) = thread.positions;
        match result {
            None => {
                self.message = format!("Analysing: {done} of {total} positions. Esc: stop.");
            }
            Some(Ok(record)) => {
                (self.game_analysis, self.analysed) = (None, Some(record));
                self.message = self.prompt();
            }
            Some(Err(error)) => {
                self.game_analysis = None;
                self.message = to_sentence(&error);
            }
        }
    }

    /// Takes the annotated game that the viewer is to show. The game screen can run again later.
    pub fn take_analysed(&mut self) -> Option<GameRecord> {
        self.analysed.take()
    }

    /// Whether row 8 is at the top.
    pub fn is_flipped(&self) -> bool {
        self.flipped
    }

    /// Theme and colours, which the user may have changed.
    pub fn look(&self) -> Look {
        self.look
    }

    fn view_by(&mut self, plies: isize) {
        let now = self.viewed_plies();
        self.view_ply(now.saturating_add_signed(plies));
    }

    /// Shows the position after `ply` plies; the last one is the current position.
    fn view_ply(&mut self, ply: usize) {
        let plies = self.game.session().plies();
        self.input.deselect();
        self.viewed_ply = (ply < plies).then_some(ply);
        self.message = match self.viewed_ply {
            Some(ply) => {
                let plies = counted(plies as u64, "ply");
                format!("Position after {ply} of {plies}. End: back to the game.")
            }
            None => self.prompt(),
        };
    }

    /// Proposes the name of a file that does not exist yet.
    fn file_name(&self) -> String {
        let id = self.game.setup().game.info().id;
        let mut names = (1..1000).map(|number| format!("{id}-{number}.pdn"));
        names.find(|name| !Path::new(name).exists()).unwrap_or_else(|| format!("{id}.pdn"))
    }

    fn save(&mut self, name: &str) {
        let name = name.trim();
        self.message = if name.is_empty() {
            "Not saved: no file name.".into()
        } else {
            match self.game.save(Path::new(name)) {
                Ok(()) => format!("Saved to {name}."),
                Err(error) => to_sentence(&error.to_string()),
            }
        };
    }
}
