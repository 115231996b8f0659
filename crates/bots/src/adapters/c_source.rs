//! Finds function definitions in C and C++ sources without compiling them.

/// A function definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    /// Number of parameters.
    pub(crate) parameters: usize,
}

/// Returns the functions whose names start with `prefix`, in order.
pub(crate) fn definitions(text: &str, prefix: &str) -> Vec<Definition> {
    let code = strip(text);
    let is_identifier = |c: char| c.is_alphanumeric() || c == '_';
    let mut functions: Vec<Definition> = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        if code[..at].ends_with(is_identifier) {
            continue;
        }
        let end = code[at..].find(|c| !is_identifier(c)).map_or(code.len(), |length| at + length);
        let name = code[at..end].to_string();
        let Some((inside, after)) = parentheses(code[end..].trim_start()) else { continue };
        if !after.trim_start().starts_with('{')
            || functions.iter().any(|function| function.name == name)
        {
            continue;
        }
        let is_empty = matches!(inside.trim(), "" | "void");
        let parameters = if is_empty { 0 } else { commas(inside) + 1 };
        functions.push(Definition { name, parameters });
    }
    functions
}

/// Returns the files named by lines of the form `#include "…"`.
pub(crate) fn included_files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        rest.trim_start().strip_prefix('"')?.split('"').next()
    })
}

/// Splits a text that starts with a parenthesis into what the pair encloses and what follows it.
fn parentheses(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('(')?;
    let mut depth = 1;
    for (at, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inside[..at], &inside[at + 1..]));
        }
    }
    None
}

/// Counts the commas of a list that are not inside brackets.
fn commas(text: &str) -> usize {
    let mut depth = 0;
    let mut count = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => count += 1,
            _ => {}
        }
    }
    count
}

/// Removes comments, string literals and preprocessor lines.
fn strip(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("//") => logical_line(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '#' if is_line_start => logical_line(rest),
            '"' | '\'' => quoted(rest, c),
            _ => 0,
        };
        if skipped > 0 {
            code.push(' ');
            rest = &rest[skipped..];
            continue;
        }
        is_line_start = c == '\n' || (is_line_start && c.is_whitespace());
        code.push(c);
        rest = &rest[c.len_utf8()..];
    }
    code
}

/// Returns the length of a line, including the lines that a backslash joins to it.
fn logical_line(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // The newline is kept: a preprocessor line may follow.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// Returns the length of a string or character literal.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ai_players(text: &str) -> Vec<(String, usize)> {
        let functions = definitions(text, "ai_player");
        functions.into_iter().map(|function| (function.name, function.parameters)).collect()
    }

    #[test]
    fn declarations_calls_comments_and_strings_are_not_definitions() {
        let text = r#"
            // int ai_player_1(int a) { }
            /* int ai_player_2(int a) { } */
            #define X ai_player_3(a, b) \
                { ai_player_4(a) { } }
            int ai_player_5(int player, const int *board);
            const char *text = "ai_player_6(int a) { \" ai_player_7() {";
            char c = '"';
            static int my_ai_player(int x) { return x; }
            int ai_player_1155012345 (int player,
                                      const int *board)
            {
                if (ai_player_5(player, board)) { return 0; }
                return ai_player_8(1, 2, (3, 4));
            }
            void ai_player_help(void (*f)(int, int), int b) {}
            int ai_player_no(void) { }
        "#;
        let expected = [("ai_player_1155012345", 2), ("ai_player_help", 2), ("ai_player_no", 0)];
        assert_eq!(ai_players(text), expected.map(|(name, count)| (name.to_string(), count)));
    }

    #[test]
    fn incomplete_sources_have_no_definitions() {
        for text in
            ["", "ai_player", "ai_player(", "ai_player((", "\"", "'", "/*", "#", "#\\\n", "é/*é"]
        {
            assert_eq!(ai_players(text), [], "{text}");
        }
        assert_eq!(ai_players("ai_player(){"), [("ai_player".to_string(), 0)]);
    }
}
