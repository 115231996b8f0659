//! One tag, `[Name "value"]`, out of one line of text.
//!
//! The standard writes a quote inside a value as `\"`. Old files leave the backslash out, or the
//! closing quote, the closing bracket, the quotes or the value. As long as a tag ends with its
//! line, what was meant can be told.

use crate::encoding::decode;
use crate::input::is_blank;

/// A tag's two texts, and how many bytes of the line are behind it.
pub(crate) struct ParsedTag {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) length: usize,
}

/// How much of a line [`read_tag`] needs: up to the bracket that surely ends the tag, or all of it.
/// Bytes are asked for one by one, because a line may hold thousands of tags. `None` is the end of
/// the line.
pub(crate) fn tag_length(mut byte: impl FnMut(usize) -> Option<u8>) -> usize {
    let mut at = 1;
    let mut in_value = false;
    while let Some(next) = byte(at) {
        match next {
            b']' if !in_value => return at + 1,
            b'"' if !in_value => in_value = true,
            b'\\' if in_value && matches!(byte(at + 1), Some(b'"' | b'\\')) => at += 1,
            b'"' => {
                let blanks = (at + 1..).take_while(|&i| byte(i).is_some_and(is_blank)).count();
                at += blanks;
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

/// Reads the tag at the start of `line`, which begins with `[` and ends before the line break.
pub(crate) fn parse_tag(line: &[u8]) -> ParsedTag {
    let inside = &line[1..];
    let quote =
        inside.iter().position(|&byte| byte == b'"' || byte == b']').unwrap_or(inside.len());
    if inside.get(quote) == Some(&b'"') {
        let (value, length) = quoted(inside, quote + 1);
        return ParsedTag { name: text(&inside[..quote]), value, length: 1 + length };
    }
    // Without quotes the first word is the name. Quotes of a word processor may stand round the
    // rest.
    let length = 1 + quote + usize::from(quote < inside.len());
    let content = text(&inside[..quote]);
    let (name, value) = content.split_once(char::is_whitespace).unwrap_or((&content, ""));
    let value = value.trim().trim_matches(['“', '”', '„']);
    ParsedTag { name: name.to_string(), value: value.to_string(), length }
}

/// A value from behind its opening quote, and where the tag ends.
fn quoted(inside: &[u8], start: usize) -> (String, usize) {
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
                    return (text_as_is(&value), end);
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
    // No closing quote: perhaps a backslash before it was meant as one, perhaps it was left out.
    let closed = (start..inside.len()).rev().find_map(|at| {
        let end = end_of_tag(inside, at + 1).filter(|_| inside[at] == b'"')?;
        Some((at, end))
    });
    let bracket = || (start..inside.len()).rfind(|&at| inside[at] == b']').map(|at| (at, at + 1));
    match closed.or_else(bracket) {
        Some((at, end)) => (text_as_is(&inside[start..at]), end),
        None => (text(&inside[start..]), inside.len()),
    }
}

/// Where the tag ends if a quote before `at` was its last: at a bracket, or at the end of the line.
fn end_of_tag(inside: &[u8], at: usize) -> Option<usize> {
    match inside[at..].iter().position(|&byte| !is_blank(byte)) {
        None => Some(inside.len()),
        Some(blanks) if inside[at + blanks] == b']' => Some(at + blanks + 1),
        Some(_) => None,
    }
}

fn text(bytes: &[u8]) -> String {
    text_as_is(bytes).trim().to_string()
}

/// The characters, with every control character as a space: a value is one line.
fn text_as_is(bytes: &[u8]) -> String {
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
    fn as_the_standard_writes_it() {
        check(r#"[Event "Match"]"#, "Event", "Match", "");
        check(r#"[Event       "Match" ] 11-15"#, "Event", "Match", " 11-15");
        check(r#"[Event ""]"#, "Event", "", "");
        check(r#"[White "a"] [Black "b"]"#, "White", "a", r#" [Black "b"]"#);
        check(r#"[Event "say \"yes\""]"#, "Event", r#"say "yes""#, "");
        check(r#"[Event "back\\"]"#, "Event", r"back\", "");
        check(r#"[Event "in ] brackets ["]"#, "Event", "in ] brackets [", "");
    }

    #[test]
    fn as_old_files_write_it() {
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
