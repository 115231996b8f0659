//! The one thread that writes to the journal while games are played.
//!
//! What has come in within a moment is written and synchronised together: a thousand quick games a
//! second cost some dozens of commits, and nobody who plays waits for the disk. A finished game is told
//! only when it is safe. Moves of running games are written a few times a second.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, params};

use super::{Journal, JournalError, State, schema};

/// What is gathered before it is written.
const BATCH_WINDOW: Duration = Duration::from_millis(20);
/// How often moves of running games are written, and whether the tournament was cancelled is looked at.
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);
/// So many entries may wait; then those who play wait too.
const QUEUE_CAPACITY: usize = 4096;

/// A finished game with all there is to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinishedGame {
    /// The game's number.
    pub number: i64,
    /// When it was started and finished.
    pub times: [i64; 2],
    /// Who won: 0 or 1.
    pub winner: Option<usize>,
    /// A word for the reason.
    pub reason: String,
    /// A sentence.
    pub ending: String,
    /// Who lost by a fault: 0 or 1.
    pub forfeit: Option<usize>,
    /// The points of the game itself.
    pub score: Option<[i64; 2]>,
    /// How many faults each side made.
    pub faults: [u32; 2],
    /// The longest time each side took for a move.
    pub slowest: [Duration; 2],
    /// How many moves were made.
    pub plies: u32,
    /// The number of the walls around programs, if one played.
    pub walls: Option<i64>,
    /// The position it began from, the moves of the opening, the moves, their times.
    pub moves: GameText,
    /// What went wrong, the first of much.
    pub incidents: Vec<Fault>,
}

/// What went wrong in a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Whose fault: 0 or 1.
    pub side: usize,
    /// Plies before.
    pub ply: u32,
    /// A word.
    pub code: String,
    /// A sentence or two.
    pub sentence: String,
}

/// The moves of a game as the journal has them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GameText {
    /// The position it began from, if not the usual one.
    pub start: Option<String>,
    /// The moves of the opening.
    pub opening: String,
    /// The moves so far.
    pub moves: String,
    /// What each of them took.
    pub milliseconds: String,
}

/// A finished game that is safe, in short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brief {
    /// The game's number.
    pub number: i64,
    /// Who won: 0 or 1.
    pub winner: Option<usize>,
    /// A word for the reason.
    pub reason: String,
    /// A sentence.
    pub ending: String,
    /// Who lost by a fault.
    pub forfeit: Option<usize>,
    /// The points of the game itself.
    pub score: Option<[i64; 2]>,
    /// How many faults each side made.
    pub faults: [u32; 2],
    /// How many moves were made.
    pub plies: u32,
    /// How long it took.
    pub milliseconds: i64,
}

/// What the writer tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WriterEvent {
    /// A game has begun.
    Started(i64),
    /// A game is finished and safe.
    Finished(Brief),
    /// Somebody has cancelled the tournament.
    Cancelled,
    /// Nothing more can be written. What was not told to be safe is not.
    Failed(JournalError),
}

/// The game that one board is busy with, for the writer to look at.
#[derive(Default)]
pub struct GameInProgress {
    game: Option<i64>,
    text: GameText,
    is_new: bool,
}

impl GameInProgress {
    /// A game begins.
    pub fn begin(&mut self, game: i64, start: Option<String>, opening: &[String]) {
        self.game = Some(game);
        self.text = GameText { start, opening: opening.join(" "), ..GameText::default() };
        self.is_new = true;
    }

    /// A move was made.
    pub fn add(&mut self, text: &str, time: Duration) {
        use std::fmt::Write;
        let gap = if self.text.moves.is_empty() { "" } else { " " };
        self.text.moves.push_str(gap);
        self.text.moves.push_str(text);
        let _ = write!(self.text.milliseconds, "{gap}{}", time.as_millis());
        self.is_new = true;
    }

    /// The game is over, or will not be played on: its text.
    pub fn end(&mut self) -> GameText {
        (self.game, self.is_new) = (None, false);
        std::mem::take(&mut self.text)
    }
}

enum WriteCommand {
    Started(i64, i64),
    Finished(Box<FinishedGame>),
}

/// The thread that writes.
pub struct Writer {
    thread: JoinHandle<Journal>,
}

/// A way to the writer for one who plays.
#[derive(Clone)]
pub struct JournalHandle {
    sender: SyncSender<WriteCommand>,
    boards: Arc<Vec<Mutex<GameInProgress>>>,
}

fn locked(board: &Mutex<GameInProgress>) -> MutexGuard<'_, GameInProgress> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl JournalHandle {
    /// Says that a game has begun.
    pub fn started(&self, game: i64, at: i64) {
        // Whoever no longer listens has said why.
        let _ = self.sender.send(WriteCommand::Started(game, at));
    }

    /// Says that a game is finished.
    pub fn finished(&self, record: FinishedGame) {
        let _ = self.sender.send(WriteCommand::Finished(Box::new(record)));
    }

    /// The game that a board is busy with.
    pub fn board(&self, number: usize) -> MutexGuard<'_, GameInProgress> {
        locked(&self.boards[number])
    }
}

