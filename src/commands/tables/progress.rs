//! Progress of a build or a verification, with the time left.

use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crownhead_tables::registry::TableInfo;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::{LiveDisplay, supports_ansi};

/// A progress bar on an ANSI terminal, and a line from time to time elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    log: Option<Mutex<LiveDisplay>>,
    /// When the work started, and the entries that were known then.
    start: Arc<OnceLock<(Instant, u64)>>,
}

impl Progress {
    pub(super) fn new(info: &TableInfo) -> Progress {
        let is_ansi = supports_ansi(&std::io::stderr());
        let target =
            if is_ansi { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        // No colours, so NO_COLOR needs no check.
        let template = format!(
            "{{wide_bar}} {{percent:>3}} %  {{human_pos}} {}, {{elapsed}}{{left}}",
            info.entry_name
        );
        let start = Arc::new(OnceLock::new());
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let start = Arc::clone(&start);
            let left = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&left_text(&start, state.pos(), state.len().unwrap_or(0)));
            };
            bar.set_style(style.with_key("left", left));
        }
        let log = (!is_ansi).then(|| Mutex::new(LiveDisplay::new()));
        Progress { bar, log, start }
    }

    /// Shows that `done` of `total` entries are known. Any thread may call it.
    pub(super) fn set(&self, done: u64, total: u64) {
        self.start.get_or_init(|| (Instant::now(), done));
        self.bar.set_length(total);
        self.bar.set_position(done);
        // While another thread prints, this one has nothing to add.
        if let Some(mut log) = self.log.as_ref().and_then(|log| log.try_lock().ok()) {
            let percent = 100 * done / total.max(1);
            log.show(|| vec![format!("{percent} %{}", left_text(&self.start, done, total))]);
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn left_text(start: &OnceLock<(Instant, u64)>, done: u64, total: u64) -> String {
    let left = start.get().and_then(|(start, before)| {
        time_left(start.elapsed(), done.saturating_sub(*before), total.saturating_sub(done))
    });
    left.map_or(String::new(), |left| format!(", {} left", HumanDuration(left)))
}

/// Estimates the time for `remaining` entries from that of all entries so far. An estimate from the
/// latest ones, as progress bars make it, grows without limit while one of them takes long.
fn time_left(elapsed: Duration, done: u64, remaining: u64) -> Option<Duration> {
    // Without any entry done the quotient is infinite, and there is no estimate.
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * remaining as f64 / done as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_that_takes_long_does_not_make_the_time_left_grow_without_limit() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(minute, 0, 100), None);
        assert_eq!(time_left(minute, 25, 75), Some(3 * minute));
        assert_eq!(time_left(10 * minute, 25, 75), Some(30 * minute));
        assert_eq!(time_left(minute, 100, 0), Some(Duration::ZERO));
    }
}
