//! The walls around bots, from inside and from outside: what a bot tries that it may not, as real
//! processes under the default walls. Nobody else is disturbed, and nothing is left.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test that cannot go on may stop, and says what it skips

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Knowledge, Openings, Stop, TimeControl};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The processes with a text in their command line.
fn processes(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!("{:?} {}", entry.file_name(), String::from_utf8_lossy(&line)))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Whether all walls are there; if not it is told what is not tested.
fn has_walls(test: &str) -> bool {
    let walls = IsolationStatus::detect(Isolation::Require);
    if let Err(why) = &walls {
        eprintln!("{test} is skipped: {why}");
    }
    walls.is_ok()
}

fn plan(bot: &str, other: &str, limits: &str) -> MatchConfig {
    let game: Game = "english".parse().unwrap();
    let mut players: [PlayerSpec; 2] = [bot.parse().unwrap(), other.parse().unwrap()];
    for program in players.iter_mut().filter_map(PlayerSpec::program_mut) {
        program.limits = limits.parse().unwrap();
    }
    MatchConfig {
        // So much that only what is tested can end a game.
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

fn played(plan: &MatchConfig) -> Vec<MatchGame> {
    let mut games = Vec::new();
    matches::play(plan, &Knowledge::default(), &Stop::new(), |game| games.push(game)).unwrap();
    assert_eq!(games.len(), 2);
    games
}

fn hostile(mode: &str) -> String {
    format!("cmd:python3 '{}' {mode}", bots().join("hostile.py").display())
}

/// A C program of the tests, made in a folder.
fn compiled(name: &str, folder: &Path) -> PathBuf {
    let file = folder.join(name);
    let source = bots().join(format!("{name}.c"));
    let status = Command::new("cc").arg("-o").arg(&file).arg(source).status().unwrap();
    assert!(status.success());
    file
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

/// Names a prober that is made already.
const PROBER: &str = "CROWNHEAD_TEST_PROBER";

/// The same test as an ordinary user, whom other parts of the kernel hold than root.
fn probe_as_nobody(prober: &Path) {
    const NOBODY: u32 = 65534;
    let folder = tempfile::tempdir().unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let [test, made] = ["test", "prober"].map(|name| folder.path().join(name));
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    std::fs::copy(prober, &made).unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
    let mut command = Command::new(test);
    command.args(["--exact", "nothing_gets_through_the_walls", "--nocapture"]);
    command.current_dir(folder.path()).env(PROBER, made).uid(NOBODY).gid(NOBODY);
    let output = command.output().unwrap();
    let told = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    if told.contains("is skipped") {
        eprintln!("as nobody: {told}");
    }
}

#[test]
fn nothing_gets_through_the_walls() {
    if !has_walls("the probe of the walls") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let prober = own.path().join("prober");
    match std::env::var_os(PROBER) {
        Some(made) => drop(std::fs::copy(made, &prober).unwrap()),
        None => drop(compiled("prober", own.path())),
    }
    if rustix::process::geteuid().is_root() {
        probe_as_nobody(&prober);
    }
    let neighbour = tempfile::tempdir().unwrap();
    let secret = neighbour.path().join("bot.py");
    std::fs::write(&secret, "a good idea").unwrap();
    let here = std::env::current_dir().unwrap().join("Cargo.toml");
    // A descriptor that any child would inherit.
    let leaked = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let arguments = [&secret, &here].map(|path| format!("@{}", path.display())).join("' '");
    let (referee, outside) = (std::process::id(), neighbour.path().display());
    let bot = format!("cmd:'{}' {referee} '{outside}' '{arguments}'", prober.display());
    for (text, is_folder) in [(bot.as_str(), false), (own.path().to_str().unwrap(), true)] {
        if is_folder {
            let command = bot.strip_prefix("cmd:").unwrap();
            std::fs::write(own.path().join("bot.toml"), format!("command = \"{command}\""))
                .unwrap();
        }
        for game in played(&plan(text, "random", "cores=1")) {
            assert!(
                game.played.description.contains("standard error: \"got through: nothing\""),
                "{}",
                game.played.description
            );
        }
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a good idea");
    let left: Vec<_> = std::fs::read_dir(neighbour.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    drop(leaked);
}

#[test]
fn a_bot_may_start_any_number_of_programs_one_after_the_other() {
    for game in played(&plan(&hostile("starts-many"), "random", "processes=16")) {
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
}

#[test]
fn a_bot_may_run_on_every_processor() {
    for game in played(&plan(&hostile("counts-processors"), "random", "cores=1")) {
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
}

#[test]
fn whoever_uses_too_much_is_stopped_with_the_reason() {
    for (mode, limits, code, sentence) in [
        ("fork-bomb", "processes=40", "limits", "more than 40 processes and threads"),
        ("allocates", "memory=100MB", "limits", "MB of memory: 100MB are allowed"),
        ("allocates-in-many", "memory=200MB", "limits", " processes: 200MB are allowed"),
        ("fills-the-disk", "disk=10MB", "crash", "No space left on device"),
    ] {
        if mode == "fills-the-disk" && !has_walls(mode) {
            continue;
        }
        let mark = format!("mark-{}-{mode}", std::process::id());
        let games = played(&plan(&hostile(&format!("{mode} {mark}")), "random", limits));
        for game in games {
            assert_eq!(game.summary().reason, code, "{mode}: {}", game.played.description);
            assert!(
                game.played.description.contains(sentence),
                "{mode}: {}",
                game.played.description
            );
        }
        assert_eq!(processes(&mark), Vec::<String>::new(), "{mode}: no process is left");
    }
}

#[test]
fn whoever_thinks_in_the_time_of_others_is_stopped_with_the_reason() {
    // The other one takes its time, and the bot burns it.
    let plan = plan(&hostile("burns"), "best:movetime=1s", "spare=200ms");
    for game in played(&plan) {
        assert_eq!(game.summary().reason, "limits", "{}", game.played.description);
        assert!(
            game.played.description.contains("s of processor time while its own turns lasted"),
            "{}",
            game.played.description
        );
    }
}

#[test]
fn whoever_kills_everybody_kills_nobody() {
    if !has_walls("killing others") {
        return;
    }
    let bystander = Bystander::new();
    let numbers = format!("{},{}", std::process::id(), bystander.0.id());
    let mut plan = plan(&hostile(&format!("kills {numbers}")), &hostile("fine"), "cores=1");
    plan.concurrency = 2;
    for game in played(&plan) {
        assert!(game.summary().forfeit.is_none(), "{}", game.played.description);
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
    }
    let state = std::fs::read_to_string(format!("/proc/{}/stat", bystander.0.id())).unwrap();
    assert!(!state.contains(") Z "), "{state}");
}

#[test]
fn a_build_writes_to_its_folder_and_nowhere_else() {
    if !has_walls("the walls around builds") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("written").display().to_string();
    let build = |script: &str| {
        let text = format!("command = \"./bot\"\nbuild = [\"sh\", \"-c\", \"{script}\"]\n");
        std::fs::write(own.path().join("bot.toml"), text).unwrap();
        let mut failure = None;
        let plan = plan(own.path().to_str().unwrap(), "random", "cores=1");
        if let Err(error) = matches::play(&plan, &Knowledge::default(), &Stop::new(), |_| ()) {
            failure = Some(error.to_string());
        }
        failure.unwrap_or_default()
    };
    let failure = build(&format!("echo x > '{path}'"));
    assert!(failure.contains("failed with exit code"), "{failure}");
    assert!(!Path::new(&path).exists());
    build("echo x > made");
    assert_eq!(std::fs::read_to_string(own.path().join("made")).unwrap(), "x\n");
}
