//! Building the endgame tables: time, size and probe rates.
//!
//! `cargo bench -p crownhead-tables --bench build -- --pieces 5 --distances 5 --folder DIR`, and
//! `--game contest --pieces 8` for contest checkers. Without a folder the table is built in a
//! temporary one. Times of probes are processor times of one thread.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::bit;
use crownhead_tables::endgame::{Boards, MAX_DISTANCE_PIECES, PiecesSummary, Slice};
use crownhead_tables::{ContestTable, EndgameTable, TableError, contest, endgame};

/// What comes after an option.
fn option<T: std::str::FromStr>(name: &str) -> Option<T> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

/// Processor time of this process, of all threads; `None` where the system does not tell.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The fields after the name of the program, which is in parentheses.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    /// Per second, on every Linux system.
    const TICKS: u64 = 100;
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

/// Random positions of all slices with this number of pieces, among the first indices.
fn with_kings(pieces: u8, per_slice: usize, range: u64) -> Vec<MoverBoard> {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut found = Vec::new();
    for slice in Slice::all(pieces) {
        let all = Boards::new(slice);
        let mut cursor = all.cursor();
        let range = range.min(slice.size());
        found.extend((0..per_slice).filter_map(|_| cursor.board(rng.u64(..range))));
    }
    rng.shuffle(&mut found);
    found
}

/// Random positions with this number of men.
fn with_men(men: u8, count: usize) -> Vec<MoverBoard> {
    let mut rng = fastrand::Rng::with_seed(3);
    let position = |_| loop {
        let squares = rng.choose_multiple(1..=32, men.into());
        let own = squares.iter().filter(|_| rng.bool()).fold(0, |own, &square| own | bit(square));
        let opponent = squares.iter().fold(0, |all, &square| all | bit(square)) ^ own;
        if own != 0 && opponent != 0 {
            return MoverBoard { own, opponent, kings: 0 };
        }
    };
    (0..count).map(position).collect()
}

/// Builds a table, and prints time and sizes. With a folder that has the table already, nothing is
/// built.
fn report<T>(
    build: impl FnOnce() -> Result<T, TableError>,
    summary: impl FnOnce(&T) -> Vec<PiecesSummary>,
) -> Option<T> {
    let (start, cpu) = (Instant::now(), cpu_time());
    let table = build().map_err(|error| eprintln!("{error}")).ok()?;
    let elapsed = start.elapsed().as_secs_f64();
    let cpu = cpu_time().zip(cpu).map_or(0.0, |(after, before)| (after - before).as_secs_f64());
    println!("build: {elapsed:.1} s, {cpu:.1} s of processor time");
    for row in summary(&table) {
        println!("{} pieces: {} bytes, {:?}", row.pieces, row.bytes, row.counts);
    }
    Some(table)
}

/// Prints the processor time per probe.
fn probe(name: &str, boards: &[MoverBoard], has_value: impl Fn(MoverBoard) -> bool) -> Option<()> {
    let (start, mut probes) = (cpu_time()?, 0);
    while cpu_time()? < start + Duration::from_secs(1) {
        probes += black_box(boards).iter().filter(|board| has_value(**board)).count();
    }
    let nanoseconds = (cpu_time()? - start).as_nanos() / probes.max(1) as u128;
    println!("{name}: {nanoseconds} ns per probe");
    Some(())
}

/// English checkers. Random positions need another block with nearly every probe. The blocks of the
/// others and of the positions after their captures fit into the cache.
fn english(folder: &Path, pieces: u8) -> Option<()> {
    let distance_pieces = option("--distances").unwrap_or(MAX_DISTANCE_PIECES);
    let (threads, memory, force) = (option("--threads").unwrap_or(2), 4 << 30, false);
    let build = endgame::Build { folder, pieces, distance_pieces, threads, memory, force };
    let table = report(|| build.run(&|_, _| ControlFlow::Continue(())), EndgameTable::summary)?;
    for pieces in 4..=pieces {
        for (name, range) in [("uncached", u64::MAX), ("cached", 256)] {
            let has_value = |board| table.value(board).is_some();
            probe(&format!("{pieces} pieces, {name}"), &with_kings(pieces, 256, range), has_value)?;
        }
    }
    Some(())
}

/// Contest checkers: many random positions, and a few.
fn contest(folder: &Path, pieces: u8) -> Option<()> {
    let (threads, memory, force) = (option("--threads").unwrap_or(2), 4 << 30, false);
    let build = contest::Build { folder, pieces, threads, memory, force };
    let table = report(|| build.run(&|_, _| ControlFlow::Continue(())), ContestTable::summary)?;
    for men in 4..=pieces {
        for (name, count) in [("uncached", 1 << 16), ("cached", 256)] {
            let has_value = |board| table.value(board).is_some();
            probe(&format!("{men} men, {name}"), &with_men(men, count), has_value)?;
        }
    }
    Some(())
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    // `cargo test` only checks that the bench runs.
    let pieces = if is_bench { option("--pieces").unwrap_or(4) } else { 2 };
    let is_contest = option::<String>("--game").is_some_and(|game| game == "contest");
    let run = if is_contest { contest } else { english };
    match option::<std::path::PathBuf>("--folder") {
        Some(folder) => run(&folder, pieces),
        None => tempfile::tempdir().ok().and_then(|folder| run(folder.path(), pieces)),
    };
}
