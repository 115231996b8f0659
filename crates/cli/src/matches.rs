//! `crownhead match`: estimates which of two players is stronger.

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
    Adjudication, FaultPolicy, GameSettings, Openings, OpeningsError, ParseTimeError, TimeControl,
    counted, parse_duration,
};
use crownhead_records::write_game;
use crownhead_report::faults::{FaultReport, MAX_LISTED_FAULTS, ReportedGame};
use crownhead_rules::Game;
use crownhead_statistics::{Estimate, Wdl};
use crownhead_tournament::job::JobError;
use crownhead_tournament::matches::{self, MatchConfig, MatchGame, MatchScore, cpu_time};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::fleet::FleetArgs;
use crate::isolation_args::{IsolationArgs, isolation_json};
use crate::knowledge::{load_for_players, uses_tables};
use crate::output::{LiveDisplay, eprint_message};
use crate::signals::stop_on_interrupt;

/// Args of `crownhead match`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    players: MatchArgs,
    /// Number of games; must be even, because every opening is played with both colours
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000_000), allow_negative_numbers = true)]
    games: u32,
    /// Write the games to this file
    #[arg(long, value_name = "FILE")]
    pdn: Option<PathBuf>,
    /// Report each game on standard error
    #[arg(long)]
    verbose: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Players and settings of a match or an SPRT.
#[derive(clap::Args)]
pub(crate) struct MatchArgs {
    /// First player: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with
    /// options such as best:threads=2,hash=128,movetime=500ms,nodes=100000; or a bot:
    /// cmd:COMMAND, a folder with a bot.toml, tcp-int32:COMMAND, c-function:FILE,
    /// cpp-function:FILE or checkerboard:ENGINE.so
    #[arg(value_name = "PLAYER1")]
    first: String,
    /// Second player
    #[arg(value_name = "PLAYER2")]
    second: String,
    /// Game, with options: english, contest:kings=true, …
    #[arg(long, value_name = "GAME")]
    game: Game,
    /// Time per move: 100ms, 2s, 1.5s [default: 100ms for best and 5s for bots, if there is no
    /// other limit]
    #[arg(long, value_name = "TIME")]
    #[arg(value_parser = parse_duration, conflicts_with_all = ["time", "nodes"])]
    movetime: Option<Duration>,
    /// Time per game and increment per move: 5+3 (in seconds, unlike `play`), 5s+50ms
    #[arg(long, value_name = "TIME", conflicts_with = "nodes")]
    time: Option<TimeControl>,
    /// Nodes per move, for players that count nodes
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Openings: start, random:PLIES, ballots, ballots:crossboard, ballots:11man, or a file with a
    /// position or the moves from the start on each line
    #[arg(long, value_name = "OPENINGS", default_value = "random:6")]
    pub(crate) openings: String,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Games played in parallel
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// Penalty for an illegal move, timeout or crash: forfeit, skip or random-move [default: skip
    /// in Capture Halma, else forfeit]
    #[arg(long, value_name = "POLICY")]
    policy: Option<FaultPolicy>,
    /// When the referee ends a game early: draw-score=10,draw-moves=8,draw-after=20,
    /// resign-score=400,resign-moves=4,max-moves=150,tables=true
    #[arg(long, value_name = "RULES", default_value = "off")]
    adjudicate: Adjudication,
    /// Tolerance for late moves
    #[arg(long, value_name = "TIME", value_parser = parse_grace, default_value = "5ms")]
    grace: Duration,
    /// Time a bot may take to start
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    startup_timeout: Duration,
    /// Write a log per game and bot to this folder: protocol with times, standard error, boards
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.games % 2 == 1 {
        return Err(Failure::Usage(format!(
            "the number of games must be even, because every opening is played with both colours; \
             try -n {}",
            u64::from(args.games) + 1
        )));
    }
    let mut config = args.players.config(args.games / 2)?;
    let programs = config.players.iter_mut().filter_map(PlayerSpec::program_mut);
    let isolation = args.players.isolation.apply(programs)?;
    let coordinator = args.players.fleet.join(isolation.as_ref().map(|status| status.isolation))?;
    // Fail before the games if the file cannot be written.
    let output = args.pdn.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_interrupt();
    let knowledge = load_for_players(&config.game, &config.settings, config.players.iter());
    let [first, second] = &config.players;
    eprint_message(format_args!(
        "Playing {}: {first} against {second} …",
        counted(args.games.into(), "game")
    ));
    let mut display = LiveDisplay::new();
    let mut score = MatchScore::default();
    let mut games: Vec<MatchGame> = Vec::new();
    let mut faults = FaultList::default();
    let mut log_error = None;
    let start = Instant::now();
    let on_game = |game: MatchGame| {
        score.add(&game);
        if args.verbose {
            eprint_message(game_line(&config, &game, &score, args.games));
        } else {
            display.show(|| vec![progress_line(&score, args.games)]);
        }
        faults.add(&config, &game);
        log_error = log_error.take().or_else(|| game.played.log_error.clone());
        if args.pdn.is_some() {
            games.push(game);
        }
    };
    let result = match &coordinator {
        None => matches::play(&config, &knowledge, &stop, on_game),
        Some(coordinator) => {
            let uses_tables = uses_tables(&config.settings, config.players.iter());
            let name = format!("{first} against {second}");
            let mut run = args.players.fleet.run(name, uses_tables.then_some(&config.game));
            let entrants = matches::entrants(&config);
            coordinator.upload(&mut run, &entrants.each_ref())?;
            let executor = coordinator.executor(run, &entrants.each_ref().map(Some));
            matches::play_on(&executor, &config, &knowledge, &stop, on_game)
        }
    };
    display.finish(format_args!("Played {}", counted(score.all.games().into(), "game")));
    let (failure, is_bot_failure) = match result {
        Ok(()) => (None, false),
        Err(JobError::StartFailed(message)) => (Some(message), true),
        // The machine's fault: report the games played so far.
        Err(JobError::Unavailable(message)) => (Some(message), false),
        Err(error @ JobError::Other(_)) => return Err(error.into()),
    };
    // A match without a finished game does not overwrite the games of an earlier one.
    if let Some(output) = output.filter(|_| !games.is_empty()) {
        games.sort_by_key(|game| (game.pair, game.first));
        write_games(output, &config, &games)?;
    }
    let is_interrupted = failure.is_none() && score.all.games() < args.games;
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut object = match_json(&config, &score, &faults, is_interrupted, start.elapsed());
        object["failure"] = json!(failure);
        let programs = config.players.each_ref().map(PlayerSpec::program);
        object["isolation"] = isolation_json(isolation.as_ref(), &programs);
        writeln!(out, "{object}")?;
    } else if failure.is_none() {
        write_report(&mut out, &config, &score)?;
        let hint = "--log DIR writes one for each game and bot.";
        faults.report.write(&mut out, "--log DIR logs every game.", hint)?;
    }
    if let Some(error) = &log_error {
        eprint_message(format_args!("crownhead: the logs are incomplete: {error}"));
    }
    match failure {
        _ if is_interrupted => Err(Failure::Interrupted),
        _ if log_error.is_some() => Err(Failure::Reported),
        Some(message) if is_bot_failure => Err(Failure::Bot(Some(message))),
        Some(message) => Err(anyhow::anyhow!(message).into()),
        None if faults.has_fatal => Err(Failure::Bot(None)),
        None => Ok(()),
    }
}

