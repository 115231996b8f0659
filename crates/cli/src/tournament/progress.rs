//! Progress of a run: JSON events, the full screen on a terminal and a progress bar after it was
//! closed, or one line per game.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crownhead_report::faults::{FaultReport, ReportedGame};
use crownhead_rules::Game;
use crownhead_tournament::events::{Event, GameRef};
use crownhead_tournament::{FinishedGame, Tournament};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::games_text;
use super::live::LiveScreen;
use crate::output::{eprint_message, supports_ansi};

pub(super) struct Progress {
    is_json: bool,
    /// The full screen, until the user closes it.
    screen: Option<LiveScreen>,
    bar: Option<ProgressBar>,
    names: Vec<String>,
    planned: Option<u64>,
    finished: u64,
    game: Game,
    /// Folder of the logs.
    log: Option<PathBuf>,
    pub(super) faults: FaultReport,
}

/// Returns a progress bar, if it is wanted and standard error is a terminal.
fn new_bar(is_hidden: bool) -> Option<ProgressBar> {
    let has_bar = !is_hidden && supports_ansi(&std::io::stderr());
    has_bar.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()))
}

impl Progress {
    pub(super) fn new(
        tournament: &Tournament,
        is_json: bool,
        screen: Option<LiveScreen>,
    ) -> Progress {
        let bar = new_bar(is_json || screen.is_some());
        Progress {
            is_json,
            screen,
            bar,
            names: Vec::new(),
            planned: None,
            finished: 0,
            game: tournament.game.clone(),
            log: tournament.log.clone(),
            faults: FaultReport::default(),
        }
    }

    pub(super) fn on_event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { players, planned, finished, isolation, .. } => {
                self.names.clone_from(players);
                (self.planned, self.finished) = (*planned, *finished);
                if let Some(isolation) = isolation.as_ref().filter(|_| self.screen.is_none()) {
                    eprint_message(format_args!("isolation: {isolation}"));
                }
                self.start_bar();
            }
            Event::Round { planned, .. } => {
                self.planned = *planned;
                if let (Some(bar), Some(planned)) = (&self.bar, planned) {
                    bar.set_length(*planned);
                }
            }
            Event::GameFinished(game, played) => {
                self.finished += 1;
                self.faults.add(&ReportedGame {
                    game: &self.game,
                    number: game.number,
                    played,
                    names: game.names.each_ref().map(String::as_str),
                    log: self.log.as_deref(),
                    shows_player: true,
                });
            }
            _ => {}
        }
        if self.is_json {
            // The tournament continues even if the reader is gone.
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", event.json(&self.names)).and_then(|()| out.flush());
            return;
        }
        match self.screen.take() {
            Some(screen) if screen.is_open() => {
                self.screen = Some(screen);
                return;
            }
            Some(screen) => {
                screen.close();
                self.bar = new_bar(false);
                self.start_bar();
            }
            None => {}
        }
        match event {
            Event::GameFinished(game, finished) => self.show_game(game, finished),
            Event::Round { number, title, games, byes, .. } if self.bar.is_none() && *games > 0 => {
                let names = byes.iter().filter_map(|player| self.names.get(*player));
                let names: Vec<_> = names.map(String::as_str).collect();
                let byes = match names.as_slice() {
                    [] => String::new(),
                    names => format!(", bye: {}", names.join(", ")),
                };
                let plain = format!("round {number}");
                let title = if *title == plain { plain } else { format!("{plain}, {title}") };
                eprint_message(format_args!("{title}: {}{byes}", games_text(*games as usize)));
            }
            _ => {}
        }
    }

    fn show_game(&self, game: &GameRef, finished: &FinishedGame) {
        if finished.replaces.is_some() {
            self.print(format_args!(
                "game {} was replayed: crownhead was stopped or starved while a bot was late",
                game.number
            ));
        }
        let summary = &finished.summary;
        let [first, second] = &game.names;
        let score = summary.score.map(|[first, second]| format!(" {first}:{second}"));
        let score = score.unwrap_or_default();
        let line = format!("{first} - {second}  {}{score}  {}", summary.result(), summary.reason);
        let Some(bar) = &self.bar else {
            let planned = self.planned.map(|planned| format!("/{planned}")).unwrap_or_default();
            let forfeit = match summary.forfeit {
                Some(side) => format!("  forfeited by {}", game.names[side]),
                None => String::new(),
            };
            eprint_message(format_args!(
                "{}{planned}  game {}, round {}: {line}{forfeit}",
                self.finished, game.number, game.round
            ));
            return;
        };
        bar.set_position(self.finished);
        bar.set_message(line);
    }

    /// Prints a line above the bar.
    fn print(&self, line: std::fmt::Arguments<'_>) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprint_message(line)),
            None => eprint_message(line),
        }
    }

    fn start_bar(&mut self) {
        let Some(bar) = &self.bar else { return };
        let template = match self.planned {
            Some(planned) => {
                bar.set_length(planned);
                "{pos}/{len} games [{bar:16}] {elapsed}{left}  {wide_msg}"
            }
            None => "{pos} games {elapsed}  {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            // There is no estimate before the first game of this run has ended.
            let finished_before = self.finished;
            let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                if state.pos() > finished_before {
                    let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
                }
            };
            bar.set_style(style.with_key("left", left).progress_chars("=> "));
        }
        // Games of earlier runs must not count for the estimate.
        bar.set_position(self.finished);
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(500));
    }

    pub(super) fn finish(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.close();
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
