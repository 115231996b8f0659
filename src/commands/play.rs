//! `crownhead play`: a game in this terminal.

use std::io::{BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use crownhead_bots::SpecError;
use crownhead_files::AtomicFile;
use crownhead_play::{StopFlag, TimeControl, parse_duration};
use crownhead_records::format_game;
use crownhead_rules::Game;
use crownhead_terminal::autosave::{self, Autosave};
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};
use crownhead_terminal::plain::PlainGame;
use crownhead_terminal::screen::{self, GameScreen};

use super::{Failure, can_draw, say, stop_on_signals};
use crate::isolation_args::IsolationArgs;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead play english --second level:4
  crownhead play chinese-checkers --first best --second human --time 5+3
  crownhead play contest --first level:3 --second level:7      (watch)
  crownhead play english --second \"cmd:python3 bot.py\"

A player is human, random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options as in
best:threads=2,movetime=500ms; or a program of yours: cmd:COMMAND, a folder with a bot.toml, tcp-int32:COMMAND,
c-function:FILE, cpp-function:FILE. A program has 5 seconds for a move if no time is given, and its
faults cost what they cost in a match.")]
pub(crate) struct Arguments {
    /// The game, with options if wanted: contest:kings=true, … [default: english]
    game: Option<Game>,
    /// Who moves first
    #[arg(long, value_name = "PLAYER", default_value = "human")]
    first: String,
    /// Who moves second
    #[arg(long, value_name = "PLAYER", default_value = "level:5")]
    second: String,
    /// The position to begin with
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Minutes for the game, and seconds for each move made: 5+3, or with units 90s+500ms
    #[arg(long, value_name = "TIME", conflicts_with = "movetime", value_parser = TimeControl::parse_minutes)]
    time: Option<TimeControl>,
    /// How long a computer may think about a move: 500ms, 2s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    movetime: Option<Duration>,
    /// Decides what computers draw by lot [default: another one every time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write the game to this file when it ends or is left, over what is there; without a move nothing is written
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Play by lines of text, as on a terminal that can do no more
    #[arg(long)]
    plain: bool,
    /// Take up the unfinished game that was left last (of the game named, if one is)
    #[arg(long, conflicts_with_all = ["first", "second", "position", "time", "movetime", "seed"])]
    resume: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (live, kept) = if arguments.resume {
        let passed = |sentence| say(format_args!("crownhead: {sentence}"));
        let (mut live, kept) = autosave::load_latest(arguments.game.as_ref(), passed)
            .map_err(|error| Failure::BadInput(error.to_string()))?;
        isolate(&arguments.isolation, live.seats_mut())?;
        (live, Some(kept))
    } else {
        let time = match (arguments.time, arguments.movetime) {
            (Some(time), _) => time,
            (None, Some(time)) => TimeControl::PerMove(time),
            (None, None) => TimeControl::Unlimited,
        };
        let game = arguments.game.unwrap_or_default();
        let first = seat("--first", &arguments.first)?;
        let second = seat("--second", &arguments.second)?;
        // A bot against itself is built once.
        let second = if second == first { first.clone() } else { second };
        let mut seats = [first, second];
        for seat in &seats {
            if let Seat::Computer(player) = seat {
                player.supports(&game).map_err(Failure::Usage)?;
            }
        }
        isolate(&arguments.isolation, &mut seats)?;
        let setup = Setup {
            game,
            seats,
            position: arguments.position,
            time_control: time,
            seed: arguments.seed.unwrap_or_else(lot),
        };
        let live = LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
        (live, Autosave::new())
    };
    play(live, kept, arguments.plain, arguments.record)
}

/// Who plays a side. A name that is wrong is no fault of a file.
fn seat(option: &str, text: &str) -> Result<Seat, Failure> {
    text.parse().map_err(|error: SpecError| match error.is_manifest {
        true => Failure::BadInput(error.to_string()),
        false => Failure::Usage(format!("{option}: {error}; or human")),
    })
}

/// Sets the isolation and the limits of bots.
fn isolate(options: &IsolationArgs, seats: &mut [Seat; 2]) -> Result<(), Failure> {
    let bots = seats.iter_mut().filter_map(|seat| match seat {
        Seat::Computer(player) => player.program_mut(),
        Seat::Human => None,
    });
    options.apply(bots).map(drop)
}

/// A seed that nobody chose.
pub(crate) fn lot() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64)
}

/// Whether the whole screen can be used.
pub(crate) fn has_screen() -> bool {
    can_draw(&std::io::stdout()) && std::io::stdin().is_terminal()
}

/// Whether colours are wanted.
pub(crate) fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Plays a game on the screen or by lines of text.
pub(crate) fn play(
    live: LocalGame,
    mut kept: Option<Autosave>,
    plain: bool,
    record: Option<PathBuf>,
) -> Result<(), Failure> {
    let file = record.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_signals();
    let mut live = live;
    build(&live, &stop)?;
    let played = if plain || !has_screen() {
        let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout().lock());
        PlainGame::new(&mut live, kept.as_mut(), input, output, &stop).and_then(PlainGame::run)
    } else {
        let (shown, left) = on_screen(live, kept, &stop);
        live = left;
        shown
    };
    // Whatever became of the terminal or of whoever read the output.
    if let Some(file) = file {
        if live.session().plies() > 0 {
            file.file().write_all(format_game(&live.record())?.as_bytes())?;
            file.commit()?;
        } else {
            say("No move was made: there is nothing to record.");
        }
    }
    // A terminal that is lost makes errors; whoever is told to end has none to report.
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    played?;
    // What there is to say of it has been said.
    if live.bot_failed() { Err(Failure::Bot(None)) } else { Ok(()) }
}

/// Builds the programs that play, before the screen is taken: a compiler may have much to say.
fn build(live: &LocalGame, stop: &StopFlag) -> Result<(), Failure> {
    for seat in &live.setup().seats {
        let Seat::Computer(spec) = seat else { continue };
        if can_draw(&std::io::stderr()) && spec.program().is_some_and(|bot| bot.build.is_some()) {
            say(format_args!("Building {spec} …"));
        }
        let built = spec.build(stop);
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        built.map_err(|error| Failure::Bot(Some(error.to_string())))?;
    }
    Ok(())
}

fn on_screen(
    live: LocalGame,
    kept: Option<Autosave>,
    stop: &StopFlag,
) -> (std::io::Result<()>, LocalGame) {
    let mut screen = GameScreen::new(live, kept, has_colour());
    let shown = screen::run(&mut screen, stop);
    if let Some(sentence) = screen.autosave_text() {
        say(sentence);
    }
    let live = screen.into_game();
    for incident in live.incidents() {
        say(live.incident_text(incident));
    }
    if let Some(ending) = live.describe_end() {
        say(ending);
    }
    (shown, live)
}
