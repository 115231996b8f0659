//! Probing and opening tables. A solo table that has not been built is generated and not saved; an
//! endgame table must have been built.

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{Bits, ChineseCheckers, Side};
use crownhead_tables::endgame::{Boards, Slice};
use crownhead_tables::{EndgameTable, SoloTable, registry};

/// Random placements: the worst case for the caches.
fn scattered() -> Vec<u64> {
    let mut rng = fastrand::Rng::with_seed(1);
    let placement = |_| {
        let mut pieces: u64 = 0;
        while pieces.count_ones() < 6 {
            pieces |= 1 << rng.u32(..64);
        }
        pieces
    };
    (0..1 << 16).map(placement).collect()
}

/// All placements after one move, along random games: what a search probes.
fn neighbours() -> Vec<u64> {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut placements = Vec::new();
    while placements.len() < 1 << 16 {
        let mut pieces = CAMPS[0];
        for _ in 0..30 {
            let first = placements.len();
            for from in Bits(pieces) {
                let targets = Bits(ChineseCheckers::destinations(pieces, from));
                placements.extend(targets.map(|to| pieces & !(1 << from) | 1 << to));
            }
            pieces = placements[rng.usize(first..placements.len())];
        }
    }
    placements
}

/// Opens or generates the table. `cargo test` only checks that the bench runs: it generates none.
fn table() -> Option<SoloTable> {
    let path = registry::TABLES[0].path();
    let saved = path.and_then(|path| SoloTable::open(path).ok());
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if saved.is_some() || !is_bench {
        return saved;
    }
    SoloTable::generate(2, &|_, _| ControlFlow::Continue(())).ok()
}

fn probe(criterion: &mut Criterion) {
    let Some(table) = table() else { return };
    let mut group = criterion.benchmark_group("solo");
    for (name, placements) in [("scattered", scattered()), ("neighbours", neighbours())] {
        group.throughput(Throughput::Elements(placements.len() as u64));
        for side in [Side::First, Side::Second] {
            group.bench_function(format!("{name}, {side:?}"), |bencher| {
                let turns = |&pieces| u64::from(table.turns(pieces, side).unwrap_or(0));
                bencher.iter(|| black_box(&placements).iter().map(turns).sum::<u64>());
            });
        }
    }
    group.finish();
}

/// Opening checks and maps the file; compared with reading it into memory.
fn open(criterion: &mut Criterion) {
    let Some(table) = table() else { return };
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("solo.table");
    if table.save(&path).is_err() {
        return;
    }
    let mut group = criterion.benchmark_group("solo file");
    group.sample_size(20);
    group.bench_function("open", |bencher| bencher.iter(|| SoloTable::open(&path).is_ok()));
    group.bench_function("read", |bencher| {
        bencher.iter(|| std::fs::read(&path).is_ok_and(|bytes| crc32fast::hash(&bytes) != 0));
    });
    group.finish();
}

/// Values of endgame positions: random ones, which decompress a block for nearly every probe, and
/// those of a few slices' blocks again and again, which are in the cache.
fn endgame(criterion: &mut Criterion) {
    let info = registry::of_game("english").next();
    let Some(path) = info.and_then(|info| info.path()) else { return };
    let Ok(table) = EndgameTable::open(path) else { return };
    let mut rng = fastrand::Rng::with_seed(3);
    let slices = Slice::all(table.pieces());
    let mut boards = |per_slice: usize, range: u64| {
        let mut found = Vec::new();
        for &slice in &slices {
            let all = Boards::new(slice);
            let mut cursor = all.cursor();
            let range = range.min(slice.size());
            found.extend((0..per_slice).filter_map(|_| cursor.board(rng.u64(..range))));
        }
        rng.shuffle(&mut found);
        found
    };
    let mut group = criterion.benchmark_group("endgame");
    for (name, boards) in [("scattered", boards(500, u64::MAX)), ("cached", boards(500, 1 << 15))] {
        group.throughput(Throughput::Elements(boards.len() as u64));
        group.bench_function(name, |bencher| {
            let has_value = |board: &&MoverBoard| table.value(**board).is_some();
            bencher.iter(|| black_box(&boards).iter().filter(has_value).count());
        });
    }
    group.finish();
}

criterion_group!(benches, probe, open, endgame);
criterion_main!(benches);
