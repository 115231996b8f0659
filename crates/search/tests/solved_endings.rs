//! Small endings solved in full: whatever the engine leaves out, remembers or shares between
//! threads, it finds what looking at everything finds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod setups;

use std::collections::HashMap;

use crownhead_rules::{English, Game, Notation, Position};
use crownhead_search::{
    DRAW, Engine, EngineConfig, GameVisitor, Knowledge, Score, SearchLimits, SearchRequest,
    Searchable, StopFlag, WIN, plies_to_end, visit,
};
use setups::{legal, setup, wander};

/// What a full search knows of a position.
#[derive(Clone, Copy)]
struct Solved {
    /// For the side to move, a win the less the further it is.
    value: Score,
    /// Plies of the longest game from here.
    longest: u32,
}

/// Looks at everything, to the end of every game. A position is known by its full text, counters
/// included.
struct Solver {
    known: HashMap<String, Solved>,
    /// Positions it may still look at.
    left: usize,
}

impl Solver {
    fn new(most: usize) -> Solver {
        Solver { known: HashMap::new(), left: most }
    }

    /// None if there is too much to look at.
    fn solve<P: Position>(&mut self, position: &P) -> Option<Solved> {
        if let Some(outcome) = position.outcome(&[]) {
            return Some(Solved { value: won_by(position, outcome.winner), longest: 0 });
        }
        let text = format!("{position:?}");
        if let Some(&solved) = self.known.get(&text) {
            return Some(solved);
        }
        self.left = self.left.checked_sub(1)?;
        let mut solved = Solved { value: -WIN, longest: 0 };
        for &mv in &legal(position) {
            solved.add(self.solve(&position.after(mv))?);
        }
        self.known.insert(text, solved);
        Some(solved)
    }

    /// The same where the past matters: every line on its own.
    fn solve_lines<P: Position>(&mut self, position: &P, past: &mut Vec<u64>) -> Option<Solved> {
        if let Some(outcome) = position.outcome(past) {
            return Some(Solved { value: won_by(position, outcome.winner), longest: 0 });
        }
        self.left = self.left.checked_sub(1)?;
        let mut solved = Solved { value: -WIN, longest: 0 };
        past.push(position.key());
        for &mv in &legal(position) {
            solved.add(self.solve_lines(&position.after(mv), past)?);
        }
        past.pop();
        Some(solved)
    }
}

impl Solved {
    /// One more move leads to what is known of the position after it.
    fn add(&mut self, after: Solved) {
        self.value = self.value.max(-(after.value - after.value.signum()));
        self.longest = self.longest.max(after.longest + 1);
    }
}

fn won_by<P: Position>(position: &P, winner: Option<crownhead_rules::Side>) -> Score {
    match winner {
        None => DRAW,
        Some(side) if side == position.side() => WIN,
        Some(_) => -WIN,
    }
}

/// An ending, its past and what is known of it.
struct Ending<P> {
    position: P,
    past: Vec<u64>,
    solved: Solved,
}

/// Endings that can be solved and are more than a few moves, with wins, losses and draws in equal
/// numbers if the game has them.
fn endings<P: Searchable>(options: &P::Options, kind: &Kind) -> Vec<Ending<P>> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut endings: Vec<Ending<P>> = Vec::new();
    let mut counts = [0; 3];
    while endings.len() < kind.count {
        let left = random.u32(kind.plies.0..=kind.plies.1);
        let position = setup::<P>(options, kind.pieces, left, &mut random);
        let mut past = Vec::new();
        let plies = random.usize(0..=kind.before);
        let position = wander(position, plies, &mut random, &mut past);
        let mut solver = Solver::new(kind.most);
        let solved = match kind.repetition {
            false => solver.solve(&position),
            true => solver.solve_lines(&position, &mut past.clone()),
        };
        let Some(solved) = solved else { continue };
        let trivial = kind.most - solver.left < 20 || solved.longest < 2;
        let place = (solved.value.signum() + 1) as usize;
        if !trivial && solved.longest <= kind.longest && counts[place] <= endings.len() / 3 + 1 {
            counts[place] += 1;
            endings.push(Ending { position, past, solved });
        }
    }
    endings
}

