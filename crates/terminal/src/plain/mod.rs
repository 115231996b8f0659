//! Play in plain text, as in the original assignment: a board, a prompt, one move per line.
//!
//! Everything goes to one output, so that a program can play over pipes.

pub mod input;
pub mod lessons;

use std::io::{self, BufRead, Write};
use std::path::Path;

use crownhead_play::{
    Action, Choice, FaultPolicy, OfferKind, Refusal, StopFlag, board_text, to_sentence,
};
use crownhead_rules::{Game, MoveErrorKind, Side, did_you_mean, replace_invisible};

use crate::autosave::Autosave;
use crate::computers::Computers;
use crate::local_game::{LocalGame, Seat};
use crate::plain::input::{InputLine, InputLines};
use crate::text::{assignment_result, clock_text, hint_text, move_text, side_text, square_numbers};

const HELP: &str = "\
Type a move in any unambiguous form, or one of these commands:
  moves      list the legal moves
  hint       show the best move and why
  undo       take back your last move
  draw       offer a draw
  resign     resign the game
  pass       pass, if you have no legal move
  save FILE  save the game to a new PDN file
";
/// Suggested for a mistyped line.
const COMMANDS: [&str; 8] = ["help", "moves", "hint", "undo", "draw", "resign", "save", "quit"];
const QUIT_SAVED: &str = "  quit       save and leave; resume with `crownhead play --resume`\n";
const QUIT_NOT_SAVED: &str = "  quit       leave without saving\n";

/// A game in plain text.
pub struct PlainGame<'a, W> {
    game: &'a mut LocalGame,
    autosave: Option<&'a mut Autosave>,
    computers: Computers,
    lines: InputLines,
    output: W,
    /// Set by signals.
    stop: &'a StopFlag,
}

impl<'a, W: Write> PlainGame<'a, W> {
    /// Prepares a game.
    pub fn new(
        game: &'a mut LocalGame,
        autosave: Option<&'a mut Autosave>,
        input: impl BufRead + Send + 'static,
        output: W,
        stop: &'a StopFlag,
    ) -> io::Result<Self> {
        let (computers, lines) = (Computers::new(game), InputLines::new(input)?);
        Ok(PlainGame { game, autosave, computers, lines, output, stop })
    }

    /// Plays until the game is over or the player leaves.
    pub fn run(mut self) -> io::Result<()> {
        let result = self.game_loop();
        // Saves the clocks, even if the output is gone.
        if let Some(autosave) = &mut self.autosave {
            autosave.save(self.game);
        }
        result?;
        if let Some(message) = self.autosave.as_ref().and_then(|autosave| autosave.quit_message()) {
            writeln!(self.output, "{message}")?;
        }
        self.output.flush()
    }

    fn game_loop(&mut self) -> io::Result<()> {
        let game = self.game.setup().game.clone();
        let [first, second] = &self.game.setup().seats;
        let sides = game.info().sides;
        let help = if self.game.has_human() { " Type help for help." } else { "" };
        writeln!(
            self.output,
            "{}: {} {first}, {} {second}.{help}",
            game.info().name,
            sides[0].name,
            sides[1].name
        )?;
        loop {
            write!(self.output, "\n{}", board_text(&self.game.session().board()))?;
            if let Some(end) = self.game.describe_end() {
                self.computers.on_game_over(self.game);
                writeln!(self.output, "{end}")?;
                // After a resignation or timeout, the announcement of the assignment follows the
                // reason.
                if let Some(result) = assignment_result(&game, self.game.result())
                    && result != end
                {
                    writeln!(self.output, "{result}")?;
                }
                return Ok(());
            }
            self.output.flush()?;
            if self.stop.is_set() {
                return Ok(());
            }
            let moved =
                if self.game.human_to_move() { self.human_turn()? } else { self.computer_turn()? };
            if !moved {
                return Ok(());
            }
            self.autosave()?;
        }
    }

    /// Saves the game, and reports the first of several errors.
    fn autosave(&mut self) -> io::Result<()> {
        let Some(autosave) = &mut self.autosave else { return Ok(()) };
        let failed_before = autosave.error().is_some();
        autosave.save(self.game);
        match autosave.error() {
            Some(error) if !failed_before => writeln!(self.output, "{error}"),
            _ => Ok(()),
        }
    }

