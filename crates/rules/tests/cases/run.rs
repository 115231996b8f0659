//! Sets a case up, makes its checks in order, and tells what does not hold.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crownhead_rules::{Cell, Game, GameVisitor, MoveErrorKind, MoveList, Notation, Outcome};

use crate::parse::{self, Case, Entry};

/// What does not hold in a file of cases: `file:line: title` and the fault.
pub(crate) fn failures(file: &str, text: &str) -> Vec<String> {
    let cases = match parse::cases(text) {
        Ok(cases) => cases,
        Err(fault) => return vec![format!("{file}:{fault}")],
    };
    let named = |case: &Case, (line, fault): (usize, String)| {
        format!("{file}:{line}: {}\n{fault}\n", case.title)
    };
    let failures =
        |case: &Case| run(case).into_iter().map(|fault| named(case, fault)).collect::<Vec<_>>();
    let mut found: Vec<_> = cases.iter().flat_map(failures).collect();
    for (index, case) in cases.iter().enumerate() {
        if cases[..index].iter().any(|other| other.title == case.title) {
            found.push(named(case, (case.line, "two cases have this title".into())));
        }
    }
    found
}

/// The faults of one case, each with its line.
fn run(case: &Case) -> Vec<(usize, String)> {
    let has = |key: &str| case.entries.iter().any(|entry| entry.key == key);
    if !has("rule") {
        return vec![(case.line, "the case quotes no rule".into())];
    }
    let game = match case.entries.iter().find(|entry| entry.key == "game") {
        Some(entry) => match entry.value().parse::<Game>() {
            Ok(game) => Some(game),
            Err(error) => return vec![(entry.line, error.to_string())],
        },
        None => None,
    };
    let mut faults = Vec::new();
    let mut checks = 0;
    for entry in case.entries.iter().filter(|entry| entry.key == "refused game") {
        checks += 1;
        if let Err(fault) = refused_game(entry) {
            faults.push((entry.line, fault));
        }
    }
    if let Some(game) = game {
        let (more, made) = game.visit(Run(case));
        faults.extend(more);
        checks += made;
    }
    if checks == 0 {
        faults.push((case.line, "the case checks nothing".into()));
    }
    faults
}

fn refused_game(entry: &Entry) -> Result<(), String> {
    let (text, sentence) = entry.parts(" -- ")?;
    match text.parse::<Game>() {
        Ok(game) => Err(format!("{text:?} is read as {game}")),
        Err(error) => same("the sentence", &sentence, &error.to_string()),
    }
}

/// One case, once its game is known. Gives the faults and the number of checks made.
struct Run<'a>(&'a Case);

impl GameVisitor for Run<'_> {
    type Output = (Vec<(usize, String)>, usize);

    fn visit<P: Notation>(self, options: &P::Options) -> Self::Output {
        let mut table = Table::<P> { options, drawn: None, position: None, past: Vec::new() };
        let mut faults = Vec::new();
        let mut checks = 0;
        for entry in &self.0.entries {
            // A panic must not keep the other cases from being told.
            let made = catch_unwind(AssertUnwindSafe(|| table.entry(entry)));
            match made.unwrap_or_else(|_| Err("the program panicked".into())) {
                Ok(made) => checks += made,
                Err(fault) => {
                    faults.push((entry.line, fault));
                    checks += 1;
                    if ["board", "turn", "position", "play"].contains(&entry.key.as_str()) {
                        break; // nothing that follows is on its board
                    }
                }
            }
        }
        (faults, checks)
    }
}

/// The table a case is played on.
struct Table<'a, P: Notation> {
    options: &'a P::Options,
    /// A drawn board that waits for the side to move.
    drawn: Option<[char; 64]>,
    position: Option<P>,
    /// The keys of the earlier positions.
    past: Vec<u64>,
}

