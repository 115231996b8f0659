//! Requests of the page, answered without a browser.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::cell::{Cell, RefCell};

use crownhead_analysis::{AnalysisRequest, analyse_game};
use crownhead_play::{Knowledge, StopFlag};
use crownhead_records::{GameRecord, Ply};
use crownhead_rules::Game;
use crownhead_search::SearchLimits;
use crownhead_wasm::{Host, Worker};
use serde_json::{Value, json};

/// Collects messages, and provides a file.
#[derive(Default)]
struct Page {
    messages: RefCell<Vec<Value>>,
    file: Vec<u8>,
    read: Cell<usize>,
}

impl Host for Page {
    fn emit(&self, message: &str) {
        self.messages.borrow_mut().push(serde_json::from_str(message).unwrap());
    }

    fn read(&self, buffer: &mut [u8]) -> usize {
        let rest = &self.file[self.read.get()..];
        // Small pieces, as a slow disk gives them.
        let length = rest.len().min(buffer.len()).min(1000);
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read.set(self.read.get() + length);
        length
    }
}

/// All messages after a request.
fn messages(worker: &mut Worker, request: &Value) -> Vec<Value> {
    let page = Page::default();
    worker.handle(request.to_string().as_bytes(), &page);
    page.messages.into_inner()
}

/// The result of a request.
fn ask(request: Value) -> Value {
    let last = messages(&mut Worker::default(), &request).pop().unwrap();
    assert_eq!(last["type"], "result", "{request}: {last}");
    last["value"].clone()
}

fn error(request: Value) -> Value {
    let last = messages(&mut Worker::default(), &request).pop().unwrap();
    assert_eq!(last["type"], "error", "{request}: {last}");
    last
}

fn spec(game: &Game) -> Value {
    json!({ "game": game.to_string(), "moves": [] })
}

#[test]
fn position_has_legal_moves_of_every_game() {
    for (game, count) in Game::all().iter().zip([7, 7, 16, 31]) {
        let view = ask(json!({ "call": "position", "spec": spec(game) }));
        assert_eq!(view["legal"].as_array().unwrap().len(), count, "{game}");
        assert_eq!(view["position"], game.start_position());
    }
}

#[test]
fn illegal_move_names_the_rule_and_its_cells() {
    let moves = ["11-15", "22-18", "8-11"];
    let refused =
        error(json!({ "call": "position", "spec": { "game": "english", "moves": moves } }));
    assert_eq!(refused["message"], "illegal: 15x22 is mandatory");
    assert_eq!(refused["at"], 2);
    assert_eq!(refused["cells"], json!(["45", "63"]));
    let spec = json!({ "game": "english", "moves": moves[..2] });
    let why = ask(json!({ "call": "explain", "spec": spec, "move": "8-11" }));
    assert_eq!(why["cells"], json!(["45", "63"]));
    assert_eq!(ask(json!({ "call": "explain", "spec": spec, "move": "15x22" })), Value::Null);
}

