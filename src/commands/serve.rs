//! `crownhead serve`: serves the games to browsers.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crownhead_files::data_dir;
use crownhead_server::limits::Limits;
use crownhead_server::middleware::PublicUrl;
use crownhead_server::{Server, ServerError};

use crate::failure::Failure;
use crate::output::eprint_message;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead serve --open
  crownhead serve --host 0.0.0.0 --port 80      (for everyone who can reach this machine)
  crownhead serve --public-url https://games.example      (behind a proxy on this machine)")]
pub(crate) struct Args {
    /// Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for others too
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_host)]
    host: IpAddr,
    /// Port to listen on; 0 chooses a free one
    #[arg(long, value_name = "N", default_value_t = 8064)]
    port: u16,
    /// URL under which a reverse proxy serves the page
    #[arg(long, value_name = "URL", value_parser = parse_public_url)]
    public_url: Option<PublicUrl>,
    /// Open the page in the default browser
    #[arg(long)]
    open: bool,
    /// Folder for the games [default: server in the data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Args {
    /// Arguments of `crownhead serve --open`.
    pub(crate) fn for_menu() -> Args {
        Args {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 8064,
            public_url: None,
            open: true,
            data: None,
        }
    }
}

fn parse_host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let message = "expected an address such as 127.0.0.1, 0.0.0.0, ::1 or localhost";
    text.trim_matches(['[', ']']).parse().map_err(|_| message.into())
}

fn parse_public_url(text: &str) -> Result<PublicUrl, String> {
    PublicUrl::parse(text).ok_or_else(|| "expected a URL such as https://games.example".into())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let data = args.data.clone().or_else(|| data_dir().map(|folder| folder.join("server")));
    let data = data.ok_or_else(|| {
        Failure::Usage("no data directory found: set a folder for the games with --data".into())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let limits = args.public_url.as_ref().map(|_| Limits::proxied());
        let server = Server::bind(args.host, args.port, &data, limits).await?;
        let server = server.with_public_url(args.public_url.clone());
        let local_url = page_url(server.address());
        let url = args.public_url.as_ref().map_or_else(|| local_url.clone(), PublicUrl::page);
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let mut stop = Some(stop);
        // Set before the URL is printed, because a script may interrupt the server as soon as it
        // reads it. A second signal exits at once and loses nothing: games are on disk.
        let _ = ctrlc::set_handler(move || match stop.take() {
            Some(stop) => drop(stop.send(())),
            None => std::process::exit(130),
        });
        // The page is served even if nobody reads the URL.
        let _ = writeln!(std::io::stdout(), "{url}").and_then(|()| std::io::stdout().flush());
        eprint_message(format_args!(
            "Serving {url}; games are stored in {}. Press Ctrl-C to stop.",
            data.display()
        ));
        if args.public_url.is_some() {
            eprint_message(format_args!("Point the proxy at {local_url}."));
        } else if !args.host.is_loopback() {
            eprint_message(
                "Anyone who can reach this machine can play. Links to a game start with the \
                 address that the page was opened with. Connections are not encrypted.",
            );
        }
        if args.open && !open_browser(&url) {
            eprint_message("Could not open a browser; open the address yourself.");
        }
        server.serve(async { drop(stopped.await) }).await;
        Ok::<(), ServerError>(())
    });
    runtime.shutdown_background();
    result.map_err(|error| Failure::Other(error.into()))
}

/// Returns the URL of the page. If the server listens on all addresses, other machines can use it
/// too.
fn page_url(listening: SocketAddr) -> String {
    let host: IpAddr = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            outbound_address("0.0.0.0:0", "192.0.2.1:9").unwrap_or(Ipv4Addr::LOCALHOST.into())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => outbound_address("[::]:0", "[2001:db8::1]:9")
            .or_else(|| outbound_address("0.0.0.0:0", "192.0.2.1:9"))
            .unwrap_or(Ipv6Addr::LOCALHOST.into()),
        ip => ip,
    };
    format!("http://{}/", SocketAddr::new(host, listening.port()))
}

/// Returns the local address of connections to `to`. Sends nothing.
fn outbound_address(from: &str, to: &str) -> Option<IpAddr> {
    let socket = UdpSocket::bind(from).ok()?;
    socket.connect(to).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

/// Opens a URL in the default browser. Returns whether that started.
fn open_browser(url: &str) -> bool {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(args).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Err(_) => false,
        Ok(mut child) => {
            // Reap the process when it exits.
            std::thread::spawn(move || child.wait());
            true
        }
    }
}
