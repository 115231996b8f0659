//! Playing by lines of text, as the original assignment does: a board, a prompt, a move a line.
//!
//! Everything of the dialogue goes to one output, so that a game can be driven and read by a pipe
//! from start to end.

pub mod input;
pub mod lessons;

use std::io::{self, BufRead, Write};
use std::path::Path;

use crownhead_play::{Action, Choice, FaultPolicy, OfferKind, Refusal, StopFlag, to_sentence};
use crownhead_rules::{Game, MoveErrorKind, Side};

use crate::autosave::Autosave;
use crate::computers::Computers;
use crate::game_file::strip_control_chars;
use crate::local_game::{LocalGame, Seat};
use crate::plain::input::{InputLine, InputLines};
use crate::text::{
    assignment_result, board_text, clock_text, hint_text, move_text, side_text, square_numbers,
};

const HELP: &str = "\
A move is typed as the list of moves shows it (`moves`); any form that fits one move alone will do.
  moves      the legal moves
  hint       what the computer would play, and why
  undo       take back to your last move
  draw       offer a draw
  resign     give up
  pass       where you have no move
  save FILE  write the game to a new file (PDN)
";
const QUIT_SAVED: &str =
    "  quit       leave; the game is kept, `crownhead play --resume` takes it up again\n";
const QUIT_NOT_SAVED: &str = "  quit       leave; the game is not kept\n";

/// A game played by lines of text.
pub struct PlainGame<'a, W> {
    game: &'a mut LocalGame,
    autosave: Option<&'a mut Autosave>,
    computers: Computers,
    lines: InputLines,
    output: W,
    /// Raised when the program is told to end.
    stop: &'a StopFlag,
}

impl<'a, W: Write> PlainGame<'a, W> {
    /// A dialogue about a game.
    pub fn new(
        live: &'a mut LocalGame,
        kept: Option<&'a mut Autosave>,
        input: impl BufRead + Send + 'static,
        output: W,
        stop: &'a StopFlag,
    ) -> io::Result<Self> {
        let computers = Computers::new(live);
        Ok(PlainGame {
            game: live,
            autosave: kept,
            computers,
            lines: InputLines::new(input)?,
            output,
            stop,
        })
    }

    /// Plays until the game is over or the player leaves.
    pub fn run(mut self) -> io::Result<()> {
        let result = self.game_loop();
        // Once more, for the time that was used since the last move; whatever has become of the output.
        if let Some(kept) = &mut self.autosave {
            kept.save(self.game);
        }
        result?;
        let kept = self.autosave.as_ref();
        if let Some(trouble) = kept.and_then(|kept| kept.error()) {
            writeln!(self.output, "{trouble}")?;
        } else if kept.is_some_and(|kept| kept.is_saved()) {
            writeln!(self.output, "The game is kept: crownhead play --resume takes it up again.")?;
        }
        self.output.flush()
    }

