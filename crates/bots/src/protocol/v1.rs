//! The bot protocol, version 1, as the referee speaks it. `docs/protocol.md` has it for authors of
//! bots.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crownhead_play::Stop;

use super::line::{ProtocolLine, quote};
use super::{AskError, ProtocolAdapter};
use crate::process::{BotProcess, ReceiveError, describe_exit};
use crownhead_play::{Clock, GameOver, GameStart, Session, TimeControl, format_duration};
use crownhead_play::{Fault, FaultKind, quoted};

/// The protocol of lines.
#[derive(Default)]
pub(crate) struct V1Adapter {
    /// The line to be sent, kept so that its memory is.
    line: String,
    /// Turns that were asked and not answered.
    unanswered_turns: u32,
    /// The bot is not waited for: it did not say `ready` when it was.
    is_silent: bool,
    /// What the bot calls itself.
    name: Option<String>,
    /// The letter of the bot's side.
    side: char,
}

/// What a line of a bot says.
enum BotMessage<'a> {
    Move { text: &'a str, ply: Option<usize> },
    Ready,
    Bot(Option<&'a str>),
    Other,
}

/// The text of a line; of remarks nothing is asked.
fn text(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.starts_with(b"#") {
        return Ok("");
    }
    str::from_utf8(bytes).map_err(|_| {
        let what = "the bot sent bytes that are no UTF-8 text";
        Fault::new(FaultKind::ProtocolError, what).received(bytes)
    })
}

fn read(line: &str) -> BotMessage<'_> {
    let line = ProtocolLine::new(line);
    match line.keyword {
        "ready" => BotMessage::Ready,
        "bot" => BotMessage::Bot(line.value("name")),
        "move" => {
            // The move ends where the keys begin.
            let rest = line.rest();
            let keys = rest.find('=').map(|at| rest[..at].rfind(char::is_whitespace).unwrap_or(0));
            let text = rest[..keys.unwrap_or(rest.len())].trim_end();
            let ply = keys.and_then(|_| line.value("ply")?.parse().ok());
            BotMessage::Move { text, ply }
        }
        _ => BotMessage::Other,
    }
}

impl V1Adapter {
    /// Waits for `ready`; answers to earlier turns may still come before it.
    fn wait_ready(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), ReceiveError> {
        bot.reset_output_quota();
        let mut name = None;
        let heard = bot.receive(Some(Instant::now() + allowance), stop, |line| {
            match read(str::from_utf8(line).unwrap_or_default()) {
                BotMessage::Ready => return Some(()),
                BotMessage::Bot(Some(told)) => {
                    name = Some(told.chars().take(60).collect::<String>())
                }
                _ => {}
            }
            None
        });
        self.name = name.or(self.name.take());
        if heard.is_ok() {
            // Whatever was owed would have come before.
            self.unanswered_turns = 0;
        }
        heard
    }

    /// The same; a bot that says nothing of the kind is talked with all the same.
    fn wait_ready_or_warn(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        match self.wait_ready(bot, allowance, stop) {
            Ok(()) => Ok(()),
            Err(ReceiveError::Timeout) => {
                self.is_silent = true;
                if let Some(log) = &mut bot.log {
                    let time = format_duration(allowance);
                    log.note(&format!("no \"ready\" within {time}: the game goes on without"));
                }
                Ok(())
            }
            Err(silence) => Err(ask_error(bot, silence, Duration::ZERO)),
        }
    }

    /// Looks at all that came since the last turn: a late answer to that is forgotten, an answer that
    /// nobody asked for would be taken for one to the next.
    fn discard_late_answers(&mut self, bot: &mut BotProcess, ply: usize) -> Result<(), AskError> {
        let owed = &mut self.unanswered_turns;
        let early = bot.drain_lines(|bytes| {
            let line = match text(bytes) {
                Ok(line) => line,
                Err(fault) => return Some(fault),
            };
            let BotMessage::Move { ply: answered, .. } = read(line) else { return None };
            let is_late = *owed > 0 && answered.is_none_or(|answered| answered < ply);
            if is_late {
                *owed -= u32::from(answered.is_none());
                return None;
            }
            let what = "the bot answered before it was asked: each turn line is answered by one \
                        move line";
            Some(Fault::new(FaultKind::ProtocolError, what).received(bytes))
        });
        match early {
            Ok(None) => Ok(()),
            Ok(Some(fault)) => Err(AskError::Fault(fault)),
            Err(silence) => Err(ask_error(bot, silence, Duration::ZERO)),
        }
    }

    /// Greets a bot and tells it of a game by a line that was told before.
    pub(crate) fn resume(
        &mut self,
        bot: &mut BotProcess,
        newgame: &str,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        self.handshake(bot, allowance, stop)?;
        self.tell(bot, newgame, allowance, stop)
    }

