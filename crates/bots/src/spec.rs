//! Players as text: a built-in player (`level:4`), a command (`cmd:./my_bot --flag`), another
//! [`Protocol`](crate::Protocol) with its argument, or a folder with a `bot.toml`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crownhead_files::read_text;
use crownhead_play::{
    BuiltinSpec, Knowledge, ParamChanges, Player, PlayerError, StopFlag, truncate,
};
use crownhead_rules::Game;

use crate::player::BotPlayer;
use crate::{BotProgram, ProgramError, manifest};

/// A player: built in, or a bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlayerSpec {
    /// A built-in player.
    Builtin(BuiltinSpec),
    /// An external program.
    Bot(Box<BotProgram>),
}

/// An invalid player text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    message: String,
    /// Whether the text is valid but a file that it names is not: a `bot.toml`, or search
    /// parameters.
    pub is_file: bool,
}

const BOT_NAMES: &str = "cmd:COMMAND, a folder with a bot.toml, tcp-int32:COMMAND, \
                         c-function:FILE, cpp-function:FILE, checkerboard:ENGINE.so";

impl PlayerSpec {
    /// Returns the bot's program, if the player is a bot.
    pub fn program(&self) -> Option<&BotProgram> {
        match self {
            PlayerSpec::Bot(program) => Some(program),
            PlayerSpec::Builtin(_) => None,
        }
    }

    /// Returns the bot's program, to change how it is run.
    pub fn program_mut(&mut self) -> Option<&mut BotProgram> {
        match self {
            PlayerSpec::Bot(program) => Some(program),
            PlayerSpec::Builtin(_) => None,
        }
    }

    /// Returns the built-in player, if it is one.
    pub fn builtin(&self) -> Option<&BuiltinSpec> {
        match self {
            PlayerSpec::Builtin(spec) => Some(spec),
            PlayerSpec::Bot(_) => None,
        }
    }

    /// Returns the built-in player, to change its options.
    pub fn builtin_mut(&mut self) -> Option<&mut BuiltinSpec> {
        match self {
            PlayerSpec::Builtin(spec) => Some(spec),
            PlayerSpec::Bot(_) => None,
        }
    }

    /// Returns whether the player evaluates positions, so that tables make it stronger.
    pub fn uses_evaluation(&self) -> bool {
        self.builtin().is_some_and(BuiltinSpec::uses_evaluation)
    }

    /// Returns whether nothing but a clock would stop its search.
    pub fn has_no_limit(&self) -> bool {
        self.builtin().is_some_and(BuiltinSpec::has_no_limit)
    }

    /// Lowers the time per move to `time`, if this is a built-in player that uses time.
    pub fn cap_move_time(&mut self, time: Duration) {
        if let Some(spec) = self.builtin_mut() {
            spec.cap_move_time(time);
        }
    }

    /// Returns a short name, for file names and reports.
    pub fn short_name(&self) -> String {
        self.program().map_or_else(|| self.to_string(), BotProgram::short_name)
    }

    /// Parses a player named in a file; relative folders and commands start at `base`, the folder
    /// of that file.
    pub fn parse_relative_to(text: &str, base: &Path) -> Result<PlayerSpec, SpecError> {
        PlayerSpec::parse(text, base, |folder| base.join(folder).display().to_string())
    }

    fn parse(
        text: &str,
        base: &Path,
        folder_path: impl FnOnce(&str) -> String,
    ) -> Result<PlayerSpec, SpecError> {
        let text = text.trim();
        if let Some(program) = BotProgram::from_text(text, base) {
            return Ok(PlayerSpec::Bot(Box::new(program?)));
        }
        if manifest::is_folder(text, base) && !BuiltinSpec::is_builtin_name(text) {
            let program = BotProgram::from_folder(&folder_path(text))?;
            return Ok(PlayerSpec::Bot(Box::new(program)));
        }
        Ok(PlayerSpec::Builtin(with_params(text, base)?.parse()?))
    }

    /// Returns whether the player can play `game`, or why not.
    pub fn supports(&self, game: &Game) -> Result<(), String> {
        self.program().map_or(Ok(()), |program| program.supports(game))
    }

    /// Builds the bot, if it is one and needs building. [`player`](PlayerSpec::player) builds too,
    /// but cannot be stopped.
    pub fn build(&self, stop: &StopFlag) -> Result<(), PlayerError> {
        let Some(program) = self.program() else { return Ok(()) };
        crate::build::build(program, stop).map_err(PlayerError::StartFailed)
    }

    /// Creates the player for one game and allocates all memory it needs.
    pub fn player(
        &self,
        game: &Game,
        knowledge: &Knowledge,
    ) -> Result<Box<dyn Player>, PlayerError> {
        self.supports(game).map_err(PlayerError::StartFailed)?;
        match self {
            PlayerSpec::Builtin(spec) => spec.player(game, knowledge),
            PlayerSpec::Bot(program) => {
                Ok(Box::new(BotPlayer::new(BotProgram::clone(program), &StopFlag::new())?))
            }
        }
    }
}

/// Maximum size of a parameter file.
const MAX_PARAMS_BYTES: u64 = 64 << 10;

/// Replaces the option `params=FILE` by the search parameters in that file. So a player's text says
/// how it plays, in journals and on other machines, too.
fn with_params<'a>(text: &'a str, base: &Path) -> Result<Cow<'a, str>, SpecError> {
    const OPTION: &str = "params=";
    let is_option = |at: &usize| text[..*at].ends_with([':', ',']);
    let option = text.match_indices(OPTION).map(|(at, _)| at).find(is_option);
    let Some(start) = option.filter(|_| BuiltinSpec::is_builtin_name(text)) else {
        return Ok(text.into());
    };
    let (before, after) = (&text[..start], &text[start + OPTION.len()..]);
    let end = after.find(',').unwrap_or(after.len());
    let (name, after) = after.split_at(end);
    let read = read_text(&base.join(name.trim()), MAX_PARAMS_BYTES);
    let fail = |error: String| SpecError { message: error, is_file: true };
    let name = truncate(name);
    let file_text =
        read.map_err(|error| fail(format!("cannot read the search parameters {name:?}: {error}")))?;
    let params = ParamChanges::parse_file(&file_text);
    let params = params.map_err(|error| fail(format!("{name}, {error}")))?;
    Ok(format!("{before}{params}{after}").into())
}

impl From<BuiltinSpec> for PlayerSpec {
    fn from(spec: BuiltinSpec) -> PlayerSpec {
        PlayerSpec::Builtin(spec)
    }
}

impl From<ProgramError> for SpecError {
    fn from(error: ProgramError) -> SpecError {
        let is_file = matches!(error, ProgramError::Manifest(_));
        SpecError { message: error.to_string(), is_file }
    }
}

impl From<crownhead_play::SpecError> for SpecError {
    fn from(error: crownhead_play::SpecError) -> SpecError {
        let message = match error {
            crownhead_play::SpecError::UnknownPlayer(_) => format!("{error}; bots: {BOT_NAMES}"),
            crownhead_play::SpecError::Invalid(message) => message,
        };
        SpecError { message, is_file: false }
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        PlayerSpec::parse(text, Path::new("."), str::to_string)
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Builtin(spec) => spec.fmt(f),
            PlayerSpec::Bot(program) => program.fmt(f),
        }
    }
}
