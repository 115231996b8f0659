//! Laws that hold for every search: what its report says is true, and it keeps its limits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod setups;

use std::collections::HashSet;
use std::sync::mpsc;

use crownhead_rules::{Contest, Game, Notation, Position};
use crownhead_search::textbook::{alpha_beta, minimax};
use crownhead_search::{
    Engine, EngineConfig, Evaluator, GameVisitor, Knowledge, SearchLimits, SearchReport,
    SearchRequest, Searchable, StopFlag, WIN, plies_to_end, visit,
};
use setups::{GAMES, from_game, legal, setup};

/// Does the same for every game.
macro_rules! every_game {
    ($(#[$meta:meta])* fn $name:ident<P>($options:ident) $body:block) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            struct Law;
            impl GameVisitor for Law {
                type Output = ();
                fn visit<P: Searchable>(self, $options: &P::Options) $body
            }
            GAMES.iter().for_each(|game| visit(&game.parse::<Game>().unwrap(), Law));
        }
    };
}

fn engine<P: Searchable>(threads: usize, hash: usize, pruning: bool) -> Engine<P> {
    Engine::new(
        EngineConfig { threads, hash_mb: hash, pruning, contempt: 0 },
        &Knowledge::default(),
    )
    .unwrap()
}

fn nodes(nodes: u64) -> SearchLimits {
    SearchLimits { nodes: Some(nodes), ..SearchLimits::default() }
}

fn depth(depth: u32) -> SearchLimits {
    SearchLimits { depth: Some(depth), ..SearchLimits::default() }
}

/// Positions of random games and set-ups of few and many pieces, near the limits and far from them.
fn positions<P: Searchable>(options: &P::Options, count: u64) -> Vec<(P, Vec<u64>)> {
    let mut random = fastrand::Rng::with_seed(count);
    let mut positions = vec![(P::start(options), Vec::new())];
    while positions.len() < count as usize {
        positions.push(from_game(options, &mut random));
        let pieces = random.usize(1..=6);
        let left = random.u32(1..60);
        positions.push((setup(options, pieces, left, &mut random), Vec::new()));
    }
    positions
}

/// Whether the end was proved, so that the search had nothing more to do.
fn is_proved<P: Position>(report: &SearchReport<P>) -> bool {
    report.lines.iter().all(|line| plies_to_end(line.score).is_some())
}

/// What a report says, apart from the time it took.
fn facts<P: Notation>(report: &SearchReport<P>) -> String {
    let lines: Vec<_> = report.lines.iter().map(|line| (line.score, &line.moves)).collect();
    format!(
        "{lines:?} depth {} deepest {} nodes {} fullness {}",
        report.depth, report.seldepth, report.nodes, report.hashfull
    )
}

/// Every line can be played; the first moves differ; the better line comes first; a proved end comes
/// when the score says, for whom it says.
fn check_lines<P: Searchable>(position: &P, past: &[u64], lines: usize, report: &SearchReport<P>) {
    let said = format!("{position:?}: {}", facts(report));
    let moves = legal(position);
    assert_eq!(report.lines.len(), lines.clamp(1, moves.len()), "{said}");
    let firsts: HashSet<_> = report.lines.iter().map(|line| line.moves[0]).collect();
    assert_eq!(firsts.len(), report.lines.len(), "{said}");
    assert!(report.lines.windows(2).all(|pair| pair[0].score >= pair[1].score), "{said}");
    assert_eq!(report.best_move(), Some(report.lines[0].moves[0]));
    assert_eq!(report.score(), report.lines[0].score);
    for line in &report.lines {
        assert!(line.score.abs() < WIN, "{said}");
        let mut after = position.clone();
        let mut past = past.to_vec();
        for (ply, mv) in line.moves.iter().enumerate() {
            assert!(after.outcome(&past).is_none(), "over before ply {ply}, {said}");
            assert!(legal(&after).contains(mv), "{mv:?} is not legal, {said}");
            past.push(after.key());
            after.play(*mv);
        }
        if let Some(plies) = plies_to_end(line.score) {
            assert_eq!(line.moves.len(), plies.unsigned_abs() as usize, "{said}");
            let winner = after.outcome(&past).and_then(|outcome| outcome.winner);
            let expected = if plies > 0 { position.side() } else { position.side().other() };
            assert_eq!(winner, Some(expected), "{said}");
        }
    }
}

