//! Positions of English and contest checkers with known answers, from `tactics/*.txt`.

use std::collections::HashMap;

use crownhead_rules::Game;
use crownhead_search::{
    DRAW, EngineConfig, GameVisitor, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag,
    plies_to_end, visit,
};

/// Lines of one position by their first word.
type Fields<'a> = HashMap<&'a str, String>;

fn parse(text: &str) -> Vec<Fields<'_>> {
    let mut positions = vec![Fields::new()];
    let mut last = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields = positions.last_mut().unwrap();
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if line.trim().is_empty() {
            positions.push(Fields::new());
        } else if key.is_empty() {
            let field = fields.get_mut(last).unwrap();
            field.push(' ');
            field.push_str(value.trim());
        } else {
            assert!(
                ["name", "source", "game", "position", "moves", "nodes", "best", "result"]
                    .contains(&key),
                "{line}"
            );
            assert!(fields.insert(key, value.trim().into()).is_none(), "duplicate: {line}");
            last = key;
        }
    }
    positions.retain(|fields| !fields.is_empty());
    positions
}

/// Expands `2 * (a b) c` to `a b a b c`.
fn expand(moves: &str) -> Vec<&str> {
    let Some((times, rest)) = moves.split_once(" * (") else {
        return moves.split_whitespace().collect();
    };
    let (group, after) = rest.split_once(')').unwrap();
    let group: Vec<_> = group.split_whitespace().collect();
    let mut all = group.repeat(times.trim().parse().unwrap());
    all.extend(expand(after));
    all
}

/// Searches one position; returns a description of a wrong answer.
struct Answer<'a>(&'a Fields<'a>);

impl GameVisitor for Answer<'_> {
    type Output = Option<String>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Option<String> {
        let field = |key| self.0.get(key).map_or("", String::as_str);
        let mut position = match field("position") {
            "" => P::start(options),
            text => P::parse_position(text, options).unwrap(),
        };
        let mut history_keys = Vec::new();
        for text in expand(field("moves")) {
            history_keys.push(position.key());
            let mv = position.parse_move(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            position.play(mv);
            assert!(position.outcome(&history_keys).is_none(), "over after {text} in {:?}", self.0);
        }
        let config = EngineConfig { threads: 1, hash_mb: 16, ..EngineConfig::default() };
        let mut engine = P::new_engine(config, &Knowledge::default()).unwrap();
        let limits = SearchLimits {
            nodes: Some(field("nodes").parse().unwrap()),
            ..SearchLimits::default()
        };
        let request =
            SearchRequest { position: &position, history_keys: &history_keys, limits, multipv: 1 };
        let report = engine.search(request, &StopFlag::new(), &mut |_| {});
        let best = position.format_move(report.best_move().unwrap());
        let score = report.score();
        let plies = plies_to_end(score).unwrap_or(0);

        let result: Vec<_> = field("result").split(' ').collect();
        let number = |text: &str| text.parse::<i32>().unwrap();
        let has_result = match result[..] {
            [""] => true,
            ["win"] => plies > 0,
            ["win", "in", least] => plies >= number(least),
            ["loss", "in", least] => plies <= -number(least),
            ["draw"] => score == DRAW,
            ["ahead", least] => score >= number(least),
            _ => panic!("unknown result: {result:?}"),
        };
        let is_best = field("best").is_empty() || field("best").split(' ').any(|mv| mv == best);
        (!has_result || !is_best).then(|| {
            format!(
                "{}\n  {position:?}: {best} with {score} at depth {}, not {} with {}",
                field("name"),
                report.depth,
                field("best"),
                result.join(" ")
            )
        })
    }
}

fn check(text: &str) {
    let positions = parse(text);
    assert!(positions.len() > 10);
    let wrong: Vec<_> = positions
        .iter()
        .filter_map(|fields| visit(&fields["game"].parse::<Game>().unwrap(), Answer(fields)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_tactics_are_solved() {
    check(include_str!("tactics/english.txt"));
}

#[test]
fn contest_tactics_are_solved() {
    check(include_str!("tactics/contest.txt"));
}
