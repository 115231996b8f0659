//! What the search must see in Chinese checkers, each fact checked against the textbook's search.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::Arc;

use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{ChineseCheckers, MoveList, Notation, Position, Side};
use crownhead_search::eval::Tunable;
use crownhead_search::eval::weights::{FeatureSink, MAX_PHASE, WEIGHT_SCALE};
use crownhead_search::{
    DRAW, Engine, EngineConfig, Evaluator, Knowledge, Score, SearchLimits, SearchReport,
    SearchRequest, Searchable, SoloDistances, StopFlag, WIN, plies_to_end, textbook,
};

/// Knows nothing: with it a plain search finds forced ends and nothing else.
struct Blank;

impl Evaluator<ChineseCheckers> for Blank {
    fn eval(&self, _: &ChineseCheckers) -> Score {
        DRAW
    }
}

/// Stands in for the solo table: steps alone, no jumps.
struct Steps;

impl SoloDistances for Steps {
    fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        let way = |cell: u32| match side {
            Side::First => 14 - (cell / 8 + cell % 8),
            Side::Second => cell / 8 + cell % 8,
        };
        let all: u32 = (0..64).filter(|cell| pieces >> cell & 1 != 0).map(way).sum();
        (pieces.count_ones() == 6).then_some(all.saturating_sub(8).div_ceil(5).min(15) as u8)
    }
}

fn knowledge() -> [Knowledge; 2] {
    [Knowledge::default(), Knowledge { solo: Some(Arc::new(Steps)) }]
}

fn read(text: &str) -> ChineseCheckers {
    ChineseCheckers::parse_position(text, &()).unwrap()
}

fn after(moves: &str) -> ChineseCheckers {
    let mut position = ChineseCheckers::start(&());
    for text in moves.split_whitespace() {
        position.play(position.parse_move(text).unwrap());
    }
    position
}

fn search(
    position: &ChineseCheckers,
    knowledge: &Knowledge,
    pruning: bool,
    limits: SearchLimits,
) -> SearchReport<ChineseCheckers> {
    let settings = EngineConfig { hash_mb: 4, pruning, ..EngineConfig::default() };
    let mut engine = Engine::new(settings, knowledge).unwrap();
    engine.search(SearchRequest::new(position, limits), &StopFlag::new(), |_| {})
}

fn depth(depth: u32) -> SearchLimits {
    SearchLimits { depth: Some(depth), ..SearchLimits::default() }
}

/// The end that is forced within so many plies, or a draw.
fn forced(position: &ChineseCheckers, plies: u32) -> Score {
    textbook::alpha_beta(position, &[], plies, &Blank, &|| false).unwrap().score
}

/// Won in five plies with the best play of both.
const WON_IN_5: [&str; 8] = [
    "OOO5/1O6/4O3/8/2O5/3#2##/6#1/6## # 34",
    "1OO5/O2O4/O3O3/8/2#5/5#1#/7#/6## O 39",
    "OO6/O2O4/O7/3O4/8/4#3/5##1/5### O 25",
    "OO6/OO6/2O1O3/4#3/8/8/6##/5### O 45",
    "O7/8/O1O5/8/2OO#1#1/5O2/6##/6## # 28",
    "OOO5/O7/O7/8/3#O3/5#1#/7#/5##1 O 37",
    "1OO5/2O5/O2O4/1O6/3#4/7#/4#1##/6#1 # 20",
    "OO6/O7/O1O5/1O3#2/3#4/7#/6##/6#1 O 41",
];

/// Lost in four plies whatever the side to move does.
const LOST_IN_4: [&str; 4] = [
    "OOO5/1O6/4O3/8/2O5/6##/4#1#1/6## O 35",
    "2O5/OO6/O1O5/1O6/8/5#1#/6##/6## O 29",
    "OO6/O2O4/O1O5/8/8/4#3/5##1/5### # 26",
    "OO6/OO6/OO2#3/8/8/3#1#1#/8/5#1# # 32",
];

/// The same board with so many plies left before the game is drawn.
fn with_plies_left(text: &str, left: u32) -> ChineseCheckers {
    let (board, _) = text.rsplit_once(' ').unwrap();
    read(&format!("{board} {}", 200 - left))
}

