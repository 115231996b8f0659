//! Capture Halma over TCP, as clients of the course speak it: native 32-bit integers, no text.
//!
//! The client connects and sends its team number. For each turn it gets `(1, id)`, 64 cells and
//! whether it is black, and answers `(n, id)` and n pairs of row and column, from 0. `(0, id)` tells
//! it to end.
//!
//! Clients read an item by one `recv` of exactly its size, be that a number, a row or the whole board,
//! and take a short read for a lost connection. So a package is written at once: it is one segment on
//! the loopback, and whatever part of it a client asks for is there whole. (Items sent one by one
//! would be torn for clients that ask for more than one of them at a time.)

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crownhead_play::Stop;
use rustix::event::PollFlags;

use super::tcp_port::{self as port, Port};
use super::{forced_pass, log_turn};
use crate::process::{BotProcess, ReceiveError, is_transient};
use crate::protocol::v1::{GOODBYE_TIMEOUT, ask_error, newgame};
use crate::protocol::{AskError, ProtocolAdapter};
use crownhead_play::{Clock, GameStart, Session, format_duration};
use crownhead_play::{Fault, FaultKind};
use crownhead_sandbox::{Isolation, has_network};

/// A path has so many cells at most.
const LONGEST: i32 = 100;
/// So much between two turns is enough for any client.
const MOST_BYTES: usize = 1024 * 1024;

/// The dialogue with a client.
#[derive(Default)]
pub(crate) struct TcpInt32Adapter {
    /// The machine's port, until the client has connected; none for one with a network of its own.
    port: Option<Port>,
    stream: Option<TcpStream>,
    /// What came and is not understood yet.
    received: Vec<u8>,
    /// Bytes that came since the last turn.
    taken: usize,
    team: Option<String>,
    side: char,
    /// The number of the last package.
    id: i32,
    /// Earlier packages that were not answered.
    owed: Vec<i32>,
}

/// What a client answered: the package, and the path as rows and columns.
struct Answer {
    id: i32,
    path: Vec<[i32; 2]>,
}

impl TcpInt32Adapter {
    /// Waits until something came, and takes it.
    fn receive(
        &mut self,
        bot: &mut BotProcess,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> Result<(), ReceiveError> {
        let Some(stream) = &mut self.stream else { return Err(ReceiveError::Closed) };
        let waited = bot.wait_with_fd(stream.as_fd(), PollFlags::IN, deadline, stop);
        // What came before the end still counts.
        if !matches!(waited, Ok(()) | Err(ReceiveError::Closed)) {
            return waited;
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) => Err(ReceiveError::Closed),
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                self.taken += count;
                if self.taken > MOST_BYTES { Err(ReceiveError::TooMuchOutput) } else { Ok(()) }
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
        stop: &Stop,
    ) -> Result<(), ReceiveError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let Some(stream) = &mut self.stream else { return Err(ReceiveError::Closed) };
            match stream.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    bot.wait_with_fd(stream.as_fd(), PollFlags::OUT, deadline, stop)?;
                }
                Err(_) => return Err(ReceiveError::Closed),
            }
        }
        Ok(())
    }

    /// Takes an answer out of what came; none if it is not whole.
    fn answer(&mut self, bot: &mut BotProcess) -> Option<Result<Answer, Fault>> {
        let numbers = integers(&self.received);
        let (&[count, id], _) = numbers.split_first_chunk()?;
        if !(0..=LONGEST).contains(&count) {
            let what = format!(
                "the bot's answer begins with {count}, which should be the number of cells of its \
                 path, 0 to {LONGEST}"
            );
            return Some(Err(self.no_protocol(bot, what)));
        }
        let count = count as usize;
        let path = numbers.get(2..2 + 2 * count)?;
        let path: Vec<[i32; 2]> = path.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        self.received.drain(..4 * (2 + 2 * count));
        if let Some(log) = &mut bot.log {
            log.received(format!("({count}, {id}) {}", path_text(&path)).as_bytes());
        }
        Some(Ok(Answer { id, path }))
    }

    /// A fault about what came; all of it is forgotten, since nobody knows where the next answer
    /// begins.
    fn no_protocol(&mut self, bot: &mut BotProcess, what: String) -> Fault {
        while self.receive(bot, Some(Instant::now()), &Stop::new()).is_ok() {}
        let fault = Fault { received: Some(shown(&self.received)), ..no_protocol(what) };
        self.received.clear();
        fault
    }

    /// Takes a package off those that are not answered yet.
    fn acknowledge(&mut self, id: i32, path: &[[i32; 2]]) -> Result<(), Fault> {
        if let Some(at) = self.owed.iter().position(|owed| *owed == id) {
            self.owed.remove(at);
            return Ok(());
        }
        let what = match (1..=self.id).contains(&id) {
            true => format!("the bot answered package {id} a second time"),
            false => format!(
                "the bot answered package {id}, and the last it was sent is {}: the number stands \
                 second in a package",
                self.id
            ),
        };
        let received = format!("({}, {id}) {}", path.len(), path_text(path));
        Err(Fault { received: Some(received), ..no_protocol(what) })
    }

    /// Looks at all that came since the last turn: late answers to earlier turns are forgotten.
    fn check_order(&mut self, bot: &mut BotProcess) -> Result<(), AskError> {
        loop {
            match self.receive(bot, Some(Instant::now()), &Stop::new()) {
                Ok(()) => {}
                Err(ReceiveError::TooMuchOutput) => {
                    return Err(self.silence(bot, ReceiveError::TooMuchOutput, Duration::ZERO));
                }
                Err(_) => break,
            }
        }
        while let Some(answer) = self.answer(bot) {
            let Answer { id, path } = answer?;
            self.acknowledge(id, &path)?;
        }
        if self.owed.is_empty() && !self.received.is_empty() {
            let what = "the bot sent something before it was asked".to_string();
            return Err(self.no_protocol(bot, what).into());
        }
        Ok(())
    }

    /// Why there was no answer.
    fn silence(&self, bot: &mut BotProcess, silence: ReceiveError, used: Duration) -> AskError {
        let mut reason = match silence {
            ReceiveError::TooMuchOutput if self.taken > MOST_BYTES => {
                let what = "the bot sent too much: more than 1 MiB in one turn";
                return Fault::new(FaultKind::OutputFlood, what).into();
            }
            ReceiveError::Timeout if !bot.has_exited() => {
                let ms = used.as_millis();
                Fault::new(
                    FaultKind::Timeout,
                    format!("the bot did not answer in time: {ms} ms passed"),
                )
            }
            other => match ask_error(bot, other, used) {
                AskError::Fault(fault) => fault,
                other => return other,
            },
        };
        if reason.kind == FaultKind::OutputClosed {
            reason.message = "the bot closed its connection and lives on".into();
        }
        if !self.received.is_empty() {
            reason.message.push_str(" (and its answer had no end)");
            reason.received = Some(shown(&self.received));
        }
        reason.into()
    }
}

