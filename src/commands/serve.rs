//! `crownhead serve`: the board in the browser.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crownhead_files::data_dir;
use crownhead_server::limits::Limits;
use crownhead_server::middleware::PublicUrl;
use crownhead_server::{Server, ServerError};

use super::{Failure, say};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead serve --open
  crownhead serve --host 0.0.0.0 --port 80      (for everybody who reaches this machine)
  crownhead serve --public-url https://games.example      (behind a proxy on this machine)")]
pub(crate) struct Arguments {
    /// The address to listen on: 127.0.0.1 for this machine alone, 0.0.0.0 for others too
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = read_host)]
    host: IpAddr,
    /// The port to listen on; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 8064)]
    port: u16,
    /// The address by which a proxy in front of it is reached
    #[arg(long = "public-url", value_name = "URL", value_parser = read_public)]
    public: Option<PublicUrl>,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
    /// The folder where games are kept [default: server in the data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Arguments {
    /// As if nothing but `--open` had been said.
    pub(crate) fn for_menu() -> Arguments {
        Arguments {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 8064,
            public: None,
            open: true,
            data: None,
        }
    }
}

fn read_host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let refused = "an address is written 127.0.0.1, 0.0.0.0, ::1 or localhost";
    text.trim_matches(['[', ']']).parse().map_err(|_| refused.into())
}

fn read_public(text: &str) -> Result<PublicUrl, String> {
    PublicUrl::parse(text).ok_or_else(|| "a public address is written https://games.example".into())
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let data = arguments.data.clone().or_else(|| data_dir().map(|folder| folder.join("server")));
    let data = data.ok_or_else(|| {
        Failure::Usage("there is no data directory: name a folder for the games with --data".into())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let limits = arguments.public.as_ref().map(|_| Limits::proxied());
        let server = Server::bind(arguments.host, arguments.port, &data, limits).await?;
        let server = server.with_public_url(arguments.public.clone());
        let own = page_address(server.address());
        let address = arguments.public.as_ref().map_or_else(|| own.clone(), PublicUrl::page);
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let mut stop = Some(stop);
        // Before the address is printed: a script may interrupt the server as soon as it reads it. A
        // second signal exits at once, and loses nothing: games are on disk.
        let _ = ctrlc::set_handler(move || match stop.take() {
            Some(stop) => drop(stop.send(())),
            None => std::process::exit(130),
        });
        // Whoever reads it from a pipe may have left; the page is served all the same.
        let _ = writeln!(std::io::stdout(), "{address}").and_then(|()| std::io::stdout().flush());
        say(format_args!(
            "The board is at {address} and games are kept in {}. Ctrl-C ends it.",
            data.display()
        ));
        if arguments.public.is_some() {
            say(format_args!("The proxy finds it at {own}."));
        } else if !arguments.host.is_loopback() {
            say("Others can reach it too, by this address if their network leads here: links to a \
                 game begin with the address that the page was opened by. What goes over the network \
                 is not encrypted.");
        }
        if arguments.open && !open(&address) {
            say("No browser could be opened: open the address yourself.");
        }
        server.serve(async { drop(stopped.await) }).await;
        Ok::<(), ServerError>(())
    });
    runtime.shutdown_background();
    ended.map_err(|error| Failure::Other(error.into()))
}

/// The address of the page, as a browser finds it: for others too, if others can reach it.
fn page_address(listening: SocketAddr) -> String {
    let host: IpAddr = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            outward("0.0.0.0:0", "192.0.2.1:9").unwrap_or(Ipv4Addr::LOCALHOST.into())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => outward("[::]:0", "[2001:db8::1]:9")
            .or_else(|| outward("0.0.0.0:0", "192.0.2.1:9"))
            .unwrap_or(Ipv6Addr::LOCALHOST.into()),
        ip => ip,
    };
    format!("http://{}/", SocketAddr::new(host, listening.port()))
}

/// The address from which this machine would speak to another one. Nothing is sent.
fn outward(from: &str, to: &str) -> Option<IpAddr> {
    let socket = UdpSocket::bind(from).ok()?;
    socket.connect(to).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

/// Opens an address in the browser, if there is a way to.
fn open(address: &str) -> bool {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Err(_) => false,
        Ok(mut child) => {
            // It ends when it likes; somebody has to take note.
            std::thread::spawn(move || child.wait());
            true
        }
    }
}
