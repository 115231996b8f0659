//! `crownhead moves`.

use serde_json::{Value, json};

use crate::harness::crownhead;

#[track_caller]
fn listed(game: &str, position: &str) -> String {
    crownhead(&["moves", game, "--position", position]).printed().to_string()
}

#[track_caller]
fn object(game: &str, position: &str) -> Value {
    let finished = crownhead(&["moves", game, "--position", position, "--json"]);
    finished.printed();
    finished.json()
}

/// Positions with steps, long jump chains and rings, by game.
const POSITIONS: [(&str, &str); 10] = [
    ("english", "B:W21-32:B1-12"),
    ("english", "B:W6,14,15,22,23,29,32:B1,4"),
    ("english", "W:WK14:B9,10,11,17,18,19,25,26,27"),
    ("english:kings=false", "W:W25,29,31,32:B1,4,7,13,14,15,22"),
    ("contest", "W:W1,3,4,22,28:B6,8,15,29,32"),
    ("contest:kings=true", "B:W10,11,18,19,26,27,29:BK30"),
    ("chinese-checkers", "1O6/O1#5/1O#O4/2#1O3/3#1O2/6#1/8/#7 # 20"),
    ("chinese-checkers", "3#4/5O2/1#O5/#3#O2/7#/1O#5/4O1O1/8 O 21"),
    ("capture-halma", "8/1bb1w3/1w1w1b2/2w1b3/7w/b7/6w1/8 b 40"),
    ("capture-halma", "8/5b2/8/3wb3/3b1w2/4b3/1w6/6b1 w 41"),
];

#[test]
fn moves_from_the_start_are_listed_one_per_line() {
    let english = crownhead(&["moves", "english"]);
    assert_eq!(english.printed(), "9-13\n9-14\n10-14\n10-15\n11-15\n11-16\n12-16\n");
    assert_eq!(crownhead(&["moves", "contest"]).printed(), english.printed());
    assert_eq!(
        crownhead(&["moves", "chinese-checkers"]).printed(),
        "1133\n1214\n1223\n1232\n1314\n1323\n1324\n2123\n\
         2132\n2141\n2223\n2232\n2233\n3132\n3141\n3142\n"
    );
    assert_eq!(
        crownhead(&["moves", "capture-halma"]).printed().replace('\n', " "),
        "11-12 11-21 22-12 22-21 22-23 22-32 31-21 31-32 31-41 33-23 33-32 33-34 33-43 42-32 42-41 \
         42-43 42-52 51-41 51-52 51-61 53-43 53-52 53-54 53-63 62-52 62-61 62-63 62-72 71-61 71-72 \
         71-81 "
    );
}

#[test]
fn json_has_exactly_this_shape() {
    let step = |text: &str, from: &str, to: &str| json!({ "text": text, "from": from, "to": to, "captures": [], "path": [from, to] });
    assert_eq!(
        object("capture-halma", "8/1bw5/3b4/8/8/8/8/7w b 0"),
        json!({
            "position": "8/1bw5/3b4/8/8/8/8/7w b 0",
            "side": "b",
            "outcome": null,
            "moves": [
                step("22-12", "22", "12"),
                step("22-21", "22", "21"),
                {
                    "text": "22-24",
                    "from": "22",
                    "to": "24",
                    "captures": ["23"],
                    "path": ["22", "24"],
                },
                step("22-32", "22", "32"),
                {
                    "text": "22-24-44",
                    "from": "22",
                    "to": "44",
                    "captures": ["23"],
                    "path": ["22", "24", "44"],
                },
                step("34-24", "34", "24"),
                step("34-33", "34", "33"),
                step("34-35", "34", "35"),
                step("34-44", "34", "44"),
            ],
        })
    );
}

#[test]
fn json_cells_are_rows_and_columns_in_english_too() {
    let corners = "B:WK32:BK1";
    let cells = |position: &str| -> Vec<[String; 3]> {
        let moves = object("english", position)["moves"].take();
        let text = |mv: &Value, key: &str| mv[key].as_str().unwrap().to_string();
        let row = |mv: &Value| [text(mv, "text"), text(mv, "from"), text(mv, "to")];
        moves.as_array().unwrap().iter().map(row).collect()
    };
    assert_eq!(cells(corners), [["1-5", "12", "21"], ["1-6", "12", "23"]]);
    assert_eq!(cells("W:WK32:BK1"), [["32-27", "87", "76"], ["32-28", "87", "78"]]);
}

#[test]
fn captures_with_equal_ends_are_written_with_their_paths() {
    let position = "B:W6,14,15,22,23,29,32:B1,4";
    assert_eq!(listed("english", position), "1x10x17x26\n1x10x19x26\n");
    assert_eq!(
        object("english", position)["moves"],
        json!([
            {
                "text": "1x10x17x26",
                "from": "12",
                "to": "74",
                "captures": ["23", "43", "63"],
                "path": ["12", "34", "52", "74"],
            },
            {
                "text": "1x10x19x26",
                "from": "12",
                "to": "74",
                "captures": ["23", "45", "65"],
                "path": ["12", "34", "56", "74"],
            },
        ])
    );
    // One move, although two paths lead around the ring.
    assert_eq!(listed("english", "B:W10,11,18,19,29,32:BK7"), "7x7\n");
}

