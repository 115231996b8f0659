//! Properties of every search: its report is correct, and it respects its limits.

use std::collections::HashSet;
use std::sync::mpsc;
use std::time::Duration;

use crate::setups::{GAMES, from_game, legal, setup};
use crownhead_rules::{Contest, English, Game, Notation, Position};
use crownhead_search::textbook::{alpha_beta, minimax};
use crownhead_search::{
    DynEngine, EngineConfig, Evaluator, GameVisitor, HasEngine, Knowledge, SearchLimits,
    SearchReport, SearchRequest, Searchable, StopFlag, Stopwatch, WIN, plies_to_end, visit,
};

/// Defines a test that runs for every game.
macro_rules! every_game {
    ($(#[$meta:meta])* fn $name:ident<P>($options:ident) $body:block) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            struct Property;
            impl GameVisitor for Property {
                type Output = ();
                fn visit<P: HasEngine>(self, $options: &P::Options) $body
            }
            GAMES.iter().for_each(|game| visit(&game.parse::<Game>().unwrap(), Property));
        }
    };
}

fn engine<P: HasEngine>(threads: usize, hash_mb: usize, pruning: bool) -> Box<dyn DynEngine<P>> {
    let config = EngineConfig { threads, hash_mb, pruning, ..EngineConfig::default() };
    P::new_engine(config, &Knowledge::default()).unwrap()
}

fn nodes(nodes: u64) -> SearchLimits {
    SearchLimits { nodes: Some(nodes), ..SearchLimits::default() }
}

fn depth(depth: u32) -> SearchLimits {
    SearchLimits { depth: Some(depth), ..SearchLimits::default() }
}

/// Positions of random games, and set-ups with few and many pieces, near and far from the turn
/// limit.
fn positions<P: Searchable>(options: &P::Options, count: u64) -> Vec<(P, Vec<u64>)> {
    let mut rng = fastrand::Rng::with_seed(count);
    let mut positions = vec![(P::start(options), Vec::new())];
    while positions.len() < count as usize {
        positions.push(from_game(options, &mut rng));
        let pieces = rng.usize(1..=6);
        let left = rng.u32(1..60);
        positions.push((setup(options, pieces, left, &mut rng), Vec::new()));
    }
    positions
}

/// Whether the result was proved, so that the search ended early.
fn is_proved<P: Position>(report: &SearchReport<P>) -> bool {
    report.lines.iter().all(|line| plies_to_end(line.score).is_some())
}

/// A report without its time.
fn facts<P: Notation>(report: &SearchReport<P>) -> String {
    let lines: Vec<_> = report.lines.iter().map(|line| (line.score, &line.moves)).collect();
    format!(
        "{lines:?} depth {} seldepth {} nodes {} hashfull {}",
        report.depth, report.seldepth, report.nodes, report.hashfull
    )
}

/// Every line is legal; the first moves differ; better lines come first; a proved result has the
/// winner and the length that its score says.
fn check_lines<P: Searchable>(
    position: &P,
    history_keys: &[u64],
    multipv: usize,
    report: &SearchReport<P>,
) {
    let context = format!("{position:?}: {}", facts(report));
    let moves = legal(position);
    assert_eq!(report.lines.len(), multipv.clamp(1, moves.len()), "{context}");
    let firsts: HashSet<_> = report.lines.iter().map(|line| line.moves[0]).collect();
    assert_eq!(firsts.len(), report.lines.len(), "{context}");
    assert!(report.lines.windows(2).all(|pair| pair[0].score >= pair[1].score), "{context}");
    assert_eq!(report.best_move(), Some(report.lines[0].moves[0]));
    assert_eq!(report.score(), report.lines[0].score);
    for line in &report.lines {
        assert!(line.score.abs() < WIN, "{context}");
        let mut after = position.clone();
        let mut keys = history_keys.to_vec();
        for (ply, mv) in line.moves.iter().enumerate() {
            assert!(after.outcome(&keys).is_none(), "over before ply {ply}, {context}");
            assert!(legal(&after).contains(mv), "{mv:?} is not legal, {context}");
            keys.push(after.key());
            after.play(*mv);
        }
        if let Some(plies) = plies_to_end(line.score) {
            assert_eq!(line.moves.len(), plies.unsigned_abs() as usize, "{context}");
            let winner = after.outcome(&keys).and_then(|outcome| outcome.winner);
            let expected = if plies > 0 { position.side() } else { position.side().other() };
            assert_eq!(winner, Some(expected), "{context}");
        }
    }
}

