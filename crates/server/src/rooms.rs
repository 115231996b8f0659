//! Games in memory: those that somebody follows or in which a clock runs. All others are on disk
//! only and are loaded when a client joins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use crownhead_play::TimeControl;
use crownhead_records::{GameRecord, format_date};
use crownhead_rules::Side;
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::hosted_game::{HostedEvent, HostedGame};
use crate::ids::{GameId, SeatSecret};
use crate::limits::Limits;
use crate::monotonic;
use crate::new_game::{Mode, ValidatedRequest};
use crate::rate_limit::ClientKey;
use crate::room::{JoinError, MemberHandle, Room};
use crate::search_queue::SearchQueue;
use crate::store::codec::{decode_event, decode_setup, encode_event, encode_setup};
use crate::store::{NewGame, Store, StoreError, StoredGame, Write};
use crate::sync::lock;
use crate::views::{Presence, Summary, summary};

/// Age at which games without moves are deleted.
const UNPLAYED_TTL: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// Time without events after which games are deleted.
const IDLE_TTL: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Number of games replayed at a time, for joining clients and for summaries separately: a client
/// that joins does not wait for lists. Replaying thousands of take-backs takes a while, so it runs
/// outside the threads of the runtime.
const MAX_CONCURRENT_LOADS: usize = 1;
/// Number of games deleted per transaction.
const SWEEP_BATCH: usize = 100;

/// Games in memory, and access to the stored ones.
pub struct Rooms {
    rooms: Mutex<HashMap<GameId, Arc<Room>>>,
    /// A lock for each game that is being loaded, so that none is loaded twice.
    load_locks: Mutex<HashMap<GameId, Weak<tokio::sync::Mutex<()>>>>,
    join_loads: Semaphore,
    peek_loads: Semaphore,
    store: Arc<Store>,
    search_queue: Arc<SearchQueue>,
    limits: Limits,
}

/// New game, as its creator receives it.
pub struct Created {
    /// The id.
    pub id: GameId,
    /// The secret of the creator's seat or seats.
    pub secret: SeatSecret,
    /// The secret of the friend's seat.
    pub friend: Option<SeatSecret>,
}

impl Rooms {
    /// No games in memory yet.
    pub fn new(store: Arc<Store>, search_queue: Arc<SearchQueue>, limits: Limits) -> Arc<Rooms> {
        Arc::new(Rooms {
            rooms: Mutex::default(),
            load_locks: Mutex::default(),
            join_loads: Semaphore::new(MAX_CONCURRENT_LOADS),
            peek_loads: Semaphore::new(MAX_CONCURRENT_LOADS),
            store,
            search_queue,
            limits,
        })
    }

    /// The games on disk.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The queue of searches.
    pub fn search_queue(&self) -> &Arc<SearchQueue> {
        &self.search_queue
    }

