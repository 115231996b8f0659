//! Small endings, solved exhaustively: with any combination of pruning, hash table and threads, the
//! engine finds the same result.

use std::collections::HashMap;

use crate::setups::{legal, play_random, setup};
use crownhead_rules::{English, Game, Notation, Position};
use crownhead_search::{
    DRAW, DynEngine, EngineConfig, GameVisitor, HasEngine, Knowledge, Score, SearchLimits,
    SearchRequest, Searchable, StopFlag, WIN, plies_to_end, visit,
};

/// Exact value of a position.
#[derive(Clone, Copy)]
struct Solved {
    /// Score for the side to move; longer wins are smaller.
    value: Score,
    /// Plies of the longest possible game from here.
    max_plies: u32,
}

/// Exhaustive search to the end of every game. Positions are identified by their full text, draw
/// counters included.
struct Solver {
    solved: HashMap<String, Solved>,
    /// Nodes left.
    budget: usize,
}

impl Solver {
    fn new(max_nodes: usize) -> Solver {
        Solver { solved: HashMap::new(), budget: max_nodes }
    }

    /// Returns `None` if the budget is exhausted.
    fn solve<P: Position>(&mut self, position: &P) -> Option<Solved> {
        if let Some(outcome) = position.outcome(&[]) {
            return Some(Solved { value: score_of(position, outcome.winner), max_plies: 0 });
        }
        let text = format!("{position:?}");
        if let Some(&solved) = self.solved.get(&text) {
            return Some(solved);
        }
        self.budget = self.budget.checked_sub(1)?;
        let mut solved = Solved { value: -WIN, max_plies: 0 };
        for &mv in &legal(position) {
            solved.add(self.solve(&position.after(mv))?);
        }
        self.solved.insert(text, solved);
        Some(solved)
    }

    /// Like [`Solver::solve`], for rules with repetition: positions are not merged.
    fn solve_lines<P: Position>(&mut self, position: &P, keys: &mut Vec<u64>) -> Option<Solved> {
        if let Some(outcome) = position.outcome(keys) {
            return Some(Solved { value: score_of(position, outcome.winner), max_plies: 0 });
        }
        self.budget = self.budget.checked_sub(1)?;
        let mut solved = Solved { value: -WIN, max_plies: 0 };
        keys.push(position.key());
        for &mv in &legal(position) {
            solved.add(self.solve_lines(&position.after(mv), keys)?);
        }
        keys.pop();
        Some(solved)
    }
}

impl Solved {
    /// Adds a move that leads to a solved position.
    fn add(&mut self, after: Solved) {
        self.value = self.value.max(-(after.value - after.value.signum()));
        self.max_plies = self.max_plies.max(after.max_plies + 1);
    }
}

fn score_of<P: Position>(position: &P, winner: Option<crownhead_rules::Side>) -> Score {
    match winner {
        None => DRAW,
        Some(side) if side == position.side() => WIN,
        Some(_) => -WIN,
    }
}

/// An ending with its history and value.
struct Ending<P> {
    position: P,
    history_keys: Vec<u64>,
    solved: Solved,
}

/// Nontrivial endings that can be solved, with about as many wins as losses and draws if the game
/// has them.
fn endings<P: Searchable>(options: &P::Options, kind: &Kind) -> Vec<Ending<P>> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut endings: Vec<Ending<P>> = Vec::new();
    let mut counts = [0; 3];
    while endings.len() < kind.count {
        let left = rng.u32(kind.plies.0..=kind.plies.1);
        let position = setup::<P>(options, kind.max_pieces, left, &mut rng);
        let mut history_keys = Vec::new();
        let plies = rng.usize(0..=kind.max_random_plies);
        let position = play_random(position, plies, &mut rng, &mut history_keys);
        let mut solver = Solver::new(kind.max_nodes);
        let solved = match kind.repetition {
            false => solver.solve(&position),
            true => solver.solve_lines(&position, &mut history_keys.clone()),
        };
        let Some(solved) = solved else { continue };
        let is_trivial = kind.max_nodes - solver.budget < 20 || solved.max_plies < 2;
        let result = (solved.value.signum() + 1) as usize;
        let is_rare = counts[result] <= endings.len() / 3 + 1;
        if !is_trivial && solved.max_plies <= kind.max_plies && is_rare {
            counts[result] += 1;
            endings.push(Ending { position, history_keys, solved });
        }
    }
    endings
}