impl Writer {
    /// Takes a journal over, for so many boards, until nobody has a [`Pen`] any more. Notices go to
    /// `tell`.
    pub fn start(
        journal: Journal,
        boards: usize,
        tell: Sender<WriterEvent>,
    ) -> (Writer, JournalHandle) {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        let boards: Arc<Vec<_>> = Arc::new((0..boards).map(|_| Mutex::default()).collect());
        let watched = boards.clone();
        let thread = std::thread::spawn(move || {
            let mut journal = journal;
            run(&mut journal, &receiver, &watched, &tell);
            journal
        });
        (Writer { thread }, JournalHandle { sender, boards })
    }

    /// Gives the journal back when all is written; none if the thread came to grief.
    pub fn end(self) -> Option<Journal> {
        self.thread.join().ok()
    }
}

fn run(
    journal: &mut Journal,
    receiver: &Receiver<WriteCommand>,
    boards: &[Mutex<GameInProgress>],
    tell: &Sender<WriterEvent>,
) {
    let mut pulse = Instant::now();
    let mut is_cancelled = false;
    loop {
        let first = match receiver.recv_timeout(FLUSH_INTERVAL) {
            Ok(entry) => Some(entry),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let is_due = pulse.elapsed() >= FLUSH_INTERVAL;
        let mut entries: Vec<WriteCommand> = first.into_iter().collect();
        if !entries.is_empty() {
            // One sleep instead of a wake-up for every entry.
            std::thread::sleep(BATCH_WINDOW);
            entries.extend(receiver.try_iter());
        }
        // After the entries: a board whose game is among them has another by now.
        let texts = if is_due { running(boards) } else { Vec::new() };
        if is_due {
            pulse = Instant::now();
            if !is_cancelled && matches!(journal.state(), Ok(State::Cancelled)) {
                is_cancelled = true;
                let _ = tell.send(WriterEvent::Cancelled);
            }
        }
        if entries.is_empty() && texts.is_empty() {
            continue;
        }
        match write(&mut journal.connection, &entries, &texts) {
            Ok(notices) => {
                for notice in notices {
                    let _ = tell.send(notice);
                }
            }
            Err(error) => {
                let _ = tell.send(WriterEvent::Failed(JournalError::of(&journal.path, error)));
                // Those who play may go on sending until they hear of it.
                while receiver.recv().is_ok() {}
                return;
            }
        }
    }
}

/// The texts of games that have changed.
fn running(boards: &[Mutex<GameInProgress>]) -> Vec<(i64, GameText)> {
    let changed = |board: &Mutex<GameInProgress>| {
        let mut live = locked(board);
        let game = live.game.filter(|_| live.is_new)?;
        live.is_new = false;
        Some((game, live.text.clone()))
    };
    boards.iter().filter_map(changed).collect()
}

fn write(
    connection: &mut Connection,
    entries: &[WriteCommand],
    texts: &[(i64, GameText)],
) -> rusqlite::Result<Vec<WriterEvent>> {
    let mut notices = Vec::new();
    // The right to write comes first: one who reads and then wants to write may have to begin again.
    let all = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for entry in entries {
        match entry {
            WriteCommand::Started(game, at) => {
                let is_over = |other: &WriteCommand| matches!(other, WriteCommand::Finished(r) if r.number == *game);
                // What is over already need not be written as begun.
                if entries.len() > 64 || !entries.iter().any(is_over) {
                    all.prepare_cached(schema::START)?.execute(params![game, at])?;
                }
                notices.push(WriterEvent::Started(*game));
            }
            WriteCommand::Finished(record) => {
                if finish(&all, record)? {
                    notices.push(WriterEvent::Finished(record.brief()));
                }
            }
        }
    }
    for (game, text) in texts {
        write_moves(&all, *game, text)?;
    }
    all.commit()?;
    Ok(notices)
}

fn write_moves(all: &Connection, game: i64, text: &GameText) -> rusqlite::Result<()> {
    let GameText { start, opening, moves, milliseconds } = text;
    let mut statement = all.prepare_cached(schema::MOVES)?;
    statement.execute(params![game, start, opening, moves, milliseconds]).map(|_| ())
}

/// Writes a finished game; false if it was finished before.
fn finish(all: &Connection, record: &FinishedGame) -> rusqlite::Result<bool> {
    let side = |side: Option<usize>| side.map(|side| side as i64 + 1);
    let [started, finished] = record.times;
    let [first_slowest, second_slowest] = record.slowest.map(|time| time.as_millis() as i64);
    let changed = all.prepare_cached(schema::FINISH)?.execute(params![
        record.number,
        started,
        finished,
        side(record.winner).unwrap_or(0),
        record.reason,
        record.ending,
        side(record.forfeit),
        record.score.map(|score| score[0]),
        record.score.map(|score| score[1]),
        record.faults[0],
        record.faults[1],
        first_slowest,
        second_slowest,
        record.plies,
        record.walls,
    ])?;
    if changed == 0 {
        return Ok(false);
    }
    write_moves(all, record.number, &record.moves)?;
    for (fault, number) in record.incidents.iter().zip(1..) {
        all.prepare_cached(schema::FAULT)?.execute(params![
            record.number,
            number,
            fault.side as i64 + 1,
            fault.ply,
            fault.code,
            fault.sentence,
        ])?;
    }
    Ok(true)
}

impl FinishedGame {
    fn brief(&self) -> Brief {
        Brief {
            number: self.number,
            winner: self.winner,
            reason: self.reason.clone(),
            ending: self.ending.clone(),
            forfeit: self.forfeit,
            score: self.score,
            faults: self.faults,
            plies: self.plies,
            milliseconds: self.times[1] - self.times[0],
        }
    }
}
