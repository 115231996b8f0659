//! Lists the lessons: `lessons/ID.txt` is the course of the game with that id.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=lessons");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("lessons");
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let id = path.file_stem().unwrap_or_default();
        entries.push(format!("    ({:?}, include_str!({:?})),\n", id, path));
    }
    entries.sort();
    let table = format!("&[\n{}]\n", entries.concat());
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("lessons.rs"), table)
}
