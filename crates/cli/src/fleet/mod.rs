//! `--fleet`: work for the workers of a fleet; `crownhead worker` and `crownhead fleet`.

mod dead;
mod status;
mod up;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use clap::value_parser;
use crownhead_files::data_dir;
use crownhead_fleet::{Coordinator, FleetRun, FleetStatus, ServerOptions};
use crownhead_play::StopFlag;
use crownhead_rules::Game;
use crownhead_sandbox::Isolation;
use crownhead_tournament::Tournament;
use crownhead_tournament::journal::Journal;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::eprint_message;
use crate::tournament::journal_failure;

pub use worker::{Worker, run_worker};

/// The subcommands of `crownhead fleet`.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Start a NATS server for a fleet
    Up(up::Args),
    /// Show the workers, the runs and the queue
    Status(status::Args),
    /// List the jobs that five workers failed to finish, or queue them again
    Dead(dead::Args),
}

/// Runs the command.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Up(args) => up::run(args),
        Command::Status(args) => status::run(args),
        Command::Dead(args) => dead::run(args),
    }
}

/// How to reach the NATS server.
#[derive(clap::Args)]
pub struct ServerArgs {
    /// NATS server: nats://HOST:4222, tls://HOST:4222, or several of a cluster, separated by commas
    /// [default: the one in the credentials, or nats://127.0.0.1:4222]
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    /// File with credentials: of `crownhead fleet up`, or of a NATS user
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// File with the certificates of the authority that signed the server's certificate, if the
    /// system does not know it
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
}

impl ServerArgs {
    fn options(&self) -> ServerOptions {
        ServerOptions {
            url: self.nats.clone(),
            credentials: self.credentials.clone(),
            tls_ca: self.tls_ca.clone(),
        }
    }

    /// Fails if an option is given although there is no `--fleet`.
    fn check_unused(&self) -> Result<(), Failure> {
        let options = [
            ("--nats", self.nats.is_some()),
            ("--credentials", self.credentials.is_some()),
            ("--tls-ca", self.tls_ca.is_some()),
        ];
        match options.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::Usage(format!("{option} needs --fleet"))),
            None => Ok(()),
        }
    }
}

/// Returns the status of a fleet, or why there is none.
pub type FetchStatus = Box<dyn FnMut() -> Result<Value, String> + Send>;

/// Options of a command that shows the status of a fleet if it is asked to.
#[derive(clap::Args)]
pub struct ShownFleetArgs {
    /// Show the status of a fleet at /fleet, to everybody who can open the page
    #[arg(long)]
    fleet: bool,
    #[command(flatten)]
    server: ServerArgs,
}

impl ShownFleetArgs {
    /// Shows no fleet.
    pub fn none() -> ShownFleetArgs {
        let server = ServerArgs { nats: None, credentials: None, tls_ca: None };
        ShownFleetArgs { fleet: false, server }
    }

    /// Returns a function that asks for the status, as `crownhead fleet status --json` prints it;
    /// `None` if no fleet is to be shown.
    pub fn fetch(&self) -> Result<Option<FetchStatus>, Failure> {
        if !self.fleet {
            return self.server.check_unused().map(|()| None);
        }
        let options = self.server.options();
        let fetch = move || match FleetStatus::fetch(&options) {
            Ok(status) => Ok(status.to_json()),
            Err(error) => Err(error.to_string()),
        };
        Ok(Some(Box::new(fetch)))
    }
}

/// Options of the commands that a fleet can work for.
#[derive(clap::Args)]
pub struct FleetArgs {
    /// Use the workers of a fleet (see `crownhead worker`)
    #[arg(long)]
    fleet: bool,
    /// Percentage of the jobs that two workers do, to compare their results: pairs of games, blocks
    /// of training data, games to analyse. Without time limits only
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    #[arg(value_parser = value_parser!(u8).range(0..=100))]
    check_pairs: u8,
    #[command(flatten)]
    server: ServerArgs,
}

impl FleetArgs {
    /// Whether a fleet is to be used. Fails if options of a fleet are given without it.
    pub fn is_used(&self) -> Result<bool, Failure> {
        if !self.fleet {
            if self.check_pairs > 0 {
                return Err(Failure::Usage("--check-pairs needs --fleet".into()));
            }
            self.server.check_unused()?;
        }
        Ok(self.fleet)
    }

    /// Connects as a coordinator, if a fleet is to be used. `isolation` is that of the bots.
    pub fn join(&self, isolation: Option<Isolation>) -> Result<Option<Coordinator>, Failure> {
        if !self.is_used()? {
            return Ok(None);
        }
        if isolation == Some(Isolation::Off) {
            return Err(Failure::Usage("workers run no bots without isolation".into()));
        }
        // A worker's text must not look like another message.
        let notify = Arc::new(|message: &str| {
            eprint_message(format_args!("fleet: {}", message.replace(['\n', '\r'], " ")));
        });
        Ok(Some(Coordinator::join(&self.server.options(), notify)?))
    }

    /// Describes a run that cannot be resumed. Its results depend on the tables of some games.
    pub fn run<'a>(
        &self,
        name: String,
        games_with_tables: impl IntoIterator<Item = &'a Game>,
    ) -> FleetRun {
        FleetRun::new(name, games_with_tables, self.check_pairs)
    }

    /// Makes a run one that the same command resumes. `identity` is what its results depend on.
    pub fn resumable(
        &self,
        run: FleetRun,
        coordinator: &Coordinator,
        identity: &str,
    ) -> Result<FleetRun, Failure> {
        let Some(folder) = data_dir() else { return Ok(run) };
        Ok(run.resumable(coordinator, &folder.join("fleet").join("key"), identity)?)
    }

    /// Describes a run with a journal.
    pub(crate) fn run_with_journal(
        &self,
        coordinator: &Coordinator,
        tournament: &Tournament,
        journal: &Journal,
        uses_tables: bool,
        finish: StopFlag,
    ) -> Result<FleetRun, Failure> {
        let created = journal.created().map_err(journal_failure)?;
        let path = journal.path().canonicalize()?;
        let mut identity = format!("{created} {}", path.display());
        identity.push_str(&format!("{:?}", tournament.result_settings()));
        for entrant in &tournament.entrants {
            identity.push_str(&format!("{}\n{}", entrant.name, entrant.description()));
            identity.push_str(&entrant.files().to_text());
        }
        let run = self.run(tournament.name.clone(), uses_tables.then_some(&tournament.game));
        let mut run = self.resumable(run, coordinator, &identity)?;
        run.finish = finish;
        coordinator.upload(&mut run, &tournament.entrants.iter().collect::<Vec<_>>())?;
        Ok(run)
    }
}
