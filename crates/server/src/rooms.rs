//! The games in memory: those at which somebody is, or in which a clock runs. All others are on disk
//! only, and are taken up when somebody comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crownhead_play::TimeControl;
use crownhead_records::{GameRecord, Ply};
use crownhead_rules::Side;
use tokio::sync::Semaphore;

use crate::deeds::HostedEvent;
use crate::error::{ApiError, Code};
use crate::hosted_game::HostedGame;
use crate::ids::{GameId, SeatSecret};
use crate::limits::{ClientKey, Limits};
use crate::monotonic;
use crate::new_game::{GameSetup, ValidatedRequest};
use crate::room::{JoinError, MemberHandle, Room};
use crate::search_queue::SearchQueue;
use crate::store::{NewGame, Store, StoreError, StoredGame, Write};
use crate::views::{Presence, Summary, summary};

/// Games in which nothing ever happened are kept so long.
const UNPLAYED_TTL: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// Games in which nothing has happened any more are kept so long.
const IDLE_TTL: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// A game of thousands of take-backs costs a moment of a processor to go through again. That is done by
/// threads beside those of the runtime, by so many at once, so that nobody else waits for it; and
/// who joins does not wait for those who look at lists.
const MAX_CONCURRENT_LOADS: usize = 1;
/// So many games are removed in one transaction.
const SWEEP_BATCH: usize = 100;

/// The games in memory, and the way to all others.
pub struct Rooms {
    rooms: Mutex<HashMap<GameId, Arc<Room>>>,
    /// A lock for each game that is being taken up, so that none is twice.
    taking_up: Mutex<HashMap<GameId, Weak<tokio::sync::Mutex<()>>>>,
    /// So many games are gone through again at once: for those who join, and for those who look.
    joining: Semaphore,
    looking: Semaphore,
    store: Arc<Store>,
    search_queue: Arc<SearchQueue>,
    limits: Limits,
}

/// A new game, for whoever asked for it.
pub struct Created {
    /// Its id.
    pub id: GameId,
    /// The secret of whoever asked.
    pub secret: SeatSecret,
    /// The secret of the other seat, if a friend is to have it.
    pub friend: Option<SeatSecret>,
}

impl Rooms {
    /// No game is in memory.
    pub fn new(store: Arc<Store>, thinking: Arc<SearchQueue>, limits: Limits) -> Arc<Rooms> {
        Arc::new(Rooms {
            rooms: Mutex::default(),
            taking_up: Mutex::default(),
            joining: Semaphore::new(MAX_CONCURRENT_LOADS),
            looking: Semaphore::new(MAX_CONCURRENT_LOADS),
            store,
            search_queue: thinking,
            limits,
        })
    }

    /// The games on disk.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Those who think.
    pub fn thinking(&self) -> &Arc<SearchQueue> {
        &self.search_queue
    }

