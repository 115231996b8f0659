//! The ways in over HTTP. What is played and how is told by others; here it is asked for.

pub mod assets;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use crownhead_play::lessons::{self, Goal};
use crownhead_play::{CATALOG, PlayError, new_session};
use crownhead_records::format_game;
use crownhead_rules::{Bits, Cell, Colour, Game, GameInfo};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::{ApiError, Code, kind_text};
use crate::ids::GameId;
use crate::limits::RateLimiter;
use crate::messages::MAX_MESSAGE_BYTES;
use crate::middleware::{PublicUrl, address, check_request};
use crate::new_game::{
    DEFAULT_THINK_TIME, MAX_INCREMENT, MAX_MAIN_TIME, MAX_NAME_CHARS, MIN_THINK_TIME,
    NewGameRequest, parse_position, side_letter,
};
use crate::room::PROTOCOL;
use crate::rooms::Rooms;
use crate::views::position_json;
use crate::ws;

/// No body is longer.
const MAX_BODY_BYTES: usize = 16 * 1024;
const MAX_MOVES: usize = 500;
const MAX_SUMMARIES: usize = 100;
/// What a socket reads and writes at once; most messages are smaller.
const BUFFER: usize = 2048;
/// What may wait in a socket for a client that does not read.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// All that the routes need.
pub struct AppState {
    /// The games.
    pub rooms: Arc<Rooms>,
    /// Whether only this machine reaches the server.
    pub is_local: bool,
    /// The address by which a proxy has it, if one has.
    pub public: Option<PublicUrl>,
    /// Requests of each address.
    pub requests: RateLimiter,
    /// New games of each address.
    pub games: RateLimiter,
    /// Becomes true when the server ends.
    pub ending: watch::Receiver<bool>,
    catalog: String,
}

impl AppState {
    /// For these games.
    pub fn new(
        rooms: Arc<Rooms>,
        is_local: bool,
        public: Option<PublicUrl>,
        ending: watch::Receiver<bool>,
    ) -> Arc<AppState> {
        let limits = rooms.limits();
        Arc::new(AppState {
            requests: RateLimiter::new(limits.requests),
            games: RateLimiter::new(limits.games),
            catalog: kinds(limits.max_think_time.as_millis() as u64).to_string(),
            rooms,
            is_local,
            public,
            ending,
        })
    }
}

/// The routes.
pub fn routes(app: Arc<AppState>) -> Router {
    let nothing = || async { ApiError::new(Code::NotFound, "there is nothing here") };
    Router::new()
        .route("/api/games", get(list_kinds).post(create))
        .route("/api/rules/{id}", get(rules))
        .route("/api/position", post(position))
        .route("/api/summaries", post(summaries))
        .route("/api/games/{id}/pdn", get(pdn))
        .route("/api/games/{id}/socket", get(join))
        .route("/api", any(nothing))
        .route("/api/", any(nothing))
        .route("/api/{*rest}", any(nothing))
        .fallback_service(get(page))
        .method_not_allowed_fallback(|| async { ApiError::new(Code::Method, "not by this method") })
        .layer(from_fn_with_state(app.clone(), check_request))
        .with_state(app)
}

async fn page(request: Request) -> Response {
    assets::serve(request.uri().path(), request.headers())
}

fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

/// The body of a request, which must be JSON, not too long, and come in time.
async fn read_body<T: DeserializeOwned>(app: &AppState, request: Request) -> Result<T, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        let reason = "the body of a request is application/json";
        return Err(ApiError::new(Code::MediaType, reason));
    }
    let too_large =
        || ApiError::new(Code::TooLarge, format!("a body has at most {MAX_BODY_BYTES} bytes"));
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(too_large());
    }
    let body =
        timeout(app.rooms.limits().read_timeout, to_bytes(request.into_body(), MAX_BODY_BYTES));
    let body: Bytes = body
        .await
        .map_err(|_| ApiError::new(Code::Timeout, "the body of the request did not come"))?
        .map_err(|_| too_large())?;
    serde_json::from_slice(&body)
        .map_err(|error| ApiError::new(Code::BadRequest, error.to_string()))
}

