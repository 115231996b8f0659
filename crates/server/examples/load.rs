//! Load test of the server: scripted players over WebSockets, with a fixed number of moves per
//! second and game.
//!
//! ```text
//! cargo run --release -p crownhead-server --example load -- \
//!     target/release/crownhead [GAMES] [SECONDS] [MOVES_PER_SECOND]
//! ```
//!
//! Starts the server as a separate process with its games in the temporary directory. Prints the
//! latency of moves from player to opponent, and the memory and CPU time of the server (on Linux).
#![allow(clippy::unwrap_used, clippy::panic)] // a panic shows what went wrong

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crownhead_rules::Game;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// State shared by all players.
struct Shared {
    address: SocketAddr,
    move_interval: Duration,
    start: Instant,
    /// Latencies are recorded while this is set, after the warm-up.
    is_measuring: AtomicBool,
    is_over: AtomicBool,
    latencies: std::sync::Mutex<Vec<u32>>,
    moves: AtomicUsize,
    rematches: AtomicUsize,
    failures: AtomicUsize,
}

/// Time at which the last move of a game was sent, in nanoseconds since the start; shared by both
/// players.
type Sent = Arc<AtomicU64>;

#[derive(Deserialize)]
struct ServerMessage<'a> {
    r#type: &'a str,
    version: Option<u64>,
    side: Option<&'a str>,
    #[serde(borrow)]
    legal: Option<Vec<LegalMove<'a>>>,
    id: Option<Value>,
    #[serde(borrow)]
    outcome: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct LegalMove<'a> {
    text: &'a str,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let program = arguments
        .next()
        .unwrap_or_else(|| panic!("usage: load PROGRAM [GAMES] [SECONDS] [MOVES_PER_SECOND]"));
    let mut number =
        |default: usize| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (games, seconds, rate) = (number(2000), number(30), number(1));
    raise_file_limit();
    let dir = tempfile::tempdir().unwrap();
    let (mut server, address) = start(&program, dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(address, games, seconds, rate, server.id()));
    println!("on disk              {:.1} MB", size(dir.path()) as f64 / 1e6);
    server.kill().unwrap();
    server.wait().unwrap();
}

fn start(program: &str, data: &std::path::Path) -> (Child, SocketAddr) {
    let mut command = Command::new(program);
    command.args(["serve", "--port", "0", "--data"]).arg(data);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    (server, address)
}

async fn run(address: SocketAddr, games: usize, seconds: usize, rate: usize, server: u32) {
    let shared = Arc::new(Shared {
        address,
        move_interval: Duration::from_secs(1) / rate as u32,
        start: Instant::now(),
        is_measuring: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        latencies: Default::default(),
        moves: AtomicUsize::new(0),
        rematches: AtomicUsize::new(0),
        failures: AtomicUsize::new(0),
    });
    let game_ids: Vec<_> = Game::all().iter().map(|game| game.info().id).collect();
    let mut players = Vec::new();
    for number in 0..games {
        let game = create(address, game_ids[number % game_ids.len()]).await;
        let sent = Sent::default();
        for (side, secret) in [(0, &game["secret"]), (1, &game["friend"])] {
            let player = Player {
                shared: shared.clone(),
                sent: sent.clone(),
                id: game["id"].as_str().unwrap().into(),
                secret: secret.as_str().unwrap().into(),
                rng: fastrand::Rng::with_seed(2 * number as u64 + side),
            };
            players.push(tokio::spawn(player.play()));
        }
    }
    println!(
        "{games} games, {} WebSockets, ready after {:.1} s",
        2 * games,
        shared.start.elapsed().as_secs_f64()
    );
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (cpu, measured) = (cpu_time(server), Instant::now());
    shared.is_measuring.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    shared.is_measuring.store(false, Ordering::Relaxed);
    let cpu = cpu_time(server) - cpu;
    let time = measured.elapsed().as_secs_f64();
    shared.is_over.store(true, Ordering::Relaxed);
    let mut latencies = std::mem::take(&mut *shared.latencies.lock().unwrap());
    latencies.sort_unstable();
    let percentile = |fraction: f64| {
        f64::from(latencies[((latencies.len() - 1) as f64 * fraction) as usize]) / 1000.0
    };
    println!("moves per second     {:.0}", shared.moves.load(Ordering::Relaxed) as f64 / time);
    println!(
        "latency in ms        median {:.1}, 90 % {:.1}, 99 % {:.1}, 99.9 % {:.1}, max {:.1} \
         ({} moves)",
        percentile(0.5),
        percentile(0.9),
        percentile(0.99),
        percentile(0.999),
        percentile(1.0),
        latencies.len()
    );
    println!(
        "memory               {} (peak {})",
        status(server, "VmRSS:"),
        status(server, "VmHWM:")
    );
    println!("CPU                  {:.0} % of a core", cpu / time * 100.0);
    println!("rematches            {}", shared.rematches.load(Ordering::Relaxed));
    println!("failures             {}", shared.failures.load(Ordering::Relaxed));
}

