//! How a bot is named and started: `cmd:./my_bot --flag`, another [`Protocol`] with its argument,
//! or a folder with a `bot.toml` (see [`crate::manifest`]).
//!
//! Commands are split into words here and run without a shell, so that no other process stands
//! between the referee and the bot.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crownhead_rules::{Game, escape_invisible, replace_invisible};
use crownhead_sandbox::{Isolation, Limits};

use crate::Protocol;
use crate::adapters::CSource;
use crate::manifest;

/// How much a build may write in all, as a multiple of the limit `disk`.
const BUILD_DISK_FACTOR: u64 = 4;

/// How to build, start and talk to a bot.
#[derive(Clone)]
pub struct BotProgram {
    /// The text the user named the bot by.
    spec: String,
    /// Name given by the author.
    pub name: Option<String>,
    /// Program and arguments. Empty for a C or C++ function; for a CheckerBoard engine, the
    /// commands that it gets at the start.
    pub command: Vec<String>,
    /// Command that builds the bot.
    pub build: Option<Vec<String>>,
    /// Programming language, for hints.
    pub language: Option<String>,
    /// Working directory.
    pub folder: PathBuf,
    /// Whether every game gets a new process.
    pub restart: bool,
    /// The protocol it speaks.
    pub protocol: Protocol,
    /// The source file of a C or C++ function, or a shared library.
    pub(crate) source: Option<CSource>,
    /// The isolation it runs in.
    pub isolation: Isolation,
    /// Whether it may think while its opponent does.
    pub ponder: bool,
    /// Files and folders outside of its own that it may read, set by the organiser: language
    /// packages and data.
    pub runtime_paths: Vec<PathBuf>,
    /// Limits set by the organiser.
    pub limits: Limits,
    /// Limits set by the author, which can only be stricter.
    pub(crate) requested_limits: Limits,
    /// Result of the build, shared by all clones.
    pub(crate) built: Arc<OnceLock<Result<(), String>>>,
}

/// An invalid description of a bot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// The text that names the bot is invalid.
    #[error("{0}")]
    Spec(String),
    /// The folder's `bot.toml` is missing or invalid. The message names the file and the location.
    #[error("{0}")]
    Manifest(String),
}

impl BotProgram {
    pub(crate) fn new(spec: String, protocol: Protocol, folder: PathBuf) -> BotProgram {
        BotProgram {
            spec,
            name: None,
            command: Vec::new(),
            build: None,
            language: None,
            folder,
            restart: protocol.needs_process_per_game(),
            protocol,
            source: None,
            isolation: Isolation::default(),
            ponder: false,
            runtime_paths: Vec::new(),
            limits: Limits::default(),
            requested_limits: Limits::UNLIMITED,
            built: Arc::default(),
        }
    }

    /// Creates a bot from a command that speaks the bot protocol, run in the current folder.
    pub fn from_command(command: &str) -> Result<BotProgram, ProgramError> {
        BotProgram::with_protocol(Protocol::V1, command, Path::new("."))
    }

