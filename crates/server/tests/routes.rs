//! The HTTP routes, without a network.
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::{Router, response::Response};
use crownhead_server::limits::Limits;
use crownhead_server::middleware::{PeerAddr, PublicUrl};
use crownhead_server::rate_limit::Rate;
use crownhead_server::rooms::Rooms;
use crownhead_server::routes::{AppState, routes};
use crownhead_server::search_queue::SearchQueue;
use crownhead_server::store::Store;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt;

struct Site {
    router: Router,
    store: Arc<Store>,
    _dir: TempDir,
    _shutdown: watch::Sender<bool>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn site_with(limits: Limits, is_local: bool) -> Site {
    site_with_url(limits, is_local, None)
}

fn site_with_url(limits: Limits, is_local: bool, public: Option<PublicUrl>) -> Site {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let rooms = Rooms::new(store.clone(), SearchQueue::new(0).unwrap(), limits);
    let (sender, shutdown) = watch::channel(false);
    let router = routes(AppState::new(rooms, is_local, public, None, shutdown));
    Site { router, store, _dir: dir, _shutdown: sender }
}

fn site() -> Site {
    site_with(Limits::open(), true)
}

impl Site {
    async fn send(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        self.send(request(Method::GET, path, Body::empty())).await
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        read(self.send(request(Method::POST, path, Body::from(body.to_string()))).await).await
    }
}

fn request(method: Method, path: &str, body: Body) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:8064")
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    request.extensions_mut().insert(PeerAddr("192.0.2.1".parse().unwrap()));
    request
}

async fn text(response: Response) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    (status, serde_json::from_str(&text(response).await).unwrap())
}

#[tokio::test]
async fn catalogue_lists_games_and_players() {
    let (status, body) = read(site().get("/api/games").await).await;
    assert_eq!(status, 200);
    let ids: Vec<_> = body["games"].as_array().unwrap().iter().map(|game| &game["id"]).collect();
    assert_eq!(ids, ["english", "contest", "chinese-checkers", "capture-halma"]);
    let english = &body["games"][0];
    // Square 1 is cell 12, square 32 cell 87.
    assert_eq!(english["squares"][0], Value::Null);
    assert_eq!((&english["squares"][1], &english["squares"][62]), (&json!(1), &json!(32)));
    assert_eq!(english["board"].as_str().unwrap().len(), 64);
    // Blue's targets are Red's start cells.
    assert_eq!(body["games"][2]["targets"][0], json!(["68", "77", "78", "86", "87", "88"]));
    let players = body["players"].as_array().unwrap();
    assert_eq!(players.len(), 12);
    assert!(players.iter().all(|player| player["description"].as_str().unwrap().ends_with('.')));
}

#[tokio::test]
async fn rules_of_every_game_have_valid_exercises() {
    let site = site_with(Limits::local(), true);
    for id in ["english", "contest", "chinese-checkers", "capture-halma"] {
        let (status, rules) = read(site.get(&format!("/api/rules/{id}")).await).await;
        assert_eq!(status, 200);
        assert!(rules["about"].as_array().unwrap().len() >= 4, "{id}");
        for exercise in rules["exercises"].as_array().unwrap() {
            let query = json!({"game": id, "position": exercise["position"]});
            let (status, view) = site.post("/api/position", query).await;
            assert_eq!(status, 200, "{exercise}");
            assert!(!view["legal"].as_array().unwrap().is_empty(), "{exercise}");
            if exercise["goal"]["kind"] == "illegal" {
                let moves = json!([exercise["goal"]["move"]]);
                let query = json!({"game": id, "position": exercise["position"], "moves": moves});
                let (status, error) = site.post("/api/position", query).await;
                assert_eq!(status, 422);
                assert_eq!(error["error"]["reason"], exercise["goal"]["reason"]);
            }
        }
    }
    assert_eq!(site.get("/api/rules/chess").await.status(), 404);
}

