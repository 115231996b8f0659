//! Runs cases and reports the checks that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crownhead_rules::{Cell, Game, GameVisitor, MoveErrorKind, MoveList, Notation, Outcome};

use super::parse::{self, Case, Entry};

/// Runs the cases of a file. Each failure is `file:line: title` and what is wrong.
pub(crate) fn failures(file: &str, text: &str) -> Vec<String> {
    let cases = match parse::cases(text) {
        Ok(cases) => cases,
        Err(error) => return vec![format!("{file}:{error}")],
    };
    let report = |case: &Case, (line, error): (usize, String)| {
        format!("{file}:{line}: {}\n{error}\n", case.title)
    };
    let failures =
        |case: &Case| run(case).into_iter().map(|error| report(case, error)).collect::<Vec<_>>();
    let mut failures: Vec<_> = cases.iter().flat_map(failures).collect();
    for (index, case) in cases.iter().enumerate() {
        if cases[..index].iter().any(|other| other.title == case.title) {
            failures.push(report(case, (case.line, "duplicate title".into())));
        }
    }
    failures
}

/// Runs one case and returns its failures with their lines.
fn run(case: &Case) -> Vec<(usize, String)> {
    let has = |key: &str| case.entries.iter().any(|entry| entry.key == key);
    if !has("rule") {
        return vec![(case.line, "missing `rule`".into())];
    }
    let game = match case.entries.iter().find(|entry| entry.key == "game") {
        Some(entry) => match entry.value().parse::<Game>() {
            Ok(game) => Some(game),
            Err(error) => return vec![(entry.line, error.to_string())],
        },
        None => None,
    };
    let mut errors = Vec::new();
    let mut checks = 0;
    for entry in case.entries.iter().filter(|entry| entry.key == "game error") {
        checks += 1;
        if let Err(error) = check_game_error(entry) {
            errors.push((entry.line, error));
        }
    }
    if let Some(game) = game {
        let (more, count) = game.visit(Run(case));
        errors.extend(more);
        checks += count;
    }
    if checks == 0 {
        errors.push((case.line, "the case checks nothing".into()));
    }
    errors
}

fn check_game_error(entry: &Entry) -> Result<(), String> {
    let (text, message) = entry.parts(" -- ")?;
    match text.parse::<Game>() {
        Ok(game) => Err(format!("{text:?} parses as {game}")),
        Err(error) => compare("message", &message, &error.to_string()),
    }
}

/// Runs a case of a known game. Returns the failures and the number of checks.
struct Run<'a>(&'a Case);

impl GameVisitor for Run<'_> {
    type Output = (Vec<(usize, String)>, usize);

    fn visit<P: Notation>(self, options: &P::Options) -> Self::Output {
        let mut state = State::<P> { options, drawn: None, position: None, past: Vec::new() };
        let mut errors = Vec::new();
        let mut checks = 0;
        for entry in &self.0.entries {
            // A panic must not hide the failures of other cases.
            let result = catch_unwind(AssertUnwindSafe(|| state.entry(entry)));
            match result.unwrap_or_else(|_| Err("panicked".into())) {
                Ok(count) => checks += count,
                Err(error) => {
                    errors.push((entry.line, error));
                    checks += 1;
                    if ["board", "turn", "position", "play"].contains(&entry.key.as_str()) {
                        break; // the checks that follow need this position
                    }
                }
            }
        }
        (errors, checks)
    }
}

/// The state of a running case.
struct State<'a, P: Notation> {
    options: &'a P::Options,
    /// A drawn board whose side to move is not known yet.
    drawn: Option<[char; 64]>,
    position: Option<P>,
    /// Keys of the earlier positions.
    past: Vec<u64>,
}