    /// What strangers may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Something left to chance.
    pub fn random_seed(&self) -> u64 {
        // What is left of a whole game is as good as any: JSON numbers of the page have 53 bits.
        fastrand::u64(..) >> 11
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<GameId, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remove(&self, id: &GameId) {
        self.rooms().remove(id);
    }

    /// Makes a new game.
    pub async fn create(&self, granted: ValidatedRequest) -> Result<Created, ApiError> {
        let failure = |reason: String| ApiError::new(Code::Failure, reason);
        let ValidatedRequest { setup, side, name } = granted;
        let id = GameId::new().map_err(|error| failure(error.to_string()))?;
        let secret = SeatSecret::new().map_err(|error| failure(error.to_string()))?;
        let is_friend = setup.mode_text() == "friend";
        let friend = is_friend.then(SeatSecret::new).transpose();
        let friend = friend.map_err(|error| failure(error.to_string()))?;
        let mut secrets = [None, None];
        match side {
            None => secrets = [Some(secret.hash()), Some(secret.hash())],
            Some(side) => {
                secrets[side.index()] = Some(secret.hash());
                secrets[side.other().index()] = friend.as_ref().map(SeatSecret::hash);
            }
        }
        let mut writes =
            vec![Write::Create(NewGame { id: id.clone(), setup: setup.write(), secrets })];
        if let (Some(name), Some(side)) = (name, side) {
            let event = HostedEvent::Name(side, Some(name)).encode();
            let event = event.map_err(|error| failure(error.to_string()))?;
            writes.push(Write::AppendToNew { id: id.clone(), event });
        }
        self.store.write(writes).await.map_err(|error| failure(error.to_string()))?;
        Ok(Created { id, secret, friend })
    }

    /// Lets somebody into a game, which is taken up if it is not in memory.
    pub async fn join(
        self: &Arc<Self>,
        id: &GameId,
        secret: Option<&str>,
        name: Option<String>,
        address: ClientKey,
    ) -> Result<MemberHandle, JoinError> {
        loop {
            let known = self.rooms().get(id).cloned();
            let room = match known {
                Some(room) => room,
                None => self.load(id).await?,
            };
            match room.join(secret, name.clone(), address).await {
                Err(JoinError::Closed) => {}
                Err(error) => {
                    room.close_if_empty().await;
                    return Err(error);
                }
                Ok(member) => return Ok(member),
            }
        }
    }

    async fn load(self: &Arc<Self>, id: &GameId) -> Result<Arc<Room>, JoinError> {
        let lock = self.lock_of(id);
        let _once = lock.lock().await;
        if let Some(room) = self.rooms().get(id) {
            return Ok(room.clone());
        }
        let revived = self.replayed(id, &self.joining).await.map_err(|reason| {
            eprintln!("crownhead: a game cannot be taken up: {reason}");
            JoinError::Failure
        })?;
        let (game, stored) = revived.ok_or(JoinError::NoGame)?;
        let room = Room::new(id.clone(), stored.key, stored.secrets, game, stored.touched, self);
        self.rooms().insert(id.clone(), room.clone());
        Ok(room)
    }

    fn lock_of(&self, id: &GameId) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.taking_up.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, lock| lock.strong_count() > 0);
        let known = all.get(id).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::default();
            all.insert(id.clone(), Arc::downgrade(&lock));
            lock
        })
    }

    /// A game from disk, as its events left it; none if there is no such game.
    async fn replayed(
        &self,
        id: &GameId,
        turns: &Semaphore,
    ) -> Result<Option<(HostedGame, StoredGame)>, String> {
        let _turn = turns.acquire().await.map_err(|error| error.to_string())?;
        let (store, id) = (self.store.clone(), id.clone());
        let revived = tokio::task::spawn_blocking(move || {
            let stored = store.read(&id).map_err(|error| error.to_string())?;
            stored.map(|stored| Ok((replay_events(&stored)?, stored))).transpose()
        });
        revived.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// A game in a list; none if there is no such game. It stays where it is.
    pub async fn summary(&self, id: &GameId) -> Result<Option<Summary>, ApiError> {
        let known = self.rooms().get(id).cloned();
        if let Some(room) = known {
            return Ok(Some(room.summary().await));
        }
        let Some((game, touched)) = self.peek(id).await? else { return Ok(None) };
        Ok(Some(summary(id, &game, &Presence::default(), touched)))
    }

    async fn peek(&self, id: &GameId) -> Result<Option<(HostedGame, u64)>, ApiError> {
        let failure = |reason: String| ApiError::new(Code::Failure, reason);
        let revived = self.replayed(id, &self.looking).await.map_err(|reason| {
            eprintln!("crownhead: a game cannot be read: {reason}");
            failure("the game cannot be read".into())
        })?;
        Ok(revived.map(|(game, stored)| (game, stored.touched)))
    }

    /// A game as it is written to files; none if there is no such game.
    pub async fn record(&self, id: &GameId) -> Result<Option<GameRecord>, ApiError> {
        let Some((game, _)) = self.peek(id).await? else { return Ok(None) };
        let setup = game.setup();
        let mut record = GameRecord::new(setup.game.clone());
        record.set_tag("Event", "Crownhead in a browser");
        for side in [Side::First, Side::Second] {
            let name = match (setup.computer(side), game.name(side)) {
                (Some((opponent, _)), _) => opponent.spec,
                (None, name) => name.unwrap_or("human"),
            };
            record.set_player(side, name.to_string());
        }
        record.start = setup.position.as_ref().map(|_| game.session().start());
        record.line.plies =
            game.moves().iter().map(|played| Ply::new(played.text.clone())).collect();
        record.result = game.result();
        if setup.time_control() != TimeControl::Unlimited {
            record.set_tag("TimeControl", setup.time_control().to_string());
        }
        Ok(Some(record))
    }

    /// Removes games that nobody has touched for long; how many.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let (store, most) = (self.store.clone(), self.limits.max_stored_games);
        let old =
            tokio::task::spawn_blocking(move || store.stale_games(UNPLAYED_TTL, IDLE_TTL, most))
                .await;
        let mut old = old.unwrap_or(Err(StoreError::Ended))?;
        {
            let rooms = self.rooms();
            old.retain(|(_, id)| GameId::parse(id).is_none_or(|id| !rooms.contains_key(&id)));
        }
        for keys in old.chunks(SWEEP_BATCH) {
            let keys = keys.iter().map(|(key, _)| *key).collect();
            self.store.write(vec![Write::Delete(keys)]).await?;
        }
        Ok(old.len())
    }
}

/// Loads a game by applying its stored events.
fn replay_events(stored: &StoredGame) -> Result<HostedGame, String> {
    let setup = GameSetup::read(&stored.setup).ok_or("its setup cannot be read")?;
    let now = monotonic::now();
    let mut game = HostedGame::new(setup, now).map_err(|error| error.to_string())?;
    for text in &stored.events {
        let event = HostedEvent::decode(text).map_err(|error| error.to_string())?;
        game.apply(&event, now).map_err(|error| error.to_string())?;
    }
    game.pause();
    Ok(game)
}
