//! The bot protocol, version 1, on the referee's side. `docs/protocol.md` describes it for authors
//! of bots.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameOver, GameStart, Session, StopFlag, TimeControl,
    format_duration, quoted,
};
use crownhead_rules::replace_invisible;

use super::line::{ProtocolLine, quote};
use super::{AskError, GOODBYE_TIMEOUT, ProtocolAdapter, ask_error};
use crate::process::{BotProcess, ReceiveError};

/// How long a bot that was late in the last game may take to get ready for the next one before it
/// is restarted.
const RESYNC_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum length of the name that a bot gives itself.
const MAX_NAME_CHARS: usize = 60;

/// Maximum score that a bot can report, in hundredths of a man.
const MAX_SCORE: i32 = 30_000;

/// Hint for a bot that has never answered.
const FLUSH_HINT: &str = "; it has never answered: flush standard output after each line \
                          (print(…, flush=True), fflush(stdout), System.out.flush())";

/// The adapter for bots that speak the protocol.
#[derive(Default)]
pub(crate) struct V1Adapter {
    /// The line to be sent; reused to save allocations.
    line: String,
    /// Number of turns that were sent but not answered.
    unanswered_turns: u32,
    missed_ready: bool,
    /// Whether the bot has answered a turn.
    has_answered: bool,
    /// Whether the bot is an author's function in a shim of ours, which writes the lines.
    is_function: bool,
    name: Option<String>,
    /// Letter of the bot's side.
    side: char,
}

/// A line from a bot.
enum BotMessage<'a> {
    Move { text: &'a str, ply: Option<usize>, score: Option<i32>, depth: u32 },
    Ready,
    Bot { name: Option<&'a str> },
    Unknown,
}

impl BotMessage<'_> {
    fn parse(line: &str) -> BotMessage<'_> {
        let line = ProtocolLine::new(line);
        match line.keyword {
            "ready" => BotMessage::Ready,
            "bot" => BotMessage::Bot { name: line.value("name") },
            "move" => {
                // The text of the move ends where the keys begin.
                let rest = line.rest();
                let keys =
                    rest.find('=').map(|at| rest[..at].rfind(char::is_whitespace).unwrap_or(0));
                let text = rest[..keys.unwrap_or(rest.len())].trim_end();
                let ply = keys.and_then(|_| line.value("ply")?.parse().ok());
                let score = keys.and_then(|_| line.value("score")?.parse().ok());
                let score = score.map(|score: i32| score.clamp(-MAX_SCORE, MAX_SCORE));
                let depth = keys.and_then(|_| line.value("depth")?.parse().ok()).unwrap_or(0);
                BotMessage::Move { text, ply, score, depth }
            }
            _ => BotMessage::Unknown,
        }
    }
}

/// Decodes a line. Comments may contain anything and decode to an empty line.
fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.starts_with(b"#") {
        return Ok("");
    }
    str::from_utf8(bytes)
        .map_err(|_| protocol_error("the bot sent bytes that are not UTF-8", bytes))
}

fn protocol_error(message: impl Into<String>, received: &[u8]) -> Fault {
    Fault::new(FaultKind::ProtocolError, message).received(received)
}

impl V1Adapter {
    /// An adapter for an author's function in a shim of ours.
    pub(crate) fn for_function() -> V1Adapter {
        V1Adapter { is_function: true, ..V1Adapter::default() }
    }

    /// Waits for `ready`. Late answers to earlier turns may precede it.
    fn wait_ready(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), ReceiveError> {
        bot.start_wait();
        let mut name = None;
        let received = bot.receive(Some(Instant::now() + timeout), stop, |line| {
            match BotMessage::parse(str::from_utf8(line).unwrap_or_default()) {
                BotMessage::Ready => return Some(()),
                BotMessage::Bot { name: Some(text) } => {
                    let short: String = text.chars().take(MAX_NAME_CHARS).collect();
                    name = Some(replace_invisible(&short));
                }
                _ => {}
            }
            None
        });
        self.name = name.or(self.name.take());
        if received.is_ok() {
            // Lines arrive in order, so no answer is outstanding.
            self.unanswered_turns = 0;
        }
        received
    }

