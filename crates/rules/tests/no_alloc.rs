//! Generating and playing moves does not allocate.

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{Game, MoveList, Notation, Perft, PerftVisitor};
use crownhead_test_support::count_allocations;

struct NoAllocation;

impl PerftVisitor for NoAllocation {
    type Output = ();

    fn visit<P: Notation + Perft>(self, options: &P::Options) {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut position = P::start(options);
            let (allocations, ()) = count_allocations(|| {
                while position.outcome(&[]).is_none() {
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    position.play(moves[rng.usize(..moves.len())]);
                }
            });
            assert_eq!(allocations, 0, "{} in a game that ended as {position:?}", P::ID);
        }
        let start = P::start(options);
        let perft = PerftOptions { bulk: false, ..PerftOptions::default() };
        let (allocations, count) = count_allocations(|| perft.count(&start, 4, &[]));
        assert!(allocations == 0 && count > 0, "{}", P::ID);
        let (allocations, count) = count_allocations(|| start.bulk_leaves(4));
        assert!(allocations == 0 && count > 0, "{}", P::ID);
    }
}

#[test]
fn generating_and_playing_moves_does_not_allocate() {
    for game in Game::all() {
        game.visit_perft(NoAllocation);
    }
}