impl<P: Notation> Table<'_, P> {
    /// Does what an entry says. Gives the number of checks made.
    fn entry(&mut self, entry: &Entry) -> Result<usize, String> {
        match entry.key.as_str() {
            "rule" | "note" | "game" | "refused game" => return Ok(0),
            "board" if entry.value() == "start" && entry.below.is_empty() => {
                self.set(P::start(self.options));
                return Ok(0);
            }
            "board" => {
                self.drawn = Some(entry.drawing()?);
                self.position = None;
                return Ok(0);
            }
            "turn" => return self.turn(&entry.value()).map(|()| 0),
            "position" => {
                let position = P::parse_position(&entry.raw, self.options);
                self.set(position.map_err(|error| error.to_string())?);
            }
            "refused position" => self.refused_position(entry)?,
            "becomes" => {
                let expected = entry.drawing()?;
                let found = self.position()?.board();
                if found != expected {
                    return Err(format!("the board is\n{}", drawn(&found)));
                }
            }
            "play" => self.play(&entry.value())?,
            "moves" => same_set(&entry.value(), self.moves(None)?)?,
            "next" => {
                let position = self.position()?;
                let plies = position.format_position().split(' ').nth(2).map(str::to_string);
                let mut found = P::letter(position.side()).to_string();
                if let (true, Some(plies)) = (entry.value().contains("after"), plies) {
                    found = format!("{found} after {plies} plies");
                }
                same("the side to move", &entry.value(), &found)?;
            }
            "outcome" => {
                let found = self.position()?.outcome(&self.past);
                let found = found.map_or("none".into(), outcome_text::<P>);
                same("the outcome", &entry.value(), &found)?;
            }
            "says" => {
                let position = self.position()?;
                let outcome = position.outcome(&self.past).ok_or("the game goes on")?;
                same("the sentence", &entry.value(), &position.describe(outcome))?;
            }
            "text" => same("the text", &entry.value(), &self.position()?.format_position())?,
            "reads" => {
                let (text, canonical) = entry.parts(" = ")?;
                let mv = self.read_move(&text)?;
                same("the move", &canonical, &self.position()?.format_move(mv))?;
            }
            "path" | "takes" => {
                let (text, cells) = entry.parts(" = ")?;
                let (position, mv) = (self.position()?, self.read_move(&text)?);
                let found = match entry.key.as_str() {
                    "path" => position.path(mv),
                    _ => position.captures(mv),
                };
                let found: Vec<_> = found.into_iter().map(name::<P>).collect();
                let found = if found.is_empty() { "none".into() } else { found.join(" ") };
                same("the list", &cells, &found)?;
            }
            key => match (key.strip_prefix("moves of "), key.strip_prefix("refused (")) {
                (Some(from), _) => same_set(&entry.value(), self.moves(Some(from))?)?,
                (_, Some(kind)) => self.refused(kind.trim_end_matches(')'), entry)?,
                _ => return Err(format!("there is no entry `{key}`")),
            },
        }
        Ok(1)
    }

    fn set(&mut self, position: P) {
        self.position = Some(position);
        self.past.clear();
        self.drawn = None;
    }

    fn position(&self) -> Result<&P, String> {
        self.position.as_ref().ok_or_else(|| "there is no board, or no turn, yet".into())
    }

    /// Puts the drawn board and the side to move together.
    fn turn(&mut self, turn: &str) -> Result<(), String> {
        let board = self.drawn.take().ok_or("`turn` follows a drawn board")?;
        let (side, plies) = match turn.split(' ').collect::<Vec<_>>()[..] {
            [side] => (side, "0"),
            [side, "after", plies, "plies"] => (side, plies),
            _ => return Err("`turn` is written: b, or # after 17 plies".into()),
        };
        let text =
            if numbers_squares::<P>() { fen(&board, side)? } else { rows(&board, side, plies) };
        let position =
            P::parse_position(&text, self.options).map_err(|error| format!("{text}: {error}"))?;
        if position.board() != board {
            return Err(format!("{text} is read as\n{}", drawn(&position.board())));
        }
        same("the position text", &text, &position.format_position())?;
        self.set(position);
        Ok(())
    }

    fn refused_position(&self, entry: &Entry) -> Result<(), String> {
        let (column, sentence) = entry.mark()?;
        match P::parse_position(&entry.raw, self.options) {
            Ok(position) => Err(format!("it is read as {}", position.format_position())),
            Err(error) => {
                let expected = format!("position, character {column}: {sentence}");
                same("the sentence", &expected, &error.to_string())
            }
        }
    }

    fn refused(&self, kind: &str, entry: &Entry) -> Result<(), String> {
        let (text, sentence) = entry.parts(" -- ")?;
        let kind = match kind {
            "format" => MoveErrorKind::Format,
            "off board" => MoveErrorKind::OffBoard,
            "start" => MoveErrorKind::Start,
            "end" => MoveErrorKind::End,
            "rule" => MoveErrorKind::Rule,
            _ => return Err("a move is refused for: format, off board, start, end, rule".into()),
        };
        let position = self.position()?;
        match position.parse_move(&text) {
            Ok(mv) => Err(format!("{text:?} is read as {}", position.format_move(mv))),
            Err(error) => {
                same("the sentence", &sentence, &error.reason)?;
                same("the check", &format!("{kind:?}"), &format!("{:?}", error.kind))
            }
        }
    }

    fn read_move(&self, text: &str) -> Result<P::Move, String> {
        let read = self.position()?.parse_move(text);
        read.map_err(|error| format!("{text:?} is refused: {}", error.reason))
    }

    /// The texts of the legal moves, of all pieces or of the one named. Each must read back as its
    /// move.
    fn moves(&self, from: Option<&str>) -> Result<Vec<String>, String> {
        let position = self.position()?;
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let mut texts = Vec::new();
        for &mv in &legal {
            let text = position.format_move(mv);
            if self.read_move(&text)? != mv {
                return Err(format!("{text} reads back as another move"));
            }
            let start = position.path(mv).first().map(|&cell| name::<P>(cell));
            if from.is_none() || from == start.as_deref() {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// Plays moves, given as they are or after `12 times:`.
    fn play(&mut self, text: &str) -> Result<(), String> {
        let (times, moves) = match text.split_once(" times:") {
            Some((times, moves)) => (times.parse().map_err(|_| "how many times?")?, moves),
            None => (1, text),
        };
        let moves: Vec<_> = moves.split_whitespace().collect();
        for ply in 0..times * moves.len() {
            let mv = moves[ply % moves.len()];
            let at = |fault: String| format!("ply {}, {mv}: {fault}", ply + 1);
            let position = self.position()?.clone();
            if let Some(outcome) = position.outcome(&self.past) {
                return Err(at(format!("the game is over: {}", position.describe(outcome))));
            }
            let next = position.after(self.read_move(mv).map_err(at)?);
            self.past.push(position.key());
            self.position = Some(next);
        }
        Ok(())
    }
}

/// Whether the game names its dark squares by number.
fn numbers_squares<P: Notation>() -> bool {
    ["english", "contest"].contains(&P::ID)
}

/// The number of a dark square, four to a row; light cells have none.
fn square(cell: Cell) -> Option<u8> {
    let (row, column) = (cell.row(), cell.column());
    ((row + column) % 2 == 1).then_some((row - 1) * 4 + column.div_ceil(2))
}

/// How the game's players call a cell.
fn name<P: Notation>(cell: Cell) -> String {
    match square(cell) {
        Some(number) if numbers_squares::<P>() => number.to_string(),
        _ => cell.to_string(),
    }
}

/// The text of a drawn board with numbered squares.
fn fen(board: &[char; 64], side: &str) -> Result<String, String> {
    let mut lists = [Vec::new(), Vec::new()];
    for cell in Cell::all() {
        let letter = board[cell.index() as usize];
        let king = if letter.is_ascii_uppercase() { "K" } else { "" };
        match (letter.to_ascii_lowercase(), square(cell)) {
            ('.', _) => {}
            ('b', Some(number)) => lists[1].push(format!("{king}{number}")),
            ('w', Some(number)) => lists[0].push(format!("{king}{number}")),
            _ => return Err(format!("{letter:?} is drawn on {cell}")),
        }
    }
    let [white, black] = lists.map(|list| list.join(","));
    Ok(format!("{}:W{white}:B{black}", side.to_uppercase()))
}

/// The text of a drawn board in rows.
fn rows(board: &[char; 64], side: &str, plies: &str) -> String {
    let mut text: String = String::new();
    for (index, row) in board.chunks(8).enumerate() {
        text.push_str(if index > 0 { "/" } else { "" });
        text.extend(row);
    }
    for run in (1..=8).rev() {
        text = text.replace(&".".repeat(run), &run.to_string());
    }
    format!("{text} {side} {plies}")
}

/// A board as the cases draw it.
fn drawn(board: &[char; 64]) -> String {
    let mut text = String::from("     1 2 3 4 5 6 7 8");
    for (index, row) in board.chunks(8).enumerate() {
        let row: Vec<_> = row.iter().map(char::to_string).collect();
        text.push_str(&format!("\n  {}  {}", index + 1, row.join(" ")));
    }
    text
}

fn outcome_text<P: Notation>(outcome: Outcome) -> String {
    let result = match outcome.winner {
        Some(side) => format!("{} wins", P::SIDES[side.index()].name),
        None => "draw".into(),
    };
    let score = outcome.score.map(|(first, second)| format!(" {first}-{second}"));
    format!("{result}{} ({})", score.unwrap_or_default(), outcome.reason.code())
}

fn same(what: &str, expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what} is not as expected\n    expected: {expected}\n    found:    {found}"))
}

/// Compares lists of moves without regard to order.
fn same_set(expected: &str, mut found: Vec<String>) -> Result<(), String> {
    let mut expected: Vec<_> = expected.split_whitespace().filter(|&word| word != "none").collect();
    expected.sort_unstable();
    found.sort_unstable();
    same("the list of moves", &expected.join(" "), &found.join(" "))
}
