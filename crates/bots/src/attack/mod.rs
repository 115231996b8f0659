//! A set of attacks on this machine's sandbox, for `crownhead doctor --attack` and for the tests.
//!
//! Each attack is a real bot that plays a game and tries something that no bot may do. The attack
//! is contained if it achieves nothing and leaves no process behind.

mod builds;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crownhead_play::referee::{PlayedGame, play_game};
use crownhead_play::{
    GameSettings, GameSetup, Knowledge, Opening, Player, PlayerError, StopFlag, TimeControl,
};
use crownhead_rules::{Game, is_invisible};
use crownhead_sandbox::{Limits, ScratchDir};

use crate::{BotProgram, PlayerSpec};

/// A bot that misbehaves as its first argument says.
const HOSTILE: &str = include_str!("../../tests/fixtures/hostile.py");
/// A bot that tries every forbidden system call.
const PROBER: &str = include_str!("../../tests/fixtures/prober.c");
/// Time per move: enough that only the sandbox ends a game early.
const MOVE_TIME: Duration = Duration::from_secs(60);
/// Time per move of an opponent whose time is attacked.
const OPPONENT_TIME: &str = "best:movetime=300ms";
/// Number of plies after which it is clear whether the opponent's time was used.
const OPPONENT_PLIES: usize = 6;
/// Maximum size of a log, whatever the bot prints.
const MAX_LOG_BYTES: u64 = 8 << 20;

/// An attack.
#[derive(Clone, Copy)]
pub struct Attack {
    /// Stable name.
    pub name: &'static str,
    /// Description of what the bot tries.
    pub description: &'static str,
    run: fn() -> Result<Verdict, String>,
}

/// Result of an attack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The bot achieved nothing.
    Contained,
    /// The bot achieved this.
    NotContained(String),
}

/// All attacks.
pub const ATTACKS: [Attack; 20] = [
    Attack {
        name: "forbidden-calls",
        description: "reads secrets, opens sockets, takes leases, leaves its session, and more",
        run: forbidden_calls,
    },
    Attack {
        name: "fork-bomb",
        description: "starts processes without end",
        run: || killed_by_limit("fork-bomb", "processes=40", "40 processes"),
    },
    Attack {
        name: "memory",
        description: "allocates memory without end",
        run: || killed_by_limit("allocates", "memory=100MB", "MB of memory"),
    },
    Attack {
        name: "memory-in-children",
        description: "allocates memory in many processes",
        run: || killed_by_limit("allocates-in-many", "memory=200MB", "MB of memory"),
    },
    Attack {
        name: "memory-in-sockets",
        description: "makes the kernel hold data in sockets",
        run: || killed_by_limit("fills-sockets", "memory=100MB", "memory"),
    },
    Attack {
        name: "memory-in-mappings",
        description: "makes the kernel describe many mappings",
        run: || killed_by_limit("fills-mappings", "memory=100MB", "memory"),
    },
    Attack {
        name: "hidden-memory",
        description: "hides a process behind a name that is not UTF-8, and allocates memory",
        run: || killed_by_limit("hides-its-name-and-allocates", "memory=100MB", "MB of memory"),
    },
    Attack {
        name: "page-tables",
        description: "makes the kernel allocate page tables",
        run: || killed_by_limit("fills-page-tables", "memory=100MB", "memory"),
    },
    Attack { name: "disk", description: "writes files without end", run: fill_disk },
    Attack {
        name: "hidden-cpu-time",
        description: "works on several cores in short-lived processes",
        run: || killed_by_limit("hides-cpu-time", "cpu-slack=500ms", "CPU time"),
    },
    Attack {
        name: "opponents-time",
        description: "keeps working while its opponent thinks",
        run: || use_opponents_time("burns-between-turns"),
    },
    Attack {
        name: "opponents-time-in-children",
        description: "has 50 processes work while its opponent thinks",
        run: || use_opponents_time("children-burn-between-turns"),
    },
    Attack {
        name: "hidden-opponents-time",
        description: "keeps working under a name that is not UTF-8",
        run: || use_opponents_time("hides-its-name-and-burns-between-turns"),
    },
    Attack { name: "kill", description: "kills other processes of the user", run: kill_others },
    Attack { name: "daemon", description: "leaves a process behind", run: leave_daemon },
    Attack { name: "log", description: "fills the disk through its log", run: flood_log },
    Attack {
        name: "invisible-text",
        description: "reorders the text of reports with invisible characters",
        run: reorder_text,
    },
    Attack {
        name: "build-disk",
        description: "fills the disk while it is built",
        run: builds::fill_disk,
    },
    Attack {
        name: "build-hidden-disk",
        description: "fills a directory that cannot be listed while it is built",
        run: builds::fill_hidden_disk,
    },
    Attack {
        name: "build-outside",
        description: "writes outside of its folder while it is built",
        run: builds::write_outside,
    },
];

