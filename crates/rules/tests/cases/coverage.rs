//! Finds the sentences in the sources, and those that no case shows.
//!
//! A sentence is a string literal of three words or more; `{…}` in it stands for anything. It is
//! shown when some case expects it, from its first letter to its last. Comments, unit tests and the
//! names and meanings in the list of games do not count.

use std::fs;
use std::path::Path;

/// What stands before the literals of the list of games.
const LISTING: &[&str] = &["NAME: &'static str =", "values:", "default:", "meaning:"];

/// Literals that stand inside sentences: shown when a sentence contains them.
const PARTS: &[&str] = &[
    "it has none",
    "there is none",
    "there are two",
    "the one there is stands on {one}",
    "no man advanced and no piece was removed",
    "no man advanced",
    "no piece was removed",
    "neither a man advanced nor a piece was removed",
    "there was no capture and no crowning",
    "there was no capture",
    "write cells by row and column",
    "a cell has two digits",
    "a move has a start and an end",
    "all pieces of {} are in the target",
    "both players have had 200 turns",
];

/// The sentences of the sources under a folder that are not among these, as `file:line: sentence`.
pub(crate) fn missing(sources: &Path, shown: &[String]) -> Vec<String> {
    let mut missing = Vec::new();
    let mut folders = vec![sources.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(sources).unwrap_or(&path).display().to_string();
            for (line, literal) in literals(&text) {
                if is_sentence(&literal) && !is_shown(&literal, shown) {
                    missing.push(format!("{name}:{line}: {literal}"));
                }
            }
        }
    }
    missing.sort();
    missing
}

fn is_sentence(literal: &str) -> bool {
    let fixed = fixed_parts(literal).join(" ");
    let words = fixed.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    words.count() >= 3
}

fn is_shown(literal: &str, shown: &[String]) -> bool {
    let parts = fixed_parts(literal);
    let (first, last) = (&parts[0], &parts[parts.len() - 1]);
    let whole = |sentence: &&String| sentence.starts_with(first) && sentence.ends_with(last);
    PARTS.contains(&literal) && shown.iter().any(|sentence| contains(sentence, &parts))
        || shown.iter().filter(whole).any(|sentence| contains(sentence, &parts))
}

/// Whether a sentence has these parts, one after the other.
fn contains(sentence: &str, parts: &[String]) -> bool {
    let mut rest = sentence;
    parts.iter().all(|part| {
        let found = rest.find(part.as_str());
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

/// What stands around the `{…}` of a literal: one part more than there are of those.
fn fixed_parts(literal: &str) -> Vec<String> {
    let after_brace = |part: &str| part.split_once('}').map(|(_, rest)| rest.to_string());
    literal.split('{').map(|part| after_brace(part).unwrap_or_else(|| part.into())).collect()
}

/// The string literals of a source file up to its unit tests, with their lines.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let letters: Vec<char> = source.chars().collect();
    let letter = |at: usize| letters.get(at).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        match (letter(at), letter(at + 1)) {
            ('/', '/') => {
                while at < letters.len() && letter(at) != '\n' {
                    at += 1;
                }
            }
            // A letter in single quotes; anything else after one is a lifetime.
            ('\'', '\\') => at += 3,
            ('\'', _) if letter(at + 2) == '\'' => at += 2,
            ('"', _) => {
                let before = letters[..at].iter().collect::<String>();
                let listed = LISTING.iter().any(|it| before.trim_end().ends_with(it));
                let line = before.matches('\n').count() + 1;
                let mut literal = String::new();
                at += 1;
                while at < letters.len() && letter(at) != '"' {
                    match (letter(at), letter(at + 1)) {
                        ('\\', '\n') => {
                            at += 1;
                            while letter(at + 1).is_whitespace() {
                                at += 1;
                            }
                        }
                        ('\\', escaped) => {
                            literal.push(escaped);
                            at += 1;
                        }
                        (plain, _) => literal.push(plain),
                    }
                    at += 1;
                }
                if !listed {
                    found.push((line, literal));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
