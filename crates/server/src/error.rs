//! What is refused, in words for programs and for people.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use crownhead_play::PlayError;
use crownhead_rules::{MoveErrorKind, PositionError};
use serde::Serialize;

/// A word for what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The request is no request.
    BadRequest,
    /// It comes from a page of somebody else.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// There is, but not by this method.
    Method,
    /// The body is too large.
    TooLarge,
    /// The body is not JSON.
    MediaType,
    /// The request is for another server.
    Misdirected,
    /// The rules refuse it.
    Illegal,
    /// The client asks too often.
    TooMany,
    /// The request took too long to come.
    Timeout,
    /// Something went wrong here.
    Failure,
}

/// A refusal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ApiError {
    /// A word.
    pub code: Code,
    /// A sentence.
    pub reason: String,
    /// Which check a move failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The index of the refused move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The character of a refused position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl ApiError {
    /// A refusal without particulars.
    pub fn new(code: Code, reason: impl Into<String>) -> ApiError {
        ApiError { code, reason: reason.into(), kind: None, at: None, column: None }
    }

    /// There is no such game.
    pub fn no_game() -> ApiError {
        ApiError::new(Code::NotFound, "there is no such game, or it was too long ago")
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

impl From<PositionError> for ApiError {
    fn from(error: PositionError) -> ApiError {
        ApiError { column: Some(error.column), ..ApiError::new(Code::Illegal, error.to_string()) }
    }
}

/// The word for the check that a move failed.
pub fn kind_text(error: &PlayError) -> &'static str {
    match error {
        PlayError::GameOver(_) => "over",
        PlayError::Illegal(error) => move_error_code(error.kind),
    }
}

/// The stable external word for the check that an illegal move failed.
pub fn move_error_code(kind: MoveErrorKind) -> &'static str {
    match kind {
        MoveErrorKind::Format => "format",
        MoveErrorKind::OffBoard => "off-board",
        MoveErrorKind::Start => "start",
        MoveErrorKind::End => "end",
        MoveErrorKind::Rule => "rule",
    }
}
