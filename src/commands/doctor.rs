//! `crownhead doctor`: shows what this machine offers and what to install.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crownhead_files::{cache_dir, data_dir};
use crownhead_rules::replace_invisible;
use crownhead_sandbox::{Isolation, IsolationStatus, Mechanism};
use crownhead_tables::registry::TABLES;
use serde_json::{Value, json};

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run a set of attacks on the sandbox instead, and print what was contained
    #[arg(long)]
    attack: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A compiler or runtime that bots of some language need.
struct Tool {
    language: &'static str,
    /// Names of the program; the first that works is used.
    names: &'static [&'static str],
    version_flag: &'static str,
    /// Debian packages that contain it.
    package: &'static str,
}

const TOOLS: [Tool; 8] = [
    Tool::new("python", &["python3"], "--version", "python3"),
    Tool::new("c", &["cc", "gcc", "clang"], "--version", "gcc libc6-dev"),
    Tool::new("cpp", &["c++", "g++", "clang++"], "--version", "g++"),
    Tool::new("rust", &["rustc"], "--version", "rustc (or https://rustup.rs)"),
    Tool::new("rust", &["cargo"], "--version", "cargo (or https://rustup.rs)"),
    Tool::new("java", &["java"], "-version", "default-jdk-headless"),
    Tool::new("java", &["javac"], "-version", "default-jdk-headless"),
    Tool::new("javascript", &["node"], "--version", "nodejs"),
];

impl Tool {
    const fn new(
        language: &'static str,
        names: &'static [&'static str],
        version_flag: &'static str,
        package: &'static str,
    ) -> Tool {
        Tool { language, names, version_flag, package }
    }

    /// Name and version of the program; `None` if it is not installed.
    fn find(&self) -> Option<(&'static str, String)> {
        self.names.iter().find_map(|name| Some((*name, version(name, self.version_flag)?)))
    }
}

/// Maximum time for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// First line that a program prints when asked for its version.
fn version(name: &str, flag: &str) -> Option<String> {
    let mut command = Command::new(name);
    command.arg(flag).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let deadline = Instant::now() + VERSION_TIMEOUT;
    // A few lines fit into the pipes, so nothing is read until the program has exited.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let mut text = String::new();
    // Java prints its version to standard error.
    let _ = child.stdout.take()?.take(4096).read_to_string(&mut text);
    let _ = child.stderr.take()?.take(4096).read_to_string(&mut text);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    status.success().then(|| replace_invisible(line.trim()))
}

/// Runs all attacks. Fails if one is not contained.
#[cfg(unix)]
fn attack(args: &Args) -> Result<(), Failure> {
    use crate::output::eprint_message;
    use crownhead_bots::attack::{ATTACKS, Verdict};
    let isolation = IsolationStatus::detect(Isolation::Default).map_err(anyhow::Error::msg)?;
    eprint_message(format_args!("isolation: {isolation}"));
    let mut out = std::io::stdout().lock();
    let (mut results, mut failures) = (Vec::new(), 0);
    for attack in &ATTACKS {
        let (state, note) = match attack.run() {
            Ok(Verdict::Contained) => ("contained", String::new()),
            Ok(Verdict::NotContained(achieved)) => ("not-contained", achieved),
            Err(reason) => ("skipped", reason),
        };
        failures += usize::from(state == "not-contained");
        if args.json {
            let description = attack.description;
            results.push(json!({
                "attack": attack.name, "description": description, "state": state, "note": note,
            }));
            continue;
        }
        let state = if state == "not-contained" { "NOT CONTAINED" } else { state };
        let note = if note.is_empty() { note } else { format!(": {note}") };
        writeln!(out, "  {:<26} {state:<13}  {}{note}", attack.name, attack.description)?;
        out.flush()?;
    }
    if args.json {
        writeln!(out, "{}", json!({ "attacks": results }))?;
    }
    match failures {
        0 => Ok(()),
        count => Err(anyhow::anyhow!(
            "{count} of {} attacks were not contained; `crownhead doctor` shows which mechanisms \
             are missing, and docs/isolation.md explains the consequences",
            ATTACKS.len()
        )
        .into()),
    }
}

