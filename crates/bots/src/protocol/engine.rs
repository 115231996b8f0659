//! The bot protocol on the bot's side: a built-in player that reads lines and answers them, for
//! other referees and for scripts.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use crownhead_play::knowledge::from_tables;
use crownhead_play::{
    BuiltinSpec, Choice, Clock, GameSettings, GameStart, Player, PlayerError, Session, StopFlag,
    new_session,
};
use crownhead_rules::{Game, OptionsError, Side};
use crownhead_tables::registry;

use super::line::ProtocolLine;
use crate::line_buffer::read_bounded_line;

/// Why an engine stopped early.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The player failed.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// Why a line was rejected.
enum LineError {
    /// The line is invalid. The engine answers with a comment and continues.
    Invalid(String),
    /// The player failed.
    Player(PlayerError),
}

impl From<PlayerError> for LineError {
    fn from(error: PlayerError) -> LineError {
        LineError::Player(error)
    }
}

/// A game that the engine plays.
struct EngineGame {
    game: Game,
    player: Box<dyn Player>,
    /// The game so far: a position's text has no draw counters and no history.
    session: Option<Box<dyn Session>>,
    increment: Option<Duration>,
    is_per_move: bool,
}

/// The game in progress.
enum State {
    /// No `newgame` yet: the first turn starts a game.
    Idle,
    Playing(EngineGame),
    /// The last `newgame` was invalid.
    Refused,
}

/// Plays by the bot protocol until `quit` or the end of the input.
///
/// A `turn` that precedes any `newgame` is one of `default_game`. Invalid lines are answered with a
/// comment.
pub fn run(
    spec: &BuiltinSpec,
    default_game: &Game,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), EngineError> {
    let mut state = State::Idle;
    let mut bytes = Vec::new();
    while read_bounded_line(&mut input, &mut bytes)? {
        let text = String::from_utf8_lossy(&bytes);
        let line = ProtocolLine::new(&text);
        let answer = match line.keyword {
            "crownhead" => Ok(format!("bot name=\"Crownhead {spec}\" author=\"Crownhead\"\nready")),
            "newgame" => {
                let last = match std::mem::replace(&mut state, State::Refused) {
                    State::Playing(game) => Some(game),
                    State::Idle | State::Refused => None,
                };
                EngineGame::new(spec, default_game, &line, last).map(|game| {
                    state = State::Playing(game);
                    "ready".into()
                })
            }
            "turn" => turn(spec, default_game, &mut state, &line),
            "quit" => break,
            _ => continue,
        };
        match answer {
            Ok(answer) => writeln!(output, "{answer}")?,
            Err(LineError::Invalid(message)) => writeln!(output, "# {message}")?,
            Err(LineError::Player(error)) => return Err(error.into()),
        }
        output.flush()?;
    }
    Ok(())
}

/// Answers a `turn` line.
fn turn(
    spec: &BuiltinSpec,
    default_game: &Game,
    state: &mut State,
    line: &ProtocolLine<'_>,
) -> Result<String, LineError> {
    if let State::Idle = state {
        let newgame = ProtocolLine::new("newgame");
        *state = State::Playing(EngineGame::new(spec, default_game, &newgame, None)?);
    }
    let State::Playing(game) = state else {
        return Err(LineError::Invalid("no game: the last newgame line was invalid".into()));
    };
    let choice = game.choose(line)?;
    let mut answer = format!("move {}", choice.text);
    // Writing to a string cannot fail.
    if let Some(ply) = line.value("ply") {
        let _ = write!(answer, " ply={ply}");
    }
    if let Some(score) = choice.score {
        let _ = write!(answer, " score={score} depth={}", choice.depth);
    }
    Ok(answer)
}

impl EngineGame {
    /// Starts a game. The player of the last one is reused if the game is the same.
    fn new(
        spec: &BuiltinSpec,
        default_game: &Game,
        newgame: &ProtocolLine<'_>,
        last: Option<EngineGame>,
    ) -> Result<EngineGame, LineError> {
        let game = match newgame.value("game") {
            None => default_game.clone(),
            Some(text) => text
                .parse::<Game>()
                .map_err(|error: OptionsError| LineError::Invalid(error.to_string()))?,
        };
        let mut player = match last.filter(|last| last.game == game) {
            Some(last) => last.player,
            None => {
                let knowledge = from_tables(&registry::load(game.info().id).0);
                spec.player(&game, &knowledge)?
            }
        };
        let seed = newgame.value("seed").and_then(|seed| seed.parse().ok()).unwrap_or(0);
        let second_letter = game.info().sides[Side::Second.index()].letter.to_string();
        let side = match newgame.value("side") {
            Some(letter) if letter == second_letter => Side::Second,
            _ => Side::First,
        };
        let settings = GameSettings::default_for(&game);
        player.start_game(&GameStart::new(&game, side, &settings, seed), &StopFlag::new());
        let increment = newgame.value("inc").and_then(parse_millis);
        let is_per_move = newgame.value("time").is_none();
        Ok(EngineGame { game, player, session: None, increment, is_per_move })
    }

    /// Returns the move for a `turn` line.
    fn choose(&mut self, line: &ProtocolLine<'_>) -> Result<Choice, LineError> {
        let position = line
            .value("position")
            .ok_or_else(|| LineError::Invalid("missing position=\"…\"".into()))?;
        let clock = match line.value("time").and_then(parse_millis) {
            None => Clock::Unlimited,
            Some(time) if self.is_per_move => Clock::PerMove(time),
            Some(left) => Clock::PerGame { left, increment: self.increment.unwrap_or_default() },
        };
        let session =
            continue_session(&self.game, self.session.take(), position, line.value("last"))
                .map_err(LineError::Invalid)?;
        let session = self.session.insert(session);
        let chosen = self.player.choose(session.as_ref(), &clock, &StopFlag::new(), &mut |_| {});
        let choice = match chosen {
            Err(PlayerError::GameOver) => {
                return Err(LineError::Invalid("the game is over".into()));
            }
            chosen => chosen?,
        };
        session.play(&choice.text).map_err(|error| PlayerError::IllegalMove {
            text: choice.text.clone(),
            reason: error.to_string(),
        })?;
        Ok(choice)
    }
}

/// Continues a session with the opponent's last move if that leads to `position`, or else starts a
/// new one there.
fn continue_session(
    game: &Game,
    session: Option<Box<dyn Session>>,
    position: &str,
    last: Option<&str>,
) -> Result<Box<dyn Session>, String> {
    if let (Some(mut session), Some(last)) = (session, last) {
        let is_played = session.play(last).is_ok() || (last == "pass" && session.skip_turn());
        if is_played && session.position() == position {
            return Ok(session);
        }
    }
    new_session(game, Some(position)).map_err(|error| error.to_string())
}

fn parse_millis(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}