#[test]
fn the_game_won_in_three_plies_is_won() {
    let position = after("2233 7766");
    assert_eq!(forced(&position, 1), WIN - 1);
    for knowledge in knowledge() {
        for pruning in [false, true] {
            let report = search(&position, &knowledge, pruning, depth(6));
            assert_eq!(plies_to_end(report.score()), Some(1), "pruning {pruning}");
            let won = position.after(report.best_move().unwrap()).outcome(&[]).unwrap();
            assert_eq!(won.winner, Some(Side::First));
        }
    }
}

#[test]
fn nobody_walks_into_the_game_of_three_plies() {
    let position = after("2233");
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let loses = |mv| forced(&position.after(mv), 3) > DRAW;
    let losing: Vec<_> = moves.iter().copied().filter(|&mv| loses(mv)).collect();
    assert!(losing.contains(&position.parse_move("7766").unwrap()));
    for knowledge in knowledge() {
        for nodes in [2_000, 10_000, 50_000] {
            let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
            let best = search(&position, &knowledge, true, limits).best_move().unwrap();
            assert!(!losing.contains(&best), "{best:?} with {nodes} nodes");
        }
    }
}

#[test]
fn a_race_won_in_five_plies_is_seen_at_depth_five_or_with_pruning_in_100000_nodes() {
    for text in WON_IN_5 {
        let position = read(text);
        assert_eq!((forced(&position, 4), forced(&position, 5)), (DRAW, WIN - 5), "{text}");
        for knowledge in knowledge() {
            let report = search(&position, &knowledge, false, depth(5));
            assert_eq!(plies_to_end(report.score()), Some(5), "{text}");
        }
        // What is pruned hangs on the evaluation, and one that is misled by the stand-in for the
        // table proves nothing: without a table it knows that there is none.
        let limits = SearchLimits { nodes: Some(100_000), ..SearchLimits::default() };
        let report = search(&position, &Knowledge::default(), true, limits);
        assert!(plies_to_end(report.score()).is_some_and(|plies| plies > 0), "{text}");
    }
}

#[test]
fn a_race_lost_in_four_plies_is_seen_at_depth_four() {
    for text in LOST_IN_4 {
        let position = read(text);
        assert_eq!(forced(&position, 4), -WIN + 4, "{text}");
        for knowledge in knowledge() {
            for pruning in [false, true] {
                let report = search(&position, &knowledge, pruning, depth(6));
                assert_eq!(plies_to_end(report.score()), Some(-4), "{text}");
            }
        }
    }
}

#[test]
fn a_win_counts_if_it_comes_with_the_last_ply_and_not_one_later() {
    for knowledge in knowledge() {
        for text in WON_IN_5 {
            let in_time = search(&with_plies_left(text, 5), &knowledge, false, depth(8));
            assert_eq!(plies_to_end(in_time.score()), Some(5), "{text}");
            let too_late = search(&with_plies_left(text, 4), &knowledge, false, depth(8));
            assert_eq!(too_late.score(), DRAW, "{text}");
        }
        for text in LOST_IN_4 {
            let saved = search(&with_plies_left(text, 3), &knowledge, true, depth(8));
            assert_eq!(saved.score(), DRAW, "{text}");
        }
    }
}

#[test]
fn near_the_last_ply_the_search_agrees_with_the_textbook() {
    for knowledge in knowledge() {
        for text in WON_IN_5.iter().chain(&LOST_IN_4) {
            for left in 1..=4 {
                let position = with_plies_left(text, left);
                for pruning in [false, true] {
                    let report = search(&position, &knowledge, pruning, depth(left));
                    assert_eq!(report.score(), forced(&position, left), "{position:?}");
                }
            }
        }
    }
}

#[test]
fn an_advantage_fades_before_the_draw() {
    for knowledge in knowledge() {
        let evaluation = ChineseCheckers::evaluator(&knowledge);
        let ahead = "8/2O5/8/2OO4/3OO3/4#2O/5###/6## # 0";
        let scores: Vec<_> = [60, 12, 6, 1]
            .map(|left| evaluation.eval(&with_plies_left(ahead, left)).abs())
            .to_vec();
        assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
    }
}

/// Positions of random games from the start.
fn random_positions(count: usize) -> Vec<ChineseCheckers> {
    let mut random = fastrand::Rng::with_seed(11);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = ChineseCheckers::start(&());
        while position.outcome(&[]).is_none() {
            positions.push(position.clone());
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            position.play(moves[random.usize(0..moves.len())]);
        }
    }
    positions
}

