//! Checks the documentation: commands, links and file names.
//!
//! Every command in a ```` ```console ```` block of the README, `CONTRIBUTING.md`, `docs/` and
//! `fuzz/README.md` is checked. `CONTRIBUTING.md` lists the conventions for such blocks.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Stands for any lines, or for any text within a line.
const WILDCARD: &str = "…";

/// Commands that are run as they are, in a shell.
const SHELL_COMMANDS: [&str; 5] = ["cat", "cp", "echo", "mkdir", "printf"];

/// Commands that are not run.
const UNCHECKED_COMMANDS: [&str; 8] =
    ["cd", "curl", "git", "node", "npm", "rustup", "systemd-run", "valgrind"];

const CARGO_COMMANDS: [&str; 10] =
    ["bench", "build", "check", "clippy", "doc", "fmt", "fuzz", "install", "nextest", "test"];

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A command of a document.
#[derive(PartialEq, Eq, Debug)]
struct Example {
    /// Line number, from 1.
    line: usize,
    command: String,
    /// The output shown below the command.
    output: Vec<String>,
    /// Whether the block is marked `no_run`.
    no_run: bool,
}

#[test]
fn readme_commands_print_expected_output() {
    check_commands(&[project().join("README.md")]);
}

#[test]
fn commands_in_the_text_of_the_readme_have_valid_options() {
    let text = fs::read_to_string(project().join("README.md")).unwrap();
    let scratch = scratch_project();
    let code = text.split('`').skip(1).step_by(2);
    let commands: Vec<_> = code.filter(|code| code.starts_with("crownhead ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        let words = shell_words(&command.replace('\n', " "));
        let result = check_options(words.iter().skip(1).map(String::as_str), scratch.path());
        assert_eq!(result, Ok(()), "{command}");
    }
}

#[test]
fn commands_of_other_documents_print_expected_output() {
    let mut pages = pages_in("docs");
    // The guides have tests of their own.
    let is_guide = |path: &PathBuf| path.to_string_lossy().contains("/guide-");
    pages.retain(|path| !is_guide(path));
    pages.extend(["CONTRIBUTING.md", "fuzz/README.md"].map(|page| project().join(page)));
    check_commands(&pages);
}

#[test]
fn player_guide_works_from_start_to_end() {
    check_commands(&[project().join("docs/guide-player.md")]);
}

#[test]
fn student_guide_works_from_start_to_end() {
    check_commands(&[project().join("docs/guide-student.md")]);
}

#[test]
fn instructor_guide_works_from_start_to_end() {
    check_commands(&[project().join("docs/guide-instructor.md")]);
}

#[test]
fn engine_author_guide_works_from_start_to_end() {
    check_commands(&[project().join("docs/guide-engine-author.md")]);
}

#[test]
fn documents_have_no_placeholders() {
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        let is_placeholder = |line: &&str| {
            line.len() > 2 && line.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        assert_eq!(text.lines().find(is_placeholder), None, "placeholder in {}", page.display());
    }
}

#[test]
fn links_lead_to_existing_files_and_headings() {
    let mut errors = Vec::new();
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if let Err(reason) = check_link(&page, link) {
                errors.push(format!("{}: {link}: {reason}", page.display()));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

#[test]
fn every_document_is_linked_from_the_readme_or_the_architecture_page() {
    let read = |page: &str| fs::read_to_string(project().join(page)).unwrap();
    let (readme, architecture) = (read("README.md"), read("ARCHITECTURE.md"));
    let linked: Vec<_> = links(&readme).into_iter().chain(links(&architecture)).collect();
    for page in pages_in("docs") {
        let link = format!("docs/{}", page.file_name().unwrap().to_str().unwrap());
        let is_linked = linked.iter().any(|target| target.split('#').next() == Some(&link));
        assert!(is_linked, "no link to {link}");
    }
}

#[test]
fn text_of_documents_wraps_at_100_columns() {
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for prose in text.split("```").step_by(2) {
            let is_long = |line: &&str| !line.starts_with('|') && line.chars().count() > 100;
            assert_eq!(prose.lines().find(is_long), None, "{}", page.display());
        }
    }
}

#[test]
fn source_files_named_in_documents_exist() {
    let mut errors = Vec::new();
    for page in all_pages().into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let roots = ["crates/", "docs/", "fuzz/", "scripts/"];
            let is_path = roots.iter().any(|root| name.starts_with(root))
                && !name.contains(['*', '{', '<', ' ', '\n', '…'])
                // A placeholder, as in `fuzz/corpus/TARGET`.
                && !name.ends_with(char::is_uppercase);
            if is_path && !project().join(name).exists() {
                errors.push(format!("{}: {name} does not exist", page.display()));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

/// Returns the Markdown files of a directory.
fn pages_in(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(project().join(directory)).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

fn all_pages() -> Vec<PathBuf> {
    ["", "docs", "fuzz"].into_iter().flat_map(pages_in).collect()
}

fn check_commands(pages: &[PathBuf]) {
    let mut errors = Vec::new();
    let mut runs = 0;
    for page in pages {
        let text = fs::read_to_string(page).unwrap();
        let scratch = scratch_project();
        for example in examples(&text) {
            runs += usize::from(!example.no_run);
            if let Err(reason) = check(&example, scratch.path()) {
                let Example { line, command, .. } = example;
                errors.push(format!("{}:{line}: $ {command}\n{reason}", page.display()));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n\n"));
    assert!(runs > 0, "no command was run");
}

/// Creates a directory with links to the files of the project. What commands write stays there.
fn scratch_project() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(project()).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), scratch.path().join(entry.file_name())).unwrap();
    }
    scratch
}

/// Returns the commands of all `console` blocks.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    // In a console block: its indentation, and whether it is marked `no_run`.
    let mut block = None;
    let mut in_other_block = false;
    let mut is_continued = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            let is_end = block.is_some() || in_other_block;
            let indent = line.len() - line.trim_start().len();
            block = match (is_end, info.trim()) {
                (false, "console") => Some((indent, false)),
                (false, "console no_run") => Some((indent, true)),
                _ => None,
            };
            in_other_block = !is_end && block.is_none();
            is_continued = false;
            continue;
        }
        let Some((indent, no_run)) = block else { continue };
        let line = line.get(indent..).unwrap_or_default();
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (_, Some(example)) if is_continued => {
                is_continued = line.ends_with('\\');
                example.command.push_str(line.trim_start().trim_end_matches('\\'));
            }
            (Some(command), _) => {
                is_continued = command.ends_with('\\');
                let command = command.trim_end_matches('\\').to_string();
                examples.push(Example { line: number + 1, command, output: Vec::new(), no_run });
            }
            (None, Some(example)) => example.output.push(line.trim_end().to_string()),
            (None, None) => {}
        }
    }
    for example in &mut examples {
        while example.output.last().is_some_and(String::is_empty) {
            example.output.pop();
        }
    }
    examples
}

