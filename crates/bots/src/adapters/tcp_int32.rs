//! Capture Halma over TCP, as clients of the original assignment speak it: native-endian 32-bit
//! integers, no text.
//!
//! The client connects and sends its team number. For each turn it receives `(1, id)`, 64 cells and
//! whether it is black, and answers `(n, id)` and n pairs of row and column, counted from 0.
//! `(0, id)` asks it to exit.
//!
//! Clients read each item (a number, a row or the whole board) with a single `recv` of its size and
//! treat a short read as a lost connection. Therefore a packet is sent with one `write`: on the
//! loopback it arrives as one segment, and any part of it can be read at once.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameStart, Session, StopFlag, format_duration,
};
use crownhead_sandbox::{Isolation, has_network};

use super::tcp_port::{PORT, Port};
use super::{forced_pass, log_turn};
use crate::process::{BotProcess, Interest, ReceiveError, is_transient};
use crate::protocol::v1::format_newgame;
use crate::protocol::{AskError, GOODBYE_TIMEOUT, ProtocolAdapter, ask_error};

/// Maximum number of cells in a path.
const MAX_PATH_CELLS: i32 = 100;
/// Maximum number of bytes from a client in one turn.
const MAX_BYTES_PER_TURN: usize = 1024 * 1024;
/// Maximum number of integers or cells quoted in a message.
const MAX_QUOTED_ITEMS: usize = 12;

/// The adapter for clients.
#[derive(Default)]
pub(crate) struct TcpInt32Adapter {
    /// The machine's port until the client has connected; `None` with a network namespace.
    port: Option<Port>,
    stream: Option<TcpStream>,
    /// Bytes that do not form a complete answer yet.
    received: Vec<u8>,
    /// Number of bytes received in this turn.
    received_bytes: usize,
    team: Option<String>,
    side: char,
    /// Id of the last packet.
    id: i32,
    /// Ids of the packets that were not answered yet.
    unanswered: Vec<i32>,
}

/// An answer of a client.
struct Answer {
    /// Id of the packet that it answers.
    id: i32,
    /// Rows and columns, counted from 0.
    path: Vec<[i32; 2]>,
}

impl Answer {
    fn format(&self) -> String {
        format!("({}, {}) {}", self.path.len(), self.id, format_path(&self.path))
    }
}

