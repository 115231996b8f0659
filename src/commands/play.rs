//! `crownhead play`: plays a game in this terminal.

use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

use crownhead_bots::SpecError;
use crownhead_files::AtomicFile;
use crownhead_play::{StopFlag, TimeControl, parse_duration};
use crownhead_records::{GameFile, format_game};
use crownhead_rules::{Game, Side, did_you_mean};
use crownhead_terminal::autosave::{self, Autosave};
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};
use crownhead_terminal::plain::PlainGame;
use crownhead_terminal::screen::{self, GameScreen, ViewScreen};

use super::tables::{existing_tables, missing_table};
use crate::failure::Failure;
use crate::isolation_args::IsolationArgs;
use crate::output::{eprint_message, is_interactive, look, save_theme};
use crate::signals::stop_on_signals;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead play english --second level:4
  crownhead play chinese-checkers --first best --second human --time 5+3
  crownhead play contest --first level:3 --second level:7      (watch)
  crownhead play english --second \"cmd:python3 bot.py\"

Players: human, random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options
such as best:threads=2,movetime=500ms; or a bot: cmd:COMMAND, a folder with a bot.toml,
tcp-int32:COMMAND, c-function:FILE, cpp-function:FILE, checkerboard:ENGINE.so. Without a time limit,
a bot has 5 seconds per move. Its faults have the same penalties as in a match.")]
pub(crate) struct Args {
    /// Game, with options: contest:kings=true, … [default: english]
    game: Option<Game>,
    /// Player who moves first
    #[arg(long, value_name = "PLAYER", default_value_t = default_seat(Side::First))]
    first: String,
    /// Player who moves second
    #[arg(long, value_name = "PLAYER", default_value_t = default_seat(Side::Second))]
    second: String,
    /// Position [default: the start position]
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
    /// Minutes per game and increment per move in seconds: 5+3; or with units: 90s+500ms
    #[arg(long, value_name = "TIME", conflicts_with = "movetime")]
    #[arg(value_parser = TimeControl::parse_minutes)]
    time: Option<TimeControl>,
    /// Time per move of a computer: 500ms, 2s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    movetime: Option<Duration>,
    /// Random seed of computers [default: different every time]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Write the game to this file when it ends or you quit; replaces the file unless no move was
    /// played
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Use plain text instead of the full screen
    #[arg(long)]
    plain: bool,
    /// Resume the last unfinished game (of GAME, if given)
    #[arg(long, conflicts_with_all = ["first", "second", "position", "time", "movetime", "seed"])]
    resume: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

fn default_seat(side: Side) -> String {
    Setup::default_for(&Game::default()).seats[side.index()].to_string()
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let (game, autosave) = if args.resume {
        let on_skipped = |message| eprint_message(format_args!("crownhead: {message}"));
        let (mut game, autosave) = autosave::load_latest(args.game.as_ref(), on_skipped)
            .map_err(|error| Failure::BadInput(error.to_string()))?;
        isolate(&args.isolation, game.seats_mut())?;
        (game, Some(autosave))
    } else {
        let time = match (args.time, args.movetime) {
            (Some(time), _) => time,
            (None, Some(time)) => TimeControl::PerMove(time),
            (None, None) => TimeControl::Unlimited,
        };
        let game = args.game.unwrap_or_default();
        let first = parse_seat("--first", &args.first)?;
        let second = parse_seat("--second", &args.second)?;
        // A clone shares the build: a bot that plays itself is built once.
        let second = if second == first { first.clone() } else { second };
        let mut seats = [first, second];
        for seat in &seats {
            if let Seat::Computer(player) = seat {
                player.supports(&game).map_err(Failure::Usage)?;
            }
        }
        isolate(&args.isolation, &mut seats)?;
        let setup = Setup {
            game,
            seats,
            position: args.position,
            time_control: time,
            seed: args.seed.unwrap_or_else(random_seed),
        };
        let game = LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
        (game, Autosave::new())
    };
    play(game, autosave, args.plain, args.record)
}

/// Parses the player of a side. Only a file that it names can be invalid input.
fn parse_seat(option: &str, text: &str) -> Result<Seat, Failure> {
    text.parse().map_err(|error: SpecError| match error.is_file {
        true => Failure::BadInput(error.to_string()),
        false => {
            let hint = did_you_mean(text, ["human"]);
            Failure::Usage(format!("{option}: {error}; or human{hint}"))
        }
    })
}

/// Applies `--isolation` and `--limits` to the bots.
fn isolate(options: &IsolationArgs, seats: &mut [Seat; 2]) -> Result<(), Failure> {
    let bots = seats.iter_mut().filter_map(|seat| match seat {
        Seat::Computer(player) => player.program_mut(),
        Seat::Human => None,
    });
    options.apply(bots).map(drop)
}

/// Returns a seed that is different every time.
pub(crate) fn random_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64)
}

