//! `crownhead games`: what can be played.

use std::io::Write;

use crownhead_rules::Game;
use serde_json::json;

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let games = Game::all();
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
        let info = game.info();
        let [first, second] = info.sides;
        writeln!(out, "{:<17} {}", info.id, info.name)?;
        writeln!(
            out,
            "  sides           {} {} moves first, {} {}",
            first.name, first.letter, second.name, second.letter
        )?;
        writeln!(out, "  start           {}", game.start_position())?;
        for option in info.options {
            let about =
                format!("{} (default {}): {}", option.values, option.default, option.description);
            writeln!(out, "  {:<15} {about}", format!("{}=", option.key))?;
        }
    }
    Ok(())
}

fn as_json(game: &Game) -> serde_json::Value {
    let info = game.info();
    let sides = info.sides.map(|side| json!({ "letter": side.letter, "name": side.name }));
    let options: Vec<_> = info
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
        "id": info.id,
        "name": info.name,
        "sides": sides,
        "options": options,
        "start": game.start_position(),
    })
}