impl<P: Notation> State<'_, P> {
    /// Executes an entry. Returns the number of checks.
    fn entry(&mut self, entry: &Entry) -> Result<usize, String> {
        match entry.key.as_str() {
            "rule" | "note" | "game" | "game error" => return Ok(0),
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
            "position error" => self.check_position_error(entry)?,
            "becomes" => {
                let expected = entry.drawing()?;
                let found = self.position()?.board();
                if found != expected {
                    return Err(format!("the board is\n{}", draw(&found)));
                }
            }
            "play" => self.play(&entry.value())?,
            "moves" => compare_sets(&entry.value(), self.moves(None)?)?,
            "next" => {
                let position = self.position()?;
                let plies = position.format_position().split(' ').nth(2).map(str::to_string);
                let mut found = P::letter(position.side()).to_string();
                if let (true, Some(plies)) = (entry.value().contains("after"), plies) {
                    found = format!("{found} after {plies} plies");
                }
                compare("side to move", &entry.value(), &found)?;
            }
            "outcome" => {
                let found = self.position()?.outcome(&self.past);
                let found = found.map_or("none".into(), outcome_text::<P>);
                compare("outcome", &entry.value(), &found)?;
            }
            "description" => {
                let position = self.position()?;
                let outcome = position.outcome(&self.past).ok_or("the game has not ended")?;
                compare("description", &entry.value(), &position.describe(outcome))?;
            }
            "text" => compare("text", &entry.value(), &self.position()?.format_position())?,
            "parses" => {
                let (text, canonical) = entry.parts(" = ")?;
                let mv = self.parse_move(&text)?;
                compare("move", &canonical, &self.position()?.format_move(mv))?;
            }
            "path" | "captures" => {
                let (text, cells) = entry.parts(" = ")?;
                let (position, mv) = (self.position()?, self.parse_move(&text)?);
                let found = match entry.key.as_str() {
                    "path" => position.path(mv),
                    _ => position.captures(mv),
                };
                let found: Vec<_> = found.into_iter().map(name::<P>).collect();
                let found = if found.is_empty() { "none".into() } else { found.join(" ") };
                compare("cells", &cells, &found)?;
            }
            key => match (key.strip_prefix("moves of "), key.strip_prefix("error (")) {
                (Some(from), _) => compare_sets(&entry.value(), self.moves(Some(from))?)?,
                (_, Some(kind)) => self.check_move_error(kind.trim_end_matches(')'), entry)?,
                _ => return Err(format!("unknown entry `{key}`")),
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
        self.position.as_ref().ok_or_else(|| "missing `board` or `turn`".into())
    }

    /// Sets up the drawn board with this side to move.
    fn turn(&mut self, turn: &str) -> Result<(), String> {
        let board = self.drawn.take().ok_or("missing board before `turn`")?;
        let (side, plies) = match turn.split(' ').collect::<Vec<_>>()[..] {
            [side] => (side, "0"),
            [side, "after", plies, "plies"] => (side, plies),
            _ => return Err("write `turn: b` or `turn: # after 17 plies`".into()),
        };
        let text =
            if P::INFO.numbered_squares { fen(&board, side)? } else { rows(&board, side, plies) };
        let position =
            P::parse_position(&text, self.options).map_err(|error| format!("{text}: {error}"))?;
        if position.board() != board {
            return Err(format!("{text} parses as\n{}", draw(&position.board())));
        }
        compare("position", &text, &position.format_position())?;
        self.set(position);
        Ok(())
    }

    fn check_position_error(&self, entry: &Entry) -> Result<(), String> {
        let (column, message) = entry.caret()?;
        match P::parse_position(&entry.raw, self.options) {
            Ok(position) => Err(format!("parses as {}", position.format_position())),
            Err(error) => {
                let expected = format!("position, character {column}: {message}");
                compare("message", &expected, &error.to_string())
            }
        }
    }

    fn check_move_error(&self, kind: &str, entry: &Entry) -> Result<(), String> {
        let (text, message) = entry.parts(" -- ")?;
        let kind = match kind {
            "format" => MoveErrorKind::Format,
            "off board" => MoveErrorKind::OffBoard,
            "start" => MoveErrorKind::Start,
            "end" => MoveErrorKind::End,
            "rule" => MoveErrorKind::Rule,
            _ => return Err("the checks are format, off board, start, end, rule".into()),
        };
        let position = self.position()?;
        match position.parse_move(&text) {
            Ok(mv) => Err(format!("{text:?} parses as {}", position.format_move(mv))),
            Err(error) => {
                compare("message", &message, &error.reason)?;
                compare("check", &format!("{kind:?}"), &format!("{:?}", error.kind))
            }
        }
    }

    fn parse_move(&self, text: &str) -> Result<P::Move, String> {
        let parsed = self.position()?.parse_move(text);
        parsed.map_err(|error| format!("{text:?}: {}", error.reason))
    }

    /// Returns the legal moves of all pieces or of one. Checks that each parses back.
    fn moves(&self, from: Option<&str>) -> Result<Vec<String>, String> {
        let position = self.position()?;
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let mut texts = Vec::new();
        for &mv in &legal {
            let text = position.format_move(mv);
            if self.parse_move(&text)? != mv {
                return Err(format!("{text} parses as another move"));
            }
            let start = position.path(mv).first().map(|&cell| name::<P>(cell));
            if from.is_none() || from == start.as_deref() {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// Plays moves, optionally preceded by `12 times:`.
    fn play(&mut self, text: &str) -> Result<(), String> {
        let (times, moves) = match text.split_once(" times:") {
            Some((times, moves)) => (times.parse().map_err(|_| "invalid number of times")?, moves),
            None => (1, text),
        };
        let moves: Vec<_> = moves.split_whitespace().collect();
        for ply in 0..times * moves.len() {
            let mv = moves[ply % moves.len()];
            let at = |error: String| format!("ply {}, {mv}: {error}", ply + 1);
            let position = self.position()?.clone();
            if let Some(outcome) = position.outcome(&self.past) {
                return Err(at(format!("the game is over: {}", position.describe(outcome))));
            }
            let next = position.after(self.parse_move(mv).map_err(at)?);
            self.past.push(position.key());
            self.position = Some(next);
        }
        Ok(())
    }
}

/// Returns the number of a dark square; `None` for a light one. Independent of the crate under
/// test.
fn square(cell: Cell) -> Option<u8> {
    let (row, column) = (cell.row(), cell.column());
    ((row + column) % 2 == 1).then_some((row - 1) * 4 + column.div_ceil(2))
}

/// Returns the name of a cell in the game.
fn name<P: Notation>(cell: Cell) -> String {
    match square(cell) {
        Some(number) if P::INFO.numbered_squares => number.to_string(),
        _ => cell.to_string(),
    }
}

/// Formats a drawn board as FEN.
fn fen(board: &[char; 64], side: &str) -> Result<String, String> {
    let mut lists = [Vec::new(), Vec::new()];
    for cell in Cell::all() {
        let letter = board[cell.index() as usize];
        let king = if letter.is_ascii_uppercase() { "K" } else { "" };
        match (letter.to_ascii_lowercase(), square(cell)) {
            ('.', _) => {}
            ('b', Some(number)) => lists[1].push(format!("{king}{number}")),
            ('w', Some(number)) => lists[0].push(format!("{king}{number}")),
            _ => return Err(format!("unexpected {letter:?} on {cell}")),
        }
    }
    let [white, black] = lists.map(|list| list.join(","));
    Ok(format!("{}:W{white}:B{black}", side.to_uppercase()))
}

/// Formats a drawn board as rows.
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

/// Draws a board as in the case files.
fn draw(board: &[char; 64]) -> String {
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

fn compare(subject: &str, expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("wrong {subject}\n    expected: {expected}\n    found:    {found}"))
}

/// Compares lists of moves, ignoring their order.
fn compare_sets(expected: &str, mut found: Vec<String>) -> Result<(), String> {
    let mut expected: Vec<_> = expected.split_whitespace().filter(|&word| word != "none").collect();
    expected.sort_unstable();
    found.sort_unstable();
    compare("moves", &expected.join(" "), &found.join(" "))
}
