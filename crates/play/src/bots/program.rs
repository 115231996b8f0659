//! How an outside program is named and started: `cmd:./my_bot --flag`, or a folder whose `bot.toml`
//! has the command.
//!
//! A command is split into words here and run without a shell, so that nothing stands between the
//! program and whoever must end it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use toml::de::{DeTable, DeValue};

use crate::clock::shorten;

/// A program that plays.
#[derive(Clone)]
pub struct Program {
    /// What the user wrote.
    text: String,
    /// What its author calls it.
    pub name: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How it is made from its sources.
    pub build: Option<Vec<String>>,
    /// The language it is written in, for people.
    pub language: Option<String>,
    /// Where it is started.
    pub folder: PathBuf,
    /// Whether every game needs a new process.
    pub restart: bool,
    /// Whether it has been made; shared by all copies, so that it is made once.
    pub(super) built: Arc<OnceLock<Result<(), String>>>,
}

/// Why a text names no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// The text itself.
    #[error("{0}")]
    Text(String),
    /// The file that the folder has or should have; with its name and the place in it.
    #[error("{0}")]
    File(String),
}

/// The file that makes a folder a bot.
const FILE: &str = "bot.toml";
/// The keys of that file.
const KEYS: &str = "name, command, build, language and restart";
/// A longer file is something else.
const LONGEST_FILE: u64 = 64 * 1024;

impl Program {
    /// The program of `cmd:COMMAND`, run in the current folder.
    pub fn from_command(command: &str) -> Result<Program, ProgramError> {
        let words =
            split(command).map_err(|why| ProgramError::Text(format!("the command {why}")))?;
        Ok(Program {
            text: format!("cmd:{}", command.trim()),
            name: None,
            command: words,
            build: None,
            language: None,
            folder: PathBuf::from("."),
            restart: false,
            built: Arc::default(),
        })
    }

    /// Whether a text looks like the name of a folder rather than that of a player.
    pub(crate) fn is_folder(text: &str) -> bool {
        let path = Path::new(text);
        text.contains('/') || path.join(FILE).is_file()
    }

    /// Whether a folder has a bot of this name in it.
    pub(crate) fn is_folder_in(base: &Path, name: &str) -> bool {
        base.join(name).join(FILE).is_file()
    }

    /// The program that a folder's `bot.toml` describes.
    pub fn from_folder(text: &str) -> Result<Program, ProgramError> {
        let text = text.trim();
        let folder = Path::new(text);
        let file = folder.join(FILE);
        let wrong = |why: String| ProgramError::File(format!("{}: {why}", file.display()));
        if !folder.is_dir() {
            let message = format!(
                "{:?} is no folder: a bot is a folder with a {FILE}, or cmd:COMMAND",
                shorten(text)
            );
            return Err(ProgramError::Text(message));
        }
        let known = file.metadata().map_err(|error| {
            wrong(format!("{error}; a bot's folder has this file with a line command = \"…\""))
        })?;
        // Reading a pipe would wait for whoever writes to it.
        if !known.is_file() {
            return Err(wrong("it is no file".into()));
        }
        if known.len() > LONGEST_FILE {
            return Err(wrong(format!("it has more than {LONGEST_FILE} bytes")));
        }
        let content = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
        let table = DeTable::parse(&content).map_err(|error| wrong(error.to_string()))?;
        let mut program = Program {
            text: text.to_string(),
            name: None,
            command: Vec::new(),
            build: None,
            language: None,
            folder: folder.to_path_buf(),
            restart: false,
            built: Arc::default(),
        };
        for (key, value) in table.get_ref() {
            let wrong = |why: String| {
                let before = content.get(..key.span().start).unwrap_or_default();
                let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n'));
                let column = before[start.map_or(0, |at| at + 1)..].chars().count() + 1;
                let file = file.display();
                ProgramError::File(format!("{file}, line {line}, column {column}: {why}"))
            };
            let (key, value) = (key.get_ref().as_ref(), value.get_ref());
            match key {
                "name" => program.name = Some(string(key, value).map_err(wrong)?),
                "language" => program.language = Some(string(key, value).map_err(wrong)?),
                "command" => program.command = words(key, value).map_err(wrong)?,
                "build" => program.build = Some(words(key, value).map_err(wrong)?),
                "restart" => {
                    let flag = value.as_bool();
                    program.restart =
                        flag.ok_or_else(|| wrong("restart is true or false".into()))?;
                }
                _ => return Err(wrong(format!("there is no key {key:?}: the keys are {KEYS}"))),
            }
        }
        match program.command.is_empty() {
            true => Err(wrong("the line command = \"…\" is missing".into())),
            false => Ok(program),
        }
    }

    /// A short name, for file names and reports.
    pub fn short_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let last =
            |text: &str| Path::new(text).file_name().map(|name| name.to_string_lossy().into());
        let named = match self.text.strip_prefix("cmd:") {
            // An interpreter says less than what it runs.
            Some(_) => self.command.iter().rev().find(|word| !word.starts_with('-')),
            None => Some(&self.text),
        };
        named.and_then(|text| last(text)).unwrap_or_else(|| "bot".into())
    }

    /// What to look at when it, or what builds it, is not there.
    pub(super) fn hint(&self, error: &std::io::Error) -> String {
        match (&self.language, error.kind()) {
            (Some(language), std::io::ErrorKind::NotFound) => {
                format!("; what {language} needs may not be installed")
            }
            _ => String::new(),
        }
    }

    /// The file to run. A name with a slash is meant from the bot's own folder.
    pub(super) fn executable(&self, words: &[String]) -> PathBuf {
        let name = Path::new(words.first().map_or("", String::as_str));
        let named = name.components().count() > 1 && name.is_relative();
        match named {
            true => {
                let path = self.folder.join(name);
                path.canonicalize().unwrap_or(path)
            }
            false => name.to_path_buf(),
        }
    }
}

fn string(key: &str, value: &DeValue<'_>) -> Result<String, String> {
    let text = value.as_str().map(|text| text.replace(char::is_control, " "));
    text.ok_or_else(|| format!("{key} is a text in quotes"))
}

/// A command as one text or as a list of words.
fn words(key: &str, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wrong = || format!("{key} is a text in quotes or a list of such texts");
    let words: Vec<String> = match value {
        DeValue::String(text) => split(text).map_err(|why| format!("{key} {why}"))?,
        DeValue::Array(list) => {
            let words = list.iter().map(|word| word.get_ref().as_str().map(String::from));
            words.collect::<Option<_>>().ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    match words.first() {
        Some(first) if !first.is_empty() => Ok(words),
        _ => Err(format!("{key} is empty")),
    }
}

/// The words of a command: blanks part them, quotes keep them together, a backslash takes the next
/// character as it is.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => match chars.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("ends with a backslash".into()),
            },
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, '\0') => return Err("has a zero byte in it".into()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("has a {open} without its second"));
    }
    words.extend(word);
    match words.first() {
        Some(first) if !first.is_empty() => Ok(words),
        _ => Err("is empty: write the program to run, as in cmd:./my_bot".into()),
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.text == other.text
    }
}

impl Eq for Program {}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        for (text, words) in [
            ("./bot", &["./bot"][..]),
            ("  python3  bot.py --fast ", &["python3", "bot.py", "--fast"]),
            ("'my bot' \"a b\"c d\\ e ''", &["my bot", "a bc", "d e", ""]),
            ("a \"\\\"\" '\\'", &["a", "\"", "\\"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
        for (text, why) in [("", "is empty"), ("''", "is empty"), ("a '", "without its second")] {
            assert!(split(text).unwrap_err().contains(why), "{text}");
        }
    }
}
