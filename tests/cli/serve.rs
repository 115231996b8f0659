//! `crownhead serve` as a process: address, shutdown, log, and durability of confirmed moves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(data: &Path) -> Server {
        Server::start_with(data, &[], Stdio::null())
    }

    fn start_with(data: &Path, arguments: &[&str], stderr: Stdio) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
        command.args(["serve", "--port", "0", "--data"]).arg(data).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/');
        let address = address.parse().unwrap();
        Server { process, address }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    #[cfg(unix)]
    fn interrupt(&self) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    }

    fn create_game(&self, request: &Value) -> Game {
        let response = exchange(self.address, "POST", "/api/games", &request.to_string());
        let created: Value =
            serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
        let text = |key: &str| created[key].as_str().unwrap().to_string();
        Game { id: text("id"), secret: text("secret"), confirmed: Vec::new() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request and returns the response.
fn exchange(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// A hotseat game and its confirmed moves.
struct Game {
    id: String,
    secret: String,
    confirmed: Vec<String>,
}

fn join(address: SocketAddr, game: &Game) -> Option<(WebSocket<TcpStream>, Value)> {
    let stream = TcpStream::connect(address).ok()?;
    let url = format!("ws://localhost/api/games/{}/socket", game.id);
    let mut socket = tungstenite::client(url, stream).ok()?.0;
    let join = json!({"type": "join", "secret": game.secret}).to_string();
    socket.send(Message::text(join)).ok()?;
    let state = receive(&mut socket, "state")?;
    Some((socket, state))
}

/// Waits for a message of a type; `None` if the connection breaks.
fn receive(socket: &mut WebSocket<TcpStream>, kind: &str) -> Option<Value> {
    loop {
        if let Message::Text(text) = socket.read().ok()? {
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_ne!(value["type"], "refused", "{value}");
            if value["type"] == kind {
                return Some(value);
            }
        }
    }
}

/// Plays moves as fast as they are confirmed, until the server is gone or the game is over.
fn play(address: SocketAddr, mut game: Game, seed: u64) -> Game {
    let mut rng = fastrand::Rng::with_seed(seed);
    let Some((mut socket, mut state)) = join(address, &game) else { return game };
    loop {
        let Some(moves) = state["legal"].as_array().filter(|moves| !moves.is_empty()) else {
            return game;
        };
        let text = moves[rng.usize(..moves.len())]["text"].as_str().unwrap();
        let message = json!({"type": "move", "version": state["version"], "move": text});
        if socket.send(Message::text(message.to_string())).is_err() {
            return game;
        }
        let Some(moved) = receive(&mut socket, "moved") else { return game };
        game.confirmed.push(moved["move"]["text"].as_str().unwrap().into());
        state = moved;
    }
}

#[test]
fn confirmed_moves_survive_sigkill() {
    const GAMES: usize = 16;
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path());
    let request = json!({"game": "capture-halma", "mode": "hotseat"});
    let mut games: Vec<_> = (0..GAMES).map(|_| server.create_game(&request)).collect();
    let mut rng = fastrand::Rng::with_seed(8);
    for round in 0..6 {
        let address = server.address;
        let playing: Vec<_> = games
            .into_iter()
            .zip(0..)
            .map(|(game, number)| {
                std::thread::spawn(move || play(address, game, round * 100 + number))
            })
            .collect();
        // Kill the server at a random time while they play.
        std::thread::sleep(std::time::Duration::from_millis(rng.u64(30..400)));
        server.kill();
        games = playing.into_iter().map(|thread| thread.join().unwrap()).collect();
        server = Server::start(dir.path());
        for game in &mut games {
            let (_, state) = join(server.address, game).unwrap();
            let history: Vec<String> = state["history"]
                .as_array()
                .unwrap()
                .iter()
                .map(|played| played["text"].as_str().unwrap().into())
                .collect();
            let confirmed = game.confirmed.len();
            assert_eq!(history[..confirmed.min(history.len())], game.confirmed, "{}", game.id);
            // One more may have been stored without having been confirmed.
            assert!(history.len() <= confirmed + 1, "{} {confirmed}", history.len());
            game.confirmed = history;
        }
    }
    let moves: usize = games.iter().map(|game| game.confirmed.len()).sum();
    assert!(moves > GAMES, "only {moves} moves were played");
}

#[test]
fn port_in_use_is_reported_with_a_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(["serve", "--port", &port.to_string(), "--data"]).arg(dir.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!(
            "crownhead: port {port} on 127.0.0.1 is already in use: choose another with --port\n"
        )
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_closes_sockets_and_exits_with_0() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path());
    let game = server.create_game(&json!({"game": "english", "mode": "hotseat"}));
    let (mut socket, _) = join(server.address, &game).unwrap();
    server.interrupt();
    let code = loop {
        match socket.read() {
            Ok(Message::Close(frame)) => break frame.map(|frame| u16::from(frame.code)),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(code, Some(1001));
    drop(socket);
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

/// Plays a move and sends other requests, some with secrets in the wrong places. Returns the log.
#[cfg(unix)]
fn log_at(level: &str) -> (String, Game) {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start_with(dir.path(), &["--log-level", level], Stdio::piped());
    let mut stderr = server.process.stderr.take().unwrap();
    let request = json!({"game": "english", "mode": "hotseat", "name": "Ann"});
    let game = server.create_game(&request);
    let (mut socket, state) = join(server.address, &game).unwrap();
    let message = json!({"type": "move", "version": state["version"], "move": "11-15"});
    socket.send(Message::text(message.to_string())).unwrap();
    receive(&mut socket, "moved").unwrap();
    let get = |path: &str| exchange(server.address, "GET", path, "");
    get("/api/games?page=1");
    get("/nowhere");
    // Links whose fragment was mangled into a path or a query.
    get(&format!("/game/{}%23{}", game.id, game.secret));
    get(&format!("/game/{}/{}", game.id, game.secret));
    get(&format!("/game/{}?secret={}", game.id, game.secret));
    drop(socket);
    server.interrupt();
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    // The first line says where the server is.
    (text.split_once('\n').unwrap().1.to_string(), game)
}

#[cfg(unix)]
#[test]
fn log_has_one_line_per_request_at_info() {
    let (log, Game { id, .. }) = log_at("info");
    // The fields that follow the time, except the duration.
    let requests: Vec<_> = log
        .lines()
        .map(|line| {
            let (head, duration) = line.split_once(" duration=").unwrap();
            assert!(duration.strip_suffix("ms").unwrap().parse::<f64>().is_ok(), "{line}");
            head.split_once(" INFO request ").unwrap().1.to_string()
        })
        .collect();
    let expected = [
        "method=POST path=\"/api/games\" status=201".to_string(),
        format!("method=GET path=\"/api/games/{id}/socket\" status=101"),
        "method=GET path=\"/api/games\" status=200".to_string(),
        "method=GET path=\"/nowhere\" status=404".to_string(),
        "method=GET path=\"/game/...\" status=404".to_string(),
        format!("method=GET path=\"/game/{id}/...\" status=404"),
        format!("method=GET path=\"/game/{id}\" status=200"),
    ];
    assert_eq!(requests, expected);
}

#[cfg(unix)]
#[test]
fn log_is_empty_without_errors_below_info() {
    for level in ["off", "error", "warn"] {
        assert_eq!(log_at(level).0, "", "{level}");
    }
}

#[cfg(unix)]
#[test]
fn log_contains_no_secrets_at_any_level() {
    for level in ["info", "trace"] {
        let (log, game) = log_at(level);
        assert!(log.contains("method=POST"), "{log}");
        assert!(!log.contains(&game.secret), "{log}");
    }
}

#[cfg(unix)]
#[test]
fn server_keeps_running_if_its_log_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start_with(dir.path(), &["--log-level", "info"], Stdio::piped());
    drop(server.process.stderr.take());
    for _ in 0..3 {
        assert!(exchange(server.address, "GET", "/api/games", "").starts_with("HTTP/1.1 200"));
    }
}

/// The store fails because a table is missing.
#[cfg(unix)]
#[test]
fn log_has_store_errors_at_error_and_not_at_off() {
    for (level, is_logged) in [("error", true), ("off", false)] {
        let dir = tempfile::tempdir().unwrap();
        let arguments = ["--log-level", level];
        let mut server = Server::start_with(dir.path(), &arguments, Stdio::piped());
        let mut stderr = server.process.stderr.take().unwrap();
        let connection = rusqlite::Connection::open(dir.path().join("games.sqlite")).unwrap();
        connection.execute_batch("DROP TABLE games").unwrap();
        let request = json!({"game": "english", "mode": "hotseat"}).to_string();
        let response = exchange(server.address, "POST", "/api/games", &request);
        assert!(response.starts_with("HTTP/1.1 500"), "{response}");
        assert!(!response.contains("no such table"), "{response}");
        server.interrupt();
        server.process.wait().unwrap();
        let mut log = String::new();
        stderr.read_to_string(&mut log).unwrap();
        assert_eq!(log.contains("ERROR cannot store a new game"), is_logged, "{log}");
        assert_eq!(log.contains("no such table"), is_logged, "{log}");
    }
}