every_game! {
    fn reported_lines_are_legal_and_proved_results_are_true<P>(options) {
        let mut engines = [(1, 1, true), (1, 0, true), (1, 1, false), (2, 1, true)]
            .map(|(threads, hash_mb, pruning)| engine::<P>(threads, hash_mb, pruning));
        for (index, (position, history_keys)) in positions::<P>(options, 40).iter().enumerate() {
            let moves = legal(position).len();
            let lines = [1, 2, 3, moves, moves + 5][index % 5];
            for engine in &mut engines {
                let limits = nodes(3000);
                let request = SearchRequest { position, history_keys, limits, multipv: lines };
                let report = engine.search(request, &StopFlag::new(), &mut |report| {
                    check_lines(position, history_keys, lines, report);
                });
                check_lines(position, history_keys, lines, &report);
            }
        }
    }
}

every_game! {
    fn search_with_one_thread_is_reproducible<P>(options) {
        let mut old = engine::<P>(1, 1, true);
        for (position, history_keys) in &positions::<P>(options, 6) {
            for lines in [1, 3] {
                let reports = |engine: &mut dyn DynEngine<P>| {
                    let limits = nodes(10_000);
                    let request = SearchRequest { position, history_keys, limits, multipv: lines };
                    let mut reports = Vec::new();
                    let report = engine.search(request, &StopFlag::new(), &mut |report| {
                        reports.push(facts(report));
                    });
                    reports.push(facts(&report));
                    reports
                };
                let first = reports(&mut *engine(1, 1, true));
                assert_eq!(first, reports(&mut *engine(1, 1, true)));
                // A cleared engine behaves like a new one.
                old.clear();
                assert_eq!(first, reports(&mut *old));
            }
        }
    }
}

every_game! {
    fn node_limits_are_exact<P>(options) {
        for threads in [1, 2] {
            let mut engine = engine::<P>(threads, 1, true);
            for (position, history_keys) in &positions::<P>(options, 6) {
                for limit in [0, 1, 2, 127, 128, 129, 1000, 4999] {
                    let limits = nodes(limit);
                    let request = SearchRequest { position, history_keys, limits, multipv: 1 };
                    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
                    check_lines(position, history_keys, 1, &report);
                    assert!(report.nodes <= limit, "{} of {limit}, {position:?}", report.nodes);
                    // One of two threads may finish before it has used its block of nodes.
                    let alone = threads == 1 && !is_proved(&report) && report.depth < 120;
                    if alone || *position == P::start(options) {
                        assert_eq!(report.nodes, limit, "{threads} threads, {position:?}");
                    }
                }
            }
        }
    }
}

every_game! {
    fn depth_limits_are_exact<P>(options) {
        for pruning in [false, true] {
            for (position, history_keys) in &positions::<P>(options, 5) {
                for last in 1..=3 {
                    let limits = depth(last);
                    let request = SearchRequest { position, history_keys, limits, multipv: 2 };
                    let mut depths = Vec::new();
                    let report = engine::<P>(1, 1, pruning)
                        .search(request, &StopFlag::new(), &mut |report| depths.push(report.depth));
                    assert!(depths.iter().copied().eq(1..=report.depth), "{depths:?}");
                    assert!(report.depth == last || is_proved(&report), "{position:?}");
                }
            }
        }
    }
}

