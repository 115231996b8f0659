//! Playing by lines of text, as the original assignment does: a board, a prompt, a move a line.
//!
//! Everything of the dialogue goes to one output, so that a game can be driven and read by a pipe
//! from start to end.

use std::io::{self, BufRead, Write};
use std::path::Path;

use crownhead_play::{Choice, PlayError, Stop};
use crownhead_records::{game_text, write_text};
use crownhead_rules::{Game, MoveErrorKind};

use crate::computers::Computers;
use crate::kept::Kept;
use crate::lines::{Line, Lines};
use crate::live::{LiveGame, Seat, Verdict};
use crate::words::{
    accepts_draw, assignment_result, board_text, hint_text, move_text, side_text, squares_text,
};

const HELP: &str = "\
A move is typed as the list of moves shows it (`moves`); any form that fits one move alone will do.
  moves      the legal moves
  hint       what the computer would play, and why
  undo       take back to your last move
  draw       offer a draw
  resign     give up
  save FILE  write the game to a file (PDN)
  quit       leave; the game is kept, `crownhead play --resume` takes it up again
";

/// How a dialogue ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The game is over.
    Over,
    /// The player left, or the input ended.
    Quit,
}

/// A game played by lines of text.
pub struct Plain<'a, W> {
    live: &'a mut LiveGame,
    kept: Option<&'a mut Kept>,
    computers: Computers,
    lines: Lines,
    output: W,
    /// Raised when the program is told to end.
    stop: &'a Stop,
}

impl<'a, W: Write> Plain<'a, W> {
    /// A dialogue about a game.
    pub fn new(
        live: &'a mut LiveGame,
        kept: Option<&'a mut Kept>,
        input: impl BufRead + Send + 'static,
        output: W,
        stop: &'a Stop,
    ) -> io::Result<Self> {
        let computers = Computers::new(live);
        Ok(Plain { live, kept, computers, lines: Lines::new(input)?, output, stop })
    }

    /// Plays until the game is over or the player leaves.
    pub fn run(mut self) -> io::Result<Left> {
        let game = self.live.setup().game.clone();
        let [first, second] = &self.live.setup().seats;
        let sides = game.info().sides;
        writeln!(
            self.output,
            "{}: {} {first}, {} {second}. Type help for help.",
            game.info().name,
            sides[0].name,
            sides[1].name
        )?;
        let left = loop {
            write!(self.output, "\n{}", board_text(&self.live.session().board()))?;
            if let Some(ending) = self.live.ending() {
                writeln!(self.output, "{ending}")?;
                // An end that is not on the board has its reason first, then the same words.
                if let Some(result) = assignment_result(&game, self.live.result())
                    && result != ending
                {
                    writeln!(self.output, "{result}")?;
                }
                break Left::Over;
            }
            self.output.flush()?;
            if self.stop.is_stopped() {
                break Left::Quit;
            }
            let moved = if self.live.human_to_move() { self.person()? } else { self.computer()? };
            if !moved {
                break Left::Quit;
            }
            self.keep()?;
        };
        if left == Left::Quit {
            // Once more, for the time that was used since the last move.
            self.keep()?;
        }
        if left == Left::Quit && self.kept.as_ref().is_some_and(|kept| kept.is_kept()) {
            writeln!(self.output, "The game is kept: crownhead play --resume takes it up again.")?;
        }
        self.output.flush()?;
        Ok(left)
    }

    fn keep(&mut self) -> io::Result<()> {
        if let Some(kept) = &mut self.kept
            && let Err(error) = kept.update(self.live)
        {
            writeln!(self.output, "The game cannot be kept: {error}.")?;
            self.kept = None;
        }
        Ok(())
    }

    /// The computer's turn; false to leave.
    fn computer(&mut self) -> io::Result<bool> {
        let side = self.live.session().side();
        let Some(thinking) = self.computers.ask(self.live)? else { return Ok(true) };
        let chosen = thinking.wait(self.stop).map_err(io::Error::other)?;
        self.say_missing()?;
        let Some(chosen) = chosen else { return Ok(false) };
        let (choice, used) = self.computers.back(side, chosen);
        let choice = choice.map_err(|error| io::Error::other(error.to_string()))?;
        let legal = self.live.session().legal_moves();
        let text = legal.iter().find(|mv| mv.text == choice.text);
        let text = text.map_or_else(|| choice.text.clone(), move_text);
        self.live.play(&choice.text, used).map_err(|error| io::Error::other(error.to_string()))?;
        writeln!(self.output, "{} plays {text}", side_text(&self.live.setup().game, side))?;
        Ok(true)
    }

    fn say_missing(&mut self) -> io::Result<()> {
        match self.computers.missing() {
            Some(sentence) => writeln!(self.output, "{sentence}"),
            None => Ok(()),
        }
    }

