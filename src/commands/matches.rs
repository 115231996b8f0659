//! `crownhead match`: which of two players is stronger, and how sure that is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::value_parser;
use crownhead_bots::{PlayerSpec, SpecError};
use crownhead_files::AtomicFile;
use crownhead_play::{
    FaultPolicy, GameSettings, Openings, OpeningsError, ParseTimeError, PlayerError, TimeControl,
    parse_duration,
};
use crownhead_records::write_game;
use crownhead_rules::Game;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame, MatchScore, cpu_time};
use crownhead_tournament::statistics::{Estimate, Wdl};
use serde_json::{Value, json};

use super::tables::load_knowledge;
use super::{Failure, can_draw, say, stop_on_interrupt};
use crate::isolation_args::{IsolationArgs, isolation_json};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A player: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options
    /// if wanted: best:threads=2,hash=128,movetime=500ms,nodes=100000; or a program of yours, as
    /// cmd:COMMAND or as a folder with a bot.toml; or one written for something else, as
    /// tcp-int32:COMMAND, c-function:FILE or cpp-function:FILE
    #[arg(value_name = "A")]
    one: String,
    /// The other player
    #[arg(value_name = "B")]
    other: String,
    /// The game, with options if wanted: english, contest:kings=true, …
    #[arg(long, value_name = "GAME")]
    game: Game,
    /// How many games; an even number, since every opening is played with both colours
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000_000), allow_negative_numbers = true)]
    games: u32,
    /// Time for each move: 100ms, 2s, 1.5s. Without any limit, best thinks 100ms, and programs
    /// have 5s
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["time", "nodes"])]
    movetime: Option<Duration>,
    /// Time for the game and for each move made: 5+3 (both in seconds, other than in `play`), 5s+50ms
    #[arg(long, value_name = "TIME", conflicts_with = "nodes")]
    time: Option<TimeControl>,
    /// Positions that a player who counts them may look at for each move
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// What games begin with: start, random:PLIES, ballots, ballots:crossboard, or a file with a position
    /// or the moves from the start on each line
    #[arg(long, value_name = "OPENINGS", default_value = "random:6")]
    openings: String,
    /// What everything drawn by lot follows from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many games are played at once
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// What an illegal move, a time-out or a crash costs: forfeit, skip or random-move. Usually skip
    /// in Capture Halma and forfeit elsewhere
    #[arg(long, value_name = "POLICY")]
    policy: Option<FaultPolicy>,
    /// How late a move may be
    #[arg(long, value_name = "TIME", value_parser = read_grace, default_value = "5ms")]
    grace: Duration,
    /// How long a bot may take to get ready
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup_timeout: Duration,
    /// Write a log of each game and program to this folder: the dialogue with times, standard error,
    /// the boards
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    #[command(flatten)]
    isolation: IsolationArgs,
    /// Also write the games to this file
    #[arg(long, value_name = "FILE")]
    pdn: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// So many faults are listed.
