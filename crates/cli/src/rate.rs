//! `crownhead rate`: maximum-likelihood ratings from journals and PDN files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crownhead_play::counted;
use crownhead_records::{GameRecord, GameResult};
use crownhead_report::ratings::{los_table, ratings_json, ratings_text};
use crownhead_rules::{Side, replace_invisible};
use crownhead_statistics::ratings::{Anchor, RatedGame, RatingError, RatingOptions, rate};
use crownhead_tournament::journal::Journal;
use serde_json::json;

use super::tournament::journal_failure;
use crate::failure::Failure;
use crate::game_files;
use crate::output::eprint_message;

/// Args of `crownhead rate`.
#[derive(clap::Args)]
pub struct Args {
    /// Journals, tournament files or PDN files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Give this player a fixed rating: NAME or NAME=ELO [default: the average is 0]
    #[arg(long, value_name = "NAME[=ELO]")]
    anchor: Option<String>,
    /// Virtual games per player against an average one, half won and half lost [default: none, or
    /// 1 if the games alone have no maximum-likelihood estimate]
    #[arg(long, value_name = "GAMES", value_parser = parse_prior)]
    prior: Option<f64>,
    /// Print the likelihood of superiority of every player over every other one
    #[arg(long)]
    los: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn parse_prior(text: &str) -> Result<f64, String> {
    let prior = text.parse().ok().filter(|prior| (0.0..=1e6).contains(prior));
    prior.ok_or_else(|| "must be a number from 0 to 1000000".into())
}

/// The games of all files. Players with the same name are the same player.
#[derive(Default)]
struct Games {
    names: Vec<String>,
    indices: HashMap<String, usize>,
    games: Vec<RatedGame>,
    /// Number of games that could not be read.
    errors: u64,
}

impl Games {
    fn add(&mut self, names: [&str; 2], winner: Option<usize>) {
        let players = names.map(|name| {
            let name = replace_invisible(name).trim().to_string();
            let index = *self.indices.entry(name.clone()).or_insert(self.names.len());
            if index == self.names.len() {
                self.names.push(name);
            }
            index
        });
        // A game against oneself says nothing about strength.
        if players[0] != players[1] {
            self.games.push((players, winner));
        }
    }

    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        let is_tournament_file = path.extension().is_some_and(|extension| extension == "toml");
        if is_tournament_file || is_sqlite(path) {
            return self.read_journal(&Journal::path_for(path));
        }
        let mut skipped = 0;
        let mut add = |record: GameRecord| {
            let winner = match record.result {
                GameResult::FirstWins => Some(Some(0)),
                GameResult::SecondWins => Some(Some(1)),
                GameResult::Draw => Some(None),
                _ => None,
            };
            let names = [Side::First, Side::Second].map(|side| record.player(side));
            match (winner, names) {
                (Some(winner), [Some(first), Some(second)]) => self.add([first, second], winner),
                _ => skipped += 1,
            }
            Ok(())
        };
        let counts = game_files::read(path, &mut add, |error| game_files::report(path, error))?;
        self.errors += counts.errors;
        if skipped > 0 {
            eprint_message(format_args!(
                "{}: skipped {} without a result or a name",
                path.display(),
                counted(skipped, "game")
            ));
        }
        Ok(())
    }

    fn read_journal(&mut self, path: &Path) -> Result<(), Failure> {
        let snapshot = Journal::open_read_only(path)
            .and_then(|journal| journal.snapshot())
            .map_err(journal_failure)?;
        for (game, summary) in snapshot.finished() {
            let names = game.players.map(|player| snapshot.players[player].name.as_str());
            self.add(names, summary.winner);
        }
        Ok(())
    }
}

fn is_sqlite(path: &Path) -> bool {
    let mut start = [0; 16];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && &start == b"SQLite format 3\0"
}

/// Parses `NAME` or `NAME=ELO`.
fn parse_anchor(text: &str, games: &Games) -> Result<Anchor, Failure> {
    if let Some(&player) = games.indices.get(text) {
        return Ok(Anchor::Player(player, 0.0));
    }
    let parts = text.rsplit_once('=').and_then(|(name, elo)| {
        let elo = elo.parse().ok().filter(|elo: &f64| elo.abs() <= 1e6)?;
        Some((games.indices.get(name)?, elo))
    });
    parts.map(|(&player, elo)| Anchor::Player(player, elo)).ok_or_else(|| {
        let names = games.names.join(", ");
        Failure::Usage(format!("unknown player or invalid rating {text:?}; players: {names}"))
    })
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut games = Games::default();
    for path in &args.files {
        games.read(path)?;
    }
    let anchor = match &args.anchor {
        Some(text) => parse_anchor(text, &games)?,
        None => Anchor::Mean,
    };
    let options = RatingOptions { anchor, prior: args.prior };
    let ratings = rate(games.names.len(), games.games.iter().copied(), options)
        .map_err(|error| rating_failure(&error))?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut object = ratings_json(&ratings, &games.names, &games.games);
        object["games"] = json!(games.games.len());
        writeln!(out, "{object}")?;
    } else {
        write!(out, "{}", ratings_text(&ratings, &games.names, &games.games))?;
        if args.los {
            write!(out, "\n{}", los_table(&ratings, &games.names))?;
        }
    }
    match games.errors {
        0 => Ok(()),
        _ => Err(Failure::BadInputReported),
    }
}

pub(crate) fn rating_failure(error: &RatingError) -> Failure {
    let hint = if *error == RatingError::Unbounded { ": --prior 1" } else { "" };
    anyhow::anyhow!("cannot compute ratings: {error}{hint}").into()
}