async fn create(address: SocketAddr, game: &str) -> Value {
    let body = json!({"game": game, "mode": "friend"}).to_string();
    let head = format!(
        "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1)
        .unwrap_or_else(|_| panic!("{text}"))
}

struct Player {
    shared: Arc<Shared>,
    sent: Sent,
    id: String,
    secret: String,
    rng: fastrand::Rng,
}

type Socket = WebSocketStream<TcpStream>;

impl Player {
    async fn play(mut self) {
        loop {
            match self.play_game().await {
                Some(next) => {
                    self.shared.rematches.fetch_add(1, Ordering::Relaxed);
                    self.id = next;
                }
                None => {
                    if !self.shared.is_over.load(Ordering::Relaxed) {
                        self.shared.failures.fetch_add(1, Ordering::Relaxed);
                    }
                    return;
                }
            }
        }
    }

    async fn connect(&self) -> Option<Socket> {
        let stream = TcpStream::connect(self.shared.address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let url = format!("ws://localhost/api/games/{}/socket", self.id);
        let config = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(1024);
        let request = url.into_client_request().ok()?;
        Some(client_async_with_config(request, stream, Some(config)).await.ok()?.0)
    }

    /// Plays a game to its end. Returns the id of the rematch; `None` if the connection breaks.
    async fn play_game(&mut self) -> Option<String> {
        let mut socket = self.connect().await?;
        let join = json!({"type": "join", "secret": self.secret}).to_string();
        socket.send(Message::text(join)).await.ok()?;
        let mut my_side = String::new();
        // Players do not all start at the same time.
        let mut due = Instant::now() + self.shared.move_interval.mul_f64(self.rng.f64());
        loop {
            let frame = socket.next().await?.ok()?;
            let arrived = self.shared.start.elapsed().as_nanos() as u64;
            let Message::Text(text) = frame else { continue };
            let message: ServerMessage<'_> = serde_json::from_str(&text).ok()?;
            match message.r#type {
                "joined" => {
                    let value: Value = serde_json::from_str(&text).ok()?;
                    my_side = value["you"][0].as_str()?.into();
                }
                "next" => return Some(message.id?.as_str()?.into()),
                "refused" => {
                    let value: Value = serde_json::from_str(&text).ok()?;
                    // Both players offer a rematch; the second offer may come too late.
                    if value["code"] != "nothing" {
                        eprintln!("{text}");
                        self.shared.failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
                "moved" | "state" => {
                    let version = message.version?;
                    if message.outcome.is_some_and(|outcome| outcome.get() != "null") {
                        let offer =
                            json!({"type": "offer", "offer": "rematch", "version": version});
                        socket.send(Message::text(offer.to_string())).await.ok()?;
                        continue;
                    }
                    if message.side? != my_side {
                        continue;
                    }
                    if message.r#type == "moved" && self.shared.is_measuring.load(Ordering::Relaxed)
                    {
                        let latency = arrived.saturating_sub(self.sent.load(Ordering::Relaxed));
                        self.shared.latencies.lock().unwrap().push((latency / 1000) as u32);
                        self.shared.moves.fetch_add(1, Ordering::Relaxed);
                    }
                    let legal = message.legal?;
                    let text = legal.get(self.rng.usize(..legal.len().max(1)))?.text;
                    let reply =
                        json!({"type": "move", "version": version, "move": text}).to_string();
                    due = due.max(Instant::now()) + self.shared.move_interval;
                    tokio::time::sleep_until(due.into()).await;
                    self.sent
                        .store(self.shared.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                    socket.send(Message::text(reply)).await.ok()?;
                    due = Instant::now();
                }
                _ => {}
            }
        }
    }
}

/// A value of `/proc/PID/status`.
fn status(process: u32, key: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.map_or("unknown".into(), |line| line.trim().into())
}

/// CPU time of a process, in seconds.
fn cpu_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn size(dir: &std::path::Path) -> u64 {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(not(unix))]
fn raise_file_limit() {}
