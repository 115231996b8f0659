//! Who is playing and how a game ended.

/// The two players: `First` moves first in every game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// Black, or blue in Chinese checkers.
    First,
    /// White (red in contest checkers), or red in Chinese checkers.
    Second,
}

impl Side {
    /// The opponent.
    #[inline(always)]
    pub const fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// 0 for the first player, 1 for the second.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How a finished game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// The winner; nobody in a drawn game.
    pub winner: Option<Side>,
    /// The rule that ended it.
    pub reason: EndReason,
    /// Points of the first and the second player, in games that count points.
    pub score: Option<(u8, u8)>,
}

/// The rule that ended a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EndReason {
    /// The side to move has no legal move and loses.
    NoMove,
    /// No progress was made for so many plies.
    NoProgress(u16),
    /// The same position came up for the third time.
    Repetition,
    /// All cells of the target camp are occupied.
    CampFilled,
    /// All pieces a player has are in the target.
    AllHome,
    /// Both players have had all their turns.
    TurnLimit,
}

impl EndReason {
    /// A word for machine-readable output.
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
