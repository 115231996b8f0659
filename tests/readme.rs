//! The README stays true: every command in its ```` ```console ```` blocks is run, and where a
//! block shows output, the program prints just that.
//!
//! - `$ crownhead …` and `$ cargo run --release -- …` run the program that was built for the tests,
//!   in a shell, one after the other in one folder that has all of the project's files in it. What
//!   they write stays out of the project.
//! - `$ ./test` and the like are only looked for: they must be there and be executable.
//! - Other `$ cargo …`, `$ git …` and `$ cd …` are left to the reader.
//! - A backslash at the end of a line carries the command on.
//! - The lines up to the next `$` are the output, standard output only. A line `…` stands for any
//!   lines, and `…` in a line for any text. Without such lines the output is not looked at.
//! - `crownhead serve` goes on for ever: it is interrupted when it has said where it is. It gets a port and a
//!   folder of its own.
//! - A command succeeds; one that shows its output may also find bad input (exit code 3).

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on may stop

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ANYTHING: &str = "…";

/// A command of the README.
#[derive(PartialEq, Eq, Debug)]
struct Example {
    /// Where it stands, counted from 1.
    line: usize,
    command: String,
    /// The lines that are shown below it.
    output: Vec<String>,
}

#[test]
fn every_command_of_the_readme_does_what_is_shown() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(project.join("README.md")).unwrap_or_else(|error| {
        panic!("README.md cannot be read ({error}): the project needs one")
    });
    let placeholder = |line: &&str| line.len() > 2 && line.chars().all(|c| c.is_ascii_uppercase());
    assert_eq!(readme.lines().find(placeholder), None, "README.md has a gap to be filled");
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(project).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }

    let mut wrong = Vec::new();
    let mut run = 0;
    for example in examples(&readme) {
        let result = match program_arguments(&example.command) {
            Some(arguments) => {
                run += 1;
                check_program(&example, &format!("crownhead {arguments}"), folder.path())
            }
            None => check_other(&example.command, project),
        };
        if let Err(reason) = result {
            wrong.push(format!("README.md:{}: $ {}\n{reason}", example.line, example.command));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
    assert!(run > 0, "README.md shows no `$ crownhead …` in a ```console block");
}

/// The commands of all `console` blocks.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut in_block, mut continued) = (false, false);
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block && line.trim() == "```console";
            continued = false;
        } else if !in_block {
        } else if continued && let Some(example) = examples.last_mut() {
            continued = line.ends_with('\\');
            example.command.push_str(line.trim_start().trim_end_matches('\\'));
        } else if let Some(command) = line.strip_prefix("$ ") {
            continued = command.ends_with('\\');
            let command = command.trim_end_matches('\\').to_string();
            examples.push(Example { line: number + 1, command, output: Vec::new() });
        } else if let Some(example) = examples.last_mut() {
            example.output.push(line.trim_end().to_string());
        }
    }
    for example in &mut examples {
        while example.output.last().is_some_and(String::is_empty) {
            example.output.pop();
        }
    }
    examples
}

/// What follows the program's name, if the command runs it.
fn program_arguments(command: &str) -> Option<&str> {
    let starts = ["crownhead", "cargo run --release --"];
    let rest = starts.iter().find_map(|start| command.strip_prefix(start))?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

fn check_program(example: &Example, command: &str, folder: &Path) -> Result<(), String> {
    let program = Path::new(env!("CARGO_BIN_EXE_crownhead"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let serves = command.starts_with("crownhead serve");
    let command = match serves {
        true => format!("exec {command} --port 0 --data served"),
        false => command.to_string(),
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    let output = if serves { interrupted(&mut shell) } else { shell.output().unwrap() };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let code = output.status.code();
    if code != Some(0) && (code != Some(3) || example.output.is_empty()) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit code {code:?}: {stderr}"));
    }
    let printed: Vec<_> = stdout.trim_end().lines().map(str::trim_end).collect();
    if example.output.is_empty() || fits(&example.output, &printed) {
        return Ok(());
    }
    Err(format!("shown:\n{}\nprinted:\n{}", example.output.join("\n"), printed.join("\n")))
}

/// Starts a program, waits for its first line and interrupts it.
fn interrupted(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    stdout.read_line(&mut said).unwrap();
    let process = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    stdout.read_to_string(&mut said).unwrap();
    let output = child.wait_with_output().unwrap();
    Output { stdout: said.into(), ..output }
}

fn check_other(command: &str, project: &Path) -> Result<(), String> {
    let word = command.split_whitespace().next().unwrap_or_default();
    if let Some(file) = word.strip_prefix("./") {
        let found = fs::metadata(project.join(file)).map_err(|error| format!("{word}: {error}"))?;
        let executable = found.is_file() && found.permissions().mode() & 0o111 != 0;
        return if executable { Ok(()) } else { Err(format!("{word} is not executable")) };
    }
    if ["cargo", "git", "cd"].contains(&word) {
        return Ok(());
    }
    Err("this test does not know how to check such a command".into())
}

/// Whether lines were printed as they are shown, `…` being any.
fn fits(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        Some((first, rest)) => {
            let next = printed.split_first().filter(|(line, _)| line_fits(first, line));
            next.is_some_and(|(_, printed)| fits(rest, printed))
        }
    }
}

/// Whether a line was printed as it is shown, `…` being any text.
fn line_fits(shown: &str, printed: &str) -> bool {
    match shown.split_once(ANYTHING) {
        None => shown == printed,
        Some((start, rest)) => printed.strip_prefix(start).is_some_and(|printed| {
            let mut tails = printed.char_indices().map(|(at, _)| &printed[at..]).chain([""]);
            tails.any(|tail| line_fits(rest, tail))
        }),
    }
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let text = "\
$ not here
```
$ nor here
```
```console
$ crownhead games
english
…

$ crownhead moves \\
    english
$ ./test
```
```sh
$ not this
```
";
    let example = |line, command: &str, output: &[&str]| Example {
        line,
        command: command.into(),
        output: output.iter().map(|line| line.to_string()).collect(),
    };
    assert_eq!(
        examples(text),
        [
            example(6, "crownhead games", &["english", "…"]),
            example(10, "crownhead moves english", &[]),
            example(12, "./test", &[]),
        ]
    );
    assert_eq!(program_arguments("crownhead moves english"), Some("moves english"));
    assert_eq!(program_arguments("cargo run --release -- games"), Some("games"));
    assert_eq!(program_arguments("crownhead-bot"), None);
    assert_eq!(program_arguments("cargo build"), None);
}

#[test]
fn dots_stand_for_anything() {
    let check = |shown: &str, printed: &str| {
        let shown: Vec<_> = shown.lines().map(String::from).collect();
        fits(&shown, &printed.lines().collect::<Vec<_>>())
    };
    assert!(check("1 7\n…", "1 7\n2 49\n3 302"));
    assert!(check("1 7\n…", "1 7"));
    assert!(check("…\n3 302", "1 7\n2 49\n3 302"));
    assert!(check(
        "{\"position\":…,\"side\":\"b\"…}",
        "{\"position\":\"x\",\"side\":\"b\",\"a\":1}"
    ));
    assert!(!check("1 7", "1 7\n2 49"));
    assert!(!check("1 7\n2 49", "1 7"));
    assert!(!check("…\n2 49", "1 7\n2 49\n3 302"));
    assert!(!check("a…c", "ab"));
}