every_game! {
    fn every_line_is_legal_and_a_proved_end_comes_as_told<P>(options) {
        let mut engines = [engine::<P>(1, 1, true), engine(1, 0, true), engine(1, 1, false), engine(2, 1, true)];
        for (index, (position, past)) in positions::<P>(options, 40).iter().enumerate() {
            let moves = legal(position).len();
            let lines = [1, 2, 3, moves, moves + 5][index % 5];
            for engine in &mut engines {
                let task = SearchRequest { position, history_keys: past, limits: nodes(3000), multipv: lines };
                let report = engine.search(task, &StopFlag::new(), |report| {
                    check_lines(position, past, lines, report);
                });
                check_lines(position, past, lines, &report);
            }
        }
    }
}

every_game! {
    fn the_same_task_gives_the_same_report<P>(options) {
        let mut old = engine::<P>(1, 1, true);
        for (position, past) in &positions::<P>(options, 6) {
            for lines in [1, 3] {
                let heard = |engine: &mut Engine<P>| {
                    let task = SearchRequest { position, history_keys: past, limits: nodes(10_000), multipv: lines };
                    let mut heard = Vec::new();
                    let report = engine.search(task, &StopFlag::new(), |report| heard.push(facts(report)));
                    heard.push(facts(&report));
                    heard
                };
                let first = heard(&mut engine(1, 1, true));
                assert_eq!(first, heard(&mut engine(1, 1, true)));
                // An engine that is told to forget is as good as new.
                old.clear();
                assert_eq!(first, heard(&mut old));
            }
        }
    }
}

