//! HTTP routes, the state they share, and JSON bodies.

mod analysis;
mod assets;
mod fleet;
mod games;
mod position;
mod puzzles;
mod rules;

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::Shutdown;
use crate::error::{ApiError, Code};
use crate::fleet::FleetMonitor;
use crate::middleware::{PublicUrl, check_request, header_text};
use crate::rate_limit::RateLimiter;
use crate::request_log::log_request;
use crate::rooms::Rooms;

/// Maximum size of a request's body.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// State shared by all routes.
pub struct AppState {
    /// The games.
    pub rooms: Arc<Rooms>,
    /// Whether only this machine can reach the server.
    pub is_local: bool,
    /// The URL under which a proxy publishes the server.
    pub public_url: Option<PublicUrl>,
    /// The fleet that the server shows.
    pub fleet: Option<FleetMonitor>,
    /// Rate limit of requests.
    pub requests: RateLimiter,
    /// Rate limit of new games.
    pub new_games: RateLimiter,
    /// Signals the shutdown to WebSockets.
    pub shutdown: Shutdown,
    /// The response to `GET /api/games`.
    catalog: String,
}

impl AppState {
    /// State of a server for these games.
    pub fn new(
        rooms: Arc<Rooms>,
        is_local: bool,
        public_url: Option<PublicUrl>,
        fleet: Option<FleetMonitor>,
        shutdown: Shutdown,
    ) -> Arc<AppState> {
        let limits = rooms.limits();
        Arc::new(AppState {
            requests: RateLimiter::new(limits.requests),
            new_games: RateLimiter::new(limits.new_games),
            catalog: games::catalog(limits.max_think_time, fleet.is_some()).to_string(),
            rooms,
            is_local,
            public_url,
            fleet,
            shutdown,
        })
    }
}

/// The router of all routes.
pub fn routes(app: Arc<AppState>) -> Router {
    let not_found = || async { ApiError::not_found() };
    let method_not_allowed = || async { ApiError::new(Code::Method, "method not allowed") };
    Router::new()
        .route("/api/games", get(games::list).post(games::create))
        .route("/api/rules/{id}", get(rules::rules))
        .route("/api/position", post(position::position))
        .route("/api/puzzles/{id}", get(puzzles::puzzles))
        .route("/api/fleet", get(fleet::fleet))
        .route("/api/exact", post(analysis::exact))
        .route("/api/analysis/socket", get(analysis::socket))
        .route("/api/summaries", post(games::summaries))
        .route("/api/games/{id}/pdn", get(games::pdn))
        .route("/api/games/{id}/socket", get(games::socket))
        .route("/api", any(not_found))
        .route("/api/", any(not_found))
        .route("/api/{*rest}", any(not_found))
        .fallback_service(get(assets::asset))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(app.clone(), check_request))
        .layer(from_fn(log_request))
        .with_state(app)
}

fn json_response(json: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}

/// Reads a JSON body, limited in size and time.
async fn read_json<T: DeserializeOwned>(app: &AppState, request: Request) -> Result<T, ApiError> {
    check_json_headers(request.headers())?;
    let body = to_bytes(request.into_body(), MAX_BODY_BYTES);
    let body = timeout(app.rooms.limits().read_timeout, body).await;
    let body = body.map_err(|_| ApiError::new(Code::Timeout, "the body did not arrive in time"))?;
    let body = body.map_err(|_| too_large())?;
    serde_json::from_slice(&body).map_err(|error| ApiError::bad_request(error.to_string()))
}

fn check_json_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name| header_text(headers, name);
    let media_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::new(Code::MediaType, "the body must be application/json"));
    }
    let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(too_large());
    }
    Ok(())
}

fn too_large() -> ApiError {
    ApiError::new(Code::TooLarge, format!("the body is larger than {MAX_BODY_BYTES} bytes"))
}
