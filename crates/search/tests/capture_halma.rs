//! Capture Halma: forced results, when to end the game, the turn limit, and properties of the
//! evaluation.

use crownhead_rules::capture_halma::MAX_PLIES;
use crownhead_rules::{CaptureHalma, MoveList, Notation, Position, Side};
use crownhead_search::{
    EngineConfig, Evaluator, HasEngine, Knowledge, Quiescence, Score, SearchLimits, SearchReport,
    SearchRequest, Searchable, StopFlag, WIN, plies_to_end, textbook,
};

fn position(text: &str) -> CaptureHalma {
    CaptureHalma::parse_position(text, &()).unwrap()
}

fn search(
    position: &CaptureHalma,
    config: EngineConfig,
    limits: SearchLimits,
) -> SearchReport<CaptureHalma> {
    let mut engine = CaptureHalma::new_engine(config, &Knowledge::default()).unwrap();
    engine.search(SearchRequest::new(position, limits), &StopFlag::new(), &mut |_| {})
}

fn after_nodes(text: &str, nodes: u64) -> (CaptureHalma, SearchReport<CaptureHalma>) {
    let position = position(text);
    let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
    let report = search(&position, EngineConfig { hash_mb: 4, ..EngineConfig::default() }, limits);
    (position, report)
}

/// Evaluates everything as a draw: a textbook search with it finds forced results only.
struct Blank;

impl Evaluator<CaptureHalma> for Blank {
    type State = ();
    fn refresh(&self, _: &CaptureHalma) {}
    fn after(&self, (): &(), _: &CaptureHalma, _: <CaptureHalma as Position>::Move) {}
    fn eval(&self, _: &CaptureHalma, (): &()) -> Score {
        0
    }
}

fn proved(position: &CaptureHalma, depth: u32) -> Score {
    textbook::alpha_beta(position, &[], depth, &Blank, &|| false).unwrap().score
}

/// Pseudo-random number less than `below`.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// Calls `visit` with the positions of random games, some of them with few men.
fn positions(games: u64, mut visit: impl FnMut(&CaptureHalma)) {
    let mut moves = MoveList::new();
    for game in 0..games {
        let mut state = game;
        let mut position = CaptureHalma::start(&());
        while position.outcome(&[]).is_none() {
            visit(&position);
            position.legal_moves(&mut moves);
            position.play(moves[random(&mut state, moves.len())]);
        }
    }
}

#[test]
fn forced_wins_are_found_with_exact_length() {
    for (text, plies) in [
        ("5bb1/6bb/8/8/8/8/ww6/1ww5 w 47", 1),
        ("w7/8/6bb/5bb1/6b1/6b1/8/1ww5 b 64", 1),
        ("5bb1/8/www5/8/5b2/3w4/3w4/6b1 b 54", 3),
        ("1w6/8/6bb/4bb2/6b1/6b1/8/1ww5 b 62", 3),
        ("6b1/8/6bb/ww4bb/w5b1/4b3/8/1ww5 b 80", 3),
        ("8/6b1/5bbw/5bb1/6b1/1w6/ww6/ww1w4 b 58", 3),
        ("5bb1/4bb2/8/8/8/8/1w1w4/1ww5 w 43", 5),
        ("5bb1/8/www5/8/4b3/4w3/3w4/6b1 b 52", 5),
        ("w7/8/6bb/3bb3/6b1/6b1/8/1ww5 b 60", 5),
    ] {
        let (position, report) = after_nodes(text, 50_000);
        assert_eq!(proved(&position, plies as u32), WIN - plies, "{text}");
        assert_eq!(report.score(), WIN - plies, "{text}: {:?}", report.lines);
        // The line ends the game.
        let mut end = position;
        report.lines[0].moves.iter().for_each(|&mv| end.play(mv));
        assert!(end.outcome(&[]).is_some(), "{text}: {:?}", report.lines);
    }
}

#[test]
fn side_ahead_ends_the_game() {
    for text in [
        // Fewer men, but ahead: three at home against two of nine.
        "7b/6b1/8/5b2/w3w3/w2ww3/3ww3/3ww3 b 90",
        // A single man against none at home.
        "8/8/8/5b2/8/2w1w3/2w1w3/3ww3 b 120",
        "6b1/8/2b4b/2b5/2w5/w7/w7/8 w 301",
        "6b1/8/8/2b5/2w5/w7/8/8 w 51",
    ] {
        let (position, report) = after_nodes(text, 2_000);
        let outcome = position.after(report.best_move().unwrap()).outcome(&[]);
        let winner = outcome.and_then(|outcome| outcome.winner);
        assert_eq!(winner, Some(position.side()), "{text}: {:?}", report.lines);
    }
}

#[test]
fn side_behind_does_not_end_the_game() {
    for text in [
        // The game would end two against three.
        "7b/8/8/5b2/w3w3/w2ww3/w2w4/8 b 90",
        "6b1/6bb/8/2b5/4b3/2w5/1w6/8 w 121",
    ] {
        let (position, report) = after_nodes(text, 20_000);
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let ends = |mv| position.after(mv).outcome(&[]).is_some();
        assert!(moves.iter().any(|&mv| ends(mv)), "{text}: the game cannot be ended");
        assert!(!ends(report.best_move().unwrap()), "{text}: {:?}", report.lines);
    }
}

