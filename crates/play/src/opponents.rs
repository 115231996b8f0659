//! The computer players that people are offered, from weak to strong, with a sentence about each.

/// A computer player to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogPlayer {
    /// Its text, as a [`BuiltinSpec`](crate::BuiltinSpec) reads it.
    pub spec: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What to expect.
    pub description: &'static str,
    /// Whether more time makes it stronger.
    pub uses_time: bool,
}

/// All of them.
#[rustfmt::skip]
pub const CATALOG: [CatalogPlayer; 12] = [
    CatalogPlayer { spec: "random", name: "Random", description: "Makes any legal move, without a thought.", uses_time: false },
    CatalogPlayer { spec: "minimax:4", name: "Minimax", description: "The textbook: looks four turns ahead, as far as its time allows, and counts pieces.", uses_time: true },
    CatalogPlayer { spec: "level:1", name: "Level 1", description: "Sees one move ahead and overlooks many: a first game to win.", uses_time: false },
    CatalogPlayer { spec: "level:2", name: "Level 2", description: "Judges better, but still misses every fifth move or so.", uses_time: false },
    CatalogPlayer { spec: "level:3", name: "Level 3", description: "Looks at your answer too, and falls for simple traps.", uses_time: false },
    CatalogPlayer { spec: "level:4", name: "Level 4", description: "Sees small exchanges coming; patience beats it.", uses_time: false },
    CatalogPlayer { spec: "level:5", name: "Level 5", description: "Plays like somebody who plays now and then.", uses_time: false },
    CatalogPlayer { spec: "level:6", name: "Level 6", description: "Gives little away, and punishes what you give.", uses_time: false },
    CatalogPlayer { spec: "level:7", name: "Level 7", description: "A club player on a tired evening.", uses_time: false },
    CatalogPlayer { spec: "level:8", name: "Level 8", description: "Hardly overlooks anything: you need a plan.", uses_time: false },
    CatalogPlayer { spec: "level:9", name: "Level 9", description: "Sees further than most people and errs by a hair.", uses_time: false },
    CatalogPlayer { spec: "level:10", name: "Level 10", description: "All it can do in the time it has. Good luck.", uses_time: true },
];

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;
    use crate::BuiltinSpec;

    #[test]
    fn every_opponent_can_be_had_and_is_written_as_it_is_read() {
        for opponent in CATALOG {
            let spec: BuiltinSpec = opponent.spec.parse().unwrap();
            assert_eq!(spec.to_string(), opponent.spec);
        }
    }
}
