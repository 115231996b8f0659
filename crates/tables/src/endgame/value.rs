//! Values of positions as bytes.
//!
//! 0 is a draw. n + 1 means that the game ends after n plies: with a win of the side to move if n
//! is odd, with its loss if n is even.

use crownhead_rules::checkers::MoverBoard;

use super::slice::Slice;

/// Neither side can force a win.
pub(super) const DRAW: u8 = 0;
/// Lost: the side to move has no legal move.
pub(super) const NO_MOVE: u8 = 1;
/// A won position, where the distance is not known.
pub(super) const WIN: u8 = 2;
/// Largest value. A longer distance cannot be stored.
#[cfg(feature = "fs")]
pub(super) const MAX: u8 = u8::MAX;

#[inline(always)]
pub(super) const fn is_win(value: u8) -> bool {
    value != DRAW && value.is_multiple_of(2)
}

#[inline(always)]
pub(super) const fn is_loss(value: u8) -> bool {
    !value.is_multiple_of(2)
}

/// Value of a position with a single move, to a position of this value.
#[inline(always)]
pub(super) const fn before(value: u8) -> u8 {
    if value == DRAW { DRAW } else { value.saturating_add(1) }
}

/// The better of two values for the side to move: the shorter win, the longer loss.
#[inline(always)]
pub(super) const fn better(a: u8, b: u8) -> u8 {
    const fn order(value: u8) -> i16 {
        match value {
            DRAW => 0,
            value if is_win(value) => 512 - value as i16,
            value => value as i16 - 512,
        }
    }
    if order(a) >= order(b) { a } else { b }
}

/// Draw, loss or win, without the distance.
pub(super) const fn outcome(value: u8) -> u8 {
    match value {
        DRAW => DRAW,
        value if is_win(value) => WIN,
        _ => NO_MOVE,
    }
}

/// Stored values.
pub(super) trait Stored: Sync {
    /// Stored value of a position without a capture; `None` if it is not stored.
    fn stored(&self, slice: Slice, index: u64) -> Option<u8>;
}

/// Value of a position. A table does not store positions with a capture: their captures are
/// searched until none is left.
#[inline]
pub(super) fn resolve(stored: &(impl Stored + ?Sized), board: MoverBoard) -> Option<u8> {
    if board.own == 0 {
        return Some(NO_MOVE);
    }
    if board.has_capture() {
        return resolve_captures(stored, board);
    }
    let slice = Slice::of(board);
    stored.stored(slice, slice.index(board))
}

/// Value of a position whose moves are captures.
#[inline(never)]
pub(super) fn resolve_captures(stored: &(impl Stored + ?Sized), board: MoverBoard) -> Option<u8> {
    after_captures(board, |after| resolve(stored, after))
}

/// Value of a position by its captures; `None` if `value` is, for a position after one of them.
#[inline(always)]
pub(super) fn after_captures(
    board: MoverBoard,
    mut value: impl FnMut(MoverBoard) -> Option<u8>,
) -> Option<u8> {
    // No legal move is the worst value of all.
    let mut best = Some(NO_MOVE);
    board.each_move(true, |mv| {
        if let Some(known) = best {
            best = value(board.after(mv)).map(|after| better(known, before(after)));
        }
    });
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_wins_and_long_losses_are_better() {
        let order = [MAX - 1, 4, 2].into_iter().rev().chain([DRAW]).chain([MAX, 3, NO_MOVE]);
        let order: Vec<u8> = order.collect();
        assert_eq!(order, [2, 4, MAX - 1, DRAW, MAX, 3, NO_MOVE]);
        for pair in order.windows(2) {
            assert_eq!((better(pair[0], pair[1]), better(pair[1], pair[0])), (pair[0], pair[0]));
        }
        assert_eq!([NO_MOVE, 2, DRAW].map(before), [2, 3, DRAW]);
    }
}
