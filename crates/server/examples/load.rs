//! How many games the server carries: scripted players over WebSockets, each game so many moves a second.
//!
//! `cargo run --release -p crownhead-server --example load -- target/release/crownhead [GAMES] [SECONDS]
//! [MOVES A SECOND]` starts the server as a process of its own, with games on the disk of the temporary
//! directory, and tells how long a move took from the player who made it to the opponent, and how much
//! memory the server had.
#![allow(clippy::unwrap_used, clippy::panic)] // whoever measures sees what is wrong

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// What all players share.
struct Shared {
    address: SocketAddr,
    pace: Duration,
    start: Instant,
    /// Only what happens in between counts.
    counting: AtomicBool,
    over: AtomicBool,
    latencies: std::sync::Mutex<Vec<u32>>,
    moves: AtomicUsize,
    rematches: AtomicUsize,
    failures: AtomicUsize,
}

/// When the last move of a game was sent, in nanoseconds since the start; odd halves of games share it.
type Sent = Arc<AtomicU64>;

#[derive(Deserialize)]
struct Heard<'a> {
    r#type: &'a str,
    version: Option<u64>,
    side: Option<&'a str>,
    #[serde(borrow)]
    legal: Option<Vec<Legal<'a>>>,
    id: Option<Value>,
    #[serde(borrow)]
    outcome: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct Legal<'a> {
    text: &'a str,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_else(|| panic!("which crownhead?"));
    let mut number = |usual: usize| arguments.next().map_or(usual, |text| text.parse().unwrap());
    let (games, seconds, rate) = (number(2000), number(30), number(1));
    raise_file_limit();
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = begin(&program, folder.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(address, games, seconds, rate, server.id()));
    println!("on disk              {:.1} MB", size(folder.path()) as f64 / 1e6);
    server.kill().unwrap();
    server.wait().unwrap();
}

fn begin(program: &str, data: &std::path::Path) -> (Child, SocketAddr) {
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
        pace: Duration::from_secs(1) / rate as u32,
        start: Instant::now(),
        counting: AtomicBool::new(false),
        over: AtomicBool::new(false),
        latencies: Default::default(),
        moves: AtomicUsize::new(0),
        rematches: AtomicUsize::new(0),
        failures: AtomicUsize::new(0),
    });
    let kinds = ["english", "contest", "chinese-checkers", "capture-halma"];
    let mut players = Vec::new();
    for number in 0..games {
        let game = create(address, kinds[number % 4]).await;
        let sent = Sent::default();
        for (side, secret) in [(0, &game["secret"]), (1, &game["friend"])] {
            let player = Player {
                shared: shared.clone(),
                sent: sent.clone(),
                id: game["id"].as_str().unwrap().into(),
                secret: secret.as_str().unwrap().into(),
                lots: fastrand::Rng::with_seed(2 * number as u64 + side),
            };
            players.push(tokio::spawn(player.play()));
        }
    }
    println!(
        "{games} games, {} sockets, ready after {:.1} s",
        2 * games,
        shared.start.elapsed().as_secs_f64()
    );
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (cpu, begun) = (cpu_time(server), Instant::now());
    shared.counting.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    shared.counting.store(false, Ordering::Relaxed);
    let cpu = cpu_time(server) - cpu;
    let time = begun.elapsed().as_secs_f64();
    shared.over.store(true, Ordering::Relaxed);
    let mut all = std::mem::take(&mut *shared.latencies.lock().unwrap());
    all.sort_unstable();
    let at = |part: f64| f64::from(all[((all.len() - 1) as f64 * part) as usize]) / 1000.0;
    println!("moves a second       {:.0}", shared.moves.load(Ordering::Relaxed) as f64 / time);
    println!(
        "from move to opponent, ms: median {:.1}, 90 % {:.1}, 99 % {:.1}, 99.9 % {:.1}, most {:.1} (of {})",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0),
        all.len()
    );
    println!(
        "memory of the server {} (most {})",
        status(server, "VmRSS:"),
        status(server, "VmHWM:")
    );
    println!("processor            {:.0} % of a core", cpu / time * 100.0);
    println!("rematches            {}", shared.rematches.load(Ordering::Relaxed));
    println!("failures             {}", shared.failures.load(Ordering::Relaxed));
}

async fn create(address: SocketAddr, kind: &str) -> Value {
    let body = json!({"game": kind, "mode": "friend"}).to_string();
    let head = format!(
        "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
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
    lots: fastrand::Rng,
}

type Socket = WebSocketStream<TcpStream>;

impl Player {
    async fn play(mut self) {
        loop {
            match self.play_one().await {
                Some(next) => {
                    self.shared.rematches.fetch_add(1, Ordering::Relaxed);
                    self.id = next;
                }
                None => {
                    if !self.shared.over.load(Ordering::Relaxed) {
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

    /// Plays a game to its end; the id of the rematch.
    async fn play_one(&mut self) -> Option<String> {
        let mut socket = self.connect().await?;
        let join = json!({"type": "join", "secret": self.secret}).to_string();
        socket.send(Message::text(join)).await.ok()?;
        let mut own = String::new();
        // Players do not all begin at the same moment.
        let mut due = Instant::now() + self.shared.pace.mul_f64(self.lots.f64());
        loop {
            let message = socket.next().await?.ok()?;
            let arrived = self.shared.start.elapsed().as_nanos() as u64;
            let Message::Text(text) = message else { continue };
            let heard: Heard<'_> = serde_json::from_str(&text).ok()?;
            match heard.r#type {
                "joined" => {
                    let value: Value = serde_json::from_str(&text).ok()?;
                    own = value["you"][0].as_str()?.into();
                }
                "next" => return Some(heard.id?.as_str()?.into()),
                "refused" => {
                    let value: Value = serde_json::from_str(&text).ok()?;
                    // Both offer a rematch, and one of them is too late.
                    if value["code"] != "nothing" {
                        eprintln!("{text}");
                        self.shared.failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
                "moved" | "state" => {
                    let version = heard.version?;
                    if heard.outcome.is_some_and(|outcome| outcome.get() != "null") {
                        let offer =
                            json!({"type": "offer", "offer": "rematch", "version": version});
                        socket.send(Message::text(offer.to_string())).await.ok()?;
                        continue;
                    }
                    if heard.side? != own {
                        continue;
                    }
                    if heard.r#type == "moved" && self.shared.counting.load(Ordering::Relaxed) {
                        let took = arrived.saturating_sub(self.sent.load(Ordering::Relaxed));
                        self.shared.latencies.lock().unwrap().push((took / 1000) as u32);
                        self.shared.moves.fetch_add(1, Ordering::Relaxed);
                    }
                    let legal = heard.legal?;
                    let chosen = legal.get(self.lots.usize(..legal.len().max(1)))?.text;
                    let message =
                        json!({"type": "move", "version": version, "move": chosen}).to_string();
                    due = due.max(Instant::now()) + self.shared.pace;
                    tokio::time::sleep_until(due.into()).await;
                    self.sent
                        .store(self.shared.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                    socket.send(Message::text(message)).await.ok()?;
                    due = Instant::now();
                }
                _ => {}
            }
        }
    }
}

/// A line of what Linux knows of a process.
fn status(process: u32, key: &str) -> String {
    let all = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = all.lines().find_map(|line| line.strip_prefix(key));
    line.map_or("unknown".into(), |line| line.trim().into())
}

/// Seconds of processor time that a process has used.
fn cpu_time(process: u32) -> f64 {
    let all = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<_> = all.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn size(folder: &std::path::Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
