//! What isolation costs when a bot starts: time from spawning the bot to its first line, with and
//! without isolation, alternating. `cargo bench -p crownhead-bots --bench spawn`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench prints its results

use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, GameStart, Knowledge, StopFlag};
use crownhead_rules::{Game, Side};
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_test_support::compile_c_bot;

const ROUNDS: usize = 200;

fn main() {
    // `cargo test --all-targets` runs benchmarks without this argument, to see that they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 2 };
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/trivial_bot.c");
    let bot = compile_c_bot(&source, dir.path());
    println!("isolation: {}", IsolationStatus::detect(Isolation::Default).unwrap());
    let mut runs = [Isolation::Off, Isolation::Default].map(|isolation| (isolation, Vec::new()));
    for _ in 0..rounds {
        for (isolation, times) in &mut runs {
            times.push(start_time(&bot, *isolation));
        }
    }
    let mut medians = Vec::new();
    for (isolation, times) in &mut runs {
        times.sort();
        let quantile = |fraction: f64| {
            let index = ((times.len() - 1) as f64 * fraction) as usize;
            times[index].as_secs_f64() * 1e3
        };
        println!(
            "{isolation:<8} {:.2} ms from start to ready (median of {}; quartiles {:.2} and {:.2})",
            quantile(0.5),
            times.len(),
            quantile(0.25),
            quantile(0.75)
        );
        medians.push(quantile(0.5));
    }
    println!("isolation costs {:.2} ms", medians[1] - medians[0]);
}

/// Time from starting a bot until it is ready.
fn start_time(bot: &Path, isolation: Isolation) -> Duration {
    let game = Game::ChineseCheckers(());
    let mut spec: PlayerSpec = format!("cmd:{}", bot.display()).parse().unwrap();
    spec.program_mut().unwrap().isolation = isolation;
    let settings = GameSettings::default_for(&game);
    let (side, opponent) = (Side::First, "nobody");
    let game_start =
        GameStart { game: &game, side, settings: &settings, seed: 1, opponent, log: None };
    let start = Instant::now();
    let mut player = spec.player(&game, &Knowledge::default()).unwrap();
    player.start_game(&game_start, &StopFlag::new());
    start.elapsed()
}