#[test]
fn capture_is_mandatory() {
    assert_eq!(listed("english", "B:W15,32:B1,11"), "11x18\n");
    assert_eq!(listed("contest", "B:W15,32:B1,11"), "11x18\n");
}

#[test]
fn options_change_the_moves() {
    let king_row = "B:W21:B27";
    assert_eq!(listed("contest", king_row), listed("contest:kings=true", king_row));
    assert_eq!(listed("contest:kings=true", "B:W21:BK31"), "31-26\n31-27\n");
    assert_eq!(listed("contest", "B:W21:B31"), "Red wins: Black has no move\n");
    assert_eq!(listed("english:kings=false", "B:W21:B31"), "White wins: Black has no move\n");
}

#[test]
fn moves_are_sorted_by_start_end_and_captures() {
    for (game, position) in POSITIONS {
        let object = object(game, position);
        let moves = object["moves"].as_array().unwrap();
        let order: Vec<_> = moves
            .iter()
            .map(|mv| {
                let cells = |key: &str| -> Vec<String> {
                    serde_json::from_value(mv[key].clone()).expect("a list of cells")
                };
                let path = cells("path");
                assert_eq!(mv["from"], path[0], "{mv}");
                assert_eq!(mv["to"], path[path.len() - 1], "{mv}");
                let captures = cells("captures");
                assert!(captures.is_sorted(), "{mv}");
                (path[0].clone(), path[path.len() - 1].clone(), captures)
            })
            .collect();
        assert!(order.is_sorted_by(|a, b| a < b), "{game} {position}: {order:?}");

        let texts: String =
            moves.iter().map(|mv| format!("{}\n", mv["text"].as_str().unwrap())).collect();
        assert_eq!(texts, listed(game, position));
    }
}

#[test]
fn text_of_a_jump_consists_of_its_cells() {
    for (game, position) in POSITIONS.iter().skip(6) {
        for mv in object(game, position)["moves"].as_array().unwrap() {
            let path: Vec<String> = serde_json::from_value(mv["path"].clone()).unwrap();
            let text = match *game {
                "chinese-checkers" => {
                    [&path[0], &path[path.len() - 1]].map(String::as_str).concat()
                }
                _ => path.join("-"),
            };
            assert_eq!(mv["text"], text);
        }
    }
}

#[test]
fn position_is_printed_in_canonical_form() {
    for (text, canonical) in
        [("W: b 1-3 : w 32, K5 .", "W:WK5,32:B1,2,3"), ("1b6/8/8/8/8/8/8/w7 w", "W:W29:B1")]
    {
        assert_eq!(object("english", text)["position"], canonical);
    }
    let drawn = "......../.b....../......../......../......../......../......../.......w w";
    let object = object("capture-halma", drawn);
    assert_eq!(object["position"], "8/1b6/8/8/8/8/8/7w w 0");
    assert_eq!(object["side"], "w");
}

#[test]
fn finished_game_has_an_outcome_and_no_moves() {
    for (game, position, outcome) in [
        (
            "english",
            "B:W17,22,29:B13",
            json!({
                "winner": "w",
                "reason": "no-move",
                "score": null,
                "text": "White wins: Black has no move",
            }),
        ),
        (
            "contest",
            "W:W1,2:B20",
            json!({
                "winner": "b",
                "reason": "no-move",
                "score": null,
                "text": "Black wins: Red has no move",
            }),
        ),
        (
            "chinese-checkers",
            "1O6/O7/3O4/2O5/5O2/3O3#/6##/5### O 21",
            json!({
                "winner": "#",
                "reason": "camp-filled",
                "score": null,
                "text": "Blue(#) wins!",
            }),
        ),
        (
            "chinese-checkers",
            "###5/##6/#7/8/8/7O/6OO/5OOO # 200",
            json!({ "winner": null, "reason": "turn-limit", "score": null, "text": "Draw!" }),
        ),
        (
            "capture-halma",
            "w6b/1w4b1/8/7b/8/8/6b1/3w4 b 40",
            json!({
                "winner": "b",
                "reason": "all-home",
                "score": [4, 2],
                "text": "Black wins 4-2: all pieces of Black are in the target",
            }),
        ),
        (
            "capture-halma",
            "2b5/2bw2ww/4w3/bb1b1bw1/1b6/1b4ww/2w2w2/8 b 400",
            json!({
                "winner": null,
                "reason": "turn-limit",
                "score": [0, 0],
                "text": "Draw 0-0: both players have had 200 turns",
            }),
        ),
    ] {
        let object = object(game, position);
        assert_eq!(object["outcome"], outcome, "{game} {position}");
        assert_eq!(object["moves"], json!([]));
        assert_eq!(listed(game, position), format!("{}\n", outcome["text"].as_str().unwrap()));
    }
}

