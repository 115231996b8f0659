//! The nearest name for a mistyped one.

/// Returns ` (did you mean NAME?)` with the name nearest to a mistyped one, or nothing.
pub fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map_or(String::new(), |name| format!(" (did you mean {name}?)"))
}

/// Returns the name nearest to a mistyped one: a name that contains it, differs in few letters, or
/// is abbreviated by it.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = typed.trim().to_lowercase().chars().take(64).collect();
    let max = (typed.len() / 3).max(1);
    let text: String = typed.iter().collect();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        if typed.len() >= 3 && name.contains(&text) {
            return 0;
        }
        let edits = edit_distance(&typed, &name.chars().collect::<Vec<_>>());
        if is_abbreviation(&typed, &name) { edits.min(max) } else { edits }
    };
    let names = names.into_iter().map(|name| (distance(name), name));
    let (_, name) =
        names.filter(|(distance, _)| *distance <= max).min_by_key(|(distance, _)| *distance)?;
    Some(name).filter(|_| !typed.is_empty())
}

/// Returns whether a word abbreviates a name: its first letter, then some of its consonants in the
/// same order.
fn is_abbreviation(typed: &[char], name: &str) -> bool {
    let mut letters = name.chars();
    typed.len() >= 3
        && typed.first() == name.chars().next().as_ref()
        && !typed.iter().skip(1).any(|letter| "aeiou".contains(*letter))
        && typed.iter().all(|typed| letters.any(|letter| letter == *typed))
}

/// Returns the number of inserted, removed, replaced and swapped letters between two words.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_tolerates_few_errors() {
        let names = ["english", "contest", "chinese-checkers", "capture-halma"];
        for (typed, name) in [
            ("englsh", Some("english")),
            ("Enlgish", Some("english")),
            ("constest", Some("contest")),
            ("halma", Some("capture-halma")),
            ("chinesecheckers", Some("chinese-checkers")),
            ("engl", Some("english")),
            ("chck", Some("chinese-checkers")),
            ("chess", None),
            ("", None),
            ("e", None),
        ] {
            assert_eq!(nearest(typed, names), name, "{typed}");
        }
    }
}