struct Kind {
    /// Endings to try.
    count: usize,
    /// Pieces a side, at most.
    pieces: usize,
    /// Plies before the end of the hopping games.
    plies: (u32, u32),
    /// Random moves before, at most: they let the counters differ.
    before: usize,
    /// Positions to look at, at most.
    most: usize,
    /// Plies of the longest game, at most.
    longest: u32,
    /// Whether the past matters.
    repetition: bool,
}

/// Compares the engine in every setting with the full search.
struct Compare(Kind);

impl GameVisitor for Compare {
    type Output = ();

    fn visit<P: Searchable>(self, options: &P::Options) {
        let endings = endings::<P>(options, &self.0);
        for hash in [0, 1] {
            for pruning in [false, true] {
                for threads in [1, 2, 4] {
                    // One engine for all: what it remembers of one ending must not harm the next.
                    let settings = EngineConfig { threads, hash_mb: hash, pruning, contempt: 0 };
                    let mut engine = Engine::<P>::new(settings, &Knowledge::default()).unwrap();
                    for lines in [1, 3] {
                        for ending in &endings {
                            check(&mut engine, settings, lines, ending);
                        }
                    }
                }
            }
        }
    }
}

fn check<P: Searchable>(
    engine: &mut Engine<P>,
    settings: EngineConfig,
    lines: usize,
    ending: &Ending<P>,
) {
    let Ending { position, past, solved: Solved { value, longest } } = ending;
    // Without pruning the longest game is seen at its own depth; what reductions take away, more
    // depth gives back.
    let depth = if settings.pruning { 3 * longest + 6 } else { *longest };
    let limits = SearchLimits { depth: Some(depth), ..SearchLimits::default() };
    let task = SearchRequest { position, history_keys: past, limits, multipv: lines };
    let report = engine.search(task, &StopFlag::new(), |_| {});
    let score = report.score();
    let said = format!(
        "{settings:?}, {lines} lines, {position:?} after {past:x?}: {score} is not {value}; {:?}",
        report.lines[0].moves
    );
    assert_eq!(plies_to_end(score).map_or(0, i32::signum), value.signum(), "{said}");
    if *value == DRAW {
        assert_eq!(score, DRAW, "{said}");
    } else if !settings.pruning {
        assert_eq!(score, *value, "{said}");
    } else {
        // Pruning may miss the shortest way, but there is no shorter one.
        assert!(score.abs() <= value.abs(), "{said}");
    }
}

fn compare(game: &str, kind: Kind) {
    visit(&game.parse::<Game>().unwrap(), Compare(kind));
}

const CHECKERS: Kind = Kind {
    count: 24,
    pieces: 2,
    plies: (0, 0),
    before: 6,
    most: 3000,
    longest: 12,
    repetition: false,
};

#[test]
fn english_endings_near_the_draw_by_count() {
    compare("english:draw-plies=8", CHECKERS);
}

#[test]
fn english_endings_with_repetition() {
    let kind = Kind { before: 20, most: 20_000, repetition: true, ..CHECKERS };
    compare("english:rules=wcdf,draw-plies=12", kind);
}

#[test]
fn contest_endings() {
    compare("contest", Kind { pieces: 5, longest: 16, ..CHECKERS });
}

#[test]
fn contest_endings_with_kings() {
    compare("contest:kings=true,draw-plies=6", CHECKERS);
}

#[test]
fn chinese_checkers_before_the_last_turn() {
    compare(
        "chinese-checkers",
        Kind { count: 15, pieces: 6, plies: (2, 4), before: 0, ..CHECKERS },
    );
}

#[test]
fn capture_halma_before_the_last_turn() {
    compare("capture-halma", Kind { pieces: 4, plies: (2, 6), before: 0, ..CHECKERS });
}

