//! `bot.toml`, the manifest that makes a folder a bot.

use std::ops::Range;
use std::path::Path;

use crownhead_play::truncate;
use crownhead_rules::replace_invisible;
use crownhead_sandbox::Limits;
use toml::de::{DeTable, DeValue};

use crate::adapters::CSource;
use crate::program::split_command;
use crate::{BotProgram, ProgramError, Protocol};

/// File name of the manifest.
const FILE_NAME: &str = "bot.toml";
/// The keys of a manifest.
const KEYS: &str = "name, command, build, language, restart, protocol, source, engine-commands and \
                    the table limits";
/// Maximum size of a manifest.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024;

/// Returns whether a player named `text` is a folder: it contains a slash, or `base` has such a
/// folder with a manifest.
pub(crate) fn is_folder(text: &str, base: &Path) -> bool {
    text.contains('/') || base.join(text).join(FILE_NAME).is_file()
}

/// Loads the manifest of a folder.
pub(crate) fn load(folder: &str) -> Result<BotProgram, ProgramError> {
    let path = Path::new(folder);
    if !path.is_dir() {
        let folder = truncate(folder);
        return Err(ProgramError::Spec(format!(
            "{folder:?} is not a folder: a bot is a folder with a {FILE_NAME}, or cmd:COMMAND"
        )));
    }
    let file = path.join(FILE_NAME);
    let invalid =
        |message: String| ProgramError::Manifest(format!("{}: {message}", file.display()));
    let text = read(path, &file).map_err(invalid)?;
    let table = DeTable::parse(&text).map_err(|error| invalid(error.to_string()))?;
    let mut program = BotProgram::new(folder.into(), Protocol::V1, path.to_path_buf());
    let (mut source, mut restart, mut engine_commands) = (None, None, None);
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        let set = match (name, value.get_ref()) {
            ("name", value) => string(name, value).map(|text| program.name = Some(text)),
            ("language", value) => string(name, value).map(|text| program.language = Some(text)),
            ("command", value) => command(name, value).map(|argv| program.command = argv),
            ("build", value) => command(name, value).map(|argv| program.build = Some(argv)),
            ("restart", DeValue::Boolean(flag)) => {
                restart = Some(*flag);
                Ok(())
            }
            ("restart", _) => Err("restart must be true or false".into()),
            ("protocol", value) => string(name, value)
                .and_then(|text| Protocol::parse(&text))
                .map(|protocol| program.protocol = protocol),
            ("source", value) => string(name, value).map(|text| source = Some(text)),
            ("engine-commands", value) => {
                strings(name, value).map(|list| engine_commands = Some(list))
            }
            ("limits", value) => set_limits(&mut program.requested_limits, value),
            _ => Err(format!("unknown key {name:?}; available keys: {KEYS}")),
        };
        set.map_err(|message| {
            let (file, (line, column)) = (file.display(), location(&text, key.span()));
            ProgramError::Manifest(format!("{file}, line {line}, column {column}: {message}"))
        })?;
    }
    program.restart = restart.unwrap_or(program.protocol.needs_process_per_game());
    check_keys(&program, source.is_some(), engine_commands.is_some()).map_err(invalid)?;
    if let Some(name) = source {
        let source = CSource::new(program.protocol, &path.join(&name)).map_err(invalid)?;
        let folder = path.canonicalize().map_err(|error| invalid(error.to_string()))?;
        // A bot must not submit the source of another one.
        if !source.folder().starts_with(folder) {
            return Err(invalid(format!("the source {name:?} is not in the bot's folder")));
        }
        program.source = Some(source);
        program.command = engine_commands.unwrap_or_default();
    }
    Ok(program)
}

/// Reads the manifest, whose author is not trusted.
fn read(folder: &Path, file: &Path) -> Result<String, String> {
    let metadata = file.metadata().map_err(|error| {
        format!("{error}; a bot's folder needs this file, with command = \"…\"")
    })?;
    // Opening a named pipe would block.
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    if metadata.len() > MAX_MANIFEST_BYTES {
        return Err(format!("larger than {MAX_MANIFEST_BYTES} bytes"));
    }
    // Error messages quote the file, so a link must not lead to someone else's.
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    if !file.canonicalize().is_ok_and(|file| file.starts_with(&folder)) {
        return Err("links to a file outside the bot's folder".into());
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

/// Checks that the keys of a manifest fit together.
fn check_keys(
    program: &BotProgram,
    has_source: bool,
    has_engine_commands: bool,
) -> Result<(), String> {
    let protocol = program.protocol;
    if has_engine_commands && protocol != Protocol::CheckerBoard {
        return Err("engine-commands is only for the protocol checkerboard".into());
    }
    let has_command = !program.command.is_empty();
    let has_build = program.build.is_some();
    match (protocol.is_file(), has_source) {
        (true, false) => {
            Err(format!("missing source = \"…\": {protocol} needs {}", protocol.file()))
        }
        (true, true) if has_command || has_build => Err(format!(
            "command and build are not for the protocol {protocol}: what it needs is compiled \
             automatically"
        )),
        (false, true) => Err("source is only for the protocols c-function, cpp-function and \
                              checkerboard"
            .into()),
        (false, false) if !has_command => Err("missing command = \"…\"".into()),
        _ => Ok(()),
    }
}

/// Returns the line and column of the start of a span.
fn location(text: &str, span: Range<usize>) -> (usize, usize) {
    let before = text.get(..span.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

fn string(key: &str, value: &DeValue<'_>) -> Result<String, String> {
    let text = value.as_str().map(replace_invisible);
    text.ok_or_else(|| format!("{key} must be a string"))
}

fn strings(key: &str, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("{key} must be a list of strings"))?;
    list.iter().map(|value| string(key, value.get_ref())).collect()
}

/// Parses a command: one string, or a list of words.
fn command(key: &str, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let invalid = || format!("{key} must be a string or a list of strings");
    let argv: Vec<String> = match value {
        DeValue::String(text) => split_command(text).map_err(|error| format!("{key} {error}"))?,
        DeValue::Array(list) => {
            let words = list.iter().map(|word| word.get_ref().as_str().map(String::from));
            words.collect::<Option<_>>().ok_or_else(invalid)?
        }
        _ => return Err(invalid()),
    };
    match argv.first() {
        Some(program) if !program.is_empty() => Ok(argv),
        _ => Err(format!("{key} is empty")),
    }
}

fn set_limits(limits: &mut Limits, value: &DeValue<'_>) -> Result<(), String> {
    let table =
        value.as_table().ok_or("limits must be a table: [limits], then memory = \"1GB\"")?;
    for (key, value) in table {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_string(),
            _ => return Err(format!("{} must be a number or a string", key.get_ref())),
        };
        limits.set(key.get_ref(), &text)?;
    }
    Ok(())
}
