//! A bot that is a function in a file: compiled with a shim that speaks the bot protocol for it.
//!
//! The file is included, not linked, in a file of ours that calls the function: so a `static` function
//! will do, a `main` of its own is out of the way, and messages of the compiler name the author's file
//! and lines. All this happens in a scratch folder that is gone with the program.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crownhead_play::Stop;

use super::c_source::definitions;
use super::{Protocol, forced_pass};
use crate::process::BotProcess;
use crate::protocol::v1::V1Adapter;
use crate::protocol::{AskError, ProtocolAdapter};
use crownhead_play::{Clock, GameOver, GameStart, LegalMove, Session};
use crownhead_play::{Fault, FaultKind};
use crownhead_sandbox::Scratch;

/// The part that is the same for all functions.
const SHIM: &str = include_str!("shims/shim.c");
/// A longer file is something else.
const LONGEST_FILE: u64 = 8 * 1024 * 1024;

/// A file with a function that plays.
#[derive(Clone)]
pub(crate) struct CSource {
    protocol: Protocol,
    /// Its name from the root.
    file: PathBuf,
    /// Where it is compiled; shared by all copies, so that it is compiled once.
    scratch: Arc<OnceLock<Scratch>>,
}

impl CSource {
    /// The file, which must be there.
    pub(crate) fn new(protocol: Protocol, file: &Path) -> Result<CSource, String> {
        let wrong = |why: &str| format!("{}: {why}", file.display());
        let known = file.metadata().map_err(|error| {
            wrong(&format!("{error}; {protocol} is followed by the name of a file"))
        })?;
        if !known.is_file() {
            return Err(wrong("it is no file"));
        }
        if known.len() > LONGEST_FILE {
            return Err(wrong("it has more than 8 MiB"));
        }
        let file = file.canonicalize().map_err(|error| wrong(&error.to_string()))?;
        // There is no way to write such a name in #include "…".
        if file.to_str().is_none_or(|name| name.contains(['"', '\n', '\r', '\\'])) {
            return Err(wrong("its name has a quote, a backslash, or letters that are no text"));
        }
        Ok(CSource { protocol, file, scratch: Arc::default() })
    }

    /// Its name from the root.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Where it lies; it is run there.
    pub(crate) fn folder(&self) -> PathBuf {
        self.file.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
    }

    /// Where it is compiled.
    pub(crate) fn build_dir(&self) -> Option<&Path> {
        self.scratch.get().map(Scratch::path)
    }

    /// What it needs: the file, and where it was compiled.
    pub(crate) fn readable_paths(&self) -> Vec<PathBuf> {
        let made_in = self.build_dir().map(Path::to_path_buf);
        [self.file.clone()].into_iter().chain(made_in).collect()
    }

    /// The program that was made of it.
    pub(crate) fn executable(&self) -> PathBuf {
        self.scratch
            .get()
            .map_or_else(|| PathBuf::from("bot"), |scratch| scratch.path().join("bot"))
    }

    /// Writes what is compiled with the file into a scratch folder: the words of the compiler.
    pub(crate) fn write(&self) -> Result<Vec<String>, String> {
        let wrong = |why: String| format!("{}: {why}", self.file.display());
        let bytes = std::fs::read(&self.file).map_err(|error| wrong(error.to_string()))?;
        let caller = self.wrapper_source(&String::from_utf8_lossy(&bytes)).map_err(wrong)?;
        let no_scratch = |error| format!("there is no scratch folder to compile in: {error}");
        let scratch = Scratch::new().map_err(no_scratch)?;
        let path = scratch.path().to_path_buf();
        let _ = self.scratch.set(scratch);
        let (compiler, end) = match self.protocol {
            Protocol::CFunction => ("cc", "c"),
            _ => ("c++", "cpp"),
        };
        let name = |name: &str| path.join(name).to_string_lossy().into_owned();
        let (caller_file, shim_file) = (name(&format!("call.{end}")), name(&format!("shim.{end}")));
        for (file, text) in [(&caller_file, caller.as_str()), (&shim_file, SHIM)] {
            std::fs::write(file, text).map_err(no_scratch)?;
        }
        let words =
            [compiler, "-O2", "-o", &name("bot"), &caller_file, &shim_file, "-lm", "-pthread"];
        Ok(words.map(String::from).to_vec())
    }