/// One against one with up to 30 plies before the draw by count, more than a search without a hash
/// table could look through: what is remembered with another count must not be believed.
#[test]
fn wins_are_told_from_draws_by_count_from_any_count() {
    let options = English::parse_options("draw-plies=30").unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let mut solver = Solver::new(1_000_000);
    let endings: Vec<_> = (0..120)
        .map(|_| {
            let mut past = Vec::new();
            let position = setup::<English>(&options, 1, 0, &mut random);
            let plies = random.usize(0..28);
            let position = wander(position, plies, &mut random, &mut past);
            let solved = solver.solve(&position).unwrap();
            Ending { position, past, solved }
        })
        .collect();
    let drawn = endings.iter().filter(|ending| ending.solved.value == DRAW).count();
    assert!((30..90).contains(&drawn), "{drawn} of {} are drawn", endings.len());
    for pruning in [false, true] {
        for threads in [1, 2] {
            let settings = EngineConfig { threads, hash_mb: 1, pruning, contempt: 0 };
            let mut engine = Engine::new(settings, &Knowledge::default()).unwrap();
            for ending in &endings {
                check(&mut engine, settings, 1, ending);
            }
        }
    }
}

/// White is lost, and has only moves to positions that stood on the board before. That draws nothing:
/// Black need not repeat them a second time.
#[test]
fn a_position_seen_once_before_the_search_is_no_draw() {
    for game in ["", "rules=wcdf"] {
        let options = English::parse_options(game).unwrap();
        let mut position = English::parse_position("W:WK12:BK10", &options).unwrap();
        let mut past = Vec::new();
        for text in ["12-8", "10-7", "8-12", "7-10"] {
            past.push(position.key());
            position.play(position.parse_move(text).unwrap());
        }
        for (hash, pruning) in [(0, false), (0, true), (1, false), (1, true)] {
            let settings = EngineConfig { threads: 1, hash_mb: hash, pruning, contempt: 0 };
            let mut engine = Engine::<English>::new(settings, &Knowledge::default()).unwrap();
            let limits = SearchLimits { depth: Some(10), ..SearchLimits::default() };
            let task =
                SearchRequest { position: &position, history_keys: &past, limits, multipv: 1 };
            assert_eq!(
                engine.search(task, &StopFlag::new(), |_| {}).score(),
                6 - WIN,
                "{game} {settings:?}"
            );
        }
    }
}

#[test]
fn both_counts_of_idle_plies_are_told_apart() {
    let options = English::parse_options("draw-plies=12").unwrap();
    let reach = |moves: &str| {
        let mut position = English::parse_position("W:W6,7,K25:BK13", &options).unwrap();
        for text in moves.split(' ') {
            position.play(position.parse_move(text).unwrap());
        }
        position
    };
    // The same board, and no piece was removed for as long; but after the second way no man has
    // advanced either for almost as long, so that a king's capture gains no time any more.
    let won = reach("25-29 13-17 29-25 17-13 7-3");
    let drawn = reach("7-3 13-17 25-21 17-13 21-25");
    assert_eq!(won, drawn);
    for pruning in [false, true] {
        let settings = EngineConfig { threads: 1, hash_mb: 4, pruning, contempt: 0 };
        let mut engine = Engine::<English>::new(settings, &Knowledge::default()).unwrap();
        for (position, value) in [(&drawn, DRAW), (&won, 12 - WIN), (&drawn, DRAW)] {
            let limits = SearchLimits { depth: Some(40), ..SearchLimits::default() };
            let report =
                engine.search(SearchRequest::new(position, limits), &StopFlag::new(), |_| {});
            assert_eq!(report.score(), value, "{position:?}");
        }
    }
}

#[test]
fn a_draw_by_count_is_not_believed_where_the_count_has_far_to_go() {
    let options = English::parse_options("").unwrap();
    let fresh = English::parse_position("W:WK25,K5:BK15", &options).unwrap();
    // The same board with 30 plies left of 50: too few to win.
    let mut late = fresh.clone();
    for text in "5-1 15-18 1-5 18-15 ".repeat(5).split_whitespace() {
        late.play(late.parse_move(text).unwrap());
    }
    assert_eq!(fresh.key(), late.key());
    let settings = EngineConfig { hash_mb: 16, ..EngineConfig::default() };
    let mut engine = Engine::<English>::new(settings, &Knowledge::default()).unwrap();
    let mut score = |position: &English, depth| {
        let limits =
            SearchLimits { depth: Some(depth), nodes: Some(3_000_000), ..SearchLimits::default() };
        engine.search(SearchRequest::new(position, limits), &StopFlag::new(), |_| {}).score()
    };
    assert_eq!(score(&late, 40), 0);
    for depth in [8, 16, 24] {
        assert!(score(&fresh, depth) > 20, "depth {depth}");
    }
}