every_game! {
    fn node_limits_are_exact<P>(options) {
        for threads in [1, 2] {
            let mut engine = engine::<P>(threads, 1, true);
            for (position, past) in &positions::<P>(options, 6) {
                for limit in [0, 1, 2, 127, 128, 129, 1000, 4999] {
                    let task = SearchRequest { position, history_keys: past, limits: nodes(limit), multipv: 1 };
                    let report = engine.search(task, &StopFlag::new(), |_| {});
                    check_lines(position, past, 1, &report);
                    assert!(report.nodes <= limit, "{} of {limit}, {position:?}", report.nodes);
                    // Of two threads one may be done before it has used up what it took.
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
    fn depth_limits_are_reached_and_not_passed<P>(options) {
        for pruning in [false, true] {
            for (position, past) in &positions::<P>(options, 5) {
                for last in 1..=3 {
                    let task = SearchRequest { position, history_keys: past, limits: depth(last), multipv: 2 };
                    let mut heard = Vec::new();
                    let report = engine::<P>(1, 1, pruning)
                        .search(task, &StopFlag::new(), |report| heard.push(report.depth));
                    assert!(heard.iter().copied().eq(1..=report.depth), "{heard:?}");
                    assert!(report.depth == last || is_proved(&report), "{position:?}");
                }
            }
        }
    }
}

every_game! {
    fn a_search_stopped_before_it_began_still_has_a_move<P>(options) {
        let stop = StopFlag::new();
        stop.set();
        for threads in [1, 2] {
            for (position, past) in &positions::<P>(options, 6) {
                let task = SearchRequest { position, history_keys: past, limits: SearchLimits::default(), multipv: 2 };
                let report = engine::<P>(threads, 1, true).search(task, &stop, |_| {});
                check_lines(position, past, 2, &report);
                assert_eq!((report.nodes, report.depth), (0, 0));
            }
        }
    }
}

every_game! {
    fn a_raised_flag_ends_a_search_within_a_few_nodes<P>(options) {
        let position = P::start(options);
        for threads in [1, 2] {
            let mut engine = engine::<P>(threads, 1, true);
            let task = || SearchRequest::new(&position, SearchLimits::default());
            let (stop, mut before) = (StopFlag::new(), 0);
            let report = engine.search(task(), &stop, |report| {
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

            // Nothing but the flag, raised by another thread, can end this one.
            let (stop, (tell, told)) = (StopFlag::new(), mpsc::channel());
            let report = std::thread::scope(|scope| {
                let raise = stop.clone();
                scope.spawn(move || {
                    told.recv().unwrap();
                    raise.set();
                });
                engine.search(task(), &stop, |report| {
                    if report.depth == 3 {
                        tell.send(()).unwrap();
                    }
                })
            });
            check_lines(&position, &[], 1, &report);
            assert!(stop.is_set() && report.depth >= 3);
        }
    }
}

every_game! {
    fn the_deepest_search_of_a_tiny_ending_ends<P>(options) {
        let mut random = fastrand::Rng::with_seed(3);
        for limits in [
            SearchLimits { nodes: Some(20_000), depth: Some(120), ..SearchLimits::default() },
            SearchLimits { nodes: Some(20_000), depth: Some(u32::MAX), ..SearchLimits::default() },
            nodes(20_000),
        ] {
            for hash in [0, 1] {
                for pruning in [false, true] {
                    let left = random.u32(1..200);
                    let position = setup::<P>(options, 1, left, &mut random);
                    let task = SearchRequest { position: &position, history_keys: &[], limits, multipv: 3 };
                    let report = engine::<P>(1, hash, pruning).search(task, &StopFlag::new(), |_| {});
                    check_lines(&position, &[], 3, &report);
                }
            }
        }
    }
}

/// Without any limit a search ends when everything is known, at the latest at its greatest depth.
#[test]
fn a_tiny_ending_needs_no_limits() {
    for (game, text) in [
        ("english", "W:W5:B28"),
        ("english:draw-plies=9", "W:WK1:BK32"),
        ("english:draw-plies=10000", "W:WK1:BK32"),
        ("contest", "B:W30,31:B2,3"),
        ("chinese-checkers", "4#3/8/8/8/8/8/8/3O4 # 197"),
        ("capture-halma", "8/8/2b5/8/8/5w2/8/8 b 396"),
        ("capture-halma", "8/8/8/8/8/8/8/8 b 0"),
    ] {
        let (moves, ..) = at(game, text, SearchLimits::default());
        assert!(!moves.is_empty(), "{game} {text}");
    }
}

every_game! {
    fn minimax_and_alpha_beta_agree<P>(options) {
        let evaluation = P::evaluator(&Knowledge::default());
        for (position, past) in &positions::<P>(options, 24) {
            let moves = legal(position).len() as u64;
            for depth in (1..=4).take_while(|&depth| moves.pow(depth) < 20_000) {
                let full = minimax(position, past, depth, &evaluation, &|| false).unwrap();
                let fast = alpha_beta(position, past, depth, &evaluation, &|| false).unwrap();
                let said = format!("{position:?} depth {depth}: {full:?}, {fast:?}");
                assert_eq!(full.score, fast.score, "{said}");
                assert_eq!(full.best_moves, fast.best_moves, "{said}");
                assert!(fast.nodes <= full.nodes, "{said}");
                if let Some(plies) = plies_to_end(full.score) {
                    assert!(plies.unsigned_abs() <= depth, "{said}");
                }
            }
        }
    }
}

fn report<P: Searchable>(
    text: &str,
    options: &P::Options,
    limits: SearchLimits,
) -> SearchReport<P> {
    let position = P::parse_position(text, options).unwrap();
    let task = SearchRequest { position: &position, history_keys: &[], limits, multipv: 2 };
    let report = engine::<P>(1, 1, true).search(task, &StopFlag::new(), |_| {});
    if position.outcome(&[]).is_none() {
        check_lines(&position, &[], 2, &report);
    }
    report
}

/// A game and a text for [`report`].
struct At<'a>(&'a str, SearchLimits);

impl GameVisitor for At<'_> {
    type Output = (Vec<String>, i32, u64);

    fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
        let report = report::<P>(self.0, options, self.1);
        let position = P::parse_position(self.0, options).unwrap();
        let firsts = report.lines.iter().map(|line| position.format_move(line.moves[0]));
        (firsts.collect(), report.score(), report.nodes)
    }
}

fn at(game: &str, text: &str, limits: SearchLimits) -> (Vec<String>, i32, u64) {
    visit(&game.parse::<Game>().unwrap(), At(text, limits))
}

#[test]
fn a_game_that_is_over_gives_an_empty_report() {
    for (game, text) in [
        ("english", "B:W21:B"),
        ("english", "B:W9,14:B5"),
        ("contest", "W:W1:B32"),
        ("chinese-checkers", "8/8/8/8/8/7#/6##/O4### O 31"),
        ("chinese-checkers", "8/8/8/8/8/8/8/8 # 200"),
        ("capture-halma", "7b/8/8/8/8/8/8/4w3 w 9"),
        ("capture-halma", "b7/8/8/8/8/8/8/4w3 b 400"),
    ] {
        assert_eq!(at(game, text, SearchLimits::default()), (vec![], 0, 0), "{game} {text}");
    }
}

#[test]
fn who_cannot_move_passes() {
    for (game, text) in [
        ("chinese-checkers", "5OO#/6OO/5O1O/8/8/8/8/8 # 10"),
        ("capture-halma", "8/8/8/8/8/4w3/8/8 b 10"),
        ("capture-halma", "8/8/8/8/8/8/8/8 w 391"),
    ] {
        let (moves, ..) = at(game, text, nodes(20_000));
        assert_eq!(moves, ["pass"], "{game} {text}");
    }
}

/// Hops through a lattice: 801 moves, more than a hash entry can number and more than fit a list on
/// the stack.
#[test]
fn a_position_with_hundreds_of_moves_is_searched() {
    let text = "8/1bw1b3/1b1w1w2/2b1b3/1b1w1b2/2b1w3/1b1w1w2/2w1w3 b 10";
    let position = crownhead_rules::CaptureHalma::parse_position(text, &()).unwrap();
    assert_eq!(legal(&position).len(), 801);
    for lines in [1, 300, 1000] {
        for pruning in [false, true] {
            let task = SearchRequest {
                position: &position,
                history_keys: &[],
                limits: nodes(20_000),
                multipv: lines,
            };
            let report = engine(1, 1, pruning).search(task, &StopFlag::new(), |_| {});
            check_lines(&position, &[], lines, &report);
        }
    }
}

/// Chinese checkers knows no captures and few forced moves, so there nothing goes beyond the nominal
/// depth and all the best lines can be compared with plain minimax.
#[test]
fn without_pruning_the_lines_of_chinese_checkers_are_those_of_minimax() {
    type P = crownhead_rules::ChineseCheckers;
    let evaluation = P::evaluator(&Knowledge::default());
    let stop = StopFlag::new();
    for (position, past) in &positions::<P>(&(), 24) {
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
                        (None, 1) => -evaluation_of(&evaluation, &child),
                        (None, _) => {
                            let score = minimax(&child, &[], last - 1, &evaluation, &|| false)
                                .unwrap()
                                .score;
                            // One ply further from the root than the child counted.
                            -(score
                                - if plies_to_end(score).is_some() { score.signum() } else { 0 })
                        }
                    }
                })
                .collect();
            expected.sort_by_key(|score| -score);
            expected.truncate(4);
            let task =
                SearchRequest { position, history_keys: past, limits: depth(last), multipv: 4 };
            let report = engine::<P>(1, 0, false).search(task, &stop, |_| {});
            if report.depth == last {
                let scores: Vec<_> = report.lines.iter().map(|line| line.score).collect();
                assert_eq!(scores, expected, "{position:?} depth {last}");
            }
        }
    }
}