    fn tell(
        &mut self,
        bot: &mut BotProcess,
        newgame: &str,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        bot.begin_game(newgame, Some(Instant::now() + allowance), stop);
        if self.is_silent { Ok(()) } else { self.wait_ready_or_warn(bot, allowance, stop) }
    }

    /// Sends a line that asks for a move and waits for the answer. `told` hears every line.
    pub(crate) fn wait_move(
        &mut self,
        bot: &mut BotProcess,
        line: &str,
        ply: usize,
        deadline: Option<Instant>,
        stop: &Stop,
        mut told: impl FnMut(&[u8]),
    ) -> Result<String, AskError> {
        let begun = Instant::now();
        bot.reset_output_quota();
        bot.send(line, deadline, stop);
        self.unanswered_turns = self.unanswered_turns.saturating_add(1);
        let owed = &mut self.unanswered_turns;
        let mut stale = 0u32;
        // The last line that was no answer: where none comes, it was meant as one. And which turn it
        // answered, if it was one to an earlier.
        let mut ignored = Vec::new();
        let mut earlier = None;
        let heard = bot.receive(deadline, stop, |bytes| {
            told(bytes);
            let mut ignore = |turn| {
                ignored.clear();
                ignored.extend_from_slice(bytes);
                earlier = turn;
            };
            let line = match text(bytes) {
                Ok(line) => line,
                Err(fault) => {
                    if bytes.starts_with(b"move") {
                        *owed = owed.saturating_sub(1);
                    }
                    return Some(Err(fault));
                }
            };
            let (text, answered) = match read(line) {
                BotMessage::Move { text, ply } => (text, ply),
                BotMessage::Other if !line.trim().is_empty() => {
                    ignore(None);
                    return None;
                }
                _ => return None,
            };
            match answered {
                Some(answered) if answered == ply => *owed = 0,
                Some(answered) if answered > ply => {
                    let what =
                        format!("the bot answered for ply {answered} and was asked for {ply}");
                    return Some(Err(Fault::new(FaultKind::ProtocolError, what).received(bytes)));
                }
                Some(answered) => {
                    stale += 1;
                    ignore(Some(format!("ply {answered}")));
                    return None;
                }
                // Answers come in the order of the turns.
                None => {
                    *owed = owed.saturating_sub(1);
                    if *owed > 0 {
                        stale += 1;
                        ignore(Some("an earlier turn".to_string()));
                        return None;
                    }
                }
            }
            if text.is_empty() {
                let what = "the bot sent a move line without a move: it is written move 11-15";
                return Some(Err(Fault::new(FaultKind::ProtocolError, what).received(bytes)));
            }
            Some(Ok(text.to_string()))
        });
        if stale > 0
            && let Some(log) = &mut bot.log
        {
            log.note(&format!("{stale} answers to earlier turns did not count"));
        }
        let silence = match heard {
            Ok(answer) => return answer.map_err(AskError::Fault),
            Err(silence) => silence,
        };
        let mut unsaid = ask_error(bot, silence, begun.elapsed());
        if let AskError::Fault(fault) = &mut unsaid
            && fault.kind == FaultKind::Timeout
            && fault.received.is_none()
            && !ignored.is_empty()
        {
            let hint = match earlier {
                Some(earlier) => {
                    format!("; its last answer was for {earlier}, and it was asked for ply {ply}")
                }
                None => {
                    let moves = ProtocolLine::new(line).value("moves").unwrap_or_default();
                    let example = moves.split(',').next().unwrap_or_default();
                    format!("; no line was an answer, which would be: move {example}")
                }
            };
            fault.message.push_str(&hint);
            fault.received = Some(quoted(&ignored));
        }
        Err(unsaid)
    }
}

/// Writes the line that asks for a move, over what the text held before.
pub(crate) fn write_turn(line: &mut String, side: char, game: &dyn Session, clock: &Clock) {
    line.clear();
    // Writing to a text does not fail.
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
    let left = match clock {
        Clock::Unlimited => None,
        Clock::PerMove(time) | Clock::PerGame { left: time, .. } => Some(time),
    };
    if let Some(left) = left {
        let _ = write!(line, " time={}", left.as_millis());
    }
    line.push('\n');
}

/// The line that tells of a game.
pub(crate) fn newgame(seating: &GameStart<'_>) -> String {
    let mut line = format!("newgame game={} side={}", seating.game, seating.letter());
    // Writing to a text does not fail.
    let _ = match seating.settings.time_control {
        TimeControl::Unlimited => Ok(()),
        TimeControl::PerMove(time) => write!(line, " movetime={}", time.as_millis()),
        TimeControl::PerGame { time, increment } => {
            write!(line, " time={} inc={}", time.as_millis(), increment.as_millis())
        }
    };
    let _ = writeln!(line, " seed={}", seating.seed);
    line
}