const LISTED: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut plan = plan(arguments)?;
    let programs = plan.players.iter_mut().filter_map(PlayerSpec::program_mut);
    let isolation = arguments.isolation.apply(programs)?;
    // Before the games, so that none are played in vain.
    let output = arguments.pdn.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_interrupt();
    let (knowledge, missing) = load_knowledge(&plan.game);
    if let Some(missing) = missing.filter(|_| plan.players.iter().any(PlayerSpec::uses_evaluation))
    {
        say(missing);
    }
    let mut progress = Progress::new(arguments.games);
    let mut standing = MatchScore::default();
    let mut games: Vec<MatchGame> = Vec::new();
    let mut faults = Faults::default();
    let mut log_failure = None;
    let start = Instant::now();
    let result = matches::play(&plan, &knowledge, &stop, |game| {
        standing.add(&game);
        progress.show(&standing);
        faults.add(&plan, &game);
        log_failure = log_failure.take().or_else(|| game.log_failure.clone());
        if arguments.pdn.is_some() {
            games.push(game);
        }
    });
    progress.clear();
    let (start_failure, is_ours) = match result {
        Err(PlayerError::StartFailed(message)) => (Some(message), false),
        // Nobody's fault, but the games so far are not lost.
        Err(PlayerError::Unavailable(message)) => (Some(message), true),
        other => (other.map(|()| None)?, false),
    };
    // Of a match that was interrupted too early nothing is written over an earlier one.
    if let Some(output) = output.filter(|_| !games.is_empty()) {
        games.sort_by_key(|game| (game.pair, game.first));
        write_games(output, &plan, &games)?;
    }
    let interrupted = start_failure.is_none() && standing.all.games() < arguments.games;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let mut object = object(&plan, &standing, &faults, interrupted, start.elapsed());
        object["failure"] = json!(start_failure);
        let programs = plan.players.each_ref().map(PlayerSpec::program);
        object["isolation"] = isolation_json(isolation.as_ref(), &programs);
        writeln!(out, "{object}")?;
    } else if start_failure.is_none() {
        report(&mut out, &plan, &standing)?;
        faults.report(&mut out)?;
    }
    if let Some(failure) = &log_failure {
        say(format_args!("crownhead: the logs are not whole: {failure}"));
    }
    match interrupted {
        true => Err(Failure::Interrupted),
        false if log_failure.is_some() => Err(Failure::Reported),
        false if is_ours => Err(anyhow::anyhow!(start_failure.unwrap_or_default()).into()),
        false if start_failure.is_some() => Err(Failure::Bot(start_failure)),
        false if faults.is_broken => Err(Failure::Bot(None)),
        false => Ok(()),
    }
}

/// What went wrong in the games.
#[derive(Default)]
struct Faults {
    /// The first of them, by whether they cost little, game and order: what cost much is listed
    /// before the rest is cut.
    listed: BTreeMap<(bool, u32, usize), Value>,
    /// How many there were.
    count: usize,
    /// Whether a program forfeited a game or broke.
    is_broken: bool,
}

impl Faults {
    fn add(&mut self, plan: &MatchConfig, game: &MatchGame) {
        self.count += game.faults().iter().sum::<u32>() as usize;
        for (order, incident) in game.played.incidents.iter().enumerate() {
            let player = game.first ^ incident.side.index();
            let is_grave = incident.is_fatal();
            self.is_broken |= is_grave && plan.players[player].program().is_some();
            let number = 2 * game.pair + game.first as u32 + 1;
            let object = json!({
                "game": number,
                "player": player,
                "side": plan.game.info().sides[incident.side.index()].letter,
                "ply": incident.ply,
                "code": incident.fault.kind.code(),
                "what": incident.fault.message,
                "received": incident.fault.received,
                "position": incident.position,
                "moves": incident.moves,
                "sentence": incident.describe(&plan.game),
            });
            self.listed.insert((!is_grave, number, order), object);
            if self.listed.len() > LISTED {
                self.listed.pop_last();
            }
        }
    }

    /// Those that are listed, in the order of the games.
    fn in_order(&self) -> Vec<&Value> {
        let mut listed: Vec<_> = self.listed.iter().collect();
        listed.sort_by_key(|((_, number, order), _)| (*number, *order));
        listed.into_iter().map(|(_, object)| object).collect()
    }

    fn left_off(&self) -> usize {
        self.count - self.listed.len()
    }

    fn report(&self, out: &mut impl Write) -> Result<(), Failure> {
        for object in self.in_order() {
            let sentence = object["sentence"].as_str().unwrap_or_default();
            writeln!(out, "game {}: {sentence}", object["game"])?;
        }
        if self.left_off() > 0 {
            let more = self.left_off();
            writeln!(out, "{more} more faults are not listed; --log DIR writes every game down.")?;
        }
        Ok(())
    }
}

/// A time that may be none.
fn read_grace(text: &str) -> Result<Duration, ParseTimeError> {
    if matches!(text.trim(), "0ms" | "0s") { Ok(Duration::ZERO) } else { parse_duration(text) }
}

/// A player by name. A name that is wrong is no fault of a file.
fn player(text: &str) -> Result<PlayerSpec, Failure> {
    text.parse().map_err(|error: SpecError| match error.is_manifest {
        true => Failure::BadInput(error.to_string()),
        false => Failure::Usage(error.to_string()),
    })
}

