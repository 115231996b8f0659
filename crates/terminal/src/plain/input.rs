//! Input lines, read on a thread of their own, so that signals and clocks do not wait for input.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Maximum length of a line; longer lines are discarded while they are read.
const MAX_LINE_BYTES: u64 = 4096;
const TOO_LONG: &str = "invalid input: the line is longer than 4096 bytes";
const NOT_UTF8: &str = "invalid input: the line is not UTF-8";
/// How often [`InputLines::next`] checks for an interruption.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// One line, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputLine {
    /// A line, trimmed.
    Text(String),
    /// A line that is too long or not UTF-8, with the reason.
    Invalid(&'static str),
    /// End of the input.
    End,
    /// Waiting was interrupted.
    Interrupted,
}

/// A queue of input lines.
pub struct InputLines {
    lines: Receiver<io::Result<InputLine>>,
}

impl InputLines {
    /// Starts to read. At most one line is read ahead.
    pub fn new(input: impl BufRead + Send + 'static) -> io::Result<InputLines> {
        let (sender, lines) = sync_channel(0);
        // Never joined: it may block until somebody types.
        std::thread::Builder::new()
            .name("input".into())
            .spawn(move || read_loop(input, &sender))?;
        Ok(InputLines { lines })
    }

    /// Waits for the next line, or until `is_interrupted` returns true.
    pub fn next(&self, mut is_interrupted: impl FnMut() -> bool) -> io::Result<InputLine> {
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Ok(InputLine::End),
                Err(RecvTimeoutError::Timeout) if is_interrupted() => {
                    return Ok(InputLine::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn read_loop(mut input: impl BufRead, sender: &SyncSender<io::Result<InputLine>>) {
    loop {
        let line = read_line(&mut input);
        let is_last = !matches!(line, Ok(InputLine::Text(_) | InputLine::Invalid(_)));
        if sender.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Reads the next line, of any length and encoding; never [`InputLine::Interrupted`].
pub fn read_line(input: &mut impl BufRead) -> io::Result<InputLine> {
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
    fn long_and_invalid_lines_count_as_one_line_each() {
        let mut input = b"11-15 \r\n".to_vec();
        input.extend(vec![b'9'; 1 << 20]);
        input.extend(b"\n\xff\xfe\nlast");
        let text = |text: &str| InputLine::Text(text.into());
        let [long, invalid] = [TOO_LONG, NOT_UTF8].map(InputLine::Invalid);
        let expected = [text("11-15"), long, invalid, text("last"), InputLine::End];
        assert_eq!(lines(input), expected);
    }

    #[test]
    fn waiting_for_input_can_be_interrupted() {
        let (reader, writer) = io::pipe().unwrap();
        let lines = InputLines::new(io::BufReader::new(reader)).unwrap();
        let mut checks = 0;
        let line = lines.next(|| {
            checks += 1;
            checks == 3
        });
        assert_eq!(line.unwrap(), InputLine::Interrupted);
        drop(writer);
        assert_eq!(lines.next(|| false).unwrap(), InputLine::End);
    }
}
