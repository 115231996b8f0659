//! `crownhead bot`: writing, checking, playing and debugging programs that play.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_bots::check::{Finding, Grade, check};
use crownhead_bots::replay::{Again, Moment};
use crownhead_bots::{BotProgram, ProgramError, StarterKit, board_text};
use crownhead_play::{Session, TimeControl, parse_duration};
use crownhead_rules::{GAMES, Game};
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};
use serde_json::{Value, json};

use super::play::{lot, play};
use super::{Failure, stop_on_interrupt};
use crate::isolation_args::{IsolationArgs, isolation_json};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Write a complete small bot to a new folder, to be improved
    New(New),
    /// Try a bot out, odd moments included, and say what to do about each finding
    Check(Check),
    /// Play against a bot in this terminal
    Play(Play),
    /// Show a moment of a logged game and ask the bot again
    Replay(Replay),
}

#[derive(clap::Args)]
pub(crate) struct New {
    /// python, c, cpp, rust, java or javascript; or for one of the original assignments c-function,
    /// cpp-function or tcp-int32
    #[arg(value_name = "LANGUAGE")]
    language: String,
    /// The folder to make; the bot is called like it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The bot: a folder with a bot.toml, a command, or another program as players are named:
    /// tcp-int32:COMMAND, c-function:FILE, cpp-function:FILE
    #[arg(value_name = "DIR|COMMAND")]
    bot: String,
    /// The game, with options if wanted
    #[arg(long, value_name = "GAME")]
    game: Game,
    /// What random's moves follow from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How long the bot may take to be ready
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup: Duration,
    /// Time for each move
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    movetime: Duration,
    /// Write a log of each game and each odd moment to this folder, for bot replay
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

#[derive(clap::Args)]
pub(crate) struct Play {
    /// The bot: a folder with a bot.toml, a command, or another program as players are named:
    /// tcp-int32:COMMAND, c-function:FILE, cpp-function:FILE
    #[arg(value_name = "DIR|COMMAND")]
    bot: String,
    /// The game, with options if wanted
    #[arg(long, value_name = "GAME", default_value_t)]
    game: Game,
    /// Let the bot move first
    #[arg(long)]
    bot_first: bool,
    /// The position to begin with
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Time for each move of the bot
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5s")]
    movetime: Duration,
    /// Play by lines of text
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

#[derive(clap::Args)]
pub(crate) struct Replay {
    /// A log that `crownhead match --log DIR` wrote
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The ply: how many moves had been made
    #[arg(long, value_name = "PLY")]
    at: usize,
    /// Ask this bot instead: a folder with a bot.toml, a command, or as players are named
    #[arg(long, value_name = "DIR|COMMAND")]
    bot: Option<String>,
    /// Only show the moment
    #[arg(long, conflicts_with = "bot")]
    show: bool,
    /// How long the bot may take to be ready
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup: Duration,
    /// How long to wait for the answer
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    patience: Duration,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(arguments) => new(&arguments),
        Command::Check(arguments) => run_check(&arguments),
        Command::Play(arguments) => run_play(arguments),
        Command::Replay(arguments) => replay(&arguments),
    }
}

/// A bot by its folder, its command, or as players are named.
fn program(text: &str) -> Result<BotProgram, Failure> {
    let program = match Path::new(text).is_dir() {
        true => BotProgram::from_folder(text),
        false => BotProgram::from_text(text, Path::new("."))
            .unwrap_or_else(|| BotProgram::from_command(text)),
    };
    let program = program.map_err(|error| match error {
        ProgramError::Text(message) => Failure::Usage(message),
        ProgramError::File(message) => Failure::BadInput(message),
    })?;
    // What is nothing at all was meant as the one or the other.
    let is_named = BotProgram::from_text(text, Path::new(".")).is_some();
    match program.command.first() {
        Some(word) if !Path::new(text).is_dir() && !is_named && !is_there(word) => {
            Err(Failure::Usage(format!(
                "there is no folder {text:?} and no program {word:?}: a bot is a folder with a \
                 bot.toml, or a command as in \"python3 bot.py\""
            )))
        }
        _ => Ok(program),
    }
}

/// Whether the first word of a command names a file, as the system looks for it.
fn is_there(word: &str) -> bool {
    let places = std::env::var_os("PATH").unwrap_or_default();
    match word.contains('/') {
        true => Path::new(word).exists(),
        false => std::env::split_paths(&places).any(|place| place.join(word).is_file()),
    }
}

fn new(arguments: &New) -> Result<(), Failure> {
    let kit = StarterKit::of(&arguments.language).map_err(Failure::Usage)?;
    let folder = arguments.folder.display();
    kit.write(&arguments.folder)
        .map_err(|error| anyhow::anyhow!("the bot cannot be written to {folder}: {error}"))?;
    let mut out = std::io::stdout().lock();
    let (file, _) = kit.files[0];
    let name = match arguments.folder.is_absolute() || folder.to_string().contains('/') {
        true => folder.to_string(),
        false => format!("./{folder}"),
    };
    writeln!(out, "{folder}/{file} is a complete bot (it needs {}). Next:", kit.needs)?;
    let name = for_a_shell(&name);
    let game = kit.game();
    let option = if game == GAMES[0].id { String::new() } else { format!(" --game {game}") };
    writeln!(out, "  crownhead bot check {name} --game {game}")?;
    writeln!(out, "  crownhead match {name} random --game {game} -n 20")?;
    writeln!(out, "  crownhead bot play {name}{option}")?;
    Ok(())
}

/// A word as a shell takes it for one.
fn for_a_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn run_check(arguments: &Check) -> Result<(), Failure> {
    let mut program = program(&arguments.bot)?;
    program.suits(&arguments.game).map_err(Failure::Usage)?;
    let isolation = arguments.isolation.apply([&mut program])?;
    let stop = stop_on_interrupt();
    let mut out = std::io::stdout().lock();
    let mut findings = Vec::new();
    let times = (arguments.startup, arguments.movetime);
    let mut written = Ok(());
    let log = arguments.log.as_deref();
    if let Some(folder) = log {
        let cannot =
            |error| anyhow::anyhow!("cannot make the folder {}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    check(&program, &arguments.game, times, arguments.seed, log, &stop, |finding| {
        if !arguments.json && written.is_ok() {
            written = write_finding(&mut out, &finding);
        }
        findings.push(finding);
    });
    written?;
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let count = |grade| findings.iter().filter(|finding| finding.grade == grade).count();
    let (failures, warnings) = (count(Grade::Failure), count(Grade::Warning));
    if arguments.json {
        let object = |finding: &Finding| {
            json!({
                "check": finding.check,
                "grade": finding.grade.code(),
                "found": finding.found,
                "advice": finding.advice,
            })
        };
        let findings: Value = findings.iter().map(object).collect();
        let (bot, game) = (program.to_string(), arguments.game.to_string());
        let object = json!({
            "bot": bot,
            "game": game,
            "failures": failures,
            "warnings": warnings,
            "findings": findings,
            "isolation": isolation_json(isolation.as_ref(), &[Some(&program)]),
        });
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{failures} failures, {warnings} warnings")?;
    }
    if failures > 0 { Err(Failure::Bot(None)) } else { Ok(()) }
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> std::io::Result<()> {
    writeln!(out, "{:<8} {}: {}", finding.grade.code(), finding.check, finding.found)?;
    if let Some(advice) = &finding.advice {
        writeln!(out, "         {advice}")?;
    }
    out.flush()
}

fn run_play(arguments: Play) -> Result<(), Failure> {
    let mut program = program(&arguments.bot)?;
    program.suits(&arguments.game).map_err(Failure::Usage)?;
    arguments.isolation.apply([&mut program])?;
    let bot = Seat::Computer(PlayerSpec::Bot(Box::new(program)));
    let setup = Setup {
        game: arguments.game,
        seats: if arguments.bot_first { [bot, Seat::Human] } else { [Seat::Human, bot] },
        position: arguments.position,
        time_control: TimeControl::PerMove(arguments.movetime),
        seed: lot(),
    };
    let live = LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
    // Not kept: an unfinished game against a bot in progress is worth nothing tomorrow.
    play(live, None, arguments.plain, None)
}

fn replay(arguments: &Replay) -> Result<(), Failure> {
    let moment = Moment::read(&arguments.log, arguments.at).map_err(Failure::BadInput)?;
    let session = moment.session().map_err(Failure::BadInput)?;
    let mut out = std::io::stdout().lock();
    if !arguments.json {
        write_moment(&mut out, &moment, session.as_ref())?;
    }
    let again = if arguments.show {
        None
    } else {
        let mut program = match &arguments.bot {
            Some(bot) => {
                let program = program(bot)?;
                program.suits(&moment.game).map_err(Failure::Usage)?;
                program
            }
            None => moment.program().map_err(Failure::BadInput)?,
        };
        arguments.isolation.apply([&mut program])?;
        let stop = stop_on_interrupt();
        let asked = moment.ask(&program, arguments.startup, arguments.patience, &stop);
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        Some(asked.map_err(|message| Failure::Bot(Some(message)))?)
    };
    if arguments.json {
        writeln!(out, "{}", moment_json(&moment, session.as_ref(), again.as_ref()))?;
    } else if let Some(again) = &again {
        writeln!(out, "now")?;
        for line in &again.lines {
            writeln!(out, "{:10.6} < {line}", again.time.as_secs_f64())?;
        }
        if let Some(errors) = &again.errors {
            writeln!(out, "           ! {errors}")?;
        }
        if let Some(played) = &again.played {
            writeln!(out, "           * {played} is legal")?;
        }
    }
    match again.and_then(|again| again.fault) {
        None => Ok(()),
        Some(fault) => Err(Failure::Bot(Some(fault))),
    }
}

fn write_moment(
    out: &mut impl Write,
    moment: &Moment,
    session: &dyn Session,
) -> std::io::Result<()> {
    let name = moment.game.info().sides[session.side().index()].name;
    writeln!(out, "{}, ply {}, {name} to move: {}", moment.game, moment.ply, session.position())?;
    write!(out, "{}", board_text(session))?;
    writeln!(out, "moves     {}", moment.moves())?;
    writeln!(out, "then")?;
    for (time, sign, text) in &moment.then {
        writeln!(out, "{time:10.6} {sign} {text}")?;
    }
    Ok(())
}

fn moment_json(moment: &Moment, session: &dyn Session, again: Option<&Again>) -> Value {
    let entry = |(time, sign, text): &(f64, char, String)| json!({ "seconds": time, "sign": sign, "text": text });
    let again = again.map(|again| {
        json!({
            "lines": again.lines,
            "errors": again.errors,
            "seconds": again.time.as_secs_f64(),
            "move": again.played,
            "fault": again.fault,
        })
    });
    json!({
        "game": moment.game.to_string(),
        "bot": moment.bot,
        "ply": moment.ply,
        "position": session.position(),
        "turn": moment.turn,
        "then": moment.then.iter().map(entry).collect::<Value>(),
        "now": again,
    })
}
