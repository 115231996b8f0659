//! Tables that were worked out by hand, in files that a person can read: `tests/standings/*.txt`. Each
//! begins with what is shown by it.
//!
//! - `points 2 1 0`, `tie-breaks a b c`: the terms.
//! - `game A B 1-0 6:2`: who moved first, who second, the result, and the game's own score if it has
//!   one; `game A B 1-0 crash` was forfeited by the loser. `bye A` is a round without an opponent.
//! - `table`, then a line for each player: rank, name, points, what puts it behind the one above, and
//!   among how many if that was looked at again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on may stop

use std::fs;
use std::path::Path;

use crownhead_tournament::Points;
use crownhead_tournament::standings::{Counted, Standings, StandingsInput, TieBreak};

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
                let known = |code: &&str| TieBreak::ALL.into_iter().find(|tie| tie.code() == *code);
                tie_breaks = codes.iter().map(|code| known(code).expect(code)).collect();
            }
            ["bye", name] => byes.push((index(name), 1)),
            ["game", first, second, result, rest @ ..] => {
                let winner = match *result {
                    "1-0" => Some(0),
                    "0-1" => Some(1),
                    "1/2" => None,
                    other => panic!("{other} is no result"),
                };
                let mut game = Counted {
                    players: [index(first), index(second)],
                    winner,
                    score: None,
                    forfeit: None,
                    faults: [0; 2],
                };
                match rest.first().and_then(|rest| rest.split_once(':')) {
                    Some((first, second)) => {
                        game.score = Some([first, second].map(|score| score.parse().unwrap()));
                    }
                    None => {
                        game.forfeit =
                            rest.first().map(|code| (1 - winner.unwrap(), code.to_string()))
                    }
                }
                games.push(game);
            }
            other => panic!("{other:?}"),
        }
    }
    let facts = StandingsInput {
        players: &(0..names.len()).collect::<Vec<_>>(),
        games: &games,
        byes: &byes,
        points,
        tie_breaks: &tie_breaks,
        progress: None,
        seed_decisions: Vec::new(),
    };
    let standings = Standings::compute(&facts);
    let line = |row: &crownhead_tournament::standings::StandingsRow| {
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
    // The column of a tie-break shows what it decided by.
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
fn tables_are_as_worked_out_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standings");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        check(&fs::read_to_string(&path).unwrap());
        count += 1;
    }
    assert!(count >= 8, "{count}");
}
