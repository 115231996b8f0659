//! `crownhead fleet status`.

use std::io::Write;
use std::time::Duration;

use crownhead_fleet::FleetStatus;
use crownhead_play::counted;
use crownhead_rules::escape_invisible;

use super::ServerArgs;
use crate::failure::Failure;

/// Arguments of `crownhead fleet status`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let status = FleetStatus::fetch(&args.server.options())?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", status.to_json())?,
        false => write!(out, "{}", escape_invisible(&status_text(&status)))?,
    }
    Ok(())
}

fn status_text(status: &FleetStatus) -> String {
    let FleetStatus { build, workers, runs, waiting, running, dead } = status;
    let build = build.as_deref().unwrap_or("not known yet");
    let mut text = format!("program  crownhead {build}\n");
    let (games, cores) = workers
        .iter()
        .fold((0, 0), |(games, cores), worker| (games + worker.games, cores + worker.concurrency));
    text.push_str(&format!(
        "workers  {}, {} at once, {} played\n",
        workers.len(),
        counted(cores as u64, "game"),
        counted(games, "game")
    ));
    let dead_count = dead.len();
    text.push_str(&format!("queue    {waiting} waiting, {running} running, {dead_count} dead\n"));
    for run in runs {
        let left = run.seconds_left().map_or("unknown".into(), duration_text);
        let positions = match run.positions {
            0 => String::new(),
            positions => format!("{}, ", counted(positions, "position")),
        };
        text.push_str(&format!(
            "\n{} ({}): {} of {} games, {positions}{:.2} games/s, {left} left\n",
            run.name, run.id, run.finished, run.games, run.games_per_second
        ));
    }
    if !workers.is_empty() {
        text.push_str(&format!(
            "\n{:<24} {:>5} {:>6} {:>8} {:>8} {:>7} {:>8}\n",
            "worker", "cores", "at once", "Mnodes/s", "games", "faults", "returned"
        ));
    }
    for worker in workers {
        let speeds = worker.speed.values();
        let speed = speeds.sum::<f64>() / worker.speed.len().max(1) as f64 / 1e6;
        let note = if worker.is_draining { "  leaving" } else { "" };
        text.push_str(&format!(
            "{:<24} {:>5} {:>7} {speed:>8.2} {:>8} {:>7} {:>8}{note}\n",
            worker.name,
            worker.cores,
            worker.concurrency,
            worker.games,
            worker.faults,
            worker.returned
        ));
    }
    for job in dead {
        text.push_str(&format!("\ndead: {} of {}\n", job.games_text(), job.run));
    }
    text
}

fn duration_text(seconds: f64) -> String {
    let seconds = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
