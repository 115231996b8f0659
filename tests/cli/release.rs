//! The release archive. The script packs a wrapper of the tested program here; building the static
//! binary takes minutes and is left to `scripts/release` itself.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

#[test]
fn release_archive_is_complete_and_plays_a_game_in_an_empty_directory() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("crownhead");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_crownhead"));
    std::fs::write(&binary, script).unwrap();
    std::fs::set_permissions(&binary, PermissionsExt::from_mode(0o755)).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release");
    let out = folder.path().join("out");
    let [binary, out] = [&binary, &out].map(|path| path.to_str().unwrap());
    // It unpacks the archive in an empty directory and fails unless the program plays a game.
    let archive = run(release.to_str().unwrap(), &["--binary", binary, out]);
    let files = run("tar", &["-tzf", archive.trim()]);
    for file in [
        "crownhead",
        "man/crownhead.1",
        "man/crownhead-play.1",
        "completions/crownhead.bash",
        "completions/crownhead.zsh",
        "completions/crownhead.fish",
        "docs/guide-player.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        assert!(files.lines().any(|line| line.ends_with(&format!("-linux/{file}"))), "{files}");
    }
    let sums = format!("{}.sha256", archive.trim());
    assert!(std::fs::read_to_string(sums).unwrap().contains(".tar.gz"));
}
