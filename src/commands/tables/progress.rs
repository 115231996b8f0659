//! Progress of a build or a verification, with the time left.

use std::sync::Mutex;

use crownhead_tables::registry::TableInfo;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{LiveDisplay, supports_ansi};

/// A progress bar on an ANSI terminal, and a line from time to time elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    log: Option<Mutex<LiveDisplay>>,
}

impl Progress {
    pub(super) fn new(info: &TableInfo) -> Progress {
        let is_ansi = supports_ansi(&std::io::stderr());
        let target =
            if is_ansi { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        // No colours, so NO_COLOR needs no check.
        let template = format!(
            "{{wide_bar}} {{percent:>3}} %  {{human_pos}} {}, {{elapsed}}, {{eta}} left",
            info.entry_name
        );
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        let log = (!is_ansi).then(|| Mutex::new(LiveDisplay::new()));
        Progress { bar, log }
    }

    /// Shows that `done` of `total` entries are known. Any thread may call it.
    pub(super) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        // A thread that finds another one here has nothing to add.
        if let Some(mut log) = self.log.as_ref().and_then(|log| log.try_lock().ok()) {
            let percent = 100 * done / total.max(1);
            log.show(|| vec![format!("{percent} %, {} left", HumanDuration(self.bar.eta()))]);
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
