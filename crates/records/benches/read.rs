//! Speed of reading 724 games without annotations, about 340 kB, including replaying every move.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing bench may panic

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crownhead_records::{GameRecord, GameResult, Ply, Reader, format_game};
use crownhead_rules::{English, Game, MoveList, Notation, Position};

const GAMES: usize = 724;

/// Returns a fixed collection of random games.
fn collection() -> String {
    let mut rng = fastrand::Rng::with_seed(724);
    let mut text = String::new();
    for number in 0..GAMES {
        let mut record = GameRecord::new(Game::default());
        record.set_tag("Event", format!("Game {number}"));
        record.result = GameResult::Draw;
        let mut position = English::start(&Default::default());
        let mut legal = MoveList::new();
        for _ in 0..rng.usize(38..59) {
            position.legal_moves(&mut legal);
            let Some(&mv) = rng.choice(legal.iter()) else {
                break;
            };
            record.line.plies.push(Ply::new(position.format_move(mv)));
            position.play(mv);
        }
        text.push_str(&format_game(&record).unwrap_or_default());
    }
    text
}

fn read(criterion: &mut Criterion) {
    let text = collection();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(format!("{GAMES} games, {} kB", text.len() / 1000), |bencher| {
        bencher.iter(|| {
            let games = Reader::new(black_box(text.as_bytes())).filter(Result::is_ok).count();
            assert_eq!(games, GAMES);
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
