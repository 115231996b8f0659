//! The computer players that people are offered, from weak to strong, with a sentence about each.

/// A computer player to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opponent {
    /// Its text, as a [`BuiltinSpec`](crate::BuiltinSpec) reads it.
    pub spec: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What to expect.
    pub sentence: &'static str,
    /// Whether more time makes it stronger.
    pub thinks: bool,
}

/// All of them.
#[rustfmt::skip]
pub const OPPONENTS: [Opponent; 12] = [
    Opponent { spec: "random", name: "Random", sentence: "Makes any legal move, without a thought.", thinks: false },
    Opponent { spec: "minimax:4", name: "Minimax", sentence: "The textbook: looks four turns ahead, as far as its time allows, and counts pieces.", thinks: true },
    Opponent { spec: "level:1", name: "Level 1", sentence: "Sees one move ahead and overlooks many: a first game to win.", thinks: false },
    Opponent { spec: "level:2", name: "Level 2", sentence: "Judges better, but still misses every fifth move or so.", thinks: false },
    Opponent { spec: "level:3", name: "Level 3", sentence: "Looks at your answer too, and falls for simple traps.", thinks: false },
    Opponent { spec: "level:4", name: "Level 4", sentence: "Sees small exchanges coming; patience beats it.", thinks: false },
    Opponent { spec: "level:5", name: "Level 5", sentence: "Plays like somebody who plays now and then.", thinks: false },
    Opponent { spec: "level:6", name: "Level 6", sentence: "Gives little away, and punishes what you give.", thinks: false },
    Opponent { spec: "level:7", name: "Level 7", sentence: "A club player on a tired evening.", thinks: false },
    Opponent { spec: "level:8", name: "Level 8", sentence: "Hardly overlooks anything: you need a plan.", thinks: false },
    Opponent { spec: "level:9", name: "Level 9", sentence: "Sees further than most people and errs by a hair.", thinks: false },
    Opponent { spec: "level:10", name: "Level 10", sentence: "All it can do in the time it has. Good luck.", thinks: true },
];

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;
    use crate::BuiltinSpec;

    #[test]
    fn every_opponent_can_be_had_and_is_written_as_it_is_read() {
        for opponent in OPPONENTS {
            let spec: BuiltinSpec = opponent.spec.parse().unwrap();
            assert_eq!(spec.to_string(), opponent.spec);
        }
    }
}
