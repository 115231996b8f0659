//! `tournament run` and `tournament resume`.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use crownhead_fleet::{Coordinator, FleetRun};
use crownhead_play::Knowledge;
use crownhead_report::standings::json;
use crownhead_tournament::config::read_file;
use crownhead_tournament::events::Event;
use crownhead_tournament::journal::{Journal, JournalError, Snapshot, State};
use crownhead_tournament::resume::{FinishedGames, ResumePlan, compare};
use crownhead_tournament::runner::{self, RunControl, RunError, RunOutcome};
use crownhead_tournament::{IsolationRecord, Tournament};

use super::live::LiveScreen;
use super::progress::Progress;
use super::{Resume, Run, config_failure, games_text, journal_failure, print_warnings, show};
use crate::failure::Failure;
use crate::fleet::FleetArgs;
use crate::knowledge::{load_for_players, uses_tables};
use crate::output::eprint_message;

pub(super) fn run(args: &Run) -> Result<(), Failure> {
    let (tournament, text) = read_file(&args.file).map_err(config_failure)?;
    let path = Journal::path_for(&args.file);
    if path.exists() {
        return Err(journal_exists(&args.file, &path));
    }
    check_isolation(&tournament)?;
    print_warnings(&tournament.warnings);
    let coordinator = args.fleet.join(tournament.has_bots().then_some(tournament.isolation))?;
    let journal = Journal::create(&path, &tournament, &text).map_err(journal_failure)?;
    let coordinator = coordinator.as_ref().map(|coordinator| (coordinator, &args.fleet));
    play_and_report(&args.file, &tournament, journal, args.json, coordinator)
}

/// Fails if required isolation is unavailable, before anything is written.
fn check_isolation(tournament: &Tournament) -> Result<(), Failure> {
    match IsolationRecord::detect(tournament) {
        Ok(_) => Ok(()),
        Err(message) => Err(anyhow::anyhow!(message).into()),
    }
}

/// Explains why a tournament with a journal cannot be run from the start.
fn journal_exists(file: &Path, path: &Path) -> Failure {
    // Opening and closing the journal merges the log that a crash left beside it: then there is
    // one file to move.
    match Journal::open(path) {
        Err(error @ JournalError::NotAJournal(_)) => {
            let hint = "move it away, or rename the tournament file";
            return Failure::BadInput(format!("{error}: {hint}"));
        }
        Err(error) => return journal_failure(error),
        Ok(journal) => drop(journal),
    }
    anyhow::anyhow!(
        "journal {} already exists. To play the missing games, run `crownhead tournament resume \
         {}`. Or {}",
        path.display(),
        file.display(),
        start_new_journal(path)
    )
    .into()
}

/// Explains how to start a new journal.
fn start_new_journal(path: &Path) -> String {
    // A reader may keep the log in use.
    let mut files = vec![path.to_path_buf()];
    files.extend(Journal::logs(path));
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    format!("start a new journal: move {} away", files.join(" and "))
}

pub(super) fn resume(args: &Resume) -> Result<(), Failure> {
    let (tournament, text) = read_file(&args.file).map_err(config_failure)?;
    let path = Journal::path_for(&args.file);
    let file = args.file.display();
    if !path.exists() {
        let journal = path.display();
        return Err(anyhow::anyhow!(
            "nothing to resume: there is no journal {journal}. To start, run `crownhead tournament \
             run {file}`"
        )
        .into());
    }
    let mut journal = Journal::open(&path).map_err(journal_failure)?;
    check_isolation(&tournament)?;
    print_warnings(&tournament.warnings);
    let coordinator = args.fleet.join(tournament.has_bots().then_some(tournament.isolation))?;
    let snapshot = journal.snapshot().map_err(journal_failure)?;
    if snapshot.state == State::Cancelled && !args.reopen {
        return Err(anyhow::anyhow!("{file} was cancelled; resume it with --reopen").into());
    }
    let replay_players = player_indices(&snapshot, &args.replay_player)?;
    let plan = compare(&tournament, &snapshot);
    let finished_games = choose(args, &tournament, &plan, &snapshot, &path)?;
    let voided = plan
        .apply(&mut journal, &tournament, &text, finished_games, &replay_players)
        .map_err(journal_failure)?;
    if voided > 0 {
        eprint_message(format_args!("voided {}; they stay in the journal", games_text(voided)));
    }
    let coordinator = coordinator.as_ref().map(|coordinator| (coordinator, &args.fleet));
    play_and_report(&args.file, &tournament, journal, args.json, coordinator)
}

