//! Errors as clients see them: of HTTP requests and of actions in a game.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use crownhead_play::{PlayError, RequestError, game, named_cells};
use crownhead_rules::{Cell, Game, MoveErrorKind, PositionError};
use serde::Serialize;

/// Stable external word for the error of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The request is invalid.
    BadRequest,
    /// The request comes from a page of another origin.
    Forbidden,
    /// There is no such resource.
    NotFound,
    /// The resource does not support the method.
    Method,
    /// The body is too large.
    TooLarge,
    /// The body is not JSON.
    MediaType,
    /// The request is for another host.
    Misdirected,
    /// A move is illegal or a position invalid.
    Illegal,
    /// The client has exceeded a rate limit.
    TooMany,
    /// The body did not arrive in time.
    Timeout,
    /// No fleet can be reached.
    NoFleet,
    /// The server failed.
    Failure,
}

/// Error of a request, as sent to the client.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ApiError {
    /// The code.
    pub code: Code,
    /// The reason, in a sentence.
    pub reason: String,
    /// The check that an illegal move failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The index of the illegal move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The cells that the reason names, if a move is illegal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
    /// The column of the error in an invalid position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl ApiError {
    /// An error without details.
    pub fn new(code: Code, reason: impl Into<String>) -> ApiError {
        ApiError { code, reason: reason.into(), kind: None, at: None, cells: vec![], column: None }
    }

    /// An invalid request.
    pub fn bad_request(reason: impl Into<String>) -> ApiError {
        ApiError::new(Code::BadRequest, reason)
    }

    /// A failure of the server.
    pub fn failure(reason: impl ToString) -> ApiError {
        ApiError::new(Code::Failure, reason.to_string())
    }

    /// An unknown path.
    pub fn not_found() -> ApiError {
        ApiError::new(Code::NotFound, "no such path")
    }

    /// An unknown game id.
    pub fn no_such_game() -> ApiError {
        ApiError::new(Code::NotFound, "no such game; old games are deleted")
    }

    fn status(&self) -> StatusCode {
        match self.code {
            Code::BadRequest => StatusCode::BAD_REQUEST,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::Method => StatusCode::METHOD_NOT_ALLOWED,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Code::Illegal => StatusCode::UNPROCESSABLE_ENTITY,
            Code::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Code::Timeout => StatusCode::REQUEST_TIMEOUT,
            Code::NoFleet => StatusCode::SERVICE_UNAVAILABLE,
            Code::Failure => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Body<'a> {
            error: &'a ApiError,
        }
        let body = axum::Json(Body { error: &self });
        let mut response = (self.status(), body).into_response();
        if self.code == Code::TooMany {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> ApiError {
        match error {
            RequestError::Position(error) => error.into(),
            RequestError::Move { at, ref error, ref cells } => ApiError {
                at: Some(at),
                kind: Some(play_error_code(error)),
                cells: cell_texts(cells),
                ..ApiError::new(Code::Illegal, error.to_string())
            },
            RequestError::Game(_) | RequestError::TooLarge(_) => {
                ApiError::bad_request(error.to_string())
            }
        }
    }
}

impl From<PositionError> for ApiError {
    fn from(error: PositionError) -> ApiError {
        ApiError { column: Some(error.column), ..ApiError::new(Code::Illegal, error.to_string()) }
    }
}

/// Refusal of an action, as sent to the client.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refusal {
    /// The code.
    pub code: RefusalCode,
    /// The check that an illegal move failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The reason, in a sentence.
    pub reason: String,
    /// The cells that the reason names, if a move is illegal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
}

/// Stable external word for a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// The move is illegal.
    Illegal,
    /// The action was meant for an earlier state of the game.
    Stale,
    /// The client's seat does not allow it.
    Seat,
    /// The game is over.
    Over,
    /// There is nothing to accept, decline, take back or play again.
    Nothing,
    /// The message is invalid.
    BadRequest,
    /// Too many messages, events or names.
    TooMany,
    /// The server failed, for example to store the event.
    Failure,
}

impl Refusal {
    /// A refusal that is not about a move.
    pub fn new(code: RefusalCode, reason: impl Into<String>) -> Refusal {
        Refusal { code, kind: None, reason: reason.into(), cells: vec![] }
    }

    /// A failure of the server.
    pub fn failure(reason: impl ToString) -> Refusal {
        Refusal::new(RefusalCode::Failure, reason.to_string())
    }

    /// Adds the cells that the reason of an illegal move names.
    pub fn with_cells(mut self, game: &Game) -> Refusal {
        // The example in the explanation of an invalid format is about other cells.
        let format = move_error_code(MoveErrorKind::Format);
        if self.code == RefusalCode::Illegal && self.kind != Some(format) {
            self.cells = cell_texts(&named_cells(game, &self.reason));
        }
        self
    }
}

impl From<game::Refusal> for Refusal {
    fn from(refusal: game::Refusal) -> Refusal {
        use game::Refusal::{
            GameNotOver, GameOver, Illegal, NoOffer, NotYourTurn, NothingToTakeBack, RematchAgreed,
        };
        let code = match &refusal {
            Illegal(_) => RefusalCode::Illegal,
            NotYourTurn(_) => RefusalCode::Seat,
            GameOver(_) => RefusalCode::Over,
            NoOffer | NothingToTakeBack | GameNotOver | RematchAgreed => RefusalCode::Nothing,
        };
        let kind = match &refusal {
            Illegal(error) => Some(move_error_code(error.kind)),
            _ => None,
        };
        Refusal { code, kind, reason: refusal.to_string(), cells: vec![] }
    }
}

fn cell_texts(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(Cell::to_string).collect()
}

/// Stable external word for the check that a move failed.
pub fn play_error_code(error: &PlayError) -> &'static str {
    match error {
        PlayError::GameOver(_) => "over",
        PlayError::Illegal(error) => move_error_code(error.kind),
    }
}

fn move_error_code(kind: MoveErrorKind) -> &'static str {
    match kind {
        MoveErrorKind::Format => "format",
        MoveErrorKind::OffBoard => "off-board",
        MoveErrorKind::Start => "start",
        MoveErrorKind::End => "end",
        MoveErrorKind::Rule => "rule",
    }
}