    /// The limits of the server.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A random seed, of at most 53 bits: exact as a JSON number.
    pub fn random_seed(&self) -> u64 {
        fastrand::u64(..) >> 11
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<GameId, Arc<Room>>> {
        lock(&self.rooms)
    }

    fn room(&self, id: &GameId) -> Option<Arc<Room>> {
        self.rooms().get(id).cloned()
    }

    /// Removes a room from memory.
    pub(crate) fn remove(&self, id: &GameId) {
        self.rooms().remove(id);
        tracing::debug!(game = %id, "game removed from memory");
    }

    /// Creates a game.
    pub async fn create(&self, request: ValidatedRequest) -> Result<Created, ApiError> {
        let ValidatedRequest { setup, rights, name } = request;
        let id = GameId::new().map_err(ApiError::failure)?;
        let secret = SeatSecret::new().map_err(ApiError::failure)?;
        let friend = (setup.mode == Mode::Friend).then(SeatSecret::new).transpose();
        let friend = friend.map_err(ApiError::failure)?;
        let friend_hash = friend.as_ref().map(SeatSecret::hash);
        let secrets = rights.0.map(|is_own| if is_own { Some(secret.hash()) } else { friend_hash });
        let setup = encode_setup(&setup).map_err(ApiError::failure)?;
        let mut writes = vec![Write::Create(NewGame { id: id.clone(), setup, secrets })];
        if let (Some(name), Some(side)) = (name, rights.single()) {
            let event = HostedEvent::Name(side, Some(name));
            let event = encode_event(&event).map_err(ApiError::failure)?;
            writes.push(Write::AppendToNew { id: id.clone(), event });
        }
        self.store.write(writes).await.map_err(|error| {
            tracing::error!(%error, "cannot store a new game");
            ApiError::failure("the server could not store the game")
        })?;
        Ok(Created { id, secret, friend })
    }

    /// Lets a client join a game, which is loaded if it is not in memory.
    pub async fn join(
        self: &Arc<Self>,
        id: &GameId,
        secret: Option<&str>,
        name: Option<String>,
        client: ClientKey,
    ) -> Result<MemberHandle, JoinError> {
        loop {
            let room = match self.room(id) {
                Some(room) => room,
                None => self.load(id).await?,
            };
            match room.join(secret, name.clone(), client).await {
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
        let load_lock = self.load_lock(id);
        let _guard = load_lock.lock().await;
        if let Some(room) = self.room(id) {
            return Ok(room);
        }
        let replayed = self.read_game(id, &self.join_loads).await;
        let replayed = replayed.map_err(|()| JoinError::Failure)?;
        let (game, stored) = replayed.ok_or(JoinError::NoSuchGame)?;
        let room = Room::new(id.clone(), &stored, game, self);
        self.rooms().insert(id.clone(), room.clone());
        tracing::debug!(game = %id, "game loaded");
        Ok(room)
    }

    fn load_lock(&self, id: &GameId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = lock(&self.load_locks);
        locks.retain(|_, lock| lock.strong_count() > 0);
        locks.get(id).and_then(Weak::upgrade).unwrap_or_else(|| {
            let lock = Arc::default();
            locks.insert(id.clone(), Arc::downgrade(&lock));
            lock
        })
    }

    /// Reads and replays a stored game; `None` if there is no such game. Logs errors.
    async fn read_game(
        &self,
        id: &GameId,
        loads: &Semaphore,
    ) -> Result<Option<(HostedGame, StoredGame)>, ()> {
        // The semaphores are never closed.
        let _permit = loads.acquire().await;
        let (store, game_id) = (self.store.clone(), id.clone());
        let replayed = tokio::task::spawn_blocking(move || {
            let stored = store.read(&game_id).map_err(|error| error.to_string())?;
            stored.map(|stored| Ok((replay_events(&stored)?, stored))).transpose()
        });
        replayed.await.unwrap_or_else(|error| Err(error.to_string())).map_err(|error| {
            tracing::error!(game = %id, error, "cannot load a game");
        })
    }

    /// Summary of a game; `None` if there is no such game. Does not load it into memory.
    pub async fn summary(&self, id: &GameId) -> Result<Option<Summary>, ApiError> {
        if let Some(room) = self.room(id) {
            return Ok(Some(room.summary().await));
        }
        let Some((game, stored)) = self.peek(id).await? else { return Ok(None) };
        Ok(Some(summary(id, &game, &Presence::default(), stored.last_activity)))
    }

    /// Replays a game without loading it into memory.
    async fn peek(&self, id: &GameId) -> Result<Option<(HostedGame, StoredGame)>, ApiError> {
        let replayed = self.read_game(id, &self.peek_loads).await;
        replayed.map_err(|()| ApiError::failure("the server could not load the game"))
    }

    /// The record of a game; `None` if there is no such game.
    pub async fn record(&self, id: &GameId) -> Result<Option<GameRecord>, ApiError> {
        let Some((game, stored)) = self.peek(id).await? else { return Ok(None) };
        let setup = game.setup();
        let mut record = GameRecord::new(setup.game.clone());
        record.set_tag("Event", "Crownhead in a browser");
        record.set_tag("Date", format_date(stored.created));
        for side in [Side::First, Side::Second] {
            let name = match (setup.computer(side), game.name(side)) {
                (Some((computer, _)), _) => computer.spec,
                (None, name) => name.unwrap_or("human"),
            };
            record.set_player(side, name.to_string());
        }
        record.start = setup.position.as_ref().map(|_| game.session().start());
        record.line.plies = game.recorded_plies();
        record.result = game.result();
        if setup.time_control() != TimeControl::Unlimited {
            record.set_tag("TimeControl", setup.time_control().to_string());
        }
        Ok(Some(record))
    }

    /// Deletes old games. Returns their number.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let (store, max_games) = (self.store.clone(), self.limits.max_stored_games);
        let find = move || store.stale_games(UNPLAYED_TTL, IDLE_TTL, max_games);
        let stale = tokio::task::spawn_blocking(find).await;
        let mut stale = stale.unwrap_or(Err(StoreError::Closed))?;
        {
            let rooms = self.rooms();
            stale.retain(|(_, id)| GameId::parse(id).is_none_or(|id| !rooms.contains_key(&id)));
        }
        for batch in stale.chunks(SWEEP_BATCH) {
            let keys = batch.iter().map(|(key, _)| *key).collect();
            self.store.write(vec![Write::Delete(keys)]).await?;
        }
        Ok(stale.len())
    }
}

/// Restores a game by applying its stored events.
fn replay_events(stored: &StoredGame) -> Result<HostedGame, String> {
    let setup = decode_setup(&stored.setup).map_err(|error| error.to_string())?;
    let now = monotonic::now();
    let mut game = HostedGame::new(setup, now).map_err(|error| error.to_string())?;
    for text in &stored.events {
        let event = decode_event(text).map_err(|error| error.to_string())?;
        game.apply(&event, now).map_err(|error| error.to_string())?;
    }
    game.pause();
    Ok(game)
}
