//! `crownhead openings`: generates lists of openings.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::value_parser;
use crownhead_files::AtomicFile;
use crownhead_play::{ElevenManBallots, ElevenManOptions, generate_eleven_man};
use crownhead_rules::Game;

use crate::failure::Failure;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Generate the 11-man ballots of English checkers: one man fewer per side, then a move each
    #[command(name = "11man")]
    ElevenMan(ElevenMan),
}

#[derive(clap::Args)]
pub(crate) struct ElevenMan {
    /// Nodes searched to judge a position
    #[arg(long, value_name = "N", default_value_t = 150_000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Minimum score of either side, in hundredths of a man: 0 keeps level positions, too
    #[arg(long, value_name = "SCORE", default_value_t = 0)]
    #[arg(value_parser = value_parser!(i32).range(0..=30_000))]
    min_score: i32,
    /// Maximum score of either side, in hundredths of a man
    #[arg(long, value_name = "SCORE", default_value_t = 60)]
    #[arg(value_parser = value_parser!(i32).range(0..=30_000))]
    max_score: i32,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    let Command::ElevenMan(args) = command;
    let ElevenMan { nodes, min_score, max_score, .. } = *args;
    if min_score > max_score {
        return Err(Failure::Usage("--min-score is greater than --max-score".into()));
    }
    let Some(game) = Game::all().into_iter().find(|game| game.info().has_ballots) else {
        return Err(anyhow::anyhow!("no game has ballots").into());
    };
    // Created before the work, so that an error does not waste it.
    let output = args.output.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_interrupt();
    let options = ElevenManOptions { nodes, min_score, max_score };
    let start = Instant::now();
    eprint_message("Judging 11-man ballots …");
    let ballots = generate_eleven_man(&game, options, &stop, &mut |done, total| {
        if done % (total / 20).max(1) == 0 {
            let seconds = start.elapsed().as_secs_f64();
            eprint_message(format_args!("{done} of {total} positions, {seconds:.0} s"));
        }
    })?;
    let Some(ElevenManBallots { lines, kept, judged }) = ballots else {
        return Err(Failure::Interrupted);
    };
    let min = if min_score > 0 { format!(" --min-score {min_score}") } else { String::new() };
    let text = format!(
        "# The 11-man ballots of English checkers: {kept} of {judged} positions, made by\n\
         # crownhead openings 11man --nodes {nodes}{min} --max-score {max_score}\n\
         # Each line: the black and the white man removed from the start position, \
         Black's move, and\n\
         # White's answers whose score is within these limits.\n{lines}"
    );
    match output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(file) => file.write(&text)?,
    }
    let seconds = start.elapsed().as_secs_f64();
    eprint_message(format_args!("Kept {kept} of {judged} positions in {seconds:.1} s."));
    Ok(())
}
