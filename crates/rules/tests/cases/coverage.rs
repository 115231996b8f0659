//! Finds the messages in the sources that no case expects.
//!
//! A message is a string literal of three words or more, in which `{…}` matches anything. A case
//! covers it by expecting it from the first letter to the last. Comments, unit tests, game
//! descriptors and the toy game are ignored.

use std::fs;
use std::path::Path;

use crownhead_rules::GAMES;

/// Keys of the literals in game descriptors.
const DESCRIPTOR_KEYS: &[&str] = &["values:", "default:", "description:", "name:", "position:"];
/// Ending of the prompts of an assignment, which are part of a descriptor.
const ASSIGNMENT_PROMPT: &str = "please input again:";

/// Literals that are parts of messages: covered if a message contains them.
const PARTS: &[&str] = &[
    "the game has no options",
    " (did you mean {name}?)",
    "available options: {}",
    "there is none",
    "there are two",
    "the only piece is on {cell}",
    "no man advanced and no piece was removed",
    "no man advanced",
    "no piece was removed",
    "neither a man advanced nor a piece was removed",
    "there was no capture and no crowning",
    "there was no capture",
    "write cells by row and column",
    "write each cell with two digits",
    "write the start and the end",
    "passing is not allowed in this game",
    "write 11-15 or 22x15",
    "write 2 to 13 squares, for example 11-15 or 22x15x8",
    "all pieces of {} are in the target",
    "both players have had 200 turns",
];

/// Returns the messages of the sources under a folder that no case expects, as `file:line:
/// message`.
pub(crate) fn missing(sources: &Path, expected: &[String]) -> Vec<String> {
    let mut missing = Vec::new();
    let mut folders = vec![sources.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.ends_with("breakthrough.rs") {
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(sources).unwrap_or(&path).display().to_string();
            for (line, literal) in literals(&text) {
                if is_message(&literal) && !is_covered(&literal, expected) {
                    missing.push(format!("{name}:{line}: {literal}"));
                }
            }
        }
    }
    missing.sort();
    missing
}

fn is_message(literal: &str) -> bool {
    if literal.ends_with(ASSIGNMENT_PROMPT) || GAMES.iter().any(|game| game.name == literal) {
        return false;
    }
    let fixed = fixed_parts(literal).join(" ");
    let words = fixed.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    words.count() >= 3
}

fn is_covered(literal: &str, expected: &[String]) -> bool {
    let parts = fixed_parts(literal);
    let (first, last) = (&parts[0], &parts[parts.len() - 1]);
    let same_ends = |message: &&String| message.starts_with(first) && message.ends_with(last);
    PARTS.contains(&literal) && expected.iter().any(|message| contains(message, &parts))
        || expected.iter().filter(same_ends).any(|message| contains(message, &parts))
}

/// Returns whether a message has these parts, in order.
fn contains(message: &str, parts: &[String]) -> bool {
    let mut rest = message;
    parts.iter().all(|part| {
        let found = rest.find(part.as_str());
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

/// Splits a literal at its placeholders.
fn fixed_parts(literal: &str) -> Vec<String> {
    let after_brace = |part: &str| part.split_once('}').map(|(_, rest)| rest.to_string());
    literal.split('{').map(|part| after_brace(part).unwrap_or_else(|| part.into())).collect()
}

/// Returns the string literals of a source file, without its unit tests, with their lines.
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
            // A character literal; otherwise the quote starts a lifetime.
            ('\'', '\\') => at += 3,
            ('\'', _) if letter(at + 2) == '\'' => at += 2,
            ('"', _) => {
                let before = letters[..at].iter().collect::<String>();
                let in_descriptor =
                    DESCRIPTOR_KEYS.iter().any(|it| before.trim_end().ends_with(it));
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
                if !in_descriptor {
                    found.push((line, literal));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
