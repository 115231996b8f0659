//! `crownhead bot check`: tests a bot.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use crownhead_bots::check::{CheckOptions, Finding, Severity, check};
use crownhead_play::{counted, parse_duration};
use crownhead_rules::Game;
use serde_json::{Value, json};

use super::parse_program;
use crate::failure::Failure;
use crate::isolation_args::{IsolationArgs, isolation_json};
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The bot: a folder with a bot.toml, a command, tcp-int32:COMMAND, c-function:FILE,
    /// cpp-function:FILE or checkerboard:ENGINE.so
    #[arg(value_name = "DIR|COMMAND")]
    bot: String,
    /// Game, with options: english, contest:kings=true, …
    #[arg(long, value_name = "GAME")]
    game: Game,
    /// Random seed of the opponent
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Time the bot may take to start
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup_timeout: Duration,
    /// Time per move
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    movetime: Duration,
    /// Write the logs of all games to this folder, for bot replay
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut program = parse_program(&args.bot)?;
    program.supports(&args.game).map_err(Failure::Usage)?;
    let isolation = args.isolation.apply([&mut program])?;
    if let Some(folder) = &args.log {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let options = CheckOptions {
        startup_timeout: args.startup_timeout,
        move_time: args.movetime,
        seed: args.seed,
        log: args.log.clone(),
    };
    let stop = stop_on_interrupt();
    let mut out = std::io::stdout().lock();
    let mut findings = Vec::new();
    let mut written = Ok(());
    check(&program, &args.game, &options, &stop, |finding| {
        if !args.json && written.is_ok() {
            written = write_finding(&mut out, &finding);
        }
        findings.push(finding);
    });
    written?;
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (failures, warnings) = (count(Severity::Failure), count(Severity::Warning));
    if args.json {
        let object = json!({
            "bot": program.to_string(),
            "game": args.game.to_string(),
            "failures": failures,
            "warnings": warnings,
            "findings": findings.iter().map(finding_json).collect::<Value>(),
            "isolation": isolation_json(isolation.as_ref(), &[Some(&program)]),
        });
        writeln!(out, "{object}")?;
    } else {
        let [failures, warnings] = [(failures, "failure"), (warnings, "warning")]
            .map(|(count, noun)| counted(count as u64, noun));
        writeln!(out, "{failures}, {warnings}")?;
    }
    if failures > 0 { Err(Failure::Bot(None)) } else { Ok(()) }
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> std::io::Result<()> {
    writeln!(out, "{:<8} {}: {}", finding.severity.code(), finding.check, finding.message)?;
    if let Some(advice) = &finding.advice {
        writeln!(out, "         {advice}")?;
    }
    out.flush()
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "severity": finding.severity.code(),
        "message": finding.message,
        "advice": finding.advice,
    })
}
