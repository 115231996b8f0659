//! Games over real sockets: play, offers, reconnecting, restarting.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)] // a test may fail

mod common;

use std::time::Duration;

use common::Running;
use crownhead_server::limits::Limits;
use serde_json::{Value, json};

async fn begin() -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Running::begin(folder.path(), Limits::local()).await, folder)
}

fn friend() -> Value {
    json!({"game": "english", "mode": "friend", "side": "b", "name": "Ann"})
}

#[tokio::test]
async fn a_name_that_cannot_be_had_keeps_nobody_out() {
    let (server, _folder) = begin().await;
    let game = server.create(friend()).await;
    let id = game["id"].as_str().unwrap();
    let join =
        |secret: &str, name: &str| json!({"type": "join", "secret": game[secret], "name": name});
    let mut ann = server.socket(id).await;
    ann.say(join("secret", "\u{202e}evil")).await;
    assert_eq!(ann.hear("state").await["seats"][0]["name"], "Ann");
    // Letters may be parted.
    let name = "\u{645}\u{6cc}\u{200c}\u{62e}";
    let mut ben = server.socket(id).await;
    ben.say(join("friend", name)).await;
    while ann.hear("seats").await["seats"][1]["name"] != name {}
    server.end().await;
}

#[tokio::test]
async fn two_play_by_link_and_a_third_looks_on() {
    let (server, _folder) = begin().await;
    let game = server.create(friend()).await;
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(state["seats"][0]["name"], "Ann");
    assert_eq!(state["seats"][1]["online"], false);
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    assert_eq!(ann.hear("seats").await["seats"][1]["online"], true);
    ben.say(json!({"type": "name", "name": "Ben"})).await;
    assert_eq!(ann.hear("seats").await["seats"][1]["name"], "Ben");
    let (mut watcher, state) = server.join(&game["id"], &Value::Null).await;
    assert_eq!(state["watchers"], 1);
    assert!(!state.to_string().contains(game["secret"].as_str().unwrap()));

    ann.say(json!({"type": "move", "version": 0, "move": "11-15", "id": 7})).await;
    let moved = ann.hear("moved").await;
    assert_eq!(ann.hear("done").await, json!({"type": "done", "id": 7, "version": 1}));
    assert_eq!(moved["move"]["path"], json!(["36", "45"]));
    assert_eq!(ben.hear("moved").await, moved);
    assert_eq!(watcher.hear("moved").await, moved);

    watcher.say(json!({"type": "move", "version": 1, "move": "22-18"})).await;
    assert_eq!(watcher.hear("refused").await["code"], "seat");
    ann.play(1, "22-18").await;
    assert_eq!(ann.hear("refused").await["code"], "seat", "it is White's turn");
    ben.play(1, "22-18").await;
    assert_eq!(ann.hear("moved").await["must_capture"], true);
    ann.play(2, "8-11").await;
    let refused = ann.hear("refused").await;
    assert_eq!(refused["reason"], "illegal: 15x22 is mandatory");
    assert_eq!((&refused["code"], &refused["kind"]), (&json!("illegal"), &json!("rule")));
    server.end().await;
}

#[tokio::test]
async fn a_wrong_secret_and_an_unknown_game_are_told_apart_from_looking_on() {
    let (server, _folder) = begin().await;
    let game = server.create(friend()).await;
    let id = game["id"].as_str().unwrap();
    for secret in ["", "wrong", "AAAAAAAAAAAAAAAAAAAAAA", id] {
        let mut client = server.socket(id).await;
        client.say(json!({"type": "join", "secret": secret})).await;
        assert_eq!(client.closed().await, Some(4003), "{secret}");
    }
    let mut client = server.socket("AAAAAAAAAAAAAAAA").await;
    client.say(json!({"type": "join"})).await;
    assert_eq!(client.closed().await, Some(4004));
    server.end().await;
}

