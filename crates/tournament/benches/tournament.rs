//! Cost of a tournament: games per second compared with a match, which has no journal, using bots
//! that answer at once; cost per game in a long tournament; scheduling.
//! `cargo bench -p crownhead-tournament`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench prints its results

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_tournament::config::parse;
use crownhead_tournament::events::Event;
use crownhead_tournament::journal::Journal;
use crownhead_tournament::matches::{self, MatchConfig, cpu_time};
use crownhead_tournament::runner::{self, RunControl, RunOutcome};
use crownhead_tournament::schedule::{NextRound, PairingResult, Scheduler, Swiss};
use crownhead_tournament::{Points, Tournament};

/// A position a hundred plies before the end of the game.
const LONG_GAME: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 100";
/// A position two plies before the end of the game.
const SHORT_GAME: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 198";
/// Number of pairs of eight players.
const PAIRS: u32 = 28;

/// Runs a tournament with its journal in a folder.
fn run(folder: &Path, tournament: &Tournament, mut on_event: impl FnMut(&Event)) {
    let path = folder.join("bench.journal");
    let _ = std::fs::remove_file(&path);
    let journal = Journal::create(&path, tournament, "").unwrap();
    let (knowledge, control) = (Knowledge::default(), RunControl::default());
    let outcome =
        runner::run(tournament, journal, &knowledge, &control, &mut |event| on_event(event));
    assert_eq!(outcome.unwrap(), RunOutcome::Finished);
}

fn tournament(folder: &Path, players: &[String], opening: &str, games: u32) -> Tournament {
    std::fs::write(folder.join("opening"), opening).unwrap();
    let players: Vec<_> = players
        .iter()
        .zip(1..)
        .map(|(player, number)| format!("{{ name = \"bot{number}\", player = {player:?} }}"))
        .collect();
    let text = format!(
        "game = \"chinese-checkers\"\nplayers = [{}]\nmovetime = \"5s\"\nopenings = \"opening\"\n\
         games = {games}\nconcurrency = 2\n",
        players.join(", ")
    );
    parse(&text, folder, "bench").unwrap()
}

/// Compares games per second of a match and of a tournament, several times.
fn compare_with_match(folder: &Path, games: u32, repeats: u32) {
    let bot = folder.join("trivial_bot");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bots/benches/trivial_bot.c");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&bot).arg(source).status().unwrap();
    assert!(compiled.success(), "cannot compile the bot");
    let player = format!("cmd:{}", bot.display());
    let tournament = tournament(folder, &vec![player.clone(); 8], LONG_GAME, games / PAIRS);
    let spec: PlayerSpec = player.parse().unwrap();
    let game = Game::ChineseCheckers(());
    let config = MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(Duration::from_secs(5)),
            ..GameSettings::default_for(&game)
        },
        openings: Openings::parse(LONG_GAME, &game).unwrap(),
        game,
        players: [spec.clone(), spec],
        pairs: games / 2,
        seed: 1,
        concurrency: 2,
        log: None,
    };
    let mut ratios = Vec::new();
    for _ in 0..repeats {
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut count = 0;
        matches::play(&config, &Knowledge::default(), &StopFlag::new(), |_| count += 1).unwrap();
        let match_cpu = (cpu_time() - cpu).as_secs_f64() * 1e6 / f64::from(count);
        let match_speed = f64::from(count) / start.elapsed().as_secs_f64();
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut count = 0;
        run(folder, &tournament, |event| {
            count += u32::from(matches!(event, Event::GameFinished(..)));
        });
        let tournament_cpu = (cpu_time() - cpu).as_secs_f64() * 1e6 / f64::from(count);
        let tournament_speed = f64::from(count) / start.elapsed().as_secs_f64();
        let ratio = tournament_speed / match_speed;
        ratios.push(ratio);
        println!("CPU time per game: match {match_cpu:.0} µs, tournament {tournament_cpu:.0} µs");
        println!(
            "match {match_speed:.0} games/s, tournament {tournament_speed:.0} games/s: {ratio:.2}"
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median {:.3}", ratios[ratios.len() / 2]);
}

/// Measures the cost of a game at the start and at the end of a long tournament.
fn long_tournament(folder: &Path, games: u32) {
    let tournament = tournament(folder, &vec!["random".to_string(); 8], SHORT_GAME, games / PAIRS);
    let total = tournament.planned_games().unwrap();
    let tenth = (total / 10).max(1);
    let (mut finished, mut since) = (0, Instant::now());
    let mut costs = Vec::new();
    run(folder, &tournament, |event| {
        if let Event::Round { number: 1, .. } = event {
            since = Instant::now();
        }
        if let Event::GameFinished(..) = event {
            finished += 1;
            if finished % tenth == 0 {
                costs.push(since.elapsed().as_secs_f64() * 1e6 / tenth as f64);
                since = Instant::now();
            }
        }
    });
    println!(
        "{total} games of two plies: {:.0} µs per game in the first tenth, {:.0} µs in the last",
        costs[0],
        costs[costs.len() - 1]
    );
}

/// Measures scheduling, and the peak memory of the process.
fn scheduling(folder: &Path) {
    let players = vec!["random".to_string(); 60];
    let tournament = tournament(folder, &players, SHORT_GAME, 2);
    let start = Instant::now();
    let mut first_game = None;
    run(folder, &tournament, |event| {
        if let Event::GameStarted(_) = event {
            first_game.get_or_insert_with(|| start.elapsed());
        }
    });
    let games = tournament.planned_games().unwrap();
    let millis = first_game.unwrap().as_secs_f64() * 1e3;
    println!("60 players, {games} games: {millis:.0} ms to the first game, journal included");
    let mut swiss = Swiss::new(1000, 11, 1, Points::default());
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut total, mut slowest) = (0.0, 0.0_f64);
    loop {
        let start = Instant::now();
        let NextRound::Round(round) = swiss.next() else { break };
        let millis = start.elapsed().as_secs_f64() * 1e3;
        (total, slowest) = (total + millis, slowest.max(millis));
        swiss.on_scheduled(&round);
        let result = |&pair: &[usize; 2]| {
            let mut result = PairingResult::new(pair);
            result.add(pair[0], [None, Some(pair[0]), Some(pair[1])][rng.usize(..3)]);
            result
        };
        let results: Vec<PairingResult> = round.pairs.iter().map(result).collect();
        swiss.on_round_finished(&results);
    }
    println!("1000 players, 11 Swiss rounds: {total:.0} ms, slowest round {slowest:.0} ms");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM");
    println!("{peak}");
}

fn main() {
    // `cargo test --all-targets` runs benches without this argument: a short run is enough.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let folder = tempfile::tempdir().unwrap();
    scheduling(folder.path());
    let (games, repeats) = if is_bench { (2016, 11) } else { (56, 1) };
    compare_with_match(folder.path(), games, repeats);
    for games in if is_bench { [1_008, 100_016] } else { [56, 112] } {
        long_tournament(folder.path(), games);
    }
}