every_game! {
    fn search_stopped_before_the_start_still_reports_a_move<P>(options) {
        let stop = StopFlag::new();
        stop.set();
        for threads in [1, 2] {
            for (position, history_keys) in &positions::<P>(options, 6) {
                let limits = SearchLimits::default();
                let request = SearchRequest { position, history_keys, limits, multipv: 2 };
                let report = engine::<P>(threads, 1, true).search(request, &stop, &mut |_| {});
                check_lines(position, history_keys, 2, &report);
                assert_eq!((report.nodes, report.depth), (0, 0));
            }
        }
    }
}

#[test]
fn a_limit_of_cpu_time_is_used_up_before_the_search_ends() {
    let position = English::start(&Default::default());
    let mut engine = engine::<English>(1, 16, true);
    let time = Duration::from_millis(20);
    let limits = SearchLimits { cpu_time: Some(time), ..SearchLimits::default() };
    let watch = Stopwatch::start();
    let report =
        engine.search(SearchRequest::new(&position, limits), &StopFlag::new(), &mut |_| {});
    assert!(watch.elapsed() >= time && report.depth > 0, "{:?} {report:?}", watch.elapsed());
}

every_game! {
    fn stop_flag_ends_a_search_within_a_few_nodes<P>(options) {
        let position = P::start(options);
        for threads in [1, 2] {
            let mut engine = engine::<P>(threads, 1, true);
            let request = || SearchRequest::new(&position, SearchLimits::default());
            let (stop, mut before) = (StopFlag::new(), 0);
            let report = engine.search(request(), &stop, &mut |report| {
                if report.depth == 4 {
                    before = report.nodes;
                    stop.set();
                }
            });
            check_lines(&position, &[], 1, &report);
            assert!(report.depth >= 4);
            if threads == 1 {
                assert!(report.nodes - before <= 128, "{} after {before}", report.nodes);
            }

            // Only the flag, set by another thread, can end this search.
            let (stop, (sender, receiver)) = (StopFlag::new(), mpsc::channel());
            let report = std::thread::scope(|scope| {
                let flag = stop.clone();
                scope.spawn(move || {
                    receiver.recv().unwrap();
                    flag.set();
                });
                engine.search(request(), &stop, &mut |report| {
                    if report.depth == 3 {
                        sender.send(()).unwrap();
                    }
                })
            });
            check_lines(&position, &[], 1, &report);
            assert!(stop.is_set() && report.depth >= 3);
        }
    }
}

every_game! {
    fn search_of_a_tiny_ending_ends_at_maximum_depth<P>(options) {
        let mut rng = fastrand::Rng::with_seed(3);
        for limits in [
            SearchLimits { nodes: Some(20_000), depth: Some(120), ..SearchLimits::default() },
            SearchLimits { nodes: Some(20_000), depth: Some(u32::MAX), ..SearchLimits::default() },
            nodes(20_000),
        ] {
            for hash in [0, 1] {
                for pruning in [false, true] {
                    let left = rng.u32(1..200);
                    let position = setup::<P>(options, 1, left, &mut rng);
                    let request = SearchRequest::new(&position, limits);
                    let request = SearchRequest { multipv: 3, ..request };
                    let mut engine = engine::<P>(1, hash, pruning);
                    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
                    check_lines(&position, &[], 3, &report);
                }
            }
        }
    }
}

/// A search without limits ends when the result is proved, or at the maximum depth.
#[test]
fn search_of_a_tiny_ending_ends_without_limits() {
    for (game, text) in [
        ("english", "W:W5:B28"),
        ("english:draw-plies=9", "W:WK1:BK32"),
        ("english:draw-plies=10000", "W:WK1:BK32"),
        ("contest", "B:W30,31:B2,3"),
        ("chinese-checkers", "4#3/8/8/8/8/8/8/3O4 # 197"),
        ("capture-halma", "8/8/2b5/8/8/5w2/8/8 b 396"),
        ("capture-halma", "8/8/8/8/8/8/8/8 b 0"),
    ] {
        let (moves, ..) = search(game, text, SearchLimits::default());
        assert!(!moves.is_empty(), "{game} {text}");
    }
}

