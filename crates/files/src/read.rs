//! Bounded reading.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Reads a text file of at most `max_bytes`. Only a regular file is opened: a named pipe would
/// block, and a device may never end.
pub fn read_text(path: &Path, max_bytes: u64) -> Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    if metadata.len() > max_bytes {
        let message = format!("larger than {max_bytes} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "four");
        let large = read_text(&path, 3).unwrap_err();
        assert_eq!(large.to_string(), "larger than 3 bytes");
        let not_regular = read_text(folder.path(), 100).unwrap_err();
        assert_eq!(not_regular.to_string(), "not a regular file");
    }
}
