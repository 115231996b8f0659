//! Chinese checkers: forced results against the textbook search, the evaluation, and table probes.

use std::sync::Arc;

use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{
    ChineseCheckers, MoveList, Notation, Position, Probe, Side, SoloDistances, TableValue,
};
use crownhead_search::eval::chinese_checkers::Evaluation;
use crownhead_search::eval::weights::{FeatureSink, MAX_PHASE, WEIGHT_SCALE};
use crownhead_search::{
    DRAW, EngineConfig, Evaluator, HasEngine, Knowledge, Score, SearchLimits, SearchReport,
    SearchRequest, Searchable, StopFlag, WIN, plies_to_end, textbook,
};

/// Evaluates everything as a draw: a textbook search with it finds forced results only.
struct Blank;

impl Evaluator<ChineseCheckers> for Blank {
    type State = ();
    fn refresh(&self, _: &ChineseCheckers) {}
    fn after(&self, (): &(), _: &ChineseCheckers, _: <ChineseCheckers as Position>::Move) {}
    fn eval(&self, _: &ChineseCheckers, (): &()) -> Score {
        DRAW
    }
}

/// A stand-in for the solo table: steps only, no jumps.
struct Steps;

impl SoloDistances for Steps {
    fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        let distance = |cell: u32| match side {
            Side::First => 14 - (cell / 8 + cell % 8),
            Side::Second => cell / 8 + cell % 8,
        };
        let all: u32 = (0..64).filter(|cell| pieces >> cell & 1 != 0).map(distance).sum();
        (pieces.count_ones() == 6).then_some(all.saturating_sub(8).div_ceil(5).min(15) as u8)
    }
}

fn knowledge() -> [Knowledge; 2] {
    let mut with_table = Knowledge::default();
    with_table.insert::<dyn SoloDistances>(ChineseCheckers::ID, "solo", Arc::new(Steps));
    [Knowledge::default(), with_table]
}

fn parse(text: &str) -> ChineseCheckers {
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
    let config = EngineConfig { hash_mb: 4, pruning, ..EngineConfig::default() };
    let mut engine = ChineseCheckers::new_engine(config, knowledge).unwrap();
    engine.search(SearchRequest::new(position, limits), &StopFlag::new(), &mut |_| {})
}

fn depth(depth: u32) -> SearchLimits {
    SearchLimits { depth: Some(depth), ..SearchLimits::default() }
}

/// The result that is forced within `plies`, or a draw.
fn forced(position: &ChineseCheckers, plies: u32) -> Score {
    textbook::alpha_beta(position, &[], plies, &Blank, &|| false).unwrap().score
}

/// Won in five plies with best play.
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

/// Lost in four plies with best play.
const LOST_IN_4: [&str; 4] = [
    "OOO5/1O6/4O3/8/2O5/6##/4#1#1/6## O 35",
    "2O5/OO6/O1O5/1O6/8/5#1#/6##/6## O 29",
    "OO6/O2O4/O1O5/8/8/4#3/5##1/5### # 26",
    "OO6/OO6/OO2#3/8/8/3#1#1#/8/5#1# # 32",
];

/// The same board with `left` plies before the draw by the turn limit.
fn with_plies_left(text: &str, left: u32) -> ChineseCheckers {
    let (board, _) = text.rsplit_once(' ').unwrap();
    parse(&format!("{board} {}", 200 - left))
}

