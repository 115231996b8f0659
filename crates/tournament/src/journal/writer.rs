//! The writer thread: the only one that writes to the journal while games are played.
//!
//! Commands that arrive within [`BATCH_WINDOW`] share a transaction, so a thousand short games per
//! second cost a few dozen commits and no game waits for the disk. A finished game is reported
//! only after its commit. Moves of running games are written every [`FLUSH_INTERVAL`].

use std::fmt::{Display, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_play::Opening;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{Journal, JournalError, State, player_number, schema};
use crate::job::{FinishedGame, MoveReport};
use crate::schedule::PlayerIndex;

/// How long commands are collected before they are written together.
const BATCH_WINDOW: Duration = Duration::from_millis(20);
/// How often moves of running games are written and cancellation is checked.
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum number of waiting commands. Beyond it, players wait for the disk.
const QUEUE_CAPACITY: usize = 4096;

/// The moves of a game as the journal stores them, separated by spaces.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct GameText {
    start: Option<String>,
    opening: String,
    moves: String,
    milliseconds: String,
    /// `-` for moves without a clock or a report.
    clocks: String,
    scores: String,
    depths: String,
}

impl GameText {
    fn new(opening: &Opening) -> GameText {
        GameText {
            start: opening.start.clone(),
            opening: opening.moves.join(" "),
            ..GameText::default()
        }
    }

    /// The text of a finished game.
    fn finished(game: &FinishedGame) -> GameText {
        let mut text = GameText::new(&game.opening);
        for (move_text, &report) in game.moves.iter().zip(&game.reports) {
            text.add_move(move_text, report);
        }
        text
    }

    fn add_move(&mut self, text: &str, report: MoveReport) {
        fn add(list: &mut String, value: Option<impl Display>) {
            list.push_str(if list.is_empty() { "" } else { " " });
            // Writing to a string cannot fail.
            let _ = match value {
                Some(value) => write!(list, "{value}"),
                None => write!(list, "-"),
            };
        }
        add(&mut self.moves, Some(text));
        add(&mut self.milliseconds, Some(report.milliseconds));
        add(&mut self.clocks, report.clock);
        add(&mut self.scores, report.score);
        add(&mut self.depths, report.depth);
    }
}

/// Events reported by the writer.
#[derive(Clone, PartialEq, Debug)]
pub enum WriterEvent {
    /// A game has started.
    Started(i64),
    /// A finished game is safely stored.
    Finished(i64, Box<FinishedGame>),
    /// The tournament was cancelled by another process.
    Cancelled,
    /// Writing failed. Games that were not reported as finished are lost.
    Failed(JournalError),
}

/// The game running in one slot, shared with the writer.
#[derive(Default)]
pub struct GameInProgress {
    game: Option<i64>,
    text: GameText,
    has_changed: bool,
}

impl GameInProgress {
    /// Starts a game.
    pub fn start(&mut self, game: i64, opening: &Opening) {
        self.game = Some(game);
        self.text = GameText::new(opening);
        self.has_changed = true;
    }

    /// Adds a move.
    pub fn add_move(&mut self, text: &str, report: MoveReport) {
        self.text.add_move(text, report);
        self.has_changed = true;
    }

    /// Ends the game, with or without a result.
    pub fn end(&mut self) {
        *self = GameInProgress::default();
    }
}

enum WriteCommand {
    Built { player: PlayerIndex, files: String },
    Start { number: i64, started: i64 },
    Finish { number: i64, isolation: Option<i64>, game: Box<FinishedGame> },
}

/// The writer thread.
pub struct Writer {
    thread: JoinHandle<Journal>,
}

/// Sends commands to the writer.
#[derive(Clone)]
pub struct JournalHandle {
    sender: SyncSender<WriteCommand>,
    slots: Arc<Vec<Mutex<GameInProgress>>>,
}