every_game! {
    fn minimax_and_alpha_beta_agree<P>(options) {
        let evaluator = P::evaluator(&Knowledge::default());
        for (position, history_keys) in &positions::<P>(options, 24) {
            let moves = legal(position).len() as u64;
            for depth in (1..=4).take_while(|&depth| moves.pow(depth) < 20_000) {
                let keys = history_keys;
                let full = minimax(position, keys, depth, &evaluator, &|| false).unwrap();
                let fast = alpha_beta(position, keys, depth, &evaluator, &|| false).unwrap();
                let context = format!("{position:?} depth {depth}: {full:?}, {fast:?}");
                assert_eq!(full.score, fast.score, "{context}");
                assert_eq!(full.best_moves, fast.best_moves, "{context}");
                assert!(fast.nodes <= full.nodes, "{context}");
                if let Some(plies) = plies_to_end(full.score) {
                    assert!(plies.unsigned_abs() <= depth, "{context}");
                }
            }
        }
    }
}

fn search_text<P: HasEngine>(
    text: &str,
    options: &P::Options,
    limits: SearchLimits,
) -> SearchReport<P> {
    let position = P::parse_position(text, options).unwrap();
    let request = SearchRequest { position: &position, history_keys: &[], limits, multipv: 2 };
    let report = engine::<P>(1, 1, true).search(request, &StopFlag::new(), &mut |_| {});
    if position.outcome(&[]).is_none() {
        check_lines(&position, &[], 2, &report);
    }
    report
}

/// Searches a position; returns the first moves, the score and the nodes.
struct Search<'a>(&'a str, SearchLimits);

impl GameVisitor for Search<'_> {
    type Output = (Vec<String>, i32, u64);

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let report = search_text::<P>(self.0, options, self.1);
        let position = P::parse_position(self.0, options).unwrap();
        let firsts = report.lines.iter().map(|line| position.format_move(line.moves[0]));
        (firsts.collect(), report.score(), report.nodes)
    }
}

fn search(game: &str, text: &str, limits: SearchLimits) -> (Vec<String>, i32, u64) {
    visit(&game.parse::<Game>().unwrap(), Search(text, limits))
}

#[test]
fn finished_game_gives_an_empty_report() {
    for (game, text) in [
        ("english", "B:W21:B"),
        ("english", "B:W9,14:B5"),
        ("contest", "W:W1:B32"),
        ("chinese-checkers", "8/8/8/8/8/7#/6##/O4### O 31"),
        ("chinese-checkers", "8/8/8/8/8/8/8/8 # 200"),
        ("capture-halma", "7b/8/8/8/8/8/8/4w3 w 9"),
        ("capture-halma", "b7/8/8/8/8/8/8/4w3 b 400"),
    ] {
        assert_eq!(search(game, text, SearchLimits::default()), (vec![], 0, 0), "{game} {text}");
    }
}

#[test]
fn side_without_moves_passes() {
    for (game, text) in [
        ("chinese-checkers", "5OO#/6OO/5O1O/8/8/8/8/8 # 10"),
        ("capture-halma", "8/8/8/8/8/4w3/8/8 b 10"),
        ("capture-halma", "8/8/8/8/8/8/8/8 w 391"),
    ] {
        let (moves, ..) = search(game, text, nodes(20_000));
        assert_eq!(moves, ["pass"], "{game} {text}");
    }
}

/// Hops through a lattice: 801 moves, more than a TT entry can index and than fit into the inline
/// part of a move list.
#[test]
fn position_with_hundreds_of_moves_is_searched() {
    let text = "8/1bw1b3/1b1w1w2/2b1b3/1b1w1b2/2b1w3/1b1w1w2/2w1w3 b 10";
    let position = crownhead_rules::CaptureHalma::parse_position(text, &()).unwrap();
    assert_eq!(legal(&position).len(), 801);
    for lines in [1, 300, 1000] {
        for pruning in [false, true] {
            let request = SearchRequest {
                position: &position,
                history_keys: &[],
                limits: nodes(20_000),
                multipv: lines,
            };
            let report = engine(1, 1, pruning).search(request, &StopFlag::new(), &mut |_| {});
            check_lines(&position, &[], lines, &report);
        }
    }
}

