//! The table as a file: a header, four bits for each placement, a checksum.
//!
//! | bytes | what |
//! |---|---|
//! | 16 | `CROWNHEAD SOLO` and two zero bytes |
//! | 4 | the version, 1 |
//! | 4 | the number of placements, 74,974,368 |
//! | 40 | zero |
//! | 37,487,184 | the turns, two placements a byte, the lower number in the lower four bits |
//! | 4 | CRC-32 of all that |
//!
//! Numbers have their lowest byte first. Every byte counts for the checksum, so a damaged file is
//! never taken for a table.

#![allow(unsafe_code)] // mapping a file: opened in a third of the time, and one copy for all

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use memmap2::Mmap;

use super::index::PLACEMENTS;
use crate::TableError;

const MAGIC: [u8; 16] = *b"CROWNHEAD SOLO\0\0";
const VERSION: u32 = 1;
pub(super) const HEADER: usize = 64;
pub(super) const DATA: usize = PLACEMENTS / 2;
const CHECKSUM: usize = 4;
pub(super) const FILE_BYTES: usize = HEADER + DATA + CHECKSUM;

// No placement is left over when two share a byte.
const _: () = assert!(PLACEMENTS.is_multiple_of(2));

/// Makes the bytes of the file of the turns of all placements, in the order of their numbers.
pub(super) fn encode(image: &mut [u8], mut turns: impl Iterator<Item = u8>) {
    let (body, checksum) = image.split_at_mut(HEADER + DATA);
    body[..16].copy_from_slice(&MAGIC);
    body[16..20].copy_from_slice(&VERSION.to_le_bytes());
    body[20..24].copy_from_slice(&(PLACEMENTS as u32).to_le_bytes());
    body[24..HEADER].fill(0);
    for pair in &mut body[HEADER..] {
        let mut four_bits = || turns.next().unwrap_or(0) & 15;
        *pair = four_bits() | four_bits() << 4;
    }
    checksum.copy_from_slice(&crc32fast::hash(body).to_le_bytes());
}

pub(super) fn save(path: &Path, image: &[u8]) -> Result<(), TableError> {
    let cannot = |error| TableError::io(path, "written", error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| TableError::io(folder, "made", error))?;

    // Under a name of its own until it is whole, so that nobody opens a part of it and two
    // processes do not disturb each other. Dropping it removes it.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".crownhead-").suffix(".part");
    // Read-only: cutting a file short kills the processes that have it mapped.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
    let mut part = builder.tempfile_in(folder).map_err(cannot)?;
    part.write_all(image).map_err(cannot)?;
    part.as_file().sync_all().map_err(cannot)?;
    part.persist(path).map_err(|error| cannot(error.error))?;
    // The new name survives a power cut only if the folder is written too. The table is there
    // in any case, and some file systems cannot do this.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

pub(super) fn open(path: &Path) -> Result<Mmap, TableError> {
    let cannot_open = |error| TableError::io(path, "opened", error);
    let cannot_read = |error| TableError::io(path, "read", error);
    // Before it is opened, because opening a pipe waits for somebody to write.
    if !fs::metadata(path).map_err(cannot_open)?.is_file() {
        return Err(TableError::corrupt(path, "it is no regular file"));
    }
    let file = File::open(path).map_err(cannot_open)?;
    check(&file).map_err(cannot_read)?.map_err(|why| TableError::corrupt(path, why))?;
    // SAFETY: a mapped file must not change. Tables are replaced by new files and never written in
    // place, and their files are read-only. The bytes are numbers of which any value will do, and
    // each is looked at once, so what a foreign program writes there gives wrong turns at worst;
    // only if it cuts the file short does the system end this process.
    let image = unsafe { Mmap::map(&file) }.map_err(cannot_read)?;
    if image.len() != FILE_BYTES {
        return Err(TableError::corrupt(path, wrong_length(image.len() as u64)));
    }
    Ok(image)
}

/// Looks at every byte, and says what is wrong with them. By reading and not in the mapping: a file
/// that shrinks meanwhile is an error like any other.
fn check(file: &File) -> io::Result<Result<(), String>> {
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header)?;
    if !header.starts_with(&MAGIC) {
        return Ok(Err("it does not begin as one".into()));
    }
    if let Some(version) = header.get(16..20)
        && version != VERSION.to_le_bytes()
    {
        let version = version.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        return Ok(Err(format!("its version is {version}, and this program reads {VERSION}")));
    }
    let length = file.metadata()?.len();
    if length != FILE_BYTES as u64 {
        return Ok(Err(wrong_length(length)));
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header);
    let mut left = DATA + HEADER - header.len();
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let part = left.min(buffer.len());
        let part = &mut buffer[..part];
        if !read_whole(file, part)? {
            return Ok(Err("it was cut short while it was read".into()));
        }
        hasher.update(part);
        left -= part.len();
    }
    let mut stored = [0; CHECKSUM];
    if !read_whole(file, &mut stored)? {
        return Ok(Err("it was cut short while it was read".into()));
    }
    let (stored, computed) = (u32::from_le_bytes(stored), hasher.finalize());
    Ok(if stored == computed {
        Ok(())
    } else {
        Err(format!("it is damaged: its checksum is {stored:08x}, its bytes give {computed:08x}"))
    })
}

/// Fills the buffer, unless the file ends before.
fn read_whole(mut file: &File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}

fn wrong_length(length: u64) -> String {
    format!("it is {length} bytes long, and a whole one has {FILE_BYTES}")
}
