//! Which files a player is made of, so that a changed bot is noticed when a contest is taken up again.
//!
//! What building and running leave behind is not looked at. A file that was not there before is a change, too, but
//! not where a build makes files: whatever uses a new source has changed then.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;

use crownhead_bots::PlayerSpec;
use sha2::{Digest, Sha256};

/// The files of a player.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Files {
    /// By name, with their SHA-256.
    digests: BTreeMap<String, String>,
    /// Whether a build may have made some.
    has_build: bool,
}

/// So many files of a bot are looked at, and so many bytes of each.
const MOST_FILES: usize = 2000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Folders and endings of what running leaves behind.
const LEFT_BY_RUNS: ([&str; 1], [&str; 2]) = (["__pycache__"], [".log", ".tmp"]);
/// Folders and endings of what a build makes: without one they are the bot itself.
const LEFT_BY_BUILDS: ([&str; 3], [&str; 4]) =
    (["target", "node_modules", "build"], [".pyc", ".class", ".o", ".jar"]);

impl Files {
    /// The files that a player is made of now; a built-in one has none.
    pub fn of(player: &PlayerSpec) -> Files {
        let mut files = Files::default();
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

    /// Adds a file of C or C++, and those that it includes by name.
    fn add_source(&mut self, source: &Path) {
        let mut todo = vec![source.to_path_buf()];
        while let Some(path) = todo.pop() {
            let name = match (path.parent(), path.file_name()) {
                (folder, Some(name)) if folder == source.parent() => name.to_string_lossy().into(),
                _ => path.display().to_string(),
            };
            let before = self.digests.len();
            self.add(&name, &path);
            if self.digests.len() == before && path != source {
                continue; // known already, or not there
            }
            let mut text = Vec::new();
            let file = fs::File::open(&path).map(|file| file.take(MOST_BYTES));
            let _ = file.and_then(|mut file| file.read_to_end(&mut text));
            let text = String::from_utf8_lossy(&text);
            let folder = path.parent().unwrap_or(Path::new("/"));
            todo.extend(text.lines().filter_map(included).map(|name| folder.join(name)));
        }
    }

    fn add_folder(&mut self, prefix: &str, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let (path, name) = (folder.join(&name), name.to_string_lossy().into_owned());
            let kind = path.symlink_metadata().map(|known| known.file_type());
            // A link to a folder is not followed: it may lead anywhere, and behind walls to nothing.
            let is_folder = kind.is_ok_and(|kind| kind.is_dir());
            let is_left = LEFT_BY_RUNS.0.contains(&name.as_str())
                || self.has_build && LEFT_BY_BUILDS.0.contains(&name.as_str());
            if name.starts_with('.') || is_folder && is_left {
                continue;
            }
            match is_folder {
                true => self.add_folder(&format!("{prefix}{name}/"), &path),
                false => self.add(&format!("{prefix}{name}"), &path),
            }
        }
    }

    fn add(&mut self, name: &str, path: &Path) {
        let is_file = path.metadata().is_ok_and(|known| known.is_file());
        let is_left = LEFT_BY_RUNS.1.iter().any(|end| name.ends_with(end))
            || self.has_build && LEFT_BY_BUILDS.1.iter().any(|end| name.ends_with(end));
        if !is_file || is_left || self.digests.len() >= MOST_FILES {
            return;
        }
        if let Some(digest) = digest(path, self.has_build) {
            self.digests.insert(name.to_string(), digest);
        }
    }

    /// What became of the files, in words; empty if nothing did.
    pub fn changes_since(&self, before: &Files) -> Vec<String> {
        let changed = |(name, digest): (&String, &String)| match self.digests.get(name) {
            Some(now) if now == digest => None,
            Some(_) => Some(format!("{name} has changed")),
            None => Some(format!("{name} is gone")),
        };
        let is_new = |name: &&String| !self.has_build && !before.digests.contains_key(*name);
        let new = self.digests.keys().filter(is_new).map(|name| format!("{name} is new"));
        before.digests.iter().filter_map(changed).chain(new).collect()
    }

    /// One line for each file: the digest, two blanks, the name.
    pub fn text(&self) -> String {
        self.digests.iter().fold(String::new(), |mut text, (name, digest)| {
            let _ = writeln!(text, "{digest}  {name}");
            text
        })
    }

    /// Reads [`text`](Files::text).
    pub fn read(text: &str) -> Files {
        let line = |line: &str| line.split_once("  ").map(|(d, n)| (n.to_string(), d.to_string()));
        Files { digests: text.lines().filter_map(line).collect(), has_build: false }
    }
}

/// What a line `#include "…"` names.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// The digest of a file; none for a program that a build has made, or one that cannot be read.
fn digest(path: &Path, is_built: bool) -> Option<String> {
    let mut file = fs::File::open(path).ok()?.take(MOST_BYTES);
    let mut hash = Sha256::new();
    let mut buffer = [0; 64 * 1024];
    let mut is_first = true;
    loop {
        let count = file.read(&mut buffer).ok()?;
        if count == 0 {
            break;
        }
        if is_first && is_built && buffer.starts_with(b"\x7fELF") {
            return None;
        }
        is_first = false;
        hash.update(&buffer[..count]);
    }
    Some(hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