    /// Waits for `ready`. A bot that does not send it plays anyway.
    fn wait_ready_or_warn(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        match self.wait_ready(bot, timeout, stop) {
            Ok(()) => Ok(()),
            Err(ReceiveError::Timeout) => {
                self.missed_ready = true;
                if let Some(log) = &mut bot.log {
                    let timeout = format_duration(timeout);
                    log.note(&format!("no \"ready\" within {timeout}; continuing without it"));
                }
                Ok(())
            }
            Err(error) => Err(ask_error(bot, error, Duration::ZERO)),
        }
    }

    /// Discards late answers to earlier turns. Any other answer would be mistaken for one to the
    /// next turn and is a fault.
    pub(crate) fn discard_late_answers(
        &mut self,
        bot: &mut BotProcess,
        ply: usize,
    ) -> Result<(), AskError> {
        let unanswered = &mut self.unanswered_turns;
        let unexpected = bot.drain_lines(|bytes| {
            let line = match decode(bytes) {
                Ok(line) => line,
                Err(fault) => return Some(fault),
            };
            let BotMessage::Move { ply: answered, .. } = BotMessage::parse(line) else {
                return None;
            };
            let is_late = *unanswered > 0 && answered.is_none_or(|answered| answered < ply);
            if is_late {
                *unanswered -= u32::from(answered.is_none());
                return None;
            }
            let message = "the bot answered before it was asked: send one move line for each turn \
                           line";
            Some(protocol_error(message, bytes))
        });
        match unexpected {
            Ok(None) => Ok(()),
            Ok(Some(fault)) => Err(fault.into()),
            Err(error) => Err(ask_error(bot, error, Duration::ZERO)),
        }
    }

    /// Starts a game with a `newgame` line from a log.
    pub(crate) fn replay_start(
        &mut self,
        bot: &mut BotProcess,
        newgame: &str,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        self.handshake(bot, timeout, stop)?;
        self.send_newgame(bot, newgame, timeout, stop)
    }

    fn send_newgame(
        &mut self,
        bot: &mut BotProcess,
        newgame: &str,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        bot.send_newgame(newgame, Some(Instant::now() + timeout), stop);
        if self.missed_ready { Ok(()) } else { self.wait_ready_or_warn(bot, timeout, stop) }
    }

    /// Sends a `turn` line and waits for the answer. `on_line` is called with every line received.
    pub(crate) fn wait_move(
        &mut self,
        bot: &mut BotProcess,
        turn: &str,
        ply: usize,
        deadline: Option<Instant>,
        stop: &StopFlag,
        mut on_line: impl FnMut(&[u8]),
    ) -> Result<Choice, AskError> {
        let start = Instant::now();
        bot.start_wait();
        bot.send(turn, deadline, stop);
        self.unanswered_turns = self.unanswered_turns.saturating_add(1);
        let mut answers = AnswerFilter::new(ply, &mut self.unanswered_turns);
        let received = bot.receive(deadline, stop, |bytes| {
            on_line(bytes);
            answers.accept(bytes)
        });
        if answers.late_count > 0
            && let Some(log) = &mut bot.log
        {
            log.note(&format!("ignored late answers to earlier turns: {}", answers.late_count));
        }
        let error = match received {
            Ok(answer) => {
                self.has_answered = true;
                return answer.map_err(AskError::Fault);
            }
            Err(error) => error,
        };
        let mut error = ask_error(bot, error, start.elapsed());
        if let AskError::Fault(fault) = &mut error
            && fault.kind == FaultKind::Timeout
            && fault.received.is_none()
        {
            let Some((line, late_for)) = answers.ignored else {
                // A function need not print anything.
                if !self.has_answered && !self.is_function {
                    fault.message.push_str(FLUSH_HINT);
                }
                return Err(error);
            };
            let hint = match late_for {
                Some(turn) => format!("; its last answer was for {turn}, expected ply {ply}"),
                None => {
                    let moves = ProtocolLine::new(turn).value("moves").unwrap_or_default();
                    let example = moves.split(',').next().unwrap_or_default();
                    format!("; no line was an answer, expected for example: move {example}")
                }
            };
            fault.message.push_str(&hint);
            fault.received = Some(quoted(&line));
        }
        Err(error)
    }
}

