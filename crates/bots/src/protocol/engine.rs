//! The other side of the bot protocol: a built-in player that reads lines and answers them, so that
//! it can be entered elsewhere or driven by a script.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use crownhead_rules::Game;
use crownhead_search::StopFlag;
use crownhead_tables::registry;

use super::line::Line;
use crate::line_buffer::read_bounded_line;
use crownhead_play::knowledge::from_tables;
use crownhead_play::{BuiltinSpec, Clock, Player, PlayerError, Session, new_session};

/// Why an engine stopped before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The player failed.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// A game that the engine plays.
struct Table {
    game: Game,
    player: Box<dyn Player>,
    /// What is known of the game so far: counters and repetition are not in a position's text.
    session: Option<Box<dyn Session>>,
    increment: Option<Duration>,
    is_per_move: bool,
}

/// Plays by the bot protocol until `quit` or the end of the input. Lines that make no sense are
/// answered with a remark.
pub fn serve(
    spec: &BuiltinSpec,
    game: &Game,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), EngineError> {
    let mut table: Option<Table> = None;
    let mut is_refused = false;
    let mut bytes = Vec::new();
    while read_bounded_line(&mut input, &mut bytes)? {
        let text = String::from_utf8_lossy(&bytes);
        let line = Line::new(&text);
        match line.word {
            "crownhead" => {
                writeln!(output, "bot name=\"Crownhead {spec}\" author=\"Crownhead\"\nready")?;
            }
            "newgame" => match begin(spec, game, &line, table.take()) {
                Ok(begun) => {
                    (table, is_refused) = (Some(begun), false);
                    writeln!(output, "ready")?;
                }
                Err(Refusal::Player(error)) => return Err(error.into()),
                Err(Refusal::Line(why)) => {
                    is_refused = true;
                    writeln!(output, "# {why}")?;
                }
            },
            "turn" if is_refused => writeln!(output, "# there is no game: newgame was refused")?,
            "turn" => {
                if table.is_none() {
                    match begin(spec, game, &Line::new("newgame"), None) {
                        Ok(begun) => table = Some(begun),
                        Err(Refusal::Player(error)) => return Err(error.into()),
                        Err(Refusal::Line(why)) => writeln!(output, "# {why}")?,
                    }
                }
                if let Some(table) = &mut table {
                    match table.turn(&line)? {
                        Ok(text) => match line.value("ply") {
                            Some(ply) => writeln!(output, "move {text} ply={ply}")?,
                            None => writeln!(output, "move {text}")?,
                        },
                        Err(why) => writeln!(output, "# {why}")?,
                    }
                }
            }
            "quit" => break,
            _ => {}
        }
        output.flush()?;
    }
    Ok(())
}

/// Why a line cannot be followed.
enum Refusal {
    Line(String),
    Player(PlayerError),
}

/// A new game; the player of the last is kept if it is of the same game.
fn begin(
    spec: &BuiltinSpec,
    usual: &Game,
    line: &Line<'_>,
    last: Option<Table>,
) -> Result<Table, Refusal> {
    let game = match line.value("game") {
        None => usual.clone(),
        Some(text) => text
            .parse::<Game>()
            .map_err(|error: crownhead_rules::OptionsError| Refusal::Line(error.to_string()))?,
    };
    let mut player = match last.filter(|last| last.game == game) {
        Some(last) => last.player,
        None => {
            let knowledge = from_tables(&registry::load(game.info().id).0);
            spec.player(&game, &knowledge).map_err(Refusal::Player)?
        }
    };
    player.new_game(line.value("seed").and_then(|seed| seed.parse().ok()).unwrap_or(0));
    let increment = line.value("inc").and_then(millis);
    let is_per_move = line.value("time").is_none();
    Ok(Table { game, player, session: None, increment, is_per_move })
}

fn millis(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

impl Table {
    /// The move for a turn, or why there is none.
    fn turn(&mut self, line: &Line<'_>) -> Result<Result<String, String>, PlayerError> {
        let Some(position) = line.value("position") else {
            return Ok(Err("a turn has a position=\"…\"".into()));
        };
        if let Err(why) = self.set_up(position, line.value("last")) {
            return Ok(Err(why));
        }
        let Some(session) = &mut self.session else { return Ok(Err("there is no game".into())) };
        let clock = match line.value("time").and_then(millis) {
            None => Clock::Unlimited,
            Some(time) if self.is_per_move => Clock::PerMove(time),
            Some(left) => Clock::PerGame { left, increment: self.increment.unwrap_or_default() },
        };
        let chosen = self.player.choose(session.as_ref(), &clock, &StopFlag::new(), &mut |_| {});
        let choice = match chosen {
            Err(PlayerError::GameOver) => return Ok(Err("the game is over".into())),
            other => other?,
        };
        session.play(&choice.text).map_err(|error| PlayerError::IllegalMove {
            text: choice.text.clone(),
            reason: error.to_string(),
        })?;
        Ok(Ok(choice.text))
    }

    /// Brings the session to a position: by the opponent's move if that leads there.
    fn set_up(&mut self, position: &str, last: Option<&str>) -> Result<(), String> {
        if let (Some(session), Some(last)) = (&mut self.session, last) {
            let played = session.play(last).is_ok() || (last == "pass" && session.skip_turn());
            if played && session.position() == position {
                return Ok(());
            }
        }
        let fresh = new_session(&self.game, Some(position)).map_err(|error| error.to_string())?;
        self.session = Some(fresh);
        Ok(())
    }
}
