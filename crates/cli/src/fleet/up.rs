//! `crownhead fleet up`.

use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::value_parser;
use crownhead_files::data_dir;
use crownhead_fleet::up::{self, UpOptions};

use crate::failure::Failure;
use crate::network::public_address;
use crate::output::eprint_message;
use crate::signals::stop_on_signals;

/// Arguments of `crownhead fleet up`.
#[derive(clap::Args)]
#[command(after_help = "\
On loopback there are no users and no encryption. With another --host the server has TLS and one
user per worker: copy one file of the folder workers to each machine.

Examples:
  crownhead fleet up
  crownhead fleet up --host 0.0.0.0 --workers 30")]
pub struct Args {
    /// Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all interfaces
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on
    #[arg(long, value_name = "N", default_value_t = 4222)]
    #[arg(value_parser = value_parser!(u16).range(1..))]
    port: u16,
    /// Name or address under which workers find this machine [default: its address in the network]
    #[arg(long, value_name = "NAME", value_parser = parse_address)]
    address: Option<String>,
    /// Number of workers that get credentials
    #[arg(long, value_name = "N", default_value_t = 32)]
    #[arg(value_parser = value_parser!(u32).range(1..=20_000))]
    workers: u32,
    /// TLS and users on loopback, too
    #[arg(long)]
    tls: bool,
    /// Folder for the queue, certificates and credentials [default: fleet in the data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Parses a host name or an IP address.
fn parse_address(text: &str) -> Result<String, String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    match !text.is_empty() && text.chars().all(is_valid) {
        true => Ok(text.into()),
        false => Err("expected a host name or an IP address".into()),
    }
}

/// How often the server is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let folder = match (&args.data, data_dir()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) => folder.join("fleet"),
        (None, None) => return Err(Failure::Usage("no data directory: use --data".into())),
    };
    let options = UpOptions {
        host: args.host,
        port: args.port,
        address: args.address.clone().unwrap_or_else(|| public_address(args.host).to_string()),
        folder,
        workers: args.workers,
        is_secure: args.tls || !args.host.is_loopback(),
    };
    let stop = stop_on_signals();
    let mut server = up::start(&options, &stop)?;
    let mut out = std::io::stdout().lock();
    match &server.credentials {
        None => {
            let url = &server.url;
            writeln!(out, "crownhead worker --nats {url}")?;
            eprint_message(format_args!(
                "A NATS server listens on {url}. Run the line above on this machine as a worker, and \
                 match, sprt or tournament with --fleet --nats {url}. Ctrl-C stops the server."
            ));
        }
        Some(files) => {
            writeln!(out, "crownhead worker --credentials worker-1.json")?;
            eprint_message(format_args!(
                "A NATS server listens on {}, with TLS. Copy one file of {} to each worker, and \
                 run the line above there with the name of its file. Start runs here with --fleet \
                 --credentials {}. Ctrl-C stops the server.",
                server.url,
                files.workers.display(),
                files.coordinator.display()
            ));
        }
    }
    out.flush()?;
    while !stop.is_set() {
        if server.has_ended() {
            return Err(anyhow::anyhow!("nats-server has ended").into());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}
