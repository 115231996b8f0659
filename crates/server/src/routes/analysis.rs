//! Exact values of positions, and the WebSocket of searches.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use crownhead_play::PositionRequest;
use crownhead_play::knowledge::exact_json;

use super::games::upgrade;
use super::{AppState, json_response, read_json};
use crate::analysis;
use crate::error::ApiError;
use crate::middleware::client;

/// Maximum size of a message: a game of 500 moves with long texts.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// `POST /api/exact`.
pub(super) async fn exact(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let query: PositionRequest = read_json(&app, request).await?;
    let rooms = app.rooms.clone();
    // Tables are read from disk.
    let values = tokio::task::spawn_blocking(move || {
        let session = query.session()?;
        let knowledge = rooms.search_queue().knowledge(session.game());
        Ok::<_, ApiError>(exact_json(session.as_ref(), &knowledge))
    });
    let values = values.await.map_err(ApiError::failure)??;
    Ok(json_response(values.map_or("null".into(), |values| values.to_string())))
}

/// `GET /api/analysis/socket`.
pub(super) async fn socket(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let client = client(&request);
    let upgrade = upgrade(&app, request, MAX_MESSAGE_BYTES).await?;
    let (rooms, shutdown) = (app.rooms.clone(), app.shutdown.clone());
    Ok(upgrade.on_upgrade(move |socket| analysis::serve(socket, rooms, client, shutdown)))
}