#[tokio::test]
async fn stale_and_repeated_moves_are_refused_with_a_fresh_state() {
    let (server, _folder) = begin().await;
    let game = server.create(json!({"game": "english", "mode": "hotseat"})).await;
    let (mut both, _) = server.join(&game["id"], &game["secret"]).await;
    both.play(0, "11-15").await;
    both.hear("moved").await;
    both.play(0, "11-15").await;
    assert_eq!(both.hear("refused").await["code"], "stale");
    let state = both.hear("state").await;
    assert_eq!((&state["version"], &state["ply"]), (&json!(1), &json!(1)));
    server.end().await;
}

#[tokio::test]
async fn several_tabs_sit_on_one_seat() {
    let (server, _folder) = begin().await;
    let game = server.create(friend()).await;
    let (mut one, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut other, _) = server.join(&game["id"], &game["secret"]).await;
    one.play(0, "11-15").await;
    assert_eq!(other.hear("moved").await["version"], 1);
    drop(one);
    let seats = other.hear("seats").await;
    assert_eq!(seats["seats"][0]["online"], true, "the other tab is still there");
    server.end().await;
}

#[tokio::test]
async fn draws_take_backs_and_a_rematch_by_agreement() {
    let (server, _folder) = begin().await;
    let game = server.create(friend()).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    ann.play(0, "11-15").await;
    ben.hear("moved").await;
    ann.say(json!({"type": "offer", "offer": "take-back", "version": 1})).await;
    assert_eq!(ben.hear("offers").await["offers"]["take_back"], "b");
    ben.say(json!({"type": "accept", "offer": "take-back", "version": 1})).await;
    let state = ann.hear("state").await;
    assert_eq!((&state["ply"], &state["version"]), (&json!(0), &json!(2)));
    ann.say(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    ben.say(json!({"type": "decline", "offer": "draw", "version": 2})).await;
    // Whichever came first: an offer that is not there yet cannot be declined.
    if ann.hear("offers").await["offers"]["draw"] == "b" {
        ben.hear("offers").await;
    }
    ben.say(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    ann.say(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    let state = ann.hear("state").await;
    assert_eq!(state["outcome"]["reason"], "agreed");
    assert_eq!(state["legal"], json!([]));
    ann.say(json!({"type": "offer", "offer": "rematch", "version": 3})).await;
    ben.say(json!({"type": "offer", "offer": "rematch", "version": 3})).await;
    let next = ann.hear("next").await["id"].clone();
    assert_eq!(ben.hear("next").await["id"], next);
    let mut again = server.socket(next.as_str().unwrap()).await;
    again.say(json!({"type": "join", "secret": game["secret"]})).await;
    assert_eq!(again.hear("joined").await["you"], json!(["w"]), "colours are swapped");
    assert_eq!(again.hear("state").await["seats"][1]["name"], "Ann");
    server.end().await;
}

#[tokio::test]
async fn a_computer_answers_and_what_it_did_is_taken_back_at_once() {
    let (server, _folder) = begin().await;
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        for player in ["random", "minimax:4", "level:1", "level:10"] {
            let wish = json!({"game": game, "mode": "computer", "player": player, "thinking": 100});
            let game = server.create(wish).await;
            let (mut person, mut state) = server.join(&game["id"], &game["secret"]).await;
            if state["side"] != game["you"][0] {
                state = person.hear("moved").await;
            }
            let version = state["version"].as_u64().unwrap();
            person.play(version, state["legal"][0]["text"].as_str().unwrap()).await;
            assert_eq!(person.hear("moved").await["computer"], "waiting");
            let answer = person.hear("moved").await;
            assert_eq!(answer["side"], game["you"][0]);
            person
                .say(json!({"type": "offer", "offer": "take-back", "version": version + 2}))
                .await;
            let back = person.hear("state").await;
            assert_eq!((&back["position"], &back["ply"]), (&state["position"], &state["ply"]));
            person.say(json!({"type": "resign", "version": version + 3})).await;
            assert_eq!(person.hear("state").await["outcome"]["reason"], "resigned");
        }
    }
    server.end().await;
}

#[tokio::test]
async fn a_computer_judges_an_offer_of_a_draw() {
    let (server, _folder) = begin().await;
    // Black is lost: White has every reason to decline.
    let wish = json!({"game": "english", "mode": "computer", "side": "b", "position": "B:WK15,K18,K22,K23:B1"});
    let game = server.create(wish).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    for _ in 0..2 {
        person.say(json!({"type": "offer", "offer": "draw", "version": 0})).await;
        let declined = person.hear("declined").await;
        assert_eq!((&declined["offer"], &declined["by"]), (&json!("draw"), &json!("w")));
    }
    // White is lost, and glad of it.
    let wish = json!({"game": "english", "mode": "computer", "side": "b", "position": "B:W32:BK10,K11,K14,K15"});
    let game = server.create(wish).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    person.say(json!({"type": "offer", "offer": "draw", "version": 0})).await;
    assert_eq!(person.hear("state").await["outcome"]["reason"], "agreed");
    server.end().await;
}

#[tokio::test]
async fn nobody_thinks_for_a_player_who_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let thought = Duration::from_secs(24 * 60 * 60);
    let server = Running::begin(
        folder.path(),
        Limits { max_think_time: thought, searches: 1, ..Limits::local() },
    )
    .await;
    let long = json!({"game": "capture-halma", "mode": "computer", "side": "w", "player": "level:10",
                      "thinking": 24 * 60 * 60 * 1000_u64});
    let game = server.create(long).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(person.hear("computer").await["computer"], "thinking");
    drop(person);
    // There is one thread: it would think for a day if it had not been stopped.
    let quick = json!({"game": "english", "mode": "computer", "side": "w", "player": "random"});
    let game = server.create(quick).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    person.hear("moved").await;
    server.end().await;
}

#[tokio::test]
async fn who_does_not_move_loses_on_time() {
    let (server, _folder) = begin().await;
    let mut wish = friend();
    wish["clock"] = json!({"time": 300, "increment": 0});
    let game = server.create(wish).await;
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(state["clocks"]["running"], Value::Null);
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    ann.play(0, "11-15").await;
    ben.hear("moved").await;
    ben.play(1, "22-18").await;
    assert_eq!(ben.hear("moved").await["clocks"]["running"], "b");
    let state = ben.hear("state").await;
    assert_eq!(state["outcome"]["text"], "Black ran out of time: White wins.");
    assert_eq!(state["clocks"]["left"][0], 0);
    server.end().await;
}

#[tokio::test]
async fn a_restart_loses_nothing_and_costs_no_time() {
    let (server, folder) = begin().await;
    let mut wish = friend();
    wish["clock"] = json!({"time": 600_000, "increment": 1000});
    let game = server.create(wish).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    let moves = ["11-15", "22-18", "15x22", "25x18"];
    for (version, text) in (0..).zip(moves) {
        let (one, other) =
            if version % 2 == 0 { (&mut ann, &mut ben) } else { (&mut ben, &mut ann) };
        one.play(version, text).await;
        one.hear("moved").await;
        other.hear("moved").await;
    }
    let end = tokio::spawn(server.end());
    assert_eq!(ann.closed().await, Some(1001));
    assert_eq!(ben.closed().await, Some(1001));
    end.await.unwrap();
    let server = Running::begin(folder.path(), Limits::local()).await;
    let (_watcher, state) = server.join(&game["id"], &Value::Null).await;
    assert_eq!(state["clocks"]["running"], Value::Null, "it waits for a player");
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    let played: Vec<_> =
        state["history"].as_array().unwrap().iter().map(|made| &made["text"]).collect();
    assert_eq!(played, moves);
    assert_eq!((&state["version"], &state["clocks"]["running"]), (&json!(4), &json!("b")));
    assert!(state["clocks"]["left"][0].as_u64().unwrap() > 590_000);
    ann.play(4, "12-16").await;
    assert_eq!(ann.hear("moved").await["version"], 5);
    server.end().await;
}
