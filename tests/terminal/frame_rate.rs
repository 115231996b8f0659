//! How fast the first screen comes and how many follow. Figures depend on the machine, so they are
//! printed, not demanded:
//! `cargo test --release --test terminal speed -- --ignored --nocapture --test-threads 1`

use std::time::{Duration, Instant};

use crate::tty::Tty;

const WATCHED: Duration = Duration::from_secs(5);

#[test]
#[ignore = "measures"]
fn speed_of_the_first_screen() {
    let data = tempfile::tempdir().unwrap();
    let mut times = Vec::new();
    for _ in 0..21 {
        let begun = Instant::now();
        let mut tty = Tty::start(data.path(), (80, 24), &["play", "english"]);
        tty.wait_for("q quit");
        times.push(begun.elapsed());
        tty.send("qy");
        tty.end();
    }
    times.sort();
    println!("first screen: median {:.1?}, slowest {:.1?}", times[10], times[20]);
}

#[test]
#[ignore = "measures"]
fn speed_of_the_pictures_while_the_computer_thinks() {
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        let data = tempfile::tempdir().unwrap();
        let play = ["play", game, "--first", "best:threads=2", "--second", "human"];
        let arguments = [&play[..], &["--movetime", "20s"]].concat();
        let mut tty = Tty::start(data.path(), (80, 24), &arguments);
        tty.wait_for("thinking:");
        let (begun, before) = (Instant::now(), tty.pictures());
        tty.wait_until("the end of the time", |_| begun.elapsed() > WATCHED);
        // Every picture ends with a word to the terminal, even if nothing has changed.
        let pictures = (tty.pictures() - before) as f64 / begun.elapsed().as_secs_f64();
        println!("{game}: {pictures:.0} pictures a second");
        tty.send("qy");
        tty.end();
    }
}
