//! Sides and the outcome of a game.

/// One of the two players. `First` moves first in every game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// Moves first: Black, or Blue in Chinese checkers.
    First,
    /// Moves second: White, or Red in Chinese and contest checkers.
    Second,
}

impl Side {
    /// Returns the opponent.
    #[inline(always)]
    pub const fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// Returns 0 for the first player, 1 for the second.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How a game ended by the rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// The winner; `None` in a draw.
    pub winner: Option<Side>,
    /// The rule that ended the game.
    pub reason: EndReason,
    /// Scores of the first and the second player, in games that count points.
    pub score: Option<(u8, u8)>,
}

/// The rule that ended a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EndReason {
    /// The side to move has no legal move and loses.
    NoMove,
    /// No progress was made during this many plies.
    NoProgress(u16),
    /// The position occurred for the third time.
    Repetition,
    /// All cells of the target camp are occupied.
    CampFilled,
    /// All pieces of a player are in the target.
    AllHome,
    /// Both players have used up their turns.
    TurnLimit,
}

impl EndReason {
    /// The stable external word for the reason.
    pub const fn code(self) -> &'static str {
        match self {
            EndReason::NoMove => "no-move",
            EndReason::NoProgress(_) => "no-progress",
            EndReason::Repetition => "repetition",
            EndReason::CampFilled => "camp-filled",
            EndReason::AllHome => "all-home",
            EndReason::TurnLimit => "turn-limit",
        }
    }
}