    /// The file of ours that includes the author's and calls the function.
    fn wrapper_source(&self, text: &str) -> Result<String, String> {
        let file = self.file.display();
        // A main of the author's is not ours. Names are long, so that no macro of the author's is one.
        let include = format!("#define main crownhead_main\n#include \"{file}\"\n#undef main\n");
        if self.protocol == Protocol::CFunction {
            return Ok(include + &C_CALLER.replace("FUNCTION", &ai_player(text)?));
        }
        let mut calls = String::new();
        for (name, player) in [("move_black", 1), ("move_red", 2)] {
            let found = definitions(text, name);
            let Some(function) = found.iter().find(|function| function.name == name) else {
                continue;
            };
            if function.parameters != 6 {
                return Err(format!(
                    "the function {name} has {} parameters, and should have six: void \
                     {name}(int board[][8], int &row1, int &col1, int &row2, int &col2, int {})",
                    function.parameters,
                    if player == 1 { "black" } else { "red" }
                ));
            }
            let player = player.to_string();
            calls += &CPP_CALL.replace("FUNCTION", name).replace("PLAYER", &player);
        }
        if calls.is_empty() {
            return Err(
                "there is neither a function void move_black(int board[][8], int &row1, int \
                        &col1, int &row2, int &col2, int black) nor move_red"
                    .into(),
            );
        }
        Ok(include + &CPP_CALLER.replace("CALLS", &calls))
    }
}

/// Calls the function of a C file: the cell `rc` is element `rc` of the board.
const C_CALLER: &str = "\
int crownhead_answer(int crownhead_player, const char *crownhead_letters, int *crownhead_answer) {
  int crownhead_board[89] = {0}, crownhead_at;
  for (crownhead_at = 0; crownhead_at < 64; crownhead_at++)
    crownhead_board[(crownhead_at / 8 + 1) * 10 + crownhead_at % 8 + 1] =
      crownhead_letters[crownhead_at] == '#' ? 1 : crownhead_letters[crownhead_at] == 'O' ? 2 : 0;
  crownhead_answer[0] = FUNCTION(crownhead_player, crownhead_board);
  return 1;
}
";

/// Calls the functions of a C++ file.
const CPP_CALLER: &str = "\
extern \"C\"
int crownhead_answer(int crownhead_player, const char *crownhead_letters, int *crownhead_answer) {
  int crownhead_board[8][8];
  for (int crownhead_at = 0; crownhead_at < 64; crownhead_at++) {
    char crownhead_letter = crownhead_letters[crownhead_at];
    crownhead_board[crownhead_at / 8][crownhead_at % 8] =
      crownhead_letter == 'b' ? 1 : crownhead_letter == 'w' ? 2 :
      crownhead_letter == 'B' ? 3 : crownhead_letter == 'W' ? 4 : 0;
  }
CALLS  return 0;
}
";

/// Calls the function of one side.
const CPP_CALL: &str = "  if (crownhead_player == PLAYER) {
    FUNCTION(crownhead_board, crownhead_answer[0], crownhead_answer[1], crownhead_answer[2],
             crownhead_answer[3], crownhead_player);
    return 4;
  }
";

