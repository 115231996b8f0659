//! Soft and hard time for a move.
//!
//! The referee measures the whole turn, and on a busy machine a thread may wait some milliseconds
//! for a processor after its search has ended. So a search never gets all of the remaining time.

use std::time::Duration;

/// Time that a search may use for one move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MoveTime {
    /// No new iteration is started after this time; `None` if there is no such limit.
    pub soft: Option<Duration>,
    /// The search is aborted after this time; `None` if there is no such limit.
    pub hard: Option<Duration>,
}

/// Reserve per move: longer than a typical wait for a busy processor.
const MOVE_OVERHEAD: Duration = Duration::from_millis(5);
/// Moves that the remaining time should last for. Endgames need less time than middlegames.
const MOVES_TO_GO: u32 = 24;

impl MoveTime {
    /// Time for a move with a fixed limit; unused time is lost.
    pub fn fixed(limit: Duration) -> MoveTime {
        MoveTime { soft: None, hard: Some(usable(limit)) }
    }

    /// Time for a move when `remaining` is left for the game and every move adds `increment`.
    pub fn for_move(remaining: Duration, increment: Duration) -> MoveTime {
        let usable = usable(remaining);
        // The increment is added after the move, so it is not part of the usable time.
        let share = (usable / MOVES_TO_GO).saturating_add(increment / 4 * 3).min(usable);
        let hard = share.saturating_mul(4).min(usable / 3).max(share.min(usable / 2));
        // The next iteration takes about as long as all previous ones together.
        MoveTime { soft: Some(share / 2), hard: Some(hard) }
    }
}

/// Time without the overhead, which is at most half of it.
fn usable(time: Duration) -> Duration {
    time - MOVE_OVERHEAD.min(time / 2)
}
