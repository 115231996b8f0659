//! `crownhead puzzles`: finds puzzles in games played for them, and in recorded games.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::value_parser;
use crownhead_analysis::{AnalysisError, Goal, MAX_GRADE, Puzzle, PuzzleMaker, PuzzleNodes};
use crownhead_files::AtomicFile;
use crownhead_play::{Knowledge, StopFlag, derive_seed};
use crownhead_records::GameRecord;
use crownhead_rules::Game;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::game_files;
use crate::knowledge::load_knowledge;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Find positions with exactly one move that wins, or exactly one that does not lose
    Make(Make),
}

#[derive(clap::Args)]
pub(crate) struct Make {
    /// Game, with options
    game: Game,
    /// Number of puzzles
    #[arg(long, value_name = "N", default_value_t = 120)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Recorded games to search before games are played
    #[arg(long, value_name = "FILE")]
    pdn: Vec<PathBuf>,
    /// Maximum number of games to play
    #[arg(long, value_name = "N", default_value_t = 5000)]
    games: u64,
    /// Nodes per position of a game
    #[arg(long, value_name = "N", default_value_t = 4000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Nodes to verify a position
    #[arg(long, value_name = "N", default_value_t = 400_000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    verify_nodes: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads; the puzzles do not depend on their number
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Games given to a thread at a time.
const GAMES_PER_THREAD: u64 = 32;
/// No grade has more than one of this many puzzles.
const MAX_SHARE: usize = 3;
/// Positions that differ in no more cells are alike.
const MAX_SIMILAR_CELLS: usize = 4;

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    let Command::Make(args) = command;
    // Created before the work, so that an error does not waste it.
    let output = args.output.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_interrupt();
    let start = Instant::now();
    let knowledge = load_knowledge(&args.game).0;
    let mut chosen = Chosen::new(args.count as usize);
    let mut sources = Sources { args, recorded: read_games(args)?, played: 0 };
    while !chosen.is_full() {
        let games = sources.next(u64::from(args.threads) * GAMES_PER_THREAD);
        if games.is_empty() {
            break;
        }
        for puzzles in search(&games, args, &knowledge, &stop)? {
            chosen.add(puzzles);
        }
        let (found, games) = (chosen.puzzles.len(), sources.played);
        let seconds = start.elapsed().as_secs_f64();
        eprint_message(format_args!("{found} puzzles, {games} games played, {seconds:.0} s"));
    }
    let text = file_text(args, &chosen.puzzles);
    match output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(file) => file.write(&text)?,
    }
    Ok(())
}

/// A game to search for puzzles.
enum Source {
    Recorded(Box<GameRecord>),
    Played(u64),
}

struct Sources<'a> {
    args: &'a Make,
    recorded: Vec<GameRecord>,
    played: u64,
}

impl Sources<'_> {
    /// The next games, recorded ones first.
    fn next(&mut self, count: u64) -> Vec<Source> {
        if !self.recorded.is_empty() {
            let count = self.recorded.len().min(count as usize);
            let games = self.recorded.drain(..count);
            return games.map(|game| Source::Recorded(Box::new(game))).collect();
        }
        let first = self.played;
        self.played = self.args.games.min(first + count);
        (first..self.played)
            .map(|game| Source::Played(derive_seed(&[self.args.seed, game])))
            .collect()
    }
}

/// The recorded games of this game, in the order of the files.
fn read_games(args: &Make) -> Result<Vec<GameRecord>, Failure> {
    let mut games = Vec::new();
    for path in &args.pdn {
        let mut on_game = |game: GameRecord| {
            games.extend(Some(game).filter(|game| game.game == args.game));
            Ok(())
        };
        game_files::read(path, &mut on_game, |error| game_files::report(path, error))?;
    }
    Ok(games)
}

