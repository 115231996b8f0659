//! Digests of a bot's files, to detect whether it changed since the last run.
//!
//! Files that builds and runs leave behind are ignored. A new file counts as a change, except in a
//! bot with a build command: there, a new source only matters if an existing one uses it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;

use crownhead_bots::PlayerSpec;
use sha2::{Digest, Sha256};

/// Digests of a player's files.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FileDigests {
    /// SHA-256 by file name.
    digests: BTreeMap<String, String>,
    /// Whether the bot has a build command.
    has_build: bool,
}

/// Maximum number of files per bot.
const MAX_FILES: usize = 2000;
/// Maximum number of bytes read per file.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Folders and suffixes of what runs leave behind.
const RUN_ARTIFACTS: ([&str; 1], [&str; 2]) = (["__pycache__"], [".log", ".tmp"]);
/// Folders and suffixes of what builds leave behind; without a build they are part of the bot.
const BUILD_ARTIFACTS: ([&str; 3], [&str; 4]) =
    (["target", "node_modules", "build"], [".pyc", ".class", ".o", ".jar"]);

impl FileDigests {
    /// Computes the digests of a player's files; a built-in player has none.
    pub fn compute(player: &PlayerSpec) -> FileDigests {
        let mut files = FileDigests::default();
        let Some(program) = player.program() else { return files };
        files.has_build = program.build.is_some();
        if program.has_manifest() {
            files.add_folder("", &program.folder);
        }
        match program.source() {
            Some(source) => files.add_source(source),
            None if program.has_manifest() => {}
            None => {
                for word in &program.command {
                    files.add(word, &program.folder.join(word));
                }
            }
        }
        files
    }

    /// Adds a C or C++ file and the files it includes by `#include "…"`.
    fn add_source(&mut self, source: &Path) {
        let mut pending = vec![source.to_path_buf()];
        while let Some(path) = pending.pop() {
            let name = match (path.parent(), path.file_name()) {
                (folder, Some(name)) if folder == source.parent() => name.to_string_lossy().into(),
                _ => path.display().to_string(),
            };
            let count = self.digests.len();
            self.add(&name, &path);
            if self.digests.len() == count && path != source {
                continue; // already visited, or missing
            }
            let mut text = Vec::new();
            let file = fs::File::open(&path).map(|file| file.take(MAX_FILE_BYTES));
            let _ = file.and_then(|mut file| file.read_to_end(&mut text));
            let text = String::from_utf8_lossy(&text);
            let folder = path.parent().unwrap_or(Path::new("/"));
            pending.extend(text.lines().filter_map(included_file).map(|name| folder.join(name)));
        }
    }

    fn add_folder(&mut self, prefix: &str, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let (path, name) = (folder.join(&name), name.to_string_lossy().into_owned());
            // Symbolic links to folders are not followed: they may lead anywhere, and a sandboxed
            // bot cannot follow them either.
            let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
            let is_artifact = RUN_ARTIFACTS.0.contains(&name.as_str())
                || self.has_build && BUILD_ARTIFACTS.0.contains(&name.as_str());
            if name.starts_with('.') || is_folder && is_artifact {
                continue;
            }
            match is_folder {
                true => self.add_folder(&format!("{prefix}{name}/"), &path),
                false => self.add(&format!("{prefix}{name}"), &path),
            }
        }
    }

    fn add(&mut self, name: &str, path: &Path) {
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        let is_artifact = RUN_ARTIFACTS.1.iter().any(|suffix| name.ends_with(suffix))
            || self.has_build && BUILD_ARTIFACTS.1.iter().any(|suffix| name.ends_with(suffix));
        if !is_file || is_artifact || self.digests.len() >= MAX_FILES {
            return;
        }
        if let Some(digest) = digest(path, self.has_build) {
            self.digests.insert(name.to_string(), digest);
        }
    }

    /// Describes the changes since `before`; empty if there are none.
    pub fn diff(&self, before: &FileDigests) -> Vec<String> {
        let changed = |(name, digest): (&String, &String)| match self.digests.get(name) {
            Some(current) if current == digest => None,
            Some(_) => Some(format!("{name} has changed")),
            None => Some(format!("{name} is gone")),
        };
        let is_new = |name: &&String| !self.has_build && !before.digests.contains_key(*name);
        let new = self.digests.keys().filter(is_new).map(|name| format!("{name} is new"));
        before.digests.iter().filter_map(changed).chain(new).collect()
    }

    /// Formats the digests like `sha256sum`: one line per file.
    pub fn to_text(&self) -> String {
        self.digests.iter().fold(String::new(), |mut text, (name, digest)| {
            let _ = writeln!(text, "{digest}  {name}");
            text
        })
    }

    /// Parses the output of [`to_text`](FileDigests::to_text).
    pub fn parse(text: &str) -> FileDigests {
        let entry = |line: &str| {
            line.split_once("  ").map(|(digest, name)| (name.to_string(), digest.to_string()))
        };
        FileDigests { digests: text.lines().filter_map(entry).collect(), has_build: false }
    }
}

/// Returns the file named by an `#include "…"` line.
fn included_file(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// Computes the SHA-256 of a file; `None` if it is unreadable or an executable that a build made.
fn digest(path: &Path, has_build: bool) -> Option<String> {
    let mut file = fs::File::open(path).ok()?.take(MAX_FILE_BYTES);
    let mut hash = Sha256::new();
    let mut buffer = [0; 64 * 1024];
    let mut is_start = true;
    loop {
        let count = file.read(&mut buffer).ok()?;
        if count == 0 {
            break;
        }
        if is_start && has_build && buffer.starts_with(b"\x7fELF") {
            return None;
        }
        is_start = false;
        hash.update(&buffer[..count]);
    }
    Some(hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
