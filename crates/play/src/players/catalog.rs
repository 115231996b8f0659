//! The built-in players offered to people, from weak to strong.

/// A built-in player with a name and a description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogPlayer {
    /// Spec, as [`BuiltinSpec`](crate::BuiltinSpec) parses it.
    pub spec: &'static str,
    /// Name shown to people.
    pub name: &'static str,
    /// What to expect, in a sentence.
    pub description: &'static str,
    /// Whether more time makes it stronger.
    pub uses_time: bool,
}

/// A level, with what to expect of it.
const fn level(spec: &'static str, name: &'static str, description: &'static str) -> CatalogPlayer {
    CatalogPlayer { spec, name, description, uses_time: false }
}

/// Every player on offer.
pub const CATALOG: [CatalogPlayer; 12] = [
    CatalogPlayer {
        spec: "random",
        name: "Random",
        description: "Plays any legal move.",
        uses_time: false,
    },
    CatalogPlayer {
        spec: "minimax:4",
        name: "Minimax",
        description: "Textbook search: looks up to four plies ahead and counts pieces.",
        uses_time: true,
    },
    level("level:1", "Level 1", "Looks one move ahead and misses a lot. Good for a first game."),
    level("level:2", "Level 2", "Judges better, but misses about one move in five."),
    level("level:3", "Level 3", "Considers your reply, but falls for simple traps."),
    level("level:4", "Level 4", "Sees small exchanges coming. Patience beats it."),
    level("level:5", "Level 5", "Plays like a casual player."),
    level("level:6", "Level 6", "Gives little away and punishes mistakes."),
    level("level:7", "Level 7", "Plays like a club player having a bad day."),
    level("level:8", "Level 8", "Rarely misses anything. You need a plan."),
    level("level:9", "Level 9", "Sees further than most people and makes few errors."),
    CatalogPlayer {
        uses_time: true,
        ..level("level:10", "Level 10", "Full strength in the time available. Good luck.")
    },
];

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;
    use crate::BuiltinSpec;

    #[test]
    fn every_catalog_spec_parses_and_formats_back() {
        for player in CATALOG {
            let spec: BuiltinSpec = player.spec.parse().unwrap();
            assert_eq!(spec.to_string(), player.spec);
        }
    }
}
