//! Systems without isolation: programs run with the user's rights.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::OnceLock;

use crate::Mechanism;

pub(crate) fn mechanisms() -> Vec<Mechanism> {
    let missing = || Err("not supported on this system".into());
    ["namespaces", "landlock", "seccomp"].map(|code| Mechanism::new(code, missing())).into()
}

pub(crate) fn bot_users() -> &'static Result<RangeInclusive<u32>, String> {
    static RESULT: OnceLock<Result<RangeInclusive<u32>, String>> = OnceLock::new();
    RESULT.get_or_init(|| Err("not supported on this system".into()))
}

pub(crate) fn bot_user_in(_folder: &Path) -> Result<(), String> {
    bot_users().clone().map(drop)
}

pub(crate) const fn has_network() -> bool {
    false
}

#[cfg(unix)]
pub(crate) use self::unix::{Cgroup, ChildGuard, new_session};
#[cfg(unix)]
pub(crate) use crate::spawn::spawn_unconfined as spawn;

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;
    use std::sync::Arc;
    use std::time::Duration;

    /// Resources that live as long as a program: there are none.
    pub(crate) enum ChildGuard {}

    impl ChildGuard {
        pub(crate) fn exit_status(&mut self) -> Option<i32> {
            match *self {}
        }

        pub(crate) fn has_init(&self) -> bool {
            match *self {}
        }

        pub(crate) fn scratch_dir(&self) -> Option<&Path> {
            match *self {}
        }

        pub(crate) fn cgroup(&self) -> Option<Arc<Cgroup>> {
            match *self {}
        }
    }

    /// A control group: there are none.
    pub(crate) enum Cgroup {}

    impl Cgroup {
        pub(crate) fn cpu_time(&self) -> Option<Duration> {
            match *self {}
        }

        pub(crate) fn kill_reason(&self) -> Option<String> {
            match *self {}
        }
    }

    /// Gives a command a process group of its own. (A session would need `unsafe`.)
    pub(crate) fn new_session(command: &mut Command) {
        command.process_group(0);
    }
}