/// Searches games on all threads. The results are in the order of the games.
fn search(
    games: &[Source],
    args: &Make,
    knowledge: &Knowledge,
    stop: &StopFlag,
) -> Result<Vec<Vec<Puzzle>>, Failure> {
    let nodes = PuzzleNodes { find: args.nodes, verify: args.verify_nodes };
    let share = games.len().div_ceil(args.threads as usize).max(1);
    let search_share = |games: &[Source]| -> Result<Vec<Vec<Puzzle>>, AnalysisError> {
        let mut maker = PuzzleMaker::new(&args.game, nodes, knowledge)?;
        let search_game = |game: &Source| match game {
            Source::Played(seed) => maker.self_play(*seed, stop),
            Source::Recorded(record) => {
                let moves: Vec<_> = record.line.plies.iter().map(|ply| ply.text.as_str()).collect();
                maker.recorded(record.start.as_deref(), &moves, stop)
            }
        };
        games.iter().map(search_game).collect()
    };
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let search_share = &search_share;
        let threads: Vec<_> =
            games.chunks(share).map(|games| scope.spawn(move || search_share(games))).collect();
        for thread in threads {
            let found = thread.join().map_err(|_| anyhow::anyhow!("a search failed"))?;
            all.extend(found.map_err(|error| match error {
                AnalysisError::Interrupted => Failure::Interrupted,
                error => anyhow::anyhow!("{error}").into(),
            })?);
        }
        Ok(all)
    })
}

/// The puzzles chosen so far: none like another one, not too many of one grade, and at most three
/// quarters of them draws.
struct Chosen {
    count: usize,
    puzzles: Vec<Puzzle>,
    of_grade: [usize; MAX_GRADE as usize],
    draws: usize,
}

impl Chosen {
    fn new(count: usize) -> Chosen {
        Chosen { count, puzzles: Vec::new(), of_grade: Default::default(), draws: 0 }
    }

    fn is_full(&self) -> bool {
        self.puzzles.len() >= self.count
    }

    fn add(&mut self, puzzles: Vec<Puzzle>) {
        for puzzle in puzzles {
            let of_grade = &mut self.of_grade[usize::from(puzzle.grade - 1)];
            let draws = self.draws + usize::from(puzzle.goal == Goal::Draw);
            if self.puzzles.len() < self.count
                && *of_grade < self.count.div_ceil(MAX_SHARE)
                && draws <= self.count * 3 / 4
                && !self.puzzles.iter().any(|other| is_similar(other, &puzzle))
            {
                *of_grade += 1;
                self.draws = draws;
                self.puzzles.push(puzzle);
            }
        }
    }
}

/// Whether at most two pieces stand elsewhere.
fn is_similar(a: &Puzzle, b: &Puzzle) -> bool {
    a.board.iter().zip(&b.board).filter(|(a, b)| a != b).count() <= MAX_SIMILAR_CELLS
}

/// One JSON object with a puzzle per line, easy ones first.
fn file_text(args: &Make, puzzles: &[Puzzle]) -> String {
    let mut puzzles: Vec<_> = puzzles.iter().collect();
    puzzles.sort_by_key(|puzzle| puzzle.grade);
    let lines = puzzles.iter().map(|puzzle| puzzle_json(puzzle).to_string());
    let Make { game, nodes, verify_nodes, seed, .. } = args;
    let made = format!(
        "crownhead puzzles make {game} --count {} --nodes {nodes} --verify-nodes {verify_nodes} \
         --seed {seed}",
        args.count
    );
    format!(
        "{{\"version\": 1, \"game\": {}, \"made_by\": {}, \"puzzles\": [\n{}\n]}}\n",
        json!(game.to_string()),
        json!(made),
        lines.collect::<Vec<_>>().join(",\n"),
    )
}

fn puzzle_json(puzzle: &Puzzle) -> Value {
    json!({
        "position": puzzle.position,
        "goal": puzzle.goal.code(),
        "solution": puzzle.solution,
        "plies": puzzle.plies,
        "grade": puzzle.grade,
    })
}
