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

/// Every player on offer.
#[rustfmt::skip]
pub const CATALOG: [CatalogPlayer; 12] = [
    CatalogPlayer { spec: "random", name: "Random", description: "Plays any legal move.", uses_time: false },
    CatalogPlayer { spec: "minimax:4", name: "Minimax", description: "Textbook search: looks up to four plies ahead and counts pieces.", uses_time: true },
    CatalogPlayer { spec: "level:1", name: "Level 1", description: "Looks one move ahead and misses a lot. Good for a first game.", uses_time: false },
    CatalogPlayer { spec: "level:2", name: "Level 2", description: "Judges better, but misses about one move in five.", uses_time: false },
    CatalogPlayer { spec: "level:3", name: "Level 3", description: "Considers your reply, but falls for simple traps.", uses_time: false },
    CatalogPlayer { spec: "level:4", name: "Level 4", description: "Sees small exchanges coming. Patience beats it.", uses_time: false },
    CatalogPlayer { spec: "level:5", name: "Level 5", description: "Plays like a casual player.", uses_time: false },
    CatalogPlayer { spec: "level:6", name: "Level 6", description: "Gives little away and punishes mistakes.", uses_time: false },
    CatalogPlayer { spec: "level:7", name: "Level 7", description: "Plays like a club player having a bad day.", uses_time: false },
    CatalogPlayer { spec: "level:8", name: "Level 8", description: "Rarely misses anything. You need a plan.", uses_time: false },
    CatalogPlayer { spec: "level:9", name: "Level 9", description: "Sees further than most people and makes few errors.", uses_time: false },
    CatalogPlayer { spec: "level:10", name: "Level 10", description: "Full strength in the time available. Good luck.", uses_time: true },
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