#[tokio::test]
async fn position_lists_moves_with_paths_and_captures() {
    let site = site();
    let query = json!({"game": "english", "moves": ["11-15", "22-18"]});
    let (status, view) = site.post("/api/position", query).await;
    assert_eq!(status, 200);
    assert_eq!(view["side"], "b");
    assert_eq!(view["must_capture"], true);
    assert_eq!(view["ply"], 2);
    assert_eq!(view["last"]["path"], json!(["63", "54"]));
    let capture = json!({"text": "15x22", "from": "45", "to": "63", "path": ["45", "63"],
                         "captures": ["54"]});
    assert_eq!(view["legal"], json!([capture]));
    // The king can capture in a circle in either direction: two paths of one move.
    let round = json!({"game": "english", "position": "B:W14,15,22,23,5:BK10,28"});
    let (_, view) = site.post("/api/position", round).await;
    let round = &view["legal"][0];
    let mut back = round["path"].as_array().unwrap().clone();
    back.reverse();
    assert_eq!(round["other_paths"], json!([back]), "{round}");
    // Two jumps lead from 33 to 55, over 35 or 53. A single jump has one path.
    let jumps = json!({"game": "chinese-checkers", "position": "8/8/2##4/2#1#3/3#4/8/7O/8 # 0"});
    let (_, view) = site.post("/api/position", jumps).await;
    let find = |text| view["legal"].as_array().unwrap().iter().find(|mv| mv["text"] == text);
    let two = find("3355").unwrap();
    assert_eq!(
        (&two["path"], &two["other_paths"]),
        (&json!(["33", "35", "55"]), &json!([["33", "53", "55"]]))
    );
    assert!(find("3335").unwrap().get("other_paths").is_none());
    let over = json!({"game": "contest", "position": "B:W5,6,10:B1"});
    let (_, view) = site.post("/api/position", over).await;
    assert_eq!(view["outcome"]["reason"], "no-move", "{view}");
    assert_eq!(view["outcome"]["winner"], "w");
    assert_eq!(view["legal"], json!([]));
}

#[tokio::test]
async fn invalid_positions_and_illegal_moves_are_refused_with_reason_and_place() {
    let site = site();
    let moves = json!({"game": "english", "moves": ["11-15", "22-18", "8-11"]});
    let (status, body) = site.post("/api/position", moves).await;
    assert_eq!(status, 422);
    let reason = "illegal: 15x22 is mandatory";
    let cells = ["45", "63"];
    let error =
        json!({"code": "illegal", "reason": reason, "kind": "rule", "at": 2, "cells": cells});
    assert_eq!(body["error"], error);
    let (status, body) =
        site.post("/api/position", json!({"game": "english", "position": "B:W33:B1"})).await;
    assert_eq!(status, 422);
    assert!(body["error"]["column"].is_u64(), "{body}");
    let many = vec!["11-15"; 501];
    let (status, _) = site.post("/api/position", json!({"game": "english", "moves": many})).await;
    assert_eq!(status, 400);
    let long = "B:W".to_string() + &"1,".repeat(2000);
    let query = json!({"game": "english", "position": long});
    assert_eq!(site.post("/api/position", query).await.0, 400);
}

#[tokio::test]
async fn new_game_has_a_secret_for_each_person_at_a_screen_of_their_own() {
    let site = site();
    let computer = json!({"game": "contest", "mode": "computer", "side": "w", "player": "random"});
    let (status, body) = site.post("/api/games", computer).await;
    assert_eq!(status, 201);
    assert_eq!(body["you"], json!(["w"]));
    assert!(body.get("friend").is_none());
    let (_, body) = site.post("/api/games", json!({"game": "english", "mode": "hotseat"})).await;
    assert_eq!(body["you"], json!(["b", "w"]));
    let (_, body) = site.post("/api/games", json!({"game": "english", "mode": "computers"})).await;
    assert_eq!((&body["you"], &body["secret"]), (&json!([]), &json!(null)));
    let friend = json!({"game": "english", "mode": "friend", "side": "b"});
    let (_, body) = site.post("/api/games", friend).await;
    let (secret, friend) = (body["secret"].as_str().unwrap(), body["friend"].as_str().unwrap());
    assert!(secret.len() == 22 && friend.len() == 22 && secret != friend);
}

