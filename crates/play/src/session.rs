//! A game and its history, with the type of the game erased.
//!
//! [`Session`] is the trait object for code that is not hot, [`TypedSession`] its implementation,
//! used directly by players that search. A session knows the rules, but no clocks, players or
//! records.

use std::any::Any;
use std::sync::OnceLock;

use crownhead_rules::{Cell, Game, MoveError, MoveList, Outcome, PositionError, Side, TableValue};
use crownhead_search::{GameVisitor, Knowledge, Searchable, visit};
use smallvec::SmallVec;

/// A game and its history.
pub trait Session: Send {
    /// The game and its options.
    fn game(&self) -> &Game;

    /// Text of the start position.
    fn start(&self) -> String;

    /// Text of the current position.
    fn position(&self) -> String;

    /// Letters of the 64 cells, row 1 first; `.` is empty.
    fn board(&self) -> [char; 64];

    /// The side to move.
    fn side(&self) -> Side;

    /// Texts of the moves played.
    fn moves(&self) -> Vec<String>;

    /// Number of moves played.
    fn plies(&self) -> usize;

    /// Text of the last move.
    fn last_move_text(&self) -> Option<String>;

    /// The last move, without its other paths.
    fn last_move(&self) -> Option<LegalMove>;

    /// Legal moves in generation order; none if the game is over.
    fn legal_moves(&self) -> Vec<LegalMove>;

    /// Appends the texts of the legal moves, separated by commas. Faster than
    /// [`legal_moves`](Session::legal_moves).
    fn write_legal_moves(&self, out: &mut String);

    /// Skips the turn although there are legal moves. Returns false if the game does not allow it.
    fn skip_turn(&mut self) -> bool;

    /// Plays a move in any unambiguous form.
    fn play(&mut self, text: &str) -> Result<(), PlayError>;

    /// Checks a move in any unambiguous form and returns its canonical text. The game must not be
    /// over.
    fn check_move(&self, text: &str) -> Result<String, MoveError>;

    /// Replays a recorded turn: a move or a skipped turn. Does not check whether the game is over.
    fn replay(&mut self, text: &str) -> Result<(), MoveError>;

    /// Takes back the last move. Returns false if there is none.
    fn undo(&mut self) -> bool;

    /// Outcome, if the game is over.
    fn outcome(&self) -> Option<Outcome>;

    /// Outcome in a sentence, if the game is over.
    fn outcome_text(&self) -> Option<String>;

    /// Number of plies until a draw counter or a turn limit ends the game; `None` if there is none.
    fn plies_left(&self) -> Option<u32>;

    /// Exact value of the position in its game, from the tables that contain it.
    fn table_value(&self, knowledge: &Knowledge) -> Option<TableValue>;

    /// Clones the session.
    fn clone_box(&self) -> Box<dyn Session>;

    /// The [`TypedSession`], to downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A legal move with its paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LegalMove {
    /// Canonical text.
    pub text: String,
    /// Cells it visits, from start to end; empty for a pass.
    pub path: Vec<Cell>,
    /// Other shortest paths, at most eight.
    pub other_paths: Vec<Vec<Cell>>,
    /// Cells of the captured pieces.
    pub captures: Vec<Cell>,
}

/// Why a move was not played.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayError {
    /// The game is over.
    #[error("the game is over: {0}")]
    GameOver(String),
    /// The move breaks a rule.
    #[error(transparent)]
    Illegal(#[from] MoveError),
}

/// Starts a game from a position; `None` is the game's own start.
pub fn new_session(game: &Game, start: Option<&str>) -> Result<Box<dyn Session>, PositionError> {
    struct NewSession<'a>(&'a Game, Option<&'a str>);
    impl GameVisitor for NewSession<'_> {
        type Output = Result<Box<dyn Session>, PositionError>;
        fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
            let position = match self.1 {
                Some(text) => P::parse_position(text, options)?,
                None => P::start(options),
            };
            Ok(Box::new(TypedSession::new(self.0.clone(), position)))
        }
    }
    visit(game, NewSession(game, start))
}

/// A [`Session`] of a known game.
#[derive(Clone, Debug)]
pub struct TypedSession<P: Searchable> {
    game: Game,
    /// All positions, the current one last.
    positions: Vec<P>,
    /// The moves between them.
    moves: Vec<P::Move>,
    /// The keys of all positions but the last.
    history_keys: Vec<u64>,
    /// First move checked in this position, with its text, so that it is not parsed again when it
    /// is played.
    checked: OnceLock<(SmallVec<[u8; 16]>, P::Move)>,
}

impl<P: Searchable> TypedSession<P> {
    /// Starts a game from a position.
    pub fn new(game: Game, position: P) -> Self {
        TypedSession {
            game,
            positions: vec![position],
            moves: Vec::new(),
            history_keys: Vec::new(),
            checked: OnceLock::new(),
        }
    }

