//! Isolation of bots, from inside and outside: real processes with default isolation try what they
//! may not. Nobody else is disturbed, and nothing is left behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a failed step fails the test

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_test_support::{SKIPPED_FILE, compile_c_bot, skip};
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Processes with `mark` in their command line.
fn processes(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!("{:?} {}", entry.file_name(), String::from_utf8_lossy(&line)))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Whether all mechanisms are available; if not, the test is reported as skipped.
fn is_isolated(test: &str) -> bool {
    let status = IsolationStatus::detect(Isolation::Require);
    if let Err(reason) = &status {
        skip(test, reason);
    }
    status.is_ok()
}

fn config(bot: &str, opponent: &str, limits: &str) -> MatchConfig {
    let game: Game = "english".parse().unwrap();
    let mut players: [PlayerSpec; 2] = [bot.parse().unwrap(), opponent.parse().unwrap()];
    for program in players.iter_mut().filter_map(PlayerSpec::program_mut) {
        program.limits = limits.parse().unwrap();
    }
    MatchConfig {
        // Enough time that only the limits can end a game early.
        settings: GameSettings {
            time_control: TimeControl::PerMove(Duration::from_secs(60)),
            ..GameSettings::default_for(&game)
        },
        game,
        players,
        pairs: 1,
        openings: Openings::Random(2),
        seed: 7,
        concurrency: 1,
        log: None,
    }
}

fn play(config: &MatchConfig) -> Vec<MatchGame> {
    let mut games = Vec::new();
    matches::play(config, &Knowledge::default(), &StopFlag::new(), |game| games.push(game))
        .unwrap();
    assert_eq!(games.len(), 2);
    games
}

fn hostile(mode: &str) -> String {
    format!("cmd:python3 '{}' {mode}", fixtures().join("hostile.py").display())
}

/// A process that has nothing to do with any bot.
struct Bystander(Child);

