//! Bots that are a function in a source file, compiled with a shim that speaks the bot protocol.
//!
//! The wrapper includes the author's file instead of linking it. So the function may be `static`, a
//! `main` does no harm, and compiler messages name the author's file and lines. Everything is
//! compiled in a scratch folder that is removed with the program.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameOver, GameStart, LegalMove, Session, StopFlag,
};
use crownhead_rules::Cell;
use crownhead_sandbox::ScratchDir;

use super::c_source::{definitions, included_files};
use super::checkerboard::HOST;
use super::forced_pass;
use crate::Protocol;
use crate::process::BotProcess;
use crate::protocol::v1::V1Adapter;
use crate::protocol::{AskError, ProtocolAdapter};

/// The part of the program that is the same for all functions.
const SHIM: &str = include_str!("shims/shim.c");
/// Code shared by the shim and the host of CheckerBoard engines.
const LINES: &str = include_str!("shims/lines.h");
/// Maximum size of a source file.
const MAX_SOURCE_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of headers that are found.
const MAX_HEADERS: usize = 100;
const HEADER_EXTENSIONS: [&str; 6] = ["h", "hh", "hpp", "hxx", "inc", "inl"];

/// Reads a source file, up to its maximum size.
fn read_source(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_SOURCE_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Name and text of a file to compile.
type SourceFile = (&'static str, String);

/// A source file with a function that plays, or a shared library that is an engine.
#[derive(Clone)]
pub(crate) struct CSource {
    protocol: Protocol,
    /// Absolute path.
    file: PathBuf,
    /// The folder in which the source, or the host of the library, is compiled; shared by all
    /// clones.
    scratch: Arc<OnceLock<ScratchDir>>,
}

impl CSource {
    /// Checks that the file exists and can be included.
    pub(crate) fn new(protocol: Protocol, file: &Path) -> Result<CSource, String> {
        let invalid = |message: &str| format!("{}: {message}", file.display());
        let metadata = file
            .metadata()
            .map_err(|error| invalid(&format!("{error}; {protocol} needs {}", protocol.file())))?;
        if metadata.is_dir() {
            return Err(invalid(&format!("a folder; {protocol} needs {}", protocol.file())));
        }
        if !metadata.is_file() {
            return Err(invalid("not a regular file"));
        }
        if protocol.is_function() && metadata.len() > MAX_SOURCE_BYTES {
            return Err(invalid("larger than 8 MiB"));
        }
        let file = file.canonicalize().map_err(|error| invalid(&error.to_string()))?;
        // Such a path cannot be written in #include "…".
        if file.to_str().is_none_or(|name| name.contains(['"', '\n', '\r', '\\'])) {
            return Err(invalid(
                "the path must be UTF-8 without quotes, backslashes and line breaks",
            ));
        }
        Ok(CSource { protocol, file, scratch: Arc::default() })
    }

    /// Returns the absolute paths of the file and of the headers that it includes by `#include
    /// "…"`, directly or not. Only headers in its folder count: a bot must not include another one.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let folder = self.folder();
        let mut files = vec![self.file.clone()];
        let mut next = 0;
        let max_files = if self.protocol.is_function() { MAX_HEADERS } else { 0 };
        while let Some(file) = files.get(next).filter(|_| files.len() < max_files) {
            let text = read_source(file).unwrap_or_default();
            let parent = file.parent().unwrap_or(&folder);
            let included = included_files(&text).map(|name| parent.join(name));
            let included: Vec<_> = included.filter_map(|path| path.canonicalize().ok()).collect();
            for path in included {
                let extension = path.extension().and_then(|extension| extension.to_str());
                let is_header = extension.is_some_and(|text| HEADER_EXTENSIONS.contains(&text));
                // Opening a named pipe would block.
                let is_own = path.starts_with(&folder) && path.is_file();
                if is_header && is_own && !files.contains(&path) {
                    files.push(path);
                }
            }
            next += 1;
        }
        files
    }

    /// Returns the folder of the file, where the bot runs.
    pub(crate) fn folder(&self) -> PathBuf {
        self.file.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
    }

    /// Returns the folder it is compiled in.
    pub(crate) fn build_dir(&self) -> Option<&Path> {
        self.scratch.get().map(ScratchDir::path)
    }

    /// Returns the paths that the compiler and the bot must be able to read.
    pub(crate) fn readable_paths(&self) -> Vec<PathBuf> {
        self.files().into_iter().chain(self.build_dir().map(Path::to_path_buf)).collect()
    }

    /// Returns the compiled program and its arguments.
    pub(crate) fn argv(&self) -> Vec<String> {
        let name = PathBuf::from("bot");
        let program = self.build_dir().map_or(name.clone(), |folder| folder.join(name));
        let library = (!self.protocol.is_function()).then_some(&self.file);
        let words = [&program].into_iter().chain(library);
        words.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Writes the wrapper and the shim to a scratch folder and returns the compiler command.
    pub(crate) fn prepare(&self) -> Result<Vec<String>, String> {
        let (compiler, sources) = self.sources()?;
        let scratch_error =
            |error| format!("cannot create a scratch folder to compile in: {error}");
        let scratch = ScratchDir::new().map_err(scratch_error)?;
        let folder = scratch.path().to_path_buf();
        let _ = self.scratch.set(scratch);
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let mut argv = vec![compiler.to_string(), "-O2".into(), "-o".into(), path("bot")];
        std::fs::write(path("lines.h"), LINES).map_err(scratch_error)?;
        for (name, text) in sources {
            std::fs::write(path(name), text).map_err(scratch_error)?;
            argv.push(path(name));
        }
        argv.extend(["-lm", "-ldl", "-pthread"].map(String::from));
        Ok(argv)
    }

    /// Returns the compiler, and names and texts of the files to compile.
    fn sources(&self) -> Result<(&'static str, Vec<SourceFile>), String> {
        if !self.protocol.is_function() {
            return Ok(("cc", vec![("host.c", HOST.into())]));
        }
        let invalid = |message: String| format!("{}: {message}", self.file.display());
        let text = read_source(&self.file).map_err(|error| invalid(error.to_string()))?;
        let wrapper = self.wrapper_source(&text).map_err(invalid)?;
        Ok(match self.protocol {
            Protocol::CFunction => ("cc", vec![("call.c", wrapper), ("shim.c", SHIM.into())]),
            _ => ("c++", vec![("call.cpp", wrapper), ("shim.cpp", SHIM.into())]),
        })
    }

    /// Generates the source that includes the author's file and calls the function.
    fn wrapper_source(&self, text: &str) -> Result<String, String> {
        let file = self.file.display();
        // Renames the author's `main`. Our names are long, so that they do not clash with macros of
        // the author.
        let include = format!("#define main crownhead_main\n#include \"{file}\"\n#undef main\n");
        let wrapper = match self.protocol {
            Protocol::CFunction => C_WRAPPER.replace("FUNCTION", &find_ai_player(text)?),
            _ => CPP_WRAPPER.replace("CALLS", &cpp_calls(text)?),
        };
        Ok(include + &wrapper)
    }
}

/// Calls the function of a C file. Cell `rc` is element `rc` of the board.
const C_WRAPPER: &str = "\
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
const CPP_WRAPPER: &str = "\
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

/// Calls the function of one side of a C++ file.
const CPP_CALL: &str = "  if (crownhead_player == PLAYER) {
    FUNCTION(crownhead_board, crownhead_answer[0], crownhead_answer[1], crownhead_answer[2],
             crownhead_answer[3], crownhead_player);
    return 4;
  }
";

/// Generates the calls of the functions that a C++ file defines.
fn cpp_calls(text: &str) -> Result<String, String> {
    let mut calls = String::new();
    for (name, side, player) in [("move_black", "black", "1"), ("move_red", "red", "2")] {
        let functions = definitions(text, name);
        let Some(function) = functions.iter().find(|function| function.name == name) else {
            continue;
        };
        if function.parameters != 6 {
            return Err(format!(
                "the function {name} has {} parameters, expected six: void {name}(int board[][8], \
                 int &row1, int &col1, int &row2, int &col2, int {side})",
                function.parameters
            ));
        }
        calls += &CPP_CALL.replace("FUNCTION", name).replace("PLAYER", player);
    }
    if calls.is_empty() {
        return Err("found neither void move_black(int board[][8], int &row1, int &col1, int \
                    &row2, int &col2, int black) nor move_red"
            .into());
    }
    Ok(calls)
}

/// Finds the function of a C file: `ai_player`, or else a name that starts with it, preferably one
/// with a student number.
fn find_ai_player(text: &str) -> Result<String, String> {
    let mut functions = definitions(text, "ai_player");
    functions.retain(|function| function.parameters == 2);
    let rank = |name: &str| match name {
        "ai_player" => 0,
        name if name.contains(|c: char| c.is_ascii_digit()) => 1,
        _ => 2,
    };
    let best = functions.iter().map(|function| rank(&function.name)).min();
    let mut candidates = functions.iter().filter(|function| Some(rank(&function.name)) == best);
    match (candidates.next(), candidates.next()) {
        (Some(function), None) => Ok(function.name.clone()),
        (Some(a), Some(b)) => Err(format!(
            "found several functions, {} and {}: name the one that plays ai_player, or give only \
             that one a number",
            a.name, b.name
        )),
        _ => Err("found no function int ai_player(int player, const int *board); the name may \
                  continue, for example ai_player_1155012345"
            .into()),
    }
}

/// The adapter for compiled functions: the bot protocol, with numbers instead of move texts.
pub(crate) struct FunctionAdapter {
    protocol: Protocol,
    v1: V1Adapter,
    side: char,
}

impl FunctionAdapter {
    pub(crate) fn new(protocol: Protocol) -> FunctionAdapter {
        FunctionAdapter { protocol, v1: V1Adapter::for_function(), side: ' ' }
    }
}

impl ProtocolAdapter for FunctionAdapter {
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
        self.side = start.letter();
        self.v1.new_game(bot, start, stop)
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
        let answer = self.v1.request_move(bot, game, clock, deadline, stop)?.text;
        if answer == "none" {
            let name = if self.side == 'b' { "move_black" } else { "move_red" };
            let message = format!("the bot has no function {name}: it plays the other side only");
            return Err(Fault::new(FaultKind::IllegalMove, message).into());
        }
        let text = match self.protocol {
            Protocol::CppFunction => cpp_move(game, &answer),
            _ => c_move(&answer),
        };
        text.map(Choice::from_text).map_err(AskError::Fault)
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

fn illegal_move(message: String, received: String) -> Fault {
    Fault { received: Some(received), ..Fault::new(FaultKind::IllegalMove, message) }
}

/// Converts the return value of a C function, start*100+end, to the text of a move.
fn c_move(answer: &str) -> Result<String, Fault> {
    if answer.len() == 4 && answer.bytes().all(|digit| (b'1'..=b'8').contains(&digit)) {
        return Ok(answer.to_string());
    }
    let message =
        format!("the function returned {answer}, expected start*100+end with cells from 11 to 88");
    Err(illegal_move(message, answer.to_string()))
}

/// Converts the start and final square of a C++ function to the text of a move.
///
/// Of several captures between the two squares, this is the one with the most captured pieces, and
/// of those the first in generation order: the function cannot say which it means
/// (`docs/rules.md`).
fn cpp_move(game: &dyn Session, answer: &str) -> Result<String, Fault> {
    let numbers: Vec<i32> = answer.split(' ').filter_map(|number| number.parse().ok()).collect();
    let &[row1, col1, row2, col2] = &numbers[..] else {
        return Err(illegal_move("the function set no move".into(), answer.to_string()));
    };
    let received = format!("row1={row1} col1={col1} row2={row2} col2={col2}");
    let (from, to) = ((row1, col1), (row2, col2));
    let is_on_board = |number: i32| (0..8).contains(&number);
    let is_dark =
        |(row, column)| is_on_board(row) && is_on_board(column) && (row + column) % 2 != 0;
    if let Some((row, column)) = [from, to].into_iter().find(|square| !is_dark(*square)) {
        let message = format!(
            "row {row}, column {column} is not a dark square: both count from 0 to 7, and their \
             sum is odd"
        );
        return Err(illegal_move(message, received));
    }
    let square = |cell: &Cell| (i32::from(cell.row()) - 1, i32::from(cell.column()) - 1);
    let connects = |mv: &&LegalMove| {
        mv.path.first().map(square) == Some(from) && mv.path.last().map(square) == Some(to)
    };
    let legal = game.legal_moves();
    // `max_by_key` would return the last of equals.
    let best = legal.iter().filter(connects).rev().max_by_key(|mv| mv.captures.len());
    if let Some(mv) = best {
        return Ok(mv.text.clone());
    }
    // Play it as text, so that the rules explain what is wrong with it.
    let number = |(row, column): (i32, i32)| row * 4 + column / 2 + 1;
    let is_step = (row1 - row2).abs() == 1 && (col1 - col2).abs() == 1;
    let separator = if is_step { '-' } else { 'x' };
    let text = format!("{}{separator}{}", number(from), number(to));
    match game.clone_box().play(&text) {
        Err(error) => Err(illegal_move(format!("{error} (squares {text})"), received)),
        Ok(()) => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_name_may_contain_a_number() {
        let two = "(int player, const int *board) { return 0; }\n";
        for (text, expected) in [
            (format!("int ai_player{two}int ai_player_7{two}"), Ok("ai_player")),
            (format!("int ai_player_best{two}int ai_player_1155{two}"), Ok("ai_player_1155")),
            (format!("static int ai_playerX{two}int ai_player_(int a) {{}}"), Ok("ai_playerX")),
            (format!("int ai_player_1{two}int ai_player_2{two}"), Err("several functions")),
            ("int main(void) { return 0; }".to_string(), Err("found no function int ai_player")),
        ] {
            match (find_ai_player(&text), expected) {
                (Ok(name), Ok(expected)) => assert_eq!(name, expected),
                (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
                (result, _) => panic!("{text}: {result:?}"),
            }
        }
    }

    #[test]
    fn largest_capture_is_chosen_between_the_same_squares() {
        // From 22 to 8: over 18 and 11, or the long way over 26, 27, 19 and 11.
        let game: crownhead_rules::Game = "contest:kings=true".parse().unwrap();
        let session = crownhead_play::new_session(&game, Some("B:W11,18,19,26,27:BK22")).unwrap();
        let texts: Vec<_> = session.legal_moves().into_iter().map(|mv| mv.text).collect();
        assert_eq!(texts, ["22x22", "22x31x24x15x8", "22x15x8"]);
        assert_eq!(cpp_move(session.as_ref(), "5 2 1 6").unwrap(), "22x31x24x15x8");
        // A round trip.
        assert_eq!(cpp_move(session.as_ref(), "5 2 5 2").unwrap(), "22x22");
    }

    #[test]
    fn invalid_answer_is_reported_in_terms_of_the_function() {
        let session = crownhead_play::new_session(&"contest".parse().unwrap(), None).unwrap();
        assert_eq!(cpp_move(session.as_ref(), "2 1 3 0").unwrap(), "9-13");
        for (answer, message) in [
            ("-1 -1 -1 -1", "row -1, column -1 is not a dark square"),
            ("2 2 3 3", "row 2, column 2 is not a dark square"),
            ("3 0 4 1", "received: row1=3 col1=0 row2=4 col2=1"),
        ] {
            let fault = cpp_move(session.as_ref(), answer).unwrap_err();
            assert_eq!(fault.kind, FaultKind::IllegalMove);
            assert!(fault.to_string().contains(message), "{fault}");
        }
        for answer in ["0", "-1131", "1191", "11319", "113a"] {
            assert!(c_move(answer).unwrap_err().to_string().contains("start*100+end"), "{answer}");
        }
    }
}
