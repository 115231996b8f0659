//! `crownhead tune`: finds better search parameters in games between neighbouring values (SPSA).

mod games;
mod state;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::value_parser;
use crownhead_cli::matches::parse_openings;
use crownhead_files::write_atomic;
use crownhead_play::{
    Adjudication, BuiltinSpec, GameSettings, PlayerKind, counted, derive_seed, format_duration,
    parse_duration,
};
use crownhead_rules::Game;
use crownhead_search::SearchParams;
use crownhead_search::params::{PARAMS, find_param};
use crownhead_statistics::spsa::{Spsa, SpsaParam};

use self::games::Games;
use self::state::State;
use crate::failure::Failure;
use crate::knowledge::load_or_warn;
use crate::output::{LiveDisplay, eprint_message};
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game, with options: english, contest:kings=true, …
    game: Game,
    /// Output file for the parameters; its state is kept beside it in FILE.state, so that the same
    /// command resumes the run
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Parameters to tune, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_param)]
    params: Vec<usize>,
    /// Number of iterations
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000_000))]
    iterations: u32,
    /// Pairs of games per iteration, each in another direction
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Fraction of a step that a value moves per game of difference, in the last iteration
    #[arg(long, value_name = "RATE", default_value_t = 0.02, value_parser = parse_rate)]
    rate: f64,
    /// Nodes per move
    #[arg(long, value_name = "N", default_value_t = 5000, conflicts_with = "cputime")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// CPU time per move instead of nodes; results are then not reproducible
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    cputime: Option<Duration>,
    /// Openings: start, random:PLIES, ballots, ballots:crossboard, ballots:11man, or a file with a
    /// position or the moves from the start on each line
    #[arg(long, value_name = "OPENINGS", default_value = "random:6")]
    openings: String,
    /// When the referee ends a game early: draw-score=10,draw-moves=8,draw-after=20,
    /// resign-score=400,resign-moves=4,max-moves=150,tables=true
    #[arg(long, value_name = "RULES", default_value = "off")]
    adjudicate: Adjudication,
    /// Threads; each plays its own pairs
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

fn parse_param(text: &str) -> Result<usize, String> {
    find_param(text.trim()).map_err(|error| error.to_string())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0);
    rate.ok_or_else(|| "expected a number above 0, at most 1".into())
}

/// Size of a player's transposition table in MB: enough for some thousand nodes per move.
const HASH_MB: u32 = 16;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut params = match args.params.as_slice() {
        [] => (0..PARAMS.len()).collect(),
        params => params.to_vec(),
    };
    params.sort_unstable();
    if let Some(twice) = params.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = PARAMS[twice[0]].name;
        return Err(Failure::Usage(format!("the parameter {name} is given twice")));
    }
    let openings = parse_openings(&args.openings, &args.game)?;
    let old = SearchParams::of_game(&args.game).values();
    let spsa = Spsa {
        params: params.iter().map(|&index| limits(index)).collect(),
        iterations: args.iterations,
        rate: args.rate,
        iteration: 0,
        values: params.iter().map(|&index| old[index].into()).collect(),
    };
    let command = command(args, &params);
    let mut state = State::open(args.output.as_deref(), &command, &params, spsa)?;
    // Created now, so that an error does not waste the games.
    state.save()?;
    let knowledge = load_or_warn(&args.game);
    let mut player = BuiltinSpec::new(PlayerKind::Best);
    player.options.hash = Some(HASH_MB);
    player.options.cputime = args.cputime;
    player.options.nodes = args.cputime.is_none().then_some(args.nodes);
    let games = Games {
        game: &args.game,
        knowledge: &knowledge,
        settings: GameSettings {
            adjudication: args.adjudicate,
            ..GameSettings::default_for(&args.game)
        },
        openings: openings.picker(&args.game, &knowledge, args.seed),
        player,
        params: &params,
        threads: args.threads.into(),
        seed: args.seed,
    };
    let first = state.spsa.iteration;
    let left = args.iterations - first;
    if first > 0 {
        eprint_message(format_args!("Resuming after {}", counted(first.into(), "iteration")));
    }
    if left > 0 {
        eprint_message(format_args!(
            "Tuning {} of {} in {} of {} …",
            counted(params.len() as u64, "parameter"),
            args.game,
            counted(left.into(), "iteration"),
            counted(u64::from(args.pairs) * 2, "game")
        ));
        tune(args, &games, &mut state)?;
    }
    let tuned = state.changes();
    if let Some(path) = &args.output {
        write_atomic(path, &parameter_file(&command, &old, &state))?;
    }
    write_table(&old, &state)?;
    let option = match &args.output {
        Some(path) => format!("params={}", path.display()),
        None => tuned.to_string(),
    };
    eprint_message(format_args!(
        "Test it: crownhead sprt best:cputime=20ms,{option} best:cputime=20ms --game {}",
        args.game
    ));
    Ok(())
}