/// The board turned round or mirrored at the diagonal between the camps, as text.
fn rearranged(position: &ChineseCheckers, swap: bool, place: impl Fn(usize) -> usize) -> String {
    let board = position.board();
    let letter = |letter: char| match letter {
        '#' if swap => 'O',
        'O' if swap => '#',
        '.' => '1',
        other => other,
    };
    let rows: Vec<String> = (0..8)
        .map(|row| (0..8).map(|column| letter(board[place(8 * row + column)])).collect())
        .collect();
    let side = if (position.side() == Side::First) != swap { '#' } else { 'O' };
    format!("{} {side} {}", rows.join("/"), position.plies())
}

#[test]
fn a_position_is_worth_the_same_with_colours_changed_and_in_the_mirror() {
    for knowledge in knowledge() {
        let evaluation = ChineseCheckers::evaluator(&knowledge);
        for position in random_positions(2000) {
            let score = evaluation.eval(&position);
            let turned = read(&rearranged(&position, true, |cell| 63 - cell));
            let mirrored = read(&rearranged(&position, false, |cell| cell % 8 * 8 + cell / 8));
            assert_eq!(evaluation.eval(&turned), score, "{position:?}");
            assert_eq!(evaluation.eval(&mirrored), score, "{position:?}");
        }
    }
}

/// Adds features up with room to spare.
struct Wide<'a> {
    pairs: &'a [(i32, i32)],
    early: i64,
    late: i64,
}

impl FeatureSink for Wide<'_> {
    fn add(&mut self, index: usize, count: i32) {
        self.early += i64::from(self.pairs[index].0) * i64::from(count);
        self.late += i64::from(self.pairs[index].1) * i64::from(count);
    }
}

#[test]
fn no_sum_of_weights_overflows() {
    for knowledge in knowledge() {
        let evaluation = ChineseCheckers::evaluator(&knowledge);
        let pairs = evaluation.weights().pairs();
        let far_apart = [
            "8/8/8/8/8/5#2/6##/OOOOO### # 0",
            "OOO5/OO6/7O/8/8/#7/##6/###5 O 0",
            "OOO5/OO6/8/8/8/##5O/##6/##6 # 0",
            "OOOOOO2/8/8/8/8/8/8/######2 # 0",
            "####4/##6/8/8/8/8/OO6/OOOO4 O 0",
        ];
        for position in random_positions(2000).into_iter().chain(far_apart.map(read)) {
            let mut wide = Wide { pairs: &pairs, early: 0, late: 0 };
            evaluation.features(&position, &mut wide);
            let phase = i64::from(evaluation.phase(&position));
            let phases = i64::from(MAX_PHASE);
            let sum = wide.early * phase + wide.late * (phases - phase);
            let score = sum / (phases * i64::from(WEIGHT_SCALE));
            let left = i64::from(position.plies_left().min(16));
            assert_eq!(i64::from(evaluation.eval(&position)), score * left / 16, "{position:?}");
        }
    }
}

#[test]
fn the_side_with_fewer_turns_to_go_is_judged_better() {
    for knowledge in knowledge() {
        let evaluation = ChineseCheckers::evaluator(&knowledge);
        // One man has two steps to go, against all six in the middle of the board.
        let ahead = read("8/8/3OO3/3OO3/3OO3/4#2#/6##/5##1 # 40");
        assert!(evaluation.eval(&ahead) > 100, "{}", evaluation.eval(&ahead));
    }
}

#[test]
fn boards_without_six_men_a_side_are_judged_without_the_table() {
    let [plain, with_table] = knowledge();
    for text in ["8/8/3#4/8/8/4O3/8/8 # 0", "8/8/8/8/8/8/8/8 # 0", "OO6/8/8/8/8/8/8/6## O 3"] {
        let position = read(text);
        let scores = [&plain, &with_table]
            .map(|knowledge| ChineseCheckers::evaluator(knowledge).eval(&position));
        assert_eq!(scores[0], scores[1], "{text}");
    }
    let lone = read("8/8/3#4/8/8/4O3/8/8 # 0");
    assert!(search(&lone, &with_table, true, depth(5)).best_move().is_some());
}

#[test]
fn the_search_of_a_camp_that_the_opponent_never_left_ends_at_once() {
    // Five of red's men are at home; one blue man fills the sixth cell, the others do not matter.
    let position = read("##6/##6/#7/8/8/5#1O/6OO/O4OO1 # 30");
    assert_eq!(CAMPS[1] & !(position.pieces(Side::First) | position.pieces(Side::Second)), 1 << 63);
    let report = search(&position, &Knowledge::default(), true, depth(3));
    assert_eq!(plies_to_end(report.score()), Some(1));
}