/// Plays a game on the full screen or in plain text.
pub(crate) fn play(
    mut game: LocalGame,
    mut autosave: Option<Autosave>,
    plain: bool,
    record: Option<PathBuf>,
) -> Result<(), Failure> {
    let file = record.as_deref().map(AtomicFile::create).transpose()?;
    let stop = stop_on_signals();
    build_bots(&game, &stop)?;
    let result = if plain || !is_interactive() {
        let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout().lock());
        PlainGame::new(&mut game, autosave.as_mut(), input, output, &stop).and_then(PlainGame::run)
    } else {
        let (result, played) = play_on_screen(game, autosave, &stop);
        game = played;
        result
    };
    // Even if the terminal or the reader of the output is gone.
    if let Some(file) = file {
        if game.session().plies() > 0 {
            file.write(&format_game(&game.record())?)?;
        } else {
            eprint_message("No moves were played: nothing to record.");
        }
    }
    // A lost terminal sets the flag too; its I/O errors are not worth a report.
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    result?;
    if let Some(missing) = missing_table_of_game(&game) {
        eprint_message(missing);
    }
    if game.bot_failed() { Err(Failure::Bot(None)) } else { Ok(()) }
}

/// Names a table with which a player would have been perfect at the end of a game that is over.
fn missing_table_of_game(game: &LocalGame) -> Option<String> {
    let uses_tables =
        |seat: &Seat| matches!(seat, Seat::Computer(player) if player.uses_evaluation());
    if !game.is_over() || !game.setup().seats.iter().any(uses_tables) {
        return None;
    }
    let session = game.session();
    let knowledge = existing_tables(session.game());
    // The last position may be the end of the game.
    (0..=session.plies())
        .rev()
        .take(2)
        .find_map(|ply| missing_table(session.game(), &game.session_at(ply).position(), &knowledge))
}

/// Builds the bots before the full screen starts, because a compiler may print errors.
fn build_bots(game: &LocalGame, stop: &StopFlag) -> Result<(), Failure> {
    for seat in &game.setup().seats {
        let Seat::Computer(spec) = seat else { continue };
        let has_build = spec.program().is_some_and(|bot| bot.build.is_some());
        if has_build {
            eprint_message(format_args!("Building {spec} …"));
        }
        let result = spec.build(stop);
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        result.map_err(|error| Failure::Bot(Some(error.to_string())))?;
    }
    Ok(())
}

fn play_on_screen(
    game: LocalGame,
    autosave: Option<Autosave>,
    stop: &StopFlag,
) -> (std::io::Result<()>, LocalGame) {
    let mut screen = GameScreen::new(game, autosave, look());
    let result = run_game_screen(&mut screen, stop);
    save_theme(screen.look());
    if let Some(message) = screen.autosave_text() {
        eprint_message(message);
    }
    let game = screen.into_game();
    for incident in game.incidents() {
        eprint_message(game.incident_text(incident));
    }
    if let Some(description) = game.describe_end() {
        eprint_message(description);
    }
    (result, game)
}

/// Runs the game, and after its end the viewer with its analysis as often as the user wants it.
fn run_game_screen(screen: &mut GameScreen, stop: &StopFlag) -> std::io::Result<()> {
    loop {
        screen::run(screen, stop)?;
        let Some(record) = screen.take_analysed() else { return Ok(()) };
        let text = format_game(&record).map_err(std::io::Error::other)?;
        let games = GameFile::new(std::io::Cursor::new(text));
        let mut viewer = ViewScreen::new(games, screen.look()).map_err(std::io::Error::other)?;
        viewer.set_flipped(screen.is_flipped());
        screen::run(&mut viewer, stop)?;
    }
}
