//! The status of a fleet.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::{AppState, json_response};
use crate::error::{ApiError, Code};

/// `GET /api/fleet`.
pub(super) async fn fleet(State(app): State<Arc<AppState>>) -> Result<Response, ApiError> {
    let Some(fleet) = &app.fleet else {
        return Err(ApiError::new(Code::NotFound, "this server shows no fleet"));
    };
    match fleet.status().await {
        Some(status) => Ok(json_response(status.to_string())),
        None => Err(ApiError::new(Code::NoFleet, "no fleet can be reached")),
    }
}