    /// Current position.
    pub fn current(&self) -> &P {
        // `undo` never removes the start position.
        &self.positions[self.positions.len() - 1]
    }

    /// Keys of the positions before the current one.
    pub fn history_keys(&self) -> &[u64] {
        &self.history_keys
    }

    /// All positions, the current one last.
    pub fn positions(&self) -> &[P] {
        &self.positions
    }

    /// Moves played.
    pub fn moves_played(&self) -> &[P::Move] {
        &self.moves
    }

    /// Legal moves; none if the game is over.
    pub fn legal(&self) -> MoveList<P::Move> {
        let mut moves = MoveList::new();
        if self.outcome().is_none() {
            self.current().legal_moves(&mut moves);
        }
        moves
    }

    /// Plays a legal move.
    pub fn play_unchecked(&mut self, mv: P::Move) {
        let next = self.current().after(mv);
        self.history_keys.push(self.current().key());
        self.moves.push(mv);
        self.positions.push(next);
        self.checked = OnceLock::new();
    }
}

/// Returns the texts of a line of moves from a position.
pub fn line_texts<P: Searchable>(position: &P, moves: &[P::Move]) -> Vec<String> {
    let mut position = position.clone();
    let text = |&mv: &P::Move| {
        let text = position.format_move(mv);
        position.play(mv);
        text
    };
    moves.iter().map(text).collect()
}

impl<P: Searchable> Session for TypedSession<P> {
    fn game(&self) -> &Game {
        &self.game
    }

    fn start(&self) -> String {
        self.positions[0].format_position()
    }

    fn position(&self) -> String {
        self.current().format_position()
    }

    fn board(&self) -> [char; 64] {
        self.current().board()
    }

    fn side(&self) -> Side {
        self.current().side()
    }

    fn moves(&self) -> Vec<String> {
        line_texts(&self.positions[0], &self.moves)
    }

    fn legal_moves(&self) -> Vec<LegalMove> {
        let position = self.current();
        let legal_move = |&mv: &P::Move| {
            let mut paths = position.paths(mv).into_iter();
            LegalMove {
                text: position.format_move(mv),
                path: paths.next().unwrap_or_default(),
                other_paths: paths.collect(),
                captures: position.captures(mv),
            }
        };
        self.legal().iter().map(legal_move).collect()
    }

    fn plies(&self) -> usize {
        self.moves.len()
    }

    fn last_move_text(&self) -> Option<String> {
        let position = self.positions.iter().rev().nth(1)?;
        self.moves.last().map(|&mv| position.format_move(mv))
    }

    fn last_move(&self) -> Option<LegalMove> {
        let (position, &mv) = (self.positions.iter().rev().nth(1)?, self.moves.last()?);
        Some(LegalMove {
            text: position.format_move(mv),
            path: position.path(mv),
            other_paths: Vec::new(),
            captures: position.captures(mv),
        })
    }

    fn write_legal_moves(&self, out: &mut String) {
        let position = self.current();
        for (&mv, number) in self.legal().iter().zip(0..) {
            if number > 0 {
                out.push(',');
            }
            out.push_str(&position.format_move(mv));
        }
    }

    fn skip_turn(&mut self) -> bool {
        let skipped = P::skip_move().filter(|_| self.outcome().is_none());
        skipped.map(|mv| self.play_unchecked(mv)).is_some()
    }

    fn play(&mut self, text: &str) -> Result<(), PlayError> {
        if let Some(outcome) = self.outcome_text() {
            return Err(PlayError::GameOver(outcome));
        }
        let mv = self.current().parse_move(text)?;
        self.play_unchecked(mv);
        Ok(())
    }

    fn check_move(&self, text: &str) -> Result<String, MoveError> {
        let mv = self.current().parse_move(text)?;
        let text = self.current().format_move(mv);
        self.checked.get_or_init(|| (SmallVec::from_slice(text.as_bytes()), mv));
        Ok(text)
    }

    fn replay(&mut self, text: &str) -> Result<(), MoveError> {
        let mv = match self.checked.get() {
            Some((checked, mv)) if checked[..] == *text.as_bytes() => *mv,
            _ => self.current().parse_recorded_move(text)?,
        };
        self.play_unchecked(mv);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        if self.moves.pop().is_none() {
            return false;
        }
        self.checked = OnceLock::new();
        self.positions.pop();
        self.history_keys.pop();
        true
    }

    fn outcome(&self) -> Option<Outcome> {
        self.current().outcome(&self.history_keys)
    }

    fn outcome_text(&self) -> Option<String> {
        self.outcome().map(|outcome| self.current().describe(outcome))
    }

    fn plies_left(&self) -> Option<u32> {
        Some(self.current().plies_left()).filter(|&plies| plies != u32::MAX)
    }

    fn table_value(&self, knowledge: &Knowledge) -> Option<TableValue> {
        knowledge.value_in_game(self.current(), &self.history_keys)
    }

    fn clone_box(&self) -> Box<dyn Session> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
