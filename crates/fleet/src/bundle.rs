//! A bot as a bundle of files: packed by the coordinator, unpacked by workers.
//!
//! A bundle is a line of JSON that lists the files, and then their contents. There is nothing else
//! in it: no links, no devices, no owners. It is encrypted with a key that is sent with the jobs,
//! because every worker can read the whole object store. Its name is the digest of what is stored.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Component, Path};

use crownhead_bots::BotProgram;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run_key::hex;

/// Maximum number of bytes in the files of a bundle.
pub(crate) const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of files in a bundle.
const MAX_FILES: usize = 10_000;
/// Maximum length of a path in a bundle, in bytes.
const MAX_PATH: usize = 1024;
/// Maximum depth of nested folders of a bot.
const MAX_DEPTH: usize = 32;

/// A packed bot.
pub(crate) struct Bundle {
    /// The encrypted files.
    pub(crate) sealed: Vec<u8>,
    /// Name in the object store.
    pub(crate) name: String,
    /// The key, in hexadecimal digits.
    pub(crate) key: String,
    /// The bot as a user would write it in the folder of its files.
    pub(crate) text: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Header {
    files: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    path: String,
    bytes: u64,
    #[serde(default)]
    executable: bool,
}

/// Packs the files of a bot. `secret` makes its key unpredictable.
pub(crate) fn pack(program: &BotProgram, secret: &[u8]) -> Result<Bundle, String> {
    let mut files = Files::default();
    let sources = program.source_files();
    let text = if program.has_manifest() {
        files.add_folder(&program.folder, String::new(), 0)?;
        ".".to_string()
    } else if let Some(first) = sources.first() {
        for source in &sources {
            files.add_file(source, relative(source, &program.folder)?)?;
        }
        format!("{}:{}", program.protocol.prefix(), relative(first, &program.folder)?)
    } else {
        // As for the fingerprint: the files that the command names.
        for word in &program.command {
            let is_inside = Path::new(word)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let path = program.folder.join(word);
            if is_inside && path.is_file() {
                files.add_file(&path, word.trim_start_matches("./").to_string())?;
            }
        }
        program.to_string()
    };
    let mut bytes = serde_json::to_vec(&files.header).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    bytes.append(&mut files.contents);
    let mut hash = Sha256::new();
    hash.update(secret);
    hash.update(Sha256::digest(&bytes));
    // Each key encrypts one text only, so the nonce can be constant.
    let key: [u8; 32] = hash.finalize().into();
    let sealed_key = aead_key(&key)?;
    let nonce = Nonce::assume_unique_for_key([0; 12]);
    sealed_key
        .seal_in_place_append_tag(nonce, Aad::empty(), &mut bytes)
        .map_err(|_| "cannot encrypt the bot".to_string())?;
    Ok(Bundle { name: hex(&Sha256::digest(&bytes)), sealed: bytes, key: hex(&key), text })
}

fn aead_key(key: &[u8; 32]) -> Result<LessSafeKey, String> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| "invalid key".to_string())?;
    Ok(LessSafeKey::new(key))
}

/// Returns a path as it is in a bundle.
fn relative(path: &Path, folder: &Path) -> Result<String, String> {
    let path = path.strip_prefix(folder).unwrap_or(path);
    let text = path.to_str().ok_or_else(|| format!("{}: not UTF-8", path.display()))?;
    Ok(text.into())
}

#[derive(Default)]
struct Files {
    header: Header,
    contents: Vec<u8>,
}

impl Files {
    /// Adds all regular files of a folder, in the order of their names. Skips links.
    fn add_folder(&mut self, folder: &Path, prefix: String, depth: usize) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        if depth > MAX_DEPTH {
            return Err(format!("{}: more than {MAX_DEPTH} nested folders", folder.display()));
        }
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(failed)?;
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| format!("{}: not UTF-8", name.display()))?;
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                self.add_folder(&entry.path(), format!("{path}/"), depth + 1)?;
            } else if kind.is_file() {
                self.add_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, path: String) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        let metadata = file.metadata().map_err(failed)?;
        let total = self.contents.len() as u64 + metadata.len();
        if total > MAX_BYTES || self.header.files.len() >= MAX_FILES {
            return Err(format!(
                "more than {} MiB or {MAX_FILES} files: delete what the build of the bot has \
                 written",
                MAX_BYTES >> 20
            ));
        }
        let contents = fs::read(file).map_err(failed)?;
        #[cfg(unix)]
        let executable =
            std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0;
        #[cfg(not(unix))]
        let executable = false;
        self.header.files.push(Entry { path, bytes: contents.len() as u64, executable });
        self.contents.extend(contents);
        Ok(())
    }
}

/// Decrypts a bundle and unpacks it into an empty folder that belongs to this process alone.
pub(crate) fn unpack(
    mut sealed: Vec<u8>,
    name: &str,
    key: &str,
    folder: &Path,
) -> Result<(), String> {
    if hex(&Sha256::digest(&sealed)) != name {
        return Err("its digest is wrong".into());
    }
    let key = parse_key(key).ok_or("its key is invalid")?;
    let nonce = Nonce::assume_unique_for_key([0; 12]);
    let bytes = aead_key(&key)?
        .open_in_place(nonce, Aad::empty(), &mut sealed)
        .map_err(|_| "its key is wrong".to_string())?;
    unpack_files(bytes, folder)
}