    /// The next line; a person whose time is up and a request to end are not waited for.
    fn line(&mut self) -> io::Result<Line> {
        self.output.flush()?;
        let (live, stop) = (&mut *self.live, self.stop);
        self.lines.next(|| stop.is_stopped() || live.flag())
    }

    /// A person's turn: reads lines until one changes the game; false to leave.
    fn person(&mut self) -> io::Result<bool> {
        let game = self.live.setup().game.clone();
        let side = self.live.session().side();
        let mut asked = false;
        loop {
            if !asked {
                write!(self.output, "{} to move: ", side_text(&game, side))?;
            }
            asked = false;
            let text = match self.line()? {
                Line::End | Line::Interrupted => {
                    writeln!(self.output)?;
                    return Ok(self.live.is_over());
                }
                Line::Text(text) => text,
                // A move of that kind is refused with the words for it.
                Line::Nonsense => "?".into(),
            };
            // Whatever was typed, it came too late.
            if self.live.flag() {
                return Ok(true);
            }
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            match word.to_ascii_lowercase().as_str() {
                "" => {}
                "help" => {
                    let squares = squares_text(&game).unwrap_or_default();
                    write!(self.output, "{HELP}{squares}")?;
                }
                "moves" => {
                    for mv in self.live.session().legal_moves() {
                        writeln!(self.output, "{}", move_text(&mv))?;
                    }
                }
                "undo" => {
                    if self.live.undo() {
                        return Ok(true);
                    }
                    writeln!(self.output, "There is no move of yours to take back.")?;
                }
                "hint" => self.hint()?,
                "resign" => {
                    self.live.decide(Verdict::Resigned(side));
                    return Ok(true);
                }
                "draw" => match self.offer()? {
                    None => return Ok(self.live.is_over()),
                    Some(true) => {
                        self.live.decide(Verdict::Agreed);
                        return Ok(true);
                    }
                    Some(false) => {}
                },
                "save" => self.save(rest.trim())?,
                "quit" | "exit" => return Ok(false),
                _ => match self.live.play(&text, self.live.turn_time()) {
                    Ok(()) => return Ok(true),
                    Err(PlayError::Over(ending)) => writeln!(self.output, "{ending}")?,
                    Err(PlayError::Refused(error)) => {
                        // The five messages are prompts themselves.
                        if let Some(message) = assignment_message(&game, error.kind) {
                            writeln!(self.output, "{message}")?;
                            asked = true;
                        }
                        writeln!(self.output, "{}", error.reason)?;
                    }
                },
            }
        }
    }

    fn hint(&mut self) -> io::Result<()> {
        match self.advice()? {
            Some(choice) => writeln!(self.output, "{}", hint_text(self.live.session(), &choice)),
            None => writeln!(self.output, "There is nothing to advise."),
        }
    }

    /// What the best player would do now.
    fn advice(&mut self) -> io::Result<Option<Choice>> {
        let thinking = self.computers.advise(self.live)?;
        let chosen = thinking.wait(self.stop).map_err(io::Error::other)?;
        self.say_missing()?;
        Ok(chosen.and_then(|chosen| self.computers.advised(chosen).ok()))
    }

    /// Offers a draw to the other side; `None` if the input ended instead of an answer.
    fn offer(&mut self) -> io::Result<Option<bool>> {
        let game = &self.live.setup().game;
        let side = self.live.session().side();
        let other = side_text(game, side.other());
        if let Seat::Computer(_) = self.live.seat(side.other()) {
            let score = self.advice()?.and_then(|choice| choice.score).unwrap_or(0);
            let accepts = accepts_draw(-score);
            let answer = if accepts { "accepts the draw" } else { "plays on" };
            writeln!(self.output, "{other} {answer}.")?;
            return Ok(Some(accepts));
        }
        let offer = format!(
            "{} offers a draw. {other}, do you accept (yes or no)? ",
            side_text(game, side)
        );
        loop {
            write!(self.output, "{offer}")?;
            match self.line()? {
                Line::End | Line::Interrupted => return Ok(None),
                Line::Nonsense => {}
                Line::Text(text) => match text.to_ascii_lowercase().as_str() {
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
        let written = game_text(&self.live.record())
            .map_err(io::Error::other)
            .and_then(|text| write_text(Path::new(name), &text));
        match written {
            Ok(()) => writeln!(self.output, "The game is in {name}."),
            Err(error) => writeln!(self.output, "{error}."),
        }
    }
}

/// The words of the assignment of Chinese checkers for a refused move.
fn assignment_message(game: &Game, kind: MoveErrorKind) -> Option<&'static str> {
    (*game == Game::ChineseCheckers).then_some(match kind {
        MoveErrorKind::Format => "Invalid input format, please input again:",
        MoveErrorKind::OffBoard => "Input out of the game board, please input again:",
        MoveErrorKind::Start => "Invalid starting location, please input again:",
        MoveErrorKind::End => "Invalid ending location, please input again:",
        MoveErrorKind::Rule => "The move violates the game rule, please input again:",
    })
}