/// Looks up players by name.
fn player_indices(snapshot: &Snapshot, names: &[String]) -> Result<Vec<usize>, Failure> {
    let index = |name: &String| {
        let index = snapshot.players.iter().position(|player| player.name == *name);
        index.ok_or_else(|| show::unknown_player(name, &snapshot.names()))
    };
    names.iter().map(index).collect()
}

/// Decides what to do with finished games that a change affects, by the flags of the organiser.
fn choose(
    args: &Resume,
    tournament: &Tournament,
    plan: &ResumePlan,
    snapshot: &Snapshot,
    journal: &Path,
) -> Result<FinishedGames, Failure> {
    for change in &plan.changes {
        eprint_message(format_args!("changed: {}", change.message));
    }
    let schedule = tournament.schedule.code();
    if !plan.can_replay() && !args.replay_player.is_empty() {
        return Err(Failure::Usage(format!(
            "cannot replay games of a {schedule}: later pairings depend on the results; {}",
            start_new_journal(journal)
        )));
    }
    let affected = plan.affected_games(snapshot).len();
    if affected == 0 {
        return Ok(FinishedGames::Replay);
    }
    let finished = games_text(snapshot.finished().count());
    let affected = format!("the changes affect {affected} of {finished} played");
    let replay = match plan.can_replay() {
        true => "--replay replays them (the old results stay in the journal as voided)".into(),
        false => start_new_journal(journal),
    };
    let message = match plan.must_replay_because() {
        Some(_) if args.replay && plan.can_replay() => return Ok(FinishedGames::Replay),
        None if args.keep => return Ok(FinishedGames::Keep),
        None if args.replay && plan.can_replay() => return Ok(FinishedGames::Replay),
        Some(reason) => format!("{affected}, which cannot be kept: {reason}; {replay}"),
        None if args.replay => format!(
            "{affected}, which cannot be replayed: later pairings of a {schedule} depend on \
             them; --keep keeps their results, or {replay}"
        ),
        None => format!("{affected}: --keep keeps their results; {replay}"),
    };
    Err(Failure::Usage(message))
}

