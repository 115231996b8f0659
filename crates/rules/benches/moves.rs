//! Speed of move generation, playing moves and perft, for every game:
//! `cargo bench -p crownhead-rules`.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{Game, MoveList, Notation, Perft, PerftVisitor};

/// Returns positions of random games, with openings, captures and kings.
fn positions<P: Notation>(options: &P::Options) -> Vec<P> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut positions = Vec::new();
    while positions.len() < 1000 {
        let mut position = P::start(options);
        while position.outcome(&[]).is_none() && positions.len() < 1000 {
            positions.push(position.clone());
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            position.play(moves[rng.usize(..moves.len())]);
        }
    }
    positions
}

struct Benches<'a> {
    criterion: &'a mut Criterion,
    /// Depth of perft from the start position.
    depth: u32,
}

impl PerftVisitor for Benches<'_> {
    type Output = ();

    fn visit<P: Notation + Perft>(self, options: &P::Options) {
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
        let mut rng = fastrand::Rng::with_seed(2);
        let chosen: Vec<_> = positions
            .iter()
            .map(|position| {
                let mut moves = MoveList::new();
                position.legal_moves(&mut moves);
                moves[rng.usize(..moves.len())]
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
        let no_bulk = PerftOptions { bulk: false, ..PerftOptions::default() };
        for (name, perft) in [
            ("bulk", PerftOptions::default()),
            ("bulk, 2 threads", two_threads),
            ("no bulk", no_bulk),
        ] {
            group.bench_function(name, |bencher| {
                bencher.iter(|| perft.count(&start, self.depth, &[]))
            });
        }
        group.finish();
    }
}

fn all(criterion: &mut Criterion) {
    for game in Game::all() {
        // Checkers positions have far fewer moves.
        let depth = if game.info().forced_capture { 9 } else { 5 };
        game.visit_perft(Benches { criterion, depth });
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