fn plan(arguments: &Arguments) -> Result<MatchConfig, Failure> {
    if arguments.games % 2 == 1 {
        let message = "every opening is played with both colours: the number of games must be even";
        return Err(Failure::Usage(message.into()));
    }
    let time = match arguments.movetime {
        Some(time) => TimeControl::PerMove(time),
        None => arguments.time.unwrap_or_default(),
    };
    let mut players = [player(&arguments.one)?, player(&arguments.other)?];
    let time = matches::apply_default_limits(&mut players, time, arguments.nodes);
    let [one, other] = players;
    // A bot against itself is built once.
    let other = if other == one { one.clone() } else { other };
    let players = [one, other];
    for player in &players {
        player.supports(&arguments.game).map_err(Failure::Usage)?;
    }
    let policy = arguments.policy.unwrap_or_else(|| FaultPolicy::default_for(&arguments.game));
    if !policy.supports(&arguments.game) {
        let message = format!(
            "in {} no turn can be skipped: the policy is forfeit or random-move",
            arguments.game
        );
        return Err(Failure::Usage(message));
    }
    if let Some(folder) = &arguments.log {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {} for logs", folder.display()))?;
    }
    Ok(MatchConfig {
        game: arguments.game.clone(),
        players,
        pairs: arguments.games / 2,
        settings: GameSettings {
            time_control: time,
            grace: arguments.grace,
            startup_timeout: arguments.startup_timeout,
            fault_policy: policy,
        },
        openings: openings(&arguments.openings, &arguments.game)?,
        seed: arguments.seed,
        concurrency: arguments.concurrency.into(),
        log: arguments.log.clone(),
    })
}

fn openings(text: &str, game: &Game) -> Result<Openings, Failure> {
    Openings::parse_spec(text, game, |name| std::fs::read(name)).map_err(|error| match error {
        OpeningsError::Text(message) => Failure::Usage(message),
        OpeningsError::File(message) => Failure::BadInput(message),
        OpeningsError::Unreadable(message) => anyhow::anyhow!(message).into(),
    })
}

fn write_games(output: AtomicFile, plan: &MatchConfig, games: &[MatchGame]) -> Result<(), Failure> {
    let mut out = BufWriter::new(output.file());
    for game in games {
        write_game(&mut out, &game.record(plan)).context("cannot write a game")?;
    }
    out.flush().context("cannot write a game")?;
    drop(out);
    Ok(output.commit()?)
}

/// The line that tells a person at a terminal how the match stands.
struct Progress {
    games: u32,
    is_shown: bool,
}

impl Progress {
    fn new(games: u32) -> Progress {
        Progress { games, is_shown: can_draw(&std::io::stderr()) }
    }

    fn show(&mut self, standing: &MatchScore) {
        if self.is_shown {
            let Wdl { wins, draws, losses } = standing.all;
            let percent = 100.0 * standing.all.score().unwrap_or(0.5);
            let (done, games) = (standing.all.games(), self.games);
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r{done}/{games}  +{wins} ={draws} -{losses}  {percent:.1} %  ");
            let _ = err.flush();
        }
    }

    fn clear(&mut self) {
        if self.is_shown {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r{:70}\r", "");
            let _ = err.flush();
        }
    }
}