fn parse_key(text: &str) -> Option<[u8; 32]> {
    let digits = (text.len() == 64 && text.is_ascii()).then_some(text)?;
    let mut key = [0; 32];
    for (index, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(key)
}

fn unpack_files(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("it has no list of files")?;
    let (header, mut contents) = (&bytes[..end], &bytes[end + 1..]);
    let header: Header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    if header.files.len() > MAX_FILES || contents.len() as u64 > MAX_BYTES {
        return Err("it is too large".into());
    }
    for Entry { path, bytes, executable } in header.files {
        let parts = Path::new(&path).components();
        let is_inside = !path.is_empty()
            && path.len() <= MAX_PATH
            && !path.contains(['\0', '\\'])
            && parts.clone().count() <= MAX_DEPTH + 1
            && parts.clone().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return Err(format!("{path:?} is not a path inside a folder"));
        }
        let length = usize::try_from(bytes).ok().filter(|length| *length <= contents.len());
        let (data, rest) = contents.split_at(length.ok_or("it is cut off")?);
        contents = rest;
        let target = folder.join(&path);
        let failed = |error: std::io::Error| format!("{path}: {error}");
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        // The folder holds only what came from this bundle: there are no links to follow.
        let mut file = File::create_new(&target).map_err(failed)?;
        file.write_all(data).map_err(failed)?;
        #[cfg(unix)]
        if executable {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            file.set_permissions(mode).map_err(failed)?;
        }
        #[cfg(not(unix))]
        let _ = executable;
    }
    if contents.is_empty() { Ok(()) } else { Err("it has more bytes than its files".into()) }
}

#[cfg(test)]
mod tests {
    use crownhead_bots::PlayerSpec;

    use super::*;

    fn bot(folder: &Path) -> BotProgram {
        fs::create_dir_all(folder.join("lib")).unwrap();
        fs::write(folder.join("bot.toml"), "command = \"python3 bot.py\"").unwrap();
        fs::write(folder.join("bot.py"), "print()").unwrap();
        fs::write(folder.join("lib/.hidden"), [0, 255]).unwrap();
        let spec: PlayerSpec = folder.display().to_string().parse().unwrap();
        spec.program().unwrap().clone()
    }

    #[test]
    fn bundle_has_the_files_and_is_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let program = bot(&folder.path().join("bot"));
        let bundle = pack(&program, b"secret").unwrap();
        assert_eq!(pack(&program, b"secret").unwrap().name, bundle.name);
        let target = folder.path().join("unpacked");
        fs::create_dir(&target).unwrap();
        unpack(bundle.sealed.clone(), &bundle.name, &bundle.key, &target).unwrap();
        assert_eq!(fs::read(target.join("lib/.hidden")).unwrap(), [0, 255]);
        assert_eq!(fs::read_to_string(target.join("bot.py")).unwrap(), "print()");
        // Neither readable without the key, nor changed unnoticed.
        assert!(!bundle.sealed.windows(7).any(|bytes| bytes == b"print()"));
        let other = pack(&program, b"other").unwrap();
        let open = |sealed: &[u8], name: &str, key: &str| {
            unpack(sealed.to_vec(), name, key, &folder.path().join("empty")).unwrap_err()
        };
        assert_eq!(open(&bundle.sealed, &bundle.name, &other.key), "its key is wrong");
        assert_eq!(open(&other.sealed, &bundle.name, &bundle.key), "its digest is wrong");
        assert_eq!(open(&bundle.sealed, &bundle.name, "12"), "its key is invalid");
    }

    #[test]
    fn hostile_bundle_writes_nothing_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::create_dir(&target).unwrap();
        let unpack = |header: &str, contents: &[u8]| {
            unpack_files(&[header.as_bytes(), b"\n", contents].concat(), &target)
        };
        for path in ["../x", "/tmp/x", "a/../../x", "", ".", "a/./b/..", "c\\0", "a\\..\\x"] {
            let header = format!(r#"{{"files":[{{"path":{path:?},"bytes":1}}]}}"#);
            assert!(unpack(&header, b"x").is_err(), "{path}");
        }
        let file = |path: &str, bytes: u64| format!(r#"{{"path":"{path}","bytes":{bytes}}}"#);
        let header = |files: &[String]| format!(r#"{{"files":[{}]}}"#, files.join(","));
        for (files, contents) in [
            (vec![file("a", 2)], &b"x"[..]),
            (vec![file("b", u64::MAX)], b"x"),
            (vec![file("c", 1)], b"xx"),
            (vec![file("d", 1), file("d", 1)], b"xx"),
            (vec![file("e", 1), file("e/f", 1)], b"xx"),
            (vec![file("g", 0); MAX_FILES + 1], b""),
        ] {
            assert!(unpack(&header(&files), contents).is_err(), "{:?}", &files[..1]);
        }
        assert!(unpack_files(b"{}", &target).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
