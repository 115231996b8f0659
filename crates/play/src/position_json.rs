//! A position and its legal moves as JSON, for web pages. `docs/api.md` describes it.

use crownhead_rules::{Cell, Game, Side};
use serde::{Serialize, Serializer};

use crate::{End, LegalMove, Session};

/// A position and its legal moves.
#[derive(Serialize)]
pub struct PositionView<'a> {
    position: String,
    board: Board<'a>,
    side: char,
    ply: usize,
    legal: LegalMoves<'a>,
    must_capture: bool,
    plies_left: Option<u32>,
    outcome: Option<OutcomeView>,
}

/// The end of a game.
#[derive(Serialize)]
pub struct OutcomeView {
    winner: Option<char>,
    reason: &'static str,
    score: Option<(u8, u8)>,
    text: String,
}

/// A move that was played.
#[derive(Serialize)]
pub struct PlayedMoveView<'a> {
    /// Its text.
    pub text: &'a str,
    /// Letter of the side that played it.
    pub side: char,
    /// The cells it visits.
    pub path: Cells<'a>,
    /// The cells of the captured pieces.
    pub captures: Cells<'a>,
    /// The board after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Board<'a>>,
}

/// The letters of the 64 cells as one text.
pub struct Board<'a>(pub &'a [char; 64]);
/// A list of cells.
pub struct Cells<'a>(pub &'a [Cell]);
struct CellText(Cell);
struct LegalMoves<'a>(&'a [LegalMove]);

impl Serialize for Board<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().collect::<String>())
    }
}

impl Serialize for CellText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().copied().map(CellText))
    }
}

impl Serialize for LegalMoves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Move<'a> {
            text: &'a str,
            from: Option<CellText>,
            to: Option<CellText>,
            path: Cells<'a>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            other_paths: Vec<Cells<'a>>,
            captures: Cells<'a>,
        }
        serializer.collect_seq(self.0.iter().map(|mv| Move {
            text: &mv.text,
            from: mv.path.first().copied().map(CellText),
            to: mv.path.last().copied().map(CellText),
            path: Cells(&mv.path),
            other_paths: mv.other_paths.iter().map(|path| Cells(path)).collect(),
            captures: Cells(&mv.captures),
        }))
    }
}

fn must_capture(game: &Game, legal: &[LegalMove]) -> bool {
    game.info().forced_capture && legal.first().is_some_and(|mv| !mv.captures.is_empty())
}

impl<'a> PositionView<'a> {
    /// A view of a game. `end` is how it ended, if it did.
    pub fn new(
        session: &dyn Session,
        board: &'a [char; 64],
        legal: &'a [LegalMove],
        end: Option<&End>,
    ) -> Self {
        PositionView {
            position: session.position(),
            board: Board(board),
            side: side_letter(session.game(), session.side()),
            ply: session.plies(),
            must_capture: must_capture(session.game(), legal),
            legal: LegalMoves(legal),
            plies_left: session.plies_left(),
            outcome: end.map(|end| OutcomeView::new(end, session)),
        }
    }
}

impl OutcomeView {
    /// Describes how a game ended.
    pub fn new(end: &End, session: &dyn Session) -> OutcomeView {
        OutcomeView {
            winner: end.winner().map(|side| side_letter(session.game(), side)),
            reason: end.code(),
            score: end.score(),
            text: end.describe(session),
        }
    }
}

/// Describes a position and its legal moves, with the last move if one was played.
pub fn position_json(session: &dyn Session) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Response<'a> {
        #[serde(flatten)]
        view: PositionView<'a>,
        last: Option<PlayedMoveView<'a>>,
    }
    let (board, legal) = (session.board(), session.legal_moves());
    let end = session.outcome().map(End::Rules);
    let last = session.last_move();
    serde_json::to_string(&Response {
        view: PositionView::new(session, &board, &legal, end.as_ref()),
        last: last.as_ref().map(|mv| PlayedMoveView {
            text: &mv.text,
            // The sides take turns in every game.
            side: side_letter(session.game(), session.side().other()),
            path: Cells(&mv.path),
            captures: Cells(&mv.captures),
            board: None,
        }),
    })
}

/// The letter of a side.
pub fn side_letter(game: &Game, side: Side) -> char {
    game.info().sides[side.index()].letter
}

/// Parses the letter of a side.
pub fn parse_side(game: &Game, letter: &str) -> Option<Side> {
    let mut letters = letter.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    [Side::First, Side::Second].into_iter().find(|&side| side_letter(game, side) == letter)
}
