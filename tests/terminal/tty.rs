//! A pseudo-terminal with the program in it.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

/// Maximum time to wait for anything.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Output of the program so far.
struct Received {
    screen: vt100::Parser,
    /// Number of chunks received.
    frames: u64,
    is_closed: bool,
}

/// A pseudo-terminal with a running program.
pub(crate) struct Tty {
    received: Arc<(Mutex<Received>, Condvar)>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open so that the terminal can be inspected after the program has exited.
    _slave: Box<dyn SlavePty + Send>,
    termios_before: String,
}

impl Tty {
    /// Starts the program with a data folder.
    pub(crate) fn start(data: &Path, (columns, rows): (u16, u16), arguments: &[&str]) -> Tty {
        Tty::start_with(data, (columns, rows), arguments, &[])
    }

    /// Starts the program with environment variables.
    pub(crate) fn start_with(
        data: &Path,
        (columns, rows): (u16, u16),
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Tty {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_crownhead"));
        command.args(arguments);
        Tty::run(command, data, (columns, rows), variables)
    }

    /// Runs any command.
    pub(crate) fn run(
        mut command: CommandBuilder,
        data: &Path,
        (columns, rows): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Tty {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.env("TERM", "xterm-256color");
        command.env("XDG_DATA_HOME", data);
        command.env_remove("CROWNHEAD_DATA");
        command.env_remove("NO_COLOR");
        for (name, value) in variables {
            command.env(name, value);
        }
        let termios_before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(rows, columns, 0);
        let received = Received { screen, frames: 0, is_closed: false };
        let received = Arc::new((Mutex::new(received), Condvar::new()));
        let shared = received.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            loop {
                let read = reader.read(&mut bytes).unwrap_or(0);
                let (received, changed) = &*shared;
                let mut received = received.lock().unwrap();
                received.screen.process(&bytes[..read]);
                received.frames += 1;
                received.is_closed = read == 0;
                changed.notify_all();
                if received.is_closed {
                    return;
                }
            }
        });
        Tty { received, keyboard, child, master: pair.master, _slave: pair.slave, termios_before }
    }

    /// Inspects the screen.
    pub(crate) fn inspect<T>(&self, inspect: impl FnOnce(&vt100::Screen) -> T) -> T {
        inspect(self.received.0.lock().unwrap().screen.screen())
    }

    /// Returns the number of chunks received.
    pub(crate) fn frames(&self) -> u64 {
        self.received.0.lock().unwrap().frames
    }

    /// Waits until the text on the screen meets a condition, and returns it.
    #[track_caller]
    pub(crate) fn wait_until(&self, expected: &str, condition: impl Fn(&str) -> bool) -> String {
        let (received, changed) = &*self.received;
        let start = Instant::now();
        let mut received = received.lock().unwrap();
        loop {
            let text = received.screen.screen().contents();
            if condition(&text) {
                return text;
            }
            let has_failed = start.elapsed() > TIMEOUT || received.is_closed;
            assert!(!has_failed, "expected {expected} in\n{text}");
            received = changed.wait_timeout(received, Duration::from_secs(1)).unwrap().0;
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, expected: &str) -> String {
        self.wait_until(expected, |text| text.contains(expected))
    }

    /// Sends the bytes of keys.
    pub(crate) fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Clicks a cell of the screen, counted from 0.
    pub(crate) fn click(&mut self, x: u16, y: u16) {
        let (x, y) = (x + 1, y + 1);
        self.send(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, (columns, rows): (u16, u16)) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.received.0.lock().unwrap().screen.screen_mut().set_size(rows, columns);
        self.master.resize(size).unwrap();
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let status = std::process::Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.unwrap().success());
    }

    /// Waits for the program to exit, and returns its exit code. Checks that the terminal settings
    /// are restored.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> u32 {
        let code = self.child.wait().unwrap().exit_code();
        let after = format!("{:?}", self.master.get_termios());
        assert_eq!(after, self.termios_before, "terminal settings");
        code
    }

    /// Waits until alternate screen, mouse reporting and hidden cursor are off.
    #[track_caller]
    pub(crate) fn wait_restored(&self) {
        let (received, changed) = &*self.received;
        let start = Instant::now();
        let mut received = received.lock().unwrap();
        loop {
            let screen = received.screen.screen();
            let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
            if !screen.alternate_screen() && !mouse && !screen.hide_cursor() {
                return;
            }
            assert!(start.elapsed() < TIMEOUT, "the terminal is not restored");
            received = changed.wait_timeout(received, Duration::from_secs(1)).unwrap().0;
        }
    }
}
