//! Parses one tag pair, `[Name "value"]`.
//!
//! The standard escapes a quote inside a value as `\"`. Old files omit the backslash, the closing
//! quote or bracket, both quotes or the value. Such tags are accepted if they end with their line.

use crate::encoding::decode;
use crate::input::is_space;

/// A parsed tag.
pub(crate) struct ParsedTag {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Length in bytes.
    pub(crate) length: usize,
}

/// Returns the number of bytes that [`parse_tag`] needs: up to a bracket that ends the tag for
/// certain, or the whole line. Asks for bytes one by one, because a line may hold thousands of
/// tags; `None` is the end of the line.
pub(crate) fn tag_length(mut byte: impl FnMut(usize) -> Option<u8>) -> usize {
    let mut at = 1;
    let mut in_value = false;
    while let Some(next) = byte(at) {
        match next {
            b']' if !in_value => return at + 1,
            b'"' if !in_value => in_value = true,
            b'\\' if in_value && matches!(byte(at + 1), Some(b'"' | b'\\')) => at += 1,
            b'"' => {
                let spaces = (at + 1..).take_while(|&i| byte(i).is_some_and(is_space)).count();
                at += spaces;
                if byte(at + 1) == Some(b']') {
                    return at + 2;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

/// Parses the tag at the start of `line`, which begins with `[` and has no line break.
pub(crate) fn parse_tag(line: &[u8]) -> ParsedTag {
    let inside = &line[1..];
    let quote =
        inside.iter().position(|&byte| byte == b'"' || byte == b']').unwrap_or(inside.len());
    if inside.get(quote) == Some(&b'"') {
        let (value, length) = parse_quoted(inside, quote + 1);
        return ParsedTag { name: trimmed_text(&inside[..quote]), value, length: 1 + length };
    }
    // Without quotes, the first word is the name. The rest may have typographic quotes.
    let length = 1 + quote + usize::from(quote < inside.len());
    let content = trimmed_text(&inside[..quote]);
    let (name, value) = content.split_once(char::is_whitespace).unwrap_or((&content, ""));
    let value = value.trim().trim_matches(['“', '”', '„']);
    ParsedTag { name: name.to_string(), value: value.to_string(), length }
}

/// Parses a value after its opening quote. Also returns the end of the tag.
fn parse_quoted(inside: &[u8], start: usize) -> (String, usize) {
    let mut value = Vec::new();
    let mut at = start;
    while at < inside.len() {
        match inside[at] {
            b'\\' if matches!(inside.get(at + 1), Some(b'"' | b'\\')) => {
                value.push(inside[at + 1]);
                at += 2;
            }
            b'"' => {
                if let Some(end) = end_of_tag(inside, at + 1) {
                    return (single_line(&value), end);
                }
                value.push(b'"'); // a quote inside the value
                at += 1;
            }
            byte => {
                value.push(byte);
                at += 1;
            }
        }
    }
    // No closing quote: it is missing, or follows a backslash that was not meant as an escape.
    let closed = (start..inside.len()).rev().find_map(|at| {
        let end = end_of_tag(inside, at + 1).filter(|_| inside[at] == b'"')?;
        Some((at, end))
    });
    let bracket = || (start..inside.len()).rfind(|&at| inside[at] == b']').map(|at| (at, at + 1));
    match closed.or_else(bracket) {
        Some((at, end)) => (single_line(&inside[start..at]), end),
        None => (trimmed_text(&inside[start..]), inside.len()),
    }
}

/// Returns the end of the tag if the quote before `at` closes the value: a bracket or the end of
/// the line follows.
fn end_of_tag(inside: &[u8], at: usize) -> Option<usize> {
    match inside[at..].iter().position(|&byte| !is_space(byte)) {
        None => Some(inside.len()),
        Some(spaces) if inside[at + spaces] == b']' => Some(at + spaces + 1),
        Some(_) => None,
    }
}

fn trimmed_text(bytes: &[u8]) -> String {
    single_line(bytes).trim().to_string()
}

/// Decodes bytes, with control characters replaced by spaces.
fn single_line(bytes: &[u8]) -> String {
    decode(bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(line: &str) -> (String, String, &str) {
        let tag = parse_tag(line.as_bytes());
        let short = tag_length(|i| line.as_bytes().get(i).copied());
        let same = parse_tag(&line.as_bytes()[..short]);
        assert_eq!(
            (same.name, same.value, same.length),
            (tag.name.clone(), tag.value.clone(), tag.length)
        );
        (tag.name, tag.value, &line[tag.length..])
    }

    fn check(line: &str, name: &str, value: &str, rest: &str) {
        assert_eq!(tag(line), (name.to_string(), value.to_string(), rest), "{line}");
    }

    #[test]
    fn parses_standard_tags() {
        check(r#"[Event "Match"]"#, "Event", "Match", "");
        check(r#"[Event       "Match" ] 11-15"#, "Event", "Match", " 11-15");
        check(r#"[Event ""]"#, "Event", "", "");
        check(r#"[White "a"] [Black "b"]"#, "White", "a", r#" [Black "b"]"#);
        check(r#"[Event "say \"yes\""]"#, "Event", r#"say "yes""#, "");
        check(r#"[Event "back\\"]"#, "Event", r"back\", "");
        check(r#"[Event "in ] brackets ["]"#, "Event", "in ] brackets [", "");
    }

    #[test]
    fn parses_sloppy_tags() {
        check("[Event", "Event", "", "");
        check("[Event]", "Event", "", "");
        check("[Event ]", "Event", "", "");
        check("[Event Ohio Open]", "Event", "Ohio Open", "");
        check("[Event “Ohio Open”]", "Event", "Ohio Open", "");
        check(r#"[Event "Ohio Open""#, "Event", "Ohio Open", "");
        check(r#"[Event "Ohio Open]"#, "Event", "Ohio Open", "");
        check(r#"[Event "Ohio Open"#, "Event", "Ohio Open", "");
        check(r#"[Event "the "Big" one"]"#, "Event", r#"the "Big" one"#, "");
        check(r#"[Event "the "Big" one]"#, "Event", r#"the "Big" one"#, "");
        check(r#"[Site "C:\games\"]"#, "Site", r"C:\games\", "");
        check(r#"[White Elo "2000"]"#, "White Elo", "2000", "");
        check(r#"[Event "]"#, "Event", "", "");
    }
}
