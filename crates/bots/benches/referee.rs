//! Overhead of the referee: games of 100 plies between two bots that answer immediately, two games
//! at a time. `cargo bench -p crownhead-bots --bench referee`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench prints its results

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_tournament::matches::{self, MatchConfig, cpu_time};

/// A start position 100 plies before the turn limit.
const START: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 100";
const PAIRS: u32 = 1000;

/// A turn line of average length.
const TURN: &str = "turn ply=4 side=# position=\"###5/##6/#7/8/8/7O/6OO/5OOO # 4\" \
    board=###.....##......#......................................O......OO.....OOO \
    moves=1133,1214,1223,1232,1314,1323,1324,2123,2132,2141,2223,2232,2233,3132,3141,3142 \
    last=8866 time=5000\n";

/// Returns the seconds per ply of two concurrent games over plain pipes: the same lines, without
/// rules and deadlines.
fn plain_pipes(bot: &Path, plies: usize) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let spawn = || {
                    let mut command = Command::new(bot);
                    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
                };
                let mut bots = [spawn(), spawn()];
                for ply in 0..plies / 2 {
                    let bot = &mut bots[ply % 2];
                    bot.stdin.as_mut().unwrap().write_all(TURN.as_bytes()).unwrap();
                    let mut answer = [0; 64];
                    assert!(bot.stdout.as_mut().unwrap().read(&mut answer).unwrap() > 5);
                }
                for mut bot in bots {
                    drop(bot.stdin.take());
                    bot.wait().unwrap();
                }
            });
        }
    });
    start.elapsed().as_secs_f64() / plies as f64
}

fn main() {
    // `cargo test --all-targets` runs benchmarks too, without this argument: keep them short.
    let pairs = if std::env::args().any(|argument| argument == "--bench") { PAIRS } else { 2 };
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("trivial_bot");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/trivial_bot.c");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&bot).arg(source).status().unwrap();
    assert!(compiled.success(), "cannot compile the bot");
    let game = Game::ChineseCheckers(());
    let player: crownhead_bots::PlayerSpec = format!("cmd:{}", bot.display()).parse().unwrap();
    let config = MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(std::time::Duration::from_secs(5)),
            ..GameSettings::default_for(&game)
        },
        openings: Openings::parse(START, &game).unwrap(),
        game,
        players: [player.clone(), player],
        pairs,
        seed: 1,
        concurrency: 2,
        log: None,
    };
    let rounds = if pairs == PAIRS { 5 } else { 1 };
    for _ in 0..rounds {
        let (start, cpu) = (Instant::now(), cpu_time());
        let (mut games, mut plies) = (0, 0);
        matches::play(&config, &Knowledge::default(), &StopFlag::new(), |game| {
            assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
            games += 1;
            plies += game.played.moves.len();
        })
        .unwrap();
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_time() - cpu);
        assert_eq!(plies, 100 * games);
        println!(
            "{games} games, {:.0} games/s, {:.1} µs per move ({:.1} µs of CPU time in the \
             referee); plain pipes {:.1} µs",
            games as f64 / seconds,
            seconds / plies as f64 * 1e6,
            cpu.as_secs_f64() / plies as f64 * 1e6,
            plain_pipes(&bot, plies) * 1e6
        );
    }
}