/// Faults of the match, a limited number of them in detail.
#[derive(Default)]
struct FaultList {
    /// Listed faults by whether they are minor, game and position in the game: fatal ones first,
    /// so that they are not cut off.
    listed: BTreeMap<(bool, i64, usize), Value>,
    /// Number of all faults.
    count: usize,
    /// Whether a bot forfeited a game or ended.
    has_fatal: bool,
    report: FaultReport,
}

impl FaultList {
    fn add(&mut self, config: &MatchConfig, game: &MatchGame) {
        self.count += game.faults().iter().sum::<u32>() as usize;
        let names = [game.first, 1 - game.first].map(|player| config.players[player].short_name());
        self.report.add(&ReportedGame {
            game: &config.game,
            number: game.number(),
            played: &game.played,
            names: names.each_ref().map(String::as_str),
            log: config.log.as_deref(),
            shows_player: false,
        });
        for (position, incident) in game.played.incidents.iter().enumerate() {
            let player = game.first ^ incident.side;
            let is_bot = config.players[player].program().is_some();
            self.has_fatal |= incident.is_fatal && is_bot;
            let number = game.number();
            let object = json!({
                "game": number,
                "player": player,
                "side": config.game.info().sides[incident.side].letter,
                "ply": incident.ply,
                "code": incident.code,
                "message": incident.message,
                "received": incident.received,
                "position": incident.position,
                "moves": incident.moves,
                "description": incident.description,
                "stderr": incident.stderr,
            });
            self.listed.insert((!incident.is_fatal, number, position), object);
            if self.listed.len() > MAX_LISTED_FAULTS {
                self.listed.pop_last();
            }
        }
    }

    /// Returns the listed faults in the order of the games.
    fn in_order(&self) -> Vec<&Value> {
        let mut listed: Vec<_> = self.listed.iter().collect();
        listed.sort_by_key(|((_, game, position), _)| (*game, *position));
        listed.into_iter().map(|(_, object)| object).collect()
    }

