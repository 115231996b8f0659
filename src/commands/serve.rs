//! `crownhead serve`: the games in a browser.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use crownhead_cli::fleet::ShownFleetArgs;
use crownhead_cli::network::public_address;
use crownhead_files::data_dir;
use crownhead_server::limits::Limits;
use crownhead_server::middleware::PublicUrl;
use crownhead_server::{Server, ServerError};
use tracing_subscriber::filter::LevelFilter;

use crate::failure::Failure;
use crate::output::eprint_message;

const DEFAULT_PORT: u16 = 8064;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead serve --open
  crownhead serve --host 0.0.0.0 --port 80            (reachable from other machines)
  crownhead serve --public-url https://games.example  (behind a proxy on this machine)")]
pub(crate) struct Args {
    /// Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all interfaces
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_host)]
    host: IpAddr,
    /// Port to listen on; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// URL under which a reverse proxy publishes the server
    #[arg(long, value_name = "URL", value_parser = parse_public_url)]
    public_url: Option<PublicUrl>,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
    /// Directory for the games [default: server in the data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Open connections per address
    #[arg(long, value_name = "N")]
    connections_per_address: Option<usize>,
    /// New games per minute and address, after the first 300
    #[arg(long, value_name = "N")]
    games_per_minute: Option<u32>,
    /// Browser tabs per seat
    #[arg(long, value_name = "N")]
    tabs_per_seat: Option<usize>,
    /// Spectators per game
    #[arg(long, value_name = "N")]
    spectators_per_game: Option<usize>,
    /// Least severe log messages to write to standard error; info logs every request
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log_level: LogLevel,
    #[command(flatten)]
    fleet: ShownFleetArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    fn filter(self) -> LevelFilter {
        match self {
            LogLevel::Off => LevelFilter::OFF,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        }
    }
}

impl Args {
    /// The arguments of `crownhead serve --open`.
    pub(crate) fn for_menu() -> Args {
        Args {
            host: Ipv4Addr::LOCALHOST.into(),
            port: DEFAULT_PORT,
            public_url: None,
            open: true,
            data: None,
            connections_per_address: None,
            games_per_minute: None,
            tabs_per_seat: None,
            spectators_per_game: None,
            log_level: LogLevel::Warn,
            fleet: ShownFleetArgs::none(),
        }
    }
}

impl Args {
    fn limits(&self) -> Limits {
        let mut limits = match (&self.public_url, self.host.is_loopback()) {
            (Some(_), _) => Limits::proxied(),
            (None, true) => Limits::local(),
            (None, false) => Limits::open(),
        };
        let set = |limit: &mut usize, value: Option<usize>| *limit = value.unwrap_or(*limit);
        set(&mut limits.connections_per_client, self.connections_per_address);
        set(&mut limits.sockets_per_seat, self.tabs_per_seat);
        set(&mut limits.spectators_per_game, self.spectators_per_game);
        if let Some(games) = self.games_per_minute {
            limits.new_games.per_second = f64::from(games) / 60.0;
        }
        limits
    }
}

fn parse_host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let expected = "expected an address such as 127.0.0.1, 0.0.0.0, ::1 or localhost";
    text.trim_matches(['[', ']']).parse().map_err(|_| expected.into())
}

fn parse_public_url(text: &str) -> Result<PublicUrl, String> {
    PublicUrl::parse(text).ok_or_else(|| "expected a URL such as https://games.example".into())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let fleet = args.fleet.fetch()?;
    start_log(args.log_level);
    let data = args.data.clone().or_else(|| data_dir().map(|dir| dir.join("server")));
    let data = data.ok_or_else(|| {
        Failure::Usage("no data directory found: choose a directory with --data".into())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = Server::bind(args.host, args.port, &data, Some(args.limits())).await?;
        let mut server = server.with_public_url(args.public_url.clone());
        let has_fleet = fleet.is_some();
        if let Some(fetch) = fleet {
            server = server.with_fleet(fetch)?;
        }
        let local_url = page_url(server.address());
        let url = args.public_url.as_ref().map_or_else(|| local_url.clone(), PublicUrl::page);
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let mut stop = Some(stop);
        // Before the URL is printed: a script may interrupt the server as soon as it reads it. A
        // second signal exits at once and loses nothing: games are on disk.
        let _ = ctrlc::set_handler(move || match stop.take() {
            Some(stop) => drop(stop.send(())),
            None => std::process::exit(130),
        });
        // The reader of a pipe may be gone; serve anyway.
        let _ = writeln!(std::io::stdout(), "{url}").and_then(|()| std::io::stdout().flush());
        eprint_message(format_args!(
            "Serving at {url}, games in {}. Press Ctrl-C to stop.",
            data.display()
        ));
        if args.public_url.is_some() {
            eprint_message(format_args!("The proxy should forward to {local_url}"));
        } else if !args.host.is_loopback() {
            eprint_message(
                "Other machines in the network can use this address. The connection is not \
                 encrypted. Links to a game start with the address in the browser's address bar.",
            );
        }
        if has_fleet {
            eprint_message(format_args!(
                "Everybody who can open the page sees the fleet at {url}fleet"
            ));
        }
        if args.open && !open(&url) {
            eprint_message("Could not open a browser. Open the address yourself.");
        }
        server.serve(async move { drop(stopped.await) }).await;
        Ok::<(), ServerError>(())
    });
    runtime.shutdown_background();
    served.map_err(|error| Failure::Other(error.into()))
}

/// Writes the log to standard error. Write errors are ignored: the server runs without a log.
fn start_log(level: LogLevel) {
    let log = tracing_subscriber::fmt()
        .with_max_level(level.filter())
        .with_writer(std::io::stderr)
        .with_target(false)
        .log_internal_errors(false);
    // Fails only if there is a log already.
    let _ = log.try_init();
}

/// The URL of the page; with an address that other machines can use if they can reach the server.
fn page_url(listening: SocketAddr) -> String {
    let host = public_address(listening.ip());
    format!("http://{}/", SocketAddr::new(host, listening.port()))
}

/// Opens a URL in the browser. Returns whether the opener could be started.
fn open(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Err(_) => false,
        Ok(mut child) => {
            // Reaps the process whenever it exits.
            std::thread::spawn(move || child.wait());
            true
        }
    }
}
