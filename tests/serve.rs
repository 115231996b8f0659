//! `crownhead serve` as a process: it prints its address, stops on a signal, and loses no confirmed
//! move when it is killed.

#![allow(clippy::unwrap_used, clippy::panic)] // tests

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
        command.args(["serve", "--port", "0", "--data"]).arg(data);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn post(address: SocketAddr, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// A game of two people at one screen, with its confirmed moves.
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
    let state = next_message(&mut socket, "state")?;
    Some((socket, state))
}

/// Returns the next message of a type; `None` if the connection is closed.
fn next_message(socket: &mut WebSocket<TcpStream>, kind: &str) -> Option<Value> {
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

/// Plays random moves until the server is gone.
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
        let Some(moved) = next_message(&mut socket, "moved") else { return game };
        game.confirmed.push(moved["move"]["text"].as_str().unwrap().into());
        state = moved;
    }
}

#[test]
fn confirmed_moves_survive_sigkill() {
    const GAMES: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    let request = json!({"game": "capture-halma", "mode": "hotseat"});
    let mut games: Vec<_> = (0..GAMES)
        .map(|_| {
            let created = post(server.address, "/api/games", &request);
            let text = |key: &str| created[key].as_str().unwrap().to_string();
            Game { id: text("id"), secret: text("secret"), confirmed: Vec::new() }
        })
        .collect();
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
        // Killed at a random moment during the games.
        std::thread::sleep(std::time::Duration::from_millis(rng.u64(30..400)));
        server.kill();
        games = playing.into_iter().map(|thread| thread.join().unwrap()).collect();
        server = Server::start(folder.path());
        for game in &mut games {
            let (_, state) = join(server.address, game).unwrap();
            let history: Vec<String> = state["history"]
                .as_array()
                .unwrap()
                .iter()
                .map(|mv| mv["text"].as_str().unwrap().into())
                .collect();
            let confirmed = game.confirmed.len();
            assert_eq!(history[..confirmed.min(history.len())], game.confirmed, "{}", game.id);
            // One more move may have been stored but not confirmed.
            assert!(history.len() <= confirmed + 1, "{} {confirmed}", history.len());
            game.confirmed = history;
        }
    }
    let moves: usize = games.iter().map(|game| game.confirmed.len()).sum();
    assert!(moves > GAMES, "only {moves} moves were played");
}

#[test]
fn occupied_port_is_reported_with_advice() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(["serve", "--port", &port.to_string(), "--data"]).arg(folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        format!(
            "crownhead: port {port} is taken on 127.0.0.1: choose another with --port, or end what has it\n"
        )
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_closes_connections_and_exits() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    let created =
        post(server.address, "/api/games", &json!({"game": "english", "mode": "hotseat"}));
    let game = Game {
        id: created["id"].as_str().unwrap().into(),
        secret: created["secret"].as_str().unwrap().into(),
        confirmed: Vec::new(),
    };
    let (mut socket, _) = join(server.address, &game).unwrap();
    let process = server.process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
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
