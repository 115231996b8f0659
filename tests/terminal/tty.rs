//! The program in a real pseudo-terminal, and what a person would see there.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

/// Nothing takes so long unless it never comes.
const DEADLINE: Duration = Duration::from_secs(120);

/// What has come from the program.
struct Heard {
    screen: vt100::Parser,
    /// Chunks that changed the screen.
    pictures: u64,
    ended: bool,
}

/// A terminal with the program in it.
pub(crate) struct Tty {
    heard: Arc<(Mutex<Heard>, Condvar)>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open, so that the terminal can be looked at when the program has ended.
    _slave: Box<dyn SlavePty + Send>,
    before: String,
}

impl Tty {
    /// Starts the program, with a folder for its data.
    pub(crate) fn start(data: &Path, (columns, rows): (u16, u16), arguments: &[&str]) -> Tty {
        Tty::start_with(data, (columns, rows), arguments, &[])
    }

    /// Starts the program with something in its environment.
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
        let before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(rows, columns, 0);
        let heard =
            Arc::new((Mutex::new(Heard { screen, pictures: 0, ended: false }), Condvar::new()));
        let told = heard.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            loop {
                let read = reader.read(&mut bytes).unwrap_or(0);
                let (heard, news) = &*told;
                let mut heard = heard.lock().unwrap();
                heard.screen.process(&bytes[..read]);
                heard.pictures += 1;
                heard.ended = read == 0;
                news.notify_all();
                if heard.ended {
                    return;
                }
            }
        });
        Tty { heard, keyboard, child, master: pair.master, _slave: pair.slave, before }
    }

    /// Something about the terminal itself.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.heard.0.lock().unwrap().screen.screen())
    }

    /// How often something new has come.
    pub(crate) fn pictures(&self) -> u64 {
        self.heard.0.lock().unwrap().pictures
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let (heard, news) = &*self.heard;
        let begun = Instant::now();
        let mut heard = heard.lock().unwrap();
        loop {
            let shown = heard.screen.screen().contents();
            if fits(&shown) {
                return shown;
            }
            let late = begun.elapsed() > DEADLINE || heard.ended;
            assert!(!late, "waited in vain for {what} in\n{shown}");
            heard = news.wait_timeout(heard, Duration::from_secs(1)).unwrap().0;
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, wanted: &str) -> String {
        self.wait_until(wanted, |shown| shown.contains(wanted))
    }

    /// Presses keys, as the bytes they send.
    pub(crate) fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Clicks at a place of the screen, counted from 0.
    pub(crate) fn click(&mut self, x: u16, y: u16) {
        let (x, y) = (x + 1, y + 1);
        self.send(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
    }

    /// Makes the terminal larger or smaller.
    pub(crate) fn resize(&self, (columns, rows): (u16, u16)) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.heard.0.lock().unwrap().screen.screen_mut().set_size(rows, columns);
        self.master.resize(size).unwrap();
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let status = std::process::Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.unwrap().success());
    }

    /// Waits for the end of the program: its exit code. The terminal must be as it was.
    #[track_caller]
    pub(crate) fn end(&mut self) -> u32 {
        let code = self.child.wait().unwrap().exit_code();
        let after = format!("{:?}", self.master.get_termios());
        assert_eq!(after, self.before, "echo, lines and signals are as they were");
        code
    }

    /// Waits until nothing of the whole screen is left: no other page, no mouse, no hidden cursor.
    #[track_caller]
    pub(crate) fn is_restored(&self) {
        let (heard, news) = &*self.heard;
        let begun = Instant::now();
        let mut heard = heard.lock().unwrap();
        loop {
            let screen = heard.screen.screen();
            let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
            if !screen.alternate_screen() && !mouse && !screen.hide_cursor() {
                return;
            }
            assert!(begun.elapsed() < DEADLINE, "the terminal is not restored");
            heard = news.wait_timeout(heard, Duration::from_secs(1)).unwrap().0;
        }
    }
}
