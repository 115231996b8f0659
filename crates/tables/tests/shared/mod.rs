//! Tests of files that both endgame tables share: slices, damage, builds at the same time.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crownhead_tables::{Progress, TableError};

/// Progress that is not shown.
pub(crate) fn silent(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Names and bytes of all slices in a folder.
pub(crate) fn slices(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let slices = entries.filter(|path| path.extension().is_some_and(|end| end == "slice"));
    let read = |path: PathBuf| {
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
    };
    let mut slices: Vec<_> = slices.map(read).collect();
    slices.sort();
    slices
}

/// Asserts that `build` refuses a folder in which it is already building.
pub(crate) fn check_second_build<T: std::fmt::Debug>(
    build: impl Fn(&Path, &Progress<'_>) -> Result<T, TableError> + Sync,
) {
    let folder = tempfile::tempdir().unwrap();
    let tried = AtomicBool::new(false);
    let progress = |_, _| {
        if !tried.swap(true, Ordering::Relaxed) {
            let error = build(folder.path(), &silent).unwrap_err();
            assert!(matches!(error, TableError::Busy { .. }), "{error:?}");
        }
        ControlFlow::Continue(())
    };
    build(folder.path(), &progress).unwrap();
    assert!(tried.into_inner());
}

/// Truncates a slice to several lengths, and asserts that the error names the file and the command
/// that builds it again.
pub(crate) fn check_truncated(path: &Path, game: &str, open_error: impl Fn() -> String) {
    let bytes = fs::read(path).unwrap();
    for length in [0, 10, 16, 40, 64, 70, bytes.len() / 2, bytes.len() - 1] {
        fs::write(path, &bytes[..length]).unwrap();
        let message = open_error();
        assert!(message.starts_with(&format!("{}", path.display())), "{message}");
        let advice = format!("rebuild it with `crownhead tables build {game}`");
        assert!(message.ends_with(&advice), "{message}");
    }
}

/// Flips single bits of a slice, and asserts that `check` finds them and names the slice.
pub(crate) fn check_flipped_bits(path: &Path, check: impl Fn() -> Result<(), TableError>) {
    let slice = path.file_stem().unwrap().to_str().unwrap();
    let mut bytes = fs::read(path).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let end = bytes.len();
    let random: Vec<_> = (0..40).map(|_| rng.usize(96..end)).collect();
    for at in (0..96).chain([end - 1]).chain(random) {
        let bit = 1 << rng.u32(..8);
        bytes[at] ^= bit;
        fs::write(path, &bytes).unwrap();
        bytes[at] ^= bit;
        let error = check().unwrap_err();
        let message = error.to_string();
        assert!(message.contains(slice), "byte {at}: {message}");
        if let TableError::Damaged { error, .. } = error {
            assert!(error.to_string().contains(" in block "), "byte {at}: {message}");
        }
    }
}