impl TcpInt32Adapter {
    /// Waits for data and appends it to `received`.
    fn receive(
        &mut self,
        bot: &mut BotProcess,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<(), ReceiveError> {
        let Some(stream) = &mut self.stream else { return Err(ReceiveError::Closed) };
        let waited = bot.wait_socket(stream, Interest::Readable, deadline, stop);
        // A client that exited may have sent something before.
        if !matches!(waited, Ok(()) | Err(ReceiveError::Closed)) {
            return waited;
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) => Err(ReceiveError::Closed),
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                self.received_bytes += count;
                match self.received_bytes > MAX_BYTES_PER_TURN {
                    true => Err(ReceiveError::TooMuchOutput),
                    false => Ok(()),
                }
            }
            Err(error) if is_transient(&error) => waited,
            Err(_) => Err(ReceiveError::Closed),
        }
    }

    fn send(
        &mut self,
        bot: &mut BotProcess,
        numbers: &[i32],
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<(), ReceiveError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut remaining = &bytes[..];
        while !remaining.is_empty() {
            let Some(stream) = &mut self.stream else { return Err(ReceiveError::Closed) };
            match stream.write(remaining) {
                Ok(count) => remaining = &remaining[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    bot.wait_socket(stream, Interest::Writable, deadline, stop)?;
                }
                Err(_) => return Err(ReceiveError::Closed),
            }
        }
        Ok(())
    }

    /// Removes an answer from `received`; `None` if there is no complete one.
    fn next_answer(&mut self, bot: &mut BotProcess) -> Option<Result<Answer, Fault>> {
        let numbers = integers(&self.received);
        let (&[count, id], _) = numbers.split_first_chunk()?;
        if !(0..=MAX_PATH_CELLS).contains(&count) {
            let message = format!(
                "the bot's answer starts with {count}, expected the number of cells in its path, \
                 0 to {MAX_PATH_CELLS}"
            );
            return Some(Err(self.discard_received(bot, message)));
        }
        let count = count as usize;
        let path = numbers.get(2..2 + 2 * count)?;
        let path = path.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        self.received.drain(..4 * (2 + 2 * count));
        let answer = Answer { id, path };
        if let Some(log) = &mut bot.log {
            log.received(answer.format().as_bytes());
        }
        Some(Ok(answer))
    }

    /// Discards all data, because it is unknown where the next answer starts, and returns a fault
    /// that quotes it.
    fn discard_received(&mut self, bot: &mut BotProcess, message: String) -> Fault {
        while self.receive(bot, Some(Instant::now()), &StopFlag::new()).is_ok() {}
        let received = Some(format_integers(&self.received));
        self.received.clear();
        Fault { received, ..Fault::new(FaultKind::ProtocolError, message) }
    }

    /// Removes a packet from the list of unanswered ones.
    fn acknowledge(&mut self, answer: &Answer) -> Result<(), Fault> {
        let id = answer.id;
        if let Some(index) = self.unanswered.iter().position(|unanswered| *unanswered == id) {
            self.unanswered.remove(index);
            return Ok(());
        }
        let message = match (1..=self.id).contains(&id) {
            true => format!("the bot answered packet {id} twice"),
            false => format!(
                "the bot answered packet {id}, but the last one it received is {}; the packet id \
                 is the second number of a packet",
                self.id
            ),
        };
        let received = Some(answer.format());
        Err(Fault { received, ..Fault::new(FaultKind::ProtocolError, message) })
    }

    /// Discards late answers to earlier turns. Any other data is a fault.
    fn discard_late_answers(&mut self, bot: &mut BotProcess) -> Result<(), AskError> {
        loop {
            match self.receive(bot, Some(Instant::now()), &StopFlag::new()) {
                Ok(()) => {}
                Err(error @ ReceiveError::TooMuchOutput) => {
                    return Err(self.ask_error(bot, error, Duration::ZERO));
                }
                Err(_) => break,
            }
        }
        while let Some(answer) = self.next_answer(bot) {
            self.acknowledge(&answer?)?;
        }
        if self.unanswered.is_empty() && !self.received.is_empty() {
            let message = "the bot sent data before it was asked".to_string();
            return Err(self.discard_received(bot, message).into());
        }
        Ok(())
    }

    /// Explains why nothing was received from a client that was asked `elapsed` ago.
    fn ask_error(&self, bot: &mut BotProcess, error: ReceiveError, elapsed: Duration) -> AskError {
        if error == ReceiveError::TooMuchOutput && self.received_bytes > MAX_BYTES_PER_TURN {
            let message = "the bot sent more than 1 MiB in one turn";
            return Fault::new(FaultKind::OutputFlood, message).into();
        }
        let mut fault = match ask_error(bot, error, elapsed) {
            AskError::Fault(fault) => fault,
            error => return error,
        };
        match fault.kind {
            // A client answers on its socket: an unfinished line of its output says nothing.
            FaultKind::Timeout => {
                let ms = elapsed.as_millis();
                fault.message = format!("the bot did not answer in time: {ms} ms elapsed");
                fault.received = None;
            }
            FaultKind::OutputClosed => {
                fault.message = "the bot closed its connection but is still running".into();
            }
            _ => {}
        }
        if !self.received.is_empty() {
            fault.message.push_str("; its answer is incomplete");
            fault.received = Some(format_integers(&self.received));
        }
        fault.into()
    }

    /// Waits for a connection and the team number.
    fn accept_client(
        &mut self,
        bot: &mut BotProcess,
        port: &Port,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<i32, AskError> {
        let start = Instant::now();
        let deadline = Some(start + timeout);
        let timeout_fault = |message: &str| {
            let message = format!("the bot {message} within {}", format_duration(timeout));
            AskError::Fault(Fault::new(FaultKind::Timeout, message))
        };
        loop {
            if let Some(&team) = integers(&self.received).first() {
                self.received.drain(..4);
                return Ok(team);
            }
            if self.stream.is_some() {
                match self.receive(bot, deadline, stop) {
                    Ok(()) => {}
                    // It only probed the port and will connect again.
                    Err(ReceiveError::Closed) if self.received.is_empty() && !bot.has_exited() => {
                        self.stream = None;
                    }
                    Err(ReceiveError::Timeout) => {
                        let message = "connected but did not send its team number (4 bytes)";
                        return Err(timeout_fault(message));
                    }
                    Err(error) => return Err(self.ask_error(bot, error, start.elapsed())),
                }
                continue;
            }
            let waited = bot.wait_socket(port.listener(), Interest::Readable, deadline, stop);
            self.stream = port.accept().unwrap_or_default();
            match waited {
                Err(ReceiveError::Timeout) if self.stream.is_none() => {
                    let message = format!("did not connect to port {PORT} of 127.0.0.1");
                    return Err(timeout_fault(&message));
                }
                Err(error) if self.stream.is_none() => {
                    return Err(self.ask_error(bot, error, start.elapsed()));
                }
                _ => {}
            }
        }
    }
}

impl ProtocolAdapter for TcpInt32Adapter {
    fn prepare(&mut self, isolation: Isolation, stop: &StopFlag) -> Result<(), AskError> {
        *self = TcpInt32Adapter::default();
        if !has_network(isolation) {
            self.port = Some(Port::listen(stop)?);
        }
        Ok(())
    }