fn report(out: &mut impl Write, plan: &MatchConfig, standing: &MatchScore) -> Result<(), Failure> {
    let MatchScore { all, by_colour, pairs, ends, late, .. } = standing;
    let [one, other] = &plan.players;
    writeln!(out, "{one} against {other}, {}, {}", plan.game, plan.settings.time_control)?;
    writeln!(out, "games     {}, openings {}, seed {}", all.games(), plan.openings, plan.seed)?;
    writeln!(out, "result    {}", tally_text(all))?;
    let sides = plan.game.info().sides.map(|side| side.name);
    for (name, tally) in sides.iter().zip(by_colour) {
        writeln!(out, "{:<9} {}", format!("as {name}"), tally_text(tally))?;
    }
    if let Some(estimate) = pairs.estimate() {
        let Estimate { score, error, superiority, .. } = estimate;
        let (score, error) = (100.0 * score, 100.0 * error);
        writeln!(out, "score     {score:.1} % ± {error:.1} (95 %, from {} pairs)", pairs.count())?;
        writeln!(out, "pairs     {}", pairs_text(&pairs.0))?;
        writeln!(out, "Elo       {}", elo_text(&estimate))?;
        writeln!(out, "stronger  {one}, with a likelihood of {:.1} %", 100.0 * superiority)?;
    }
    let ends: Vec<_> = ends.iter().map(|(code, count)| format!("{code} {count}")).collect();
    writeln!(out, "ends      {}", if ends.is_empty() { "none".into() } else { ends.join(", ") })?;
    writeln!(out, "length    {:.1} plies on average", average(standing))?;
    writeln!(out, "late      {one} {}, {other} {}", late[0], late[1])?;
    let [one_ms, other_ms] = standing.slowest.map(|time| time.as_secs_f64() * 1e3);
    writeln!(out, "slowest   {one} {one_ms:.1} ms, {other} {other_ms:.1} ms")?;
    if plan.players.iter().any(|player| player.program().is_some()) {
        let [one_faults, other_faults] = standing.faults;
        writeln!(out, "faults    {one} {one_faults}, {other} {other_faults}")?;
        writeln!(out, "referee   {:.3} s of processor time", cpu_time().as_secs_f64())?;
    }
    Ok(())
}

fn tally_text(tally: &Wdl) -> String {
    let Wdl { wins, draws, losses } = tally;
    let percent = tally.score().map_or("no game".into(), |score| format!("{:.1} %", 100.0 * score));
    format!("+{wins} ={draws} -{losses}, {percent}")
}

fn pairs_text(counts: &[u32; 5]) -> String {
    let names = ["0", "½", "1", "1½", "2"];
    let texts = names.iter().zip(counts).map(|(points, count)| format!("{points}: {count}"));
    texts.collect::<Vec<_>>().join("  ")
}

fn elo_text(estimate: &Estimate) -> String {
    match (estimate.elo.is_finite(), estimate.elo_error.is_finite()) {
        (true, true) => format!("{:+.0} ± {:.0}", estimate.elo, estimate.elo_error),
        (true, false) => format!("{:+.0}, with no limit to the error", estimate.elo),
        (false, _) if estimate.elo > 0.0 => "without limit: all games were won".into(),
        (false, _) => "without limit: all games were lost".into(),
    }
}

fn average(standing: &MatchScore) -> f64 {
    standing.plies as f64 / f64::from(standing.all.games().max(1))
}

fn object(
    plan: &MatchConfig,
    standing: &MatchScore,
    faults: &Faults,
    interrupted: bool,
    time: Duration,
) -> Value {
    let tally = |tally: &Wdl| {
        json!({
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "score": tally.score(),
        })
    };
    let finite = |number: f64| number.is_finite().then_some(number);
    let estimate = standing.pairs.estimate();
    json!({
        "game": plan.game.to_string(),
        "players": plan.players.each_ref().map(PlayerSpec::to_string),
        "time": plan.settings.time_control.to_string(),
        "openings": plan.openings.to_string(),
        "seed": plan.seed,
        "games": standing.all.games(),
        "interrupted": interrupted,
        "result": tally(&standing.all),
        "first": tally(&standing.by_colour[0]),
        "second": tally(&standing.by_colour[1]),
        "pairs": standing.pairs.0,
        "score": estimate.map(|estimate| estimate.score),
        "error": estimate.map(|estimate| estimate.error),
        "elo": estimate.and_then(|estimate| finite(estimate.elo)),
        "elo_error": estimate.and_then(|estimate| finite(estimate.elo_error)),
        "superiority": estimate.map(|estimate| estimate.superiority),
        "ends": standing.ends,
        "plies": average(standing),
        "late": standing.late,
        "slowest_ms": standing.slowest.map(|time| time.as_secs_f64() * 1e3),
        "policy": plan.settings.fault_policy.code(),
        "faults": standing.faults,
        "incidents": faults.in_order(),
        "incidents_left_off": faults.left_off(),
        "cpu_seconds": cpu_time().as_secs_f64(),
        "seconds": time.as_secs_f64(),
    })
}
