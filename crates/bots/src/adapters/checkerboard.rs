//! Engines with the CheckerBoard interface, compiled as Linux shared libraries.
//!
//! A host program in C loads the engine and speaks the bot protocol. It is compiled when needed,
//! because a static program cannot load a shared library. The engine changes a board in place; the
//! host returns that board, and the move is the legal one that leads to it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crownhead_play::referee::DEFAULT_BOT_MOVE_TIME;
use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameOver, GameStart, LegalMove, Session, StopFlag,
};
use crownhead_rules::Cell;

use crate::process::BotProcess;
use crate::protocol::v1::{V1Adapter, format_turn};
use crate::protocol::{AskError, ProtocolAdapter};

/// The host program.
pub(super) const HOST: &str = include_str!("shims/checkerboard.c");

/// Maximum length of a history: the interface limits a command to 255 characters.
const MAX_HISTORY: usize = 240;

/// Bits of the argument `info` of `getmove`.
const NEW_GAME: u8 = 1;
const EXACT_TIME: u8 = 2;

/// The adapter for the host program: the bot protocol with more keys in a turn, and boards instead
/// of moves.
pub(crate) struct CheckerBoardAdapter {
    v1: V1Adapter,
    side: char,
    is_new_game: bool,
}

impl CheckerBoardAdapter {
    pub(crate) fn new() -> CheckerBoardAdapter {
        CheckerBoardAdapter { v1: V1Adapter::for_function(), side: ' ', is_new_game: false }
    }
}

impl ProtocolAdapter for CheckerBoardAdapter {
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        self.v1.handshake(bot, timeout, stop)
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        start: &GameStart<'_>,
        stop: &StopFlag,
    ) -> Result<(), AskError> {
        (self.side, self.is_new_game) = (start.letter(), true);
        self.v1.new_game(bot, start, stop)
    }

    fn resync(&mut self, bot: &mut BotProcess, start: &GameStart<'_>, stop: &StopFlag) -> bool {
        (self.side, self.is_new_game) = (start.letter(), true);
        self.v1.resync(bot, start, stop)
    }

    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<Choice, AskError> {
        self.v1.discard_late_answers(bot, game.plies())?;
        if let Some(log) = &mut bot.log {
            log.board(game);
        }
        let is_new_game = std::mem::take(&mut self.is_new_game);
        let turn = turn_line(self.side, game, clock, is_new_game);
        let answer = self.v1.wait_move(bot, &turn, game.plies(), deadline, stop, |_| {})?;
        let text = move_to(game, &answer.text)?;
        Ok(Choice::from_text(text))
    }

    fn game_over(&mut self, bot: &mut BotProcess, result: &GameOver<'_>) {
        self.v1.game_over(bot, result);
    }

    fn missed_ready(&self) -> bool {
        self.v1.missed_ready()
    }

    fn name(&self) -> Option<&str> {
        self.v1.name()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        self.v1.quit(bot);
    }
}

/// Formats a `turn` line with the arguments of `getmove`.
fn turn_line(side: char, game: &dyn Session, clock: &Clock, is_new_game: bool) -> String {
    let mut line = String::new();
    format_turn(&mut line, side, game, clock);
    line.truncate(line.trim_end().len());
    let time = clock.move_time();
    let time = time.soft.or(time.hard).unwrap_or(DEFAULT_BOT_MOVE_TIME);
    let is_exact = matches!(clock, Clock::PerMove(_));
    let info = u8::from(is_new_game) * NEW_GAME + u8::from(is_exact) * EXACT_TIME;
    // Writing to a string cannot fail.
    let _ = write!(line, " maxtime={:.3} info={info}", time.as_secs_f64());
    if let Some(history) = reversible_history(game) {
        let _ = write!(line, " gamehist=\"{history}\"");
    }
    line.push('\n');
    line
}

