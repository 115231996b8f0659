//! The report of a bot's faults to its author.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crownhead_bots::log::file_name;
use crownhead_play::counted;
use crownhead_rules::{Game, Side};
use crownhead_tournament::FinishedGame;

/// Finds the file and line of an error in the standard error of a program.
fn source_location(stderr: &[String]) -> Option<String> {
    // Python lists the innermost frame last, others first.
    let python = stderr.iter().rev().find_map(|line| {
        let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        (!number.is_empty()).then(|| format!("{file}:{number}"))
    });
    python.or_else(|| {
        let is_separator = |c: char| c.is_whitespace() || "()'\",".contains(c);
        stderr.iter().flat_map(|line| line.split(is_separator)).find_map(file_and_line)
    })
}

/// Parses `bot.rs:3` or `src/bot.rs:3:5: message`.
fn file_and_line(word: &str) -> Option<String> {
    let word = word.strip_prefix("file://").unwrap_or(word);
    let (file, rest) = word.split_once(':')?;
    let number = rest.split(':').next()?;
    let extension = file.rsplit('/').next()?.rsplit_once('.')?.1;
    let is_source = !extension.is_empty() && extension.chars().all(char::is_alphanumeric);
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_source && is_number).then(|| format!("{file}:{number}"))
}

/// Maximum number of faults listed in a report.
pub const MAX_LISTED_FAULTS: usize = 20;

/// Faults of many games. A fault that is repeated is listed once, with a count.
#[derive(Default)]
pub struct FaultReport {
    /// Listed faults by player, code and message without numbers: repeated faults differ in squares
    /// and times.
    groups: BTreeMap<(String, String, String), FaultGroup>,
    /// Number of all faults, also of those without details.
    count: usize,
}

/// A fault and how often it happened.
struct FaultGroup {
    /// Game and player of the first.
    label: String,
    game: i64,
    /// Report of the first.
    description: String,
    stderr: Vec<String>,
    log: Option<PathBuf>,
    count: usize,
}

/// A finished game, for a [`FaultReport`]. Pairs are by side.
pub struct ReportedGame<'a> {
    /// The game and its options.
    pub game: &'a Game,
    /// Number of the game.
    pub number: i64,
    /// Result and faults.
    pub played: &'a FinishedGame,
    /// Names of the players in logs.
    pub names: [&'a str; 2],
    /// Folder of the logs.
    pub log: Option<&'a Path>,
    /// Whether the report names the player of a fault.
    pub shows_player: bool,
}

impl FaultReport {
    /// Adds the faults of a game.
    pub fn add(&mut self, reported: &ReportedGame<'_>) {
        let ReportedGame { game, number, played, .. } = *reported;
        self.count += played.summary.faults.iter().sum::<u32>() as usize;
        for incident in &played.incidents {
            let side = if incident.side == 0 { Side::First } else { Side::Second };
            let name = reported.names[incident.side];
            let message = incident.message.chars().filter(|c| !c.is_ascii_digit()).collect();
            let key = (name.to_string(), incident.code.clone(), message);
            let is_full = self.groups.len() >= MAX_LISTED_FAULTS;
            if let Some(group) = self.groups.get_mut(&key) {
                group.count += 1;
            } else if !is_full {
                let file = file_name(game, number.unsigned_abs(), side, name);
                let log = reported.log.map(|folder| folder.join(file));
                let group = FaultGroup {
                    label: match reported.shows_player {
                        true => format!("game {number}, {name}"),
                        false => format!("game {number}"),
                    },
                    game: number,
                    description: incident.description.clone(),
                    stderr: incident.stderr.clone(),
                    // Built-in players have no log.
                    log: log.filter(|log| log.exists()),
                    count: 1,
                };
                self.groups.insert(key, group);
            }
        }
    }

    /// Writes the faults in the order of the games. `hint` says how to see all of them, `log_hint`
    /// how to get logs if there are none.
    pub fn write(
        &self,
        out: &mut impl std::io::Write,
        hint: &str,
        log_hint: &str,
    ) -> std::io::Result<()> {
        let mut groups: Vec<_> = self.groups.values().collect();
        groups.sort_by_key(|group| group.game);
        for FaultGroup { label, description, stderr, log, count, .. } in &groups {
            writeln!(out, "{label}: {}", fault_text(description, *count, stderr))?;
            if let Some(log) = log {
                writeln!(out, "  log {}", log.display())?;
            }
        }
        let omitted = self.count.saturating_sub(groups.iter().map(|group| group.count).sum());
        if omitted > 0 {
            writeln!(out, "{}; {hint}", counted(omitted as u64, "more fault"))?;
        }
        if !groups.is_empty() && groups.iter().all(|group| group.log.is_none()) {
            writeln!(out, "no logs; {log_hint}")?;
        }
        Ok(())
    }
}

/// Formats a fault that happened `count` times, the first time as described.
fn fault_text(description: &str, count: usize, stderr: &[String]) -> String {
    let mut text = description.to_string();
    if count > 1 {
        text = format!("{text} ({count} times)");
    }
    // Writing to a string cannot fail.
    for line in stderr {
        let _ = write!(text, "\n  | {line}");
    }
    if let Some(location) = source_location(stderr) {
        let _ = write!(text, "\n  at {location}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_of_a_crash_is_found_in_several_languages() {
        let location = |text: &str| {
            source_location(&text.lines().map(String::from).collect::<Vec<_>>()).unwrap_or_default()
        };
        let python = "Traceback (most recent call last):\n  File \"bot.py\", line 9, in \
         <module>\n  \
                      File \"lib/eval.py\", line 4, in f\nKeyError: 3";
        assert_eq!(location(python), "lib/eval.py:4");
        assert_eq!(location("thread 'main' panicked at src/main.rs:7:5:\nno"), "src/main.rs:7");
        assert_eq!(location("bot: bot.c:12: main: Assertion `x' failed."), "bot.c:12");
        assert_eq!(location("Error\n\tat Bot.main(Bot.java:31)"), "Bot.java:31");
        assert_eq!(location("/home/ada/bot.js:3\nthrow x"), "/home/ada/bot.js:3");
        assert_eq!(location("at 12:30 nothing: 3"), "");
    }
}
