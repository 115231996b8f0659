//! Rules and exercises of a game.

use axum::extract::Path;
use axum::response::Response;
use crownhead_play::lessons::{self, Goal};
use crownhead_rules::Game;
use serde_json::json;

use super::json_response;
use crate::error::ApiError;

/// `GET /api/rules/{id}`.
pub(super) async fn rules(Path(id): Path<String>) -> Result<Response, ApiError> {
    let game = Game::all().into_iter().find(|game| game.info().id == id);
    let game = game.ok_or_else(ApiError::no_such_game)?;
    let exercises = lessons::exercises(&game).map_err(ApiError::failure)?;
    let exercises: Vec<_> = exercises
        .into_iter()
        .map(|exercise| {
            let goal = match exercise.goal {
                Goal::Any => json!({"kind": "any"}),
                Goal::Moves(moves) => json!({"kind": "moves", "moves": moves}),
                Goal::Illegal { text, reason } => {
                    json!({"kind": "illegal", "move": text, "reason": reason})
                }
            };
            json!({
                "title": exercise.title,
                "position": exercise.position,
                "task": exercise.task,
                "goal": goal,
                "hint": exercise.hint,
                "praise": exercise.praise,
            })
        })
        .collect();
    let about: Vec<_> = lessons::about(&game).collect();
    let rules = json!({"id": id, "name": game.info().name, "about": about, "exercises": exercises});
    Ok(json_response(rules.to_string()))
}
