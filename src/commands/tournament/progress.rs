//! What is told while a tournament runs: one object for each event, or a bar on a terminal, or one line
//! for each game.

use std::io::Write;

use crownhead_tournament::events::{Event, result};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::games_text;
use crate::commands::{can_draw, say};

pub(super) struct Progress {
    is_json: bool,
    bar: Option<ProgressBar>,
    names: Vec<String>,
    planned: Option<u64>,
    finished: u64,
}

impl Progress {
    pub(super) fn new(is_json: bool) -> Progress {
        let can_draw = !is_json && can_draw(&std::io::stderr());
        let bar =
            can_draw.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        Progress { is_json, bar, names: Vec::new(), planned: None, finished: 0 }
    }

    pub(super) fn show(&mut self, event: &Event) {
        match event {
            Event::RunStarted { players, planned, finished, walls, .. } => {
                self.names.clone_from(players);
                (self.planned, self.finished) = (*planned, *finished);
                if let Some(walls) = walls {
                    say(format_args!("isolation: {walls}"));
                }
                self.begin();
            }
            Event::Round { planned, .. } => {
                self.planned = *planned;
                if let (Some(bar), Some(planned)) = (&self.bar, planned) {
                    bar.set_length(*planned);
                }
            }
            Event::GameFinished(..) => self.finished += 1,
            _ => {}
        }
        if self.is_json {
            // The tournament goes on if nobody listens.
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", event.json(&self.names)).and_then(|()| out.flush());
            return;
        }
        match event {
            Event::GameFinished(game, brief) => {
                let [first, second] = &game.names;
                let score = brief.score.map(|[first, second]| format!(" {first}:{second}"));
                let line = format!(
                    "{first} - {second}  {}{}  {}",
                    result(brief.winner),
                    score.unwrap_or_default(),
                    brief.reason
                );
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(self.finished);
                        bar.set_message(line);
                    }
                    None => {
                        let planned = self.planned.map(|planned| format!("/{planned}"));
                        let planned = planned.unwrap_or_default();
                        let forfeit = match brief.forfeit {
                            Some(side) => format!("  forfeited by {}", game.names[side]),
                            None => String::new(),
                        };
                        say(format_args!(
                            "{}{planned}  game {}, round {}: {line}{forfeit}",
                            self.finished, game.number, game.round
                        ));
                    }
                }
            }
            Event::Round { number, title, games, byes, .. } if self.bar.is_none() && *games > 0 => {
                let byes: Vec<_> = byes.iter().filter_map(|p| self.names.get(*p)).collect();
                let rest = match byes.as_slice() {
                    [] => String::new(),
                    byes => {
                        let names: Vec<_> = byes.iter().map(|name| name.as_str()).collect();
                        format!(", without an opponent: {}", names.join(", "))
                    }
                };
                let plain = format!("round {number}");
                let title = if *title == plain { plain } else { format!("{plain}, {title}") };
                say(format_args!("{title}: {}{rest}", games_text(*games as usize)));
            }
            _ => {}
        }
    }

    fn begin(&mut self) {
        let Some(bar) = &self.bar else { return };
        let template = match self.planned {
            Some(planned) => {
                bar.set_length(planned);
                "{pos}/{len} games [{bar:16}] {elapsed}{left}  {wide_msg}"
            }
            None => "{pos} games {elapsed}  {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            // Nothing is known before a game of this run has ended.
            let before = self.finished;
            let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                if state.pos() > before {
                    let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
                }
            };
            bar.set_style(style.with_key("left", left).progress_chars("=> "));
        }
        // What was finished before took no time in this run.
        bar.set_position(self.finished);
        bar.reset_eta();
        bar.enable_steady_tick(std::time::Duration::from_millis(500));
    }

    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
