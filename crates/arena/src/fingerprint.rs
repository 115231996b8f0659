//! Which files a player is made of, so that a changed bot is noticed when a contest is taken up again.
//!
//! What building leaves behind is not looked at, and files that were not there before change nothing
//! by themselves: whatever uses them has changed too.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;

use crownhead_play::PlayerSpec;
use crownhead_play::bots::Program;
use sha2::{Digest, Sha256};

/// The files of a player by name, with their SHA-256.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Files(BTreeMap<String, String>);

/// So many files of a bot are looked at, and so many bytes of each.
const MOST_FILES: usize = 2000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Folders and endings of what building and running leave behind.
const FOLDERS: [&str; 4] = ["__pycache__", "target", "node_modules", "build"];
const ENDINGS: [&str; 6] = [".pyc", ".class", ".o", ".log", ".tmp", ".jar"];

impl Files {
    /// The files that a player is made of now; a built-in one has none.
    pub fn of(player: &PlayerSpec) -> Files {
        let mut files = Files::default();
        let Some(program) = player.program() else { return files };
        let is_command = program.to_string().starts_with("cmd:");
        if is_command {
            for word in &program.command {
                files.add(word, &program.folder.join(word), program);
            }
        } else {
            files.add_folder("", &program.folder, program);
        }
        files
    }

    fn add_folder(&mut self, prefix: &str, folder: &Path, program: &Program) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let (path, name) = (folder.join(&name), name.to_string_lossy().into_owned());
            let kind = path.symlink_metadata().map(|known| known.file_type());
            let is_folder = kind.is_ok_and(|kind| kind.is_dir());
            if name.starts_with('.') || is_folder && FOLDERS.contains(&name.as_str()) {
                continue;
            }
            match is_folder {
                true => self.add_folder(&format!("{prefix}{name}/"), &path, program),
                false => self.add(&format!("{prefix}{name}"), &path, program),
            }
        }
    }

    fn add(&mut self, name: &str, path: &Path, program: &Program) {
        let is_file = path.metadata().is_ok_and(|known| known.is_file());
        if !is_file || self.0.len() >= MOST_FILES || ENDINGS.iter().any(|end| name.ends_with(end)) {
            return;
        }
        if let Some(digest) = digest(path, program.build.is_some()) {
            self.0.insert(name.to_string(), digest);
        }
    }

    /// What became of files that were here before, in words; empty if nothing did.
    pub fn changes_since(&self, before: &Files) -> Vec<String> {
        let changed = |(name, digest): (&String, &String)| match self.0.get(name) {
            Some(now) if now == digest => None,
            Some(_) => Some(format!("{name} has changed")),
            None => Some(format!("{name} is gone")),
        };
        before.0.iter().filter_map(changed).collect()
    }

    /// One line for each file: the digest, two blanks, the name.
    pub fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (name, digest)| {
            let _ = writeln!(text, "{digest}  {name}");
            text
        })
    }

    /// Reads [`text`](Files::text).
    pub fn read(text: &str) -> Files {
        let line = |line: &str| line.split_once("  ").map(|(d, n)| (n.to_string(), d.to_string()));
        Files(text.lines().filter_map(line).collect())
    }
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