#[tokio::test]
async fn summaries_and_files_contain_no_secrets() {
    let site = site();
    let new_game = json!({"game": "english", "mode": "friend", "side": "b", "name": "Ann"});
    let (_, created) = site.post("/api/games", new_game).await;
    let id = created["id"].as_str().unwrap();
    let (status, body) = site
        .post("/api/summaries", json!({"games": [id, id, "nonsense", "AAAAAAAAAAAAAAAA"]}))
        .await;
    assert_eq!(status, 200);
    assert_eq!(body["games"].as_array().unwrap().len(), 1);
    assert_eq!(body["games"][0]["seats"][0]["name"], "Ann");
    let pdn = text(site.get(&format!("/api/games/{id}/pdn")).await).await;
    assert!(pdn.contains("[Black \"Ann\"]"), "{pdn}");
    for secret in [&created["secret"], &created["friend"]] {
        let secret = secret.as_str().unwrap();
        assert!(!body.to_string().contains(secret) && !pdn.contains(secret));
        // Nor does the disk.
        let file = std::fs::read(site._dir.path().join("games.sqlite-wal")).unwrap();
        assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
    assert_eq!(site.get("/api/games/AAAAAAAAAAAAAAAA/pdn").await.status(), 404);
}

#[tokio::test]
async fn script_in_a_name_is_sent_as_json() {
    let site = site();
    let name = "<script>alert(1)</script>".get(..24).unwrap();
    let new_game = json!({"game": "english", "mode": "friend", "side": "b", "name": name});
    let (_, created) = site.post("/api/games", new_game).await;
    let request_body = Body::from(json!({"games": [created["id"]]}).to_string());
    let response = site.send(request(Method::POST, "/api/summaries", request_body)).await;
    // The name is data, and the policy allows no script but those of the page, and WebAssembly.
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_string();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"));
    assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
    assert_eq!(policy.matches("unsafe").count(), 1, "{policy}");
    let (_, body) = read(response).await;
    assert_eq!(body["games"][0]["seats"][0]["name"], name);
}

#[tokio::test]
async fn invalid_bodies_are_refused() {
    let site = site();
    let post = |kind: &str, body: Body| {
        let request = Request::builder().method(Method::POST).uri("/api/games");
        request.header("host", "localhost").header("content-type", kind).body(body).unwrap()
    };
    let large = format!("{{\"game\":\"{}\"}}", "x".repeat(20_000));
    let cases = [
        (post("text/plain", Body::from("{}")), 415, "media-type"),
        (post("application/json", Body::from(large.clone())), 413, "too-large"),
        (post("application/json", Body::from("{")), 400, "bad-request"),
        (post("application/json", Body::from("[]")), 400, "bad-request"),
        (
            post(
                "application/json",
                Body::from("{\"game\":\"english\",\"mode\":\"friend\",\"x\":1}"),
            ),
            400,
            "bad-request",
        ),
        (post("application/json", Body::from("[".repeat(10_000))), 400, "bad-request"),
        (post("application/json", Body::from(vec![0xff; 100])), 400, "bad-request"),
    ];
    for (request, status, code) in cases {
        let (got, body) = read(site.send(request).await).await;
        assert_eq!((got.as_u16(), &body["error"]["code"]), (status, &json!(code)));
        assert!(!body["error"]["reason"].as_str().unwrap().is_empty());
    }
    // A body without a content length.
    let parts =
        futures_util::stream::iter((0..100).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1000])));
    let request = post("application/json", Body::from_stream(parts));
    assert_eq!(site.send(request).await.status(), 413);
}