    fn omitted(&self) -> usize {
        self.count - self.listed.len()
    }
}

/// Parses a duration that may be zero.
fn parse_grace(text: &str) -> Result<Duration, ParseTimeError> {
    if matches!(text.trim(), "0ms" | "0s") { Ok(Duration::ZERO) } else { parse_duration(text) }
}

fn parse_player(text: &str) -> Result<PlayerSpec, Failure> {
    text.parse().map_err(|error: SpecError| match error.is_file {
        true => Failure::BadInput(error.to_string()),
        false => Failure::Usage(error.to_string()),
    })
}

impl MatchArgs {
    /// Checks the options, and creates the folder for logs.
    pub(crate) fn config(&self, pairs: u32) -> Result<MatchConfig, Failure> {
        let args = self;
        let time_control = match args.movetime {
            Some(time) => TimeControl::PerMove(time),
            None => args.time.unwrap_or_default(),
        };
        let mut players = [parse_player(&args.first)?, parse_player(&args.second)?];
        let time_control = matches::apply_default_limits(&mut players, time_control, args.nodes);
        if players[0] == players[1] {
            // A clone shares the build: a bot that plays itself is built once.
            players[1] = players[0].clone();
        }
        for player in &players {
            player.supports(&args.game).map_err(Failure::Usage)?;
        }
        let fault_policy = args.policy.unwrap_or_else(|| FaultPolicy::default_for(&args.game));
        if !fault_policy.supports(&args.game) {
            let message =
                format!("turns cannot be skipped in {}: use forfeit or random-move", args.game);
            return Err(Failure::Usage(message));
        }
        if let Some(folder) = &args.log {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create log folder {}", folder.display()))?;
        }
        Ok(MatchConfig {
            game: args.game.clone(),
            players,
            pairs,
            settings: GameSettings {
                time_control,
                grace: args.grace,
                startup_timeout: args.startup_timeout,
                fault_policy,
                adjudication: args.adjudicate,
            },
            openings: parse_openings(&args.openings, &args.game)?,
            seed: args.seed,
            concurrency: args.concurrency.into(),
            log: args.log.clone(),
        })
    }
}

/// Parses the option `--openings`; a name of a file is read.
pub fn parse_openings(text: &str, game: &Game) -> Result<Openings, Failure> {
    Openings::parse_spec(text, game, |name| std::fs::read(name)).map_err(|error| match error {
        OpeningsError::Text(message) => Failure::Usage(message),
        OpeningsError::File(message) => Failure::BadInput(message),
        OpeningsError::Unreadable(message) => anyhow::anyhow!(message).into(),
    })
}

fn write_games(
    output: AtomicFile,
    config: &MatchConfig,
    games: &[MatchGame],
) -> Result<(), Failure> {
    let mut out = BufWriter::new(output.file());
    for game in games {
        write_game(&mut out, &game.record(config)).context("cannot write a game")?;
    }
    out.flush().context("cannot write a game")?;
    drop(out);
    Ok(output.commit()?)
}

/// Formats the score so far.
fn progress_line(score: &MatchScore, games: u32) -> String {
    let Wdl { wins, draws, losses } = score.all;
    let percent = 100.0 * score.all.score().unwrap_or(0.5);
    let mut line =
        format!("{}/{games}  +{wins} ={draws} -{losses}  {percent:.1} %", score.all.games());
    if let Some(estimate) = score.pairs.estimate() {
        let pairs = score.pairs.0.map(|count| count.to_string()).join(" ");
        let (elo, los) = (elo_text(&estimate), 100.0 * estimate.los);
        line.push_str(&format!("  pairs {pairs}  Elo {elo}  LOS {los:.1} %"));
    }
    line
}

/// Formats a finished game and the score so far.
fn game_line(config: &MatchConfig, game: &MatchGame, score: &MatchScore, games: u32) -> String {
    let [first, second] = [game.first, 1 - game.first].map(|player| &config.players[player]);
    let summary = game.summary();
    format!(
        "game {}: {first} - {second} {}, {}, {}; {}",
        game.number(),
        summary.result(),
        summary.reason,
        counted(summary.plies.into(), "ply"),
        progress_line(score, games)
    )
}