struct Kind {
    /// Number of endings.
    count: usize,
    /// Maximum number of pieces per side.
    max_pieces: usize,
    /// Range of plies before the turn limit of the hopping games.
    plies: (u32, u32),
    /// Maximum number of random moves before the ending, which vary the draw counters.
    max_random_plies: usize,
    /// Node budget of the solver.
    max_nodes: usize,
    /// Maximum length of the longest possible game.
    max_plies: u32,
    /// Whether repetition matters.
    repetition: bool,
}

/// Compares the engine in every configuration, with these tables, with the solver.
struct Compare(Kind, Knowledge);

impl GameVisitor for Compare {
    type Output = ();

    fn visit<P: HasEngine>(self, options: &P::Options) {
        let endings = endings::<P>(options, &self.0);
        for hash_mb in [0, 1] {
            for pruning in [false, true] {
                for threads in [1, 2, 4] {
                    // One engine for all endings: its hash table must not confuse them.
                    let config =
                        EngineConfig { threads, hash_mb, pruning, ..EngineConfig::default() };
                    let mut engine = P::new_engine(config, &self.1).unwrap();
                    for multipv in [1, 3] {
                        for ending in &endings {
                            check(&mut *engine, config, multipv, ending);
                        }
                    }
                }
            }
        }
    }
}

fn check<P: Searchable>(
    engine: &mut dyn DynEngine<P>,
    config: EngineConfig,
    multipv: usize,
    ending: &Ending<P>,
) {
    let Ending { position, history_keys, solved: Solved { value, max_plies } } = ending;
    // Without pruning, a depth of `max_plies` sees every game. More depth makes up for reductions.
    let depth = if config.pruning { 3 * max_plies + 6 } else { *max_plies };
    let limits = SearchLimits { depth: Some(depth), ..SearchLimits::default() };
    let request = SearchRequest { position, history_keys, limits, multipv };
    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
    let score = report.score();
    let context = format!(
        "{config:?}, multipv {multipv}, {position:?} after {history_keys:x?}: {score}, not \
         {value}; {:?}",
        report.lines[0].moves
    );
    assert_eq!(plies_to_end(score).map_or(0, i32::signum), value.signum(), "{context}");
    if *value == DRAW {
        assert_eq!(score, DRAW, "{context}");
    } else if !config.pruning {
        assert_eq!(score, *value, "{context}");
    } else {
        // Pruning may miss the shortest win, but cannot find a shorter one.
        assert!(score.abs() <= value.abs(), "{context}");
    }
}

fn compare(game: &str, kind: Kind) {
    visit(&game.parse::<Game>().unwrap(), Compare(kind, Knowledge::default()));
}

/// Compares a search with the endgame table, which knows no draw counters.
fn compare_with_table(game: &str, kind: Kind) {
    visit(&game.parse::<Game>().unwrap(), Compare(kind, crate::endgames::knowledge()));
}

const CHECKERS: Kind = Kind {
    count: 24,
    max_pieces: 2,
    plies: (0, 0),
    max_random_plies: 6,
    max_nodes: 3000,
    max_plies: 12,
    repetition: false,
};

#[test]
fn english_endings_near_the_draw_counter() {
    compare("english:draw-plies=8", CHECKERS);
}

#[test]
fn english_endings_with_repetition() {
    let kind = Kind { max_random_plies: 20, max_nodes: 20_000, repetition: true, ..CHECKERS };
    compare("english:rules=wcdf,draw-plies=12", kind);
}

#[test]
fn endings_near_the_draw_counter_with_endgame_table() {
    for plies in [4, 8, 11] {
        compare_with_table(&format!("english:draw-plies={plies}"), CHECKERS);
    }
}

#[test]
fn endings_with_repetition_and_endgame_table() {
    let kind = Kind { max_random_plies: 20, max_nodes: 20_000, repetition: true, ..CHECKERS };
    compare_with_table("english:rules=wcdf,draw-plies=12", kind);
}

#[test]
fn contest_endings() {
    compare("contest", Kind { max_pieces: 5, max_plies: 16, ..CHECKERS });
}

#[test]
fn contest_endings_with_kings() {
    compare("contest:kings=true,draw-plies=6", CHECKERS);
}

#[test]
fn chinese_checkers_endings_near_the_turn_limit() {
    compare(
        "chinese-checkers",
        Kind { count: 15, max_pieces: 6, plies: (2, 4), max_random_plies: 0, ..CHECKERS },
    );
}

#[test]
fn capture_halma_endings_near_the_turn_limit() {
    compare(
        "capture-halma",
        Kind { max_pieces: 4, plies: (2, 6), max_random_plies: 0, ..CHECKERS },
    );
}

