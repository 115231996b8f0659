//! The name of a game log.

use crownhead_rules::{Game, Side};

/// The name of a log: the number of the game, the side, the player.
pub fn log_name(game: &Game, number: u64, side: Side, player: &str) -> String {
    let side = game.info().sides[side.index()].name.to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let plain = |c| if is_plain(c) { c } else { '-' };
    let name: String = player.chars().take(40).map(plain).collect();
    format!("{number:05}-{side}-{name}.log")
}
