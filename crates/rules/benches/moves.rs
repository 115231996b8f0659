//! How fast moves are listed, played and counted, for every game. `cargo bench -p crownhead-rules`
//! runs them.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{BulkPerft, Game, MoveList, Notation, PerftVisitor};

/// Positions from random games, so that openings, captures and kings all occur.
fn positions<P: Notation>(options: &P::Options) -> Vec<P> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut positions = Vec::new();
    while positions.len() < 1000 {
        let mut position = P::start(options);
        while position.outcome(&[]).is_none() && positions.len() < 1000 {
            positions.push(position.clone());
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            position.play(moves[random.usize(..moves.len())]);
        }
    }
    positions
}

struct Benches<'a> {
    criterion: &'a mut Criterion,
    /// How deep to count from the start.
    depth: u32,
}

impl PerftVisitor for Benches<'_> {
    type Output = ();

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) {
        let start = P::start(options);

        let mut group = self.criterion.benchmark_group(format!("moves/{}", P::ID));
        let positions = positions::<P>(options);
        group.throughput(Throughput::Elements(positions.len() as u64));
        group.bench_function("list", |bencher| {
            let mut moves = MoveList::new();
            bencher.iter(|| {
                let list = |position: &P| {
                    position.legal_moves(&mut moves);
                    moves.len()
                };
                positions.iter().map(list).sum::<usize>()
            });
        });
        let mut random = fastrand::Rng::with_seed(2);
        let chosen: Vec<_> = positions
            .iter()
            .map(|position| {
                let mut moves = MoveList::new();
                position.legal_moves(&mut moves);
                moves[random.usize(..moves.len())]
            })
            .collect();
        group.bench_function("play", |bencher| {
            bencher.iter_batched_ref(
                || positions.clone(),
                |positions| {
                    for (position, &mv) in positions.iter_mut().zip(&chosen) {
                        position.play(mv);
                    }
                },
                BatchSize::LargeInput,
            );
        });
        group.finish();

        let mut group = self.criterion.benchmark_group(format!("perft/{}", P::ID));
        let nodes = PerftOptions::default().count(&start, self.depth, &[]);
        group.sample_size(10).throughput(Throughput::Elements(nodes));
        let two_threads = PerftOptions { threads: 2, ..PerftOptions::default() };
        let played = PerftOptions { bulk: false, ..PerftOptions::default() };
        for (name, counter) in [
            ("bulk", PerftOptions::default()),
            ("bulk, 2 threads", two_threads),
            ("every move played", played),
        ] {
            group.bench_function(name, |bencher| {
                bencher.iter(|| counter.count(&start, self.depth, &[]))
            });
        }
        group.finish();
    }
}

fn all(criterion: &mut Criterion) {
    for (game, depth) in Game::all().iter().zip([10, 9, 5, 5]) {
        game.visit_perft(Benches { criterion, depth });
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