    fn game_loop(&mut self) -> io::Result<()> {
        let game = self.game.setup().game.clone();
        let [first, second] = &self.game.setup().seats;
        let sides = game.info().sides;
        writeln!(
            self.output,
            "{}: {} {first}, {} {second}. Type help for help.",
            game.info().name,
            sides[0].name,
            sides[1].name
        )?;
        loop {
            write!(self.output, "\n{}", board_text(&self.game.session().board()))?;
            if let Some(ending) = self.game.describe_end() {
                self.computers.on_game_over(self.game);
                writeln!(self.output, "{ending}")?;
                // An end that is not on the board has its reason first, then the same words.
                if let Some(result) = assignment_result(&game, self.game.result())
                    && result != ending
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

    /// Keeps the game; that this is impossible is said when it turns out.
    fn autosave(&mut self) -> io::Result<()> {
        let Some(kept) = &mut self.autosave else { return Ok(()) };
        let before = kept.error().map(String::from);
        kept.save(self.game);
        match kept.error() {
            Some(trouble) if before.is_none() => writeln!(self.output, "{trouble}"),
            _ => Ok(()),
        }
    }

    /// The computer's turn; false to leave.
    fn computer_turn(&mut self) -> io::Result<bool> {
        let side = self.game.session().side();
        let Some(mut thinking) = self.computers.ask(self.game)? else { return Ok(true) };
        let chosen = thinking.wait(self.stop).map_err(io::Error::other)?;
        if let Some(since) = thinking.started {
            self.game.start_turn(since);
        }
        self.print_warning()?;
        let Some(chosen) = chosen else { return Ok(false) };
        let (choice, used) = self.computers.return_player(side, chosen);
        let (legal, plies) = (self.game.session().legal_moves(), self.game.session().plies());
        let incident = self.game.on_choice(choice, used).map_err(io::Error::other)?;
        match incident {
            // One that lost the game is told with its end.
            Some(incident) if incident.policy != FaultPolicy::Forfeit => {
                writeln!(self.output, "{}", self.game.incident_text(&incident))?;
            }
            _ => {}
        }
        if self.game.session().plies() > plies {
            let made = self.game.session().last_move_text().unwrap_or_default();
            let text = legal.iter().find(|mv| mv.text == made).map_or(made, move_text);
            writeln!(self.output, "{} plays {text}", side_text(&self.game.setup().game, side))?;
        }
        Ok(true)
    }

    fn print_warning(&mut self) -> io::Result<()> {
        match self.computers.take_warning() {
            Some(sentence) => writeln!(self.output, "{sentence}"),
            None => Ok(()),
        }
    }

    /// The next line; a person whose time is up and a request to end are not waited for.
    fn read_line(&mut self) -> io::Result<InputLine> {
        self.output.flush()?;
        let (live, stop) = (&mut *self.game, self.stop);
        self.lines.next(|| stop.is_set() || live.check_flag())
    }

    /// A person's turn: reads lines until one changes the game; false to leave.
    fn human_turn(&mut self) -> io::Result<bool> {
        let game = self.game.setup().game.clone();
        let side = self.game.session().side();
        let mut asked = false;
        loop {
            if !asked {
                self.print_clocks()?;
                let passes = self.game.session().legal_moves().iter().any(|mv| mv.path.is_empty());
                let how = if passes { "cannot move, type pass" } else { "to move" };
                write!(self.output, "{} {how}: ", side_text(&game, side))?;
            }
            asked = false;
            let text = match self.read_line()? {
                InputLine::End | InputLine::Interrupted => {
                    writeln!(self.output)?;
                    return Ok(self.game.is_over());
                }
                InputLine::Text(text) => text,
                InputLine::Invalid(why) => {
                    asked = self.reject(MoveErrorKind::Format, why)?;
                    continue;
                }
            };
            // Whatever was typed, it came too late.
            if self.game.check_flag() {
                return Ok(true);
            }
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            match word.to_ascii_lowercase().as_str() {
                // The assignment has a word for this too.
                "" if game.info().assignment_texts.is_none() => {}
                "" => asked = self.reject(MoveErrorKind::Format, "an empty line is no move")?,
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
                    writeln!(self.output, "There is no move of yours to take back.")?;
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
                "quit" | "exit" => return Ok(false),
                _ => match self.game.act(side, &Action::Move(text)) {
                    Ok(()) => return Ok(true),
                    Err(Refusal::Illegal(error)) => {
                        asked = self.reject(error.kind, &error.reason)?;
                    }
                    Err(refusal) => writeln!(self.output, "{refusal}")?,
                },
            }
        }
    }

    /// Says why a line is no move; true if that was a prompt itself, as the assignment's messages are.
    fn reject(&mut self, kind: MoveErrorKind, reason: &str) -> io::Result<bool> {
        let message = assignment_message(&self.game.setup().game, kind);
        if let Some(message) = message {
            writeln!(self.output, "{message}")?;
        }
        writeln!(self.output, "{reason}")?;
        Ok(message.is_some())
    }

    fn print_clocks(&mut self) -> io::Result<()> {
        let sides = [Side::First, Side::Second].into_iter();
        let left = sides.filter_map(|side| {
            let left = self.game.time_left(side)?;
            Some(format!("{} {}", self.game.name(side), clock_text(left)))
        });
        let clocks: Vec<_> = left.collect();
        if clocks.is_empty() {
            Ok(())
        } else {
            writeln!(self.output, "Time left: {}", clocks.join(", "))
        }
    }

    fn hint(&mut self) -> io::Result<()> {
        match self.ask_hint()? {
            Some(choice) => writeln!(self.output, "{}", hint_text(self.game.session(), &choice)),
            None => writeln!(self.output, "There is nothing to advise."),
        }
    }

    /// What the best player would do now.
    fn ask_hint(&mut self) -> io::Result<Option<Choice>> {
        let mut thinking = self.computers.ask_hint(self.game)?;
        let chosen = thinking.wait(self.stop).map_err(io::Error::other)?;
        self.print_warning()?;
        Ok(chosen.and_then(|chosen| self.computers.take_hint(chosen).ok()))
    }

    /// Offers a draw and returns whether the game is over; `None` if the input ended instead of an
    /// answer.
    fn offer_draw(&mut self) -> io::Result<Option<bool>> {
        let side = self.game.session().side();
        let is_computer = matches!(self.game.seat(side.other()), Seat::Computer(_));
        let other = side_text(&self.game.setup().game, side.other());
        if is_computer && !self.computers.considers_offers(self.game) {
            writeln!(self.output, "{other} plays on.")?;
            return Ok(Some(false));
        }
        let offer = self.game.act(side, &Action::Offer(OfferKind::Draw));
        offer.map_err(io::Error::other)?;
        let accepts = if is_computer { self.computer_accepts()? } else { self.person_accepts()? };
        let Some(accepts) = accepts else { return Ok(None) };
        if is_computer {
            let answer = if accepts { "accepts the draw" } else { "plays on" };
            writeln!(self.output, "{other} {answer}.")?;
        }
        let answer = match accepts {
            true => Action::Accept(OfferKind::Draw),
            false => Action::Decline(OfferKind::Draw),
        };
        self.game.act(side.other(), &answer).map_err(io::Error::other)?;
        Ok(Some(self.game.is_over()))
    }

    /// The computer's answer to a draw offer; `None` if the program was told to end.
    fn computer_accepts(&mut self) -> io::Result<Option<bool>> {
        let advice = self.ask_hint()?;
        let accepts = self.computers.accepts_draw(self.game, advice.as_ref());
        Ok((!self.stop.is_set()).then_some(accepts))
    }

    /// The other person's answer to a draw offer; `None` if the input ended.
    fn person_accepts(&mut self) -> io::Result<Option<bool>> {
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
            return writeln!(
                self.output,
                "Save where? Type save and the name of a file, as in save game.pdn"
            );
        }
        match self.game.save(Path::new(name)) {
            Ok(()) => writeln!(self.output, "The game is in {}.", strip_control_chars(name)),
            Err(error) => {
                writeln!(self.output, "{}", strip_control_chars(&to_sentence(&error.to_string())))
            }
        }
    }
}

/// The prompt that an assignment prescribes after an invalid move.
fn assignment_message(game: &Game, kind: MoveErrorKind) -> Option<&'static str> {
    game.info().assignment_texts.map(|texts| texts.prompt(kind))
}