fn evaluation_of<P: Position>(
    evaluation: &impl crownhead_search::Evaluator<P>,
    position: &P,
) -> i32 {
    evaluation.eval(position)
}

#[test]
fn a_king_is_worth_more_than_a_man_wherever_there_are_kings() {
    struct Kings;
    impl GameVisitor for Kings {
        type Output = ();
        fn visit<P: Searchable>(self, options: &P::Options) {
            let evaluation = P::evaluator(&Knowledge::default());
            let score = |text: &str| evaluation.eval(&P::parse_position(text, options).unwrap());
            let (kings, men) = (score("B:W30,31,32:BK14,K15,K18"), score("B:W30,31,32:B14,15,18"));
            assert!(kings > men && kings > 0, "{}: {kings}, {men}", P::ID);
        }
    }
    for game in ["english", "english:rules=wcdf", "contest:kings=true"] {
        visit(&game.parse().unwrap(), Kings);
    }
}

#[test]
fn with_contempt_a_draw_is_worth_less_to_the_side_at_the_root_the_less_the_nearer_it_is() {
    // Nothing but a draw is left: the count ends before anybody meets anybody.
    let limits = SearchLimits { depth: Some(8), ..SearchLimits::default() };
    let score = |plies: u32, contempt: i32| {
        let options = Contest::parse_options(&format!("draw-plies={plies}")).unwrap();
        let start = Contest::parse_position("B:W21:B12", &options).unwrap();
        let settings = EngineConfig { threads: 1, hash_mb: 1, pruning: true, contempt };
        let mut engine = Engine::<Contest>::new(settings, &Knowledge::default()).unwrap();
        engine.search(SearchRequest::new(&start, limits), &StopFlag::new(), |_| {}).score()
    };
    assert_eq!([1, 2, 4].map(|plies| score(plies, 0)), [0, 0, 0]);
    let [next, second, fourth] = [1, 2, 4].map(|plies| score(plies, 200));
    assert!(
        -200 < next && next < second && second < fourth && fourth < 0,
        "{next} {second} {fourth}"
    );
}

#[test]
fn a_player_with_contempt_keeps_the_men_that_could_still_go_wrong_on_the_board() {
    // An exchange is as good as none, but for the men who are gone afterwards.
    let drawish =
        |text: &str| Contest::parse_position(text, &Default::default()).unwrap().drawishness();
    let (many, few) = ("B:W21,22,23,24,30,31:B1,2,3,4,9,10", "B:W21,22,30,31:B1,2,9,10");
    assert!(0 < drawish(many) && drawish(many) < drawish(few) && drawish(few) < 100);
}
