//! Games over WebSockets: moves, offers, reconnecting, restarting.

use std::time::Duration;

use crate::common::TestServer;
use crownhead_server::limits::Limits;
use serde_json::{Value, json};

async fn start() -> (TestServer, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (TestServer::start(dir.path(), Limits::local()).await, dir)
}

fn friend() -> Value {
    json!({"game": "english", "mode": "friend", "side": "b", "name": "Ann"})
}

#[tokio::test]
async fn invalid_name_does_not_prevent_joining() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let id = game["id"].as_str().unwrap();
    let join =
        |secret: &str, name: &str| json!({"type": "join", "secret": game[secret], "name": name});
    let mut ann = server.socket(id).await;
    ann.send(join("secret", "\u{202e}evil")).await;
    assert_eq!(ann.receive("state").await["seats"][0]["name"], "Ann");
    // The zero-width non-joiner is allowed.
    let name = "\u{645}\u{6cc}\u{200c}\u{62e}";
    let mut ben = server.socket(id).await;
    ben.send(join("friend", name)).await;
    while ann.receive("seats").await["seats"][1]["name"] != name {}
    server.stop().await;
}

#[tokio::test]
async fn two_players_and_a_spectator_receive_the_same_moves() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(state["seats"][0]["name"], "Ann");
    assert_eq!(state["seats"][1]["online"], false);
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    assert_eq!(ann.receive("seats").await["seats"][1]["online"], true);
    ben.send(json!({"type": "name", "name": "Ben"})).await;
    assert_eq!(ann.receive("seats").await["seats"][1]["name"], "Ben");
    let (mut spectator, state) = server.join(&game["id"], &Value::Null).await;
    assert_eq!(state["watchers"], 1);
    assert!(!state.to_string().contains(game["secret"].as_str().unwrap()));

    ann.send(json!({"type": "move", "version": 0, "move": "11-15", "id": 7})).await;
    let moved = ann.receive("moved").await;
    assert_eq!(ann.receive("done").await, json!({"type": "done", "id": 7, "version": 1}));
    assert_eq!(moved["move"]["path"], json!(["36", "45"]));
    assert_eq!(ben.receive("moved").await, moved);
    assert_eq!(spectator.receive("moved").await, moved);

    spectator.send(json!({"type": "move", "version": 1, "move": "22-18"})).await;
    assert_eq!(spectator.receive("refused").await["code"], "seat");
    ann.play(1, "22-18").await;
    assert_eq!(ann.receive("refused").await["code"], "seat", "it is White's turn");
    ben.play(1, "22-18").await;
    assert_eq!(ann.receive("moved").await["must_capture"], true);
    ann.play(2, "8-11").await;
    let refused = ann.receive("refused").await;
    assert_eq!(refused["reason"], "illegal: 15x22 is mandatory");
    assert_eq!((&refused["code"], &refused["kind"]), (&json!("illegal"), &json!("rule")));
    server.stop().await;
}

#[tokio::test]
async fn wrong_secret_and_unknown_game_have_their_close_codes() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let id = game["id"].as_str().unwrap();
    for secret in ["", "wrong", "AAAAAAAAAAAAAAAAAAAAAA", id] {
        let mut client = server.socket(id).await;
        client.send(json!({"type": "join", "secret": secret})).await;
        assert_eq!(client.close_code().await, Some(4003), "{secret}");
    }
    let mut client = server.socket("AAAAAAAAAAAAAAAA").await;
    client.send(json!({"type": "join"})).await;
    assert_eq!(client.close_code().await, Some(4004));
    server.stop().await;
}

#[tokio::test]
async fn stale_move_is_refused_and_followed_by_the_state() {
    let (server, _dir) = start().await;
    let game = server.create(json!({"game": "english", "mode": "hotseat"})).await;
    let (mut both, _) = server.join(&game["id"], &game["secret"]).await;
    both.play(0, "11-15").await;
    both.receive("moved").await;
    both.play(0, "11-15").await;
    assert_eq!(both.receive("refused").await["code"], "stale");
    let state = both.receive("state").await;
    assert_eq!((&state["version"], &state["ply"]), (&json!(1), &json!(1)));
    server.stop().await;
}

#[tokio::test]
async fn several_tabs_share_one_seat() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let (mut tab1, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut tab2, _) = server.join(&game["id"], &game["secret"]).await;
    tab1.play(0, "11-15").await;
    assert_eq!(tab2.receive("moved").await["version"], 1);
    drop(tab1);
    let seats = tab2.receive("seats").await;
    assert_eq!(seats["seats"][0]["online"], true, "the second tab is still connected");
    server.stop().await;
}

