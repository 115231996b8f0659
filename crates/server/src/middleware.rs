//! Checks of every request (host, origin, rate limit), client addresses, and security headers of
//! every response.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Code};
use crate::rate_limit::ClientKey;
use crate::routes::AppState;

/// Headers of every response. Scripts, styles and the engine, which is WebAssembly, come from the
/// server only; nothing is inline, and there are no frames and no forms. The page is isolated from
/// other origins, so that it can share a number with the engine's worker, which stops a search.
const SECURITY_HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; media-src 'self' data:; connect-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// URL under which a proxy publishes the server, such as `https://games.example`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl {
    origin: String,
    host: String,
    /// The default port of the scheme, with its colon.
    default_port: &'static str,
}

impl PublicUrl {
    /// Parses a URL of a scheme, a host and optionally a port; `None` if it is anything else.
    pub fn parse(text: &str) -> Option<PublicUrl> {
        let origin = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, host) = origin.split_once("://")?;
        let default_port = match scheme {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        // Browsers omit the default port.
        let host = host.strip_suffix(default_port).unwrap_or(host);
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        let is_valid_name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(ip) => ip.parse::<Ipv6Addr>().is_ok(),
            None => {
                let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
                !name.is_empty() && name.bytes().all(is_valid)
            }
        };
        let is_valid_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
        (is_valid_name && is_valid_port).then(|| PublicUrl {
            origin: format!("{scheme}://{host}"),
            host: host.into(),
            default_port,
        })
    }

    /// Whether a `Host` header names this URL.
    fn matches_host(&self, host: &str) -> bool {
        host.strip_suffix(self.default_port).unwrap_or(host).eq_ignore_ascii_case(&self.host)
    }

    /// Whether an `Origin` header names this URL.
    fn matches_origin(&self, origin: &HeaderValue) -> bool {
        origin.as_bytes().eq_ignore_ascii_case(self.origin.as_bytes())
    }

    /// The URL of the page.
    pub fn page(&self) -> String {
        format!("{}/", self.origin)
    }
}

/// IP address from which a request comes; an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddr(pub IpAddr);

/// The client that sent a request.
pub fn client(request: &Request) -> ClientKey {
    let peer = request.extensions().get::<PeerAddr>();
    ClientKey::new(peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0))
}

/// Checks a request, and adds the security headers to its response.
pub async fn check_request(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    set_forwarded_peer(&app, &mut request);
    let mut response = match check(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Behind a proxy, replaces the peer by the last address in `X-Forwarded-For`, which the proxy
/// itself has added. The header is ignored if the request does not come from this machine.
fn set_forwarded_peer(app: &AppState, request: &mut Request) {
    let peer = request.extensions().get::<PeerAddr>();
    if app.public_url.is_some()
        && peer.is_none_or(|peer| peer.0.is_loopback())
        && let Some(addresses) = request.headers().get_all("x-forwarded-for").iter().next_back()
        && let Some(address) = addresses.to_str().ok().and_then(|list| list.rsplit(',').next())
        && let Ok(address) = address.trim().parse::<IpAddr>()
    {
        request.extensions_mut().insert(PeerAddr(address));
    }
}

fn check(app: &AppState, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let host_header = header_text(headers, header::HOST);
    let Some(host) = request.uri().host().or(host_header) else {
        return Err(ApiError::bad_request("Host header missing"));
    };
    let public_url = app.public_url.as_ref();
    if app.is_local
        && !is_loopback(host)
        && !public_url.is_some_and(|public_url| public_url.matches_host(host))
    {
        // Protects from DNS rebinding: a foreign name that suddenly resolves to this machine.
        let reason =
            "this server accepts only localhost, 127.0.0.1, [::1] and --public-url as host";
        return Err(ApiError::new(Code::Misdirected, reason));
    }
    // Browsers send an origin with every request except plain `GET` and `HEAD`.
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin_host = origin.to_str().ok().and_then(|origin| {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
        });
        let host = host_header.unwrap_or(host);
        let is_same_origin = origin_host.is_some_and(|origin| origin.eq_ignore_ascii_case(host));
        // A proxy may have replaced the host.
        let is_public = public_url.is_some_and(|public_url| public_url.matches_origin(origin));
        if !is_same_origin && !is_public {
            let reason = "requests from pages of other origins are not accepted";
            return Err(ApiError::new(Code::Forbidden, reason));
        }
    }
    if !app.requests.take(client(request), Instant::now()) {
        return Err(ApiError::new(Code::TooMany, "too many requests; try again later"));
    }
    Ok(())
}

/// The text of a header, if it is there and valid.
pub(crate) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
