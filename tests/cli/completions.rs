//! `crownhead completions` and `crownhead man`.

use std::fs;

use crate::harness::{crownhead, crownhead_in, finish};

const COMMANDS: [&str; 9] =
    ["play", "learn", "view", "games", "moves", "perft", "pdn", "completions", "man"];

#[test]
fn scripts_of_all_shells_know_all_commands() {
    for (shell, expected) in [
        ("bash", "complete -F _crownhead"),
        ("zsh", "#compdef crownhead"),
        ("fish", "complete -c crownhead"),
        ("elvish", "edit:completion:arg-completer[crownhead]"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName 'crownhead'"),
    ] {
        let finished = crownhead(&["completions", shell]);
        let script = finished.printed();
        assert!(script.contains(expected), "{shell}: {script}");
        for word in COMMANDS.into_iter().chain(["check", "convert", "no-bulk"]) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn unknown_shell_is_refused_with_the_list_of_shells() {
    let finished = crownhead(&["completions", "tcsh"]);
    let message = finished.refused(2);
    assert!(message.contains("bash, elvish, fish, powershell, zsh"), "{message}");
}

#[cfg(unix)]
#[test]
fn bash_completes_a_command_and_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let script = crownhead(&["completions", "bash"]).stdout;
    std::fs::write(folder.path().join("crownhead.bash"), script).unwrap();
    let completions = r#"
        source crownhead.bash
        complete_line() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _crownhead crownhead "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            echo "${COMPREPLY[@]}"
        }
        complete_line crownhead pe
        complete_line crownhead pdn con
        complete_line crownhead perft --di
    "#;
    let mut bash = std::process::Command::new("bash");
    let finished = finish(bash.current_dir(folder.path()).args(["--norc", "-c", completions]));
    assert_eq!(finished.printed(), "perft\nconvert\n--divide\n");
}

#[test]
fn manual_page_lists_commands_and_exit_codes() {
    let finished = crownhead(&["man"]);
    let page = finished.printed();
    assert!(page.contains(".TH crownhead 1"), "{page}");
    for command in COMMANDS {
        assert!(page.contains(&format!("crownhead\\-{command}(1)")), "{command}");
    }
    assert!(page.contains("Exit codes: 0 success, 1 failure, 2 usage, 3 invalid input"));
}

#[test]
fn manual_pages_are_written_to_a_new_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = || crownhead_in(folder.path(), &["man", "--dir", "share/man/man1"]);
    assert_eq!(run().printed(), "");
    let pages = folder.path().join("share/man/man1");
    let mut names: Vec<_> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.contains(&"crownhead.1".to_string()));
    for command in COMMANDS.into_iter().chain(["pdn-check", "pdn-convert"]) {
        let name = format!("crownhead-{command}.1");
        let page = fs::read_to_string(pages.join(&name)).expect("each command has a page");
        assert!(page.contains(&format!(".TH crownhead-{command} 1")), "{name}:\n{page}");
    }
    assert_eq!(fs::read_to_string(pages.join("crownhead.1")).unwrap(), crownhead(&["man"]).stdout);
    // Existing pages are replaced.
    assert_eq!(run().printed(), "");
}

#[test]
fn unwritable_manual_pages_are_reported_with_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "a file").unwrap();
    let finished = crownhead_in(folder.path(), &["man", "--dir", "file"]);
    let message = finished.refused(1);
    assert!(message.contains("cannot write manual pages to file"), "{message}");
}
