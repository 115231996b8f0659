//! What a tournament costs: games per second beside the bare referee's, with bots that answer at once; the
//! cost of a game when many have been played; scheduling. `cargo bench -p crownhead-tournament`.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench tells what it found

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Knowledge, Openings, Stop, TimeControl};
use crownhead_rules::Game;
use crownhead_tournament::config::parse;
use crownhead_tournament::events::Event;
use crownhead_tournament::journal::Journal;
use crownhead_tournament::matches::{self, MatchConfig, cpu_time};
use crownhead_tournament::runner::{self, RunControl, RunOutcome};
use crownhead_tournament::schedule::{NextRound, PairingResult, Scheduler, Swiss};
use crownhead_tournament::{Points, Tournament};

/// A hundred plies before the end, as in the referee's bench.
const START: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 100";
/// The pairs of eight players.
const PAIRS: u32 = 28;
/// Two plies before the end.
const LAST: &str = "###5/##6/#7/8/8/7O/6OO/5OOO # 198";

/// Plays a tournament in a folder; `heard` is told of every event.
fn play(folder: &Path, tournament: &Tournament, mut heard: impl FnMut(&Event)) {
    let path = folder.join("bench.journal");
    let _ = std::fs::remove_file(&path);
    let journal = Journal::create(&path, tournament, "").unwrap();
    let signals = RunControl::default();
    let ending = runner::run(tournament, journal, &Knowledge::default(), &signals, &mut |event| {
        heard(event)
    });
    assert_eq!(ending.unwrap(), RunOutcome::Finished);
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

/// Games per second of a match and of a tournament, one after the other, several times.
fn beside_the_referee(folder: &Path, games: u32, rounds: u32) {
    let bot = folder.join("trivial_bot");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bots/benches/trivial_bot.c");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&bot).arg(source).status().unwrap();
    assert!(compiled.success(), "the bot cannot be compiled");
    let player = format!("cmd:{}", bot.display());
    let tournament = tournament(folder, &vec![player.clone(); 8], START, games / PAIRS);
    let spec: PlayerSpec = player.parse().unwrap();
    let game = Game::ChineseCheckers;
    let plan = MatchConfig {
        settings: GameSettings {
            time_control: TimeControl::PerMove(std::time::Duration::from_secs(5)),
            ..GameSettings::default_for(&game)
        },
        openings: Openings::parse(START, &game).unwrap(),
        game,
        players: [spec.clone(), spec],
        pairs: games / 2,
        seed: 1,
        concurrency: 2,
        log: None,
    };
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut bare = 0;
        matches::play(&plan, &Knowledge::default(), &Stop::new(), |_| bare += 1).unwrap();
        let bare_cpu = (cpu_time() - cpu).as_secs_f64() * 1e6 / f64::from(bare);
        let bare = f64::from(bare) / start.elapsed().as_secs_f64();
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut finished = 0;
        play(folder, &tournament, |event| {
            finished += u32::from(matches!(event, Event::GameFinished(..)))
        });
        let with_cpu = (cpu_time() - cpu).as_secs_f64() * 1e6 / f64::from(finished);
        let with = f64::from(finished) / start.elapsed().as_secs_f64();
        ratios.push(with / bare);
        println!("processor time of this program: {bare_cpu:.0} and {with_cpu:.0} µs per game");
        println!(
            "referee {bare:.0} games/s, contest with journal {with:.0} games/s: {:.2}",
            with / bare
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median {:.3}", ratios[ratios.len() / 2]);
}

/// What a game costs at the beginning and the end of a long tournament.
fn long(folder: &Path, games: u32) {
    let tournament = tournament(folder, &vec!["random".to_string(); 8], LAST, games / PAIRS);
    let total = tournament.planned_games().unwrap();
    let window = (total / 10).max(1);
    let (mut finished, mut since) = (0, Instant::now());
    let mut costs = Vec::new();
    play(folder, &tournament, |event| {
        if let Event::Round { number: 1, .. } = event {
            since = Instant::now();
        }
        if let Event::GameFinished(..) = event {
            finished += 1;
            if finished % window == 0 {
                costs.push(since.elapsed().as_secs_f64() * 1e6 / window as f64);
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

/// How long it takes to schedule tournaments, and the most memory this program ever had.
fn scheduling(folder: &Path) {
    let players = vec!["random".to_string(); 60];
    let tournament = tournament(folder, &players, LAST, 2);
    let start = Instant::now();
    let mut scheduled = None;
    play(folder, &tournament, |event| {
        if let Event::GameStarted(_) = event {
            scheduled.get_or_insert_with(|| start.elapsed());
        }
    });
    let games = tournament.planned_games().unwrap();
    let scheduled = scheduled.unwrap().as_secs_f64() * 1e3;
    println!("60 players, {games} games: {scheduled:.0} ms to the first game, journal included");
    let mut swiss = Swiss::new(1000, 11, 1, Points::default());
    let mut lots = fastrand::Rng::with_seed(1);
    let (mut total, mut slowest) = (0.0, 0.0_f64);
    loop {
        let start = Instant::now();
        let NextRound::Round(round) = swiss.next() else { break };
        let took = start.elapsed().as_secs_f64() * 1e3;
        (total, slowest) = (total + took, slowest.max(took));
        swiss.on_scheduled(&round);
        let meetings: Vec<PairingResult> = round
            .pairs
            .iter()
            .map(|&pair| {
                let mut meeting = PairingResult::new(pair);
                meeting.add(pair[0], [None, Some(pair[0]), Some(pair[1])][lots.usize(..3)]);
                meeting
            })
            .collect();
        swiss.on_round_finished(&meetings);
    }
    println!("1000 players, 11 rounds Swiss: {total:.0} ms, the slowest round {slowest:.0} ms");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM");
    println!("{peak}");
}

fn main() {
    // `cargo test --all-targets` runs benches too, without this argument: then little is enough.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let folder = tempfile::tempdir().unwrap();
    scheduling(folder.path());
    beside_the_referee(
        folder.path(),
        if is_bench { 2016 } else { 56 },
        if is_bench { 11 } else { 1 },
    );
    for games in if is_bench { [1_008, 100_016] } else { [56, 112] } {
        long(folder.path(), games);
    }
}