async fn list_kinds(State(app): State<Arc<AppState>>) -> Response {
    json_text(app.catalog.clone())
}

fn cells(board: u64) -> Value {
    Bits(board).map(|index| Cell::from_index(index).to_string()).collect()
}

/// All that can be played, and with whom.
fn kinds(longest_thought: u64) -> Value {
    let games: Vec<_> = Game::all().iter().map(kind).collect();
    let players: Vec<_> = CATALOG
        .iter()
        .map(|own| {
            json!({"spec": own.spec, "name": own.name, "description": own.description,
                   "uses_time": own.uses_time})
        })
        .collect();
    json!({
        "protocol": PROTOCOL,
        "games": games,
        "players": players,
        "thinking": {
            "min": MIN_THINK_TIME.as_millis() as u64,
            "default": DEFAULT_THINK_TIME.as_millis() as u64,
            "max": longest_thought,
        },
        "clock": {
            "max": MAX_MAIN_TIME.as_millis() as u64,
            "max_increment": MAX_INCREMENT.as_millis() as u64,
        },
        "names": {"max": MAX_NAME_CHARS},
    })
}

fn kind(game: &Game) -> Value {
    let info = game.info();
    let board: String =
        new_session(game, None).map(|session| session.board().iter().collect()).unwrap_or_default();
    let squares = info
        .numbered_squares
        .then(|| Cell::all().map(|cell| info.square_number(cell)).collect::<Vec<_>>());
    let sides = info.sides.map(
        |side| json!({"letter": side.letter, "name": side.name, "colour": css_colour(side.colour)}),
    );
    let options: Vec<_> = info
        .options
        .iter()
        .map(|own| {
            json!({"key": own.key, "values": own.values, "default": own.default, "meaning": own.description})
        })
        .collect();
    json!({
        "id": info.id,
        "name": info.name,
        "sides": sides,
        "options": options,
        "start": game.start_position(),
        "board": board,
        "cells": cells(info.cells),
        "pieces": pieces(info),
        "squares": squares,
        "targets": info.targets.map(|targets| targets.map(cells)),
        "forced_capture": info.forced_capture,
    })
}

/// CSS colour of a side's pieces; `None` for the theme's dark and light pieces.
fn css_colour(colour: Colour) -> Option<&'static str> {
    match colour {
        Colour::Black | Colour::White => None,
        Colour::Red => Some("#b02c22"),
        Colour::Blue => Some("#24569c"),
    }
}

/// The letters on a board: the side and the name of each piece. Kinds after the first are kings.
fn pieces(info: &GameInfo) -> Vec<Value> {
    let mut pieces = Vec::new();
    for side in 0..2 {
        for (index, kind) in info.pieces.iter().enumerate() {
            let (letter, king) = (kind.letters[side], index > 0);
            pieces.push(json!({"letter": letter, "side": side, "name": kind.name, "king": king}));
        }
    }
    pieces
}