    /// Parses a text that starts with a protocol, such as `cmd:COMMAND` or `c-function:FILE`;
    /// `None` if it does not. Commands run in `folder`, and file names are relative to it.
    pub fn from_text(text: &str, folder: &Path) -> Option<Result<BotProgram, ProgramError>> {
        let (prefix, argument) = text.trim().split_once(':')?;
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.prefix() == prefix)?;
        Some(BotProgram::with_protocol(protocol, argument, folder))
    }

    fn with_protocol(
        protocol: Protocol,
        argument: &str,
        folder: &Path,
    ) -> Result<BotProgram, ProgramError> {
        let argument = argument.trim();
        let spec = format!("{}:{argument}", protocol.prefix());
        if protocol.is_file() {
            let source =
                CSource::new(protocol, &folder.join(argument)).map_err(ProgramError::Spec)?;
            let mut program = BotProgram::new(spec, protocol, source.folder());
            program.source = Some(source);
            return Ok(program);
        }
        let mut program = BotProgram::new(spec, protocol, folder.to_path_buf());
        program.command = split_command(argument)
            .map_err(|message| ProgramError::Spec(format!("the command {message}")))?;
        Ok(program)
    }

    /// Loads the `bot.toml` of a folder.
    pub fn from_folder(folder: &str) -> Result<BotProgram, ProgramError> {
        manifest::load(folder.trim())
    }

    /// Returns whether the bot can play `game`, or why not.
    pub fn supports(&self, game: &Game) -> Result<(), String> {
        match self.protocol.game() {
            Some(id) if id != game.info().id => {
                Err(format!("{self} cannot play {game}: {} bots play {id} only", self.protocol))
            }
            _ => Ok(()),
        }
    }

    /// Returns the program and its arguments. A function or a host must have been built before.
    pub(crate) fn argv(&self) -> Vec<String> {
        match &self.source {
            Some(source) => [source.argv(), self.command.clone()].concat(),
            None => self.command.clone(),
        }
    }

    /// Returns the file that the command runs, if it exists.
    pub fn program_file(&self) -> Option<PathBuf> {
        let file = self.executable(&self.argv());
        if file.components().count() > 1 {
            return file.is_file().then_some(file);
        }
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).map(|path| path.join(&file)).find(|file| file.is_file())
    }

    /// Returns a short name, for file names and reports.
    pub fn short_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let named_by = match self.spec.strip_prefix(&format!("{}:", self.protocol.prefix())) {
            Some(file) if self.source.is_some() => Some(file),
            Some(_) => self.script_name(),
            None => Some(self.spec.as_str()),
        };
        let file_name = named_by.and_then(|path| Path::new(path).file_name());
        file_name.map_or_else(|| "bot".into(), |name| replace_invisible(&name.to_string_lossy()))
    }

    /// Returns the word that identifies the bot in its command: of `python3 bot.py`, the first
    /// argument that looks like a file, not the interpreter.
    fn script_name(&self) -> Option<&str> {
        let (program, arguments) = self.command.split_first()?;
        let is_local = program.contains('/') && !program.starts_with('/');
        let is_file = |word: &&String| {
            let extension = Path::new(word).extension().and_then(|text| text.to_str());
            let has_extension = extension.is_some_and(|text| text.starts_with(char::is_alphabetic));
            !word.starts_with('-') && (has_extension || word.contains('/'))
        };
        let script = arguments.iter().find(is_file).filter(|_| !is_local);
        Some(script.unwrap_or(program))
    }

    /// Returns how many bytes a build may write; `None` without isolation.
    pub(crate) fn build_disk(&self) -> Option<u64> {
        let disk = self.limits.disk.max(Limits::default().disk);
        (self.isolation != Isolation::Off).then_some(disk.saturating_mul(BUILD_DISK_FACTOR))
    }

    /// Returns the folder that a build writes to.
    pub(crate) fn build_dir(&self) -> &Path {
        self.source.as_ref().and_then(CSource::build_dir).unwrap_or(&self.folder)
    }

    /// Returns the stricter of the organiser's and the author's limits.
    pub fn effective_limits(&self) -> Limits {
        self.limits.min(self.requested_limits)
    }

    /// Returns whether the bot was named by a folder with a `bot.toml`. Such a bot may read its
    /// whole folder. The folder of a command or of a source file may hold other bots.
    pub fn has_manifest(&self) -> bool {
        !self.spec.starts_with(&format!("{}:", self.protocol.prefix()))
    }

    /// Returns the source file of a C or C++ function and the headers that it includes, or
    /// the shared library.
    pub fn source_files(&self) -> Vec<PathBuf> {
        self.source.as_ref().map(CSource::files).unwrap_or_default()
    }

    /// Returns a hint for a command that was not found.
    pub(crate) fn install_hint(&self, error: &io::Error) -> String {
        match (&self.language, error.kind()) {
            (Some(language), io::ErrorKind::NotFound) => {
                format!("; is everything installed that {language} needs?")
            }
            _ => String::new(),
        }
    }

    /// Returns the file to run. A name with a slash is relative to the bot's folder.
    pub(crate) fn executable(&self, argv: &[String]) -> PathBuf {
        let name = Path::new(argv.first().map_or("", String::as_str));
        if name.components().count() == 1 || !name.is_relative() {
            return name.to_path_buf();
        }
        let path = self.folder.join(name);
        path.canonicalize().unwrap_or(path)
    }
}

/// Splits a command into words: at spaces, except in quotes or after a backslash.
pub(crate) fn split_command(text: &str) -> Result<Vec<String>, String> {
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
            (_, '\0') => return Err("contains a zero byte".into()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("has an unclosed {open}"));
    }
    words.extend(word);
    match words.first() {
        Some(first) if !first.is_empty() => Ok(words),
        _ => Err("is empty: write the program to run, for example cmd:./my_bot".into()),
    }
}

impl PartialEq for BotProgram {
    fn eq(&self, other: &BotProgram) -> bool {
        self.spec == other.spec
    }
}

impl Eq for BotProgram {}

impl fmt::Display for BotProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The author of a bot chooses the name of its folder.
        f.write_str(&escape_invisible(&self.spec).replace('\n', "\\n"))
    }
}

impl fmt::Debug for BotProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BotProgram({:?})", self.spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_split_like_in_a_shell() {
        for (text, words) in [
            ("./bot", &["./bot"][..]),
            ("  python3  bot.py --fast ", &["python3", "bot.py", "--fast"]),
            ("'my bot' \"a b\"c d\\ e ''", &["my bot", "a bc", "d e", ""]),
            ("a \"\\\"\" '\\'", &["a", "\"", "\\"]),
        ] {
            assert_eq!(split_command(text).unwrap(), words, "{text}");
        }
        for (text, message) in [("", "is empty"), ("''", "is empty"), ("a '", "an unclosed '")] {
            assert!(split_command(text).unwrap_err().contains(message), "{text}");
        }
    }
}
