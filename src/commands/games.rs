//! `crownhead games`: what can be played.

use std::io::Write;

use crownhead_rules::{Game, GameInfo};
use serde_json::json;

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let games: Vec<_> = Game::all().iter().map(Game::info).collect();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let games: Vec<_> = games.iter().map(as_json).collect();
        writeln!(out, "{}", json!({ "games": games }))?;
        return Ok(());
    }
    for (index, game) in games.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let [first, second] = game.sides;
        writeln!(out, "{:<17} {}", game.id, game.name)?;
        writeln!(
            out,
            "  sides           {} {} moves first, {} {}",
            first.name, first.letter, second.name, second.letter
        )?;
        writeln!(out, "  start           {}", game.start)?;
        for option in game.options {
            let about =
                format!("{} (default {}): {}", option.values, option.default, option.description);
            writeln!(out, "  {:<15} {about}", format!("{}=", option.key))?;
        }
    }
    Ok(())
}

fn as_json(game: &GameInfo) -> serde_json::Value {
    let sides = game.sides.map(|side| json!({ "letter": side.letter, "name": side.name }));
    let options: Vec<_> = game
        .options
        .iter()
        .map(|option| {
            json!({
                "key": option.key,
                "values": option.values,
                "default": option.default,
                "meaning": option.description,
            })
        })
        .collect();
    json!({
        "id": game.id,
        "name": game.name,
        "sides": sides,
        "options": options,
        "start": game.start,
    })
}
