//! Measures the time to the first screen and the frame rate. The figures depend on the machine, so
//! they are printed and not checked:
//! `cargo test --release --test terminal frame_rate -- --ignored --nocapture --test-threads 1`

use std::time::{Duration, Instant};

use crate::tty::Tty;

const MEASURED_TIME: Duration = Duration::from_secs(5);

#[test]
#[ignore = "measurement"]
fn time_to_first_screen() {
    let data = tempfile::tempdir().unwrap();
    let mut times = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        let mut tty = Tty::start(data.path(), (80, 24), &["play", "english"]);
        tty.wait_for("q quit");
        times.push(start.elapsed());
        tty.send("qy");
        tty.wait_exit();
    }
    times.sort();
    println!("first screen: median {:.1?}, slowest {:.1?}", times[10], times[20]);
}

#[test]
#[ignore = "measurement"]
fn frame_rate_while_the_computer_thinks() {
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        let data = tempfile::tempdir().unwrap();
        let play = ["play", game, "--first", "best:threads=2,book=off", "--second", "human"];
        let arguments = [&play[..], &["--movetime", "20s"]].concat();
        let mut tty = Tty::start(data.path(), (80, 24), &arguments);
        tty.wait_for("thinking:");
        let (start, before) = (Instant::now(), tty.frames());
        tty.wait_until("the end of the time", |_| start.elapsed() > MEASURED_TIME);
        // Every frame sends at least one escape sequence, even if nothing has changed.
        let rate = (tty.frames() - before) as f64 / start.elapsed().as_secs_f64();
        println!("{game}: {rate:.0} frames per second");
        tty.send("qy");
        tty.wait_exit();
    }
}
