//! `crownhead`: the command line. Each command is a file in [`commands`]; here are the arguments
//! and the exit codes.

mod commands;
mod isolation_args;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use commands::Failure;

/// Play, analyse and run bot contests of 8x8 checkers games.
#[derive(Parser)]
#[command(name = "crownhead", version, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 failure, 2 usage, 3 bad input, 4 a bot forfeited or broke, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Play a game in this terminal, against a computer or a person
    Play(commands::play::Arguments),
    /// Play in the browser: serve the board to this machine, or to others too
    Serve(commands::serve::Arguments),
    /// Learn the rules of a game in small exercises
    Learn(commands::learn::Arguments),
    /// Step through recorded games, with variations, comments and analysis
    View(commands::view::Arguments),
    /// List the games, their sides and their options
    Games(commands::games::Arguments),
    /// List the legal moves of a position
    Moves(commands::moves::Arguments),
    /// Count the leaves of the move tree, and say how fast
    Perft(commands::perft::Arguments),
    /// Find the best lines of a position, or judge every move of recorded games
    Analyse(commands::analyse::Arguments),
    /// Search fixed positions of every game: node counts to compare, and the speed
    Bench(commands::bench::Arguments),
    /// Let two players, built in or programs of yours, play many games and say which is stronger
    Match(commands::matches::Arguments),
    /// Run a contest between many players, that no crash can spoil
    #[command(subcommand)]
    Tournament(commands::tournament::Command),
    /// Create, check, play against and debug a bot: a program in any language that plays
    #[command(subcommand)]
    Bot(commands::bot::Command),
    /// Run a built-in player as a bot, speaking the bot protocol
    Engine(commands::engine::Args),
    /// Find the weights of an evaluation from games the search plays against itself
    Tune(commands::tune::Arguments),
    /// Build and list tables of exact knowledge
    #[command(subcommand)]
    Tables(commands::tables::Command),
    /// Check and convert files of recorded games
    #[command(subcommand)]
    Pdn(commands::pdn::Command),
    /// Show what this machine offers: sandbox, compilers and runtimes, directories, tables
    Doctor(commands::doctor::Arguments),
    /// Print a completion script for a shell
    Completions(commands::pages::Completions),
    /// Print the manual page, or write all of them to a folder
    Man(commands::pages::Man),
}

fn main() -> ExitCode {
    let Some(command) = Arguments::parse().command else { return without_command() };
    let result = match command {
        Command::Play(arguments) => commands::play::run(arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments),
        Command::Learn(arguments) => commands::learn::run(&arguments),
        Command::View(arguments) => commands::view::run(&arguments),
        Command::Games(arguments) => commands::games::run(&arguments),
        Command::Moves(arguments) => commands::moves::run(&arguments),
        Command::Perft(arguments) => commands::perft::run(&arguments),
        Command::Analyse(arguments) => commands::analyse::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::Match(arguments) => commands::matches::run(&arguments),
        Command::Tournament(command) => commands::tournament::run(command),
        Command::Bot(command) => commands::bot::run(command),
        Command::Engine(arguments) => commands::engine::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Tables(command) => commands::tables::run(&command),
        Command::Pdn(command) => commands::pdn::run(&command),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Completions(arguments) => {
            commands::pages::completions(&arguments, Arguments::command())
        }
        Command::Man(arguments) => commands::pages::man(&arguments, Arguments::command()),
    };
    end(result)
}

/// `crownhead` alone: on a terminal its questions, elsewhere how to use it.
fn without_command() -> ExitCode {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return end(commands::menu::run());
    }
    commands::say(Arguments::command().render_help());
    ExitCode::from(2)
}

fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Other(error)) if commands::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                commands::say(format_args!("crownhead: {message}"));
            }
            failure.exit_code()
        }
    }
}
