//! Which mechanisms this machine offers, and how to get those that are missing.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::cgroup::{self, Cgroup};
use super::launch::{self, LaunchError};
use super::plan::{Confinement, LaunchPlan, OwnPaths};
use super::syscalls::LaunchStep;
use super::users::BotUser;
use super::{landlock, on_spawner_thread, paths, users};
use crate::{Isolation, Limits, Mechanism, SpawnRequest};

/// Port for probing, in an otherwise empty network.
const PROBE_PORT: u16 = 1024;

/// The mechanisms of Linux, and whether this machine offers them.
pub(crate) fn mechanisms() -> Vec<Mechanism> {
    let landlock = match landlock::abi() {
        0 => Err("the kernel has no Landlock, or it is disabled (enable it with lsm=landlock,…)"
            .to_string()),
        version @ 1..=5 => Ok(format!("version {version}, which does not restrict signals")),
        version => Ok(format!("version {version}")),
    };
    let seccomp = match has_seccomp() {
        true => Ok(String::new()),
        false => Err("the kernel has no seccomp filters".to_string()),
    };
    let cgroups = match cgroup::parent_cgroup() {
        Ok(parent) => Ok(format!("in {}", parent.display())),
        Err(reason) => Err(reason.clone()),
    };
    vec![
        Mechanism::new("namespaces", namespaces().clone().map(|()| String::new())),
        Mechanism::new("landlock", landlock),
        Mechanism::new("seccomp", seccomp),
        Mechanism { is_optional: true, ..Mechanism::new("cgroups", cgroups) },
    ]
}

pub(super) fn has_seccomp() -> bool {
    Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

/// Whether programs can be started in namespaces, or why not. Tried once.
pub(super) fn namespaces() -> &'static Result<(), String> {
    static RESULT: OnceLock<Result<(), String>> = OnceLock::new();
    RESULT.get_or_init(|| probe_namespaces(None, None))
}

/// The ids that programs get as users of their own, or why they cannot. Tried once.
pub(crate) fn bot_users() -> &'static Result<RangeInclusive<u32>, String> {
    static RESULT: OnceLock<Result<RangeInclusive<u32>, String>> = OnceLock::new();
    RESULT.get_or_init(|| {
        let range = users::id_range().clone()?;
        namespaces().clone()?;
        let user = BotUser::new()?;
        probe(None, None, Some(&user)).map(|()| range)
    })
}

/// Whether a program whose files are in `folder` gets a user of its own, or why not.
pub(crate) fn bot_user_in(folder: &Path) -> Result<(), String> {
    bot_users().clone()?;
    let user = BotUser::new()?;
    users::open_tree(folder, Some(&user), false).map(drop).map_err(|error| {
        format!("the file system of {} has no idmapped mounts: {error}", folder.display())
    })
}

/// Whether programs can also have a network of their own. Tried once.
pub(crate) fn has_network() -> bool {
    static RESULT: OnceLock<bool> = OnceLock::new();
    *RESULT.get_or_init(|| namespaces().is_ok() && probe_namespaces(Some(PROBE_PORT), None).is_ok())
}

/// Sets up namespaces for a process that exits instead of executing a program.
pub(super) fn probe_namespaces(
    port: Option<u16>,
    cgroup: Option<Arc<Cgroup>>,
) -> Result<(), String> {
    probe(port, cgroup, None)
}

fn probe(
    port: Option<u16>,
    cgroup: Option<Arc<Cgroup>>,
    user: Option<&BotUser>,
) -> Result<(), String> {
    let confinement = Confinement { has_namespaces: true, is_build: false, port: None };
    let request = SpawnRequest {
        program: Path::new(""),
        argv: &[],
        folder: Path::new("/"),
        owns_folder: false,
        extra_paths: &[],
        is_build: false,
        build_output: None,
        isolation: Isolation::Default,
        limits: Limits::default(),
        ponder: false,
        port: None,
    };
    let scratch_dir = Path::new(paths::SCRATCH_DIR);
    let plan =
        LaunchPlan::new(&request, confinement, None, &OwnPaths::default(), scratch_dir, user)
            .map_err(|error| error.to_string())?;
    let plan = LaunchPlan { port, cgroup, ..plan };
    match on_spawner_thread(move || launch::launch(&plan)) {
        Ok(Err(error)) if error.step == LaunchStep::Exited => Ok(()),
        Ok(Err(error)) => Err(with_advice(&error)),
        Ok(Ok(_)) => Err("the probe did not exit".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Describes why namespaces are unavailable, and what to do about it.
fn with_advice(error: &LaunchError) -> String {
    let advice = match error.step {
        LaunchStep::Namespaces | LaunchStep::IdMaps | LaunchStep::Mounts => {
            "; unprivileged user namespaces may be disabled: check \
             /proc/sys/user/max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns, or the settings of the container"
        }
        _ => "",
    };
    format!("{error}{advice}")
}
