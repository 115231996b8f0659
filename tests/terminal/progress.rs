//! Live displays of running commands.

use std::fs;

use crate::tty::Tty;

#[test]
fn display_taller_than_the_terminal_is_redrawn_in_place() {
    let data = tempfile::tempdir().unwrap();
    let long = ["analyse", "--game", "capture-halma", "--lines", "31", "--time", "3600s"];
    let mut tty = Tty::start(data.path(), (80, 24), &long);
    let is_redrawn = |text: &str| {
        let is_first = text.starts_with("depth 1 ");
        text.starts_with("depth ") && !is_first && text.contains("\n22  ")
    };
    let text = tty.wait_until("a second drawing", is_redrawn);
    assert_eq!(text.matches("depth ").count(), 1, "{text}");
    tty.signal("INT");
    // The lines found so far are printed.
    tty.wait_for("\n31  ");
    assert_eq!(tty.wait_exit(), 130);
}

#[test]
fn tournament_is_shown_while_it_runs_and_can_be_watched_from_another_terminal() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("class.toml");
    let players = "[\"random\", \"alphabeta:2\", \"best:movetime=20ms\"]";
    let text = format!("game = \"english\"\nplayers = {players}\ngames = 2000\nconcurrency = 2\n");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let mut run = Tty::start(data.path(), (80, 24), &["tournament", "run", file]);
    run.wait_until("a result", |text| text.contains("Latest results") && text.contains(" - "));
    let mut watch = Tty::start(data.path(), (132, 50), &["tournament", "watch", file]);
    watch.wait_for("running: ");
    watch.send("p");
    watch.wait_for("all games of ");
    watch.send("q");
    assert_eq!(watch.wait_exit(), 0);
    run.send("\x03");
    run.send("\x03");
    // The standings so far, on the normal screen.
    run.wait_for("interrupted; ");
    assert_eq!(run.wait_exit(), 130);
}

#[test]
fn tournament_continues_with_a_progress_bar_after_q_and_as_lines_on_a_dumb_terminal() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("class.toml");
    fs::write(&file, "game = \"english\"\nplayers = [\"random\", \"alphabeta:2\"]\ngames = 500\n")
        .unwrap();
    let arguments = ["tournament", "run", file.to_str().unwrap()];
    let mut run = Tty::start(data.path(), (80, 24), &arguments);
    run.wait_for("Latest results");
    run.send("q");
    run.wait_for("class: english, round-robin, 500 games");
    assert_eq!(run.wait_exit(), 0);
    fs::remove_file(data.path().join("class.journal")).unwrap();
    let mut run = Tty::start_with(data.path(), (80, 24), &arguments, &[("TERM", "dumb")]);
    run.wait_for("/500  game ");
    run.wait_for("class: english, round-robin, 500 games");
    assert_eq!(run.wait_exit(), 0);
}
