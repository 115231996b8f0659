//! `crownhead`: the command line and the exit code. Each command is a file in [`commands`].

mod commands;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use crownhead_cli::failure::Failure;
use crownhead_cli::output::eprint_message;
use crownhead_cli::{failure, game_files, isolation_args, knowledge, output, signals};
use crownhead_rules::nearest;

/// Play, analyse and run bot tournaments of 8x8 checkers games.
#[derive(Parser)]
#[command(name = "crownhead", version, propagate_version = true)]
#[command(after_help = "\
Exit codes: 0 success, 1 failure, 2 usage, 3 invalid input, 4 a bot forfeited or failed,
10 sprt accepted H0, 11 sprt ended undecided, 130 interrupted.")]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Play a game in this terminal, against a computer or a person
    Play(commands::play::Args),
    /// Play in a browser: serve the web page to this machine or to others
    Serve(commands::serve::Args),
    /// Run the program that an original assignment describes
    Assignment(commands::assignment::Args),
    /// Learn the rules of a game in short exercises
    Learn(commands::learn::Args),
    /// Step through recorded games, with variations, comments and analysis
    View(commands::view::Args),
    /// List the games, their sides and their options
    Games(commands::games::Args),
    /// List the legal moves of a position
    Moves(commands::moves::Args),
    /// Count the leaves of the move tree (perft)
    Perft(commands::perft::Args),
    /// Find the best lines of a position, or analyse every move of recorded games
    Analyse(commands::analyse::Args),
    /// Search fixed positions of every game: node counts and speed
    Bench(commands::bench::Args),
    /// Play a match between two players and estimate which is stronger
    Match(commands::matches::Args),
    /// Test whether a player is stronger than another one, with as few games as possible (SPRT)
    Sprt(commands::sprt::Args),
    /// Rate the players of tournaments and recorded games (maximum-likelihood Elo)
    Rate(commands::rate::Args),
    /// Run a tournament that can be resumed after a crash
    #[command(subcommand)]
    Tournament(commands::tournament::Command),
    /// Play games for a fleet: matches, tournaments and tests that run on other machines
    Worker(commands::fleet::Worker),
    /// Show what the workers of a fleet do
    #[command(subcommand)]
    Fleet(commands::fleet::Command),
    /// Create, check, play against and debug a bot: a program in any language that plays
    #[command(subcommand)]
    Bot(commands::bot::Command),
    /// Run a built-in player as a bot, speaking the bot protocol
    Engine(commands::engine::Args),
    /// Train a learned evaluation on self-play games
    Train(commands::train::Args),
    /// Tune search parameters in games between neighbouring values (SPSA)
    Tune(commands::tune::Args),
    /// Generate lists of openings
    #[command(subcommand)]
    Openings(commands::openings::Command),
    /// Make opening books
    #[command(subcommand)]
    Book(commands::book::Command),
    /// Make puzzles from games
    #[command(subcommand)]
    Puzzles(commands::puzzles::Command),
    /// Build and list precomputed tables
    #[command(subcommand)]
    Tables(commands::tables::Command),
    /// Check and convert files of recorded games
    #[command(subcommand)]
    Pdn(commands::pdn::Command),
    /// Show what this machine offers: sandbox, compilers and runtimes, directories, tables
    Doctor(commands::doctor::Args),
    /// Print a completion script for a shell
    Completions(commands::completions::Completions),
    /// Print the manual page, or write all of them to a folder
    Man(commands::completions::Man),
}

fn main() -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| with_nearest_command(error).exit());
    let Some(command) = args.command else { return run_without_command() };
    exit_code(match command {
        Command::Play(args) => commands::play::run(args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Assignment(args) => commands::assignment::run(&args),
        Command::Learn(args) => commands::learn::run(&args),
        Command::View(args) => commands::view::run(&args),
        Command::Games(args) => commands::games::run(&args),
        Command::Moves(args) => commands::moves::run(&args),
        Command::Perft(args) => commands::perft::run(&args),
        Command::Analyse(args) => commands::analyse::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Match(args) => commands::matches::run(&args),
        Command::Sprt(args) => commands::sprt::run(&args),
        Command::Rate(args) => commands::rate::run(&args),
        Command::Tournament(command) => commands::tournament::run(command),
        Command::Worker(args) => commands::fleet::run_worker(&args),
        Command::Fleet(command) => commands::fleet::run(&command),
        Command::Bot(command) => commands::bot::run(command),
        Command::Engine(args) => commands::engine::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Openings(command) => commands::openings::run(&command),
        Command::Book(command) => commands::book::run(&command),
        Command::Puzzles(command) => commands::puzzles::run(&command),
        Command::Tables(command) => commands::tables::run(&command),
        Command::Pdn(command) => commands::pdn::run(&command),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::completions::completions(&args, Args::command()),
        Command::Man(args) => commands::completions::man(&args, Args::command()),
    })
}

/// Reduces the suggestions for a mistyped command to the nearest one: clap lists every command that
/// shares a few letters with it.
fn with_nearest_command(mut error: clap::Error) -> clap::Error {
    let typed = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    let suggested = error.get(ContextKind::SuggestedSubcommand);
    if let (Some(typed), Some(ContextValue::Strings(names))) = (typed, suggested)
        && let Some(name) = nearest(&typed, names.iter().map(String::as_str))
    {
        let names = ContextValue::Strings(vec![name.into()]);
        error.insert(ContextKind::SuggestedSubcommand, names);
    }
    error
}

/// `crownhead` alone: the home screen on a terminal; questions on a dumb one and in a pipe; the
/// help without input.
fn run_without_command() -> ExitCode {
    if output::is_interactive() {
        return exit_code(commands::home::run());
    }
    if std::io::stdin().is_terminal() || is_piped() {
        return exit_code(commands::menu::run());
    }
    eprint_message(Args::command().render_help());
    ExitCode::from(2)
}

/// Returns whether standard input is a pipe or a file, and not, for example, `/dev/null`.
fn is_piped() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::FileTypeExt;
        let input = std::io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
        let kind = input.and_then(|input| input.metadata()).map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| !kind.is_char_device())
    }
    #[cfg(not(unix))]
    false
}

/// Reports a failure and returns the exit code.
fn exit_code(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                eprint_message(format_args!("crownhead: {message}"));
            }
            failure.exit_code()
        }
    }
}
