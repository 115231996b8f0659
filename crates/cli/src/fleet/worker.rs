//! `crownhead worker`.

use std::sync::Arc;

use clap::value_parser;
use crownhead_fleet::worker::{self, WorkerOptions};
use crownhead_play::StopFlag;

use super::ServerArgs;
use crate::failure::Failure;
use crate::output::eprint_message;

/// Arguments of `crownhead worker`.
#[derive(clap::Args)]
#[command(after_help = "\
On SIGTERM or Ctrl-C the worker finishes its games and leaves. On a second one it gives them back
to the queue.")]
pub struct Worker {
    #[command(flatten)]
    server: ServerArgs,
    /// Games played in parallel, at most one per core [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,
    /// Name in the status of the fleet [default: name of the machine and a random number]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
}

/// Parses a name that can be part of a NATS subject.
fn parse_name(text: &str) -> Result<String, String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_valid) {
        true => Ok(text.into()),
        false => Err("use at most 64 letters, digits, - and _".into()),
    }
}

/// Runs `crownhead worker`.
pub fn run_worker(args: &Worker) -> Result<(), Failure> {
    let (drain, abort) = (StopFlag::new(), StopFlag::new());
    let options = WorkerOptions {
        server: args.server.options(),
        name: args.name.clone(),
        concurrency: args.concurrency.map(usize::from),
        drain: drain.clone(),
        abort: abort.clone(),
    };
    // Without a handler the signal ends the program; its jobs go to other workers.
    let _ = ctrlc::set_handler(move || {
        if abort.is_set() {
            crownhead_sandbox::reaper::kill_all();
            std::process::exit(130);
        }
        match drain.is_set() {
            true => {
                eprint_message("giving the running games back");
                abort.set();
            }
            false => {
                eprint_message("finishing the running games; Ctrl-C again gives them back");
                drain.set();
            }
        }
    });
    let notify = Arc::new(|message: &str| eprint_message(message));
    Ok(worker::run(&options, notify)?)
}