/// One piece against one with up to 30 plies before the draw, too many to search without a hash
/// table: entries with another counter value must not be used.
#[test]
fn hash_entries_with_other_counter_values_are_not_used() {
    let options = English::parse_options("draw-plies=30").unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut solver = Solver::new(1_000_000);
    let endings: Vec<_> = (0..120)
        .map(|_| {
            let mut history_keys = Vec::new();
            let position = setup::<English>(&options, 1, 0, &mut rng);
            let plies = rng.usize(0..28);
            let position = play_random(position, plies, &mut rng, &mut history_keys);
            let solved = solver.solve(&position).unwrap();
            Ending { position, history_keys, solved }
        })
        .collect();
    let drawn = endings.iter().filter(|ending| ending.solved.value == DRAW).count();
    assert!((30..90).contains(&drawn), "{drawn} of {} are drawn", endings.len());
    for pruning in [false, true] {
        for threads in [1, 2] {
            let config = EngineConfig { threads, hash_mb: 1, pruning, ..EngineConfig::default() };
            let mut engine = English::new_engine(config, &Knowledge::default()).unwrap();
            for ending in &endings {
                check(&mut *engine, config, 1, ending);
            }
        }
    }
}

/// White is lost and can only move to positions that occurred before. That is not a draw: Black
/// need not repeat them again.
#[test]
fn single_repetition_before_the_root_is_not_a_draw() {
    for game in ["", "rules=wcdf"] {
        let options = English::parse_options(game).unwrap();
        let mut position = English::parse_position("W:WK12:BK10", &options).unwrap();
        let mut history_keys = Vec::new();
        for text in ["12-8", "10-7", "8-12", "7-10"] {
            history_keys.push(position.key());
            position.play(position.parse_move(text).unwrap());
        }
        for (hash_mb, pruning) in [(0, false), (0, true), (1, false), (1, true)] {
            let config = EngineConfig { threads: 1, hash_mb, pruning, ..EngineConfig::default() };
            let mut engine = English::new_engine(config, &Knowledge::default()).unwrap();
            let limits = SearchLimits { depth: Some(10), ..SearchLimits::default() };
            let request = SearchRequest {
                position: &position,
                history_keys: &history_keys,
                limits,
                multipv: 1,
            };
            let report = engine.search(request, &StopFlag::new(), &mut |_| {});
            assert_eq!(report.score(), 6 - WIN, "{game} {config:?}");
        }
    }
}

#[test]
fn draw_counters_are_distinguished() {
    let options = English::parse_options("draw-plies=12").unwrap();
    let reach = |moves: &str| {
        let mut position = English::parse_position("W:W6,7,K25:BK13", &options).unwrap();
        for text in moves.split(' ') {
            position.play(position.parse_move(text).unwrap());
        }
        position
    };
    // The same board and plies since the last capture. After the second line no man has advanced
    // for almost as long, so a capture by a king no longer gains time.
    let won = reach("25-29 13-17 29-25 17-13 7-3");
    let drawn = reach("7-3 13-17 25-21 17-13 21-25");
    assert_eq!(won, drawn);
    for pruning in [false, true] {
        let config = EngineConfig { threads: 1, hash_mb: 4, pruning, ..EngineConfig::default() };
        let mut engine = English::new_engine(config, &Knowledge::default()).unwrap();
        for (position, value) in [(&drawn, DRAW), (&won, 12 - WIN), (&drawn, DRAW)] {
            let limits = SearchLimits { depth: Some(40), ..SearchLimits::default() };
            let request = SearchRequest::new(position, limits);
            let report = engine.search(request, &StopFlag::new(), &mut |_| {});
            assert_eq!(report.score(), value, "{position:?}");
        }
    }
}

#[test]
fn draw_by_counter_does_not_leak_to_a_fresh_counter() {
    let options = English::parse_options("").unwrap();
    let fresh = English::parse_position("W:WK25,K5:BK15", &options).unwrap();
    // The same board with 30 of 50 plies left: too few to win.
    let mut late = fresh.clone();
    for text in "5-1 15-18 1-5 18-15 ".repeat(5).split_whitespace() {
        late.play(late.parse_move(text).unwrap());
    }
    assert_eq!(fresh.key(), late.key());
    let config = EngineConfig { hash_mb: 16, ..EngineConfig::default() };
    let mut engine = English::new_engine(config, &Knowledge::default()).unwrap();
    let mut score = |position: &English, depth| {
        let limits =
            SearchLimits { depth: Some(depth), nodes: Some(3_000_000), ..SearchLimits::default() };
        let request = SearchRequest::new(position, limits);
        engine.search(request, &StopFlag::new(), &mut |_| {}).score()
    };
    assert_eq!(score(&late, 40), 0);
    for depth in [8, 16, 24] {
        assert!(score(&fresh, depth) > 20, "depth {depth}");
    }
}
