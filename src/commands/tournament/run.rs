//! Running and resuming a tournament.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use crownhead_bots::PlayerSpec;
use crownhead_play::knowledge_for;
use crownhead_tournament::config::read_file;
use crownhead_tournament::events::Event;
use crownhead_tournament::journal::{Journal, JournalError, Snapshot, State};
use crownhead_tournament::resume::{FinishedGames, ResumePlan, compare};
use crownhead_tournament::runner::{self, RunControl, RunError, RunOutcome};
use crownhead_tournament::standings::json;
use crownhead_tournament::{IsolationRecord, Tournament};

use super::progress::Progress;
use super::{Resume, Run, config_failure, games_text, journal_failure, say_notes, show};
use crate::commands::{Failure, say};

pub(super) fn run(arguments: &Run) -> Result<(), Failure> {
    let (tournament, text) = read_file(&arguments.file).map_err(config_failure)?;
    let path = Journal::path_for(&arguments.file);
    if path.exists() {
        return Err(journal_exists(&arguments.file, &path));
    }
    // Before anything is written, too.
    IsolationRecord::detect(&tournament).map_err(|why| anyhow::anyhow!(why))?;
    say_notes(&tournament.warnings);
    let journal = Journal::create(&path, &tournament, &text).map_err(journal_failure)?;
    go(&arguments.file, &tournament, journal, arguments.json)
}

/// Why a tournament that has a journal is not run.
fn journal_exists(file: &Path, path: &Path) -> Failure {
    // Opening and closing it folds in what a crash left beside it: then there is one file to put away.
    match Journal::open(path) {
        Err(error @ (JournalError::NotAJournal(_) | JournalError::Version { .. })) => {
            let why = "put it away, or give the contest file another name";
            return Failure::BadInput(format!("{error}: {why}"));
        }
        Err(error) => return journal_failure(error),
        Ok(journal) => drop(journal),
    }
    // Somebody may be looking at it just now.
    let mut files = vec![path.to_path_buf()];
    files.extend(Journal::logs(path));
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    anyhow::anyhow!(
        "there is a journal already, {}: `crownhead tournament resume {}` goes on with it; \
         to play anew, put {} away",
        path.display(),
        file.display(),
        files.join(" and ")
    )
    .into()
}

pub(super) fn resume(arguments: &Resume) -> Result<(), Failure> {
    let (tournament, text) = read_file(&arguments.file).map_err(config_failure)?;
    let path = Journal::path_for(&arguments.file);
    let file = arguments.file.display();
    if !path.exists() {
        let path = path.display();
        return Err(anyhow::anyhow!(
            "there is no journal {path} to go on with: `crownhead tournament run {file}` begins one"
        )
        .into());
    }
    let mut journal = Journal::open(&path).map_err(journal_failure)?;
    IsolationRecord::detect(&tournament).map_err(|why| anyhow::anyhow!(why))?;
    say_notes(&tournament.warnings);
    let snapshot = journal.snapshot().map_err(journal_failure)?;
    if snapshot.state == State::Cancelled && !arguments.reopen {
        let message = format!("{file} was cancelled; --reopen goes on with it nevertheless");
        return Err(anyhow::anyhow!(message).into());
    }
    let again = players(&snapshot, &arguments.replay_player)?;
    let comparison = compare(&tournament, &snapshot);
    let choice = choose(arguments, &tournament, &comparison, &snapshot)?;
    let void = comparison.apply(&mut journal, &tournament, &text, choice, &again);
    let void = void.map_err(journal_failure)?;
    if void > 0 {
        let (does, it) = if void == 1 { ("does", "it") } else { ("do", "them") };
        let games = games_text(void);
        say(format_args!("{games} {does} not count any more; the journal keeps {it} as voided"));
    }
    go(&arguments.file, &tournament, journal, arguments.json)
}

/// The places of players by name.
fn players(snapshot: &Snapshot, names: &[String]) -> Result<Vec<usize>, Failure> {
    let place = |name: &String| {
        let found = snapshot.players.iter().position(|player| player.name == *name);
        found.ok_or_else(|| {
            let names = snapshot.names().join(", ");
            Failure::Usage(format!("there is no player {name:?}: the players are {names}"))
        })
    };
    names.iter().map(place).collect()
}

