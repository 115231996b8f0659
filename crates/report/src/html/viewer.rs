//! The data that the viewer reads.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::data::{GameEntry, Report};
use crate::replay::Replay;

/// Data of a page.
#[derive(Default, Serialize)]
pub(super) struct ViewerData<'a> {
    /// Facts about the games, by id.
    pub(super) info: BTreeMap<String, Value>,
    pub(super) names: Vec<&'a str>,
    pub(super) games: Vec<ViewerGame<'a>>,
}

/// A game to step through.
#[derive(Serialize)]
pub(super) struct ViewerGame<'a> {
    pub(super) number: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round: Option<u32>,
    /// Id of the game in `info`; `None` if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) game: Option<&'a str>,
    /// Indices of the players in `names`.
    pub(super) players: [usize; 2],
    pub(super) result: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plies: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) forfeit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ending: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) details: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) opening: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) times: &'a str,
    pub(super) replay: Option<&'a Replay>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> ViewerData<'a> {
    /// Returns the games of a report that everybody may see, or those of one player, who alone may
    /// read what its own bot printed.
    pub(super) fn new(report: &'a Report, player: Option<usize>) -> Self {
        let id = report.game["id"].as_str().unwrap_or_default();
        let is_selected =
            |game: &&GameEntry| player.is_none_or(|player| game.side_of(player).is_some());
        let game = |game: &'a GameEntry| ViewerGame {
            number: game.number,
            round: Some(game.round),
            game: None,
            players: game.players,
            result: game.result,
            plies: Some(game.plies),
            reason: Some(&game.reason),
            forfeit: game.forfeit.is_some(),
            ending: match game.forfeit.map(|side| game.players[side.min(1)]) {
                Some(loser) if Some(loser) == player => game.ending.as_deref(),
                _ => game.public_ending.as_deref(),
            },
            details: Vec::new(),
            opening: game.opening,
            times: &game.times,
            replay: game.replay.as_ref(),
        };
        ViewerData {
            info: BTreeMap::from([(id.to_string(), report.game.clone())]),
            names: report.names.iter().map(String::as_str).collect(),
            games: report.games.iter().filter(is_selected).map(game).collect(),
        }
    }

    /// Removes the names of players who are in none of the games.
    pub(super) fn keep_players_of_games(&mut self) {
        let mut is_used = vec![false; self.names.len()];
        self.games.iter().flat_map(|game| game.players).for_each(|player| is_used[player] = true);
        for (name, is_used) in self.names.iter_mut().zip(is_used) {
            if !is_used {
                *name = "";
            }
        }
    }
}
