//! Tables as files.

#![allow(unsafe_code)] // mapping opens a table in a third of the time, and processes share one copy

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::endgame::Slice;
use crate::error::SLICE;
use crate::image::Image;
use crate::{FormatError, TableError};

/// Saves a table atomically: the file appears complete or not at all. Missing folders are created.
pub(crate) fn save(path: &Path, image: &[u8]) -> Result<(), TableError> {
    let write_error = |error| TableError::io(path, "write", error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| TableError::io(folder, "create", error))?;

    // A temporary name until the file is complete: no process opens a part of it, and two writers
    // do not interfere. An incomplete file is removed when `part` is dropped.
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

/// Opens a regular file. `corrupt` makes the error for anything else.
pub(crate) fn open(
    path: &Path,
    corrupt: impl FnOnce(FormatError) -> TableError,
) -> Result<File, TableError> {
    let open_error = |error| TableError::io(path, "open", error);
    // Checked first, because opening a pipe waits for a writer.
    if !fs::metadata(path).map_err(open_error)?.is_file() {
        return Err(corrupt(FormatError::new("not a regular file")));
    }
    File::open(path).map_err(open_error)
}

/// Maps a table file into memory.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a mapped file must not change. Table files are replaced, never written in place, and
    // are read-only. Any bytes are read without undefined behaviour, so another program that writes
    // to the file causes wrong values at worst. Only truncating it would end this process.
    unsafe { Mmap::map(file) }
}

/// Opens the file of a slice: maps it, parses it with `parse`, and checks that it is of this slice.
pub(crate) fn open_slice<F>(
    folder: &Path,
    slice: Slice,
    game: &'static str,
    parse: impl FnOnce(Image) -> Result<F, FormatError>,
    slice_of: impl FnOnce(&F) -> Slice,
) -> Result<F, TableError> {
    let path = &slice_path(folder, slice);
    let corrupt = |error| TableError::Corrupt { path: path.into(), game, error };
    let read_error = |error| TableError::io(path, "read", error);
    let file = open(path, corrupt)?;
    if file.metadata().map_err(read_error)?.len() == 0 {
        return Err(corrupt(FormatError::new("0 bytes: truncated")));
    }
    let image = Image::Mapped(map(&file).map_err(read_error)?);
    let parsed = parse(image).map_err(corrupt)?;
    let found = slice_of(&parsed);
    if found != slice {
        return Err(corrupt(FormatError::new(format!("the file contains the slice {found}"))));
    }
    Ok(parsed)
}

/// Path of a slice in the folder of its table.
pub(crate) fn slice_path(folder: &Path, slice: Slice) -> PathBuf {
    folder.join(format!("{slice}.{SLICE}"))
}

/// Checks that the folder of a table is one.
pub(crate) fn expect_folder(folder: &Path, game: &'static str) -> Result<(), TableError> {
    let metadata = folder.metadata().map_err(|error| TableError::io(folder, "open", error))?;
    if metadata.is_dir() {
        return Ok(());
    }
    let error = FormatError::new("not a folder");
    Err(TableError::Corrupt { path: folder.into(), game, error })
}

/// Creates the folder of a table if it is missing, and removes what a killed build left there. No
/// other build uses the folder until the returned file is closed.
pub(crate) fn prepare_folder(folder: &Path) -> Result<Option<File>, TableError> {
    fs::create_dir_all(folder).map_err(|error| TableError::io(folder, "create", error))?;
    let lock = lock(folder)?;
    remove_unfinished(folder);
    Ok(lock)
}

fn lock(folder: &Path) -> Result<Option<File>, TableError> {
    let path = folder.join(".lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| TableError::io(&path, "create", error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(TableError::Busy { path: folder.into() }),
        // Some file systems have no locks. Two builds then do the same work, and no harm.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Removes the temporary files of a build that was killed.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".crownhead-") && name.ends_with(".part") {
            // If it cannot be removed, it only takes space.
            let _ = fs::remove_file(entry.path());
        }
    }
}