#[tokio::test]
async fn only_files_of_the_page_are_served() {
    let site = site();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../../Cargo.toml",
        "/index.html/../../secret.rs",
        "/.env",
        "//etc/passwd.txt",
        "/game/%00",
        "/a\\..\\b",
        "/api",
        "/api/",
        "/api/nothing",
        "/api/games/../games/x/pdn",
        "/api/games/%2e%2e/pdn",
    ] {
        let response = site.get(path).await;
        assert_eq!(response.status(), 404, "{path}");
        assert!(!text(response).await.contains("[package]"), "{path}");
    }
    // The page itself, which shows that the address is unknown.
    for path in ["/nowhere", "/API/games", "/assets/", "//etc/passwd", "/game/a/b", "/game/"] {
        assert_eq!(site.get(path).await.status(), 404, "{path}");
    }
    for path in ["/", "/game/Zk3vQm0yT1aB4cD9", "/rules", "/rules/english"] {
        let response = site.get(path).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    }
    let wrong = site.send(request(Method::DELETE, "/api/games", Body::empty())).await;
    assert_eq!(wrong.status(), 405);
}

#[tokio::test]
async fn page_is_cached_and_compressed() {
    let site = site();
    let tag = site.get("/").await.headers()["etag"].clone();
    let mut again = request(Method::GET, "/", Body::empty());
    again.headers_mut().insert("if-none-match", tag);
    assert_eq!(site.send(again).await.status(), 304);
    let mut compressed = request(Method::GET, "/", Body::empty());
    compressed.headers_mut().insert("accept-encoding", "br, gzip".parse().unwrap());
    let response = site.send(compressed).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    let mut plain = request(Method::GET, "/", Body::empty());
    plain.headers_mut().insert("accept-encoding", "gzip;q=0, br".parse().unwrap());
    assert!(!site.send(plain).await.headers().contains_key("content-encoding"));
}