fn write_report(
    out: &mut impl Write,
    config: &MatchConfig,
    score: &MatchScore,
) -> Result<(), Failure> {
    let MatchScore { all, by_colour, pairs, ends, timeouts, faults, slowest_move, .. } = score;
    let MatchConfig { game, players: [first, second], openings, seed, .. } = config;
    writeln!(out, "{first} against {second}, {game}, {}", config.settings.time_control)?;
    writeln!(out, "games     {}, openings {openings}, seed {seed}", all.games())?;
    writeln!(out, "result    {}", wdl_text(all))?;
    for (side, wdl) in game.info().sides.iter().zip(by_colour) {
        writeln!(out, "{:<9} {}", format!("as {}", side.name), wdl_text(wdl))?;
    }
    if let Some(estimate) = pairs.estimate() {
        let [score, error, los] =
            [estimate.score, estimate.error, estimate.los].map(|fraction| 100.0 * fraction);
        let count = counted(pairs.count().into(), "pair");
        writeln!(out, "score     {score:.1} % ± {error:.1} (95 %, from {count})")?;
        writeln!(out, "pairs     {}", pairs_text(&pairs.0))?;
        writeln!(out, "Elo       {}", elo_text(&estimate))?;
        writeln!(out, "LOS       {los:.1} %")?;
    }
    let ends: Vec<_> = ends.iter().map(|(code, count)| format!("{code} {count}")).collect();
    writeln!(out, "ends      {}", if ends.is_empty() { "none".into() } else { ends.join(", ") })?;
    writeln!(out, "length    {:.1} plies on average", average_plies(score))?;
    writeln!(out, "timeouts  {first} {}, {second} {}", timeouts[0], timeouts[1])?;
    let [first_ms, second_ms] = slowest_move.map(|time| time.as_secs_f64() * 1e3);
    writeln!(out, "slowest   {first} {first_ms:.1} ms, {second} {second_ms:.1} ms")?;
    if config.players.iter().any(|player| player.program().is_some()) {
        writeln!(out, "faults    {first} {}, {second} {}", faults[0], faults[1])?;
        writeln!(out, "referee   {:.3} s of CPU time", cpu_time().as_secs_f64())?;
    }
    Ok(())
}

fn wdl_text(wdl: &Wdl) -> String {
    let Wdl { wins, draws, losses } = wdl;
    let percent = wdl.score().map_or("no games".into(), |score| format!("{:.1} %", 100.0 * score));
    format!("+{wins} ={draws} -{losses}, {percent}")
}

pub(crate) fn pairs_text(counts: &[u32; 5]) -> String {
    let points = ["0", "½", "1", "1½", "2"];
    let texts = points.iter().zip(counts).map(|(points, count)| format!("{points}: {count}"));
    texts.collect::<Vec<_>>().join("  ")
}

pub(crate) fn elo_text(estimate: &Estimate) -> String {
    match (estimate.elo.is_finite(), estimate.elo_error.is_finite()) {
        (true, true) => format!("{:+.0} ± {:.0}", estimate.elo, estimate.elo_error),
        (true, false) => format!("{:+.0}, error unbounded", estimate.elo),
        (false, _) if estimate.elo > 0.0 => "unbounded: all games were won".into(),
        (false, _) => "unbounded: all games were lost".into(),
    }
}

fn average_plies(score: &MatchScore) -> f64 {
    score.plies as f64 / f64::from(score.all.games().max(1))
}

fn match_json(
    config: &MatchConfig,
    score: &MatchScore,
    faults: &FaultList,
    is_interrupted: bool,
    time: Duration,
) -> Value {
    let wdl = |wdl: &Wdl| {
        json!({
            "wins": wdl.wins,
            "draws": wdl.draws,
            "losses": wdl.losses,
            "score": wdl.score(),
        })
    };
    let finite = |number: f64| number.is_finite().then_some(number);
    let estimate = score.pairs.estimate();
    json!({
        "game": config.game.to_string(),
        "players": config.players.each_ref().map(PlayerSpec::to_string),
        "time": config.settings.time_control.to_string(),
        "openings": config.openings.to_string(),
        "seed": config.seed,
        "games": score.all.games(),
        "interrupted": is_interrupted,
        "result": wdl(&score.all),
        "first": wdl(&score.by_colour[0]),
        "second": wdl(&score.by_colour[1]),
        "pairs": score.pairs.0,
        "score": estimate.map(|estimate| estimate.score),
        "error": estimate.map(|estimate| estimate.error),
        "elo": estimate.and_then(|estimate| finite(estimate.elo)),
        "elo_error": estimate.and_then(|estimate| finite(estimate.elo_error)),
        "los": estimate.map(|estimate| estimate.los),
        "ends": score.ends,
        "plies": average_plies(score),
        "timeouts": score.timeouts,
        "slowest_ms": score.slowest_move.map(|time| time.as_secs_f64() * 1e3),
        "policy": config.settings.fault_policy.code(),
        "adjudication": config.settings.adjudication.to_string(),
        "faults": score.faults,
        "incidents": faults.in_order(),
        "incidents_omitted": faults.omitted(),
        "cpu_seconds": cpu_time().as_secs_f64(),
        "seconds": time.as_secs_f64(),
    })
}