fn lock(slot: &Mutex<GameInProgress>) -> MutexGuard<'_, GameInProgress> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl JournalHandle {
    /// Records the start of a game.
    pub fn started(&self, number: i64, started: i64) {
        // A writer that is gone has reported why.
        let _ = self.sender.send(WriteCommand::Start { number, started });
    }

    /// Records the files of a player after its build.
    pub fn built(&self, player: PlayerIndex, files: String) {
        let _ = self.sender.send(WriteCommand::Built { player, files });
    }

    /// Records a finished game and the number of its isolation.
    pub fn finished(&self, number: i64, isolation: Option<i64>, game: Box<FinishedGame>) {
        let _ = self.sender.send(WriteCommand::Finish { number, isolation, game });
    }

    /// Returns the game running in a slot.
    pub fn slot(&self, slot: usize) -> MutexGuard<'_, GameInProgress> {
        lock(&self.slots[slot])
    }
}

impl Writer {
    /// Starts the writer. It owns the journal until every [`JournalHandle`] is dropped.
    pub fn start(
        journal: Journal,
        slots: usize,
        events: Sender<WriterEvent>,
    ) -> (Writer, JournalHandle) {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        let slots: Arc<Vec<_>> = Arc::new((0..slots).map(|_| Mutex::default()).collect());
        let writer_slots = slots.clone();
        let thread = std::thread::spawn(move || {
            let mut journal = journal;
            run(&mut journal, &receiver, &writer_slots, &events);
            journal
        });
        (Writer { thread }, JournalHandle { sender, slots })
    }

    /// Waits for all writes and returns the journal; `None` if the writer panicked.
    pub fn finish(self) -> Option<Journal> {
        self.thread.join().ok()
    }
}

fn run(
    journal: &mut Journal,
    receiver: &Receiver<WriteCommand>,
    slots: &[Mutex<GameInProgress>],
    events: &Sender<WriterEvent>,
) {
    let mut last_flush = Instant::now();
    let mut is_cancelled = false;
    loop {
        let first = match receiver.recv_timeout(FLUSH_INTERVAL) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let is_flush_due = last_flush.elapsed() >= FLUSH_INTERVAL;
        let mut commands: Vec<WriteCommand> = first.into_iter().collect();
        if !commands.is_empty() {
            // One sleep instead of one wake-up per command.
            std::thread::sleep(BATCH_WINDOW);
            commands.extend(receiver.try_iter());
        }
        // Read after the commands: a slot whose game is among them runs another one by now.
        let texts = if is_flush_due { changed_texts(slots) } else { Vec::new() };
        if is_flush_due {
            last_flush = Instant::now();
            if !is_cancelled && matches!(journal.state(), Ok(State::Cancelled)) {
                is_cancelled = true;
                let _ = events.send(WriterEvent::Cancelled);
            }
        }
        if commands.is_empty() && texts.is_empty() {
            continue;
        }
        let written = write(&mut journal.connection, commands, &texts)
            .map_err(|error| JournalError::from_sqlite(&journal.path, error))
            // SQLite does not notice that the file has lost its name.
            .and_then(|written| journal.check_name().map(|()| written));
        match written {
            Ok(written) => {
                for event in written {
                    let _ = events.send(event);
                }
            }
            Err(error) => {
                let _ = events.send(WriterEvent::Failed(error));
                // Drain the queue until the senders learn of the failure.
                while receiver.recv().is_ok() {}
                return;
            }
        }
    }
}

/// Returns the games in progress that have changed since the last call.
fn changed_texts(slots: &[Mutex<GameInProgress>]) -> Vec<(i64, GameText)> {
    let changed = |slot: &Mutex<GameInProgress>| {
        let mut running = lock(slot);
        let game = running.game.filter(|_| running.has_changed)?;
        running.has_changed = false;
        Some((game, running.text.clone()))
    };
    slots.iter().filter_map(changed).collect()
}