impl ProtocolAdapter for TcpInt32Adapter {
    fn prepare(&mut self, isolation: Isolation, stop: &Stop) -> Result<(), AskError> {
        *self = TcpInt32Adapter::default();
        if !has_network(isolation) {
            self.port = Some(port::listen(stop)?);
        }
        Ok(())
    }

    fn can_prestart(&self) -> bool {
        // It has to find the port, which others need too.
        false
    }

    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        let begun = Instant::now();
        let deadline = Some(begun + allowance);
        let time = format_duration(allowance);
        let own = bot.listener.take().and_then(Port::in_own_network);
        let Some(port) = own.or(self.port.take()) else { return Ok(()) };
        while self.received.len() < 4 {
            if self.stream.is_some() {
                match self.receive(bot, deadline, stop) {
                    Ok(()) => {}
                    // It only tried whether somebody listens, and will come again.
                    Err(ReceiveError::Closed) if self.received.is_empty() && !bot.has_exited() => {
                        self.stream = None;
                    }
                    Err(ReceiveError::Timeout) => {
                        let what = format!(
                            "the bot connected, but did not send its team number (4 bytes) within \
                             {time}"
                        );
                        return Err(Fault::new(FaultKind::Timeout, what).into());
                    }
                    Err(silence) => return Err(self.silence(bot, silence, begun.elapsed())),
                }
                continue;
            }
            let waited = bot.wait_with_fd(port.as_fd(), PollFlags::IN, deadline, stop);
            self.stream = port.accept(bot.number()).unwrap_or_default();
            match waited {
                Err(ReceiveError::Timeout) if self.stream.is_none() => {
                    let number = port::NUMBER;
                    let what = format!(
                        "the bot did not connect to port {number} of 127.0.0.1 within {time}"
                    );
                    return Err(Fault::new(FaultKind::Timeout, what).into());
                }
                Err(silence) if self.stream.is_none() => {
                    return Err(self.silence(bot, silence, begun.elapsed()));
                }
                _ => {}
            }
        }
        // The next bot may have the port.
        drop(port);
        let team = integers(&self.received).first().copied().unwrap_or_default();
        self.received.drain(..4);
        if let Some(log) = &mut bot.log {
            log.received(format!("team {team}").as_bytes());
        }
        self.team = Some(format!("team {team}"));
        Ok(())
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        seating: &GameStart<'_>,
        _: &Stop,
    ) -> Result<(), AskError> {
        self.side = seating.letter();
        if let Some(log) = &mut bot.log {
            log.note(&newgame(seating));
        }
        Ok(())
    }

    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> Result<String, AskError> {
        if let Some(pass) = forced_pass(game) {
            return Ok(pass);
        }
        let begun = Instant::now();
        self.check_order(bot)?;
        bot.reset_output_quota();
        self.taken = 0;
        log_turn(bot, self.side, game, clock);
        self.id = self.id.wrapping_add(1);
        let is_black = i32::from(self.side == 'b');
        let mut package = vec![1, self.id];
        package.extend(game.board().map(|letter| match letter {
            'b' => 1,
            'w' => 2,
            _ => 0,
        }));
        package.push(is_black);
        if let Some(log) = &mut bot.log {
            log.sent(&format!("(1, {}) the board, is_black {is_black}", self.id));
        }
        if let Err(silence) = self.send(bot, &package, deadline, stop) {
            return Err(self.silence(bot, silence, begun.elapsed()));
        }
        self.owed.push(self.id);
        loop {
            while let Some(answer) = self.answer(bot) {
                let Answer { id, path } = answer?;
                self.acknowledge(id, &path)?;
                if id == self.id {
                    return move_text(&path).map_err(AskError::Fault);
                }
            }
            if let Err(silence) = self.receive(bot, deadline, stop) {
                return Err(self.silence(bot, silence, begun.elapsed()));
            }
        }
    }

    fn name(&self) -> Option<&str> {
        self.team.as_deref()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        let deadline = Instant::now() + GOODBYE_TIMEOUT;
        let _ = self.send(bot, &[0, self.id], Some(deadline), &Stop::new());
    }
}

