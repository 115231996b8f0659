//! Building the endgame table: time, size and probe rates.
//!
//! `cargo bench -p crownhead-tables --bench build -- --pieces 5 --distances 5 --folder DIR`. Without
//! a folder the table is built in a temporary one. Times of probes are processor times of one
//! thread.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_rules::checkers::MoverBoard;
use crownhead_tables::EndgameTable;
use crownhead_tables::endgame::{Boards, Build, MAX_DISTANCE_PIECES, Slice};

/// The number after an option.
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
fn positions(pieces: u8, per_slice: usize, range: u64) -> Vec<MoverBoard> {
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

/// Prints the processor time per probe.
fn probe(table: &EndgameTable, pieces: u8) -> Option<()> {
    // Random positions need another block with nearly every probe. The blocks of the others and of
    // the positions after their captures fit into the cache.
    for (name, range) in [("uncached", u64::MAX), ("cached", 256)] {
        let boards = positions(pieces, 256, range);
        let (start, mut probes) = (cpu_time()?, 0);
        let has_value = |board: &&MoverBoard| table.value(**board).is_some();
        while cpu_time()? < start + Duration::from_secs(1) {
            probes += black_box(&boards).iter().filter(has_value).count();
        }
        let nanoseconds = (cpu_time()? - start).as_nanos() / probes as u128;
        println!("{pieces} pieces, {name}: {nanoseconds} ns per probe");
    }
    Some(())
}

fn report(folder: &Path, pieces: u8, distance_pieces: u8) -> Option<()> {
    let threads = option("--threads").unwrap_or(2);
    let force = false;
    let memory = 4 << 30;
    let build = Build { folder, pieces, distance_pieces, threads, memory, force };
    let (start, cpu) = (Instant::now(), cpu_time());
    // With a folder that has the table already, only probes are measured.
    let table = match build.run(&|_, _| ControlFlow::Continue(())) {
        Ok(table) => table,
        Err(error) => {
            eprintln!("{error}");
            return None;
        }
    };
    let elapsed = start.elapsed().as_secs_f64();
    let cpu = cpu_time().zip(cpu).map_or(0.0, |(after, before)| (after - before).as_secs_f64());
    println!("build: {elapsed:.1} s, {cpu:.1} s of processor time, {threads} threads");
    for row in table.summary() {
        println!("{} pieces: {} bytes, {:?}", row.pieces, row.bytes, row.counts);
    }
    for pieces in 4..=pieces {
        probe(&table, pieces)?;
    }
    Some(())
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    // `cargo test` only checks that the bench runs.
    let pieces = if is_bench { option("--pieces").unwrap_or(4) } else { 2 };
    let distance_pieces = option("--distances").unwrap_or(MAX_DISTANCE_PIECES);
    let folder: Option<std::path::PathBuf> = option("--folder");
    match folder {
        Some(folder) => report(&folder, pieces, distance_pieces),
        None => tempfile::tempdir()
            .ok()
            .and_then(|folder| report(folder.path(), pieces, distance_pieces)),
    };
}