/// Returns the position after the last capture or move of a man, and the moves since then, so that
/// the engine knows which positions would repeat; `None` if there are no such moves. Older moves
/// are dropped if the text would be too long.
fn reversible_history(game: &dyn Session) -> Option<String> {
    let mut past = game.clone_box();
    let mut moves: Vec<String> = Vec::new();
    let mut history = None;
    loop {
        let text = format!("{} {}", past.position(), moves.join(" "));
        if text.len() > MAX_HISTORY {
            break;
        }
        history = (!moves.is_empty()).then_some(text);
        let Some(LegalMove { text, path, captures, .. }) = past.last_move() else { break };
        past.undo();
        let piece = path.first().map(|cell| past.board()[cell.index() as usize]);
        if !captures.is_empty() || !piece.is_some_and(char::is_uppercase) {
            break;
        }
        moves.insert(0, text);
    }
    history
}

/// Returns the legal move after which the board has these letters.
fn move_to(game: &dyn Session, letters: &str) -> Result<String, Fault> {
    let leads_there = |mv: &LegalMove| {
        let mut after = game.clone_box();
        after.play(&mv.text).is_ok() && after.board().into_iter().eq(letters.chars())
    };
    if let Some(mv) = game.legal_moves().into_iter().find(leads_there) {
        return Ok(mv.text);
    }
    let message = match game.board().into_iter().eq(letters.chars()) {
        true => "the engine did not change the board".into(),
        false => format!("no legal move leads to the engine's board; {}", changes(game, letters)),
    };
    Err(Fault::new(FaultKind::IllegalMove, message).received(letters.as_bytes()))
}

/// Lists the squares that the engine changed.
fn changes(game: &dyn Session, letters: &str) -> String {
    let info = game.game().info();
    let letters = game.board().into_iter().zip(letters.chars());
    let changed = Cell::all().zip(letters).filter(|(_, (before, after))| before != after);
    let text = changed.filter_map(|(cell, (before, after))| {
        Some(format!("square {}: {before} became {after}", info.square_number(cell)?))
    });
    text.take(12).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crownhead_play::new_session;

    fn session(position: &str) -> Box<dyn Session> {
        new_session(&"english".parse().unwrap(), Some(position)).unwrap()
    }

    #[test]
    fn board_determines_the_move_even_among_jumps_between_the_same_squares() {
        // The king on 22 jumps to 8 over 18 and 11, or the long way round.
        let game = session("B:W11,18,19,26,27:BK22");
        for mv in game.legal_moves() {
            let mut after = game.clone_box();
            after.play(&mv.text).unwrap();
            let letters: String = after.board().into_iter().collect();
            assert_eq!(move_to(game.as_ref(), &letters).unwrap(), mv.text);
        }
        let unchanged: String = game.board().into_iter().collect();
        let fault = move_to(game.as_ref(), &unchanged).unwrap_err();
        assert!(fault.message.contains("did not change"), "{fault}");
        let fault = move_to(game.as_ref(), &unchanged.replace('B', ".")).unwrap_err();
        assert!(fault.message.contains("square 22: B became ."), "{fault}");
    }

    #[test]
    fn history_starts_after_the_last_irreversible_move() {
        let mut game = session("B:W30,K32:B3,K1");
        for text in ["1-6", "32-28"] {
            game.play(text).unwrap();
        }
        let history = reversible_history(game.as_ref()).unwrap();
        assert_eq!(history, "B:W30,K32:BK1,3 1-6 32-28");
        game.play("3-7").unwrap();
        assert_eq!(reversible_history(game.as_ref()), None);
        game.play("28-32").unwrap();
        let history = reversible_history(game.as_ref()).unwrap();
        assert!(history.ends_with(" 28-32") && history.starts_with("W:W"), "{history}");
        for _ in 0..44 {
            let text = ["6-1", "32-28", "1-6", "28-32"][game.plies() % 4];
            game.play(text).unwrap();
        }
        assert!(reversible_history(game.as_ref()).unwrap().len() <= MAX_HISTORY);
    }
}
