//! Standings computed by hand, in `tests/standings/*.txt`. Each file starts with a comment on what
//! it shows.
//!
//! - `points 2 1 0`, `tie-breaks a b c`: the settings.
//! - `game A B 1-0 6:2`: first mover, second mover, result, and the score of the game if it has
//!   one. `game A B 1-0 crash` was forfeited by the loser. `bye A` is a round without an opponent.
//! - `table`, then one line per player: rank, name, points, the tie-break that ranked it below the
//!   player above, and the size of the group if the tie-break was applied again.

use std::fs;
use std::path::Path;

use crownhead_tournament::standings::{Standings, StandingsInput, StandingsRow, TieBreak};
use crownhead_tournament::{GameSummary, Points};

fn check(text: &str) {
    let mut names: Vec<String> = Vec::new();
    let mut games = Vec::new();
    let mut byes = Vec::new();
    let mut points = Points::default();
    let mut tie_breaks = Vec::new();
    let mut expected = Vec::new();
    let mut in_table = false;
    let mut index = |name: &str| {
        names.iter().position(|other| other == name).unwrap_or_else(|| {
            names.push(name.to_string());
            names.len() - 1
        })
    };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["table"] => in_table = true,
            words if in_table => expected.push(words.join(" ")),
            ["points", win, draw, loss] => {
                let [win, draw, loss] = [win, draw, loss].map(|number| number.parse().unwrap());
                points = Points { win, draw, loss, bye: win };
            }
            ["tie-breaks", codes @ ..] => {
                let find = |code: &&str| TieBreak::ALL.into_iter().find(|tie| tie.code() == *code);
                tie_breaks = codes.iter().map(|code| find(code).expect(code)).collect();
            }
            ["bye", name] => byes.push((index(name), 1)),
            ["game", first, second, result, rest @ ..] => {
                let winner = match *result {
                    "1-0" => Some(0),
                    "0-1" => Some(1),
                    "1/2" => None,
                    _ => panic!("invalid result: {line}"),
                };
                let score = rest.first().and_then(|rest| rest.split_once(':'));
                let score = score
                    .map(|(first, second)| [first, second].map(|score| score.parse().unwrap()));
                let code = rest.first().filter(|_| score.is_none());
                let summary = GameSummary {
                    finished: 0,
                    milliseconds: 0,
                    winner,
                    reason: code.unwrap_or(&"no-move").to_string(),
                    forfeit: code.map(|_| 1 - winner.unwrap()),
                    score,
                    faults: [0; 2],
                    plies: 0,
                };
                games.push(([index(first), index(second)], summary));
            }
            _ => panic!("invalid line: {line}"),
        }
    }
    let games: Vec<_> = games.iter().map(|(players, summary)| (*players, summary)).collect();
    let standings = Standings::compute(&StandingsInput {
        players: &(0..names.len()).collect::<Vec<_>>(),
        games: &games,
        byes: &byes,
        points,
        tie_breaks: &tie_breaks,
        progress: None,
        seed_decisions: Vec::new(),
    });
    let line = |row: &StandingsRow| {
        let mut line = format!("{} {} {}", row.rank, names[row.player], row.points);
        if let Some(decision) = row.decided_by {
            let [above, below] = decision.values;
            let code = tie_breaks[decision.tie_break].code();
            line.push_str(&format!(" {code} {above} {below}"));
            if let Some(among) = decision.among {
                line.push_str(&format!(" among {among}"));
            }
        }
        line
    };
    // The column of a tie-break shows the values that decided.
    for rows in standings.rows.windows(2) {
        if let Some(decision) = rows[1].decided_by.filter(|decision| decision.among.is_none()) {
            let values = [0, 1].map(|row: usize| rows[row].values[decision.tie_break]);
            assert_eq!(values, decision.values.map(Some), "\n{text}");
        }
    }
    let found: Vec<String> = standings.rows.iter().map(line).collect();
    assert_eq!(found, expected, "\n{text}");
}

#[test]
fn standings_match_those_computed_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standings");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        check(&fs::read_to_string(&path).unwrap());
        count += 1;
    }
    assert!(count >= 8, "{count}");
}
