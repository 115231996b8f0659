//! Catalogue, new games, summaries, PDN files, and the upgrade to a WebSocket.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use crownhead_play::position_json::side_letter;
use crownhead_play::{CATALOG, DEFAULT_PLAYER, DEFAULT_SIDE, describe_game};
use crownhead_records::format_game;
use crownhead_rules::Game;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AppState, json_response, read_json};
use crate::error::{ApiError, Code};
use crate::ids::GameId;
use crate::messages::{MAX_MESSAGE_BYTES, PROTOCOL_VERSION};
use crate::middleware::client;
use crate::new_game::{
    DEFAULT_THINK_TIME, MAX_INCREMENT, MAX_MAIN_TIME, MAX_NAME_CHARS, MIN_THINK_TIME,
    NewGameRequest,
};
use crate::ws;

/// Maximum number of games in a summary request.
const MAX_SUMMARIES: usize = 100;
/// Read and write buffers of a WebSocket. Most messages are smaller.
const SOCKET_BUFFER_BYTES: usize = 2048;
/// Maximum number of unsent bytes of a WebSocket.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// `GET /api/games`.
pub(super) async fn list(State(app): State<Arc<AppState>>) -> Response {
    json_response(app.catalog.clone())
}

/// The games, the computer players and the limits of a new game.
pub(super) fn catalog(max_think_time: Duration, has_fleet: bool) -> Value {
    let millis = |time: Duration| time.as_millis() as u64;
    let games: Vec<_> = Game::all().iter().map(describe_game).collect();
    let players = CATALOG.map(|player| {
        json!({
            "spec": player.spec,
            "name": player.name,
            "description": player.description,
            "uses_time": player.uses_time,
        })
    });
    json!({
        "protocol": PROTOCOL_VERSION,
        "games": games,
        "players": players,
        "defaults": {
            "game": Game::default().info().id,
            "player": DEFAULT_PLAYER,
            "side": Game::default().info().sides[DEFAULT_SIDE.index()].letter,
        },
        "thinking": {
            "min": millis(MIN_THINK_TIME),
            "default": millis(DEFAULT_THINK_TIME),
            "max": millis(max_think_time),
        },
        "clock": {"max": millis(MAX_MAIN_TIME), "max_increment": millis(MAX_INCREMENT)},
        "names": {"max": MAX_NAME_CHARS},
        "fleet": has_fleet,
    })
}

/// `POST /api/games`.
pub(super) async fn create(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let client = client(&request);
    let request: NewGameRequest = read_json(&app, request).await?;
    let request = request.validate(app.rooms.limits().max_think_time, app.rooms.random_seed())?;
    if !app.new_games.take(client, Instant::now()) {
        return Err(ApiError::new(Code::TooMany, "too many new games; try again later"));
    }
    let game = &request.setup.game;
    let you: Vec<_> = request.rights.sides().map(|side| side_letter(game, side)).collect();
    let created = app.rooms.create(request).await?;
    // Without a seat the secret is good for nothing.
    let secret = (!you.is_empty()).then(|| created.secret.reveal());
    let mut body = json!({"id": created.id.as_str(), "secret": secret, "you": you});
    if let Some(friend) = &created.friend {
        body["friend"] = friend.reveal().into();
    }
    Ok((StatusCode::CREATED, json_response(body.to_string())).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SummaryQuery {
    games: Vec<String>,
}

/// `POST /api/summaries`.
pub(super) async fn summaries(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let query: SummaryQuery = read_json(&app, request).await?;
    if query.games.len() > MAX_SUMMARIES {
        return Err(ApiError::bad_request(format!("more than {MAX_SUMMARIES} games")));
    }
    let ids: BTreeSet<_> = query.games.iter().filter_map(|id| GameId::parse(id)).collect();
    let mut games = Vec::new();
    for id in ids {
        games.extend(app.rooms.summary(&id).await?);
    }
    Ok(json_response(json!({"games": games}).to_string()))
}

/// `GET /api/games/{id}/pdn`.
pub(super) async fn pdn(
    State(app): State<Arc<AppState>>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = GameId::parse(&id).ok_or_else(ApiError::no_such_game)?;
    let record = app.rooms.record(&id).await?.ok_or_else(ApiError::no_such_game)?;
    let text = format_game(&record).map_err(ApiError::failure)?;
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"game.pdn\""),
    ];
    Ok((headers, text).into_response())
}

/// `GET /api/games/{id}/socket`.
pub(super) async fn socket(
    State(app): State<Arc<AppState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    // An unknown game is reported by a close code: a page cannot see why an upgrade failed.
    let id = GameId::parse(&id).ok_or_else(ApiError::no_such_game)?;
    let client = client(&request);
    let upgrade = upgrade(&app, request, MAX_MESSAGE_BYTES).await?;
    let (rooms, shutdown) = (app.rooms.clone(), app.shutdown.clone());
    Ok(upgrade.on_upgrade(move |socket| ws::serve(socket, rooms, id, client, shutdown)))
}

/// Upgrades a request to a WebSocket with messages up to this size.
pub(super) async fn upgrade(
    app: &Arc<AppState>,
    request: Request,
    max_message_bytes: usize,
) -> Result<WebSocketUpgrade, ApiError> {
    let (mut parts, _) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, app).await;
    let upgrade = upgrade.map_err(|_| ApiError::bad_request("WebSocket upgrade expected"))?;
    Ok(upgrade
        .read_buffer_size(SOCKET_BUFFER_BYTES)
        .write_buffer_size(SOCKET_BUFFER_BYTES)
        .max_write_buffer_size(MAX_UNSENT_BYTES)
        .max_message_size(max_message_bytes)
        .max_frame_size(max_message_bytes))
}
