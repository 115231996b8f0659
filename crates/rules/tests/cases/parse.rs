//! Reads files of cases: titles, entries and drawn boards. What the entries mean is left to
//! `running`.

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
    /// As it stands in the file, without the one space that follows the colon.
    pub(crate) raw: String,
    pub(crate) line: usize,
    pub(crate) below: Vec<String>,
}

/// The cases of a file. Whatever comes before the first title is a preface. A fault is told with
/// its line.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut after_blank = false;
    for (line, content) in text.lines().enumerate().map(|(index, content)| (index + 1, content)) {
        if let Some(title) = content.strip_prefix("== ") {
            cases.push(Case { title: title.trim().into(), line, entries: Vec::new() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if content.trim().is_empty() {
            after_blank = true;
        } else if content.starts_with(' ') {
            match case.entries.last_mut() {
                Some(entry) if !after_blank => entry.below.push(content.into()),
                _ => return Err(format!("{line}: an indented line continues nothing")),
            }
        } else {
            let (key, raw) =
                content.split_once(':').ok_or(format!("{line}: neither a title nor an entry"))?;
            let raw = raw.strip_prefix(' ').unwrap_or(raw).to_string();
            case.entries.push(Entry { key: key.trim().into(), raw, line, below: Vec::new() });
            after_blank = false;
        }
    }
    Ok(cases)
}

impl Entry {
    /// The value with what follows on the lines below.
    pub(crate) fn value(&self) -> String {
        let mut value = self.raw.trim().to_string();
        for line in &self.below {
            value.push(' ');
            value.push_str(line.trim());
        }
        value
    }

    /// The two parts of a value, trimmed; a text in double quotes loses them and nothing else.
    pub(crate) fn parts(&self, between: &str) -> Result<(String, String), String> {
        let value = self.value();
        let (first, second) = value
            .split_once(between)
            .ok_or_else(|| format!("`{}` is written A{between}B", self.key))?;
        let first = first.trim();
        let quoted = first.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        Ok((quoted.unwrap_or(first).into(), second.trim().into()))
    }

    /// The letters of the board drawn below; blank and `.` are both empty.
    pub(crate) fn drawing(&self) -> Result<[char; 64], String> {
        if self.below.len() != 9 || self.below[0].trim_end() != "     1 2 3 4 5 6 7 8" {
            return Err("a board is a line of column numbers and eight rows".into());
        }
        let mut board = ['.'; 64];
        for (row, line) in (1..=8u8).zip(&self.below[1..]) {
            let mut letters: Vec<char> = line.chars().collect();
            letters.resize(letters.len().max(20), ' ');
            let margin: String = letters[20..].iter().collect();
            let squares = format!("{}-{}", 4 * row - 3, 4 * row);
            if letters[2] != (b'0' + row) as char || !["", &squares].contains(&margin.trim()) {
                return Err(format!("row {row} has another number, or something behind it"));
            }
            for (place, &letter) in letters.iter().enumerate().take(20) {
                let column = (place >= 5 && place % 2 == 1).then(|| (place - 5) / 2 + 1);
                match column.and_then(|column| Cell::new(row, column as u8)) {
                    Some(cell) if letter != ' ' => board[cell.index() as usize] = letter,
                    None if letter != ' ' && place != 2 => {
                        return Err(format!("row {row}: {letter:?} stands between two cells"));
                    }
                    _ => {}
                }
            }
        }
        Ok(board)
    }

    /// Of a refused position text: the character the mark below points at, counted from 1, and the
    /// sentence.
    pub(crate) fn mark(&self) -> Result<(usize, String), String> {
        let wrong = || "below a refused position stands ^ and the sentence".to_string();
        let (mark, more) = self.below.split_first().ok_or_else(wrong)?;
        let (before, sentence) = mark.split_once('^').ok_or_else(wrong)?;
        let start = self.key.chars().count() + ": ".len();
        let column = (before.chars().count() + 1).checked_sub(start).ok_or_else(wrong)?;
        let more = more.iter().map(|line| format!(" {}", line.trim())).collect::<String>();
        Ok((column, format!("{}{more}", sentence.trim())))
    }
}

impl Case {
    /// The sentences of the program that the case expects.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let sentence = |entry: &Entry| match entry.key.as_str() {
            "says" => Some(entry.value()),
            "refused position" => entry.mark().ok().map(|(_, sentence)| sentence),
            key if key.starts_with("refused") => entry.parts(" -- ").ok().map(|(_, it)| it),
            _ => None,
        };
        self.entries.iter().filter_map(sentence).collect()
    }
}
