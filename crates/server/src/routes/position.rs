//! Description of a position and its legal moves.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use crownhead_play::{PlayError, new_session};
use crownhead_rules::Game;
use serde::Deserialize;

use super::{AppState, json_response, read_json};
use crate::error::{ApiError, Code, play_error_code};
use crate::new_game::parse_position;
use crate::views::position_json;

/// Maximum number of moves to play from the position.
const MAX_MOVES: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PositionQuery {
    game: String,
    position: Option<String>,
    #[serde(default)]
    moves: Vec<String>,
}

/// `POST /api/position`.
pub(super) async fn position(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let query: PositionQuery = read_json(&app, request).await?;
    // Composed positions of Capture Halma have so many moves that listing them takes a while.
    let view = tokio::task::spawn_blocking(move || position_view(&query)).await;
    view.map_err(ApiError::failure)?.map(json_response)
}

fn position_view(query: &PositionQuery) -> Result<String, ApiError> {
    if query.moves.len() > MAX_MOVES {
        return Err(ApiError::bad_request(format!("more than {MAX_MOVES} moves")));
    }
    let game: Game =
        query.game.parse().map_err(|error| ApiError::bad_request(format!("{error}")))?;
    let mut session = match &query.position {
        Some(position) => parse_position(&game, position)?,
        None => new_session(&game, None)?,
    };
    let mut last_side = None;
    for (at, text) in query.moves.iter().enumerate() {
        let side = session.side();
        session.play(text).map_err(|error: PlayError| ApiError {
            at: Some(at),
            kind: Some(play_error_code(&error)),
            ..ApiError::new(Code::Illegal, error.to_string())
        })?;
        last_side = Some(side);
    }
    let last_move = session.last_move();
    let last = last_move.as_ref().zip(last_side);
    position_json(session.as_ref(), last).map_err(ApiError::failure)
}