    /// Plays the computer's turn. Returns false to quit.
    fn computer_turn(&mut self) -> io::Result<bool> {
        let side = self.game.session().side();
        let Some(mut thread) = self.computers.ask(self.game)? else { return Ok(true) };
        let answer = thread.wait(self.stop).map_err(io::Error::other)?;
        if let Some(started) = thread.started {
            self.game.start_turn(started);
        }
        self.print_warning()?;
        let Some(answer) = answer else { return Ok(false) };
        let (choice, used) = self.computers.return_player(side, answer);
        let (legal, plies) = (self.game.session().legal_moves(), self.game.session().plies());
        let incident = self.game.on_choice(choice, used).map_err(io::Error::other)?;
        match incident {
            // A forfeit is reported with the end of the game.
            Some(incident) if incident.policy != FaultPolicy::Forfeit => {
                writeln!(self.output, "{}", self.game.incident_text(&incident))?;
            }
            _ => {}
        }
        if self.game.session().plies() > plies {
            let played = self.game.session().last_move_text().unwrap_or_default();
            let text = legal.iter().find(|mv| mv.text == played).map_or(played, move_text);
            writeln!(self.output, "{} plays {text}", side_text(&self.game.setup().game, side))?;
        }
        Ok(true)
    }

    fn print_warning(&mut self) -> io::Result<()> {
        match self.computers.take_warning() {
            Some(warning) => writeln!(self.output, "{}", to_sentence(&warning)),
            None => Ok(()),
        }
    }

    /// Reads a line, unless the player's time runs out or the stop flag is set.
    fn read_line(&mut self) -> io::Result<InputLine> {
        self.output.flush()?;
        let (live, stop) = (&mut *self.game, self.stop);
        self.lines.next(|| stop.is_set() || live.check_flag())
    }

    /// Plays a person's turn: reads lines until one changes the game. Returns false to quit.
    fn human_turn(&mut self) -> io::Result<bool> {
        let game = self.game.setup().game.clone();
        let side = self.game.session().side();
        let mut prompted = false;
        loop {
            if !prompted {
                self.print_clocks()?;
                let must_pass =
                    self.game.session().legal_moves().iter().any(|mv| mv.path.is_empty());
                let prompt = if must_pass { "cannot move, type pass" } else { "to move" };
                write!(self.output, "{} {prompt}: ", side_text(&game, side))?;
            }
            prompted = false;
            let text = match self.read_line()? {
                InputLine::End | InputLine::Interrupted => {
                    writeln!(self.output)?;
                    return Ok(self.game.is_over());
                }
                InputLine::Text(text) => text,
                InputLine::Invalid(reason) => {
                    prompted = self.reject(MoveErrorKind::Format, reason)?;
                    continue;
                }
            };
            // The time may have run out while the line was typed.
            if self.game.check_flag() {
                return Ok(true);
            }
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            match word.to_ascii_lowercase().as_str() {
                // The assignments have a prompt for an empty line.
                "" if game.info().assignment_texts.is_none() => {}
                "" => {
                    prompted =
                        self.reject(MoveErrorKind::Format, "invalid move: the line is empty")?
                }
                "help" => {
                    let squares = square_numbers(&game).unwrap_or_default();
                    let quit = if self.autosave.is_some() { QUIT_SAVED } else { QUIT_NOT_SAVED };
                    write!(self.output, "{HELP}{quit}{squares}")?;
                }
                "moves" => {
                    for mv in self.game.session().legal_moves() {
                        writeln!(self.output, "{}", move_text(&mv))?;
                    }
                }
                "undo" => {
                    if self.game.undo() {
                        self.computers.on_undo();
                        return Ok(true);
                    }
                    writeln!(self.output, "Nothing to take back: you have not moved yet.")?;
                }
                "hint" => self.hint()?,
                "resign" => {
                    let resigned = self.game.act(side, &Action::Resign);
                    return resigned.map(|()| true).map_err(io::Error::other);
                }
                "draw" => match self.offer_draw()? {
                    None => return Ok(self.game.is_over()),
                    Some(true) => return Ok(true),
                    Some(false) => {}
                },
                "save" => self.save(rest.trim())?,
                "quit" | "exit" | "q" => return Ok(false),
                word => match self.game.act(side, &Action::Move(text.clone())) {
                    Ok(()) => return Ok(true),
                    Err(Refusal::Illegal(error)) => {
                        let command = match error.kind {
                            MoveErrorKind::Format => did_you_mean(word, COMMANDS),
                            _ => String::new(),
                        };
                        let reason = format!("{}{command}", error.reason);
                        prompted = self.reject(error.kind, &reason)?;
                    }
                    Err(refusal) => writeln!(self.output, "{refusal}")?,
                },
            }
        }
    }