#[cfg(not(unix))]
fn attack(_: &Args) -> Result<(), Failure> {
    Err(anyhow::anyhow!("bots cannot be run on this system, so there is nothing to attack").into())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.attack {
        return attack(args);
    }
    let isolation = IsolationStatus::detect(Isolation::Default).map_err(anyhow::Error::msg)?;
    let users = crownhead_sandbox::bot_users();
    // Bots are often in the current directory or below.
    let users_here = std::env::current_dir()
        .map_err(|error| error.to_string())
        .and_then(|folder| crownhead_sandbox::bot_user_in(&folder));
    let tools: Vec<_> = TOOLS.iter().map(|tool| (tool, tool.find())).collect();
    let dirs = [("cache", cache_dir()), ("data", data_dir())];
    let tables: Vec<_> = TABLES.iter().map(|info| (info, info.open().code())).collect();
    let mut out = std::io::stdout().lock();
    if args.json {
        let object = json!({
            "isolation": isolation.mechanisms.iter().map(mechanism_json).collect::<Value>(),
            "users": match &users {
                Ok(range) => json!({
                    "first": range.start(), "last": range.end(), "note": users_here.as_ref().err(),
                }),
                Err(reason) => json!({ "first": null, "last": null, "note": reason }),
            },
            "tools": tools.iter().map(tool_json).collect::<Value>(),
            "cache": dirs[0].1,
            "data": dirs[1].1,
            "tables": tables.iter().map(|(info, state)| json!({
                "game": info.game,
                "table": info.name,
                "path": info.path(),
                "state": state,
            })).collect::<Value>(),
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "sandbox")?;
    for mechanism in &isolation.mechanisms {
        let state = match &mechanism.state {
            Ok(note) if note.is_empty() => "available".to_string(),
            Ok(note) => format!("available, {note}"),
            Err(reason) if mechanism.is_optional => format!("unavailable (optional): {reason}"),
            Err(reason) => format!("UNAVAILABLE: {reason}"),
        };
        writeln!(out, "  {:<12} {state}", mechanism.code)?;
    }
    match &users {
        Ok(range) => {
            let (first, last) = (range.start(), range.end());
            writeln!(out, "  {:<12} each bot has one of its own, {first} to {last}", "users")?;
            if let Err(reason) = users_here {
                let reason = replace_invisible(&reason);
                writeln!(out, "  {:<12} EXCEPT for bots here, which run as you: {reason}", "")?;
            }
        }
        Err(reason) => writeln!(
            out,
            "  {:<12} bots run as you ({reason}): with your rights, they read whatever the other \
             mechanisms allow",
            "users"
        )?,
    }
    writeln!(out, "bot languages")?;
    for (tool, found) in &tools {
        match found {
            Some((name, version)) => writeln!(out, "  {:<12} {name}: {version}", tool.language)?,
            None => {
                let (name, package) = (tool.names[0], tool.package);
                writeln!(out, "  {:<12} {name} NOT FOUND: install {package}", tool.language)?;
            }
        }
    }
    writeln!(out, "directories")?;
    for (name, dir) in &dirs {
        match dir {
            Some(dir) if dir.is_dir() => writeln!(out, "  {name:<12} {}", dir.display())?,
            Some(dir) => writeln!(out, "  {name:<12} {} (created when needed)", dir.display())?,
            None => {
                let variable = name.to_ascii_uppercase();
                writeln!(out, "  {name:<12} NONE: set CROWNHEAD_{variable} to a directory")?;
            }
        }
    }
    writeln!(out, "tables")?;
    for (info, state) in &tables {
        let (game, name) = (info.game, info.name);
        match *state {
            "ok" => writeln!(out, "  {game} {name}: ok")?,
            state => {
                let advice = format!("build it with: crownhead tables build {game}");
                writeln!(out, "  {game} {name}: {state}; {advice}")?;
            }
        }
    }
    Ok(())
}

fn mechanism_json(mechanism: &Mechanism) -> Value {
    json!({
        "mechanism": mechanism.code,
        "active": mechanism.state.is_ok(),
        "optional": mechanism.is_optional,
        "note": match &mechanism.state { Ok(note) | Err(note) => note },
    })
}

fn tool_json((tool, found): &(&Tool, Option<(&'static str, String)>)) -> Value {
    json!({
        "language": tool.language,
        "program": found.as_ref().map_or(tool.names[0], |(name, _)| name),
        "version": found.as_ref().map(|(_, version)| version),
        "install": found.is_none().then_some(tool.package),
    })
}