/// What becomes of games that a change concerns. Where there are such games, the organiser must say.
fn choose(
    arguments: &Resume,
    tournament: &Tournament,
    comparison: &ResumePlan,
    snapshot: &Snapshot,
) -> Result<FinishedGames, Failure> {
    for difference in &comparison.changes {
        say(format_args!("changed: {}", difference.message));
    }
    let concerned = comparison.affected_games(snapshot).len();
    if concerned == 0 {
        // What is not finished yet is as the tournament file says now.
        return Ok(FinishedGames::Replay);
    }
    let forbidden = comparison.changes.iter().find_map(|other| other.must_replay_because.as_ref());
    match (arguments.keep, arguments.replay, forbidden) {
        (true, _, Some(why)) => Err(Failure::Usage(format!(
            "{} cannot be kept: {why}; --replay plays anew, or put the journal away and run the contest",
            games_text(concerned)
        ))),
        (true, _, None) => Ok(FinishedGames::Keep),
        (_, true, _) => Ok(FinishedGames::Replay),
        (false, false, forbidden) => {
            let keep = match forbidden {
                Some(why) => format!("they cannot be kept: {why}"),
                None => "--keep lets them count as they are".into(),
            };
            let finished = snapshot.finished().count();
            let s = if finished == 1 { "" } else { "s" };
            let later = match tournament.schedule.is_fixed() || concerned == finished {
                true => "",
                false => ", and all rounds after the first of them",
            };
            Err(Failure::Usage(format!(
                "this concerns {concerned} of {finished} finished game{s}: {keep}; --replay plays anew \
                 what is still wanted{later} (the old ones stay in the journal as voided)"
            )))
        }
    }
}

/// Plays what is missing and prints the table.
fn go(
    file: &Path,
    tournament: &Tournament,
    journal: Journal,
    is_json: bool,
) -> Result<(), Failure> {
    if let Some(folder) = &tournament.log {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {} for logs", folder.display()))?;
    }
    let (knowledge, missing) = knowledge_for(&tournament.game);
    let evaluates = |player: &PlayerSpec| player.uses_evaluation();
    let mut specs = tournament.entrants.iter().filter_map(|entrant| entrant.player.as_ref().ok());
    if let Some(missing) = missing.filter(|_| specs.any(evaluates)) {
        say(missing);
    }
    let signals = signals();
    let path = journal.path().to_path_buf();
    let mut progress = Progress::new(is_json);
    let result = runner::run(tournament, journal, &knowledge, &signals, &mut |event| {
        progress.show(event);
    });
    progress.end();
    let snapshot = Journal::open_read_only(&path).and_then(|journal| journal.snapshot());
    // A bot may have been changed meanwhile: some of its games are those of another.
    for snapshot in snapshot.iter() {
        for difference in compare(tournament, snapshot).changes {
            say(format_args!("note: while the contest ran: {}", difference.message));
        }
    }
    if is_json {
        let (how, message) = match &result {
            Ok(ending) => (ending.code(), None),
            Err(error) => ("failed", Some(error.to_string())),
        };
        let rows = snapshot.as_ref().ok();
        let standings = rows.map(|rows| json::rows(&rows.standings(), &rows.names()));
        let standings = standings.unwrap_or_default();
        progress.show(&Event::RunEnded { how, message, standings });
    }
    let ending = result.map_err(|error| match error {
        RunError::Journal(error) => journal_failure(error),
        error => error.into(),
    })?;
    let snapshot = snapshot.map_err(journal_failure)?;
    if !is_json {
        let mut out = std::io::stdout().lock();
        show::write_standings(&mut out, &snapshot, false)?;
        out.flush()?;
    }
    let left = snapshot.games.iter().filter(|game| game.end.is_none()).count();
    let file = file.display();
    match ending {
        RunOutcome::Finished => match snapshot.finished().any(|(_, end)| end.forfeit.is_some()) {
            true => Err(Failure::Bot(None)),
            false => Ok(()),
        },
        RunOutcome::Interrupted => {
            say(format_args!(
                "interrupted, with {} still to be played of those scheduled; `crownhead tournament \
                 resume {file}` goes on",
                games_text(left)
            ));
            Err(Failure::Interrupted)
        }
        RunOutcome::Cancelled => {
            let left = games_text(left);
            let message =
                format!("the contest was cancelled; {left} of those scheduled not played");
            Err(anyhow::anyhow!(message).into())
        }
    }
}

/// The first Ctrl-C lets the running games end, the second breaks them off, the third ends everything.
fn signals() -> RunControl {
    let signals = RunControl::default();
    let raised = signals.clone();
    // Where that cannot be arranged, the first ends the program, and nothing that was told is lost.
    let _ = ctrlc::set_handler(move || {
        if raised.abort.is_stopped() {
            crownhead_sandbox::reaper::kill_all();
            std::process::exit(130);
        }
        if raised.finish_running.is_stopped() {
            raised.abort.stop();
        } else {
            say("the running games are played to their end; Ctrl-C again breaks them off");
            raised.finish_running.stop();
        }
    });
    signals
}