    /// Explains why a line is not a legal move. Returns true if the message was a prompt, as in the
    /// assignments.
    fn reject(&mut self, kind: MoveErrorKind, reason: &str) -> io::Result<bool> {
        // The reason comes first, so that the prompt is the last line.
        writeln!(self.output, "{reason}")?;
        let message = assignment_message(&self.game.setup().game, kind);
        if let Some(message) = message {
            write!(self.output, "{message} ")?;
        }
        Ok(message.is_some())
    }

    fn print_clocks(&mut self) -> io::Result<()> {
        let sides = [Side::First, Side::Second].into_iter();
        let clocks = sides.filter_map(|side| {
            let time_left = self.game.time_left(side)?;
            Some(format!("{} {}", self.game.name(side), clock_text(time_left)))
        });
        let clocks: Vec<_> = clocks.collect();
        if clocks.is_empty() {
            Ok(())
        } else {
            writeln!(self.output, "Time left: {}", clocks.join(", "))
        }
    }

    fn hint(&mut self) -> io::Result<()> {
        match self.ask_hint()? {
            Some(choice) => writeln!(self.output, "{}", hint_text(self.game.session(), &choice)),
            None => writeln!(self.output, "No hint available."),
        }
    }

    /// Returns the best move for the side to move.
    fn ask_hint(&mut self) -> io::Result<Option<Choice>> {
        let mut thread = self.computers.ask_hint(self.game)?;
        let answer = thread.wait(self.stop).map_err(io::Error::other)?;
        self.print_warning()?;
        Ok(answer.and_then(|answer| self.computers.take_hint(answer).ok()))
    }

    /// Offers a draw and returns whether the game is over; `None` if the input ended instead of an
    /// answer.
    fn offer_draw(&mut self) -> io::Result<Option<bool>> {
        let side = self.game.session().side();
        let is_computer = matches!(self.game.seat(side.other()), Seat::Computer(_));
        let other = side_text(&self.game.setup().game, side.other());
        if is_computer && !self.game.considers_draw() {
            writeln!(self.output, "{other} declines the draw.")?;
            return Ok(Some(false));
        }
        let offer = self.game.act(side, &Action::Offer(OfferKind::Draw));
        offer.map_err(io::Error::other)?;
        let accepts = if is_computer { self.computer_accepts()? } else { self.human_accepts()? };
        let Some(accepts) = accepts else { return Ok(None) };
        if is_computer {
            let answer = if accepts { "accepts the draw" } else { "declines the draw" };
            writeln!(self.output, "{other} {answer}.")?;
        }
        let answer = Action::answer_offer(OfferKind::Draw, accepts);
        self.game.act(side.other(), &answer).map_err(io::Error::other)?;
        Ok(Some(self.game.is_over()))
    }

    /// Returns the computer's answer to a draw offer; `None` if the stop flag is set.
    fn computer_accepts(&mut self) -> io::Result<Option<bool>> {
        let hint = self.ask_hint()?;
        let accepts = self.game.accepts_draw(hint.as_ref());
        Ok((!self.stop.is_set()).then_some(accepts))
    }

    /// Returns the other person's answer to a draw offer; `None` if the input ended.
    fn human_accepts(&mut self) -> io::Result<Option<bool>> {
        let (game, side) = (&self.game.setup().game, self.game.session().side());
        let [by, to] = [side, side.other()].map(|side| side_text(game, side));
        let question = format!("{by} offers a draw. {to}, do you accept (yes or no)? ");
        loop {
            write!(self.output, "{question}")?;
            match self.read_line()? {
                InputLine::End | InputLine::Interrupted => return Ok(None),
                InputLine::Invalid(_) => {}
                InputLine::Text(text) => match text.to_ascii_lowercase().as_str() {
                    "y" | "yes" => return Ok(Some(true)),
                    "n" | "no" => return Ok(Some(false)),
                    _ => {}
                },
            }
        }
    }

    fn save(&mut self, name: &str) -> io::Result<()> {
        if name.is_empty() {
            return writeln!(self.output, "No file name. Type, for example: save game.pdn");
        }
        match self.game.save(Path::new(name)) {
            Ok(()) => writeln!(self.output, "Saved to {}.", replace_invisible(name)),
            Err(error) => {
                writeln!(self.output, "{}", replace_invisible(&to_sentence(&error.to_string())))
            }
        }
    }
}

/// Returns the prompt that an assignment prescribes after an invalid move.
fn assignment_message(game: &Game, kind: MoveErrorKind) -> Option<&'static str> {
    game.info().assignment_texts.map(|texts| texts.prompt(kind))
}