async fn rules(Path(id): Path<String>) -> Result<Response, ApiError> {
    let game = Game::all().into_iter().find(|game| game.info().id == id);
    let game = game.ok_or_else(|| ApiError::new(Code::NotFound, "there is no such game"))?;
    let exercises = lessons::exercises(&game);
    let exercises = exercises.map_err(|reason| ApiError::new(Code::Failure, reason))?;
    let exercises: Vec<_> = exercises
        .into_iter()
        .map(|own| {
            let goal = match own.goal {
                Goal::Any => json!({"kind": "any"}),
                Goal::Moves(moves) => json!({"kind": "moves", "moves": moves}),
                Goal::Illegal { text, reason } => {
                    json!({"kind": "illegal", "move": text, "reason": reason})
                }
            };
            json!({"title": own.title, "position": own.position, "task": own.task, "goal": goal,
                   "hint": own.hint, "praise": own.praise})
        })
        .collect();
    let about: Vec<_> = lessons::about(&game).collect();
    let name = game.info().name;
    Ok(json_text(
        json!({"id": id, "name": name, "about": about, "exercises": exercises}).to_string(),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PositionQuery {
    game: String,
    position: Option<String>,
    #[serde(default)]
    moves: Vec<String>,
}

async fn position(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let question: PositionQuery = read_body(&app, request).await?;
    // Composed positions of Capture Halma have moves enough to keep a thread for a while.
    let answered = tokio::task::spawn_blocking(move || position_view(&question)).await;
    answered.unwrap_or_else(|_| Err(ApiError::new(Code::Failure, "no answer was found")))
}

fn position_view(question: &PositionQuery) -> Result<Response, ApiError> {
    let bad = |reason: String| ApiError::new(Code::BadRequest, reason);
    if question.moves.len() > MAX_MOVES {
        return Err(bad(format!("at most {MAX_MOVES} moves are looked at")));
    }
    let game: Game = question.game.parse().map_err(|error| bad(format!("{error}")))?;
    let mut session = match &question.position {
        Some(position) => parse_position(&game, position)?,
        None => new_session(&game, None)?,
    };
    let mut mover = None;
    for (at, text) in question.moves.iter().enumerate() {
        let side = session.side();
        session.play(text).map_err(|error: PlayError| ApiError {
            at: Some(at),
            kind: Some(kind_text(&error)),
            ..ApiError::new(Code::Illegal, error.to_string())
        })?;
        mover = Some(side);
    }
    let made = session.last_move();
    let last = made.as_ref().zip(mover);
    let text = position_json(session.as_ref(), last);
    text.map(json_text).map_err(|error| ApiError::new(Code::Failure, error.to_string()))
}

async fn create(State(app): State<Arc<AppState>>, request: Request) -> Result<Response, ApiError> {
    let who = address(&request);
    let wish: NewGameRequest = read_body(&app, request).await?;
    let granted = wish.grant(app.rooms.limits().max_think_time, app.rooms.random_seed())?;
    if !app.games.take(who, Instant::now()) {
        return Err(ApiError::new(Code::TooMany, "too many new games: wait a little"));
    }
    let kind = granted.setup.game.clone();
    let you: Vec<_> = match granted.side {
        Some(side) => vec![side_letter(&kind, side)],
        None => kind.info().sides.map(|side| side.letter).into(),
    };
    let created = app.rooms.create(granted).await?;
    let mut body =
        json!({"id": created.id.as_str(), "secret": created.secret.reveal(), "you": you});
    if let Some(friend) = &created.friend {
        body["friend"] = friend.reveal().into();
    }
    Ok((StatusCode::CREATED, json_text(body.to_string())).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SummaryQuery {
    games: Vec<String>,
}

async fn summaries(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ApiError> {
    let wanted: SummaryQuery = read_body(&app, request).await?;
    if wanted.games.len() > MAX_SUMMARIES {
        let reason = format!("at most {MAX_SUMMARIES} games at once");
        return Err(ApiError::new(Code::BadRequest, reason));
    }
    let ids: BTreeSet<_> = wanted.games.iter().filter_map(|id| GameId::parse(id)).collect();
    let mut games = Vec::new();
    for id in ids {
        games.extend(app.rooms.summary(&id).await?);
    }
    Ok(json_text(json!({"games": games}).to_string()))
}

async fn pdn(
    State(app): State<Arc<AppState>>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = GameId::parse(&id).ok_or_else(ApiError::no_game)?;
    let record = app.rooms.record(&id).await?.ok_or_else(ApiError::no_game)?;
    let text = format_game(&record);
    let text = text.map_err(|error| ApiError::new(Code::Failure, error.to_string()))?;
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"game.pdn\""),
    ];
    Ok((headers, text).into_response())
}

async fn join(
    State(app): State<Arc<AppState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    // Whether there is such a game is told by the socket: the page cannot see why an upgrade failed.
    let id = GameId::parse(&id).ok_or_else(ApiError::no_game)?;
    let who = address(&request);
    let (mut parts, _) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &app)
        .await
        .map_err(|_| ApiError::new(Code::BadRequest, "a game is joined by a WebSocket"))?;
    let (rooms, ending) = (app.rooms.clone(), app.ending.clone());
    Ok(upgrade
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_write_buffer_size(MAX_UNSENT_BYTES)
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| ws::serve(socket, rooms, id, who, ending)))
}