impl Bystander {
    fn new() -> Bystander {
        Bystander(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Environment variable with the path of a compiled prober.
const PROBER: &str = "CROWNHEAD_TEST_PROBER";

/// Runs the same test as an ordinary user, who is restricted by other parts of the kernel than
/// root.
fn probe_as_nobody(prober: &Path) {
    const NOBODY: u32 = 65534;
    let dir = tempfile::tempdir().unwrap();
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path(), readable).unwrap();
    let [test, copy] = ["test", "prober"].map(|name| dir.path().join(name));
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    std::fs::copy(prober, &copy).unwrap();
    std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
    let mut command = Command::new(test);
    command.args(["--exact", "prober_is_denied_everything", "--nocapture"]);
    command.current_dir(dir.path()).env(PROBER, copy).uid(NOBODY).gid(NOBODY);
    // This user may not write to that file.
    command.env_remove(SKIPPED_FILE);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    if let Some(line) = text.lines().find(|line| line.starts_with("SKIPPED: ")) {
        skip("prober_is_denied_everything as nobody", line.trim_start_matches("SKIPPED: "));
    }
}

#[test]
fn prober_is_denied_everything() {
    if !is_isolated("prober_is_denied_everything") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let prober = match std::env::var_os(PROBER) {
        Some(compiled) => {
            let prober = own.path().join("prober");
            std::fs::copy(compiled, &prober).unwrap();
            prober
        }
        None => compile_c_bot(&fixtures().join("prober.c"), own.path()),
    };
    if rustix::process::geteuid().is_root() {
        probe_as_nobody(&prober);
    }
    let neighbour = tempfile::tempdir().unwrap();
    let secret = neighbour.path().join("bot.py");
    std::fs::write(&secret, "a good idea").unwrap();
    let manifest = std::env::current_dir().unwrap().join("Cargo.toml");
    // A descriptor that an ordinary child would inherit.
    let leaked = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let arguments = [&secret, &manifest].map(|path| format!("@{}", path.display())).join("' '");
    let (referee, outside) = (std::process::id(), neighbour.path().display());
    let command = format!("'{}' {referee} '{outside}' '{arguments}'", prober.display());
    // Once as a command and once as a folder.
    std::fs::write(own.path().join("bot.toml"), format!("command = \"{command}\"")).unwrap();
    for bot in [format!("cmd:{command}").as_str(), own.path().to_str().unwrap()] {
        for game in play(&config(bot, "random", "cores=1")) {
            let description = game.played.description;
            assert!(description.contains("\"allowed: nothing\""), "{description}");
        }
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a good idea");
    let files: Vec<_> = std::fs::read_dir(neighbour.path()).unwrap().flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    drop(leaked);
}

#[test]
fn bot_may_start_any_number_of_programs_one_after_another() {
    for game in play(&config(&hostile("starts-many"), "random", "processes=16")) {
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
}

#[test]
fn bot_may_run_on_every_cpu() {
    for game in play(&config(&hostile("counts-processors"), "random", "cores=1")) {
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
}

#[test]
fn bot_that_exceeds_a_limit_is_killed_with_the_reason() {
    for (mode, limits, code, reason) in [
        ("fork-bomb", "processes=40", "limits", "the limit of 40 processes and threads"),
        ("allocates", "memory=100MB", "limits", "MB of memory; the limit is 100MB"),
        ("allocates-in-many", "memory=200MB", "limits", " processes; the limit is 200MB"),
        ("fills-the-disk", "disk=10MB", "crash", "No space left on device"),
    ] {
        if mode == "fills-the-disk"
            && !is_isolated("bot_that_exceeds_a_limit_is_killed_with_the_reason, fills-the-disk")
        {
            continue;
        }
        let mark = format!("mark-{}-{mode}", std::process::id());
        let games = play(&config(&hostile(&format!("{mode} {mark}")), "random", limits));
        for game in games {
            let description = &game.played.description;
            assert_eq!(game.summary().reason, code, "{mode}: {description}");
            assert!(description.contains(reason), "{mode}: {description}");
        }
        assert_eq!(processes(&mark), Vec::<String>::new(), "{mode}: no process is left");
    }
}

#[test]
fn bot_that_ponders_is_killed_with_the_reason() {
    // The opponent thinks for a second per move, and the bot uses that time.
    let config = config(&hostile("burns"), "best:movetime=1s", "cpu-slack=200ms");
    for game in play(&config) {
        let description = &game.played.description;
        assert_eq!(game.summary().reason, "limits", "{description}");
        assert!(description.contains("s of CPU time while its own turns lasted"), "{description}");
    }
}

#[test]
fn bot_cannot_kill_other_processes() {
    if !is_isolated("bot_cannot_kill_other_processes") {
        return;
    }
    let bystander = Bystander::new();
    let pids = format!("{},{}", std::process::id(), bystander.0.id());
    let mut config = config(&hostile(&format!("kills {pids}")), &hostile("fine"), "cores=1");
    config.concurrency = 2;
    for game in play(&config) {
        assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
    let state = std::fs::read_to_string(format!("/proc/{}/stat", bystander.0.id())).unwrap();
    assert!(!state.contains(") Z "), "{state}");
}

#[test]
fn build_writes_to_its_folder_and_nowhere_else() {
    if !is_isolated("build_writes_to_its_folder_and_nowhere_else") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("written").display().to_string();
    let build = |script: &str| {
        let text = format!("command = \"./bot\"\nbuild = [\"sh\", \"-c\", \"{script}\"]\n");
        std::fs::write(own.path().join("bot.toml"), text).unwrap();
        let config = config(own.path().to_str().unwrap(), "random", "cores=1");
        let result = matches::play(&config, &Knowledge::default(), &StopFlag::new(), |_| ());
        result.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let failure = build(&format!("echo x > '{path}'"));
    assert!(failure.contains("failed with exit code"), "{failure}");
    assert!(!Path::new(&path).exists());
    build("echo x > made");
    assert_eq!(std::fs::read_to_string(own.path().join("made")).unwrap(), "x\n");
}
