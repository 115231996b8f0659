//! Ctrl-C, SIGTERM and SIGHUP. If a handler cannot be installed, the signal ends the program.

use crownhead_play::StopFlag;

/// Returns a flag that every Ctrl-C, SIGTERM and SIGHUP sets.
pub fn stop_on_signals() -> StopFlag {
    let stop = StopFlag::new();
    let flag = stop.clone();
    let _ = ctrlc::set_handler(move || flag.set());
    stop
}

/// Returns a flag that the first signal sets. The second kills all bots and exits.
pub fn stop_on_interrupt() -> StopFlag {
    let stop = StopFlag::new();
    let flag = stop.clone();
    let _ = ctrlc::set_handler(move || {
        if flag.is_set() {
            crownhead_sandbox::reaper::kill_all();
            std::process::exit(130);
        }
        flag.set();
    });
    stop
}
