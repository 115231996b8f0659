//! What a command draws over itself while it works.

use crate::tty::Tty;

#[test]
fn more_lines_than_the_terminal_has_rows_are_drawn_in_place() {
    let data = tempfile::tempdir().unwrap();
    let long = ["analyse", "--game", "capture-halma", "--lines", "31", "--time", "3600s"];
    let mut tty = Tty::start(data.path(), (80, 24), &long);
    let later = |shown: &str| {
        let is_first = shown.starts_with("depth 1 ");
        shown.starts_with("depth ") && !is_first && shown.contains("\n22  ")
    };
    let shown = tty.wait_until("a second drawing in the place of the first", later);
    assert_eq!(shown.matches("depth ").count(), 1, "{shown}");
    tty.signal("INT");
    // The lines found so far.
    tty.wait_until("the last of them", |shown| shown.contains("\n31  "));
    assert_eq!(tty.end(), 130);
}
