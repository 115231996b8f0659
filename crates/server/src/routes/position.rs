//! Description of a position and its legal moves.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use crownhead_play::PositionRequest;
use crownhead_play::position_json::position_json;

use super::{AppState, json_response, read_json};
use crate::error::ApiError;

/// `POST /api/position`.
pub(super) async fn position(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let query: PositionRequest = read_json(&app, request).await?;
    // Composed positions of Capture Halma have so many moves that listing them takes a while.
    let view = tokio::task::spawn_blocking(move || position_view(&query)).await;
    view.map_err(ApiError::failure)?.map(json_response)
}

fn position_view(query: &PositionRequest) -> Result<String, ApiError> {
    position_json(query.session()?.as_ref()).map_err(ApiError::failure)
}