/// Finds the answer to one turn among the lines of a bot.
struct AnswerFilter<'a> {
    ply: usize,
    unanswered_turns: &'a mut u32,
    /// Number of answers to earlier turns.
    late_count: u32,
    /// The last line that was not an answer, and the earlier turn that it answers, if any.
    ignored: Option<(Vec<u8>, Option<String>)>,
}

impl<'a> AnswerFilter<'a> {
    fn new(ply: usize, unanswered_turns: &'a mut u32) -> AnswerFilter<'a> {
        AnswerFilter { ply, unanswered_turns, late_count: 0, ignored: None }
    }

    /// Returns the move if the line is the answer, or a fault; `None` if the line is something
    /// else.
    fn accept(&mut self, bytes: &[u8]) -> Option<Result<Choice, Fault>> {
        let line = match decode(bytes) {
            Ok(line) => line,
            Err(fault) => {
                if bytes.starts_with(b"move") {
                    *self.unanswered_turns = self.unanswered_turns.saturating_sub(1);
                }
                return Some(Err(fault));
            }
        };
        let (choice, answered) = match BotMessage::parse(line) {
            BotMessage::Move { text, ply, score, depth } => {
                (Choice { score, depth, ..Choice::from_text(text.to_string()) }, ply)
            }
            BotMessage::Unknown if !line.trim().is_empty() => {
                self.ignored = Some((bytes.to_vec(), None));
                return None;
            }
            _ => return None,
        };
        match answered {
            Some(answered) if answered == self.ply => *self.unanswered_turns = 0,
            Some(answered) if answered > self.ply => {
                let ply = self.ply;
                let message = format!("the bot answered ply {answered} when asked for ply {ply}");
                return Some(Err(protocol_error(message, bytes)));
            }
            Some(answered) => return self.ignore_late(bytes, format!("ply {answered}")),
            // Answers without a ply count in the order of the turns.
            None => {
                *self.unanswered_turns = self.unanswered_turns.saturating_sub(1);
                if *self.unanswered_turns > 0 {
                    return self.ignore_late(bytes, "an earlier turn".into());
                }
            }
        }
        if choice.text.is_empty() {
            let message =
                "the bot sent a move line without a move, expected for example: move 11-15";
            return Some(Err(protocol_error(message, bytes)));
        }
        Some(Ok(choice))
    }

    fn ignore_late<T>(&mut self, bytes: &[u8], turn: String) -> Option<T> {
        self.late_count += 1;
        self.ignored = Some((bytes.to_vec(), Some(turn)));
        None
    }
}

/// Formats a `turn` line into `line`, replacing its content.
pub(crate) fn format_turn(line: &mut String, side: char, game: &dyn Session, clock: &Clock) {
    line.clear();
    // Writing to a string cannot fail.
    let _ = write!(line, "turn ply={} side={side} position=\"", game.plies());
    line.push_str(&game.position());
    line.push_str("\" board=");
    line.extend(game.board());
    line.push_str(" moves=");
    game.write_legal_moves(line);
    if let Some(last) = game.last_move_text() {
        line.push_str(" last=");
        line.push_str(&last);
    }
    let remaining = match clock {
        Clock::Unlimited => None,
        Clock::PerMove(time) | Clock::PerGame { left: time, .. } => Some(time),
    };
    if let Some(time) = remaining {
        let _ = write!(line, " time={}", time.as_millis());
    }
    line.push('\n');
}

/// Formats a `newgame` line.
pub(crate) fn format_newgame(start: &GameStart<'_>) -> String {
    let mut line = format!("newgame game={} side={}", start.game, start.letter());
    // Writing to a string cannot fail.
    let _ = match start.settings.time_control {
        TimeControl::Unlimited => Ok(()),
        TimeControl::PerMove(time) => write!(line, " movetime={}", time.as_millis()),
        TimeControl::PerGame { time, increment } => {
            write!(line, " time={} inc={}", time.as_millis(), increment.as_millis())
        }
    };
    let _ = writeln!(line, " seed={}", start.seed);
    line
}

impl ProtocolAdapter for V1Adapter {
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        let (line, is_function) = (std::mem::take(&mut self.line), self.is_function);
        *self = V1Adapter { line, is_function, ..V1Adapter::default() };
        bot.send("crownhead protocol=1\n", Some(Instant::now() + timeout), stop);
        self.wait_ready_or_warn(bot, timeout, stop)
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        start: &GameStart<'_>,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        self.side = start.letter();
        self.send_newgame(bot, &format_newgame(start), start.settings.startup_timeout, stop)
    }

