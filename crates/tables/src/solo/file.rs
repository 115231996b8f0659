//! Solo tables as files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::Mmap;

use super::GAME;
use super::format::{CHECKSUM, DATA, HEADER, check_checksum, check_header};
use crate::{FormatError, TableError};

pub(super) fn open(path: &Path) -> Result<Mmap, TableError> {
    let read_error = |error| TableError::io(path, "read", error);
    let corrupt = |error| TableError::Corrupt { path: path.into(), game: GAME, error };
    let file = crate::file::open(path, corrupt)?;
    check(&file).map_err(read_error)?.map_err(corrupt)?;
    let image = crate::file::map(&file).map_err(read_error)?;
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