impl ProtocolAdapter for V1Adapter {
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        *self = V1Adapter { line: std::mem::take(&mut self.line), ..V1Adapter::default() };
        bot.send("crownhead protocol=1\n", Some(Instant::now() + allowance), stop);
        self.wait_ready_or_warn(bot, allowance, stop)
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        seating: &GameStart<'_>,
        stop: &Stop,
    ) -> Result<(), AskError> {
        self.side = seating.letter();
        self.tell(bot, &newgame(seating), seating.settings.startup_timeout, stop)
    }

    fn resync(&mut self, bot: &mut BotProcess, seating: &GameStart<'_>, stop: &Stop) -> bool {
        // Only that it is ready shows that it has done with all that was before.
        if self.is_silent {
            return false;
        }
        self.side = seating.letter();
        let allowance = seating.settings.startup_timeout.min(RESYNC_TIMEOUT);
        bot.begin_game(&newgame(seating), Some(Instant::now() + allowance), stop);
        self.wait_ready(bot, allowance, stop).is_ok()
    }

    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> Result<String, AskError> {
        let ply = game.plies();
        self.discard_late_answers(bot, ply)?;
        let mut line = std::mem::take(&mut self.line);
        write_turn(&mut line, self.side, game, clock);
        if let Some(log) = &mut bot.log {
            log.board(game);
        }
        let answer = self.wait_move(bot, &line, ply, deadline, stop, |_| {});
        self.line = line;
        answer
    }

    fn game_over(&mut self, bot: &mut BotProcess, verdict: &GameOver<'_>) {
        let mut line = format!("gameover result={}", verdict.result);
        if let Some((own, other)) = verdict.score {
            let _ = write!(line, " score={own}-{other}");
        }
        let _ = writeln!(line, " reason={} code={}", quote(verdict.reason), verdict.code);
        bot.send(&line, Some(Instant::now() + GOODBYE_TIMEOUT), &Stop::new());
    }

    fn missed_ready(&self) -> bool {
        self.is_silent
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        bot.send("quit\n", Some(Instant::now() + GOODBYE_TIMEOUT), &Stop::new());
    }
}

/// How long a bot that was late in the last game may take to be ready for the next, before it is
/// started anew and has all of its allowance again.
const RESYNC_TIMEOUT: Duration = Duration::from_secs(1);
/// What is said at the end is not worth waiting for longer.
pub(crate) const GOODBYE_TIMEOUT: Duration = Duration::from_millis(100);

/// Why there was no line.
pub(crate) fn ask_error(bot: &mut BotProcess, silence: ReceiveError, used: Duration) -> AskError {
    let silence = match silence {
        // Its output may be held open by a child of its.
        ReceiveError::Timeout if bot.has_exited() => ReceiveError::Closed,
        other => other,
    };
    if silence != ReceiveError::Stopped
        && let Some(why) = bot.kill_reason()
    {
        return Fault::new(FaultKind::LimitExceeded, format!("the bot was stopped: {why}")).into();
    }
    let fault = match silence {
        ReceiveError::Stopped => return AskError::Stopped,
        ReceiveError::Timeout => {
            let what = format!("the bot did not answer in time: {} ms passed", used.as_millis());
            let fault = Fault::new(FaultKind::Timeout, what);
            match bot.partial_line() {
                [] => fault,
                begun => {
                    let fault = fault.received(begun);
                    Fault { message: fault.message + " (and its line had no end)", ..fault }
                }
            }
        }
        ReceiveError::TooMuchOutput => {
            let begun = bot.partial_line().to_vec();
            let what = "the bot wrote too much: a line may have 64 KiB, all lines of a turn 1 MiB";
            Fault::new(FaultKind::OutputFlood, what).received(&begun)
        }
        ReceiveError::Closed => {
            let status = bot.exit_status();
            let mut what = match status {
                Some(status) => format!("the bot ended {}", describe_exit(status)),
                None => "the bot closed its standard output and lives on".to_string(),
            };
            if let Some(words) = bot.last_words() {
                what.push_str("; the last line of its standard error: ");
                what.push_str(&quoted(words));
            }
            let kind = status.map_or(FaultKind::OutputClosed, |_| FaultKind::Crash);
            match bot.partial_line() {
                [] => Fault::new(kind, what),
                begun => Fault::new(kind, what).received(begun),
            }
        }
    };
    AskError::Fault(fault)
}
