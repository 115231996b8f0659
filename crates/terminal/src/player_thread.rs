//! A computer player that thinks on a thread of its own, so that a screen never waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_play::{Choice, Clock, Player, PlayerError, Session, StopFlag};

/// How often whoever waits for a move looks round.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A player who is thinking about a move.
pub struct PlayerThread {
    updates: Receiver<PlayerUpdate>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
    /// Since when it has thought; none as long as it is not ready.
    pub started: Option<Instant>,
    /// What it thinks so far.
    pub latest: Option<Choice>,
}

enum PlayerUpdate {
    Started(Instant),
    Info(Choice),
    Answer(PlayerAnswer),
}

/// A move that was chosen.
pub struct PlayerAnswer {
    /// The player, to be asked again; none if it could not be had.
    pub player: Option<Box<dyn Player>>,
    /// What it chose.
    pub choice: Result<Choice, PlayerError>,
    /// How long it thought.
    pub used: Duration,
}

impl PlayerThread {
    /// Has a player made ready, and asks it for a move. Its time runs from then on.
    pub fn new(
        make: impl FnOnce(&StopFlag) -> Result<Box<dyn Player>, PlayerError> + Send + 'static,
        session: Box<dyn Session>,
        clock: Clock,
    ) -> std::io::Result<PlayerThread> {
        let (say, heard) = channel();
        let stop = StopFlag::new();
        let raised = stop.clone();
        let work = move || {
            let made = make(&raised);
            let since = Instant::now();
            // Who stopped listening does not want to know.
            let _ = say.send(PlayerUpdate::Started(since));
            let mut tell = |choice| drop(say.send(PlayerUpdate::Info(choice)));
            let (player, choice) = match made {
                Err(error) => (None, Err(error)),
                Ok(mut player) => {
                    let choice = player.choose(session.as_ref(), &clock, &raised, &mut tell);
                    (Some(player), choice)
                }
            };
            let _ = say.send(PlayerUpdate::Answer(PlayerAnswer {
                player,
                choice,
                used: since.elapsed(),
            }));
        };
        // A plain search goes as deep as a line of moves is long.
        let builder = std::thread::Builder::new().name("thinking".into()).stack_size(16 << 20);
        let thread = builder.spawn(work)?;
        Ok(PlayerThread { updates: heard, stop, thread: Some(thread), started: None, latest: None })
    }

    /// What has been heard since; the choice if there is one. A thread that died without a word is
    /// an error.
    pub fn poll(&mut self) -> Result<Option<PlayerAnswer>, PlayerPanicked> {
        loop {
            match self.updates.try_recv() {
                Ok(PlayerUpdate::Started(since)) => self.started = Some(since),
                Ok(PlayerUpdate::Info(choice)) => self.latest = Some(choice),
                Ok(PlayerUpdate::Answer(chosen)) => return Ok(Some(chosen)),
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(PlayerPanicked),
            }
        }
    }

    /// Waits for the choice; none if `stop` is raised before there is one.
    pub fn wait(&mut self, stop: &StopFlag) -> Result<Option<PlayerAnswer>, PlayerPanicked> {
        loop {
            match self.updates.recv_timeout(POLL_INTERVAL) {
                Ok(PlayerUpdate::Started(since)) => self.started = Some(since),
                Ok(PlayerUpdate::Info(choice)) => self.latest = Some(choice),
                Ok(PlayerUpdate::Answer(chosen)) => return Ok(Some(chosen)),
                Err(RecvTimeoutError::Timeout) if stop.is_set() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(PlayerPanicked),
            }
        }
    }
}

/// The thread of a player ended without a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the computer player stopped without a move; this is a fault of the program")]
pub struct PlayerPanicked;

impl Drop for PlayerThread {
    /// A search ends within milliseconds of being told.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