/// Executes the commands in one transaction and returns the events to report.
fn write(
    connection: &mut Connection,
    commands: Vec<WriteCommand>,
    texts: &[(i64, GameText)],
) -> rusqlite::Result<Vec<WriterEvent>> {
    // Take the write lock first: upgrading a read transaction may fail.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut is_new = Vec::with_capacity(commands.len());
    for command in &commands {
        is_new.push(match command {
            WriteCommand::Start { number, started } => {
                let finishes = |other: &WriteCommand| match other {
                    WriteCommand::Finish { number: finished, .. } => finished == number,
                    _ => false,
                };
                // Finishing a game records its start, too.
                if commands.len() > 64 || !commands.iter().any(finishes) {
                    let mut statement = transaction.prepare_cached(schema::START_GAME)?;
                    statement.execute(params![number, started])?;
                }
                true
            }
            WriteCommand::Built { player, files } => {
                let sql = "UPDATE players SET files = ?2 WHERE number = ?1";
                transaction.execute(sql, params![player_number(*player), files])?;
                true
            }
            WriteCommand::Finish { number, isolation, game } => {
                finish_game(&transaction, *number, *isolation, game)?
            }
        });
    }
    for (game, text) in texts {
        store_moves(&transaction, *game, text)?;
    }
    transaction.commit()?;
    let new_commands = commands.into_iter().zip(is_new).filter(|(_, is_new)| *is_new);
    let event = |(command, _)| match command {
        WriteCommand::Start { number, .. } => Some(WriterEvent::Started(number)),
        WriteCommand::Built { .. } => None,
        WriteCommand::Finish { number, game, .. } => Some(WriterEvent::Finished(number, game)),
    };
    Ok(new_commands.filter_map(event).collect())
}

fn store_moves(connection: &Connection, game: i64, text: &GameText) -> rusqlite::Result<()> {
    let GameText { start, opening, moves, milliseconds, clocks, scores, depths } = text;
    let mut statement = connection.prepare_cached(schema::STORE_MOVES)?;
    let values = params![game, start, opening, moves, milliseconds, clocks, scores, depths];
    statement.execute(values).map(|_| ())
}

/// Stores a finished game; returns `false` if it already was.
fn finish_game(
    connection: &Connection,
    number: i64,
    isolation: Option<i64>,
    game: &FinishedGame,
) -> rusqlite::Result<bool> {
    let summary = &game.summary;
    let side = |side: Option<usize>| side.map(|side| side as i64 + 1);
    let [first_slowest, second_slowest] = game.slowest_move.map(|time| time.as_millis() as i64);
    let changed = connection.prepare_cached(schema::FINISH_GAME)?.execute(params![
        number,
        summary.finished - summary.milliseconds,
        summary.finished,
        side(summary.winner).unwrap_or(0),
        summary.reason,
        game.description,
        side(summary.forfeit),
        summary.score.map(|score| score[0]),
        summary.score.map(|score| score[1]),
        summary.faults[0],
        summary.faults[1],
        first_slowest,
        second_slowest,
        summary.plies,
        isolation,
    ])?;
    if changed == 0 {
        return Ok(false);
    }
    store_moves(connection, number, &GameText::finished(game))?;
    if let Some(replayed) = &game.replaces {
        void_replayed(connection, number, isolation, replayed)?;
    }
    for absence in &game.absences {
        connection.prepare_cached(schema::STORE_ABSENCE)?.execute(params![
            number,
            absence.ply,
            absence.side as i64 + 1,
            absence.milliseconds as i64,
        ])?;
    }
    for (incident, index) in game.incidents.iter().zip(1..) {
        connection.prepare_cached(schema::STORE_FAULT)?.execute(params![
            number,
            index,
            incident.side as i64 + 1,
            incident.ply,
            incident.code,
            incident.description,
        ])?;
    }
    Ok(true)
}

/// Stores a game that was replayed because the referee was away while a bot was late.
fn void_replayed(
    connection: &Connection,
    number: i64,
    isolation: Option<i64>,
    game: &FinishedGame,
) -> rusqlite::Result<()> {
    let away: u64 = game.absences.iter().map(|absence| absence.milliseconds).sum();
    let summary = &game.summary;
    connection.prepare_cached(schema::VOID_REPLAYED)?.execute(params![
        number,
        summary.finished - summary.milliseconds,
        summary.finished,
        summary.winner.map_or(0, |side| side as i64 + 1),
        summary.reason,
        game.description,
        GameText::finished(game).moves,
        isolation,
        format!("crownhead was stopped or starved for {away} ms while a bot was late"),
    ])?;
    Ok(())
}