/// Chinese checkers has no captures and few forced moves, so no line exceeds the nominal depth, and
/// all lines can be compared with minimax.
#[test]
fn chinese_checkers_search_without_pruning_equals_minimax() {
    type P = crownhead_rules::ChineseCheckers;
    let evaluator = P::evaluator(&Knowledge::default());
    let stop = StopFlag::new();
    for (position, history_keys) in &positions::<P>(&(), 24) {
        if position.pieces(position.side()).count_ones() < 2 {
            continue;
        }
        for last in 1..=2 {
            let mut expected: Vec<_> = legal(position)
                .iter()
                .map(|&mv| {
                    let child = position.after(mv);
                    match (child.outcome(&[]), last) {
                        (Some(outcome), _) if outcome.winner.is_some() => WIN - 1,
                        (Some(_), _) => 0,
                        (None, 1) => -evaluator.evaluate(&child),
                        (None, _) => {
                            let score = minimax(&child, &[], last - 1, &evaluator, &|| false)
                                .unwrap()
                                .score;
                            // The child is one ply closer to the end than the root.
                            -(score
                                - if plies_to_end(score).is_some() { score.signum() } else { 0 })
                        }
                    }
                })
                .collect();
            expected.sort_by_key(|score| -score);
            expected.truncate(4);
            let request = SearchRequest { position, history_keys, limits: depth(last), multipv: 4 };
            let report = engine::<P>(1, 0, false).search(request, &stop, &mut |_| {});
            if report.depth == last {
                let scores: Vec<_> = report.lines.iter().map(|line| line.score).collect();
                assert_eq!(scores, expected, "{position:?} depth {last}");
            }
        }
    }
}

#[test]
fn eval_values_kings_above_men() {
    struct Kings;
    impl GameVisitor for Kings {
        type Output = ();
        fn visit<P: Searchable>(self, options: &P::Options) {
            let evaluator = P::evaluator(&Knowledge::default());
            let score = |text: &str| evaluator.evaluate(&P::parse_position(text, options).unwrap());
            let (kings, men) = (score("B:W30,31,32:BK14,K15,K18"), score("B:W30,31,32:B14,15,18"));
            assert!(kings > men && kings > 0, "{}: {kings}, {men}", P::ID);
        }
    }
    for game in ["english", "english:rules=wcdf", "contest:kings=true"] {
        visit(&game.parse().unwrap(), Kings);
    }
}

#[test]
fn contempt_makes_near_draws_worse_than_distant_ones() {
    // A certain draw: the counter ends the game before the men meet.
    let limits = SearchLimits { depth: Some(8), ..SearchLimits::default() };
    let score = |plies: u32, contempt: i32| {
        let options = Contest::parse_options(&format!("draw-plies={plies}")).unwrap();
        let start = Contest::parse_position("B:W21:B12", &options).unwrap();
        let config = EngineConfig { threads: 1, hash_mb: 1, contempt, ..EngineConfig::default() };
        let mut engine = Contest::new_engine(config, &Knowledge::default()).unwrap();
        let request = SearchRequest::new(&start, limits);
        engine.search(request, &StopFlag::new(), &mut |_| {}).score()
    };
    assert_eq!([1, 2, 4].map(|plies| score(plies, 0)), [0, 0, 0]);
    let [next, second, fourth] = [1, 2, 4].map(|plies| score(plies, 200));
    assert!(
        -200 < next && next < second && second < fourth && fourth < 0,
        "{next} {second} {fourth}"
    );
}

#[test]
fn drawishness_rises_with_exchanges() {
    let drawish =
        |text: &str| Contest::parse_position(text, &Default::default()).unwrap().drawishness();
    let (many, few) = ("B:W21,22,23,24,30,31:B1,2,3,4,9,10", "B:W21,22,30,31:B1,2,9,10");
    assert!(0 < drawish(many) && drawish(many) < drawish(few) && drawish(few) < 100);
}