fn check(example: &Example, scratch: &Path) -> Result<(), String> {
    let command = match example.command.strip_prefix("cargo run --release --") {
        Some(arguments) => format!("crownhead{arguments}"),
        None => example.command.clone(),
    };
    let words = shell_words(&command);
    let is_assignment = |word: &&String| word.contains('=') && !word.starts_with('=');
    let mut words = words.iter().skip_while(is_assignment).map(String::as_str);
    let program = words.next().unwrap_or_default();
    match program {
        "crownhead" if example.no_run => check_options(words, scratch),
        "crownhead" => check_output(example, &command, scratch),
        "cargo" => check_cargo(words),
        _ if program.starts_with("./") => check_script(&program[2..]),
        _ if SHELL_COMMANDS.contains(&program) => check_output(example, &command, scratch),
        _ if UNCHECKED_COMMANDS.contains(&program) => Ok(()),
        _ => Err(format!("this test does not know the command {program:?}")),
    }
}

/// Splits a command at spaces, up to the first pipe or redirection.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars().chain([' ']) {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None, '|' | '>' | '<' | '&' | ';') => {
                // The `2` of `2>&1` belongs to the redirection.
                words.extend(word.filter(|word| word != "2"));
                return words;
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words
}

/// Runs the program with `--help` after the other arguments, which must be valid.
fn check_options<'a>(
    arguments: impl Iterator<Item = &'a str>,
    scratch: &Path,
) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(arguments).arg("--help").current_dir(scratch).stdin(Stdio::null());
    let output = command.output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// Runs a command and compares its standard output.