#[test]
fn search_sends_iterations_and_then_its_result() {
    let mut worker = Worker::default();
    for game in Game::all() {
        let limits = json!({ "depth": 4 });
        let request =
            json!({ "call": "search", "spec": spec(&game), "lines": 3, "limits": limits });
        let messages = messages(&mut worker, &request);
        let (last, before) = messages.split_last().unwrap();
        assert!(before.iter().all(|info| info["type"] == "info" && info["done"] == false));
        assert_eq!(before.len(), 4, "{game}");
        let found = &last["value"];
        assert_eq!((&found["done"], &found["depth"]), (&json!(true), &json!(4)), "{game}");
        let lines = found["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 3, "{game}");
        let step = &lines[0]["moves"][0];
        assert_eq!(step["board"].as_str().unwrap().len(), 64);
        // The move of the best line is legal.
        let played = json!({ "game": game.to_string(), "moves": [step["text"]] });
        ask(json!({ "call": "position", "spec": played }));
    }
}

#[test]
fn search_of_a_finished_game_has_no_lines() {
    let spec = json!({ "game": "english", "position": "B:W21:B", "moves": [] });
    let found = ask(json!({ "call": "search", "spec": spec, "lines": 1, "limits": {} }));
    assert_eq!(found["lines"], json!([]));
}

#[test]
fn report_judges_every_move() {
    let spec = json!({ "game": "english", "position": "B:W13:B5,6", "moves": ["6-9", "13x6"] });
    let request = json!({ "call": "report", "spec": spec, "limits": { "depth": 6 } });
    let messages = messages(&mut Worker::default(), &request);
    let (last, before) = messages.split_last().unwrap();
    assert!(before.iter().all(|message| message["type"] == "progress"));
    let moves = &last["value"]["moves"];
    assert_eq!(moves[0]["verdict"], "blunder");
    assert_eq!(moves[0]["better"]["moves"][0], "5-9");
}

#[test]
fn report_is_that_of_the_command_line() {
    let games = [
        ("english", vec!["11-15", "23-19", "9-14", "27-23", "8-11", "22-18"]),
        ("contest", vec!["11-15", "23-19", "9-14", "27-23", "8-11", "22-18"]),
        ("chinese-checkers", vec!["1232", "7766", "1312", "6665"]),
        ("capture-halma", vec!["22-21", "37-27", "21-41", "28-18"]),
    ];
    for (game, moves) in games {
        let spec = json!({ "game": game, "moves": moves });
        let request = json!({ "call": "report", "spec": spec, "limits": { "depth": 5 } });
        let report = ask(request);
        // What `crownhead analyse --depth 5 --json` prints for this game.
        let mut record = GameRecord::new(game.parse().unwrap());
        record.line.plies = moves.into_iter().map(Ply::new).collect();
        let request = AnalysisRequest {
            limits: SearchLimits { depth: Some(5), ..SearchLimits::default() },
            ..AnalysisRequest::default()
        };
        let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
        let analysis = analyse_game(&record, 1, &request, &knowledge, &stop, &mut |_| {});
        let printed = crownhead_analysis::json::game(&analysis.unwrap()).to_string();
        assert_eq!(report, serde_json::from_str::<Value>(&printed).unwrap(), "{game}");
    }
}

#[test]
fn position_set_up_by_hand_is_validated_in_words() {
    for game in Game::all() {
        let start = ask(json!({ "call": "position", "spec": spec(&game) }));
        let (board, side) = (&start["board"], &start["side"]);
        let set_up = |board: &Value| {
            ask(json!({ "call": "set-up", "game": game.to_string(), "board": board, "side": side }))
        };
        assert_eq!(set_up(board)["position"], start["position"], "{game}");
        assert_eq!(set_up(board)["error"], Value::Null, "{game}");
        // A piece on every cell, whatever the game.
        let letter = board.as_str().unwrap().chars().find(|letter| *letter != '.').unwrap();
        let full = letter.to_string().repeat(64);
        let refused = set_up(&json!(full));
        assert_eq!(refused["position"], "", "{game}");
        assert!(refused["error"].as_str().unwrap().len() > 10, "{game}");
        error(json!({ "call": "set-up", "game": game.to_string(), "board": "x", "side": side }));
    }
    let turns = json!({ "call": "set-up", "game": "chinese-checkers",
        "board": "###.....##......#......................O......OO.....OOO".to_string() + "........",
        "side": "#", "plies": 12 });
    let refused = ask(turns);
    assert!(refused["position"].as_str().unwrap().ends_with(" 12"), "{refused}");
}

#[test]
fn pdn_with_variations_comments_and_scores_survives() {
    let text = "[Event \"E\"]\n[Black \"<b>\"]\n\n{first} 1. 11-15! {[%clk 0:05:00] [%eval 0.35] fine} \
                (1. 12-16 {[%eval #-4]} 22-18 (1... 22-17 $5)) 22-18 2. 15x22 25x18 1-0\n";
    let game = ask(json!({ "call": "read-pdn", "text": text }));
    assert_eq!(game["comment"], "first");
    let moves = game["moves"].as_array().unwrap();
    assert_eq!(moves[0]["eval"]["points"], 35);
    assert_eq!(moves[0]["comment"], "[%clk 0:05:00] fine");
    assert_eq!(moves[0]["nags"], json!([1]));
    let written = ask(json!({ "call": "write-pdn", "game": game }));
    let again = ask(json!({ "call": "read-pdn", "text": written }));
    assert_eq!(again, game, "{written}");
    assert!(written.as_str().unwrap().contains("(1. 12-16"), "{written}");
}

#[test]
fn hostile_tree_is_refused() {
    let game = |moves: Value| {
        json!({ "call": "write-pdn", "game":
            { "game": "english", "tags": [], "moves": moves, "result": "*" } })
    };
    error(game(json!([{ "parent": 0, "move": "11-15" }])));
    error(game(json!([{ "parent": null, "move": "11-15} [Event" }])));
    // Variations nested without end.
    let mut deep = vec![json!({ "parent": null, "move": "11-15" })];
    for index in 0..200 {
        deep.push(json!({ "parent": index, "move": "a" }));
        deep.push(json!({ "parent": index, "move": "b" }));
    }
    ask(game(json!(deep[..1])));
    messages(&mut Worker::default(), &game(json!(deep)));
}

#[test]
fn bytes_of_an_imported_game_are_the_game() {
    let mut file = String::from("{before} ");
    for number in 0..1200 {
        file.push_str(&format!("[White \"W{number}\"]\n[Black \"B\"]\n\n1. 11-15 23-19 *\n"));
        file.push_str(if number % 3 == 0 { "{of the next}\n\n" } else { "\n" });
        if number % 100 == 0 {
            file.push_str("1. 11-16 9-14 *\n\n");
        }
    }
    let page = Page { file: file.clone().into_bytes(), ..Page::default() };
    Worker::default().handle(br#"{"call":"import"}"#, &page);
    let messages = page.messages.into_inner();
    let (last, batches) = messages.split_last().unwrap();
    assert_eq!(last["value"]["games"], 1200);
    assert_eq!(last["value"]["failed"], 12);
    assert_eq!(last["value"]["errors"][0]["number"], 2);
    assert!(batches.iter().all(|batch| batch["games"].as_array().unwrap().len() <= 500));
    let games: Vec<_> =
        batches.iter().flat_map(|batch| batch["games"].as_array().unwrap()).collect();
    for (number, game) in games.iter().enumerate() {
        assert_eq!(game["players"], json!(["B", format!("W{number}")]));
        let offset = game["offset"].as_u64().unwrap() as usize;
        let text = &file[offset..offset + game["length"].as_u64().unwrap() as usize];
        let read = ask(json!({ "call": "read-pdn", "text": text }));
        let tags = read["tags"].as_array().unwrap();
        assert!(tags.contains(&json!(["White", format!("W{number}")])), "{text}");
        assert_eq!(read["moves"].as_array().unwrap().len(), 2, "{text}");
    }
}

#[test]
fn any_request_ends_with_one_result_or_error() {
    let requests: [&[u8]; 6] = [
        b"",
        b"\xff\xff",
        b"{}",
        br#"{"call":"position"}"#,
        br#"{"call":"position","spec":{"game":"chess","moves":[]}}"#,
        br#"{"call":"search","spec":{"game":"english","position":"?","moves":[]},"lines":0,"limits":{}}"#,
    ];
    for request in requests {
        let page = Page::default();
        Worker::default().handle(request, &page);
        let messages = page.messages.into_inner();
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0]["type"], "error");
    }
}

#[test]
fn node_counts_are_those_of_the_program() {
    let counts = include_str!("../../../bench.txt");
    for line in counts.lines() {
        let (game, nodes) = line.split_once(' ').unwrap();
        let found = ask(json!({ "call": "bench", "game": game }));
        assert_eq!(found["nodes"], nodes.trim().parse::<u64>().unwrap(), "{game}");
    }
}
