//! Cost of a fleet: a match on workers of this machine compared with a local one on as many cores,
//! and the memory of coordinator, worker and server while many jobs pass through the queue.
//! `cargo bench -p crownhead-fleet -- [--workers N] [--pairs N] [--jobs N]`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench prints its results

use std::fs;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crownhead_fleet::up::{self, UpOptions};
use crownhead_fleet::worker::{self, WorkerOptions};
use crownhead_fleet::{Coordinator, FleetRun, ServerOptions};
use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_tournament::Entrant;
use crownhead_tournament::matches::{self, MatchConfig, cpu_time};

/// Player of the comparison: about a fifth of a second per game.
const PLAYER: &str = "best:nodes=20000,hash=1";
/// Player of the queue: games that take no time.
const FAST_PLAYER: &str = "random";
/// Environment variable of worker processes: URL, name, games at once.
const WORKER: &str = "CROWNHEAD_BENCH_WORKER";
/// Samples of memory.
const SAMPLES: u32 = 8;

/// A worker in a process of its own.
struct Worker(Child);

impl Worker {
    fn start(url: &str, number: usize, concurrency: usize) -> Worker {
        let role = format!("{url} bench-{number} {concurrency}");
        Worker(Command::new(std::env::current_exe().unwrap()).env(WORKER, role).spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn options(url: &str) -> ServerOptions {
    ServerOptions { url: Some(url.into()), credentials: None, tls_ca: None }
}

fn run_worker(role: &str) {
    let [url, name, concurrency] = role.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let options = WorkerOptions {
        server: options(url),
        name: Some(name.into()),
        concurrency: Some(concurrency.parse().unwrap()),
        drain: StopFlag::new(),
        abort: StopFlag::new(),
    };
    worker::run(&options, Arc::new(|_| {})).unwrap();
}

/// CPU time of another process.
fn cpu_time_of(process: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<_> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    // Fields 14 and 15 of proc(5), in ticks of 10 ms.
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Memory of a process in MB.
fn memory(process: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1000.0
}

/// The server, a child of this process.
fn server_process() -> u32 {
    let own = format!("PPid:\t{}\n", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut processes = processes.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let is_server = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.starts_with("Name:\tnats-server") && status.contains(&own)
    };
    processes.find(is_server).unwrap()
}

fn config(player: &str, pairs: u32, concurrency: usize) -> MatchConfig {
    let game: Game = "english".parse().unwrap();
    let settings =
        GameSettings { time_control: TimeControl::Unlimited, ..GameSettings::default_for(&game) };
    let players = [player.parse().unwrap(), player.parse().unwrap()];
    let (openings, log) = (Openings::Random(6), None);
    MatchConfig { game, players, pairs, settings, openings, seed: 1, concurrency, log }
}

/// Plays a match on the fleet; `on_game` gets the number of games so far.
fn play(coordinator: &Coordinator, config: &MatchConfig, on_game: &mut dyn FnMut(u32)) {
    let entrants = matches::entrants(config);
    let entrants = entrants.each_ref();
    let mut run = FleetRun::new("bench".into(), Vec::new(), 0);
    coordinator.upload(&mut run, &entrants).unwrap();
    let players: [Option<&Entrant>; 2] = entrants.map(Some);
    let executor = coordinator.executor(run, &players);
    let (knowledge, stop, mut games) = (Knowledge::default(), StopFlag::new(), 0);
    let played = matches::play_on(&executor, config, &knowledge, &stop, |_| {
        games += 1;
        on_game(games);
    });
    played.unwrap();
    assert_eq!(games, 2 * config.pairs);
}

fn argument(name: &str, default: u32) -> u32 {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().map_or(default, |text| text.parse().unwrap())
}

fn main() {
    if let Ok(role) = std::env::var(WORKER) {
        return run_worker(&role);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let count = (argument("--workers", cores as u32) as usize).clamp(1, cores);
    let (pairs, jobs) = (argument("--pairs", 20), argument("--jobs", 2000));
    let concurrency = cores / count;
    let slots = count * concurrency;
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let up_options = UpOptions {
        host: address.ip(),
        port: address.port(),
        address: address.ip().to_string(),
        folder: folder.path().into(),
        is_secure: false,
        workers: 0,
    };
    let server = up::start(&up_options, &StopFlag::new()).unwrap();
    let server_process = server_process();
    let coordinator = Coordinator::join(&options(&server.url), Arc::new(|_| {})).unwrap();
    let workers: Vec<_> =
        (0..count).map(|number| Worker::start(&server.url, number, concurrency)).collect();
    // Until all workers have joined.
    play(&coordinator, &config(FAST_PLAYER, 50 * slots as u32, slots), &mut |_| {});

    println!("{pairs} pairs, {count} workers with {concurrency} games at once");
    let config_ = config(PLAYER, pairs, slots);
    let (start, cpu) = (Instant::now(), cpu_time());
    let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
    matches::play(&config_, &knowledge, &stop, |_| {}).unwrap();
    let (local, local_cpu) = (start.elapsed(), cpu_time() - cpu);
    println!(
        "  local  {:7.2} s, {:7.2} s of CPU time",
        local.as_secs_f64(),
        local_cpu.as_secs_f64()
    );
    let all = || workers.iter().map(|worker| cpu_time_of(worker.0.id())).sum::<Duration>();
    let (start, own, of_workers, of_server) =
        (Instant::now(), cpu_time(), all(), cpu_time_of(server_process));
    play(&coordinator, &config_, &mut |_| {});
    let wall = start.elapsed();
    let parts = [all() - of_workers, cpu_time() - own, cpu_time_of(server_process) - of_server];
    let total: Duration = parts.iter().sum();
    let [workers_cpu, coordinator_cpu, server_cpu] = parts.map(|time| time.as_secs_f64());
    println!(
        "  fleet  {:7.2} s, {:7.2} s of CPU time: workers {workers_cpu:.2}, coordinator \
         {coordinator_cpu:.2}, server {server_cpu:.2}",
        wall.as_secs_f64(),
        total.as_secs_f64()
    );
    println!(
        "  throughput of the fleet: {:.2} of the local one by wall time, {:.2} by CPU time",
        local.as_secs_f64() / wall.as_secs_f64(),
        local_cpu.as_secs_f64() / total.as_secs_f64()
    );

    println!("{jobs} jobs: memory in MB");
    println!("  {:>8} {:>11} {:>7} {:>7}", "jobs", "coordinator", "worker", "server");
    let mut sample = |games: u32| {
        if games.is_multiple_of((2 * jobs / SAMPLES).max(1)) {
            let [coordinator, worker, server] =
                [std::process::id(), workers[0].0.id(), server_process].map(memory);
            println!("  {:>8} {coordinator:>11.1} {worker:>7.1} {server:>7.1}", games / 2);
        }
    };
    let start = Instant::now();
    play(&coordinator, &config(FAST_PLAYER, jobs, slots), &mut sample);
    println!("  {:.0} jobs/s", f64::from(jobs) / start.elapsed().as_secs_f64());
}
