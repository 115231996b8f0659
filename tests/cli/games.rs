//! `crownhead games`.

use serde_json::json;

use crate::harness::crownhead;

#[test]
fn list_shows_sides_start_and_options_of_each_game() {
    let finished = crownhead(&["games"]);
    let text = finished.printed();
    let games: Vec<_> = text.split("\n\n").collect();
    assert_eq!(games.len(), 4, "{text}");
    for (game, (id, parts)) in games.into_iter().zip([
        ("english", &["English checkers", "Black b moves first, White w", "rules=", "kings="][..]),
        ("contest", &["Contest checkers", "Black b moves first, Red w", "draw-plies="]),
        ("chinese-checkers", &["Blue # moves first, Red O", "###5/##6/#7/8/8/7O/6OO/5OOO # 0"]),
        (
            "capture-halma",
            &["Black b moves first, White w", "b7/1b5w/b1b3w1/1b3w1w/b1b3w1/1b3w1w/b5w1/7w b 0"],
        ),
    ]) {
        assert_eq!(game.split_whitespace().next(), Some(id), "starts with the id");
        for part in parts {
            assert!(game.contains(part), "{part} in\n{game}");
        }
    }
}

#[test]
fn json_lists_the_same_games() {
    let finished = crownhead(&["games", "--json"]);
    finished.printed();
    let object = finished.json();
    let games = object["games"].as_array().unwrap();
    let ids: Vec<_> = games.iter().map(|game| game["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["english", "contest", "chinese-checkers", "capture-halma"]);

    let contest = &games[1];
    assert_eq!(contest["name"], "Contest checkers");
    assert_eq!(
        contest["sides"],
        json!([{ "letter": "b", "name": "Black" }, { "letter": "w", "name": "Red" }])
    );
    assert_eq!(
        contest["start"],
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"
    );
    let options = contest["options"].as_array().unwrap();
    let keys: Vec<_> = options.iter().map(|option| option["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["draw-plies", "kings"]);
    for option in options {
        for part in ["values", "default", "meaning"] {
            assert!(option[part].as_str().is_some_and(|text| !text.is_empty()), "{option}");
        }
    }
    assert_eq!(games[3]["options"], json!([]));
}

#[test]
fn other_commands_accept_listed_ids_starts_and_options() {
    let games = crownhead(&["games", "--json"]).json();
    for game in games["games"].as_array().unwrap() {
        let (id, start) = (game["id"].as_str().unwrap(), game["start"].as_str().unwrap());
        let moves = crownhead(&["moves", id]);
        assert_eq!(crownhead(&["moves", id, "--position", start]).printed(), moves.printed());
        for option in game["options"].as_array().unwrap() {
            let key = option["key"].as_str().unwrap();
            // The first word of the default is a value: `50 (80 with rules=wcdf)`.
            let default = option["default"].as_str().unwrap().split(' ').next().unwrap();
            let chosen = format!("{id}:{key}={default}");
            assert_eq!(crownhead(&["moves", &chosen]).printed(), moves.printed(), "{chosen}");
        }
    }
}
