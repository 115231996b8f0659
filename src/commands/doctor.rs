//! `crownhead doctor`: what this machine offers, and what to install.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crownhead_files::{cache_dir, data_dir};
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_tables::registry::TABLES;
use serde_json::{Value, json};

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A program that bots need: for what, how it is asked for its version, and where to have it from.
struct Tool {
    language: &'static str,
    names: &'static [&'static str],
    version: &'static str,
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
        version: &'static str,
        package: &'static str,
    ) -> Tool {
        Tool { language, names, version, package }
    }

    /// Its name and what it says of its version.
    fn found(&self) -> Option<(&'static str, String)> {
        self.names.iter().find_map(|name| Some((*name, version(name, self.version)?)))
    }
}

/// A program that takes longer to say its version says none.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first line that a program of this machine says when it is asked for its version.
fn version(name: &str, argument: &str) -> Option<String> {
    let mut command = Command::new(name);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let deadline = Instant::now() + PATIENCE;
    // The few lines fit into the pipes, so nobody need read meanwhile.
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
    // Java says it to its errors.
    let _ = child.stdout.take()?.take(4096).read_to_string(&mut text);
    let _ = child.stderr.take()?.take(4096).read_to_string(&mut text);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    status.success().then(|| line.trim().replace(char::is_control, " "))
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let walls = IsolationStatus::detect(Isolation::Default).map_err(|why| anyhow::anyhow!(why))?;
    let tools: Vec<_> = TOOLS.iter().map(|tool| (tool, tool.found())).collect();
    let folders = [("cache", cache_dir()), ("data", data_dir())];
    let tables: Vec<_> = TABLES.iter().map(|info| (info, info.open().code())).collect();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let tool = |(tool, found): &(&Tool, Option<(&str, String)>)| {
            json!({
                "language": tool.language,
                "program": found.as_ref().map_or(tool.names[0], |(name, _)| name),
                "version": found.as_ref().map(|(_, version)| version),
                "install": found.is_none().then_some(tool.package),
            })
        };
        let layer = |layer: &crownhead_sandbox::Mechanism| {
            json!({
                "layer": layer.code,
                "active": layer.state.is_ok(),
                "optional": layer.is_optional,
                "note": match &layer.state { Ok(note) | Err(note) => note },
            })
        };
        let object = json!({
            "isolation": walls.mechanisms.iter().map(layer).collect::<Value>(),
            "tools": tools.iter().map(tool).collect::<Value>(),
            "cache": folders[0].1,
            "data": folders[1].1,
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
    writeln!(out, "walls around bots")?;
    for layer in &walls.mechanisms {
        match &layer.state {
            Ok(note) => writeln!(out, "  {:<12} yes{}", layer.code, with_comma(note))?,
            Err(why) if layer.is_optional => {
                writeln!(out, "  {:<12} no, which is no lack: {why}", layer.code)?;
            }
            Err(why) => writeln!(out, "  {:<12} NO: {why}", layer.code)?,
        }
    }
    writeln!(out, "languages of bots")?;
    for (tool, found) in &tools {
        match found {
            Some((name, version)) => writeln!(out, "  {:<12} {name}: {version}", tool.language)?,
            None => {
                let (name, package) = (tool.names[0], tool.package);
                writeln!(out, "  {:<12} {name} is MISSING: install {package}", tool.language)?;
            }
        }
    }
    writeln!(out, "folders")?;
    for (name, folder) in &folders {
        match folder {
            Some(folder) => writeln!(out, "  {name:<12} {}{}", folder.display(), there(folder))?,
            None => {
                let variable = name.to_ascii_uppercase();
                writeln!(out, "  {name:<12} NONE: set CROWNHEAD_{variable} to a folder")?;
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

fn with_comma(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(", {note}") }
}

fn there(folder: &Path) -> &'static str {
    if folder.is_dir() { "" } else { " (made when it is needed)" }
}