#[tokio::test]
async fn local_server_accepts_only_local_hosts() {
    let with_host = |host: &str| {
        Request::builder().uri("/api/games").header("host", host).body(Body::empty()).unwrap()
    };
    let local = site();
    for host in ["localhost", "localhost:8064", "127.0.0.1:8064", "[::1]:8064", "LOCALHOST:1"] {
        assert_eq!(local.send(with_host(host)).await.status(), 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "192.168.0.7", ""]
    {
        assert_eq!(local.send(with_host(host)).await.status(), 421, "{host}");
    }
    let open = site_with(Limits::open(), false);
    assert_eq!(open.send(with_host("games.example")).await.status(), 200);
    let without = Request::builder().uri("/api/games").body(Body::empty()).unwrap();
    assert_eq!(open.send(without).await.status(), 400);
}

#[tokio::test]
async fn proxied_server_accepts_its_public_url() {
    let public = PublicUrl::parse("https://Games.example/").unwrap();
    let site = site_with_url(Limits::open(), true, Some(public));
    let get_with = |host: &str, origin: &str| {
        let request = Request::builder().uri("/api/games").header("host", host);
        request.header("origin", origin).body(Body::empty()).unwrap()
    };
    for (host, origin, status) in [
        ("games.example", "https://games.example", 200),
        // Some proxies replace the host.
        ("localhost:8064", "https://games.example", 200),
        ("localhost:8064", "http://localhost:8064", 200),
        ("games.example", "https://evil.example", 403),
        ("localhost:8064", "http://games.example", 403),
        ("evil.example", "https://evil.example", 421),
    ] {
        assert_eq!(site.send(get_with(host, origin)).await.status(), status, "{host} {origin}");
    }
    let with_port = PublicUrl::parse("https://games.example:443").unwrap();
    let site = site_with_url(Limits::open(), true, Some(with_port));
    for host in ["games.example", "games.example:443"] {
        assert_eq!(
            site.send(get_with(host, "https://games.example")).await.status(),
            200,
            "{host}"
        );
    }
    assert_ne!(PublicUrl::parse("https://[2001:db8::1]:8443"), None);
    for text in [
        "games.example",
        "https://",
        "https://games.example/here",
        "ftp://games.example",
        "https://:",
        "https://[",
        "https://x:y:z",
        "https://x:99999",
    ] {
        assert_eq!(PublicUrl::parse(text), None, "{text}");
    }
}

#[tokio::test]
async fn rate_limit_behind_a_proxy_uses_the_forwarded_address() {
    let few = Limits { requests: Rate { burst: 3.0, per_second: 0.0 }, ..Limits::proxied() };
    let public = PublicUrl::parse("https://games.example");
    for (public, other_client) in [(public, 200), (None, 429)] {
        let site = site_with_url(few.clone(), true, public);
        let get_from = |addresses: &str| {
            let request = Request::builder().uri("/api/games").header("host", "localhost");
            request.header("x-forwarded-for", addresses).body(Body::empty()).unwrap()
        };
        // The proxy appends to what a client has sent.
        for (addresses, status) in [
            ("192.0.2.1", 200),
            ("198.51.100.7, 192.0.2.1", 200),
            ("192.0.2.1", 200),
            ("198.51.100.8, 192.0.2.1", 429),
            ("192.0.2.2", other_client),
        ] {
            assert_eq!(site.send(get_from(addresses)).await.status(), status, "{addresses}");
        }
    }
}

#[tokio::test]
async fn requests_of_other_origins_are_refused() {
    let site = site();
    let path = "/api/games/AAAAAAAAAAAAAAAA/socket";
    for (origin, allowed) in [
        ("http://localhost:8064", true),
        ("https://localhost:8064", true),
        ("http://localhost:9999", false),
        ("http://evil.example", false),
        ("null", false),
        ("file://", false),
        ("http://localhost:8064.evil.example", false),
    ] {
        for target in [path, "/api/position"] {
            let mut request = request(Method::GET, target, Body::empty());
            request.headers_mut().insert("origin", origin.parse().unwrap());
            let status = site.send(request).await.status();
            assert_eq!(status != 403, allowed, "{origin} {target}: {status}");
        }
    }
}

#[tokio::test]
async fn new_games_are_limited_per_client() {
    let new_games = Rate { burst: 3.0, per_second: 0.0 };
    let site = site_with(Limits { new_games, ..Limits::open() }, true);
    let create = |ip: &str| {
        let body = Body::from(json!({"game": "english", "mode": "hotseat"}).to_string());
        let mut request = request(Method::POST, "/api/games", body);
        request.extensions_mut().insert(PeerAddr(ip.parse::<IpAddr>().unwrap()));
        request
    };
    for number in 0..5 {
        let response = site.send(create("192.0.2.1")).await;
        assert_eq!(response.status(), if number < 3 { 201 } else { 429 });
        assert_eq!(response.headers().contains_key("retry-after"), number >= 3);
    }
    assert_eq!(site.send(create("192.0.2.2")).await.status(), 201);
}

#[tokio::test]
async fn requests_are_limited_per_client() {
    let requests = Rate { burst: 2.0, per_second: 0.0 };
    let site = site_with(Limits { requests, ..Limits::open() }, true);
    assert_eq!(site.get("/").await.status(), 200);
    assert_eq!(site.get("/").await.status(), 200);
    assert_eq!(site.get("/").await.status(), 429);
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let site = site();
    for path in ["/", "/api/games", "/api/nothing", "/api/rules/english"] {
        let response = site.get(path).await;
        let headers = response.headers();
        for name in [
            "content-security-policy",
            "x-content-type-options",
            "referrer-policy",
            "x-frame-options",
            "cache-control",
        ] {
            assert!(headers.contains_key(name), "{path}: {name}");
        }
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
}