#[test]
fn player_without_a_move_passes_in_hopping_games() {
    let pass = json!([{ "text": "pass", "from": null, "to": null, "captures": [], "path": [] }]);
    for (game, position) in [
        ("chinese-checkers", "5OO#/6OO/5O1O/8/8/8/8/8 # 20"),
        ("capture-halma", "bww5/w7/w7/8/5w2/8/8/8 b 40"),
        ("capture-halma", "8/8/3w4/2w1w3/8/8/6w1/8 b 40"),
    ] {
        let object = object(game, position);
        assert_eq!((&object["outcome"], &object["moves"]), (&Value::Null, &pass), "{position}");
        assert_eq!(listed(game, position), "pass\n");
    }
}

#[test]
fn invalid_position_is_reported_with_its_location() {
    for (game, position, expected) in [
        ("english", "B:W40:B1", "position, character 4: invalid square 40"),
        ("english", "nonsense", "position, character 1: "),
        ("english", "", "position, character 1: "),
        ("english", "-1", "position, character 1: "),
        ("english", "B:W21:B1,1", "position, character 10: two pieces on square 1"),
        ("contest", "B:WK21:B1", "position, character 4: king on square 21"),
        ("chinese-checkers", "9/8/8/8/8/8/8/8 # 0", "position, character 1: "),
        ("chinese-checkers", "###5/##6/#7/8/8/7O/6OO/5OOO # 201", "position, character 31: "),
        ("capture-halma", "b7/1b5w/b1b3w1 b 0", "position, character 15: "),
        ("capture-halma", "…7/8/8/8/8/8/8/8 b 0", "position, character 1: "),
    ] {
        for command in [&["moves"][..], &["perft", "--depth", "1"], &["moves", "--json"]] {
            let arguments = [command, &[game, "--position", position]].concat();
            let finished = crownhead(&arguments);
            let message = finished.refused(3);
            assert!(
                message.starts_with(&format!("crownhead: {expected}")),
                "{arguments:?}: {message}"
            );
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

#[test]
fn after_plays_moves_first() {
    let after = |game: &str, moves: &str| crownhead(&["moves", game, "--after", moves]);
    assert_eq!(after("english", "11-15 22-18").printed(), "15x22\n");
    assert_eq!(after("english", " 1115\n22x18 ").printed(), "15x22\n");
    assert_eq!(after("english", "").printed(), crownhead(&["moves", "english"]).stdout);
    assert!(after("chinese-checkers", "1133 8866").printed().contains("\n3344\n"));
    assert!(after("capture-halma", "33-34 46-45").printed().contains("\n34-35\n"));

    let arguments = ["moves", "english", "--position", "B:W32:B1", "--after", "1-5", "--json"];
    let object = crownhead(&arguments).json();
    assert_eq!((&object["position"], &object["side"]), (&json!("W:W32:B5"), &json!("w")));
}

#[test]
fn illegal_move_is_reported_with_its_number_and_the_rule() {
    for (game, moves, expected) in [
        ("english", "11-15 22-18 8-11", "move 3, 8-11: illegal: 15x22 is mandatory"),
        ("english", "11-15 pass", "move 2, pass: invalid move \"pass\": passing is not allowed"),
        ("chinese-checkers", "1151", "move 1, 1151: "),
        ("capture-halma", "11-12 11-12", "move 2, 11-12: illegal: there is no piece on 11"),
        ("contest:draw-plies=1", "11-15 22-18", "move 2, 22-18: the game is over: Draw: "),
    ] {
        let finished = crownhead(&["moves", game, "--after", moves]);
        let message = finished.refused(3);
        assert!(message.starts_with(&format!("crownhead: {expected}")), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn draw_counters_and_repetitions_end_games() {
    let twice = "1-5 32-28 5-1 28-32";
    for (game, position, moves, reason, text) in [
        (
            "contest:draw-plies=2",
            "B:W32:B1",
            "1-5 32-28".to_string(),
            "no-progress",
            "Draw: there was no capture during the last 2 plies",
        ),
        (
            "english:rules=wcdf",
            "B:WK32:BK1",
            format!("{twice} {twice}"),
            "repetition",
            "Draw: the same position for the third time",
        ),
        (
            "chinese-checkers",
            "###5/##6/#7/8/8/7O/6OO/5OOO O 199",
            "8866".to_string(),
            "turn-limit",
            "Draw!",
        ),
    ] {
        let arguments = ["moves", game, "--position", position, "--after", &moves, "--json"];
        let object = crownhead(&arguments).json();
        let outcome = json!({ "winner": null, "reason": reason, "score": null, "text": text });
        assert_eq!((&object["outcome"], &object["moves"]), (&outcome, &json!([])), "{game}");
        // One move earlier the game is not over.
        let earlier = moves.rsplit_once(' ').map_or("", |(earlier, _)| earlier);
        let arguments = ["moves", game, "--position", position, "--after", earlier, "--json"];
        assert_eq!(crownhead(&arguments).json()["outcome"], Value::Null, "{game}");
    }
}
