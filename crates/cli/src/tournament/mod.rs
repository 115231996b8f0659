//! `crownhead tournament`: command-line args. [`mod@run`] runs and resumes a tournament,
//! [`show`] prints what its journal holds, [`live`] shows it full screen.

mod live;
mod progress;
mod report;
mod run;
mod show;

use std::io::Write;
use std::path::{Path, PathBuf};

use crownhead_files::write_atomic;
use crownhead_play::counted;
use crownhead_tournament::config::{ConfigError, TEMPLATE};
use crownhead_tournament::journal::{Journal, JournalError, State};

use crate::failure::Failure;
use crate::fleet::FleetArgs;
use crate::output::eprint_message;
pub(crate) use run::{control_by_signals, play};

/// The subcommands of `crownhead tournament`.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Write a commented tournament file to start from
    New(New),
    /// Run a tournament from the start
    Run(Run),
    /// Play the missing games of a tournament
    Resume(Resume),
    /// Show the progress of a tournament and the time left
    Status(Show),
    /// Watch a tournament full screen: standings, boards, results and faults
    Watch(Watch),
    /// Print the standings
    Standings(Standings),
    /// List the games, or show one game with its moves
    Games(Games),
    /// Write a report as web pages
    Report(report::Args),
    /// Cancel a tournament; its games stay in the journal
    Cancel(Show),
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct New {
    /// File to write
    #[arg(value_name = "FILE", default_value = "tournament.toml")]
    file: PathBuf,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Run {
    /// Tournament file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object per event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Resume {
    /// Tournament file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Keep the results of games that a change in the tournament file or in a bot affects
    #[arg(long, conflicts_with = "replay")]
    keep: bool,
    /// Replay games that a change in the tournament file or in a bot affects (round robin and
    /// gauntlet)
    #[arg(long)]
    replay: bool,
    /// Replay all games of this player (round robin and gauntlet)
    #[arg(long, value_name = "NAME")]
    replay_player: Vec<String>,
    /// Resume a cancelled tournament
    #[arg(long)]
    reopen: bool,
    /// Print one JSON object per event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Watch {
    /// Tournament file or journal
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Show {
    /// Tournament file or journal
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Standings {
    #[command(flatten)]
    show: Show,
    /// Print the crosstable even with more than 20 players
    #[arg(long)]
    crosstable: bool,
    /// Also print maximum-likelihood Elo ratings
    #[arg(long)]
    ratings: bool,
    /// Print the standings as CSV, for spreadsheets
    #[arg(long, conflicts_with_all = ["json", "markdown", "crosstable"])]
    csv: bool,
    /// Print the standings as a Markdown table
    #[arg(long, conflicts_with_all = ["json", "crosstable"])]
    markdown: bool,
}

/// Args of a subcommand.
#[derive(clap::Args)]
pub struct Games {
    #[command(flatten)]
    show: Show,
    /// Show this game with its moves
    #[arg(value_name = "NUMBER")]
    number: Option<i64>,
    /// Only games of this player
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games of this round
    #[arg(long, value_name = "N")]
    round: Option<u32>,
    /// Only forfeited games
    #[arg(long)]
    forfeits: bool,
    /// Write the finished games to this file
    #[arg(long, value_name = "FILE")]
    pdn: Option<PathBuf>,
    /// Print the list as CSV, for spreadsheets
    #[arg(long, conflicts_with_all = ["json", "number"])]
    csv: bool,
}

/// Runs the command.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(args) => new(&args),
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Status(args) => show::status(&args),
        Command::Watch(args) => live::watch(&args),
        Command::Standings(args) => show::standings(&args),
        Command::Games(args) => show::games(&args),
        Command::Report(args) => report::report(&args),
        Command::Cancel(args) => cancel(&args),
    }
}

fn new(args: &New) -> Result<(), Failure> {
    let file = args.file.display();
    if args.file.symlink_metadata().is_ok() {
        return Err(anyhow::anyhow!("{file} already exists: choose another name").into());
    }
    write_atomic(&args.file, TEMPLATE)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "Wrote {file}. Edit it, then run:")?;
    writeln!(out, "  crownhead tournament run {file}")?;
    Ok(())
}

fn cancel(args: &Show) -> Result<(), Failure> {
    let journal = open(&args.file)?;
    let file = args.file.display();
    if journal.state()? == State::Finished {
        return Err(anyhow::anyhow!("{file} is already finished").into());
    }
    journal.set_state(State::Cancelled)?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", serde_json::json!({ "state": "cancelled" }))?,
        false => writeln!(
            out,
            "Cancelled. A running tournament stops within a second. To continue after all, run: \
             crownhead tournament resume --reopen {file}"
        )?,
    }
    Ok(())
}

/// Opens a journal for reading, given the tournament file, the journal, or either without its
/// extension.
fn open(file: &Path) -> Result<Journal, Failure> {
    Journal::open_read_only(&Journal::path_for(file)).map_err(|error| match error {
        JournalError::Missing(journal) => {
            let (file_name, journal) = (file.display(), journal.display());
            let message = match file.exists() {
                true => format!("{file_name} has not been run: there is no journal {journal}"),
                false => format!("found neither {file_name} nor its journal {journal}"),
            };
            anyhow::anyhow!(message).into()
        }
        error => journal_failure(error),
    })
}

pub(crate) fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::NotAJournal(_)
        | JournalError::Version { .. }
        | JournalError::Damaged { .. } => Failure::BadInput(error.to_string()),
        error => error.into(),
    }
}

fn config_failure(error: ConfigError) -> Failure {
    match error {
        ConfigError::Unreadable(message) => anyhow::anyhow!(message).into(),
        error => Failure::BadInput(error.to_string()),
    }
}

/// Formats a number of games.
fn games_text(count: usize) -> String {
    counted(count as u64, "game")
}

fn print_warnings(warnings: &[String]) {
    for warning in warnings {
        eprint_message(format_args!("warning: {warning}"));
    }
}