#[test]
fn search_near_the_turn_limit_equals_textbook_search() {
    let boards = [
        "5bb1/8/www5/8/5b2/3w4/3w4/6b1",
        "6b1/8/5b1b/ww4bb/w5b1/4b3/2w5/1w6",
        "8/5b2/5bbw/5bb1/6b1/1w6/ww6/ww2w3",
        "1w6/2b5/1b4b1/2bb2w1/1w1b2w1/8/1w4b1/8",
    ];
    for board in boards {
        for (side, left) in [("b", 2), ("b", 4), ("w", 1), ("w", 3)] {
            let position = position(&format!("{board} {side} {}", MAX_PLIES - left));
            let value = proved(&position, left.into());
            for (hash_mb, pruning) in [(0, false), (1, false), (1, true)] {
                let config = EngineConfig { hash_mb, pruning, ..EngineConfig::default() };
                let limits = SearchLimits { depth: Some(left.into()), ..SearchLimits::default() };
                let report = search(&position, config, limits);
                assert_eq!(report.score().signum(), value.signum(), "{position:?} {report:?}");
            }
        }
    }
}

#[test]
fn turn_limit_decides_the_game() {
    // Black has three men at home, White two. With two plies left, Black must not lose a man, and
    // White must bring one home.
    let (position, report) = after_nodes("6b1/6b1/6b1/w7/w7/2w5/8/3b4 b 398", 20_000);
    assert_eq!(proved(&position, 2), report.score());
    let (position, report) = after_nodes("6b1/6b1/6b1/w7/w7/2w5/8/3b4 w 399", 20_000);
    assert_eq!(report.score(), 0, "{:?}", report.lines);
    assert_eq!(position.after(report.best_move().unwrap()).score(Side::Second), 3);
}

#[test]
fn position_is_quiet_exactly_if_it_has_no_captures() {
    positions(40, |position| {
        let mut captures = false;
        position.each_move(|mv| captures |= mv.captures() > 0);
        let expected = if captures { Quiescence::OptionalCaptures } else { Quiescence::Quiet };
        assert_eq!(position.quiescence(), expected, "{position:?}");
    });
}

/// The board mirrored top to bottom.
fn mirrored(position: &CaptureHalma) -> CaptureHalma {
    let text = position.format_position();
    let (board, rest) = text.split_once(' ').unwrap();
    let rows: Vec<_> = board.split('/').rev().collect();
    self::position(&format!("{} {rest}", rows.join("/")))
}

/// The board rotated by 180° with the colours swapped.
fn rotated(position: &CaptureHalma) -> CaptureHalma {
    let text = position.format_position();
    let (board, rest) = text.split_once(' ').unwrap();
    let change = |letter| match letter {
        'b' => 'w',
        'w' => 'b',
        other => other,
    };
    let board: String = board.chars().rev().map(change).collect();
    let rest: String = rest.chars().map(change).collect();
    self::position(&format!("{board} {rest}"))
}

#[test]
fn eval_is_symmetric() {
    let evaluator = CaptureHalma::evaluator(&Knowledge::default());
    // The network is not exactly symmetric about the horizontal axis.
    let weights = evaluator.without_network();
    positions(20, |position| {
        let score = evaluator.evaluate(position);
        assert_eq!(evaluator.evaluate(&rotated(position)), score, "{position:?}");
        assert_eq!(plies_to_end(score), None, "{position:?}");
        let sum = weights.evaluate(position);
        assert_eq!(weights.evaluate(&mirrored(position)), sum, "{position:?}");
    });
}

#[test]
fn eval_rewards_men_and_progress() {
    let evaluator = CaptureHalma::evaluator(&Knowledge::default());
    let score = |text| evaluator.evaluate(&position(text));
    let start = "b7/1b5w/b1b3w1/1b3w1w/b1b3w1/1b3w1w/b5w1/7w b 0";
    let man_less = "b7/1b5w/b1b3w1/1b3w1w/b1b3w1/1b3w1w/b7/7w b 0";
    assert!(score(man_less) > score(start) + 40);
    let home = "6b1/6b1/6b1/1b6/8/w3w3/w3w3/w7 b 60";
    let not_home = "5b2/5b2/5b2/1b6/8/w3w3/w3w3/w7 b 60";
    assert!(score(home) > score(not_home) + 40);
    // A player without men cannot score.
    assert!(score("8/8/8/2b5/8/8/8/8 b 60") > 500);
}

#[test]
fn eval_of_an_empty_board_is_zero() {
    let evaluator = CaptureHalma::evaluator(&Knowledge::default());
    assert_eq!(
        evaluator.evaluate(&CaptureHalma::parse_position("8/8/8/8/8/8/8/8 b 50", &()).unwrap()),
        0
    );
}
