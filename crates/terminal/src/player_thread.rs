//! A computer player on its own thread, so that the screen never waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_play::{Choice, Clock, Player, PlayerError, Session, StopFlag};

/// How often [`PlayerThread::wait`] checks its stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Stack size of the thread: the textbook players recurse once per ply.
const STACK_BYTES: usize = 16 << 20;

/// A player choosing a move.
pub struct PlayerThread {
    updates: Receiver<PlayerUpdate>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
    /// When it started to think; `None` until it is ready.
    pub started: Option<Instant>,
    /// Latest search information.
    pub latest: Option<Choice>,
}

enum PlayerUpdate {
    Started(Instant),
    Info(Choice),
    Answer(PlayerAnswer),
}

/// The answer of a player.
pub struct PlayerAnswer {
    /// The player, to be used again; `None` if it could not be created.
    pub player: Option<Box<dyn Player>>,
    /// The chosen move.
    pub choice: Result<Choice, PlayerError>,
    /// Time used.
    pub used: Duration,
}

impl PlayerThread {
    /// Creates or prepares a player with `prepare`, then asks it for a move. Its time starts when
    /// it is ready.
    pub fn new(
        prepare: impl FnOnce(&StopFlag) -> Result<Box<dyn Player>, PlayerError> + Send + 'static,
        session: Box<dyn Session>,
        clock: Clock,
    ) -> std::io::Result<PlayerThread> {
        let (sender, updates) = channel();
        let stop = StopFlag::new();
        let thread_stop = stop.clone();
        let work = move || {
            let prepared = prepare(&thread_stop);
            let started = Instant::now();
            // Sending fails if the receiver is gone, and then nobody needs the update.
            let _ = sender.send(PlayerUpdate::Started(started));
            let mut on_info = |choice| drop(sender.send(PlayerUpdate::Info(choice)));
            let (player, choice) = match prepared {
                Err(error) => (None, Err(error)),
                Ok(mut player) => {
                    let choice =
                        player.choose(session.as_ref(), &clock, &thread_stop, &mut on_info);
                    (Some(player), choice)
                }
            };
            let away = player.as_ref().map_or(Duration::ZERO, |player| player.time_away());
            let used = started.elapsed().saturating_sub(away);
            let answer = PlayerAnswer { player, choice, used };
            let _ = sender.send(PlayerUpdate::Answer(answer));
        };
        let builder = std::thread::Builder::new().name("player".into()).stack_size(STACK_BYTES);
        let thread = builder.spawn(work)?;
        Ok(PlayerThread { updates, stop, thread: Some(thread), started: None, latest: None })
    }

    /// Processes updates and returns the answer, if there is one yet.
    pub fn poll(&mut self) -> Result<Option<PlayerAnswer>, PlayerPanicked> {
        loop {
            match self.updates.try_recv() {
                Ok(update) => match self.on_update(update) {
                    None => {}
                    answer => return Ok(answer),
                },
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(PlayerPanicked),
            }
        }
    }

    /// Waits for the answer; `None` if `stop` is set first.
    pub fn wait(&mut self, stop: &StopFlag) -> Result<Option<PlayerAnswer>, PlayerPanicked> {
        loop {
            match self.updates.recv_timeout(POLL_INTERVAL) {
                Ok(update) => match self.on_update(update) {
                    None => {}
                    answer => return Ok(answer),
                },
                Err(RecvTimeoutError::Timeout) if stop.is_set() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(PlayerPanicked),
            }
        }
    }

    fn on_update(&mut self, update: PlayerUpdate) -> Option<PlayerAnswer> {
        match update {
            PlayerUpdate::Started(started) => self.started = Some(started),
            PlayerUpdate::Info(choice) => self.latest = Some(choice),
            PlayerUpdate::Answer(answer) => return Some(answer),
        }
        None
    }
}

/// The player's thread panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the computer player crashed; this is a bug in crownhead")]
pub struct PlayerPanicked;

impl Drop for PlayerThread {
    /// Stops the player, which takes milliseconds.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
