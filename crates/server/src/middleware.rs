//! What every request has to pass, and what every answer carries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Code};
use crate::limits::ClientKey;
use crate::routes::AppState;

/// The address by which people reach the server when it stands behind a proxy: `https://games.example`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl {
    origin: String,
    host: String,
    /// The port that need not be named.
    usual: &'static str,
}

impl PublicUrl {
    /// Reads one: a scheme, a name and perhaps a port, nothing behind it.
    pub fn parse(text: &str) -> Option<PublicUrl> {
        let origin = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, host) = origin.split_once("://")?;
        let usual = match scheme {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        // A browser leaves the usual port out.
        let host = host.strip_suffix(usual).unwrap_or(host);
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        let is_name = |name: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
            !name.is_empty() && name.bytes().all(is_known)
        };
        let within = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let is_right = within.map_or(is_name(name), |ip| ip.parse::<Ipv6Addr>().is_ok())
            && port.is_none_or(|port| port.parse::<u16>().is_ok());
        is_right.then(|| PublicUrl {
            origin: format!("{scheme}://{host}"),
            host: host.into(),
            usual,
        })
    }

    /// Whether a `Host` is meant for it.
    fn is_host(&self, host: &str) -> bool {
        host.strip_suffix(self.usual).unwrap_or(host).eq_ignore_ascii_case(&self.host)
    }

    /// The address of the page.
    pub fn page(&self) -> String {
        format!("{}/", self.origin)
    }
}

/// From where a request comes; the listener says so.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddr(pub IpAddr);

/// The address of a request's sender.
pub fn address(request: &Request) -> ClientKey {
    let peer = request.extensions().get::<PeerAddr>();
    ClientKey::new(peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0))
}

/// Nothing from elsewhere, nothing inline, no frames, no forms.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; media-src 'self' data:; connect-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Lets a request pass, or not.
pub async fn check_request(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let request = forwarded(&app, request);
    let checked = check(&app, &request);
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if !response.headers().contains_key(header::CACHE_CONTROL) {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// A request whose sender is the one that our proxy names: the last in its list, which it wrote itself.
/// Only behind a proxy, and only from this machine, is that believed.
fn forwarded(app: &AppState, mut request: Request) -> Request {
    const NAME: &str = "x-forwarded-for";
    let peer = request.extensions().get::<PeerAddr>();
    if app.public.is_some()
        && peer.is_none_or(|peer| peer.0.is_loopback())
        && let Some(list) = request.headers().get_all(NAME).iter().next_back()
        && let Some(sender) = list.to_str().ok().and_then(|list| list.rsplit(',').next())
        && let Ok(sender) = sender.trim().parse::<IpAddr>()
    {
        request.extensions_mut().insert(PeerAddr(sender));
    }
    request
}

fn check(app: &AppState, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let host = request.uri().host().or_else(|| text(headers, header::HOST));
    let Some(host) = host else {
        return Err(ApiError::new(Code::BadRequest, "a request has a Host"));
    };
    let public = app.public.as_ref();
    let is_public = public.is_some_and(|public| public.is_host(host));
    if app.is_local && !is_loopback(host) && !is_public {
        // A page elsewhere whose name suddenly leads here would else be taken for our own.
        let reason =
            "this server answers to localhost, 127.0.0.1 and [::1] only, and to --public-url";
        return Err(ApiError::new(Code::Misdirected, reason));
    }
    // A browser names the page that asks, whenever it is not plain reading.
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = origin.to_str().ok().and_then(|origin| {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
        });
        let named = text(headers, header::HOST).unwrap_or(host);
        // A proxy may have put another Host in its place; the page is still the one at that address.
        let is_own = own.is_some_and(|own| own.eq_ignore_ascii_case(named))
            || public.is_some_and(|public| {
                origin.as_bytes().eq_ignore_ascii_case(public.origin.as_bytes())
            });
        if !is_own {
            return Err(ApiError::new(Code::Forbidden, "pages of others may not ask here"));
        }
    }
    if !app.requests.take(address(request), Instant::now()) {
        return Err(ApiError::new(Code::TooMany, "too many requests: wait a little"));
    }
    Ok(())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
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
