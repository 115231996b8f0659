//! Search parameters.

use crownhead_rules::Game;
use crownhead_search::params::{PARAMS, find_param};
use crownhead_search::{
    EngineConfig, GameVisitor, HasEngine, Knowledge, ParamChanges, SearchLimits, SearchParams,
    SearchRequest, StopFlag, visit,
};

/// Nodes of searches of the start position and of some plies played by the engine.
struct Nodes {
    params: ParamChanges,
    depth: u32,
}

impl GameVisitor for Nodes {
    type Output = u64;

    fn visit<P: HasEngine>(self, options: &P::Options) -> u64 {
        let config = EngineConfig { hash_mb: 1, params: self.params, ..EngineConfig::default() };
        let mut engine = P::new_engine(config, &Knowledge::default()).unwrap();
        let (mut position, mut nodes) = (P::start(options), 0);
        let limits = SearchLimits { depth: Some(self.depth), ..SearchLimits::default() };
        for _ in 0..6 {
            let request = SearchRequest::new(&position, limits);
            let report = engine.search(request, &StopFlag::new(), &mut |_| {});
            nodes += report.nodes;
            position.play(report.best_move().unwrap());
        }
        nodes
    }
}

fn games() -> impl Iterator<Item = Game> {
    ["english", "contest", "chinese-checkers", "capture-halma"]
        .map(|id| id.parse().unwrap())
        .into_iter()
}

#[test]
fn every_parameter_changes_the_search() {
    // The game with every kind of pruning.
    let game: Game = "chinese-checkers".parse().unwrap();
    let nodes = |params| visit(&game, Nodes { params, depth: 9 });
    // Narrow windows, so that they grow.
    let mut narrow = ParamChanges::NONE;
    narrow.set(find_param("aspiration-window").unwrap(), 4).unwrap();
    let default = nodes(narrow);
    for (index, param) in PARAMS.iter().enumerate() {
        let changed = [param.min, param.max].map(|value| {
            let mut params = narrow;
            params.set(index, value.into()).unwrap();
            nodes(params)
        });
        assert!(changed != [default; 2], "{} changes nothing", param.name);
    }
}

#[test]
fn search_ends_with_any_parameters() {
    let mut rng = fastrand::Rng::with_seed(1);
    for game in games() {
        for round in 0..12 {
            let mut params = ParamChanges::NONE;
            for (index, param) in PARAMS.iter().enumerate() {
                let value = match round {
                    0 => param.min,
                    1 => param.max,
                    _ => rng.i16(param.min..=param.max),
                };
                params.set(index, value.into()).unwrap();
            }
            assert!(visit(&game, Nodes { params, depth: 5 }) > 0, "{game}, {params}");
        }
    }
}

#[test]
fn documentation_lists_values_and_ranges() {
    let docs = include_str!("../../../docs/search.md");
    let [english, contest, chinese, halma] =
        games().map(|game| SearchParams::of_game(&game).values()).collect::<Vec<_>>()[..]
    else {
        panic!()
    };
    assert_eq!(english, contest);
    for (index, param) in PARAMS.iter().enumerate() {
        let row = format!(
            "| `{}` | {} | {} | {} | {} to {} | {} |",
            param.name,
            english[index],
            chinese[index],
            halma[index],
            param.min,
            param.max,
            param.step
        );
        assert!(docs.contains(&row), "docs/search.md has no row {row}");
        for values in [english, chinese, halma] {
            assert!((param.min.into()..=param.max.into()).contains(&values[index]), "{row}");
        }
    }
}
