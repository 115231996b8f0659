//! The terminal is restored after a panic, and the panic message can be read.

use std::io::{Read, Write};

use crownhead_play::StopFlag;
use crownhead_terminal::screen::{Screen, run};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseEvent};
use ratatui::layout::Rect;

/// Panics on a key press; `t` panics on another thread, `q` quits.
#[derive(Default)]
struct PanickingScreen {
    text: &'static str,
    quit: bool,
}

impl Screen for PanickingScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        let text = format!("ready {}", self.text);
        frame.buffer_mut().set_string(0, 0, text, ratatui::style::Style::default());
    }

    fn key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('t') => {
                let thread = std::thread::spawn(|| panic!("panic on a thread"));
                assert!(thread.join().is_err());
                self.text = "after the thread";
            }
            KeyCode::Char('q') => self.quit = true,
            _ => panic!("panic on the screen"),
        }
    }

    fn mouse(&mut self, _: MouseEvent, _: Rect) {}

    fn tick(&mut self) {}

    fn quit(&mut self) {}

    fn has_quit(&self) -> bool {
        self.quit
    }
}

#[test]
#[ignore = "panics; the tests below run it in a terminal"]
fn panicking_screen() {
    run(&mut PanickingScreen::default(), &StopFlag::new()).unwrap();
}

/// Runs the panicking screen in a terminal. Each step presses a key and waits for a text. Returns
/// whether the program succeeded, and the text on the terminal at the end.
fn run_in_terminal(steps: &[(&str, &str)], last: &str) -> (bool, String) {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let before = format!("{:?}", pair.master.get_termios());
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::panicking_screen", "--ignored", "--nocapture"]);
    command.env("TERM", "xterm-256color");
    command.env("RUST_BACKTRACE", "0");
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut keyboard = pair.master.take_writer().unwrap();
    let mut screen = vt100::Parser::new(24, 80, 0);
    let mut bytes = [0; 4096];
    for (key, expected) in steps {
        keyboard.write_all(key.as_bytes()).unwrap();
        while !screen.screen().contents().contains(expected) {
            let read = reader.read(&mut bytes).unwrap();
            screen.process(&bytes[..read]);
        }
        assert!(screen.screen().alternate_screen());
        assert!(!screen.screen().contents().contains("panic"));
    }
    keyboard.write_all(last.as_bytes()).unwrap();
    // The output at the end fits into the buffer of the terminal.
    let succeeded = child.wait().unwrap().success();
    assert_eq!(format!("{:?}", pair.master.get_termios()), before);
    drop(pair.slave);
    while let Ok(read @ 1..) = reader.read(&mut bytes) {
        screen.process(&bytes[..read]);
    }
    let last_screen = screen.screen();
    assert!(!last_screen.alternate_screen() && !last_screen.hide_cursor());
    assert_eq!(last_screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    (succeeded, last_screen.contents())
}

#[test]
fn panic_restores_the_terminal() {
    let (succeeded, text) = run_in_terminal(&[("", "ready")], "x");
    assert!(!succeeded && text.contains("panic on the screen"), "{text}");
}

#[test]
fn panic_of_another_thread_is_printed_when_the_screen_closes() {
    let (succeeded, text) = run_in_terminal(&[("", "ready"), ("t", "after the thread")], "q");
    assert!(succeeded && text.contains("panic on a thread"), "{text}");
}
