//! A screen that breaks leaves the terminal as it was, and its message where it can be read.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail, and one has to

use std::io::{Read, Write};

use crownhead_play::Stop;
use crownhead_terminal::screen::{Screen, show};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseEvent};
use ratatui::layout::Rect;

/// Breaks when a key is pressed.
struct Fragile;

impl Screen for Fragile {
    fn draw(&self, frame: &mut Frame<'_>) {
        frame.buffer_mut().set_string(0, 0, "fragile", ratatui::style::Style::default());
    }

    fn key(&mut self, _: KeyCode) {
        panic!("the screen broke");
    }

    fn mouse(&mut self, _: MouseEvent, _: Rect) {}

    fn tick(&mut self) {}

    fn leave(&mut self) {}

    fn is_left(&self) -> bool {
        false
    }
}

#[test]
#[ignore = "breaks; the test below runs it in a terminal of its own"]
fn a_screen_that_breaks() {
    show(&mut Fragile, &Stop::new()).unwrap();
}

#[test]
fn a_crash_restores_the_terminal() {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let before = format!("{:?}", pair.master.get_termios());
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_screen_that_breaks", "--ignored", "--nocapture"]);
    command.env("TERM", "xterm-256color");
    command.env("RUST_BACKTRACE", "0");
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut keyboard = pair.master.take_writer().unwrap();
    let mut screen = vt100::Parser::new(24, 80, 0);
    let mut bytes = [0; 4096];
    while !screen.screen().contents().contains("fragile") {
        let read = reader.read(&mut bytes).unwrap();
        screen.process(&bytes[..read]);
    }
    assert!(screen.screen().alternate_screen());
    keyboard.write_all(b"x").unwrap();
    // What is printed at the end fits into the terminal's own memory.
    assert!(!child.wait().unwrap().success());
    assert_eq!(format!("{:?}", pair.master.get_termios()), before);
    drop(pair.slave);
    while let Ok(read @ 1..) = reader.read(&mut bytes) {
        screen.process(&bytes[..read]);
    }
    let shown = screen.screen();
    assert!(!shown.alternate_screen() && !shown.hide_cursor());
    assert_eq!(shown.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert!(shown.contents().contains("the screen broke"), "{}", shown.contents());
}