#[tokio::test]
async fn players_agree_to_take_back_draw_and_rematch() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    ann.play(0, "11-15").await;
    ben.receive("moved").await;
    ann.send(json!({"type": "offer", "offer": "take-back", "version": 1})).await;
    assert_eq!(ben.receive("offers").await["offers"]["take_back"], "b");
    ben.send(json!({"type": "accept", "offer": "take-back", "version": 1})).await;
    let state = ann.receive("state").await;
    assert_eq!((&state["ply"], &state["version"]), (&json!(0), &json!(2)));
    ann.send(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    ben.send(json!({"type": "decline", "offer": "draw", "version": 2})).await;
    // The server may have received the answer first, and refused it.
    if ann.receive("offers").await["offers"]["draw"] == "b" {
        ben.receive("offers").await;
    }
    ben.send(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    ann.send(json!({"type": "offer", "offer": "draw", "version": 2})).await;
    let state = ann.receive("state").await;
    assert_eq!(state["outcome"]["reason"], "agreed");
    assert_eq!(state["legal"], json!([]));
    ann.send(json!({"type": "offer", "offer": "rematch", "version": 3})).await;
    ben.send(json!({"type": "offer", "offer": "rematch", "version": 3})).await;
    let next = ann.receive("next").await["id"].clone();
    assert_eq!(ben.receive("next").await["id"], next);
    let mut again = server.socket(next.as_str().unwrap()).await;
    again.send(json!({"type": "join", "secret": game["secret"]})).await;
    assert_eq!(again.receive("joined").await["you"], json!(["w"]), "colours are swapped");
    assert_eq!(again.receive("state").await["seats"][1]["name"], "Ann");
    server.stop().await;
}

#[tokio::test]
async fn computer_moves_and_grants_take_backs() {
    let (server, _dir) = start().await;
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        for player in ["random", "minimax:4", "level:1", "level:10"] {
            let request =
                json!({"game": game, "mode": "computer", "player": player, "thinking": 100});
            let game = server.create(request).await;
            let (mut person, mut state) = server.join(&game["id"], &game["secret"]).await;
            if state["side"] != game["you"][0] {
                state = person.receive("moved").await;
            }
            let version = state["version"].as_u64().unwrap();
            person.play(version, state["legal"][0]["text"].as_str().unwrap()).await;
            assert_eq!(person.receive("moved").await["computer"], "waiting");
            let answer = person.receive("moved").await;
            assert_eq!(answer["side"], game["you"][0]);
            person
                .send(json!({"type": "offer", "offer": "take-back", "version": version + 2}))
                .await;
            let back = person.receive("state").await;
            assert_eq!((&back["position"], &back["ply"]), (&state["position"], &state["ply"]));
            person.send(json!({"type": "resign", "version": version + 3})).await;
            assert_eq!(person.receive("state").await["outcome"]["reason"], "resigned");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn computer_accepts_a_draw_only_if_it_is_losing() {
    let (server, _dir) = start().await;
    // Black is lost, so the computer declines.
    let request = json!({"game": "english", "mode": "computer", "side": "b",
                         "position": "B:WK15,K18,K22,K23:B1"});
    let game = server.create(request).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    for _ in 0..2 {
        person.send(json!({"type": "offer", "offer": "draw", "version": 0})).await;
        let declined = person.receive("declined").await;
        assert_eq!((&declined["offer"], &declined["by"]), (&json!("draw"), &json!("w")));
    }
    // White is lost, so the computer accepts.
    let request = json!({"game": "english", "mode": "computer", "side": "b",
                         "position": "B:W32:BK10,K11,K14,K15"});
    let game = server.create(request).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    person.send(json!({"type": "offer", "offer": "draw", "version": 0})).await;
    assert_eq!(person.receive("state").await["outcome"]["reason"], "agreed");
    server.stop().await;
}

#[tokio::test]
async fn hint_is_a_legal_move_for_the_player_who_asks() {
    let (server, _dir) = start().await;
    let request = json!({"game": "english", "mode": "computer", "side": "b", "player": "random"});
    let game = server.create(request).await;
    let (mut person, state) = server.join(&game["id"], &game["secret"]).await;
    let (mut spectator, _) = server.join(&game["id"], &json!(null)).await;
    spectator.send(json!({"type": "hint", "version": 0, "id": 1})).await;
    assert_eq!(spectator.receive("refused").await["code"], "seat");
    person.send(json!({"type": "hint", "version": 7, "id": 2})).await;
    assert_eq!(person.receive("refused").await["code"], "stale");
    person.send(json!({"type": "hint", "version": 0, "id": 3})).await;
    let hint = person.receive("hint").await;
    assert_eq!((&hint["id"], &hint["version"]), (&json!(3), &json!(0)));
    let mut legal = state["legal"].as_array().unwrap().iter();
    assert!(legal.any(|mv| mv["text"] == hint["move"]), "{hint}");
    assert!(!hint["reason"].as_str().unwrap().is_empty());

    let game = server.create(friend()).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    ann.send(json!({"type": "hint", "version": 0, "id": 4})).await;
    assert_eq!(ann.receive("refused").await["code"], "seat");
    server.stop().await;
}

#[tokio::test]
async fn two_computers_play_while_somebody_watches() {
    let (server, _dir) = start().await;
    let request = json!({"game": "english", "mode": "computers", "players": ["level:1", "random"]});
    let game = server.create(request).await;
    let (mut spectator, state) = server.join(&game["id"], &json!(null)).await;
    assert_eq!((&state["mode"], &state["ply"]), (&json!("computers"), &json!(0)));
    assert_eq!(state["seats"][0]["player"], "level:1");
    assert_eq!(state["seats"][1]["player"], "random");
    for ply in 1..=2 {
        assert_eq!(spectator.receive("moved").await["ply"], ply);
    }
    server.stop().await;
}

#[tokio::test]
async fn search_stops_when_the_player_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    let server = TestServer::start(
        dir.path(),
        Limits { max_think_time: day, searches: 1, ..Limits::local() },
    )
    .await;
    let long = json!({"game": "capture-halma", "mode": "computer", "side": "w",
                      "player": "level:10", "thinking": 24 * 60 * 60 * 1000_u64});
    let game = server.create(long).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(person.receive("computer").await["computer"], "thinking");
    drop(person);
    // The only search thread would be busy for a day if the search had not been stopped.
    let quick = json!({"game": "english", "mode": "computer", "side": "w", "player": "random"});
    let game = server.create(quick).await;
    let (mut person, _) = server.join(&game["id"], &game["secret"]).await;
    person.receive("moved").await;
    server.stop().await;
}

#[tokio::test]
async fn player_who_does_not_move_loses_on_time() {
    let (server, _dir) = start().await;
    let mut request = friend();
    request["clock"] = json!({"time": 300, "increment": 0});
    let game = server.create(request).await;
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    assert_eq!(state["clocks"]["running"], Value::Null);
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    ann.play(0, "11-15").await;
    ben.receive("moved").await;
    ben.play(1, "22-18").await;
    assert_eq!(ben.receive("moved").await["clocks"]["running"], "b");
    let state = ben.receive("state").await;
    assert_eq!(state["outcome"]["text"], "Black ran out of time: White wins.");
    assert_eq!(state["clocks"]["left"][0], 0);
    server.stop().await;
}

#[tokio::test]
async fn restart_keeps_moves_and_clocks() {
    let (server, dir) = start().await;
    let mut request = friend();
    request["clock"] = json!({"time": 600_000, "increment": 1000});
    let game = server.create(request).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    let (mut ben, _) = server.join(&game["id"], &game["friend"]).await;
    let moves = ["11-15", "22-18", "15x22", "25x18"];
    for (version, text) in (0..).zip(moves) {
        let (player, opponent) =
            if version % 2 == 0 { (&mut ann, &mut ben) } else { (&mut ben, &mut ann) };
        player.play(version, text).await;
        player.receive("moved").await;
        opponent.receive("moved").await;
    }
    let stopped = tokio::spawn(server.stop());
    assert_eq!(ann.close_code().await, Some(1001));
    assert_eq!(ben.close_code().await, Some(1001));
    stopped.await.unwrap();
    let server = TestServer::start(dir.path(), Limits::local()).await;
    let (_spectator, state) = server.join(&game["id"], &Value::Null).await;
    assert_eq!(state["clocks"]["running"], Value::Null, "the game waits for a player");
    let (mut ann, state) = server.join(&game["id"], &game["secret"]).await;
    let played: Vec<_> =
        state["history"].as_array().unwrap().iter().map(|played| &played["text"]).collect();
    assert_eq!(played, moves);
    assert_eq!((&state["version"], &state["clocks"]["running"]), (&json!(4), &json!("b")));
    assert!(state["clocks"]["left"][0].as_u64().unwrap() > 590_000);
    ann.play(4, "12-16").await;
    assert_eq!(ann.receive("moved").await["version"], 5);
    server.stop().await;
}

#[tokio::test]
async fn close_frame_of_the_client_is_answered() {
    let (server, _dir) = start().await;
    let game = server.create(friend()).await;
    let (mut ann, _) = server.join(&game["id"], &game["secret"]).await;
    ann.0.close(None).await.unwrap();
    let mut last = None;
    while let Some(message) = futures_util::StreamExt::next(&mut ann.0).await {
        last = Some(message.unwrap());
    }
    assert!(last.is_some_and(|message| message.is_close()));
    server.stop().await;
}

#[tokio::test]
async fn tabs_per_seat_and_spectators_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { sockets_per_seat: 1, spectators_per_game: 0, ..Limits::local() };
    let server = TestServer::start(dir.path(), limits).await;
    let game = server.create(friend()).await;
    let (_ann, _) = server.join(&game["id"], &game["secret"]).await;
    for secret in [&game["secret"], &Value::Null] {
        let mut client = server.socket(game["id"].as_str().unwrap()).await;
        client.send(json!({"type": "join", "secret": secret})).await;
        assert_eq!(client.close_code().await, Some(4008));
    }
    let (_ben, _) = server.join(&game["id"], &game["friend"]).await;
    server.stop().await;
}

#[tokio::test]
async fn a_school_behind_one_address_can_start_its_games() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), Limits::open()).await;
    let mut players = Vec::new();
    for _ in 0..60 {
        let game = server.create(friend()).await;
        for secret in [&game["secret"], &game["friend"]] {
            players.push(server.join(&game["id"], secret).await);
        }
    }
    assert_eq!(players.len(), 120);
    server.stop().await;
}
