//! The tables that a command uses.

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Knowledge, knowledge::from_tables};
use crownhead_rules::Game;
use crownhead_tables::registry::{self, TABLES};

use crate::output::eprint_message;

/// Loads the tables of a game. The second part is a warning for the user if one is missing.
pub fn load_knowledge(game: &Game) -> (Knowledge, Option<String>) {
    let (tables, warning) = registry::load(game.info().id);
    (from_tables(&tables), warning)
}

/// Loads the tables of a game, and warns of a missing one.
pub fn load_or_warn(game: &Game) -> Knowledge {
    let (knowledge, warning) = load_knowledge(game);
    if let Some(warning) = warning {
        eprint_message(warning);
    }
    knowledge
}

/// Loads the tables for a match or tournament. Warns of a missing one if a player or the
/// adjudication would use it.
pub(crate) fn load_for_players<'a>(
    game: &Game,
    settings: &GameSettings,
    players: impl Iterator<Item = &'a PlayerSpec>,
) -> Knowledge {
    let (knowledge, warning) = load_knowledge(game);
    let warning = warning.filter(|_| uses_tables(settings, players));
    let warning = warning.or_else(|| {
        settings.adjudication.tables.then(|| cannot_adjudicate(game, &knowledge)).flatten()
    });
    if let Some(warning) = warning {
        eprint_message(warning);
    }
    knowledge
}

/// Warning for an adjudication with tables if there are none.
fn cannot_adjudicate(game: &Game, knowledge: &Knowledge) -> Option<String> {
    let Some(info) = TABLES.iter().find(|info| info.is_for(game)) else {
        return Some(format!("{game} has no tables, so none ends a game"));
    };
    knowledge.is_empty().then(|| {
        format!(
            "no table ends a game without the {} table; build it with `crownhead tables build {}`",
            info.name, info.game
        )
    })
}

/// Whether a player or the adjudication uses tables.
pub(crate) fn uses_tables<'a>(
    settings: &GameSettings,
    mut players: impl Iterator<Item = &'a PlayerSpec>,
) -> bool {
    settings.adjudication.tables || players.any(PlayerSpec::uses_evaluation)
}
