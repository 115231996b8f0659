//! `crownhead tournament`: tournaments between many players. Here are the arguments; [`mod@run`] runs and
//! resumes a tournament, [`show`] tells what its journal knows.

mod progress;
mod run;
mod show;

use std::path::{Path, PathBuf};

use crownhead_tournament::config::{ConfigError, TEMPLATE};
use crownhead_tournament::journal::{Journal, JournalError, State};

use crownhead_files::write_atomic;

use super::{Failure, say};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Write a tournament file with comments, to be changed
    New(New),
    /// Play a tournament from its beginning
    Run(Run),
    /// Go on with a tournament: exactly the games that are missing are played
    Resume(Resume),
    /// Say how far a tournament is, and how long it will take
    Status(Show),
    /// Print the table
    Standings(Standings),
    /// List the games, or show one with its moves
    Games(Games),
    /// End a tournament for good; what was played stays in its journal
    Cancel(Show),
}

#[derive(clap::Args)]
pub(crate) struct New {
    /// The file to write
    #[arg(value_name = "FILE", default_value = "contest.toml")]
    file: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// The tournament file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object for each event
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Resume {
    /// The tournament file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// If the tournament or a bot has changed: let the games that were played before count
    #[arg(long, conflicts_with = "replay")]
    keep: bool,
    /// If the tournament or a bot has changed: play the games again that it concerns
    #[arg(long)]
    replay: bool,
    /// Play all games of this player again
    #[arg(long, value_name = "NAME")]
    replay_player: Vec<String>,
    /// Go on with a tournament that was cancelled
    #[arg(long)]
    reopen: bool,
    /// Print one JSON object for each event
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The tournament file, or its journal
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Standings {
    #[command(flatten)]
    show: Show,
    /// Print everybody's results against everybody, however many there are
    #[arg(long)]
    crosstable: bool,
}

#[derive(clap::Args)]
pub(crate) struct Games {
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
    /// Only games that were lost by a fault
    #[arg(long)]
    forfeits: bool,
    /// Also write the finished games to this file
    #[arg(long, value_name = "PDN")]
    pdn: Option<PathBuf>,
}

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(arguments) => new(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Resume(arguments) => run::resume(&arguments),
        Command::Status(arguments) => show::status(&arguments),
        Command::Standings(arguments) => show::standings(&arguments),
        Command::Games(arguments) => show::games(&arguments),
        Command::Cancel(arguments) => cancel(&arguments),
    }
}

fn new(arguments: &New) -> Result<(), Failure> {
    use std::io::Write;
    let file = arguments.file.display();
    if arguments.file.symlink_metadata().is_ok() {
        let message = format!("{file} is there already: name another file");
        return Err(anyhow::anyhow!(message).into());
    }
    write_atomic(&arguments.file, TEMPLATE)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{file} is a contest with comments: change it, then")?;
    writeln!(out, "  crownhead tournament run {file}")?;
    Ok(())
}

fn cancel(arguments: &Show) -> Result<(), Failure> {
    use std::io::Write;
    let journal = open(&arguments.file)?;
    if journal.state()? == State::Finished {
        let message = format!("{} is finished already", arguments.file.display());
        return Err(anyhow::anyhow!(message).into());
    }
    journal.set_state(State::Cancelled)?;
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", serde_json::json!({ "state": "cancelled" }))?,
        false => writeln!(
            out,
            "cancelled: a run ends within a moment; `crownhead tournament resume --reopen` would go on"
        )?,
    }
    Ok(())
}

/// The journal of a tournament, to be read. The tournament file, the journal, or the one without its ending
/// name it.
fn open(file: &Path) -> Result<Journal, Failure> {
    Journal::open_read_only(&Journal::path_for(file)).map_err(|error| match error {
        JournalError::Missing(path) => {
            let file = file.display();
            let path = path.display();
            let message = match Path::new(&file.to_string()).exists() {
                true => format!("{file} has not been run: there is no journal {path}"),
                false => format!("there is neither {file} nor a journal {path}"),
            };
            anyhow::anyhow!(message).into()
        }
        error => journal_failure(error),
    })
}

fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::NotAJournal(_) | JournalError::Version { .. } => {
            Failure::BadInput(error.to_string())
        }
        error => error.into(),
    }
}

fn config_failure(error: ConfigError) -> Failure {
    match error {
        ConfigError::Unreadable(why) => anyhow::anyhow!(why).into(),
        error => Failure::BadInput(error.to_string()),
    }
}

/// So many games, in words.
fn games_text(count: usize) -> String {
    if count == 1 { "1 game".into() } else { format!("{count} games") }
}

/// Tells the organiser what is remarkable about a tournament.
fn say_notes(notes: &[String]) {
    for note in notes {
        say(format_args!("note: {note}"));
    }
}
