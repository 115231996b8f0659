//! The Landlock ruleset: files and ports that a program may use.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
};

use super::plan::{Confinement, OwnPaths};
use super::{paths, syscalls};

/// Newest ABI version that this code knows about.
const MAX_ABI: ABI = ABI::V9;

/// Version of the kernel's Landlock ABI; 0 without Landlock.
pub(super) fn abi() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(syscalls::landlock_abi)
}

/// All access rights that the kernel supports, for rules that are added later.
pub(super) fn all_access() -> u64 {
    let abi = match abi() {
        0 => return 0,
        1 => ABI::V1,
        2 => ABI::V2,
        3 | 4 => ABI::V3,
        _ => ABI::V5,
    };
    AccessFs::from_all(abi).bits()
}

/// The right to read files and list directories.
pub(super) fn read_access() -> u64 {
    AccessFs::ReadFile as u64 | AccessFs::ReadDir as u64
}

/// Creates the ruleset of a program; `None` if the kernel enforces nothing. The scratch directory
/// and `/proc` are added by the new process, which creates them.
pub(super) fn ruleset(
    confinement: &Confinement,
    own_paths: &OwnPaths,
    runtime_dirs: impl IntoIterator<Item = PathBuf>,
) -> Result<Option<OwnedFd>, String> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute: BitFlags<AccessFs> = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let write = AccessFs::from_all(MAX_ABI) & !BitFlags::from(AccessFs::ResolveUnix);
    let resolver = if confinement.port.is_some() { paths::RESOLVER } else { &[] };
    let proc_facts = if confinement.has_namespaces { &[] } else { paths::PROC_FACTS };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MAX_ABI))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(MAX_ABI)))
        .and_then(|rules| rules.scope(Scope::from_all(MAX_ABI)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::EXECUTABLE, execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::READABLE, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(proc_facts, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(resolver, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::DEVICES, device)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::runtimes(), execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(runtime_dirs, execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&own_paths.readable, execute)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&own_paths.writable, write)))
        .and_then(|rules| match confinement.port {
            Some(port) => rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp)),
            None => Ok(rules),
        });
    let ruleset = ruleset.map_err(|error| format!("cannot create a Landlock ruleset: {error}"))?;
    Ok(Option::<OwnedFd>::from(ruleset))
}
