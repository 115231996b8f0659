//! Analysed games as a web page.

use crownhead_analysis::{FileAnalysis, GameAnalysis};
use crownhead_play::describe_game;
use crownhead_rules::Side;

use super::markup::Html;
use super::page;
use super::viewer::{ViewerData, ViewerGame};
use crate::replay::Replay;

/// Formats the analysis of a file of games.
pub fn analysis_page(analysis: &FileAnalysis) -> String {
    let replays: Vec<Replay> = analysis.games.iter().map(Replay::from_analysis).collect();
    let mut data = ViewerData::default();
    for (game, replay) in analysis.games.iter().zip(&replays) {
        let id = game.record.game.info().id;
        data.info.entry(id.into()).or_insert_with(|| describe_game(&game.record.game));
        let names = [Side::First, Side::Second].map(|side| player_name(game, side));
        let first = data.names.len();
        data.names.extend(names);
        data.games.push(ViewerGame {
            number: game.number as i64,
            round: None,
            game: Some(id),
            players: [first, first + 1],
            result: game.record.result.text(),
            plies: None,
            reason: None,
            forfeit: false,
            ending: game.end.as_ref().map(|end| end.text.as_str()),
            details: details(game),
            opening: 0,
            times: "",
            replay: Some(replay),
        });
    }
    let title = match analysis.games.as_slice() {
        [only] => {
            let [first, second] = [Side::First, Side::Second].map(|side| player_name(only, side));
            format!("{first} – {second}")
        }
        _ => analysis.file.clone(),
    };
    let mut body = Html::default();
    body.raw("<main id=\"replay\"></main>\n");
    page(&title, &body, &data)
}

fn player_name(game: &GameAnalysis, side: Side) -> &str {
    game.player(side).unwrap_or(game.sides[side.index()].name)
}

fn details(game: &GameAnalysis) -> Vec<String> {
    let tag = |name: &str| game.record.tag(name).map(str::to_string);
    let mut details: Vec<_> = ["Event", "Site"].iter().filter_map(|name| tag(name)).collect();
    details.extend(tag("Round").map(|round| format!("round {round}")));
    details.extend(tag("Date"));
    details
}
