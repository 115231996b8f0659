//! `crownhead bot replay`: shows a turn of a logged game and asks the bot again.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crownhead_bots::log::indented_board;
use crownhead_bots::replay::{LoggedLine, LoggedTurn, ReplayResult};
use crownhead_play::{Session, parse_duration};
use serde_json::{Value, json};

use super::parse_program;
use crate::failure::Failure;
use crate::isolation_args::IsolationArgs;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Log written by match, tournament run or bot check with --log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Ply of the turn: the number of moves played before it [default: the last turn]
    #[arg(long, value_name = "PLY")]
    at: Option<usize>,
    /// Ask this bot instead: a folder with a bot.toml, a command, tcp-int32:COMMAND,
    /// c-function:FILE, cpp-function:FILE or checkerboard:ENGINE.so
    #[arg(long, value_name = "DIR|COMMAND")]
    bot: Option<String>,
    /// Only show the turn
    #[arg(long, conflicts_with = "bot")]
    show: bool,
    /// Time the bot may take to start
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup_timeout: Duration,
    /// Time the bot may take to answer
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    timeout: Duration,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let turn = LoggedTurn::find(&args.log, args.at).map_err(Failure::BadInput)?;
    let session = turn.session().map_err(Failure::BadInput)?;
    let mut out = std::io::stdout().lock();
    if !args.json {
        write_turn(&mut out, &turn, session.as_ref())?;
    }
    let result = if args.show { None } else { Some(ask(args, &turn)?) };
    if args.json {
        writeln!(out, "{}", turn_json(&turn, session.as_ref(), result.as_ref()))?;
    } else if let Some(result) = &result {
        write_result(&mut out, result)?;
    }
    match result.and_then(|result| result.fault) {
        None => Ok(()),
        Some(fault) => Err(Failure::Bot(Some(fault))),
    }
}

/// Asks the bot of the log, or the one given by `--bot`.
fn ask(args: &Args, turn: &LoggedTurn) -> Result<ReplayResult, Failure> {
    let mut program = match &args.bot {
        Some(bot) => {
            let program = parse_program(bot)?;
            program.supports(&turn.game).map_err(Failure::Usage)?;
            program
        }
        None => turn.program().map_err(Failure::BadInput)?,
    };
    args.isolation.apply([&mut program])?;
    let stop = stop_on_interrupt();
    let result = turn.ask(&program, args.startup_timeout, args.timeout, &stop);
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    result.map_err(|message| Failure::Bot(Some(message)))
}

fn write_turn(
    out: &mut impl Write,
    turn: &LoggedTurn,
    session: &dyn Session,
) -> std::io::Result<()> {
    let side = turn.game.info().sides[session.side().index()].name;
    writeln!(out, "{}, ply {}, {side} to move: {}", turn.game, turn.ply, session.position())?;
    write!(out, "{}", indented_board(session))?;
    writeln!(out, "moves     {}", turn.moves())?;
    writeln!(out, "logged")?;
    for LoggedLine { seconds, direction, text } in &turn.following_lines {
        writeln!(out, "{seconds:10.6} {direction} {text}")?;
    }
    Ok(())
}

fn write_result(out: &mut impl Write, result: &ReplayResult) -> std::io::Result<()> {
    writeln!(out, "now")?;
    for line in &result.lines {
        writeln!(out, "{:10.6} < {line}", result.time.as_secs_f64())?;
    }
    for line in &result.stderr {
        writeln!(out, "           ! {line}")?;
    }
    if let Some(played) = &result.played {
        writeln!(out, "           * {played} is legal")?;
    }
    Ok(())
}

fn turn_json(turn: &LoggedTurn, session: &dyn Session, result: Option<&ReplayResult>) -> Value {
    let line = |line: &LoggedLine| {
        let LoggedLine { seconds, direction, text } = line;
        json!({ "seconds": seconds, "direction": direction, "text": text })
    };
    let result = result.map(|result| {
        json!({
            "lines": result.lines,
            "errors": result.stderr.iter().rfind(|line| !line.trim().is_empty()),
            "stderr": result.stderr,
            "seconds": result.time.as_secs_f64(),
            "move": result.played,
            "fault": result.fault,
        })
    });
    json!({
        "game": turn.game.to_string(),
        "bot": turn.bot,
        "ply": turn.ply,
        "position": session.position(),
        "turn": turn.turn,
        "following": turn.following_lines.iter().map(line).collect::<Value>(),
        "now": result,
    })
}
