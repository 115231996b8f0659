//! The full-screen display of a tournament: `tournament watch`, and `tournament run` on a terminal.
//!
//! Everything comes from the journal, which another thread reads from time to time. So the display
//! is the same in another process, and no game ever waits for it.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_play::{StopFlag, new_session};
use crownhead_terminal::screen;
use crownhead_terminal::screen::tournament::{
    LiveGame, LiveResult, OnInterrupt, StandingsLine, TournamentScreen, TournamentView,
};
use crownhead_tournament::journal::{Game, Journal, JournalError, Snapshot};
use crownhead_tournament::runner::RunControl;

use super::run::interrupt;
use super::show::{progress_text, read_snapshot, state_text};
use super::{Watch, open};
use crate::failure::Failure;
use crate::output::{is_interactive, look};
use crate::signals::stop_on_interrupt;

/// Minimum time between two reads.
const READ_INTERVAL: Duration = Duration::from_millis(500);
/// Reading takes at most one part in this many of the time: a journal of many games is read less
/// often.
const READ_SHARE: u32 = 20;
/// How often the reader checks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of boards, results and faults.
const MAX_BOARDS: usize = 100;
const MAX_LINES: usize = 100;

pub(super) fn watch(args: &Watch) -> Result<(), Failure> {
    if !is_interactive() {
        let file = args.file.display();
        return Err(Failure::Usage(format!(
            "tournament watch needs a terminal; `crownhead tournament status {file}` prints the \
             progress once"
        )));
    }
    // Reports a missing or damaged journal before the screen opens.
    let (journal, snapshot) = read_snapshot(&args.file)?;
    view(&journal, &snapshot).map_err(super::journal_failure)?;
    drop(journal);
    let stop = stop_on_interrupt();
    let file = args.file.clone();
    let open = move || open(&file).map_err(drop);
    let screen = LiveScreen::start(open, None, &stop);
    let result = screen.thread.join();
    stop.set();
    let _ = screen.reader.join();
    match result {
        Ok(result) => Ok(result?),
        Err(_) => Err(anyhow::anyhow!("internal error: the screen panicked").into()),
    }
}

/// The screen and the thread that reads the journal for it.
pub(super) struct LiveScreen {
    thread: JoinHandle<io::Result<()>>,
    reader: JoinHandle<()>,
    stop: StopFlag,
}

impl LiveScreen {
    /// Opens the screen for a tournament that this process runs, if it has a terminal.
    pub(super) fn for_run(path: &Path, control: &RunControl) -> Option<LiveScreen> {
        let (path, control) = (path.to_path_buf(), control.clone());
        is_interactive().then(|| {
            let on_interrupt: OnInterrupt = Box::new(move || interrupt(&control).into());
            let open = move || Journal::open_reader(&path).map_err(drop);
            LiveScreen::start(open, Some(on_interrupt), &StopFlag::new())
        })
    }

    fn start(
        open: impl Fn() -> Result<Journal, ()> + Send + 'static,
        on_interrupt: Option<OnInterrupt>,
        stop: &StopFlag,
    ) -> LiveScreen {
        let (sender, updates) = channel();
        let reader_stop = stop.clone();
        let reader = std::thread::spawn(move || read_repeatedly(open, &sender, &reader_stop));
        let (screen_stop, look) = (stop.clone(), look());
        let thread = std::thread::spawn(move || {
            screen::run(&mut TournamentScreen::new(updates, on_interrupt, look), &screen_stop)
        });
        LiveScreen { thread, reader, stop: stop.clone() }
    }

