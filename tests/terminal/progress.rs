//! Live displays of running commands.

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
