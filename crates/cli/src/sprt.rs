//! `crownhead sprt`: plays game pairs until a sequential probability ratio test has a result.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use clap::value_parser;
use crownhead_bots::PlayerSpec;
use crownhead_play::counted;
use crownhead_statistics::ratings::Estimated;
use crownhead_statistics::sprt::{Decision, EloModel, Sprt, normalised_elo};
use crownhead_statistics::{GamePoints, Pentanomial, Wdl};
use crownhead_tournament::events::Event;
use crownhead_tournament::journal::{Journal, Snapshot};
use crownhead_tournament::matches::MatchConfig;
use crownhead_tournament::resume::{FinishedGames, compare};
use crownhead_tournament::runner::{RunError, RunOutcome};
use crownhead_tournament::standings::TieBreak;
use crownhead_tournament::{Colours, Entrant, Points, Schedule, Tournament};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::knowledge::{load_for_players, uses_tables};
use crate::matches::{MatchArgs, elo_text, pairs_text};
use crate::output::{LiveDisplay, eprint_message};
use crate::tournament::{control_by_signals, journal_failure, play};

/// Args of `crownhead sprt`.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 H1 accepted (PLAYER1 is stronger by about ELO1 or more), 10 H0 accepted, 11 stopped
undecided. A test that was interrupted or killed is resumed by the same command.")]
pub struct Args {
    #[command(flatten)]
    players: MatchArgs,
    /// Elo difference under the null hypothesis H0
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    elo0: f64,
    /// Elo difference under the alternative hypothesis H1
    #[arg(long, value_name = "ELO", default_value_t = 5.0, allow_negative_numbers = true)]
    elo1: f64,
    /// Probability of accepting H1 although H0 holds
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = parse_error_rate)]
    alpha: f64,
    /// Probability of accepting H0 although H1 holds
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = parse_error_rate)]
    beta: f64,
    /// Normalised Elo instead of logistic Elo in --elo0 and --elo1
    #[arg(long)]
    normalised: bool,
    /// Number of games after which the test stops undecided
    #[arg(long, value_name = "N", default_value_t = 40_000)]
    #[arg(value_parser = value_parser!(u32).range(2..=1_000_000))]
    max_games: u32,
    /// Journal with the games of the test; an existing one is resumed
    #[arg(long, value_name = "FILE", default_value = "sprt.journal")]
    journal: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn parse_error_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| *rate > 0.0 && *rate < 0.5);
    rate.ok_or_else(|| "must be between 0 and 0.5".into())
}

/// Pairs of a test up to its decision.
struct TestState {
    sprt: Sprt,
    pairs: Pentanomial,
    all: Wdl,
    decision: Decision,
    /// First results of incomplete pairs, by opening.
    half_pairs: HashMap<u32, GamePoints>,
}

impl TestState {
    fn new(sprt: Sprt) -> TestState {
        let (pairs, all) = (Pentanomial::default(), Wdl::default());
        TestState { sprt, pairs, all, decision: Decision::Undecided, half_pairs: HashMap::new() }
    }

    /// Restores the state from a journal, by adding its games in the order in which they ended.
    fn from_journal(sprt: Sprt, snapshot: &Snapshot) -> TestState {
        let mut state = TestState::new(sprt);
        let mut games: Vec<_> = snapshot.finished().collect();
        games.sort_by_key(|(game, summary)| (summary.finished, game.number));
        for (game, summary) in games {
            state.add(game.opening, summary.winner.map(|side| game.players[side] == 0));
        }
        state
    }

    /// Adds a game, by whether the first player of the test won. Games after the decision do not
    /// count: they could revoke it.
    fn add(&mut self, opening: u32, won: Option<bool>) {
        if self.decision != Decision::Undecided {
            return;
        }
        let points = match won {
            None => GamePoints::Draw,
            Some(true) => GamePoints::Win,
            Some(false) => GamePoints::Loss,
        };
        self.all.add(points);
        match self.half_pairs.remove(&opening) {
            Some(other) => {
                self.pairs.add([other, points]);
                self.decision = self.sprt.decision(&self.pairs);
            }
            None => _ = self.half_pairs.insert(opening, points),
        }
    }

    fn llr_text(&self) -> String {
        let [lower, upper] = self.sprt.bounds();
        format!("{:.2} ({lower:.2}, {upper:.2})", self.sprt.llr(&self.pairs))
    }

