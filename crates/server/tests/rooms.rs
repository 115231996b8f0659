//! Rooms without sockets: what those at a game can and cannot do to each other.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)] // a test may fail

use std::net::IpAddr;
use std::sync::Arc;

use crownhead_play::{Action, OfferKind};
use crownhead_server::limits::{ClientKey, Limits};
use crownhead_server::new_game::NewGameRequest;
use crownhead_server::room::{JoinError, MemberHandle};
use crownhead_server::rooms::{Created, Rooms};
use crownhead_server::search_queue::SearchQueue;
use crownhead_server::store::Store;
use serde_json::{Value, json};

struct Hall {
    rooms: Arc<Rooms>,
    store: Arc<Store>,
    _folder: tempfile::TempDir,
}

impl Drop for Hall {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn home() -> ClientKey {
    ClientKey::new(IpAddr::from([127, 0, 0, 1]))
}

impl Hall {
    fn open() -> Hall {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let rooms = Rooms::new(store.clone(), SearchQueue::new(0).unwrap(), Limits::open());
        Hall { rooms, store, _folder: folder }
    }

    async fn create(&self, wish: Value) -> Created {
        let wish: NewGameRequest = serde_json::from_value(wish).unwrap();
        let granted = wish.grant(self.rooms.limits().max_think_time, 1).unwrap();
        self.rooms.create(granted).await.unwrap()
    }

    async fn join(&self, game: &Created, secret: Option<&str>) -> Result<MemberHandle, JoinError> {
        self.rooms.join(&game.id, secret, None, home()).await
    }

    fn kept(&self, game: &Created) -> Vec<String> {
        self.store.read(&game.id).unwrap().unwrap().events
    }
}

/// The next message of a type.
async fn hear(member: &mut MemberHandle, kind: &str) -> Value {
    loop {
        let text = member.queue.recv().await.unwrap_or_else(|| panic!("no {kind} came"));
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
async fn who_was_too_slow_cannot_act_on_a_game_that_went_on_without_him() {
    let hall = Hall::open();
    let game = hall.create(hotseat()).await;
    let secret = game.secret.reveal();
    let slow = hall.join(&game, Some(secret)).await.unwrap();
    let mut quick = hall.join(&game, Some(secret)).await.unwrap();
    // The slow one reads nothing, until too much waits for it and it is put out.
    for version in (0..80).step_by(2) {
        quick.act(None, version, &Action::Resign).await;
        quick.act(None, version + 1, &Action::Offer(OfferKind::TakeBack)).await;
        while quick.queue.try_recv().is_ok() {}
    }
    quick.leave().await;
    let mut third = hall.join(&game, Some(secret)).await.unwrap();
    assert_eq!(hear(&mut third, "state").await["version"], 80);
    slow.act(Some(1), 80, &Action::Move("11-15".into())).await;
    slow.rename(Some(2), Some("Slow")).await;
    assert_eq!(hall.kept(&game).len(), 80, "nothing was written that nobody is told of");
    third.act(Some(1), 80, &Action::Move("9-13".into())).await;
    assert_eq!(hear(&mut third, "moved").await["version"], 81);
    slow.leave().await;
    third.act(Some(2), 81, &Action::Move("22-18".into())).await;
    assert_eq!(hear(&mut third, "moved").await["version"], 82);
}

#[tokio::test]
async fn a_player_does_not_lose_the_place_to_those_who_look_on_or_to_the_other() {
    let hall = Hall::open();
    let game = hall.create(friend()).await;
    let mut watchers = Vec::new();
    let full = loop {
        match hall.join(&game, None).await {
            Ok(watcher) => watchers.push(watcher),
            Err(error) => break error,
        }
    };
    assert_eq!((full, watchers.len()), (JoinError::Full, 500));
    let mut tabs = Vec::new();
    let full = loop {
        match hall.join(&game, Some(game.secret.reveal())).await {
            Ok(tab) => tabs.push(tab),
            Err(error) => break error,
        }
    };
    assert_eq!((full, tabs.len()), (JoinError::Full, 32));
    let other = game.friend.as_ref().unwrap().reveal();
    assert!(hall.join(&game, Some(other)).await.is_ok());
}

#[tokio::test]
async fn however_many_come_and_go_a_player_is_told_the_last_word_and_stays() {
    let hall = Hall::open();
    let game = hall.create(friend()).await;
    let mut player = hall.join(&game, Some(game.secret.reveal())).await.unwrap();
    for _ in 0..100 {
        let watcher = hall.join(&game, None).await.unwrap();
        watcher.leave().await;
    }
    let _stays = hall.join(&game, None).await.unwrap();
    player.seats.changed().await.unwrap();
    let seats: Value = serde_json::from_str(&player.seats.borrow_and_update()).unwrap();
    assert_eq!((&seats["type"], &seats["watchers"]), (&json!("seats"), &json!(1)));
    player.act(None, 0, &Action::Move("11-15".into())).await;
    assert_eq!(hear(&mut player, "moved").await["version"], 1);
}

#[tokio::test]
async fn names_are_bounded_and_take_no_move_away() {
    let hall = Hall::open();
    let game = hall.create(friend()).await;
    let mut ann = hall.join(&game, Some(game.secret.reveal())).await.unwrap();
    for number in 0..100 {
        let other = game.friend.as_ref().map(|secret| secret.reveal());
        let name = Some(format!("Joined {number}"));
        let ben = hall.rooms.join(&game.id, other, name, home()).await.unwrap();
        ben.rename(Some(number), Some(&format!("Renamed {number}"))).await;
        ben.leave().await;
    }
    assert_eq!(hall.kept(&game).len(), 20);
    for number in 0..30 {
        ann.rename(Some(number), Some(&format!("Ann {number}"))).await;
    }
    assert_eq!(hear(&mut ann, "refused").await["code"], "too-many");
    assert_eq!(hall.kept(&game).len(), 40);
    ann.act(None, 0, &Action::Move("11-15".into())).await;
    assert_eq!(hear(&mut ann, "moved").await["version"], 1);
}

#[tokio::test]
async fn a_game_that_was_removed_confirms_nothing_and_tells_no_player_what_the_disk_says() {
    let hall = Hall::open();
    let game = hall.create(friend()).await;
    let mut ann = hall.join(&game, Some(game.secret.reveal())).await.unwrap();
    let key = hall.store.read(&game.id).unwrap().unwrap().key;
    hall.store.write(vec![crownhead_server::store::Write::Delete(vec![key])]).await.unwrap();
    ann.act(Some(1), 0, &Action::Move("11-15".into())).await;
    let refused = hear(&mut ann, "refused").await;
    assert_eq!(refused["code"], "failure");
    assert_eq!(refused["reason"], "it could not be kept on disk");
}