fn no_protocol(what: String) -> Fault {
    Fault::new(FaultKind::ProtocolError, what)
}

/// The whole numbers at the beginning of what came.
fn integers(bytes: &[u8]) -> Vec<i32> {
    let most = 4 * (2 + 2 * LONGEST as usize);
    let (numbers, _) = bytes[..bytes.len().min(most)].as_chunks();
    numbers.iter().map(|number| i32::from_ne_bytes(*number)).collect()
}

/// What came, as numbers, shortened.
fn shown(bytes: &[u8]) -> String {
    let mut numbers: Vec<_> = integers(bytes).iter().take(12).map(i32::to_string).collect();
    let (told, rest) = (4 * numbers.len(), bytes.len() % 4);
    if bytes.len() - rest > told {
        numbers.push("…".into());
    }
    format!("integers {} ({} bytes)", numbers.join(" "), bytes.len())
}

fn path_text(path: &[[i32; 2]]) -> String {
    let shown = path.iter().take(12).map(|[row, column]| format!("({row},{column})"));
    let dots = if path.len() > 12 { " …" } else { "" };
    shown.collect::<Vec<_>>().join(" ") + dots
}

/// A path, counted from 0, as the text of a move, counted from 1.
fn move_text(path: &[[i32; 2]]) -> Result<String, Fault> {
    let what = if path.len() < 2 {
        format!("a path has two cells or more, from start to end, not {}", path.len())
    } else if let Some([row, column]) = path.iter().find(|cell| cell.iter().any(|n| !is_on(*n))) {
        format!("row {row}, column {column} is not on the board: both count from 0 to 7")
    } else {
        let cells = path.iter().map(|[row, column]| format!("{}{}", row + 1, column + 1));
        return Ok(cells.collect::<Vec<_>>().join("-"));
    };
    let received = Some(format!("({}, …) {}", path.len(), path_text(path)));
    Err(Fault { received, ..Fault::new(FaultKind::IllegalMove, what) })
}

fn is_on(number: i32) -> bool {
    (0..8).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_from_0_and_its_text_from_1() {
        assert_eq!(move_text(&[[0, 0], [0, 2], [2, 2]]), Ok("11-13-33".into()));
        for (path, why) in [
            (&[][..], "two cells or more, from start to end, not 0"),
            (&[[1, 1]], "not 1"),
            (&[[1, 1], [8, 1]], "row 8, column 1 is not on the board"),
            (&[[-1, 1], [1, 1]], "row -1, column 1"),
        ] {
            let fault = move_text(path).unwrap_err();
            assert_eq!(fault.kind, FaultKind::IllegalMove);
            assert!(fault.to_string().contains(why), "{fault}");
        }
    }

    #[test]
    fn whatever_came_is_shown_as_numbers_on_one_short_line() {
        let bytes: Vec<u8> = [3, -1, i32::MAX].iter().flat_map(|n: &i32| n.to_ne_bytes()).collect();
        assert_eq!(shown(&bytes), "integers 3 -1 2147483647 (12 bytes)");
        assert_eq!(shown(&bytes[..5]), "integers 3 (5 bytes)");
        assert!(shown(&[7; 100_000]).len() < 200);
    }
}