/// Plays the missing iterations.
fn tune(args: &Args, games: &Games<'_>, state: &mut State<'_>) -> Result<(), Failure> {
    let stop = stop_on_interrupt();
    let mut display = LiveDisplay::new();
    let (first, start) = (state.spsa.iteration, Instant::now());
    while state.spsa.iteration < args.iterations {
        let iteration = state.spsa.iteration;
        let mut rng =
            fastrand::Rng::with_seed(derive_seed(&[args.seed, u64::from(iteration), u64::MAX]));
        let trials: Vec<_> = (0..args.pairs).map(|_| state.spsa.trial(|| rng.f64())).collect();
        let results = games.play(&trials, iteration.wrapping_mul(args.pairs), &stop)?;
        let Some(results) = results else { return Err(Failure::Interrupted) };
        state.spsa.update(trials.iter().zip(results));
        state.save()?;
        let done = state.spsa.iteration - first;
        let left = start.elapsed() / done * (args.iterations - state.spsa.iteration);
        display.show(|| {
            let progress = format!("iteration {}/{}", state.spsa.iteration, args.iterations);
            let values = state.changes();
            vec![format!("{progress}, {} s left: {values}", left.as_secs())]
        });
    }
    let played = u64::from(args.iterations - first) * u64::from(args.pairs) * 2;
    display.finish(format_args!("Played {}", counted(played, "game")));
    Ok(())
}

fn limits(index: usize) -> SpsaParam {
    let param = &PARAMS[index];
    SpsaParam { min: param.min.into(), max: param.max.into(), step: param.step }
}

/// The command that gives the same parameters.
fn command(args: &Args, params: &[usize]) -> String {
    let Args { game, iterations, pairs, rate, openings, adjudicate, seed, .. } = args;
    let names: Vec<_> = params.iter().map(|&index| PARAMS[index].name).collect();
    let limit = match args.cputime {
        Some(time) => format!("--cputime {}", format_duration(time)),
        None => format!("--nodes {}", args.nodes),
    };
    // Debug format quotes the openings, so that a path stays one word on one line.
    format!(
        "crownhead tune {game} --params {} --iterations {iterations} --pairs {pairs} --rate {rate} \
         {limit} --openings {openings:?} --adjudicate {adjudicate} --seed {seed}",
        names.join(",")
    )
}

/// The parameter file: one line per parameter.
fn parameter_file(command: &str, old: &[i32], state: &State<'_>) -> String {
    let mut text = format!("# Search parameters made by\n# {command}\n");
    for (index, value) in state.rounded() {
        let (name, old) = (PARAMS[index].name, old[index]);
        text.push_str(&format!("{name} = {value} # was {old}\n"));
    }
    text
}

fn write_table(old: &[i32], state: &State<'_>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<20} {:>6} {:>6}", "parameter", "old", "new")?;
    for (index, value) in state.rounded() {
        writeln!(out, "{:<20} {:>6} {value:>6}", PARAMS[index].name, old[index])?;
    }
    Ok(())
}
