//! How an outside program is named and started: `cmd:./my_bot --flag`, another name of a
//! [`Protocol`] and what it takes, or a folder whose `bot.toml` has all that.
//!
//! A command is split into words here and run without a shell, so that nothing stands between the
//! program and whoever must end it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crownhead_rules::Game;
use toml::de::{DeTable, DeValue};

use crate::adapters::{CSource, Protocol};
use crownhead_play::truncate;
use crownhead_sandbox::{Isolation, Limits};

/// A program that plays.
#[derive(Clone)]
pub struct BotProgram {
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
    /// How it is talked with.
    pub protocol: Protocol,
    /// The file with its function, if that is all there is of it.
    pub(crate) source: Option<CSource>,
    /// The walls it runs behind.
    pub isolation: Isolation,
    /// What the contest lets it use.
    pub limits: Limits,
    /// What it asks for; more than the contest gives it does not get.
    requested_limits: Limits,
    /// Whether it has been made; shared by all copies, so that it is made once.
    pub(crate) built: Arc<OnceLock<Result<(), String>>>,
}

/// Why a text names no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// The text itself.
    #[error("{0}")]
    Spec(String),
    /// The file that the folder has or should have; with its name and the place in it.
    #[error("{0}")]
    Manifest(String),
}

/// The file that makes a folder a bot.
const FILE: &str = "bot.toml";
/// The keys of that file.
const KEYS: &str = "name, command, build, language, restart, protocol, source and the table limits";
/// A longer file is something else.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024;

impl BotProgram {
    /// A program of which no more is known than its name and its protocol.
    fn new(text: String, protocol: Protocol, folder: PathBuf) -> BotProgram {
        BotProgram {
            text,
            name: None,
            command: Vec::new(),
            build: None,
            language: None,
            folder,
            restart: protocol.needs_process_per_game(),
            protocol,
            source: None,
            isolation: Isolation::default(),
            limits: Limits::default(),
            requested_limits: Limits::NONE,
            built: Arc::default(),
        }
    }

    /// The program of a command that speaks the bot protocol, run in the current folder.
    pub fn from_command(command: &str) -> Result<BotProgram, ProgramError> {
        BotProgram::of_protocol(Protocol::V1, command, Path::new("."))
    }

