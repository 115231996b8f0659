//! Exact knowledge of positions: implemented by `tables`, used by `search`.

use crate::{Position, Side};

/// Game-theoretic value of a position for the side to move, if no draw counter ends the game first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableValue {
    /// The side to move wins within `plies` plies.
    Win {
        /// Exact distance without draw counters. If one forces the winner to hurry, the win may
        /// take a little longer.
        plies: u32,
    },
    /// Neither side can force a win.
    Draw,
    /// The opponent wins within `plies` plies.
    Loss {
        /// See [`TableValue::Win`].
        plies: u32,
    },
    /// The side to move wins or draws: it would win without the draw counters, and may not have
    /// enough plies left.
    AtLeastDraw {
        /// Plies of the win without draw counters; `None` if the table stores no distances.
        plies: Option<u32>,
    },
    /// The side to move loses or draws.
    AtMostDraw {
        /// See [`TableValue::AtLeastDraw`].
        plies: Option<u32>,
    },
}

impl TableValue {
    /// Returns the value if it still holds when a draw counter ends the game after `plies_left`
    /// more plies.
    ///
    /// Tables are computed without draw counters. A counter can turn a win into a draw, never the
    /// other way round. So a draw always holds; a win or a loss holds only if it takes fewer plies
    /// than the counter has left. At exactly `plies_left` plies it depends on the game which of the
    /// two is checked first, so the value is not used.
    pub fn before_draw(self, plies_left: u32) -> Option<TableValue> {
        match self {
            TableValue::Win { plies } | TableValue::Loss { plies } if plies >= plies_left => None,
            value => Some(value),
        }
    }

    /// Returns what is left of the value if a draw may come before the win.
    pub fn unproved(self) -> TableValue {
        match self {
            TableValue::Win { plies } => TableValue::AtLeastDraw { plies: Some(plies) },
            TableValue::Loss { plies } => TableValue::AtMostDraw { plies: Some(plies) },
            value => value,
        }
    }
}

/// A table of exact values.
///
/// The search probes after the game's own end conditions: [`Position::outcome`] and repetition
/// take precedence over a table. [`Probe::probe_in_game`] is what the search asks for. A
/// counter that ends the game with a winner is not a draw counter: where it may matter, `probe`
/// must return `None`.
pub trait Probe<P: Position>: Send + Sync {
    /// Returns the value of a position whose game is not over; `None` if the table does not
    /// contain it.
    fn probe(&self, position: &P) -> Option<TableValue>;

    /// Returns what is certain about a position whose first draw counter ends the game after
    /// `plies_left` more plies. Tables that know more about the counters of their game than
    /// [`TableValue::before_draw`] override this.
    fn probe_in_game(&self, position: &P, plies_left: u32) -> Option<TableValue> {
        self.probe(position)?.before_draw(plies_left)
    }
}

/// Distances of Chinese checkers to the target camp, with no opponent on the board.
pub trait SoloDistances: Send + Sync {
    /// Minimum number of turns in which `side` fills its target camp from this placement. Bit 0 of
    /// `pieces` is cell `11`; `None` unless there are exactly six pieces.
    fn turns(&self, pieces: u64, side: Side) -> Option<u8>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draw_counter_invalidates_slower_wins_and_losses_but_not_draws() {
        let (win, loss) = (TableValue::Win { plies: 7 }, TableValue::Loss { plies: 8 });
        assert_eq!(win.before_draw(8), Some(win));
        assert_eq!(win.before_draw(7), None);
        assert_eq!(loss.before_draw(9), Some(loss));
        assert_eq!(loss.before_draw(8), None);
        assert_eq!(TableValue::Draw.before_draw(0), Some(TableValue::Draw));
    }
}
