//! Isolation of bots, from inside and outside: real processes with default isolation try what they
//! may not. Nobody else is disturbed, and nothing is left behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a failed step fails the test

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_bots::attack::{ATTACKS, Verdict};
use crownhead_play::{GameSettings, Knowledge, Openings, StopFlag, TimeControl};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, IsolationStatus, bot_users};
use crownhead_test_support::{SKIPPED_FILE, compile_c_bot, skip};
use crownhead_tournament::matches::{self, MatchConfig, MatchGame};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
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

/// Environment variable with the path of a compiled prober.
const PROBER: &str = "CROWNHEAD_TEST_PROBER";

/// Runs a test as an ordinary user, who is restricted by other parts of the kernel than root.
fn run_as_nobody(name: &str, prober: Option<&Path>) {
    const NOBODY: u32 = 65534;
    let dir = tempfile::tempdir().unwrap();
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path(), readable).unwrap();
    let [test, copy] = ["test", "prober"].map(|name| dir.path().join(name));
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
    let mut command = Command::new(test);
    command.args(["--exact", name, "--nocapture"]);
    command.current_dir(dir.path()).uid(NOBODY).gid(NOBODY);
    if let Some(prober) = prober {
        std::fs::copy(prober, &copy).unwrap();
        command.env(PROBER, copy);
    }
    // This user may not write to that file, and has no home.
    command.env_remove(SKIPPED_FILE).env("HOME", "/nonexistent");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    for line in text.lines().filter_map(|line| line.strip_prefix("SKIPPED: ")) {
        skip(&format!("{name} as nobody"), line);
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
        run_as_nobody("prober_is_denied_everything", Some(&prober));
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
    let own_oom_score = || std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
    let before = own_oom_score();
    // Once as a command and once as a folder.
    std::fs::write(own.path().join("bot.toml"), format!("command = \"{command}\"")).unwrap();
    for bot in [format!("cmd:{command}").as_str(), own.path().to_str().unwrap()] {
        for game in play(&config(bot, "random", "cores=1")) {
            let description = game.played.description;
            assert!(description.contains("\"allowed: nothing\""), "{description}");
        }
    }
    assert_eq!(own_oom_score(), before, "only bots are preferred victims");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a good idea");
    let files: Vec<_> = std::fs::read_dir(neighbour.path()).unwrap().flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    drop(leaked);
}

/// User and group of the processes with `mark` in their command line, as root sees them.
fn owners(mark: &str) -> BTreeSet<(u32, u32)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let marked = entries.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    });
    let owner = |file: std::fs::Metadata| (file.uid(), file.gid());
    marked.filter_map(|entry| entry.metadata().ok().map(owner)).collect()
}

#[test]
fn each_bot_of_root_has_a_user_of_its_own_and_private_folders_work() {
    let test = "each_bot_of_root_has_a_user_of_its_own_and_private_folders_work";
    let ids = match bot_users() {
        Ok(ids) => ids,
        Err(reason) => return skip(test, reason),
    };
    const STUDENT: u32 = 54_321;
    let mark = format!("mark-{}-users", std::process::id());
    let [first, second] = ["one", "two"].map(|name| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(fixtures().join("hostile.py"), folder.path().join("bot.py")).unwrap();
        let text = format!(
            "command = \"python3 bot.py fine {mark} {name}\"\n\
             build = [\"sh\", \"-c\", \"cat bot.py > made\"]\n"
        );
        std::fs::write(folder.path().join("bot.toml"), text).unwrap();
        for file in [folder.path().to_path_buf(), folder.path().join("bot.py")] {
            std::os::unix::fs::chown(&file, Some(STUDENT), Some(STUDENT)).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        folder
    });
    let name = |folder: &tempfile::TempDir| folder.path().to_str().unwrap().to_string();
    let config = config(&name(&first), &name(&second), "cores=1");
    let mut seen = BTreeSet::new();
    matches::play(&config, &Knowledge::default(), &StopFlag::new(), |game| {
        assert_eq!(game.faults(), [0, 0], "{}", game.played.description);
        seen = owners(&mark);
    })
    .unwrap();
    assert_eq!(seen.len(), 2, "two bots, two users: {seen:?}");
    assert!(seen.iter().all(|(uid, gid)| ids.contains(uid) && uid == gid), "{seen:?}");
    let made = first.path().join("made").metadata().unwrap();
    assert_eq!((made.uid(), made.gid()), (STUDENT, STUDENT), "builds write for the owner");
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
fn every_attack_is_contained() {
    let test = "every_attack_is_contained";
    if !is_isolated(test) {
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    let as_nobody = is_root.then(|| std::thread::spawn(move || run_as_nobody(test, None)));
    let mut failures = Vec::new();
    for attack in &ATTACKS {
        match attack.run() {
            Ok(Verdict::Contained) => {}
            Ok(Verdict::NotContained(what)) => failures.push(format!("{}: {what}", attack.name)),
            Err(reason) => skip(&format!("{test}, {}", attack.name), reason),
        }
    }
    assert_eq!(failures, Vec::<String>::new());
    as_nobody.map(std::thread::JoinHandle::join).transpose().unwrap();
}

#[test]
fn bot_that_burns_cpu_time_after_its_answer_does_not_run_until_its_next_turn() {
    // The opponent thinks for 300 ms per move. The bot notices when it is thawed.
    let ran_between_turns = |isolation: Isolation| {
        let mut config =
            config(&hostile("burns-between-turns"), "best:movetime=300ms", "cpu-slack=5s");
        config.players[0].program_mut().unwrap().isolation = isolation;
        let games = play(&config).into_iter();
        games.map(|game| game.played.description).filter(|text| text.contains("between its turns"))
    };
    assert_eq!(ran_between_turns(Isolation::Default).next(), None);
    // Without isolation nothing is frozen: this shows that the bot does run if it can.
    assert_ne!(ran_between_turns(Isolation::Off).next(), None);
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

#[test]
fn bots_in_many_languages_play_without_a_fault() {
    let kits = Path::new(env!("CARGO_MANIFEST_DIR")).join("kits");
    let languages = fixtures().join("languages");
    // Those with a manifest here are not starter kits.
    for (language, tool, source, manifest) in [
        ("c", "cc", kits.join("c"), ""),
        ("cpp", "c++", kits.join("cpp"), ""),
        ("java", "javac", kits.join("java"), ""),
        ("javascript", "node", kits.join("javascript"), ""),
        ("python", "python3", kits.join("python"), ""),
        ("rust", "rustc", kits.join("rust"), ""),
        ("pypy", "pypy3", kits.join("python"), "command = \"pypy3 bot.py\""),
        ("ruby", "ruby", languages.clone(), "command = \"ruby bot.rb\""),
        ("go", "go", languages.clone(), "command = \"./bot\"\nbuild = \"go build -o bot bot.go\""),
        ("c#", "mono", languages, "command = \"mono Bot.exe\"\nbuild = \"mcs Bot.cs\""),
    ] {
        if Command::new(tool).arg("--version").output().is_err() {
            skip("bots_in_many_languages_play_without_a_fault", format!("no {tool}"));
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(source).unwrap().flatten() {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        if !manifest.is_empty() {
            std::fs::write(folder.path().join("bot.toml"), manifest).unwrap();
        }
        for game in play(&config(folder.path().to_str().unwrap(), "random", "cores=1")) {
            assert_eq!(game.faults(), [0, 0], "{language}: {}", game.played.description);
        }
    }
}