/// Plays the missing games and prints the standings.
fn play_and_report(
    file: &Path,
    tournament: &Tournament,
    journal: Journal,
    is_json: bool,
    fleet: Option<(&Coordinator, &FleetArgs)>,
) -> Result<(), Failure> {
    if let Some(folder) = &tournament.log {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create log folder {}", folder.display()))?;
    }
    let players = || tournament.entrants.iter().filter_map(|entrant| entrant.player.as_ref().ok());
    let knowledge = load_for_players(&tournament.game, &tournament.game_settings, players());
    let control = control_by_signals();
    let run = match fleet {
        None => None,
        Some((coordinator, args)) => {
            if tournament.log.is_some() {
                eprint_message("bots on other machines write no logs here: log = … has no effect");
            }
            let uses_tables = uses_tables(&tournament.game_settings, players());
            let finish = control.finish_running.clone();
            let run =
                args.run_with_journal(coordinator, tournament, &journal, uses_tables, finish)?;
            Some((coordinator, run))
        }
    };
    let path = journal.path().to_path_buf();
    let screen = if is_json { None } else { LiveScreen::for_run(&path, &control) };
    let mut progress = Progress::new(tournament, is_json, screen);
    let result = play(tournament, journal, &knowledge, &control, run, &mut |event| {
        progress.on_event(event);
    });
    progress.finish();
    let snapshot = Journal::open_read_only(&path).and_then(|journal| journal.snapshot());
    // If a bot changed during the run, some of its games were played by the new version.
    for snapshot in snapshot.iter() {
        for change in compare(tournament, snapshot).changes {
            eprint_message(format_args!("warning: changed during the run: {}", change.message));
        }
    }
    if is_json {
        let (how, message) = match &result {
            Ok(outcome) => (outcome.code(), None),
            Err(error) => ("failed", Some(error.to_string())),
        };
        let snapshot = snapshot.as_ref().ok();
        let standings =
            snapshot.map(|snapshot| json::rows(&snapshot.standings(), &snapshot.names()));
        let standings = standings.unwrap_or_default();
        progress.on_event(&Event::RunEnded { how, message, standings });
    }
    let outcome = result.map_err(|error| match error {
        RunError::Journal(error) => journal_failure(error),
        error => error.into(),
    })?;
    let snapshot = snapshot.map_err(journal_failure)?;
    if !is_json {
        let mut out = std::io::stdout().lock();
        show::write_standings(&mut out, &snapshot, false)?;
        out.flush()?;
        let hint =
            format!("crownhead tournament games {} NUMBER lists those of a game.", file.display());
        let log_hint = "log = \"DIR\" in the tournament file writes one for each game and bot.";
        progress.faults.write(&mut std::io::stderr().lock(), &hint, log_hint)?;
    }
    let unfinished = snapshot.games.iter().filter(|game| game.summary.is_none()).count();
    let unfinished = games_text(unfinished);
    let file = file.display();
    match outcome {
        RunOutcome::Finished => {
            match snapshot.finished().any(|(_, summary)| summary.forfeit.is_some()) {
                true => Err(Failure::Bot(None)),
                false => Ok(()),
            }
        }
        RunOutcome::Interrupted => {
            eprint_message(format_args!(
                "interrupted; {unfinished} scheduled but not played. Resume with: crownhead \
                 tournament resume {file}"
            ));
            Err(Failure::Interrupted)
        }
        RunOutcome::Cancelled => Err(anyhow::anyhow!(
            "the tournament was cancelled; {unfinished} scheduled but not played"
        )
        .into()),
    }
}

/// Plays the missing games, on this machine or on the workers of a fleet.
pub(crate) fn play(
    tournament: &Tournament,
    journal: Journal,
    knowledge: &Knowledge,
    control: &RunControl,
    fleet: Option<(&Coordinator, FleetRun)>,
    on_event: &mut dyn FnMut(&Event),
) -> Result<RunOutcome, RunError> {
    match fleet {
        None => runner::run(tournament, journal, knowledge, control, on_event),
        Some((coordinator, run)) => {
            runner::run_on(tournament, journal, knowledge, control, on_event, &|players| {
                Box::new(coordinator.executor(run.clone(), players))
            })
        }
    }
}

/// The first Ctrl-C lets running games finish, the second aborts them, the third exits at once.
pub(crate) fn control_by_signals() -> RunControl {
    let control = RunControl::default();
    let flags = control.clone();
    // Without a handler the first Ctrl-C exits; no reported game is lost.
    let _ = ctrlc::set_handler(move || {
        if flags.abort.is_set() {
            crownhead_sandbox::reaper::kill_all();
            crownhead_terminal::screen::restore_terminal();
            std::process::exit(130);
        }
        eprint_message(interrupt(&flags));
    });
    control
}

/// Lets running games finish or, the second time, aborts them. Returns a message.
pub(super) fn interrupt(flags: &RunControl) -> &'static str {
    if flags.finish_running.is_set() {
        flags.abort.set();
        return "aborting the running games";
    }
    flags.finish_running.set();
    "finishing the running games; press Ctrl-C again to abort them"
}