/// The name of the function in a C file: `ai_player`, or one that goes on with something else; of
/// several, one that has a number in it, as a student's has.
fn ai_player(text: &str) -> Result<String, String> {
    let mut found = definitions(text, "ai_player");
    found.retain(|function| function.parameters == 2);
    let rank = |name: &str| match name {
        "ai_player" => 0,
        name if name.contains(|c: char| c.is_ascii_digit()) => 1,
        _ => 2,
    };
    let best = found.iter().map(|function| rank(&function.name)).min();
    let mut best = found.iter().filter(|function| Some(rank(&function.name)) == best);
    match (best.next(), best.next()) {
        (Some(function), None) => Ok(function.name.clone()),
        (Some(one), Some(other)) => Err(format!(
            "there are several functions to choose from, {} and {}: the one that plays is called \
             ai_player, or the only one that goes on with a number",
            one.name, other.name
        )),
        _ => Err(
            "there is no function int ai_player(int player, const int *board) (its name may go \
                  on, as in ai_player_1155012345)"
                .into(),
        ),
    }
}

/// The dialogue with a compiled function: that of the bot protocol, with answers in numbers.
pub(crate) struct FunctionAdapter {
    protocol: Protocol,
    lines: V1Adapter,
    side: char,
}

impl FunctionAdapter {
    pub(crate) fn new(protocol: Protocol) -> FunctionAdapter {
        FunctionAdapter { protocol, lines: V1Adapter::default(), side: ' ' }
    }
}

impl ProtocolAdapter for FunctionAdapter {
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        allowance: Duration,
        stop: &Stop,
    ) -> Result<(), AskError> {
        self.lines.handshake(bot, allowance, stop)
    }

    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        seating: &GameStart<'_>,
        stop: &Stop,
    ) -> Result<(), AskError> {
        self.side = seating.letter();
        self.lines.new_game(bot, seating, stop)
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
        let answer = self.lines.request_move(bot, game, clock, deadline, stop)?;
        if answer == "none" {
            let name = if self.side == 'b' { "move_black" } else { "move_red" };
            let what = format!("the bot has no function {name}: it plays the other side only");
            return Err(Fault::new(FaultKind::IllegalMove, what).into());
        }
        match self.protocol {
            Protocol::CppFunction => squares(game, &answer).map_err(AskError::Fault),
            _ => number(&answer).map_err(AskError::Fault),
        }
    }

    fn game_over(&mut self, bot: &mut BotProcess, verdict: &GameOver<'_>) {
        self.lines.game_over(bot, verdict);
    }

    fn missed_ready(&self) -> bool {
        self.lines.missed_ready()
    }

    fn name(&self) -> Option<&str> {
        self.lines.name()
    }

    fn quit(&mut self, bot: &mut BotProcess) {
        self.lines.quit(bot);
    }
}

fn illegal(what: String, received: String) -> Fault {
    Fault { received: Some(received), ..Fault::new(FaultKind::IllegalMove, what) }
}

/// What a C function returned, start and end as one number, as the text of a move.
fn number(answer: &str) -> Result<String, Fault> {
    let is_cell = |digits: &str| digits.bytes().all(|digit| (b'1'..=b'8').contains(&digit));
    if answer.len() == 4 && is_cell(answer) {
        return Ok(answer.to_string());
    }
    let what = format!(
        "the function returned {answer}, which is not start*100+end with cells from 11 to 88"
    );
    Err(illegal(what, answer.to_string()))
}

