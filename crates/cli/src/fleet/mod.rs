//! `--fleet`: games played by the workers of a fleet; `crownhead worker` and `crownhead fleet`.

mod dead;
mod status;
mod up;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use clap::value_parser;
use crownhead_files::data_dir;
use crownhead_fleet::{Coordinator, FleetRun, FleetStatus, RunKey, ServerOptions};
use crownhead_play::StopFlag;
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
    /// List the jobs that ended five workers, or queue them again
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

/// Options of the commands whose games a fleet can play.
#[derive(clap::Args)]
pub struct FleetArgs {
    /// Play the games on the workers of a fleet (see `crownhead worker`)
    #[arg(long)]
    fleet: bool,
    /// Percentage of the pairs that two workers play, to compare their games; for players without
    /// time limits
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    #[arg(value_parser = value_parser!(u8).range(0..=100))]
    check_pairs: u8,
    #[command(flatten)]
    server: ServerArgs,
}

impl FleetArgs {
    /// Connects as a coordinator, if the games are to be played by a fleet. `isolation` is that of
    /// the bots.
    pub(crate) fn join(
        &self,
        isolation: Option<Isolation>,
    ) -> Result<Option<Coordinator>, Failure> {
        if !self.fleet {
            if self.check_pairs > 0 {
                return Err(Failure::Usage("--check-pairs needs --fleet".into()));
            }
            return self.server.check_unused().map(|()| None);
        }
        if isolation == Some(Isolation::Off) {
            return Err(Failure::Usage("workers run no bots without isolation".into()));
        }
        let notify = Arc::new(|message: &str| eprint_message(format_args!("fleet: {message}")));
        Ok(Some(Coordinator::join(&self.server.options(), notify)?))
    }

    /// Describes a run that cannot be resumed.
    pub(crate) fn run(&self, name: String, tables: Vec<String>) -> FleetRun {
        FleetRun::new(name, tables, self.check_pairs)
    }

    /// Describes a run with a journal.
    pub(crate) fn run_with_journal(
        &self,
        coordinator: &Coordinator,
        tournament: &Tournament,
        journal: &Journal,
        tables: Vec<String>,
        finish: StopFlag,
    ) -> Result<FleetRun, Failure> {
        let mut run = self.run(tournament.name.clone(), tables);
        run.finish = finish;
        if let Some(folder) = data_dir() {
            let created = journal.created().map_err(journal_failure)?;
            let path = journal.path().canonicalize()?;
            let mut identity = format!("{created} {} {}", path.display(), coordinator.build());
            identity.push_str(&format!("{:?}", tournament.result_settings()));
            for entrant in &tournament.entrants {
                identity.push_str(&format!("{}\n{}", entrant.name, entrant.description()));
                identity.push_str(&entrant.files().to_text());
            }
            run.key = RunKey::derived(&folder.join("fleet").join("key"), &identity)?;
            run.is_resumable = true;
        }
        coordinator.upload(&mut run, &tournament.entrants.iter().collect::<Vec<_>>())?;
        Ok(run)
    }
}
