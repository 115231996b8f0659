//! A game in progress, for everything that is not hot.
//!
//! [`Session`] hides the game's type; [`TypedSession`] is what is behind it, for players that search.
//! Clocks, players and records are others' business: a session only knows the rules.

use std::any::Any;
use std::sync::OnceLock;

use crownhead_rules::{Cell, Game, MoveError, MoveList, Outcome, PositionError, Side};
use crownhead_search::{GameVisitor, Searchable, visit};

/// A game in progress.
pub trait Session: Send {
    /// The game and its options.
    fn game(&self) -> &Game;

    /// The text of the position the game started from.
    fn start(&self) -> String;

    /// The text of the position now.
    fn position(&self) -> String;

    /// The letters of the 64 cells, row 1 first; `.` is empty.
    fn board(&self) -> [char; 64];

    /// The side to move.
    fn side(&self) -> Side;

    /// The texts of the moves so far.
    fn moves(&self) -> Vec<String>;

    /// How many moves have been made.
    fn plies(&self) -> usize;

    /// The text of the last move.
    fn last_move_text(&self) -> Option<String>;

    /// The last move with its path and what it took; its other ways are left out.
    fn last_move(&self) -> Option<LegalMove>;

    /// The legal moves, in the order of generation; a finished game has none.
    fn legal_moves(&self) -> Vec<LegalMove>;

    /// Adds the texts of the legal moves, parted by commas: quicker than
    /// [`legal_moves`](Session::legal_moves).
    fn write_legal_moves(&self, out: &mut String);

    /// Passes the turn though there are moves; false where the game knows no such turn.
    fn skip_turn(&mut self) -> bool;

    /// Plays a move in any unambiguous form.
    fn play(&mut self, text: &str) -> Result<(), PlayError>;

    /// Checks a move in any unambiguous form, in a game that is not over, and returns its canonical
    /// text.
    fn check_move(&self, text: &str) -> Result<String, MoveError>;

    /// Plays a turn that was played before, in a game that is not over: a move, or a turn that was
    /// skipped.
    fn replay(&mut self, text: &str) -> Result<(), MoveError>;

    /// Takes the last move back; false if there is none.
    fn undo(&mut self) -> bool;

    /// How the game ended, if it has.
    fn outcome(&self) -> Option<Outcome>;

    /// One sentence on how the game ended, if it has.
    fn outcome_text(&self) -> Option<String>;

    /// The same game once more, to be thought about elsewhere.
    fn clone_box(&self) -> Box<dyn Session>;

    /// The [`TypedSession`] behind it.
    fn as_any(&self) -> &dyn Any;
}

/// A legal move in all its forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LegalMove {
    /// Its one text.
    pub text: String,
    /// The cells it touches down on, start and end included; a pass has none.
    pub path: Vec<Cell>,
    /// Other ways to make it, no longer than this one: eight at most.
    pub ways: Vec<Vec<Cell>>,
    /// The cells whose pieces it takes.
    pub captures: Vec<Cell>,
}

/// Why a move was not played.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayError {
    /// There is nothing left to play.
    #[error("the game is over: {0}")]
    GameOver(String),
    /// The move breaks a rule.
    #[error(transparent)]
    Illegal(#[from] MoveError),
}

/// A new game, from a position or from the usual start.
pub fn new_session(game: &Game, start: Option<&str>) -> Result<Box<dyn Session>, PositionError> {
    struct Start<'a>(&'a Game, Option<&'a str>);
    impl GameVisitor for Start<'_> {
        type Output = Result<Box<dyn Session>, PositionError>;
        fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
            let position = match self.1 {
                Some(text) => P::parse_position(text, options)?,
                None => P::start(options),
            };
            Ok(Box::new(TypedSession::new(self.0.clone(), position)))
        }
    }
    visit(game, Start(game, start))
}

/// A game in progress whose type is known.
#[derive(Clone, Debug)]
pub struct TypedSession<P: Searchable> {
    game: Game,
    /// All positions, the present one last.
    positions: Vec<P>,
    /// The moves between them.
    moves: Vec<P::Move>,
    /// The keys of all positions but the last.
    history_keys: Vec<u64>,
    /// The first move checked in this position and its text, so that it is not parsed again when it
    /// is played.
    checked: OnceLock<(String, P::Move)>,
}

impl<P: Searchable> TypedSession<P> {
    /// A game that starts from a position.
    pub fn new(game: Game, position: P) -> Self {
        TypedSession {
            game,
            positions: vec![position],
            moves: Vec::new(),
            history_keys: Vec::new(),
            checked: OnceLock::new(),
        }
    }

    /// The position now.
    pub fn current(&self) -> &P {
        // There is always the one it started from, and nothing takes it away.
        &self.positions[self.positions.len() - 1]
    }

    /// The keys of the positions before it.
    pub fn past(&self) -> &[u64] {
        &self.history_keys
    }

    /// The moves so far.
    pub fn moves_played(&self) -> &[P::Move] {
        &self.moves
    }

    /// The legal moves; none if the game is over.
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

/// The texts of moves that follow one another from a position.
pub(crate) fn line_texts<P: Searchable>(position: &P, moves: &[P::Move]) -> Vec<String> {
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
        let all_forms = |&mv: &P::Move| {
            let mut ways = position.paths(mv).into_iter();
            LegalMove {
                text: position.format_move(mv),
                path: ways.next().unwrap_or_default(),
                ways: ways.collect(),
                captures: position.captures(mv),
            }
        };
        self.legal().iter().map(all_forms).collect()
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
            ways: Vec::new(),
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
        if let Some(ending) = self.outcome_text() {
            return Err(PlayError::GameOver(ending));
        }
        let mv = self.current().parse_move(text)?;
        self.play_unchecked(mv);
        Ok(())
    }

    fn check_move(&self, text: &str) -> Result<String, MoveError> {
        let mv = self.current().parse_move(text)?;
        let text = self.current().format_move(mv);
        self.checked.get_or_init(|| (text.clone(), mv));
        Ok(text)
    }

    fn replay(&mut self, text: &str) -> Result<(), MoveError> {
        let mv = match self.checked.get() {
            Some((checked, mv)) if checked == text => *mv,
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

    fn clone_box(&self) -> Box<dyn Session> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
