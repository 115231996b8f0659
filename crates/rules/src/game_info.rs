//! The descriptor of a game: every fact that code shared by all games needs about one of them.

use crate::{Cell, MoveErrorKind, Side};

/// Descriptor of a game. [`GAMES`](crate::GAMES) lists them all.
#[derive(Clone, Copy, Debug)]
pub struct GameInfo {
    /// Stable external name, for example `chinese-checkers`.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// The sides; the first one moves first.
    pub sides: [SideInfo; 2],
    /// The kinds of piece. A piece of the first kind may be promoted to one of the others.
    pub pieces: &'static [PieceInfo],
    /// The options a game can be played with.
    pub options: &'static [OptionInfo],
    /// The cells of the board that are played on.
    pub cells: u64,
    /// Whether moves name squares by number (1 is the first playable cell) instead of row and
    /// column.
    pub numbered_squares: bool,
    /// The cells that each side tries to reach, if that is the aim of the game.
    pub targets: Option<[u64; 2]>,
    /// Whether the pieces on target cells are the score, which decides the game.
    pub counts_points: bool,
    /// Whether a player who can capture must do so.
    pub forced_capture: bool,
    /// Whether nearly all games between equal players are drawn.
    pub drawish: bool,
    /// Default penalty for an illegal move.
    pub illegal_move_rule: IllegalMoveRule,
    /// Value of the PDN tag `GameType`, if PDN has a number for the game.
    pub pdn_game_type: Option<u8>,
    /// Whether the three-move ballots of English checkers are legal openings.
    pub has_ballots: bool,
    /// Codes of the bot protocols, other than the bot protocol itself, that were made for this
    /// game.
    pub bot_protocols: &'static [&'static str],
    /// Positions that programs tend to get wrong.
    pub examples: &'static [ExamplePosition],
    /// The texts that the original assignment prescribes for a text interface.
    pub assignment_texts: Option<AssignmentTexts>,
}

impl GameInfo {
    /// Returns the descriptor of a game with default facts: played on all 64 cells, moves written
    /// by row and column, no options, no targets, capture optional, illegal moves forfeit.
    pub const fn new(
        id: &'static str,
        name: &'static str,
        sides: [SideInfo; 2],
        pieces: &'static [PieceInfo],
    ) -> GameInfo {
        GameInfo {
            id,
            name,
            sides,
            pieces,
            options: &[],
            cells: !0,
            numbered_squares: false,
            targets: None,
            counts_points: false,
            forced_capture: false,
            drawish: false,
            illegal_move_rule: IllegalMoveRule::Forfeit,
            pdn_game_type: None,
            has_ballots: false,
            bot_protocols: &[],
            examples: &[],
            assignment_texts: None,
        }
    }

    /// Returns whether pieces can stand on `cell`.
    pub const fn is_playable(&self, cell: Cell) -> bool {
        self.cells & cell.bit() != 0
    }

    /// Returns the number of the square on `cell`; `None` if the cell has none.
    pub const fn square_number(&self, cell: Cell) -> Option<u8> {
        if !self.numbered_squares || !self.is_playable(cell) {
            return None;
        }
        Some((self.cells & (cell.bit() - 1)).count_ones() as u8 + 1)
    }

    /// Returns the owner and the kind of the piece that `letter` stands for; `None` for an empty
    /// cell.
    pub fn piece(&self, letter: char) -> Option<(Side, &'static PieceInfo)> {
        [Side::First, Side::Second].into_iter().find_map(|side| {
            let kind = self.pieces.iter().find(|kind| kind.letters[side.index()] == letter)?;
            Some((side, kind))
        })
    }
}

/// Letter, name and colour of a side.
#[derive(Clone, Copy, Debug)]
pub struct SideInfo {
    /// The letter in positions and in the bot protocol: `b`, `w`, `#` or `O`.
    pub letter: char,
    /// Display name.
    pub name: &'static str,
    /// Colour of its pieces.
    pub colour: Colour,
}

/// Colour of the pieces of a side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Colour {
    Black,
    White,
    Red,
    Blue,
}

impl Colour {
    /// The stable external word for the colour.
    pub const fn code(self) -> &'static str {
        match self {
            Colour::Black => "black",
            Colour::White => "white",
            Colour::Red => "red",
            Colour::Blue => "blue",
        }
    }
}

/// A kind of piece.
#[derive(Clone, Copy, Debug)]
pub struct PieceInfo {
    /// Name of one piece: `man`.
    pub name: &'static str,
    /// Name of several: `men`.
    pub plural: &'static str,
    /// The letters on the board, by side.
    pub letters: [char; 2],
}

/// An option of a game, for listings.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// The key in `key=value`.
    pub key: &'static str,
    /// The values it takes.
    pub values: &'static str,
    /// The default value.
    pub default: &'static str,
    /// Effect of the option.
    pub description: &'static str,
}

/// Penalty for an illegal move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IllegalMoveRule {
    /// The player loses the game.
    Forfeit,
    /// The turn is skipped.
    SkipTurn,
}

/// A position that programs tend to get wrong.
#[derive(Clone, Copy, Debug)]
pub struct ExamplePosition {
    /// Short description.
    pub name: &'static str,
    /// The position.
    pub position: &'static str,
    /// Whether only the first turn is of interest, not the game that follows.
    pub one_turn: bool,
}

/// The texts that an assignment prescribes for a text interface.
#[derive(Clone, Copy, Debug)]
pub struct AssignmentTexts {
    /// The prompts after an invalid move, in the order of [`MoveErrorKind`].
    pub invalid_move: [&'static str; 5],
    /// The announcements of a win of the first side, of the second side, and of a draw.
    pub results: [&'static str; 3],
}

impl AssignmentTexts {
    /// Returns the prompt after a move with this error.
    pub const fn prompt(&self, kind: MoveErrorKind) -> &'static str {
        self.invalid_move[kind as usize]
    }

    /// Returns the announcement of a result.
    pub const fn result(&self, winner: Option<Side>) -> &'static str {
        match winner {
            Some(side) => self.results[side.index()],
            None => self.results[2],
        }
    }
}
