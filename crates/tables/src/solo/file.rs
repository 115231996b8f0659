//! Solo tables as files.

#![allow(unsafe_code)] // mapping opens a table in a third of the time, and processes share one copy

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use memmap2::Mmap;

use super::GAME;
use super::format::{CHECKSUM, DATA, HEADER, check_checksum, check_header};
use crate::{FormatError, TableError};

pub(super) fn save(path: &Path, image: &[u8]) -> Result<(), TableError> {
    let write_error = |error| TableError::io(path, "write", error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| TableError::io(folder, "create", error))?;

    // A temporary name until the file is complete: no process opens a part of it, and two writers
    // do not interfere. Dropping it removes it.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".crownhead-").suffix(".part");
    // Read-only, because truncating a mapped file kills the processes that use it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
    let mut part = builder.tempfile_in(folder).map_err(write_error)?;
    part.write_all(image).map_err(write_error)?;
    part.as_file().sync_all().map_err(write_error)?;
    part.persist(path).map_err(|error| write_error(error.error))?;
    // The new name survives a power failure only if the folder is synced too. The file is complete
    // in any case, and some file systems cannot sync folders.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

pub(super) fn open(path: &Path) -> Result<Mmap, TableError> {
    let open_error = |error| TableError::io(path, "open", error);
    let read_error = |error| TableError::io(path, "read", error);
    let corrupt = |error| TableError::Corrupt { path: path.into(), game: GAME, error };
    // Checked first, because opening a pipe waits for a writer.
    if !fs::metadata(path).map_err(open_error)?.is_file() {
        return Err(corrupt(FormatError::new("not a regular file")));
    }
    let file = File::open(path).map_err(open_error)?;
    check(&file).map_err(read_error)?.map_err(corrupt)?;
    // SAFETY: a mapped file must not change. Table files are replaced, never written in place, and
    // are read-only. Any byte is a valid entry, and each is read once, so another program that
    // writes to the file causes wrong distances at worst. Only truncating it would end this
    // process.
    let image = unsafe { Mmap::map(&file) }.map_err(read_error)?;
    check_header(&image[..image.len().min(HEADER)], image.len() as u64).map_err(corrupt)?;
    Ok(image)
}

/// Checks every byte of a file. Reads it instead of mapping it, so that a file that is truncated
/// meanwhile is an ordinary error.
fn check(file: &File) -> io::Result<Result<(), FormatError>> {
    let truncated = || Ok(Err(FormatError::new("truncated while being read")));
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header)?;
    if let Err(error) = check_header(&header, file.metadata()?.len()) {
        return Ok(Err(error));
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header);
    let mut remaining = DATA + HEADER - header.len();
    let mut buffer = vec![0; 1 << 16];
    while remaining > 0 {
        let len = remaining.min(buffer.len());
        let part = &mut buffer[..len];
        if !read_full(file, part)? {
            return truncated();
        }
        hasher.update(part);
        remaining -= part.len();
    }
    let mut stored = [0; CHECKSUM];
    if !read_full(file, &mut stored)? {
        return truncated();
    }
    Ok(check_checksum(stored, hasher.finalize()))
}

/// Fills the buffer. Returns false if the file ends before that.
fn read_full(mut file: &File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}
