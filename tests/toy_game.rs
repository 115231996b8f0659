//! A game needs no more than one module in `rules` and one line in the list of games: Breakthrough,
//! which is enabled by the feature `toy-game`, runs through every part of the program.
//!
//! `cargo test --features toy-game --test toy_game`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crownhead_play::{TimeControl, new_session};
use crownhead_rules::perft::{PerftHash, PerftOptions};
use crownhead_rules::{Breakthrough, Game, MoveList, Notation, Position};
use crownhead_search::{
    EngineConfig, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag, plies_to_end,
};
use crownhead_terminal::local_game::{LocalGame, Setup};
use crownhead_terminal::screen::{GameScreen, Look, Screen, dispatch};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use serde_json::{Value, json};
use tungstenite::Message;

const PROGRAM: &str = env!("CARGO_BIN_EXE_crownhead");

/// Runs the program and returns its standard output.
fn run(arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn run_json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(arguments, "")).unwrap()
}

#[test]
fn positions_and_moves_survive_formatting_and_parsing() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..100 {
        let mut position = Breakthrough::start(&());
        let mut moves = MoveList::new();
        while position.outcome(&[]).is_none() {
            let text = position.format_position();
            assert_eq!(Breakthrough::parse_position(&text, &()).unwrap(), position);
            assert_eq!(position.key(), position.recompute_key());
            position.legal_moves(&mut moves);
            for &mv in &moves {
                assert_eq!(position.parse_move(&position.format_move(mv)), Ok(mv));
            }
            position.play(moves[rng.usize(..moves.len())]);
        }
    }
}

#[test]
fn all_perft_methods_agree() {
    let start = Breakthrough::start(&());
    let hash = PerftHash::new(1).unwrap();
    for depth in 1..6 {
        let expected = PerftOptions::default().count(&start, depth, &[]);
        for options in [
            PerftOptions { bulk: false, ..PerftOptions::default() },
            PerftOptions { hash: Some(&hash), ..PerftOptions::default() },
            PerftOptions { threads: 2, ..PerftOptions::default() },
        ] {
            assert_eq!(options.count(&start, depth, &[]), expected, "depth {depth}");
        }
    }
    assert_eq!(PerftOptions::default().count(&start, 1, &[]), 10);
}

#[test]
fn search_finds_a_win() {
    // x on 32 reaches row 4 in one move.
    let position = Breakthrough::parse_position("4/o3/1x2/3o/8/8/8/8 x 0", &());
    assert!(position.is_err(), "rows have eight cells");
    let position = Breakthrough::parse_position("8/o7/1x6/3o4/8/8/8/8 x 0", &()).unwrap();
    let mut engine =
        Breakthrough::new_engine(EngineConfig::default(), &Knowledge::default()).unwrap();
    let limits = SearchLimits { depth: Some(4), ..SearchLimits::default() };
    let request = SearchRequest::new(&position, limits);
    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
    assert_eq!(plies_to_end(report.score()), Some(1), "{:?}", report.best_move());
}

#[test]
fn session_plays_and_undoes_moves() {
    let game: Game = "breakthrough".parse().unwrap();
    let mut session = new_session(&game, None).unwrap();
    session.play("1121").unwrap();
    assert_eq!(session.moves(), ["1121"]);
    assert!(session.play("1121").is_err());
    assert!(session.undo());
    assert_eq!(session.position(), game.start_position());
}

#[test]
fn commands_accept_the_game() {
    let games = run_json(&["games", "--json"]);
    let ids: Vec<_> = games["games"]
        .as_array()
        .unwrap()
        .iter()
        .map(|game| game["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"breakthrough"), "{ids:?}");
    let moves = run_json(&["moves", "breakthrough", "--after", "1121 4131", "--json"]);
    assert_eq!(moves["side"], "x");
    assert!(run(&["perft", "breakthrough", "--depth", "2"], "").starts_with("1 10\n"));
    assert!(run(&["bench", "breakthrough"], "").contains("breakthrough"));
    run(&["analyse", "--game", "breakthrough", "--depth", "3"], "");
}

#[test]
fn referee_and_bot_protocol_play_the_game() {
    let bot = format!("cmd:{PROGRAM} engine level:3");
    let arguments =
        ["match", "best:nodes=2000", &bot, "--game", "breakthrough", "-n", "4", "--json"];
    let result = run_json(&arguments);
    assert_eq!(result["games"], 4);
    assert_eq!(result["faults"], serde_json::json!([0, 0]));
}

#[test]
fn terminal_plays_the_game_in_plain_text() {
    let arguments =
        ["play", "breakthrough", "--plain", "--first", "level:1", "--second", "level:1"];
    let printed = run(&arguments, "");
    assert!(printed.contains("wins"), "{printed}");
}

#[test]
fn screen_draws_the_board_and_plays_a_typed_move() {
    let setup = Setup {
        game: "breakthrough".parse().unwrap(),
        seats: ["human", "human"].map(|seat| seat.parse().unwrap()),
        position: None,
        time_control: TimeControl::Unlimited,
        seed: 1,
    };
    let mut screen = GameScreen::new(LocalGame::new(setup).unwrap(), None, Look::PLAIN);
    for letter in "1121\n".chars() {
        let code = if letter == '\n' { KeyCode::Enter } else { KeyCode::Char(letter) };
        let key = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        dispatch(&mut screen, &key, Rect::new(0, 0, 80, 24));
    }
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap();
    let text = terminal.backend().to_string();
    assert!(text.contains("Breakthrough") && text.contains("1121"), "{text}");
}

#[test]
fn server_plays_the_game() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Command::new(PROGRAM)
        .args(["serve", "--port", "0", "--data"])
        .arg(data.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_string();

    let body = json!({"game": "breakthrough", "mode": "hotseat"}).to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /api/games HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let created: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();

    let url = format!("ws://localhost/api/games/{}/socket", created["id"].as_str().unwrap());
    let mut socket = tungstenite::client(url, TcpStream::connect(&address).unwrap()).unwrap().0;
    let mut exchange = |message: Value, kind: &str| -> Value {
        socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let Message::Text(text) = socket.read().unwrap() else { continue };
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_ne!(answer["type"], "refused", "{answer}");
            if answer["type"] == kind {
                return answer;
            }
        }
    };
    let state = exchange(json!({"type": "join", "secret": created["secret"]}), "state");
    assert_eq!(state["legal"].as_array().unwrap().len(), 10, "{state}");
    let version = state["version"].clone();
    let moved = exchange(json!({"type": "move", "move": "1121", "version": version}), "moved");
    assert_eq!(moved["move"]["text"], "1121", "{moved}");
    server.kill().unwrap();
    server.wait().unwrap();
}