fn check_output(example: &Example, command: &str, scratch: &Path) -> Result<(), String> {
    let program = Path::new(env!("CARGO_BIN_EXE_crownhead"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let is_server = command.starts_with("crownhead serve");
    let command = match is_server {
        true => format!("exec {command} --port 0 --data served"),
        false => command.to_string(),
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(scratch).env("PATH", path).stdin(Stdio::null());
    shell.env("CROWNHEAD_DATA", scratch.join("data"));
    shell.env("CROWNHEAD_CACHE", scratch.join("cache"));
    let output = if is_server { interrupt(&mut shell) } else { shell.output().unwrap() };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let is_expected = match output.status.code() {
        Some(0) => true,
        // Invalid input, or a bot that forfeited: fine if the document shows it.
        Some(3 | 4) => !example.output.is_empty(),
        _ => false,
    };
    if !is_expected {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {stderr}", output.status));
    }
    let printed: Vec<_> = stdout.trim_end().lines().map(str::trim_end).collect();
    match example.output.is_empty() || lines_match(&example.output, &printed) {
        true => Ok(()),
        false => {
            let (expected, printed) = (example.output.join("\n"), printed.join("\n"));
            Err(format!("expected:\n{expected}\nprinted:\n{printed}"))
        }
    }
}

/// Starts a server, waits for its first line and interrupts it.
fn interrupt(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut stdout = String::new();
    reader.read_line(&mut stdout).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    reader.read_to_string(&mut stdout).unwrap();
    let output = child.wait_with_output().unwrap();
    Output { stdout: stdout.into(), ..output }
}

fn check_script(path: &str) -> Result<(), String> {
    let metadata =
        fs::metadata(project().join(path)).map_err(|error| format!("{path}: {error}"))?;
    match metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        true => Ok(()),
        false => Err(format!("{path} is not executable")),
    }
}

/// Checks that the packages and targets of a `cargo` command exist.
fn check_cargo<'a>(words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut words = words.filter(|word| !word.starts_with('+')).peekable();
    let subcommand = words.next().unwrap_or_default();
    let is_run = subcommand == "run";
    if !is_run && !CARGO_COMMANDS.contains(&subcommand) {
        return Err(format!("this test does not know cargo {subcommand}"));
    }
    let words: Vec<_> = words.take_while(|word| *word != "--").collect();
    let value = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    let package = match value("-p") {
        None => project().to_path_buf(),
        Some(name) => project().join("crates").join(name.trim_start_matches("crownhead-")),
    };
    if !package.join("Cargo.toml").is_file() {
        return Err(format!("{} is not a package", package.display()));
    }
    if is_run && value("--example").is_none() {
        return Err("write `cargo run --release -- …`, or `--example NAME`".into());
    }
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    for (kind, directory) in [("bench", "benches"), ("test", "tests"), ("example", "examples")] {
        let Some(name) = value(&format!("--{kind}")) else { continue };
        let file = package.join(directory).join(name);
        let is_found = !manifest.contains(&format!("auto{directory} = false"))
            && (file.with_extension("rs").is_file() || file.join("main.rs").is_file());
        if !is_found && !manifest.contains(&format!("[[{kind}]]\nname = \"{name}\"\n")) {
            return Err(format!("{} has no {kind} {name}", package.display()));
        }
    }
    Ok(())
}

/// Returns the targets of the links and images outside code blocks.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|prose| {
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let images = prose.split("src=\"").skip(1).filter_map(|rest| rest.split_once('"'));
        links.chain(images).map(|(target, _)| target)
    });
    targets.filter(|target| !target.contains("://")).collect()
}

fn check_link(page: &Path, link: &str) -> Result<(), String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_path_buf(),
        _ => page.parent().unwrap().join(path),
    };
    if !target.exists() {
        return Err("no such file".into());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let text = fs::read_to_string(&target).map_err(|error| error.to_string())?;
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    match headings.any(|heading| heading_anchor(heading) == anchor) {
        true => Ok(()),
        false => Err("no such heading".into()),
    }
}

