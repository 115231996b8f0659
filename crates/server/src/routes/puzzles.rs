//! Puzzles, made by `crownhead puzzles make` and embedded in the program.

use std::borrow::Cow;

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::error::ApiError;

#[derive(RustEmbed)]
#[folder = "puzzles"]
struct Puzzles;

/// `GET /api/puzzles/{id}`.
pub(super) async fn puzzles(Path(id): Path<String>) -> Result<Response, ApiError> {
    let file = Puzzles::get(&format!("{id}.json")).ok_or_else(ApiError::not_found)?;
    let body: axum::body::Body = match file.data {
        Cow::Borrowed(bytes) => bytes.into(),
        Cow::Owned(bytes) => bytes.into(),
    };
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((headers, body).into_response())
}
