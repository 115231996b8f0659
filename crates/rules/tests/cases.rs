//! The rules as drawn cases: every sentence of the rules with a position that shows it.
//!
//! The cases are in `cases/*.txt`, one file per game and one for position texts, written for people
//! who know the games and no Rust. What they expect was worked out from the rules by hand. This
//! program reads them, plays them and says which do not hold, with file, line and title.
//!
//! A case is a title, the sentence it shows, a game, a board, and any number of checks in the order
//! in which they are made:
//!
//! ```text
//! == a man does not step backward             the title
//! rule: Men step diagonally forward only.     the sentence, word for word; several are allowed
//! note: …                                     anything worth saying
//! game: english                               with options if wanted, english:rules=wcdf
//! board: start                                or the drawn board, on the lines below
//! turn: b                                     or `turn: # after 17 plies`
//! position: B:W21:B1                          a position text instead of board and turn
//!
//! moves: 14-17 14-18                          all legal moves, in any order
//! moves of 14: 14-17 14-18                    all legal moves of one piece
//! refused (rule): 14-9 -- the man on 14 …     the check it fails, the move, the sentence
//! reads: 14 17 = 14-17                        another way to write a move
//! path: 1x19 = 1 10 19                        where the piece touches down
//! takes: 1x19 = 6 15                          the pieces it takes, or `none`
//! play: 14-18 32-28                           plays moves; none of them may come after the end
//! play: 12 times: 1-5 32-28 5-1 28-32         plays them again and again
//! becomes:                                    the board is now as drawn on the lines below
//! next: w                                     the side to move, or `next: O after 18 plies`
//! outcome: Black wins (no-move)               or `draw (…)`, `draw 2-2 (…)`, or `none`
//! says: Black wins: White has no move         the outcome in words
//! text: B:W21:B1                              the position's text
//!
//! refused position: B:W33:B1                  a position text, and below it what is wrong, where
//!                      ^ there is no square 33: squares are 1 to 32
//! refused game: english:x=1 -- english has …  a game's name or its options
//! ```
//!
//! The checks that a move can fail are, in this order, `format`, `off board`, `start`, `end`,
//! `rule`. Squares are numbered 1 to 32 in English and contest checkers, where a drawing leaves
//! light squares blank; cells are row and column in the other games. A value that goes on is
//! indented on the next line. A move in double quotes is taken with its spaces.
//!
//! A second test reads the sources: every sentence with which the program refuses something, or
//! tells how a game ended, must be shown by some case.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "cases/coverage.rs"]
mod coverage;
#[path = "cases/parse.rs"]
mod parse;
#[path = "cases/run.rs"]
mod run;

use std::path::Path;
use std::{fs, io};

/// The files of cases: name and text, in order of names.
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
fn every_case_holds() {
    let files = files().unwrap();
    assert!(files.len() >= 5, "four games and the setups, found {}", files.len());
    let mut failures = Vec::new();
    for (name, text) in &files {
        failures.extend(run::failures(name, text));
    }
    assert!(failures.is_empty(), "{} do not hold:\n\n{}\n", failures.len(), failures.join("\n"));
}

/// A text with every run of blanks as one, so that line breaks do not matter.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_quoted_rule_stands_in_the_documents_word_for_word() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let documents = ["rules.md", "texts.md"].map(|name| {
        std::fs::read_to_string(docs.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let documents = plain(&documents.join("\n"));
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
        assert!(quotes.len() > 10, "{file} quotes {} rules", quotes.len());
        for quote in quotes {
            assert!(documents.contains(&plain(&quote)), "{file}: no document says: {quote}");
        }
    }
}

#[test]
fn every_sentence_of_the_program_is_in_some_case() {
    let mut shown = Vec::new();
    for (name, text) in files().unwrap() {
        let cases = parse::cases(&text).unwrap_or_else(|fault| panic!("{name}:{fault}"));
        shown.extend(cases.iter().flat_map(parse::Case::sentences));
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let missing = coverage::missing(&sources, &shown);
    assert!(missing.is_empty(), "no case shows these sentences:\n{}\n", missing.join("\n"));
}

#[test]
fn a_case_that_does_not_hold_is_named_by_file_line_and_title() {
    let text = "== a step too far\nrule: none\ngame: english\nboard: start\nmoves: 11-15\n";
    let failures = run::failures("new.txt", text);
    assert_eq!(failures.len(), 1);
    assert!(failures[0].starts_with("new.txt:5: a step too far\n"), "{}", failures[0]);
    assert!(failures[0].contains("12-16"), "{}", failures[0]);
    let failures = run::failures("new.txt", "== no checks\nrule: none\ngame: english\n");
    assert!(failures[0].starts_with("new.txt:1: no checks\n"), "{}", failures[0]);
}