/// Returns the anchor that GitHub gives a heading.
fn heading_anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let allowed = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    allowed.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Whether the printed lines match the expected ones.
fn lines_match(expected: &[String], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == WILDCARD => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        Some((first, rest)) => {
            let next = printed.split_first().filter(|(line, _)| line_matches(first, line));
            next.is_some_and(|(_, printed)| lines_match(rest, printed))
        }
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    match expected.split_once(WILDCARD) {
        None => expected == printed,
        Some((start, rest)) => printed.strip_prefix(start).is_some_and(|printed| {
            let mut tails = printed.char_indices().map(|(at, _)| &printed[at..]).chain([""]);
            tails.any(|tail| line_matches(rest, tail))
        }),
    }
}

#[test]
fn only_console_blocks_contain_commands() {
    let text = "\
$ prose
```
$ plain block
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
$ shell block
```
  ```console no_run
  $ crownhead bench
  ```
";
    let example = |line, command: &str, output: &[&str], no_run| Example {
        line,
        command: command.into(),
        output: output.iter().map(|line| line.to_string()).collect(),
        no_run,
    };
    assert_eq!(
        examples(text),
        [
            example(6, "crownhead games", &["english", "…"], false),
            example(10, "crownhead moves english", &[], false),
            example(12, "./test", &[], false),
            example(18, "crownhead bench", &[], true),
        ]
    );
}

#[test]
fn unknown_commands_options_and_targets_are_errors() {
    let scratch = tempfile::tempdir().unwrap();
    let result = |command: &str| {
        let command = command.into();
        check(&Example { line: 1, command, output: Vec::new(), no_run: true }, scratch.path())
    };
    for command in [
        "crownhead perft english --depth 13 | tail -1",
        "crownhead match level:5 \"level:4\" --game english -n 200",
        "cargo run --release -- perft english --depth 13",
        "PROPTEST_CASES=9 cargo test --release -p crownhead-rules --test rules properties",
        "cargo bench -p crownhead-rules --bench moves",
        "./test rust",
        "git log",
    ] {
        assert_eq!(result(command), Ok(()), "{command}");
    }
    for command in [
        "crownhead-bot",
        "crownhead chess",
        "crownhead perft english --deep 13",
        "crownhead perft english --depth high",
        "cargo bench -p crownhead-rules --bench no-such-bench",
        "cargo test -p crownhead-rules --test properties",
        "cargo bench -p crownhead-chess",
        "cargo frobnicate",
        "cargo run",
        "./no-such-script",
        "rm -r target",
    ] {
        assert!(result(command).is_err(), "{command}");
    }
}

#[test]
fn wildcard_matches_any_lines_and_any_text() {
    let matches = |expected: &str, printed: &str| {
        let expected: Vec<_> = expected.lines().map(String::from).collect();
        lines_match(&expected, &printed.lines().collect::<Vec<_>>())
    };
    assert!(matches("1 7\n…", "1 7\n2 49\n3 302"));
    assert!(matches("1 7\n…", "1 7"));
    assert!(matches("…\n3 302", "1 7\n2 49\n3 302"));
    assert!(matches(
        "{\"position\":…,\"side\":\"b\"…}",
        "{\"position\":\"x\",\"side\":\"b\",\"a\":1}"
    ));
    assert!(!matches("1 7", "1 7\n2 49"));
    assert!(!matches("1 7\n2 49", "1 7"));
    assert!(!matches("…\n2 49", "1 7\n2 49\n3 302"));
    assert!(!matches("a…c", "ab"));
}

#[test]
fn links_and_heading_anchors_are_those_of_github() {
    let text = "[a](docs/a.md) [b](https://example.org) ![c](c.png)\n```\n[d](d.md)\n```\n[e](#e)";
    assert_eq!(links(text), ["docs/a.md", "c.png", "#e"]);
    assert_eq!(heading_anchor("## A new game: `POST /api/games`"), "a-new-game-post-apigames");
    assert_eq!(heading_anchor("# What always holds"), "what-always-holds");
}