    fn progress_lines(&self) -> Vec<String> {
        let Wdl { wins, draws, losses } = self.all;
        let estimate = self.pairs.estimate();
        let elo = estimate.as_ref().map_or("none yet".into(), elo_text);
        let los = estimate.map_or(50.0, |estimate| 100.0 * estimate.los);
        vec![
            format!("{} games  +{wins} ={draws} -{losses}", self.all.games()),
            format!("pairs {}", pairs_text(&self.pairs.0)),
            format!("LLR {}  Elo {elo}  LOS {los:.1} %", self.llr_text()),
        ]
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.elo0 >= args.elo1 || !(args.elo1 - args.elo0).is_finite() {
        return Err(Failure::Usage("--elo1 must be greater than --elo0".into()));
    }
    let model = if args.normalised { EloModel::Normalised } else { EloModel::Logistic };
    let Args { elo0, elo1, alpha, beta, .. } = *args;
    let sprt = Sprt { elo0, elo1, alpha, beta, model };
    let mut config = args.players.config(args.max_games / 2)?;
    let programs = config.players.iter_mut().filter_map(PlayerSpec::program_mut);
    args.players.isolation.apply(programs)?;
    let mut tournament = tournament(args, &config);
    let isolation = tournament.has_bots().then_some(tournament.isolation);
    let coordinator = args.players.fleet.join(isolation)?;
    let control = control_by_signals();
    // Workers build the bots that they play.
    for player in config.players.iter().filter(|_| coordinator.is_none()) {
        let built = player.build(&control.abort);
        if control.finish_running.is_set() {
            return Err(Failure::Interrupted);
        }
        built.map_err(|error| Failure::Bot(Some(error.to_string())))?;
    }
    let journal = open_journal(args, &mut tournament)?;
    let mut state = TestState::from_journal(sprt, &journal.snapshot().map_err(journal_failure)?);
    let mut start_failure = None;
    let mut is_interrupted = false;
    if state.decision == Decision::Undecided {
        let knowledge = load_for_players(&config.game, &config.settings, config.players.iter());
        let [first, second] = &config.players;
        eprint_message(format_args!("Playing an SPRT: {first} against {second} …"));
        let first = &tournament.entrants[0].name;
        let (mut display, mut played) = (LiveDisplay::new(), 0);
        let run = match &coordinator {
            None => None,
            Some(coordinator) => {
                let (fleet, finish) = (&args.players.fleet, control.finish_running.clone());
                let uses_tables = uses_tables(&config.settings, config.players.iter());
                let run = fleet.run_with_journal(
                    coordinator,
                    &tournament,
                    &journal,
                    uses_tables,
                    finish,
                )?;
                Some((coordinator, run))
            }
        };
        let outcome = play(&tournament, journal, &knowledge, &control, run, &mut |event| {
            let Event::GameFinished(game, finished) = event else { return };
            played += 1;
            let winner = finished.summary.winner;
            state.add(game.opening, winner.map(|side| game.names[side] == *first));
            display.show(|| state.progress_lines());
            // A bot that does not start says nothing about strength.
            if finished.summary.reason == "start" {
                start_failure.get_or_insert_with(|| finished.description.clone());
            }
            if state.decision != Decision::Undecided || start_failure.is_some() {
                control.finish_running.set();
                control.abort.set();
            }
        });
        display.finish(format_args!("Played {}", counted(played, "game")));
        let outcome = outcome.map_err(|error| match error {
            RunError::Journal(error) => journal_failure(error),
            error => error.into(),
        })?;
        is_interrupted = outcome != RunOutcome::Finished && state.decision == Decision::Undecided;
    }
    if let Some(message) = start_failure {
        return Err(Failure::Bot(Some(message)));
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", sprt_json(args, &config, &state, is_interrupted))?;
    } else {
        write_report(&mut out, args, &config, &state)?;
    }
    if is_interrupted {
        eprint_message("interrupted; the same command resumes the test");
    }
    match state.decision {
        Decision::AcceptH1 => Ok(()),
        Decision::AcceptH0 => Err(Failure::Outcome(10)),
        Decision::Undecided => Err(Failure::Outcome(11)),
    }
}

/// Returns the test as a tournament of two players.
fn tournament(args: &Args, config: &MatchConfig) -> Tournament {
    let mut entrants = config.players.each_ref().map(|spec| Entrant {
        name: spec.to_string(),
        text: spec.to_string(),
        player: Ok(spec.clone()),
    });
    if entrants[0].name == entrants[1].name {
        entrants[1].name.push_str(" (2)");
    }
    Tournament {
        name: format!("SPRT of {} against {}", entrants[0].name, entrants[1].name),
        game: config.game.clone(),
        entrants: entrants.into(),
        schedule: Schedule::RoundRobin,
        games: 2 * config.pairs,
        colours: Colours::Balanced,
        game_settings: config.settings,
        isolation: args.players.isolation.isolation,
        limits: args.players.isolation.limits.unwrap_or_default(),
        openings: config.openings.clone(),
        openings_text: args.players.openings.clone(),
        seed: config.seed,
        points: Points::default(),
        tie_breaks: TieBreak::DEFAULT.to_vec(),
        concurrency: config.concurrency,
        exclusive_players: false,
        log: config.log.clone(),
        warnings: Vec::new(),
    }
}

/// Creates the journal, or opens that of the same test. Games that were played stay, even if
/// `--max-games` is lower now.
fn open_journal(args: &Args, tournament: &mut Tournament) -> Result<Journal, Failure> {
    let path = &args.journal;
    if !path.exists() {
        return Journal::create(path, tournament, "").map_err(journal_failure);
    }
    let mut journal = Journal::open(path).map_err(journal_failure)?;
    let snapshot = journal.snapshot().map_err(journal_failure)?;
    let finished = snapshot.finished().count() as u32;
    tournament.games = tournament.games.max(finished.next_multiple_of(2));
    let plan = compare(tournament, &snapshot);
    // The order matters, too: the hypotheses are about the first player.
    let names = tournament.entrants.iter().map(|entrant| &entrant.name);
    let has_same_players = names.eq(snapshot.players.iter().map(|player| &player.name));
    if !has_same_players || !plan.affected_games(&snapshot).is_empty() {
        let mut differences = vec![format!("it is {:?}", snapshot.name)];
        differences.extend(plan.changes.iter().map(|change| change.message.clone()));
        return Err(Failure::Usage(format!(
            "{} belongs to another test ({}): choose another --journal, or move it away",
            path.display(),
            differences.join("; ")
        )));
    }
    plan.apply(&mut journal, tournament, "", FinishedGames::Keep, &[]).map_err(journal_failure)?;
    Ok(journal)
}

fn write_report(
    out: &mut impl Write,
    args: &Args,
    config: &MatchConfig,
    state: &TestState,
) -> Result<(), Failure> {
    let [first, second] = &config.players;
    let Wdl { wins, draws, losses } = state.all;
    let Sprt { elo0, elo1, alpha, beta, .. } = state.sprt;
    let scale = if args.normalised { "normalised Elo" } else { "Elo" };
    writeln!(out, "{first} against {second}, {}, {}", config.game, config.settings.time_control)?;
    writeln!(out, "test      H0 {elo0} {scale}, H1 {elo1} {scale}, alpha {alpha}, beta {beta}")?;
    writeln!(out, "games     {}: +{wins} ={draws} -{losses}", state.all.games())?;
    writeln!(out, "pairs     {}", pairs_text(&state.pairs.0))?;
    if let Some(estimate) = state.pairs.estimate() {
        writeln!(out, "Elo       {}", elo_text(&estimate))?;
        if let Some(Estimated { value, error }) = normalised_elo(&state.pairs) {
            writeln!(out, "nElo      {value:+.0} ± {error:.0} (normalised)")?;
        }
        writeln!(out, "LOS       {:.1} %", 100.0 * estimate.los)?;
    }
    writeln!(out, "LLR       {}", state.llr_text())?;
    let decision = match state.decision {
        Decision::AcceptH1 => "H1 accepted",
        Decision::AcceptH0 => "H0 accepted",
        Decision::Undecided => "undecided",
    };
    writeln!(out, "decision  {decision}")?;
    Ok(())
}

fn sprt_json(args: &Args, config: &MatchConfig, state: &TestState, interrupted: bool) -> Value {
    let finite = |number: f64| number.is_finite().then_some(number);
    let estimate = state.pairs.estimate();
    let normalised = normalised_elo(&state.pairs);
    json!({
        "game": config.game.to_string(),
        "players": config.players.each_ref().map(PlayerSpec::to_string),
        "decision": state.decision.code(),
        "interrupted": interrupted,
        "llr": state.sprt.llr(&state.pairs),
        "bounds": state.sprt.bounds(),
        "elo0": args.elo0,
        "elo1": args.elo1,
        "alpha": args.alpha,
        "beta": args.beta,
        "scale": if args.normalised { "normalised" } else { "logistic" },
        "games": state.all.games(),
        "result": {
            "wins": state.all.wins, "draws": state.all.draws, "losses": state.all.losses,
        },
        "pairs": state.pairs.0,
        "elo": estimate.and_then(|estimate| finite(estimate.elo)),
        "elo_error": estimate.and_then(|estimate| finite(estimate.elo_error)),
        "los": estimate.map(|estimate| estimate.los),
        "normalised_elo": normalised.map(|estimate| estimate.value),
        "normalised_elo_error": normalised.map(|estimate| estimate.error),
        "journal": args.journal.display().to_string(),
    })
}
