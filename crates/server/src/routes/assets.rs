//! The web page, embedded in the program. Files are found by their exact names, so there is no path
//! traversal.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use crate::error::ApiError;
use crate::middleware::header_text;

/// Maximum length of a path that is answered with the page.
const MAX_PAGE_PATH_BYTES: usize = 100;

#[derive(RustEmbed)]
#[folder = "page/dist"]
struct Dist;

struct PageFile {
    plain: Bytes,
    /// Compressed, if that is smaller.
    gzip: Option<Bytes>,
    content_type: &'static str,
    etag: HeaderValue,
    /// The name contains a hash of the content.
    is_immutable: bool,
}

/// The engine of the page, built by `scripts/build-wasm`.
const ENGINE: (&str, &[u8]) = ("crownhead.wasm", include_bytes!("../../engine/crownhead.wasm"));

static FILES: LazyLock<HashMap<String, PageFile>> = LazyLock::new(|| {
    let read = |name: Cow<'static, str>| {
        let plain = Bytes::from(Dist::get(&name)?.data.into_owned());
        PageFile::new(name.into_owned(), plain)
    };
    Dist::iter().filter_map(read).collect()
});

/// Compressed when it is first requested: that takes a tenth of a second.
static ENGINE_FILE: LazyLock<Option<PageFile>> = LazyLock::new(|| {
    let (name, bytes) = ENGINE;
    Some(PageFile::new(name.into(), Bytes::from_static(bytes))?.1)
});

impl PageFile {
    fn new(name: String, plain: Bytes) -> Option<(String, PageFile)> {
        let gzip = gzip(&plain).filter(|gzip| gzip.len() < plain.len()).map(Bytes::from);
        let hash = &Sha256::digest(&plain)[..12];
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let etag = HeaderValue::from_str(&format!("\"{hash}\"")).ok()?;
        let is_immutable = name.starts_with("assets/");
        let content_type = content_type(&name);
        Some((name, PageFile { plain, gzip, content_type, etag, is_immutable }))
    }
}

fn gzip(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" => "application/json",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Everything outside `/api`: a file of the page, or the page itself for its client-side routes.
pub(super) async fn asset(request: Request) -> Response {
    let (path, headers) = (request.uri().path(), request.headers());
    let name = path.strip_prefix('/').unwrap_or(path);
    let engine = || ENGINE_FILE.as_ref().filter(|_| name == ENGINE.0);
    if let Some(file) = FILES.get(name).or_else(engine) {
        return file_response(file, headers);
    }
    let segments: Vec<_> = name.split('/').collect();
    let is_plain = |segment: &&str| {
        segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let has_page = name.len() < MAX_PAGE_PATH_BYTES && segments.iter().all(is_plain);
    let Some(page) = FILES.get("index.html").filter(|_| has_page) else {
        return ApiError::not_found().into_response();
    };
    let is_client_route = match segments[..] {
        ["" | "analyse" | "fleet" | "puzzles" | "rules"] => true,
        ["game" | "puzzles" | "rules", id] => !id.is_empty(),
        _ => false,
    };
    match is_client_route {
        true => file_response(page, headers),
        // The page shows "Page not found"; the status must match.
        false => {
            let mut response = content_response(page, headers);
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

fn file_response(file: &PageFile, headers: &HeaderMap) -> Response {
    if header_text(headers, header::IF_NONE_MATCH).is_some_and(|etag| file.etag == etag) {
        return with_file_headers(file, StatusCode::NOT_MODIFIED.into_response());
    }
    content_response(file, headers)
}

fn content_response(file: &PageFile, headers: &HeaderMap) -> Response {
    let accepted = header_text(headers, header::ACCEPT_ENCODING);
    let response = match &file.gzip {
        Some(gzip) if accepted.is_some_and(accepts_gzip) => {
            let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            (encoding, Body::from(gzip.clone())).into_response()
        }
        _ => Body::from(file.plain.clone()).into_response(),
    };
    with_file_headers(file, response)
}

/// Whether an `Accept-Encoding` header lists gzip with a non-zero weight.
fn accepts_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|encoding| {
        let mut parts = encoding.split(';').map(str::trim);
        let is_zero = |weight: &str| weight.parse::<f32>().is_ok_and(|weight| weight == 0.0);
        parts.next() == Some("gzip")
            && !parts.any(|part| part.strip_prefix("q=").is_some_and(is_zero))
    })
}

fn with_file_headers(file: &PageFile, mut response: Response) -> Response {
    let cache_control = match file.is_immutable {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, file.etag.clone());
    response
}
