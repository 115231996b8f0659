//! What freezing costs: games between a bot that answers immediately and one that takes 20 ms.
//! Between its turns the first bot waits for input, or a thread of it works until it is frozen.
//! `cargo bench -p crownhead-bots --bench freeze`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench prints its results

use std::path::Path;
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::referee::play_game;
use crownhead_play::{GameSettings, GameSetup, Knowledge, Openings, Player, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_test_support::compile_c_bot;
use crownhead_tournament::matches::cpu_time;

/// A start position 100 plies before the turn limit.
const START: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 100";
const ROUNDS: usize = 20;

fn main() {
    // `cargo test --all-targets` runs benchmarks without this argument, to see that they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/trivial_bot.c");
    let bot = compile_c_bot(&source, dir.path());
    let mut kinds = [("waits", "0"), ("frozen", "0 spin")].map(|kind| (kind, Vec::new(), 0.0));
    for _ in 0..rounds {
        for ((_, arguments), times, cpu) in &mut kinds {
            let start = cpu_time();
            times.extend(play(&bot, arguments));
            *cpu += (cpu_time() - start).as_secs_f64();
        }
    }
    for ((name, _), times, cpu) in &mut kinds {
        times.sort();
        let quantile = |fraction: f64| {
            let index = ((times.len() - 1) as f64 * fraction) as usize;
            times[index].as_secs_f64() * 1e6
        };
        println!(
            "{name:<6} {:.1} µs per move of the bot (median of {}; quartiles {:.1} and {:.1}); \
             {:.1} µs of CPU time in the referee",
            quantile(0.5),
            times.len(),
            quantile(0.25),
            quantile(0.75),
            *cpu / times.len() as f64 * 1e6
        );
    }
}

/// Plays a game and returns the times of the first bot's moves.
fn play(bot: &Path, arguments: &str) -> Vec<Duration> {
    let game = Game::ChineseCheckers(());
    let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
    let openings = Openings::parse(START, &game).unwrap();
    let opening = openings.picker(&game, &knowledge, 1).opening(0);
    let settings = GameSettings {
        time_control: TimeControl::PerMove(Duration::from_secs(5)),
        ..GameSettings::default_for(&game)
    };
    let player = |arguments: &str| {
        let mut spec: PlayerSpec = format!("cmd:{} {arguments}", bot.display()).parse().unwrap();
        // The thread works for some milliseconds after each move.
        spec.program_mut().unwrap().limits = "cpu-slack=1000s".parse().unwrap();
        spec.player(&game, &knowledge).unwrap()
    };
    let mut players = [player(arguments), player("20000")];
    let [first, second] = &mut players;
    let players: [&mut dyn Player; 2] = [first.as_mut(), second.as_mut()];
    let setup = GameSetup {
        game: &game,
        settings: &settings,
        knowledge: &knowledge,
        opening: &opening,
        names: ["first", "second"],
        seeds: [1, 2],
        referee_seed: 3,
        logs: [None, None],
    };
    let mut times = Vec::new();
    let played = play_game(&setup, players, &stop, &mut |mv| times.push(mv.time)).unwrap().unwrap();
    assert_eq!(played.faults, [0, 0], "{}", played.description);
    times.into_iter().step_by(2).skip(1).collect()
}
