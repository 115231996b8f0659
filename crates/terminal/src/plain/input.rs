//! Lines of input, read on a thread of their own: a signal or a clock that runs out need not wait
//! until somebody types something.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Longer lines are no moves; what is beyond is thrown away as it comes.
const MAX_LINE_BYTES: u64 = 4096;
const TOO_LONG: &str = "a line of more than 4096 bytes is no move";
const NOT_UTF8: &str = "a line that is no UTF-8 text is no move";
/// How often whoever waits for a line looks round.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// What came in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputLine {
    /// A line, without the blanks around it.
    Text(String),
    /// A line that is too long, or no text at all; why it is no move.
    Invalid(&'static str),
    /// There is nothing more.
    End,
    /// No line has come, but something else has happened.
    Interrupted,
}

/// Lines of input.
pub struct InputLines {
    lines: Receiver<io::Result<InputLine>>,
}

impl InputLines {
    /// Reads lines one at a time, as they are asked for: at most one is waiting.
    pub fn new(input: impl BufRead + Send + 'static) -> io::Result<InputLines> {
        let (say, heard) = sync_channel(0);
        // Nobody waits for this thread: it may be reading from a terminal where nobody types.
        std::thread::Builder::new().name("input".into()).spawn(move || read_loop(input, &say))?;
        Ok(InputLines { lines: heard })
    }

    /// The next line, unless `interrupted` becomes true before it comes.
    pub fn next(&self, mut interrupted: impl FnMut() -> bool) -> io::Result<InputLine> {
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Ok(InputLine::End),
                Err(RecvTimeoutError::Timeout) if interrupted() => {
                    return Ok(InputLine::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn read_loop(mut input: impl BufRead, say: &SyncSender<io::Result<InputLine>>) {
    loop {
        let line = read(&mut input);
        let last = !matches!(line, Ok(InputLine::Text(_) | InputLine::Invalid(_)));
        if say.send(line).is_err() || last {
            return;
        }
    }
}

/// The next line, however long or broken it is; never `Line::Interrupted`.
pub fn read(input: &mut impl BufRead) -> io::Result<InputLine> {
    let mut bytes = Vec::new();
    let read = Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(InputLine::End);
    }
    if !bytes.ends_with(b"\n") && read as u64 == MAX_LINE_BYTES {
        input.skip_until(b'\n')?;
        return Ok(InputLine::Invalid(TOO_LONG));
    }
    let text = String::from_utf8(bytes);
    Ok(text.map_or(InputLine::Invalid(NOT_UTF8), |text| InputLine::Text(text.trim().into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: Vec<u8>) -> Vec<InputLine> {
        let lines = InputLines::new(io::Cursor::new(input)).unwrap();
        let mut all = Vec::new();
        while all.last() != Some(&InputLine::End) {
            all.push(lines.next(|| false).unwrap());
        }
        all
    }

    #[test]
    fn long_and_broken_lines_are_one_line_each() {
        let mut input = b"11-15 \r\n".to_vec();
        input.extend([b'9'; 1 << 20]);
        input.extend(b"\n\xff\xfe\nlast");
        let text = |text: &str| InputLine::Text(text.into());
        let [long, broken] = [TOO_LONG, NOT_UTF8].map(InputLine::Invalid);
        let expected = [text("11-15"), long, broken, text("last"), InputLine::End];
        assert_eq!(lines(input), expected);
    }

    #[test]
    fn waiting_for_a_line_that_never_comes_can_be_interrupted() {
        let (silent, open) = io::pipe().unwrap();
        let lines = InputLines::new(io::BufReader::new(silent)).unwrap();
        let mut looks = 0;
        let line = lines.next(|| {
            looks += 1;
            looks == 3
        });
        assert_eq!(line.unwrap(), InputLine::Interrupted);
        drop(open);
        assert_eq!(lines.next(|| false).unwrap(), InputLine::End);
    }
}
