//! Parses case files: titles, entries and drawn boards. `run` gives the entries a meaning.

use crownhead_rules::Cell;

/// A case: its title and its entries in order.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) line: usize,
    pub(crate) entries: Vec<Entry>,
}

/// `key: value`, and the indented lines below it.
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The text after the colon and one space.
    pub(crate) raw: String,
    pub(crate) line: usize,
    pub(crate) below: Vec<String>,
}

/// Parses the cases of a file. The text before the first title is a preface. Errors start with the
/// line number.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut after_blank_line = false;
    for (line, content) in text.lines().enumerate().map(|(index, content)| (index + 1, content)) {
        if let Some(title) = content.strip_prefix("== ") {
            cases.push(Case { title: title.trim().into(), line, entries: Vec::new() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if content.trim().is_empty() {
            after_blank_line = true;
        } else if content.starts_with(' ') {
            match case.entries.last_mut() {
                Some(entry) if !after_blank_line => entry.below.push(content.into()),
                _ => return Err(format!("{line}: unexpected indented line")),
            }
        } else {
            let (key, raw) =
                content.split_once(':').ok_or(format!("{line}: expected a title or an entry"))?;
            let raw = raw.strip_prefix(' ').unwrap_or(raw).to_string();
            case.entries.push(Entry { key: key.trim().into(), raw, line, below: Vec::new() });
            after_blank_line = false;
        }
    }
    Ok(cases)
}

impl Entry {
    /// Returns the value with its continuation lines.
    pub(crate) fn value(&self) -> String {
        let mut value = self.raw.trim().to_string();
        for line in &self.below {
            value.push(' ');
            value.push_str(line.trim());
        }
        value
    }

    /// Splits the value at the separator. Both parts are trimmed, except text in double quotes.
    pub(crate) fn parts(&self, separator: &str) -> Result<(String, String), String> {
        let value = self.value();
        let (first, second) = value
            .split_once(separator)
            .ok_or_else(|| format!("`{}`: write A{separator}B", self.key))?;
        let first = first.trim();
        let quoted = first.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        Ok((quoted.unwrap_or(first).into(), second.trim().into()))
    }

    /// Returns the letters of the board drawn below; a space and `.` are empty cells.
    pub(crate) fn drawing(&self) -> Result<[char; 64], String> {
        if self.below.len() != 9 || self.below[0].trim_end() != "     1 2 3 4 5 6 7 8" {
            return Err("expected a line of column numbers and eight rows".into());
        }
        let mut board = ['.'; 64];
        for (row, line) in (1..=8u8).zip(&self.below[1..]) {
            let mut letters: Vec<char> = line.chars().collect();
            letters.resize(letters.len().max(20), ' ');
            let margin: String = letters[20..].iter().collect();
            let squares = format!("{}-{}", 4 * row - 3, 4 * row);
            if letters[2] != (b'0' + row) as char || !["", &squares].contains(&margin.trim()) {
                return Err(format!("row {row}: wrong row number, or text after the row"));
            }
            for (place, &letter) in letters.iter().enumerate().take(20) {
                let column = (place >= 5 && place % 2 == 1).then(|| (place - 5) / 2 + 1);
                match column.and_then(|column| Cell::new(row, column as u8)) {
                    Some(cell) if letter != ' ' => board[cell.index() as usize] = letter,
                    None if letter != ' ' && place != 2 => {
                        return Err(format!("row {row}: {letter:?} between two cells"));
                    }
                    _ => {}
                }
            }
        }
        Ok(board)
    }

    /// Returns the column that the caret below a position points at, counted from 1, and the
    /// message.
    pub(crate) fn caret(&self) -> Result<(usize, String), String> {
        let missing = || "expected ^ and the message below the position".to_string();
        let (caret, more) = self.below.split_first().ok_or_else(missing)?;
        let (before, message) = caret.split_once('^').ok_or_else(missing)?;
        let start = self.key.chars().count() + ": ".len();
        let column = (before.chars().count() + 1).checked_sub(start).ok_or_else(missing)?;
        let more = more.iter().map(|line| format!(" {}", line.trim())).collect::<String>();
        Ok((column, format!("{}{more}", message.trim())))
    }
}

impl Case {
    /// Returns the messages that the case expects, without the prefix of illegal moves.
    pub(crate) fn messages(&self) -> Vec<String> {
        let message = |entry: &Entry| match entry.key.as_str() {
            "description" => Some(entry.value()),
            "position error" => entry.caret().ok().map(|(_, message)| message),
            key if key == "game error" || key.starts_with("error (") => {
                let (_, message) = entry.parts(" -- ").ok()?;
                Some(message.strip_prefix("illegal: ").map_or(message.clone(), String::from))
            }
            _ => None,
        };
        self.entries.iter().filter_map(message).collect()
    }
}