#[test]
fn immediate_win_is_found() {
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
fn immediate_loss_is_avoided() {
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
fn win_in_five_plies_is_found_at_depth_5_or_with_pruning_in_100000_nodes() {
    for text in WON_IN_5 {
        let position = parse(text);
        assert_eq!((forced(&position, 4), forced(&position, 5)), (DRAW, WIN - 5), "{text}");
        for knowledge in knowledge() {
            let report = search(&position, &knowledge, false, depth(5));
            assert_eq!(plies_to_end(report.score()), Some(5), "{text}");
        }
        // Pruning depends on the evaluator, which the stand-in misleads: search without a table.
        let limits = SearchLimits { nodes: Some(100_000), ..SearchLimits::default() };
        let report = search(&position, &Knowledge::default(), true, limits);
        assert!(plies_to_end(report.score()).is_some_and(|plies| plies > 0), "{text}");
    }
}

#[test]
fn loss_in_four_plies_is_found() {
    for text in LOST_IN_4 {
        let position = parse(text);
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
fn win_on_the_last_ply_counts_and_one_ply_later_does_not() {
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
fn search_near_the_turn_limit_equals_textbook_search() {
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
fn eval_fades_near_the_turn_limit() {
    for knowledge in knowledge() {
        let evaluator = ChineseCheckers::evaluator(&knowledge);
        let ahead = "8/2O5/8/2OO4/3OO3/4#2O/5###/6## # 0";
        let scores: Vec<_> = [60, 12, 6, 1]
            .map(|left| evaluator.evaluate(&with_plies_left(ahead, left)).abs())
            .to_vec();
        assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
    }
}

/// Positions of random games from the start.
fn random_positions(count: usize) -> Vec<ChineseCheckers> {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = ChineseCheckers::start(&());
        while position.outcome(&[]).is_none() {
            positions.push(position.clone());
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            position.play(moves[rng.usize(0..moves.len())]);
        }
    }
    positions
}

/// The board with its cells rearranged by `place`, and optionally the colours swapped, as text.
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

/// The evaluation without the network, which is not exactly symmetric about the diagonal.
fn weighted_sum(evaluator: &Evaluation, position: &ChineseCheckers) -> i32 {
    evaluator.without_network().evaluate(position)
}

#[test]
fn eval_is_symmetric() {
    for knowledge in knowledge() {
        let evaluator = ChineseCheckers::evaluator(&knowledge);
        for position in random_positions(2000) {
            let score = evaluator.evaluate(&position);
            let rotated = parse(&rearranged(&position, true, |cell| 63 - cell));
            let mirrored = parse(&rearranged(&position, false, |cell| cell % 8 * 8 + cell / 8));
            assert_eq!(evaluator.evaluate(&rotated), score, "{position:?}");
            let sum = weighted_sum(&evaluator, &position);
            assert_eq!(weighted_sum(&evaluator, &mirrored), sum, "{position:?}");
        }
    }
}

/// Sums features in 64 bits.
struct Wide<'a> {
    pairs: &'a [(i32, i32)],
    opening: i64,
    endgame: i64,
}

impl FeatureSink for Wide<'_> {
    fn add(&mut self, index: usize, count: i32) {
        self.opening += i64::from(self.pairs[index].0) * i64::from(count);
        self.endgame += i64::from(self.pairs[index].1) * i64::from(count);
    }
}

#[test]
fn weighted_sums_do_not_overflow() {
    for knowledge in knowledge() {
        let evaluator = ChineseCheckers::evaluator(&knowledge);
        let pairs = evaluator.weights().pairs();
        let far_apart = [
            "8/8/8/8/8/5#2/6##/OOOOO### # 0",
            "OOO5/OO6/7O/8/8/#7/##6/###5 O 0",
            "OOO5/OO6/8/8/8/##5O/##6/##6 # 0",
            "OOOOOO2/8/8/8/8/8/8/######2 # 0",
            "####4/##6/8/8/8/8/OO6/OOOO4 O 0",
        ];
        for position in random_positions(2000).into_iter().chain(far_apart.map(parse)) {
            let mut wide = Wide { pairs: &pairs, opening: 0, endgame: 0 };
            let phase = i64::from(evaluator.features(&position, &mut wide));
            let phases = i64::from(MAX_PHASE);
            let sum = wide.opening * phase + wide.endgame * (phases - phase);
            let score = sum / (phases * i64::from(WEIGHT_SCALE));
            let left = i64::from(position.plies_left().min(16));
            assert_eq!(i64::from(weighted_sum(&evaluator, &position)), score * left / 16);
        }
    }
}

#[test]
fn side_ahead_in_the_race_has_the_better_eval() {
    for knowledge in knowledge() {
        let evaluator = ChineseCheckers::evaluator(&knowledge);
        // One piece has two steps to go; the opponent has all six in the middle of the board.
        let ahead = parse("8/8/3OO3/3OO3/3OO3/4#2#/6##/5##1 # 40");
        assert!(evaluator.evaluate(&ahead) > 100, "{}", evaluator.evaluate(&ahead));
    }
}

#[test]
fn boards_without_six_pieces_per_side_are_evaluated_without_the_table() {
    let [plain, with_table] = knowledge();
    for text in ["8/8/3#4/8/8/4O3/8/8 # 0", "8/8/8/8/8/8/8/8 # 0", "OO6/8/8/8/8/8/8/6## O 3"] {
        let position = parse(text);
        let scores = [&plain, &with_table]
            .map(|knowledge| ChineseCheckers::evaluator(knowledge).evaluate(&position));
        assert_eq!(scores[0], scores[1], "{text}");
    }
    let lone = parse("8/8/3#4/8/8/4O3/8/8 # 0");
    assert!(search(&lone, &with_table, true, depth(5)).best_move().is_some());
}

#[test]
fn camp_filled_by_the_opponents_pieces_wins() {
    // Five of Red's pieces are still in their camp; one blue piece fills the sixth cell.
    let position = parse("##6/##6/#7/8/8/5#1O/6OO/O4OO1 # 30");
    assert_eq!(CAMPS[1] & !(position.pieces(Side::First) | position.pieces(Side::Second)), 1 << 63);
    let report = search(&position, &Knowledge::default(), true, depth(3));
    assert_eq!(plies_to_end(report.score()), Some(1));
}

/// Claims that every position with blue to move is won in `0` plies.
struct Claim(u32);

impl Probe<ChineseCheckers> for Claim {
    fn probe(&self, position: &ChineseCheckers) -> Option<TableValue> {
        (position.side() == Side::First).then_some(TableValue::Win { plies: self.0 })
    }
}

fn with_probe(plies: u32) -> Knowledge {
    let mut knowledge = Knowledge::default();
    knowledge.insert_probe::<ChineseCheckers>("claim", Arc::new(Claim(plies)));
    knowledge
}

#[test]
fn table_values_are_scores_at_their_distance_from_the_root() {
    let start = ChineseCheckers::start(&());
    // After a move of each side: two plies, and the distance of the table.
    let report = search(&start, &with_probe(20), true, depth(3));
    assert_eq!(report.score(), WIN - 22);
    let after_one_move = start.after(start.parse_move("2233").unwrap());
    let report = search(&after_one_move, &with_probe(20), true, depth(3));
    assert_eq!(report.score(), -WIN + 21);
}

#[test]
fn table_wins_after_the_turn_limit_are_ignored() {
    let board = "###5/##6/#7/8/8/7O/6OO/5OOO # 0";
    // The probed positions have two plies less.
    let in_time = search(&with_plies_left(board, 24), &with_probe(21), true, depth(3));
    assert_eq!(in_time.score(), WIN - 23);
    let too_late = search(&with_plies_left(board, 22), &with_probe(21), true, depth(3));
    assert_eq!(plies_to_end(too_late.score()), None);
}

/// The position is searched with many plies left first: the win that the hash table stores then is
/// too slow for the second search.
#[test]
fn slow_table_wins_in_the_hash_table_are_ignored_near_the_turn_limit() {
    let board = "###5/##6/#7/8/8/7O/6OO/5OOO # 0";
    let mut engine = ChineseCheckers::new_engine(EngineConfig::default(), &with_probe(60)).unwrap();
    let mut score = |left| {
        let position = with_plies_left(board, left);
        let request = SearchRequest::new(&position, depth(4));
        engine.search(request, &StopFlag::new(), &mut |_| {}).score()
    };
    assert_eq!(score(150), WIN - 62);
    assert_eq!(plies_to_end(score(50)), None);
}

#[test]
fn finished_games_take_precedence_over_tables() {
    let position = after("2233 7766");
    let report = search(&position, &with_probe(40), true, depth(4));
    assert_eq!(plies_to_end(report.score()), Some(1));
}