impl Attack {
    /// Runs the attack.
    ///
    /// # Errors
    /// Returns why it cannot be run on this machine.
    pub fn run(&self) -> Result<Verdict, String> {
        (self.run)()
    }
}

/// Folder of an attacker.
struct Attacker {
    folder: ScratchDir,
    /// Text that marks its processes.
    mark: String,
}

impl Attacker {
    fn new() -> Result<Attacker, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("attack-{}-{number}", std::process::id());
        let folder = ScratchDir::new().map_err(|error| error.to_string())?;
        Ok(Attacker { folder, mark })
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.path().join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// The hostile bot in one of its modes.
    fn hostile(mode: &str) -> Result<(Attacker, BotProgram), String> {
        needs("python3")?;
        let attacker = Attacker::new()?;
        attacker.write("hostile.py", HOSTILE)?;
        let manifest = format!("command = \"python3 hostile.py {mode} {}\"", attacker.mark);
        let program = attacker.program(&manifest)?;
        Ok((attacker, program))
    }

    fn program(&self, manifest: &str) -> Result<BotProgram, String> {
        self.write("bot.toml", manifest)?;
        let folder = self.folder.path().to_string_lossy();
        BotProgram::from_folder(&folder).map_err(|error| error.to_string())
    }

    /// Returns the number of its processes that are still running.
    fn processes(&self) -> usize {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&self.mark)).count()
    }
}

/// Fails if a program is not installed.
fn needs(program: &str) -> Result<(), String> {
    let found = Command::new(program).arg("--version").output();
    found.map(drop).map_err(|error| format!("needs {program}: {error}"))
}

/// Plays one game of an attacker against `opponent`; `None` if it was stopped after `max_plies`.
fn play(
    program: BotProgram,
    opponent: &str,
    max_plies: usize,
    log: Option<PathBuf>,
) -> Result<Option<PlayedGame>, String> {
    let failed = |error: PlayerError| error.to_string();
    let game = Game::default();
    let settings = GameSettings {
        time_control: TimeControl::PerMove(MOVE_TIME),
        ..GameSettings::default_for(&game)
    };
    let knowledge = Knowledge::default();
    let opponent: PlayerSpec = opponent.parse().map_err(|_| "no opponent")?;
    let mut opponent = opponent.player(&game, &knowledge).map_err(failed)?;
    let attacker = PlayerSpec::Bot(Box::new(program));
    let mut attacker = attacker.player(&game, &knowledge).map_err(failed)?;
    let setup = GameSetup {
        game: &game,
        settings: &settings,
        knowledge: &knowledge,
        opening: &Opening::default(),
        names: ["attacker", "opponent"],
        seeds: [7, 8],
        referee_seed: 9,
        logs: [log, None],
    };
    let (stop, mut plies) = (StopFlag::new(), 0);
    let players: [&mut dyn Player; 2] = [attacker.as_mut(), opponent.as_mut()];
    let played = play_game(&setup, players, &stop, &mut |_| {
        plies += 1;
        if plies == max_plies {
            stop.set();
        }
    });
    played.map_err(failed)
}

/// Plays a game of the hostile bot and passes the description of its end to `verdict`; an empty one
/// if the game was stopped after `max_plies`. If a process is left, the attack is not contained.
fn judge(
    mode: &str,
    limits: &str,
    opponent: &str,
    max_plies: usize,
    verdict: impl FnOnce(&str) -> Verdict,
) -> Result<Verdict, String> {
    let (attacker, mut program) = Attacker::hostile(mode)?;
    program.limits = limits.parse::<Limits>()?;
    let played = play(program, opponent, max_plies, None)?;
    let verdict = verdict(played.as_ref().map_or("", |game| &game.description));
    Ok(match attacker.processes() {
        0 => verdict,
        count => Verdict::NotContained(format!("{count} processes are left")),
    })
}

