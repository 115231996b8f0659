//! One log line per request, without secrets.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use crate::ids::SECRET_CHARS;

/// Logs method, path, status and duration of a request at `info`. A WebSocket is logged when it is
/// upgraded.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
    if !tracing::enabled!(tracing::Level::INFO) {
        return next.run(request).await;
    }
    let method = request.method().clone();
    let path = redacted(request.uri().path());
    let start = Instant::now();
    let response = next.run(request).await;
    let duration = start.elapsed().as_secs_f64() * 1000.0;
    let status = response.status().as_u16();
    tracing::info!(%method, path, status, duration = format_args!("{duration:.1}ms"), "request");
    response
}

/// Replaces the segments of a path that are long enough to contain a seat secret: a browser keeps
/// the secret of a link to itself, but a mangled link such as `/game/ID%23SECRET` reveals it. Query
/// strings are not logged at all.
fn redacted(path: &str) -> String {
    let redact = |segment| match is_loggable(segment) {
        true => segment,
        false => "...",
    };
    path.split('/').map(redact).collect::<Vec<_>>().join("/")
}

fn is_loggable(segment: &str) -> bool {
    segment.len() < SECRET_CHARS && segment.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;
    use crate::ids::{GameId, SeatSecret};

    #[test]
    fn known_paths_are_logged_unchanged() {
        let id = GameId::new().unwrap();
        for path in [
            "/",
            "/api/games",
            "/api/rules/chinese-checkers",
            "/assets/index-D5Tn2AbC.js",
            &format!("/game/{id}"),
            &format!("/api/games/{id}/socket"),
        ] {
            assert_eq!(redacted(path), path);
        }
    }

    #[test]
    fn secrets_and_unprintable_characters_are_redacted() {
        let (id, secret) = (GameId::new().unwrap(), SeatSecret::new().unwrap());
        let secret = secret.reveal();
        assert_eq!(redacted(&format!("/game/{id}%23{secret}")), "/game/...");
        assert_eq!(redacted(&format!("/game/{id}/{secret}/x")), format!("/game/{id}/.../x"));
        assert_eq!(redacted("/\u{1b}[31m/\u{202e}"), "/.../...");
    }
}
