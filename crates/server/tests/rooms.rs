//! Rooms without WebSockets: how the clients of a game affect each other.
use std::net::IpAddr;
use std::sync::Arc;

use crownhead_play::{Action, OfferKind};
use crownhead_server::limits::Limits;
use crownhead_server::new_game::NewGameRequest;
use crownhead_server::rate_limit::ClientKey;
use crownhead_server::room::{JoinError, MemberHandle};
use crownhead_server::rooms::{Created, Rooms};
use crownhead_server::search_queue::SearchQueue;
use crownhead_server::store::Store;
use serde_json::{Value, json};

struct Games {
    rooms: Arc<Rooms>,
    store: Arc<Store>,
    _dir: tempfile::TempDir,
}

impl Drop for Games {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn local_client() -> ClientKey {
    ClientKey::new(IpAddr::from([127, 0, 0, 1]))
}

impl Games {
    fn open() -> Games {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let rooms = Rooms::new(store.clone(), SearchQueue::new(0).unwrap(), Limits::open());
        Games { rooms, store, _dir: dir }
    }

    async fn create(&self, request: Value) -> Created {
        let request: NewGameRequest = serde_json::from_value(request).unwrap();
        let request = request.validate(self.rooms.limits().max_think_time, 1).unwrap();
        self.rooms.create(request).await.unwrap()
    }

    async fn join(&self, game: &Created, secret: Option<&str>) -> Result<MemberHandle, JoinError> {
        self.rooms.join(&game.id, secret, None, local_client()).await
    }

    fn stored_events(&self, game: &Created) -> Vec<String> {
        self.store.read(&game.id).unwrap().unwrap().events
    }
}

/// Waits for a message of a type. Skips others.
async fn receive(member: &mut MemberHandle, kind: &str) -> Value {
    loop {
        let text = member.queue.recv().await.unwrap_or_else(|| panic!("no {kind} message"));
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["type"] == kind {
            return message;
        }
    }
}

fn hotseat() -> Value {
    json!({"game": "english", "mode": "hotseat"})
}

fn friend() -> Value {
    json!({"game": "english", "mode": "friend", "side": "b"})
}

#[tokio::test]
async fn member_removed_as_too_slow_cannot_act() {
    let games = Games::open();
    let game = games.create(hotseat()).await;
    let secret = game.secret.reveal();
    let slow = games.join(&game, Some(secret)).await.unwrap();
    let mut quick = games.join(&game, Some(secret)).await.unwrap();
    // The slow member reads nothing until its queue is full and it is removed.
    for version in (0..80).step_by(2) {
        quick.act(None, version, &Action::Resign).await;
        quick.act(None, version + 1, &Action::Offer(OfferKind::TakeBack)).await;
        while quick.queue.try_recv().is_ok() {}
    }
    quick.leave().await;
    let mut third = games.join(&game, Some(secret)).await.unwrap();
    assert_eq!(receive(&mut third, "state").await["version"], 80);
    slow.act(Some(1), 80, &Action::Move("11-15".into())).await;
    slow.rename(Some(2), Some("Slow")).await;
    assert_eq!(games.stored_events(&game).len(), 80, "nothing is stored without being broadcast");
    third.act(Some(1), 80, &Action::Move("9-13".into())).await;
    assert_eq!(receive(&mut third, "moved").await["version"], 81);
    slow.leave().await;
    third.act(Some(2), 81, &Action::Move("22-18".into())).await;
    assert_eq!(receive(&mut third, "moved").await["version"], 82);
}

#[tokio::test]
async fn spectators_and_opponent_cannot_take_a_players_place() {
    let games = Games::open();
    let game = games.create(friend()).await;
    let mut spectators = Vec::new();
    let full = loop {
        match games.join(&game, None).await {
            Ok(spectator) => spectators.push(spectator),
            Err(error) => break error,
        }
    };
    assert_eq!((full, spectators.len()), (JoinError::Full, 500));
    let mut tabs = Vec::new();
    let full = loop {
        match games.join(&game, Some(game.secret.reveal())).await {
            Ok(tab) => tabs.push(tab),
            Err(error) => break error,
        }
    };
    assert_eq!((full, tabs.len()), (JoinError::Full, 32));
    let friend = game.friend.as_ref().unwrap().reveal();
    assert!(games.join(&game, Some(friend)).await.is_ok());
}

#[tokio::test]
async fn joining_and_leaving_spectators_do_not_fill_a_players_queue() {
    let games = Games::open();
    let game = games.create(friend()).await;
    let mut player = games.join(&game, Some(game.secret.reveal())).await.unwrap();
    for _ in 0..100 {
        let spectator = games.join(&game, None).await.unwrap();
        spectator.leave().await;
    }
    let _spectator = games.join(&game, None).await.unwrap();
    player.seats.changed().await.unwrap();
    let seats: Value = serde_json::from_str(&player.seats.borrow_and_update()).unwrap();
    assert_eq!((&seats["type"], &seats["watchers"]), (&json!("seats"), &json!(1)));
    player.act(None, 0, &Action::Move("11-15".into())).await;
    assert_eq!(receive(&mut player, "moved").await["version"], 1);
}

#[tokio::test]
async fn renames_are_limited_and_do_not_count_as_moves() {
    let games = Games::open();
    let game = games.create(friend()).await;
    let mut ann = games.join(&game, Some(game.secret.reveal())).await.unwrap();
    for number in 0..100 {
        let friend = game.friend.as_ref().map(|secret| secret.reveal());
        let name = Some(format!("Joined {number}"));
        let ben = games.rooms.join(&game.id, friend, name, local_client()).await.unwrap();
        ben.rename(Some(number), Some(&format!("Renamed {number}"))).await;
        ben.leave().await;
    }
    assert_eq!(games.stored_events(&game).len(), 20);
    for number in 0..30 {
        ann.rename(Some(number), Some(&format!("Ann {number}"))).await;
    }
    assert_eq!(receive(&mut ann, "refused").await["code"], "too-many");
    assert_eq!(games.stored_events(&game).len(), 40);
    ann.act(None, 0, &Action::Move("11-15".into())).await;
    assert_eq!(receive(&mut ann, "moved").await["version"], 1);
}

#[tokio::test]
async fn action_in_a_deleted_game_is_refused_without_details() {
    let games = Games::open();
    let game = games.create(friend()).await;
    let mut ann = games.join(&game, Some(game.secret.reveal())).await.unwrap();
    let key = games.store.read(&game.id).unwrap().unwrap().key;
    games.store.write(vec![crownhead_server::store::Write::Delete(vec![key])]).await.unwrap();
    ann.act(Some(1), 0, &Action::Move("11-15".into())).await;
    let refused = receive(&mut ann, "refused").await;
    assert_eq!(refused["code"], "failure");
    assert_eq!(refused["reason"], "the server could not store the event");
}