    fn resync(&mut self, bot: &mut BotProcess, start: &GameStart<'_>, stop: &StopFlag) -> bool {
        // Only `ready` shows that the bot has finished with the last game.
        if self.missed_ready {
            return false;
        }
        self.side = start.letter();
        let timeout = start.settings.startup_timeout.min(RESYNC_TIMEOUT);
        bot.send_newgame(&format_newgame(start), Some(Instant::now() + timeout), stop);
        self.wait_ready(bot, timeout, stop).is_ok()
    }

    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<Choice, AskError> {
        let ply = game.plies();
        self.discard_late_answers(bot, ply)?;
        let mut line = std::mem::take(&mut self.line);
        format_turn(&mut line, self.side, game, clock);
        if let Some(log) = &mut bot.log {
            log.board(game);
        }
        let answer = self.wait_move(bot, &line, ply, deadline, stop, |_| {});
        self.line = line;
        answer
    }

    fn game_over(&mut self, bot: &mut BotProcess, result: &GameOver<'_>) {
        let mut line = format!("gameover result={}", result.result);
        // Writing to a string cannot fail.
        if let Some((points, opponent_points)) = result.score {
            let _ = write!(line, " score={points}-{opponent_points}");
        }
        let _ = writeln!(line, " reason={} code={}", quote(result.reason), result.code);
        bot.send(&line, Some(Instant::now() + GOODBYE_TIMEOUT), &StopFlag::new());
    }

    fn missed_ready(&self) -> bool {
        self.missed_ready
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        bot.send("quit\n", Some(Instant::now() + GOODBYE_TIMEOUT), &StopFlag::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(ply: usize, unanswered: u32, lines: &[&str]) -> Option<Result<Choice, Fault>> {
        let mut unanswered = unanswered;
        let mut answers = AnswerFilter::new(ply, &mut unanswered);
        lines.iter().find_map(|line| answers.accept(line.as_bytes()))
    }

    #[test]
    fn answers_count_in_order_unless_they_name_their_ply() {
        let answer =
            |ply, unanswered, lines: &[&str]| Some(accept(ply, unanswered, lines)?.ok()?.text);
        assert_eq!(answer(4, 1, &["# move 1", "move 22x15  x8"]).unwrap(), "22x15  x8");
        assert_eq!(answer(4, 2, &["move 1-5", "move 2-6"]).unwrap(), "2-6");
        assert_eq!(answer(4, 2, &["move 1-5"]), None);
        assert_eq!(answer(4, 2, &["move 1-5 ply=4"]).unwrap(), "1-5");
        assert_eq!(answer(4, 1, &["move 1-5 ply=2", "move 2-6"]).unwrap(), "2-6");
        for line in ["move", "move ply=4", "move 1-5 ply=6"] {
            let fault = accept(4, 1, &[line]).unwrap().unwrap_err();
            assert_eq!(fault.kind, FaultKind::ProtocolError, "{line}");
        }
    }

    #[test]
    fn answer_may_report_score_and_depth() {
        for (line, score, depth) in [
            ("move 1-5 score=-35 depth=12 ply=4", Some(-35), 12),
            ("move 1-5 score=99999", Some(30_000), 0),
            ("move 1-5 depth=many score=1.5", None, 0),
            ("move 1-5", None, 0),
        ] {
            let choice = accept(4, 1, &[line]).unwrap().unwrap();
            assert_eq!((&*choice.text, choice.score, choice.depth), ("1-5", score, depth));
        }
    }
}
