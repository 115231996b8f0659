//! Runs programs that may be hostile. Knows nothing about games.
//!
//! [`spawn()`] starts a program with every isolation mechanism that the machine offers: namespaces,
//! Landlock, seccomp, resource limits and control groups. [`Isolation`] is what the user asks for,
//! [`IsolationStatus`] what the machine provides, and [`Limits`] how much a program may use. A
//! monitor thread samples each running program and kills those that exceed a limit; [`UsageMeter`]
//! reports why. A [`heartbeat`] thread freezes programs that run between their turns, and notices
//! when this process itself was stopped or starved. [`reaper`] kills what would otherwise outlive
//! its program or this process.
//!
//! Programs can be started on Unix only, and are isolated on Linux only (x86-64 and ARM64). On
//! other Unix systems they run with the user's rights. Elsewhere the crate has the settings but no
//! [`spawn()`].

#[cfg(unix)]
pub mod affinity;
#[cfg(unix)]
mod cpu_budget;
mod disk_watch;
#[cfg(unix)]
pub mod heartbeat;
mod isolation;
mod limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
#[cfg(unix)]
mod monitor;
#[cfg(unix)]
pub mod procfs;
#[cfg(unix)]
pub mod reaper;
mod scratch;
#[cfg(unix)]
mod spawn;
mod text;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod unsupported;
#[cfg(unix)]
mod usage;

pub use self::disk_watch::DiskWatch;
pub use self::isolation::{
    Isolation, IsolationStatus, Mechanism, bot_user_in, bot_users, has_network,
};
pub use self::limits::Limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::linux as platform;
#[cfg(unix)]
pub use self::monitor::UsageMeter;
pub use self::scratch::ScratchDir;
#[cfg(unix)]
pub use self::spawn::{Child, SpawnRequest, spawn};
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
use self::unsupported as platform;

/// Stands in for the reaper where no program can be started.
#[cfg(not(unix))]
pub mod reaper {
    /// Does nothing: there are no programs to kill.
    pub fn kill_all() {}
}
