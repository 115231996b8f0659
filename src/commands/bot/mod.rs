//! `crownhead bot`: create, check, play against and debug bots.

mod check;
mod new;
mod play;
mod replay;

use std::path::Path;

use crownhead_bots::{BotProgram, ProgramError};

use crate::failure::Failure;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Create a small complete bot to start from
    New(new::Args),
    /// Test a bot and advise on every problem found
    Check(check::Args),
    /// Play against a bot in this terminal
    Play(play::Args),
    /// Show a turn of a logged game and ask the bot again
    Replay(replay::Args),
}

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Play(args) => play::run(args),
        Command::Replay(args) => replay::run(&args),
    }
}

/// Parses a bot: a folder, a command, or a player's name such as `c-function:FILE`.
fn parse_program(text: &str) -> Result<BotProgram, Failure> {
    let failure = |error| match error {
        ProgramError::Spec(message) => Failure::Usage(message),
        ProgramError::Manifest(message) => Failure::BadInput(message),
    };
    if Path::new(text).is_dir() {
        return BotProgram::from_folder(text).map_err(failure);
    }
    if let Some(program) = BotProgram::from_text(text, Path::new(".")) {
        return program.map_err(failure);
    }
    let program = BotProgram::from_command(text).map_err(failure)?;
    match program.command.first() {
        // Neither interpretation of the text works: explain both.
        Some(word) if !is_command(word) => Err(Failure::Usage(format!(
            "no folder {text:?} and no command {word:?} found: a bot is a folder with a bot.toml, \
             or a command such as \"python3 bot.py\""
        ))),
        _ => Ok(program),
    }
}

/// Returns whether a word names a program, as a path or in `PATH`.
fn is_command(word: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    match word.contains('/') {
        true => Path::new(word).exists(),
        false => std::env::split_paths(&folders).any(|folder| folder.join(word).is_file()),
    }
}
