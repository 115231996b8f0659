//! `crownhead fleet dead`.

use std::io::Write;

use crownhead_fleet::{DeadJob, DeadJobs};
use crownhead_play::counted;
use crownhead_rules::escape_invisible;
use serde_json::json;

use super::ServerArgs;
use crate::failure::Failure;
use crate::output::eprint_message;

/// Arguments of `crownhead fleet dead`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Queue all of them again
    #[arg(long)]
    retry: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "retry")]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let dead_jobs = DeadJobs::open(&args.server.options())?;
    let list = dead_jobs.list()?;
    if args.retry {
        for job in &list {
            dead_jobs.retry(job)?;
        }
        eprint_message(format_args!("queued {} again", counted(list.len() as u64, "job")));
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", json!({ "dead": list }))?;
        return Ok(());
    }
    for job in &list {
        let DeadJob { number, run, players, queued, .. } = job;
        let players =
            if players.is_empty() { String::new() } else { format!(", {}", players.join(" - ")) };
        let line = format!("{number}  run {run}, {}{players}, queued {queued}", job.games_text());
        writeln!(out, "{}", escape_invisible(&line))?;
    }
    if list.is_empty() {
        writeln!(out, "no dead jobs")?;
    }
    Ok(())
}
