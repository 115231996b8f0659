//! The page, which is part of the program: files by their exact names, so there is no path to play
//! tricks with.

use std::collections::HashMap;
use std::io::Write;
use std::sync::OnceLock;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;

use crate::error::{ApiError, Code};

#[derive(RustEmbed)]
#[folder = "page/dist"]
struct Dist;

struct PageFile {
    plain: bytes::Bytes,
    /// Compressed, if that makes it smaller.
    gzip: Option<bytes::Bytes>,
    kind: &'static str,
    tag: HeaderValue,
    /// Its name changes with what is in it.
    is_immutable: bool,
}

fn files() -> &'static HashMap<String, PageFile> {
    static FILES: OnceLock<HashMap<String, PageFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let read = |name: std::borrow::Cow<'static, str>| {
            let file = Dist::get(&name)?;
            let plain = bytes::Bytes::from(file.data.into_owned());
            let packed = pack(&plain).filter(|packed| packed.len() < plain.len()).map(Into::into);
            let hash: String = file.metadata.sha256_hash()[..12]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let tag = HeaderValue::from_str(&format!("\"{hash}\"")).ok()?;
            let is_fixed = name.starts_with("assets/");
            Some((
                name.to_string(),
                PageFile { plain, gzip: packed, kind: kind(&name), tag, is_immutable: is_fixed },
            ))
        };
        Dist::iter().filter_map(read).collect()
    })
}

fn pack(plain: &[u8]) -> Option<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(plain).ok()?;
    packer.finish().ok()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "webmanifest" => "application/json",
        "woff2" => "font/woff2",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn is_zero(weight: &str) -> bool {
    weight.parse::<f32>().is_ok_and(|weight| weight == 0.0)
}

/// The file of a path. Paths of the page itself, such as `/game/ID`, have its one document.
pub fn serve(path: &str, headers: &HeaderMap) -> Response {
    let name = path.strip_prefix('/').unwrap_or(path);
    let is_place = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    // The page says itself that an address leads nowhere, but such an answer is no success.
    let places: Vec<_> = name.split('/').collect();
    let is_page = match places[..] {
        [""] | ["rules"] => true,
        ["game" | "rules", id] => !id.is_empty(),
        _ => false,
    };
    let found = files().get(name);
    let is_known = found.is_some() || is_page;
    let file = match found {
        None if name.len() < 100 && places.into_iter().all(is_place) => files().get("index.html"),
        file => file,
    };
    let Some(file) = file else {
        return ApiError::new(Code::NotFound, "there is nothing here").into_response();
    };
    let value = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let mut response =
        if is_known && value(header::IF_NONE_MATCH).is_some_and(|tag| file.tag == tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let packs = value(header::ACCEPT_ENCODING).is_some_and(|all| {
                all.split(',').any(|one| {
                    let mut parts = one.split(';').map(str::trim);
                    let refused = |part: &str| part.strip_prefix("q=").is_some_and(is_zero);
                    parts.next() == Some("gzip") && !parts.any(refused)
                })
            });
            let packed = file.gzip.as_ref().filter(|_| packs);
            let mut response = Body::from(packed.unwrap_or(&file.plain).clone()).into_response();
            if packed.is_some() {
                response
                    .headers_mut()
                    .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
    if !is_known {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    let own = response.headers_mut();
    let keep = if file.is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    own.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    own.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    own.insert(header::ETAG, file.tag.clone());
    response
}