fn killed_by_limit(mode: &str, limits: &str, reason: &str) -> Result<Verdict, String> {
    judge(mode, limits, "random", usize::MAX, |ending| match ending {
        ending if ending.starts_with("limits") && ending.contains(reason) => Verdict::Contained,
        ending => Verdict::NotContained(ending.into()),
    })
}

fn fill_disk() -> Result<Verdict, String> {
    judge("fills-the-disk", "disk=10MB", "random", usize::MAX, |ending| {
        // The kernel refuses it in namespaces, elsewhere the bot is stopped.
        match ending.contains("No space left on device") || ending.contains("it wrote ") {
            true => Verdict::Contained,
            false => Verdict::NotContained(ending.into()),
        }
    })
}

fn use_opponents_time(mode: &str) -> Result<Verdict, String> {
    judge(mode, "cpu-slack=5s", OPPONENT_TIME, OPPONENT_PLIES, |ending| {
        match ending.contains("ran all the time between its turns") {
            false => Verdict::Contained,
            true => Verdict::NotContained("it ran while its opponent was thinking".into()),
        }
    })
}

fn forbidden_calls() -> Result<Verdict, String> {
    needs("cc")?;
    let attacker = Attacker::new()?;
    let source = attacker.write("prober.c", PROBER)?;
    let prober = attacker.folder.path().join("prober");
    let compiled = Command::new("cc").arg("-O2").arg("-o").arg(&prober).arg(source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("cannot compile the attack".into());
    }
    let neighbour = Attacker::new()?;
    let secret = neighbour.write("secret", "a good idea")?;
    let (referee, outside) = (std::process::id(), neighbour.folder.path().display());
    let command = format!("./prober {referee} '{outside}' '@{}'", secret.display());
    let program = attacker.program(&format!("command = \"{command}\""))?;
    let played = play(program, "random", usize::MAX, None)?;
    let ending = played.map(|game| game.description).unwrap_or_default();
    if ending.contains("\"allowed: nothing\"") {
        return Ok(Verdict::Contained);
    }
    let achieved =
        ending.split("allowed:").nth(1).map(|rest| rest.split('"').next().unwrap_or(rest));
    Ok(Verdict::NotContained(achieved.unwrap_or(&ending).trim().into()))
}

fn kill_others() -> Result<Verdict, String> {
    let mut bystander = Command::new("sleep").arg("600").spawn().map_err(|e| e.to_string())?;
    let mode = format!("kills {},{}", std::process::id(), bystander.id());
    let verdict = judge(&mode, "cores=1", "random", usize::MAX, |_| Verdict::Contained);
    let is_alive = matches!(bystander.try_wait(), Ok(None));
    let _ = bystander.kill();
    let _ = bystander.wait();
    match is_alive {
        true => verdict,
        false => Ok(Verdict::NotContained("it killed another process".into())),
    }
}

fn leave_daemon() -> Result<Verdict, String> {
    judge("daemon", "cores=1", "random", usize::MAX, |_| Verdict::Contained)
}

fn flood_log() -> Result<Verdict, String> {
    let (attacker, program) = Attacker::hostile("comments")?;
    let log = attacker.folder.path().join("log");
    play(program, "random", usize::MAX, Some(log.clone()))?;
    let size = log.metadata().map_or(0, |metadata| metadata.len());
    Ok(match size {
        0 => return Err("no log was written".into()),
        1..=MAX_LOG_BYTES => Verdict::Contained,
        _ => Verdict::NotContained(format!("the log has {} MB", size >> 20)),
    })
}

fn reorder_text() -> Result<Verdict, String> {
    judge("reorders-text", "cores=1", "random", usize::MAX, |ending| {
        match ending.is_empty() || ending.contains(is_invisible) {
            false => Verdict::Contained,
            true => Verdict::NotContained("invisible characters are in the report".into()),
        }
    })
}
