//! A screen that breaks leaves the terminal as it was, and its message where it can be read.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail, and one has to

use std::io::{Read, Write};

use crownhead_play::StopFlag;
use crownhead_terminal::screen::{Screen, run};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseEvent};
use ratatui::layout::Rect;

/// Breaks when a key is pressed; another key only breaks a thread, which it waits for.
#[derive(Default)]
struct Fragile {
    text: &'static str,
    left: bool,
}

impl Screen for Fragile {
    fn draw(&self, frame: &mut Frame<'_>) {
        let text = format!("fragile {}", self.text);
        frame.buffer_mut().set_string(0, 0, text, ratatui::style::Style::default());
    }

    fn key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('t') => {
                let thread = std::thread::spawn(|| panic!("the thread broke"));
                assert!(thread.join().is_err());
                self.text = "but whole";
            }
            KeyCode::Char('q') => self.left = true,
            _ => panic!("the screen broke"),
        }
    }

    fn mouse(&mut self, _: MouseEvent, _: Rect) {}

    fn tick(&mut self) {}

    fn quit(&mut self) {}

    fn has_quit(&self) -> bool {
        self.left
    }
}

#[test]
#[ignore = "breaks; the test below runs it in a terminal of its own"]
fn a_screen_that_breaks() {
    run(&mut Fragile::default(), &StopFlag::new()).unwrap();
}

/// Runs the fragile screen in a terminal: presses a key, waits for a text, and so on; whether it ended
/// well, and what is on the terminal then.
fn shown_after(steps: &[(&str, &str)], last: &str) -> (bool, String) {
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
    for (key, wanted) in steps {
        keyboard.write_all(key.as_bytes()).unwrap();
        while !screen.screen().contents().contains(wanted) {
            let read = reader.read(&mut bytes).unwrap();
            screen.process(&bytes[..read]);
        }
        assert!(screen.screen().alternate_screen());
        assert!(!screen.screen().contents().contains("broke"));
    }
    keyboard.write_all(last.as_bytes()).unwrap();
    // What is printed at the end fits into the terminal's own memory.
    let well = child.wait().unwrap().success();
    assert_eq!(format!("{:?}", pair.master.get_termios()), before);
    drop(pair.slave);
    while let Ok(read @ 1..) = reader.read(&mut bytes) {
        screen.process(&bytes[..read]);
    }
    let shown = screen.screen();
    assert!(!shown.alternate_screen() && !shown.hide_cursor());
    assert_eq!(shown.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    (well, shown.contents())
}

#[test]
fn a_crash_restores_the_terminal() {
    let (well, shown) = shown_after(&[("", "fragile")], "x");
    assert!(!well && shown.contains("the screen broke"), "{shown}");
}

#[test]
fn a_thread_that_breaks_leaves_the_screen_alone_and_is_heard_of_afterwards() {
    let (well, shown) = shown_after(&[("", "fragile"), ("t", "but whole")], "q");
    assert!(well && shown.contains("the thread broke"), "{shown}");
}
