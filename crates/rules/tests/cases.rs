//! The rules as drawn cases: every sentence of the rules with a position that shows it.
//!
//! The cases are in `cases/*.txt`, one file per game and one for positions as text. They are
//! written for people who know the games but no Rust, and their expectations were worked out from
//! the rules by hand. This test runs them and reports each failure with file, line and title.
//!
//! A case has a title, the sentence it shows, a game, a board, and any number of checks, which run
//! in order:
//!
//! ```text
//! == a man does not step backward               the title
//! rule: Men step diagonally forward only.       the sentence, verbatim; there may be several
//! note: …                                       a comment
//! game: english                                 with options: english:rules=wcdf
//! board: start                                  or a board drawn on the lines below
//! turn: b                                       or `turn: # after 17 plies`
//! position: B:W21:B1                            a position instead of board and turn
//!
//! moves: 14-17 14-18                            all legal moves, in any order
//! moves of 14: 14-17 14-18                      all legal moves of one piece
//! error (rule): 14-9 -- illegal: the man on …   the check that fails, the move, the message
//! parses: 14 17 = 14-17                         another way to write a move
//! path: 1x19 = 1 10 19                          where the piece touches down
//! captures: 1x19 = 6 15                         the captured pieces, or `none`
//! play: 14-18 32-28                             plays moves; the game must not end before the last
//! play: 12 times: 1-5 32-28 5-1 28-32           plays them repeatedly
//! becomes:                                      the board is now as drawn on the lines below
//! next: w                                       the side to move, or `next: O after 18 plies`
//! outcome: Black wins (no-move)                 or `draw (…)`, `draw 2-2 (…)`, or `none`
//! description: Black wins: White has no move    the outcome as a sentence
//! text: B:W21:B1                                the position as text
//!
//! position error: B:W33:B1 a position, and below it the message and its column
//!                    ^ invalid square 33: squares are 1 to 32
//! game error: chess -- unknown game "chess"; …  a game id or options
//! ```
//!
//! A move fails one of these checks, made in this order: `format`, `off board`, `start`, `end`,
//! `rule`. Squares are numbered 1 to 32 in English and contest checkers, where drawings leave light
//! squares blank; in the other games cells are row and column. Values continue on indented lines. A
//! move in double quotes keeps its spaces.
//!
//! Another test searches the sources: every message about an invalid move, position or game, and
//! every description of an outcome, must occur in a case.

mod coverage;
mod parse;
mod run;

use std::path::Path;
use std::{fs, io};

/// Returns the names and texts of the case files, sorted by name.
fn files() -> io::Result<Vec<(String, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

#[test]
fn all_cases_pass() {
    let files = files().unwrap();
    assert!(files.len() >= 5, "expected four games and the setups, found {}", files.len());
    let mut failures = Vec::new();
    for (name, text) in &files {
        failures.extend(run::failures(name, text));
    }
    assert!(failures.is_empty(), "{} failures:\n\n{}\n", failures.len(), failures.join("\n"));
}

/// Collapses white space, so that line breaks do not matter.
fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quoted_rules_are_in_the_docs_verbatim() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let documents = ["rules.md", "notation.md"].map(|name| {
        fs::read_to_string(docs.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let documents = collapse(&documents.join("\n"));
    for (file, text) in files().unwrap() {
        let mut quotes: Vec<String> = Vec::new();
        let mut in_quote = false;
        for line in text.lines() {
            if let Some(quote) = line.strip_prefix("rule: ") {
                quotes.push(quote.into());
                in_quote = true;
            } else if let (true, Some(more), Some(quote)) =
                (in_quote, line.strip_prefix("      "), quotes.last_mut())
            {
                quote.push(' ');
                quote.push_str(more);
            } else {
                in_quote = false;
            }
        }
        assert!(quotes.len() > 10, "{file} quotes only {} rules", quotes.len());
        for quote in quotes {
            assert!(documents.contains(&collapse(&quote)), "{file}: not in the docs: {quote}");
        }
    }
}

#[test]
fn all_messages_occur_in_a_case() {
    let mut expected = Vec::new();
    for (name, text) in files().unwrap() {
        let cases = parse::cases(&text).unwrap_or_else(|error| panic!("{name}:{error}"));
        expected.extend(cases.iter().flat_map(parse::Case::messages));
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let missing = coverage::missing(&sources, &expected);
    assert!(missing.is_empty(), "no case for these messages:\n{}\n", missing.join("\n"));
}

#[test]
fn failures_have_file_line_and_title() {
    let text = "== a step too far\nrule: none\ngame: english\nboard: start\nmoves: 11-15\n";
    let failures = run::failures("new.txt", text);
    assert_eq!(failures.len(), 1);
    assert!(failures[0].starts_with("new.txt:5: a step too far\n"), "{}", failures[0]);
    assert!(failures[0].contains("12-16"), "{}", failures[0]);
    let failures = run::failures("new.txt", "== no checks\nrule: none\ngame: english\n");
    assert!(failures[0].starts_with("new.txt:1: no checks\n"), "{}", failures[0]);
}
