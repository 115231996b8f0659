//! Playing by lines of text, as the original assignment does: a board, a prompt, a move a line.
//!
//! Everything of the dialogue goes to one output, so that a game can be driven and read by a pipe
//! from start to end.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use crownhead_play::{PlayError, Stop};
use crownhead_records::{game_text, write_text};
use crownhead_rules::{Game, MoveErrorKind};

use crate::computers::Computers;
use crate::kept::Kept;
use crate::live::{LiveGame, Seat, Verdict};
use crate::words::{accepts_draw, board_text, hint_text, move_text, side_text};

/// Longer lines are no moves; what is beyond is thrown away as it comes.
const LONGEST_LINE: u64 = 4096;

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
pub struct Plain<'a, R, W> {
    live: &'a mut LiveGame,
    kept: Option<&'a mut Kept>,
    computers: Computers,
    input: R,
    output: W,
    /// Raised when the program is told to end.
    stop: &'a Stop,
}

/// What a line was.
enum Line {
    Text(String),
    /// Too long, or no text at all.
    Nonsense,
    End,
}

impl<'a, R: BufRead, W: Write> Plain<'a, R, W> {
    /// A dialogue about a game.
    pub fn new(
        live: &'a mut LiveGame,
        kept: Option<&'a mut Kept>,
        input: R,
        output: W,
        stop: &'a Stop,
    ) -> Self {
        let computers = Computers::new(live);
        Plain { live, kept, computers, input, output, stop }
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
            if let Some(kept) = &mut self.kept
                && let Err(error) = kept.update(self.live)
            {
                writeln!(self.output, "The game cannot be kept: {error}.")?;
                self.kept = None;
            }
        };
        if left == Left::Quit && self.kept.as_ref().is_some_and(|kept| kept.is_kept()) {
            writeln!(self.output, "The game is kept: crownhead play --resume takes it up again.")?;
        }
        self.output.flush()?;
        Ok(left)
    }

    /// The computer's turn; false if there is nothing more to play.
    fn computer(&mut self) -> io::Result<bool> {
        let side = self.live.session().side();
        let asked = self.computers.ask(self.live);
        if let Some(sentence) = self.computers.missing.take() {
            writeln!(self.output, "{sentence}")?;
        }
        let thinking = match asked {
            Ok(Some(thinking)) => thinking,
            Ok(None) => return Ok(true),
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        let chosen = thinking.wait().map_err(io::Error::other)?;
        let (choice, used) = self.computers.back(side, chosen);
        let choice = choice.map_err(|error| io::Error::other(error.to_string()))?;
        let legal = self.live.session().legal_moves();
        let text = legal.iter().find(|mv| mv.text == choice.text);
        let text = text.map_or_else(|| choice.text.clone(), move_text);
        self.live.play(&choice.text, used).map_err(|error| io::Error::other(error.to_string()))?;
        writeln!(self.output, "{} plays {text}", side_text(&self.live.setup().game, side))?;
        Ok(true)
    }

    /// A person's turn: reads lines until one changes the game; false to leave.
    fn person(&mut self) -> io::Result<bool> {
        let game = self.live.setup().game.clone();
        let side = self.live.session().side();
        let begun = Instant::now();
        let mut asked = false;
        loop {
            if !asked {
                write!(self.output, "{} to move: ", side_text(&game, side))?;
            }
            asked = false;
            self.output.flush()?;
            let text = match self.line()? {
                Line::End => {
                    writeln!(self.output)?;
                    return Ok(false);
                }
                Line::Text(text) => text,
                // A move of that kind is refused with the words for it.
                Line::Nonsense => "?".into(),
            };
            let (word, rest) =
                text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
            match word.to_ascii_lowercase().as_str() {
                "" => {}
                "help" => write!(self.output, "{HELP}")?,
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
                    None => return Ok(false),
                    Some(true) => {
                        self.live.decide(Verdict::Agreed);
                        return Ok(true);
                    }
                    Some(false) => {}
                },
                "save" => self.save(rest.trim())?,
                "quit" | "exit" => return Ok(false),
                _ => match self.live.play(text.trim(), begun.elapsed()) {
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
    fn advice(&mut self) -> io::Result<Option<crownhead_play::Choice>> {
        let thinking = self
            .computers
            .advise(self.live)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let chosen = thinking.wait().map_err(io::Error::other)?;
        Ok(self.computers.advised(chosen).ok())
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
            self.output.flush()?;
            match self.line()? {
                Line::End => return Ok(None),
                Line::Nonsense => {}
                Line::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
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

    /// The next line, however long or broken it is.
    fn line(&mut self) -> io::Result<Line> {
        let mut bytes = Vec::new();
        let read = io::Read::take(&mut self.input, LONGEST_LINE).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(Line::End);
        }
        if !bytes.ends_with(b"\n") && read as u64 == LONGEST_LINE {
            self.input.skip_until(b'\n')?;
            return Ok(Line::Nonsense);
        }
        Ok(String::from_utf8(bytes).map_or(Line::Nonsense, Line::Text))
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
