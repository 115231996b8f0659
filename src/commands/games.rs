//! `crownhead games`: lists the games.

use std::io::Write;

use crownhead_play::describe_game;
use crownhead_rules::Game;
use serde_json::json;

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let games = Game::all();
    let mut out = std::io::stdout().lock();
    if args.json {
        let games: Vec<_> = games.iter().map(game_json).collect();
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

fn game_json(game: &Game) -> serde_json::Value {
    let info = game.info();
    let sides = info.sides.map(|side| json!({ "letter": side.letter, "name": side.name }));
    let facts = describe_game(game);
    json!({
        "id": info.id,
        "name": info.name,
        "sides": sides,
        "options": facts["options"],
        "start": facts["start"],
    })
}
