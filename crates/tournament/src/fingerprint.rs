//! Digests of a bot's files, to detect whether it changed since the last run.
//!
//! Every file in the bot's folder counts, hidden ones and compiled ones included, and so does the
//! program that its command names. If the bot has a build command, digests are taken again after
//! the build. From then on nothing may change: while bots run, their folders are read-only for
//! them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crownhead_bots::{BotProgram, PlayerSpec};
use sha2::{Digest, Sha256};

/// Digests of a player's files.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FileDigests {
    /// SHA-256 by file name.
    digests: BTreeMap<String, String>,
}

/// Maximum number of files with a digest of their own. All others share one.
const MAX_FILES: usize = 2000;
/// Files of a bot beyond this total are not read; their size and time of change count instead.
const MAX_BYTES: u64 = 1 << 30;
/// Name of the digest that all files beyond [`MAX_FILES`] share.
const OTHER_FILES: &str = "(other files)";

/// Computes the digests of one bot.
#[derive(Default)]
struct Collector {
    digests: BTreeMap<String, String>,
    others: Sha256,
    bytes: u64,
}

impl FileDigests {
    /// Computes the digests of a player's files; a built-in player has none.
    pub fn compute(player: &PlayerSpec) -> FileDigests {
        let Some(program) = player.program() else { return FileDigests::default() };
        let mut files = Collector::default();
        let sources = program.source_files();
        if program.has_manifest() {
            files.add_folder("", &program.folder);
        } else if sources.is_empty() {
            for word in &program.command {
                files.add(word, &program.folder.join(word));
            }
        }
        for source in sources.iter().filter(|_| !program.has_manifest()) {
            let name = source.strip_prefix(&program.folder).unwrap_or(source);
            files.add(&name.to_string_lossy(), source);
        }
        files.add_program(program);
        files.finish()
    }

    /// Describes the changes since `before`; empty if there are none.
    pub fn diff(&self, before: &FileDigests) -> Vec<String> {
        let changed = |(name, digest): (&String, &String)| match self.digests.get(name) {
            Some(current) if current == digest => None,
            Some(_) => Some(format!("{name} has changed")),
            None => Some(format!("{name} is gone")),
        };
        let is_new = |name: &&String| !before.digests.contains_key(*name);
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
        FileDigests { digests: text.lines().filter_map(entry).collect() }
    }
}

impl Collector {
    /// Adds all files of a folder. Symbolic links are not followed: they may lead anywhere, and a
    /// sandboxed bot cannot follow them either.
    fn add_folder(&mut self, prefix: &str, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let path = folder.join(&name);
            let name = format!("{prefix}{}", name.to_string_lossy());
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_dir() {
                self.add_folder(&format!("{name}/"), &path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap_or_default();
                self.insert(name, hex(Sha256::digest(target.as_os_str().as_encoded_bytes())));
            } else {
                self.add(&name, &path);
            }
        }
    }

    /// Adds a regular file.
    fn add(&mut self, name: &str, path: &Path) {
        let Ok(metadata) = path.metadata() else { return };
        if !metadata.is_file() {
            return;
        }
        self.bytes = self.bytes.saturating_add(metadata.len());
        let digest = match self.bytes <= MAX_BYTES {
            true => digest(path),
            false => {
                let text = format!("{} {:?}", metadata.len(), metadata.modified());
                Some(hex(Sha256::digest(text)))
            }
        };
        if let Some(digest) = digest {
            self.insert(name.to_string(), digest);
        }
    }

    /// Adds the program that the command names, if it is not in the bot's folder.
    fn add_program(&mut self, program: &BotProgram) {
        static DIGESTS: Mutex<Option<HashMap<PathBuf, Option<String>>>> = Mutex::new(None);
        let is_function = !program.source_files().is_empty();
        let file = program.program_file().filter(|_| !is_function);
        let Some(file) = file.and_then(|file| file.canonicalize().ok()) else { return };
        let folder = program.folder.canonicalize().unwrap_or_default();
        if program.has_manifest() && file.starts_with(folder) {
            return;
        }
        // An interpreter that all bots use is read once.
        let mut digests = DIGESTS.lock().unwrap_or_else(PoisonError::into_inner);
        let digests = digests.get_or_insert_default();
        let digest = digests.entry(file.clone()).or_insert_with(|| digest(&file)).clone();
        if let Some(digest) = digest {
            self.insert(file.to_string_lossy().into_owned(), digest);
        }
    }

    fn insert(&mut self, name: String, digest: String) {
        // A name with a line break must not look like two.
        let name = name.replace('\n', "\\n");
        match self.digests.len() < MAX_FILES {
            true => _ = self.digests.insert(name, digest),
            false => self.others.update(format!("{digest}  {name}\n")),
        }
    }

    fn finish(mut self) -> FileDigests {
        if self.digests.len() >= MAX_FILES {
            self.digests.insert(OTHER_FILES.into(), hex(self.others.finalize()));
        }
        FileDigests { digests: self.digests }
    }
}

/// Computes the SHA-256 of a file; `None` if it is unreadable.
fn digest(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?.take(MAX_BYTES);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex(hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