    fn can_prestart(&self) -> bool {
        // The bot holds the port from its start until it has connected.
        false
    }

    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        let own_port = bot.listener.take().and_then(Port::in_own_network);
        // Dropped on return, so that the next bot can have the port.
        let Some(port) = own_port.or(self.port.take()) else { return Ok(()) };
        let team = format!("team {}", self.accept_client(bot, &port, timeout, stop)?);
        if let Some(log) = &mut bot.log {
            log.received(team.as_bytes());
        }
        self.team = Some(team);
        Ok(())
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        start: &GameStart<'_>,
        _: &StopFlag,
    ) -> Result<(), AskError> {
        self.side = start.letter();
        if let Some(log) = &mut bot.log {
            log.note(&format_newgame(start));
        }
        Ok(())
    }

    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<Choice, AskError> {
        if let Some(pass) = forced_pass(game) {
            return Ok(Choice::from_text(pass));
        }
        let start = Instant::now();
        bot.start_wait();
        self.discard_late_answers(bot)?;
        self.received_bytes = 0;
        log_turn(bot, self.side, game, clock);
        self.id = self.id.wrapping_add(1);
        let is_black = i32::from(self.side == 'b');
        let mut packet = vec![1, self.id];
        packet.extend(game.board().map(|letter| match letter {
            'b' => 1,
            'w' => 2,
            _ => 0,
        }));
        packet.push(is_black);
        if let Some(log) = &mut bot.log {
            log.sent(&format!("(1, {}) the board, is_black {is_black}", self.id));
        }
        if let Err(error) = self.send(bot, &packet, deadline, stop) {
            return Err(self.ask_error(bot, error, start.elapsed()));
        }
        self.unanswered.push(self.id);
        loop {
            while let Some(answer) = self.next_answer(bot) {
                let answer = answer?;
                self.acknowledge(&answer)?;
                if answer.id == self.id {
                    let text = move_text(&answer.path).map_err(AskError::Fault)?;
                    return Ok(Choice::from_text(text));
                }
            }
            if let Err(error) = self.receive(bot, deadline, stop) {
                return Err(self.ask_error(bot, error, start.elapsed()));
            }
        }
    }

    fn name(&self) -> Option<&str> {
        self.team.as_deref()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        let deadline = Instant::now() + GOODBYE_TIMEOUT;
        let _ = self.send(bot, &[0, self.id], Some(deadline), &StopFlag::new());
    }
}

/// Decodes the integers of at most one answer.
fn integers(bytes: &[u8]) -> Vec<i32> {
    let max_bytes = 4 * (2 + 2 * MAX_PATH_CELLS as usize);
    let (numbers, _) = bytes[..bytes.len().min(max_bytes)].as_chunks();
    numbers.iter().map(|number| i32::from_ne_bytes(*number)).collect()
}

/// Formats received data as integers, truncated.
fn format_integers(bytes: &[u8]) -> String {
    let integers = integers(bytes);
    let mut texts: Vec<_> = integers.iter().take(MAX_QUOTED_ITEMS).map(i32::to_string).collect();
    if bytes.len() / 4 > texts.len() {
        texts.push("…".into());
    }
    format!("integers {} ({} bytes)", texts.join(" "), bytes.len())
}

/// Formats a path as rows and columns from 0, truncated.
fn format_path(path: &[[i32; 2]]) -> String {
    let cells = path.iter().take(MAX_QUOTED_ITEMS).map(|[row, col]| format!("({row},{col})"));
    let dots = if path.len() > MAX_QUOTED_ITEMS { " …" } else { "" };
    cells.collect::<Vec<_>>().join(" ") + dots
}

/// Converts a path, counted from 0, to the text of a move, counted from 1.
fn move_text(path: &[[i32; 2]]) -> Result<String, Fault> {
    let is_on_board = |cell: &[i32; 2]| cell.iter().all(|number| (0..8).contains(number));
    let message = if path.len() < 2 {
        format!("a path has at least two cells, start and end, not {}", path.len())
    } else if let Some([row, column]) = path.iter().find(|cell| !is_on_board(cell)) {
        format!("row {row}, column {column} is not on the board: both count from 0 to 7")
    } else {
        let cells = path.iter().map(|[row, column]| format!("{}{}", row + 1, column + 1));
        return Ok(cells.collect::<Vec<_>>().join("-"));
    };
    let received = Some(format!("({}, …) {}", path.len(), format_path(path)));
    Err(Fault { received, ..Fault::new(FaultKind::IllegalMove, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_counts_from_0_and_its_text_from_1() {
        assert_eq!(move_text(&[[0, 0], [0, 2], [2, 2]]), Ok("11-13-33".into()));
        for (path, message) in [
            (&[][..], "at least two cells, start and end, not 0"),
            (&[[1, 1]], "not 1"),
            (&[[1, 1], [8, 1]], "row 8, column 1 is not on the board"),
            (&[[-1, 1], [1, 1]], "row -1, column 1"),
        ] {
            let fault = move_text(path).unwrap_err();
            assert_eq!(fault.kind, FaultKind::IllegalMove);
            assert!(fault.to_string().contains(message), "{fault}");
        }
    }

    #[test]
    fn received_data_is_quoted_as_integers_on_one_short_line() {
        let bytes: Vec<u8> = [3, -1, i32::MAX].iter().flat_map(|n: &i32| n.to_ne_bytes()).collect();
        assert_eq!(format_integers(&bytes), "integers 3 -1 2147483647 (12 bytes)");
        assert_eq!(format_integers(&bytes[..5]), "integers 3 (5 bytes)");
        assert!(format_integers(&[7; 100_000]).len() < 200);
    }
}