/// Start and final square of a C++ function as the text of a move. Of several captures between the
/// two it is the one that captures most, then the first in the order of generated moves: the function
/// has no way to say which it means (`docs/rules.md`).
fn squares(game: &dyn Session, answer: &str) -> Result<String, Fault> {
    let numbers: Vec<i32> = answer.split(' ').filter_map(|number| number.parse().ok()).collect();
    let received = |numbers: &[i32]| {
        let names = ["row1", "col1", "row2", "col2"];
        let pairs = names.iter().zip(numbers).map(|(name, number)| format!("{name}={number}"));
        pairs.collect::<Vec<_>>().join(" ")
    };
    let told = received(&numbers);
    let &[row1, col1, row2, col2] = &numbers[..] else {
        return Err(illegal("the function gave no move".into(), answer.to_string()));
    };
    let (from, to) = ((row1, col1), (row2, col2));
    for (row, column) in [from, to] {
        let is_on = |number: i32| (0..8).contains(&number);
        if !is_on(row) || !is_on(column) || (row + column) % 2 == 0 {
            let what = format!(
                "row {row}, column {column} is no dark square: both count from 0 to 7, and one of \
                 them is odd"
            );
            return Err(illegal(what, told));
        }
    }
    let legal = game.legal_moves();
    let ends = |mv: &LegalMove| {
        let place = |cell: &crownhead_rules::Cell| {
            (i32::from(cell.row()) - 1, i32::from(cell.column()) - 1)
        };
        mv.path.first().map(place) == Some(from) && mv.path.last().map(place) == Some(to)
    };
    let mut best: Option<&LegalMove> = None;
    for mv in legal.iter().filter(|mv| ends(mv)) {
        if best.is_none_or(|best| mv.captures.len() > best.captures.len()) {
            best = Some(mv);
        }
    }
    if let Some(best) = best {
        return Ok(best.text.clone());
    }
    // The rules say best what is wrong with it.
    let square = |(row, column): (i32, i32)| row * 4 + column / 2 + 1;
    let is_step = (row1 - row2).abs() == 1 && (col1 - col2).abs() == 1;
    let sign = if is_step { '-' } else { 'x' };
    let text = format!("{}{sign}{}", square(from), square(to));
    match game.clone_box().play(&text) {
        Err(error) => Err(illegal(format!("{error} (squares {text})"), told)),
        Ok(()) => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_may_carry_a_number() {
        let two = "(int player, const int *board) { return 0; }\n";
        for (text, wanted) in [
            (format!("int ai_player{two}int ai_player_7{two}"), Ok("ai_player")),
            (format!("int ai_player_best{two}int ai_player_1155{two}"), Ok("ai_player_1155")),
            (format!("static int ai_playerX{two}int ai_player_(int a) {{}}"), Ok("ai_playerX")),
            (format!("int ai_player_1{two}int ai_player_2{two}"), Err("several functions")),
            ("int main(void) { return 0; }".to_string(), Err("there is no function int ai_player")),
        ] {
            match (ai_player(&text), wanted) {
                (Ok(name), Ok(wanted)) => assert_eq!(name, wanted),
                (Err(why), Err(wanted)) => assert!(why.contains(wanted), "{why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn of_several_captures_with_the_same_ends_the_longest_counts() {
        // From 22 to 8 by 18 and 11, or the other way round by 26, 27, 19 and 11.
        let game: crownhead_rules::Game = "contest:kings=true".parse().unwrap();
        let session = crownhead_play::new_session(&game, Some("B:W11,18,19,26,27:BK22")).unwrap();
        let texts: Vec<_> = session.legal_moves().into_iter().map(|mv| mv.text).collect();
        assert_eq!(texts, ["22x22", "22x31x24x15x8", "22x15x8"]);
        assert_eq!(squares(session.as_ref(), "5 2 1 6").unwrap(), "22x31x24x15x8");
        // Round and back to where it began.
        assert_eq!(squares(session.as_ref(), "5 2 5 2").unwrap(), "22x22");
    }

    #[test]
    fn what_is_no_move_is_told_in_the_words_of_the_function() {
        let session = crownhead_play::new_session(&"contest".parse().unwrap(), None).unwrap();
        assert_eq!(squares(session.as_ref(), "2 1 3 0").unwrap(), "9-13");
        for (answer, why) in [
            ("-1 -1 -1 -1", "row -1, column -1 is no dark square"),
            ("2 2 3 3", "row 2, column 2 is no dark square"),
            ("3 0 4 1", "received: row1=3 col1=0 row2=4 col2=1"),
        ] {
            let fault = squares(session.as_ref(), answer).unwrap_err();
            assert_eq!(fault.kind, FaultKind::IllegalMove);
            assert!(fault.to_string().contains(why), "{fault}");
        }
        for answer in ["0", "-1131", "1191", "11319", "113a"] {
            assert!(number(answer).unwrap_err().to_string().contains("start*100+end"), "{answer}");
        }
    }
}
