//! The files and ports that a program may use, as a Landlock ruleset.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
};

use super::{Own, Wall, launch, paths};

/// The newest version that was looked at when this was written.
const KNOWN: ABI = ABI::V9;

/// The version of Landlock that the kernel has; 0 for none.
pub(super) fn version() -> u32 {
    static VERSION: OnceLock<u32> = OnceLock::new();
    *VERSION.get_or_init(launch::landlock_version)
}

/// The rights that the kernel knows, for rules that are added later.
pub(super) fn all_rights() -> u64 {
    let known = match version() {
        0 => return 0,
        1 => ABI::V1,
        2 => ABI::V2,
        3 | 4 => ABI::V3,
        _ => ABI::V5,
    };
    AccessFs::from_all(known).bits()
}

/// The rights of one who only reads.
pub(super) fn read_rights() -> u64 {
    AccessFs::ReadFile as u64 | AccessFs::ReadDir as u64
}

/// The ruleset of a program. Its scratch folder is added where it is made.
pub(super) fn ruleset(
    wall: &Wall,
    own: &Own,
    homes: impl IntoIterator<Item = PathBuf>,
) -> Result<Option<OwnedFd>, String> {
    let told = |error: landlock::RulesetError| format!("no Landlock rules: {error}");
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let run: BitFlags<AccessFs> = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let write = AccessFs::from_all(KNOWN) & !BitFlags::from(AccessFs::ResolveUnix);
    let names = if wall.port.is_some() { paths::NAMES } else { &[] };
    let facts = if wall.has_namespaces { &[] } else { paths::FACTS };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(KNOWN)))
        .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::RUN, run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::READ, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(facts, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(names, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::DEVICES, device)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(paths::runtimes(), run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(homes, run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&own.read, run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&own.written, write)))
        .and_then(|rules| match wall.port {
            Some(port) => rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp)),
            None => Ok(rules),
        });
    Ok(Option::<OwnedFd>::from(ruleset.map_err(told)?))
}
