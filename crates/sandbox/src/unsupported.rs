//! Where no walls are known: programs are started as any program starts another.

use std::sync::Arc;
use std::time::Duration;

use super::Layer;

/// What keeps a running program's things: nothing.
pub(super) struct Kept;

impl Kept {
    pub(super) fn end(&mut self) -> Option<i32> {
        None
    }

    pub(super) fn has_keeper(&self) -> bool {
        false
    }

    pub(super) fn group(&self) -> Option<Arc<Group>> {
        None
    }
}

/// A control group: there are none.
pub enum Group {}

impl Group {
    pub(super) fn time(&self) -> Option<Duration> {
        match *self {}
    }

    pub(super) fn stopped(&self) -> Option<String> {
        match *self {}
    }
}

pub(super) fn layers() -> Vec<Layer> {
    let missing = || Err("there is none on this system".into());
    ["namespaces", "landlock", "seccomp"].map(|code| Layer::new(code, missing())).into()
}

pub(super) const fn has_network() -> bool {
    false
}

/// A process group of its own.
pub(super) fn set_apart(command: &mut std::process::Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

pub(super) use super::bare as start;