    /// The program of a text that begins with the name of a protocol, `cmd:COMMAND` or
    /// `c-function:FILE`; none if it does not. Commands are run in the folder, and files are meant
    /// from there.
    pub fn from_text(text: &str, folder: &Path) -> Option<Result<BotProgram, ProgramError>> {
        let (name, rest) = text.trim().split_once(':')?;
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.prefix() == name)?;
        Some(BotProgram::of_protocol(protocol, rest, folder))
    }

    fn of_protocol(
        protocol: Protocol,
        rest: &str,
        folder: &Path,
    ) -> Result<BotProgram, ProgramError> {
        let rest = rest.trim();
        let text = format!("{}:{rest}", protocol.prefix());
        let wrong = |why: String| ProgramError::Spec(why);
        if !protocol.is_function() {
            let mut program = BotProgram::new(text, protocol, folder.to_path_buf());
            program.command = split(rest).map_err(|why| wrong(format!("the command {why}")))?;
            return Ok(program);
        }
        let source = CSource::new(protocol, &folder.join(rest)).map_err(wrong)?;
        let mut program = BotProgram::new(text, protocol, source.folder());
        program.source = Some(source);
        Ok(program)
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
    pub fn from_folder(text: &str) -> Result<BotProgram, ProgramError> {
        let text = text.trim();
        let folder = Path::new(text);
        let file = folder.join(FILE);
        let wrong = |why: String| ProgramError::Manifest(format!("{}: {why}", file.display()));
        if !folder.is_dir() {
            let message = format!(
                "{:?} is no folder: a bot is a folder with a {FILE}, or cmd:COMMAND",
                truncate(text)
            );
            return Err(ProgramError::Spec(message));
        }
        let known = file.metadata().map_err(|error| {
            wrong(format!("{error}; a bot's folder has this file with a line command = \"…\""))
        })?;
        // Reading a pipe would wait for whoever writes to it.
        if !known.is_file() {
            return Err(wrong("it is no file".into()));
        }
        if known.len() > MAX_MANIFEST_BYTES {
            return Err(wrong(format!("it has more than {MAX_MANIFEST_BYTES} bytes")));
        }
        // Its author is a stranger: what a link elsewhere leads to is not the author's to show.
        let own = folder.canonicalize().map_err(|error| wrong(error.to_string()))?;
        if !file.canonicalize().is_ok_and(|file| file.starts_with(&own)) {
            return Err(wrong("it is a link to a file that is not in the bot's folder".into()));
        }
        let content = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
        let table = DeTable::parse(&content).map_err(|error| wrong(error.to_string()))?;
        let mut program = BotProgram::new(text.into(), Protocol::V1, folder.to_path_buf());
        let (mut source, mut restart) = (None, None);
        for (key, value) in table.get_ref() {
            let wrong = |why: String| {
                let before = content.get(..key.span().start).unwrap_or_default();
                let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n'));
                let column = before[start.map_or(0, |at| at + 1)..].chars().count() + 1;
                let file = file.display();
                ProgramError::Manifest(format!("{file}, line {line}, column {column}: {why}"))
            };
            let (key, value) = (key.get_ref().as_ref(), value.get_ref());
            match key {
                "name" => program.name = Some(string(key, value).map_err(wrong)?),
                "language" => program.language = Some(string(key, value).map_err(wrong)?),
                "command" => program.command = words(key, value).map_err(wrong)?,
                "build" => program.build = Some(words(key, value).map_err(wrong)?),
                "restart" => {
                    let flag = value.as_bool();
                    restart = Some(flag.ok_or_else(|| wrong("restart is true or false".into()))?);
                }
                "protocol" => {
                    let name = string(key, value).map_err(wrong)?;
                    program.protocol = Protocol::of(&name).map_err(wrong)?;
                }
                "source" => source = Some(string(key, value).map_err(wrong)?),
                "limits" => set_limits(&mut program.requested_limits, value).map_err(wrong)?,
                _ => return Err(wrong(format!("there is no key {key:?}: the keys are {KEYS}"))),
            }
        }
        let protocol = program.protocol;
        program.restart = restart.unwrap_or(protocol.needs_process_per_game());
        let is_compiled = protocol.is_function();
        let has_command = !program.command.is_empty();
        let why = match (&source, has_command || program.build.is_some()) {
            (None, _) if is_compiled => {
                format!("the line source = \"…\" is missing: the file with the {protocol}")
            }
            (Some(_), _) if !is_compiled => {
                "source is for the protocols c-function and cpp-function: others have a command"
                    .into()
            }
            (Some(_), true) => {
                format!("a {protocol} has neither command nor build: it is compiled by itself")
            }
            _ if !is_compiled && !has_command => "the line command = \"…\" is missing".into(),
            _ => String::new(),
        };
        if !why.is_empty() {
            return Err(wrong(why));
        }
        if let Some(source) = source {
            let file = CSource::new(protocol, &folder.join(&source)).map_err(wrong)?;
            // The file next door is another's.
            if !file.folder().starts_with(own) {
                return Err(wrong(format!("the source {source:?} is not in the bot's folder")));
            }
            program.source = Some(file);
        }
        Ok(program)
    }

    /// Whether it can play a game; if not, why.
    pub fn supports(&self, game: &Game) -> Result<(), String> {
        match self.protocol.supports(game) {
            true => Ok(()),
            false => Err(format!(
                "{self} cannot play {game}: programs of the protocol {} play {}",
                self.protocol,
                self.protocol.games()
            )),
        }
    }

    /// The words that start it. One that is compiled here has to be built before.
    pub(crate) fn argv(&self) -> Vec<String> {
        match &self.source {
            Some(source) => vec![source.executable().to_string_lossy().into_owned()],
            None => self.command.clone(),
        }
    }

    /// Whether there is something to start, as far as that can be told without starting it.
    pub(crate) fn exists(&self) -> bool {
        let file = self.executable(&self.argv());
        let paths = std::env::var_os("PATH").unwrap_or_default();
        match file.components().count() > 1 {
            true => file.is_file(),
            false => std::env::split_paths(&paths).any(|path| path.join(&file).is_file()),
        }
    }

    /// A short name, for file names and reports.
    pub fn short_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let last =
            |text: &str| Path::new(text).file_name().map(|name| name.to_string_lossy().into());
        let prefix = format!("{}:", self.protocol.prefix());
        let named = match self.text.strip_prefix(&prefix) {
            Some(file) if self.source.is_some() => Some(file),
            Some(_) => self.script_name(),
            None => Some(&*self.text),
        };
        named.and_then(last).unwrap_or_else(|| "bot".into())
    }

    /// The word of the command that says most: an interpreter says less than the file it runs, which
    /// is the first argument that looks like one.
    fn script_name(&self) -> Option<&str> {
        let (program, arguments) = self.command.split_first()?;
        let is_own = program.contains('/') && !program.starts_with('/');
        let is_file = |word: &&String| {
            let extension = Path::new(word).extension().and_then(|text| text.to_str());
            let is_named = extension.is_some_and(|text| text.starts_with(char::is_alphabetic));
            !word.starts_with('-') && (is_named || word.contains('/'))
        };
        let file = arguments.iter().find(is_file).filter(|_| !is_own);
        Some(file.unwrap_or(program))
    }

    /// What it may use.
    pub fn effective_limits(&self) -> Limits {
        self.limits.lower(self.requested_limits)
    }

    /// Whether all of its folder is its own. That of a command is whatever folder one is in.
    pub(crate) fn owns_folder(&self) -> bool {
        self.source.is_some() || self.has_manifest()
    }

    /// Whether a folder with a `bot.toml` was named, not a command or a file.
    pub fn has_manifest(&self) -> bool {
        !self.text.starts_with(&format!("{}:", self.protocol.prefix()))
    }

    /// The file with its function, if that is all there is of it.
    pub fn source(&self) -> Option<&Path> {
        self.source.as_ref().map(CSource::file)
    }

    /// What to look at when it, or what builds it, is not there.
    pub(crate) fn install_hint(&self, error: &std::io::Error) -> String {
        match (&self.language, error.kind()) {
            (Some(language), std::io::ErrorKind::NotFound) => {
                format!("; what {language} needs may not be installed")
            }
            _ => String::new(),
        }
    }

    /// The file to run. A name with a slash is meant from the bot's own folder.
    pub(crate) fn executable(&self, words: &[String]) -> PathBuf {
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

/// Reads the table of limits.
fn set_limits(limits: &mut Limits, value: &DeValue<'_>) -> Result<(), String> {
    let table = value.as_table().ok_or("limits is a table: [limits], then memory = \"1GB\"")?;
    for (key, value) in table {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_string(),
            _ => return Err(format!("{} is a number or a text in quotes", key.get_ref())),
        };
        limits.set(key.get_ref(), &text)?;
    }
    Ok(())
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

impl PartialEq for BotProgram {
    fn eq(&self, other: &BotProgram) -> bool {
        self.text == other.text
    }
}

impl Eq for BotProgram {}

impl fmt::Display for BotProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for BotProgram {
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