    /// Whether the user has not closed the screen.
    pub(super) fn is_open(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Closes the screen and restores the terminal.
    pub(super) fn close(self) {
        self.stop.set();
        // The tournament does not depend on its display.
        let _ = (self.thread.join(), self.reader.join());
    }
}

/// Sends views until the screen is closed.
fn read_repeatedly(
    open: impl Fn() -> Result<Journal, ()>,
    sender: &Sender<TournamentView>,
    stop: &StopFlag,
) {
    while !stop.is_set() {
        let start = Instant::now();
        // The journal may be busy for a moment; the screen keeps showing the last view.
        let read = open().ok().and_then(|journal| {
            let snapshot = journal.snapshot().ok()?;
            view(&journal, &snapshot).ok()
        });
        if read.is_some_and(|view| sender.send(view).is_err()) {
            return;
        }
        let pause = READ_INTERVAL.max(start.elapsed() * READ_SHARE);
        let start = Instant::now();
        while start.elapsed() < pause && !stop.is_set() {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Returns what the screen shows.
fn view(journal: &Journal, snapshot: &Snapshot) -> Result<TournamentView, JournalError> {
    let names = snapshot.names();
    let corrupt = |reason: String| JournalError::Other { path: journal.path().into(), reason };
    let game: crownhead_rules::Game = snapshot
        .settings
        .game
        .parse()
        .map_err(|error: crownhead_rules::OptionsError| corrupt(error.to_string()))?;
    let is_running = |game: &&Game| game.summary.is_none() && game.started.is_some();
    let running = snapshot.games.iter().filter(is_running).take(MAX_BOARDS);
    let running = running.filter(|_| journal.is_running());
    let running = running.map(|row| live_game(journal, row, &names, &game));
    let mut finished: Vec<_> = snapshot.finished().collect();
    finished.sort_by_key(|(game, summary)| std::cmp::Reverse((summary.finished, game.number)));
    let results = finished.into_iter().take(MAX_LINES).map(|(game, summary)| LiveResult {
        number: game.number,
        names: game.players.map(|player| names[player].clone()),
        result: summary.result().into(),
        reason: summary.reason.clone(),
    });
    let faults = journal.latest_faults(MAX_LINES as u32)?;
    let faults = faults.into_iter().map(|(number, fault)| {
        let game = snapshot.games.iter().find(|game| game.number == number);
        let player = game.map(|game| names[game.players[fault.side]].as_str()).unwrap_or_default();
        format!("game {number}: {player}: {}", fault.description)
    });
    let standings = snapshot.standings();
    let rows = standings.rows.iter();
    let standings = rows.map(|row| StandingsLine {
        rank: row.rank.to_string(),
        player: names[row.player].clone(),
        points: row.points,
        games: [row.all.wins, row.all.draws, row.all.losses],
    });
    let schedule = snapshot.settings.schedule.code();
    Ok(TournamentView {
        title: format!("{}: {}, {schedule}", snapshot.name, snapshot.settings.game),
        progress: progress_text(snapshot, state_text(journal, snapshot)),
        standings: standings.collect(),
        running: running.collect::<Result<_, _>>()?,
        results: results.collect(),
        faults: faults.collect(),
        game,
    })
}

/// Replays a game in progress.
fn live_game(
    journal: &Journal,
    row: &Game,
    names: &[String],
    game: &crownhead_rules::Game,
) -> Result<LiveGame, JournalError> {
    let details = journal.game_details(row.number)?;
    let corrupt = |reason: String| JournalError::Other { path: journal.path().into(), reason };
    let start = details.opening.start.as_deref();
    let mut session = new_session(game, start).map_err(|error| corrupt(error.to_string()))?;
    let first = session.side();
    let opening_plies = details.opening.moves.len();
    let moves: Vec<String> = details.opening.moves.into_iter().chain(details.moves).collect();
    for text in &moves {
        session.replay(text).map_err(|error| corrupt(error.to_string()))?;
    }
    let mover = |ply: usize| if ply.is_multiple_of(2) { first } else { first.other() };
    let mut time = [Duration::ZERO; 2];
    for (report, ply) in details.reports.iter().zip(opening_plies..) {
        time[mover(ply).index()] += Duration::from_millis(report.milliseconds);
    }
    let score = details.reports.iter().enumerate().rev().filter_map(|(index, report)| {
        let side = game.info().sides[mover(opening_plies + index).index()].name;
        let depth = report.depth.map(|depth| format!(", depth {depth}")).unwrap_or_default();
        Some(format!("{side}: {:+.2}{depth}", f64::from(report.score?) / 100.0))
    });
    let score = score.take(2).collect::<Vec<_>>().join(" · ");
    let last = session.last_move();
    let (path, captures) = last.map(|mv| (mv.path, mv.captures)).unwrap_or_default();
    Ok(LiveGame {
        number: row.number,
        names: row.players.map(|player| names[player].clone()),
        board: session.board(),
        side: session.side(),
        first,
        path,
        captures,
        moves,
        time,
        score: (!score.is_empty()).then_some(score),
    })
}
