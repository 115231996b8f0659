//! What the walls cost at the start of a bot: from the start of the program to its first word, with and
//! without them, in turns. `cargo bench -p crownhead-bots --bench spawn`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench tells what it found

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, GameStart, Knowledge, StopFlag};
use crownhead_rules::{Game, Side};
use crownhead_sandbox::{Isolation, IsolationStatus};

const ROUNDS: usize = 200;

fn main() {
    // `cargo test --all-targets` runs benches too, without this argument: then once is enough.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 2 };
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("trivial_bot");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/trivial_bot.c");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&bot).arg(source).status().unwrap();
    assert!(compiled.success(), "the bot cannot be compiled");
    let game = Game::ChineseCheckers(());
    println!("walls: {}", IsolationStatus::detect(Isolation::Default).unwrap());
    let mut times = [Isolation::Off, Isolation::Default].map(|isolation| (isolation, Vec::new()));
    for _ in 0..rounds {
        for (isolation, times) in &mut times {
            let mut player: PlayerSpec = format!("cmd:{}", bot.display()).parse().unwrap();
            player.program_mut().unwrap().isolation = *isolation;
            let terms = GameSettings::default_for(&game);
            let (side, opponent) = (Side::First, "nobody");
            let seating =
                GameStart { game: &game, side, settings: &terms, seed: 1, opponent, log: None };
            let start = Instant::now();
            let mut player = player.player(&game, &Knowledge::default()).unwrap();
            player.new_game(1);
            player.sit_down(&seating, &StopFlag::new());
            times.push(start.elapsed());
        }
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let mut medians = Vec::new();
    for (isolation, times) in &mut times {
        times.sort();
        let at = |part: f64| milliseconds(times[((times.len() - 1) as f64 * part) as usize]);
        println!(
            "{isolation:<8} {:.2} ms from start to ready (median of {}; {:.2} to {:.2} in the middle half)",
            at(0.5),
            times.len(),
            at(0.25),
            at(0.75)
        );
        medians.push(at(0.5));
    }
    println!("the walls cost {:.2} ms", medians[1] - medians[0]);
}
